/* Who waits, which capacity pods there are or will be, what is known of nodes beside their objects,
 * who is gone. What a step did not meet is swept. Nothing here fails. */
#ifndef LEDGER_BOOK_H
#define LEDGER_BOOK_H

#include "base/clock.h"
#include "base/map.h"
#include "base/vec.h"
#include "ledger/flight.h"
#include "ledger/keyed.h"
#include "ledger/nouns.h"

struct rng;

/* What is known of a node beside its object: that capacity pods failed there, and what those that
 * came up told of its GPUs. */
struct node_memo {
	char *name;    /* owned */
	uint32_t node; /* the world's place of it; WORLD_NONE: not known yet */
	char *why;     /* owned; what the last failure was, NULL: nobody said */
	int64_t until;
	struct backoff backoff; /* first_ms 0: none failed */
	int64_t last_failure;
	int64_t usable_mib; /* of the largest GPU seen; 0: none */
};

/* A tenant that is gone and holds its share all the same, by uid. */
struct absence {
	char *uid;    /* owned */
	char *holder; /* owned; the capacity pod of the GPU on which it counts */
	int64_t since;
	uint64_t seen;
	bool told;  /* that it was given up */
	bool ended; /* its agent does not list it any more */
};

struct absences {
	VEC_FIELDS(struct absence);
};

struct book {
	const struct step_time *time; /* borrowed, as all of these */
	struct world *world;
	struct rng *rng;
	VEC_OF(struct waiter *) waiters; /* owned */
	struct map waiters_by_uid;
	VEC_OF(struct waiter *)
	waiter_by_slot; /* borrowed; NULL: not known */ /* beside the world's pods */
	VEC_OF(struct holder *) holders;		/* owned */
	struct map holders_by_name;
	VEC_OF(struct holder *)
	holder_by_place; /* borrowed; NULL: not known */ /* beside the world's capacity pods */
	struct flights flights;
	struct {
		KEYED_FIELDS(struct node_memo);
	} memos;
	struct absences absences;
	struct {
		uint64_t step; /* of which `lags` is */
		bool lags;
	} view; /* flight.c */
};

struct waiter *waiter_touch(struct book *b, const char *uid, int64_t now);
/* Of a tenant of the world. */
struct waiter *waiter_of(struct book *b, const struct world_pod *p, int64_t now);
struct waiter *waiter_find(const struct book *b, const char *uid);
/* The same, if its entry in the ledger of `h` is one that it gives back; NULL: it is not. */
struct waiter *waiter_giving_back(const struct book *b, const char *uid, const struct holder *h);
struct holder *holder_touch(struct book *b, const char *name, int64_t now);
/* Of the capacity pod at this place of the world's. */
struct holder *holder_of(struct book *b, size_t place, int64_t now);
struct holder *holder_find(const struct book *b, const char *name);
void book_sweep(struct book *b); /* forgets what this step did not meet */
void book_init(struct book *b, const struct step_time *time, struct world *world, struct rng *rng);
void book_finish(struct book *b);
void book_new_term(struct book *b);
struct node_memo *memo_find(struct book *b, const char *node);
struct node_memo *memo_touch(struct book *b, const char *node);
void trouble_note(struct book *b, const char *node, int64_t now);
struct absence *absence_of(struct book *b, const char *uid, int64_t now);

#endif
