/* The engine's tables: who waits, which capacity pods there are or will be, what is known of nodes
 * beside their objects, who is gone. The engine owns them; what a step did not meet is swept.
 * Nothing here fails. */
#ifndef ENGINE_BOOK_H
#define ENGINE_BOOK_H

#include <stdint.h>

#include "base/clock.h"

struct absence;
struct engine;
struct holder;
struct waiter;
struct world_pod;

/* What is known of a node beside its object: that capacity pods failed there, and what those that
 * came up told of its GPUs. */
struct node_memo {
	char *name; /* owned */
	char *why;  /* owned; what the last failure was, NULL: nobody said */
	int64_t until;
	struct backoff backoff; /* first_ms 0: none failed */
	int64_t last_failure;
	int64_t usable_mib; /* of the largest GPU seen; 0: none */
};

struct waiter *waiter_touch(struct engine *e, const char *uid, int64_t now);
/* Of a tenant of the world. */
struct waiter *waiter_of(struct engine *e, const struct world_pod *p, int64_t now);
struct waiter *waiter_find(const struct engine *e, const char *uid);
/* The same, if its entry in the ledger of `h` is one that it gives back; NULL: it is not. */
struct waiter *waiter_giving_back(const struct engine *e, const char *uid, const struct holder *h);
struct holder *holder_touch(struct engine *e, const char *name, int64_t now);
struct holder *holder_find(const struct engine *e, const char *name);
void book_sweep(struct engine *e); /* forgets what this step did not meet */
void book_init(struct engine *e);
void book_finish(struct engine *e);
void book_new_term(struct engine *e);
struct node_memo *memo_find(struct engine *e, const char *node);
struct node_memo *memo_touch(struct engine *e, const char *node);
void trouble_note(struct engine *e, const char *node, int64_t now);
struct absence *absence_of(struct engine *e, const char *uid, int64_t now);

#endif
