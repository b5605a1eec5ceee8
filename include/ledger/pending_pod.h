/* One tenant that waits: its pod, what was asked for it and what came of that, and what follows
 * from these alone. Nothing here fails. */
#ifndef LEDGER_PENDING_POD_H
#define LEDGER_PENDING_POD_H

#include "base/alloc.h"
#include "base/clock.h"
#include "base/vec.h"
#include "ledger/eviction_hold.h"
#include "ledger/landing.h"
#include "ledger/nouns.h"
#include "model/pod.h"
#include "model/reason.h"
#include "place/place.h"

struct action;

/* How a tenant fares among others. */
struct passed {
	int64_t lacks_since; /* no GPU fits it although one might; -1: that is not so */
	int64_t waits_since; /* the same, but for moments in which a share was being given */
	uint32_t by;	     /* so many that rank lower were given a GPU meanwhile */
	size_t from;	     /* of this step's `chosen`: those before rank higher */
	int64_t vain_until;  /* nothing was found to reserve, and is not looked for before */
	uint32_t kept_for;   /* the keeper of what it could have otherwise; 0: nobody */
};

/* What is known of the GPUs that a tenant asks for, where these are several (scheduling/group.h).
 */
struct group {
	/* C7: what entries still say that it is not told any more, of step `stale_step` */
	int64_t stale_milli;
	uint64_t stale_step;
	uint32_t count;	 /* GPUs it asks for, as of the pod that is known; 0: nothing is known */
	bool unreadable; /* somebody wrote what is no number */
	/* Capacity pods, by their uids' hashes, whose entries for it count as dead until none is
	 * left. An entry that comes later, by another who leads, is not among them. */
	VEC_OF(uint64_t) gives;
	/* the first step that saw fewer entries than it needs; 0: none or all. Milliseconds */
	int64_t partial_since;
	/* On which capacity pods, as one number: in step `granted_step`, and when that began. Who
	 * gives to it anew begins anew. */
	uint64_t set, partial_set;
	uint32_t best_count; /* how many GPUs the best node has for it; of the last look */
	struct {
		VEC_FIELDS(struct granted {
			struct holder *holder;
			uint32_t index; /* in its ledger */
		});
	} granted; /* in step `granted_step` of the waiter; only where it asks for several */
};

static inline uint32_t group_size(const struct group *g)
{
	return g->count > 1 ? g->count : 1;
}

/* A tenant that waits, by uid. */
struct waiter {
	char *uid;	    /* owned */
	struct arena arena; /* of `pod` */
	struct pod pod;	    /* as of `stamp` */
	uint64_t stamp;
	uint32_t at;	 /* its place in the books */
	uint64_t flight; /* the PLACE under way, 0: none; by waiter_sends alone */
	char *flight_rv; /* owned; the version that it is, or was last, made from */
	char *placed_rv; /* owned; placed from this version, the watch has not shown it yet */
	int64_t placed_until;
	char *word_from, *word_rv; /* owned; versions of one content, by an answer; NULL */
	int64_t retry_at;
	struct backoff backoff;
	char *refusal; /* owned; the answer to the last write, or to the one it depends on */
	int64_t refused_until; /* that one rests */
	int64_t first_seen;
	enum reason reason;
	uint64_t judged;       /* the step that found it */
	int64_t granting_from; /* since then it is Granting; 0: it is not */
	bool crowded;	       /* the node is to try as many RuntimeClasses already as it may */
	struct place_request asked; /* of the last look */
	struct place_verdict
		miss;	    /* the closest miss of the last look; texts live as long as the step */
	int64_t vain_since; /* C35: it waits as a whole pod would not; 0: no, -1: it was told so */
	int64_t condition_at; /* when one was last asked for; 0: never */
	enum reason condition_reason;
	uint64_t seen;	   /* the step that last met it */
	uint64_t ranked;   /* the step in which it last had a rank, 0: none */
	uint32_t rank;	   /* that one */
	uint32_t pod_slot; /* its place in waiter_by_slot, if it is there */
	VEC_OF(struct landing) landings;
	/* the ledger entry that already gives it a share, found in step `granted_step` */
	struct holder *granted_by;
	uint32_t granted_index;
	uint64_t granted_step;
	struct group group;
	struct hold hold;
	int64_t preempt_at;  /* whom it could displace is not looked for before */
	int64_t quota_milli; /* what of quotas it is counted with in this step's picture */
	struct passed passed;
	int64_t asked_for_s; /* for so long a node is asked for; of this step. 0: it is not */
};

/* How many GPUs it asks for. */
static inline uint32_t waiter_count(const struct waiter *w)
{
	return group_size(&w->group);
}

void waiter_free(struct waiter *w);
/* Its pod as the world has it now. */
void waiter_refresh(struct waiter *w, const struct world_pod *p);
/* Under which it is as it was judged: what the watch showed, or what came of a word after that. */
const char *waiter_version(const struct waiter *w);
void waiter_read_gpu_count(struct waiter *w); /* from its pod, which is another one now */
void hold_drop(struct waiter *w);

void landing_note(struct waiter *w, const struct action *a); /* a placement leaves */
/* It has certainly not been done and never will be. */
void landing_failed(struct waiter *w, uint64_t flight);
void landings_finish(struct waiter *w);
/* One takes something from a GPU whose ledger does not know the tenant. */
bool landings_linger(const struct waiter *w);

/* The entry of this index in the ledger of `h` is the waiter's, in this step; before granted_step
 * says so. */
void waiter_note_entry(struct waiter *w, struct holder *h, uint32_t index, uint64_t step);
/* One that it is not told of any more stands there until it is struck out. */
void waiter_note_stale(struct waiter *w, int64_t milli, uint64_t step);
/* Its entry there counts as dead, and waits for a write that strikes it out. */
bool waiter_gives_back(const struct waiter *w, const struct holder *h);

#endif
