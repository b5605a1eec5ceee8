/* Who should have another share: the table. The engine owns it; nothing here fails. */
#ifndef GUARDIAN_RESIZES_H
#define GUARDIAN_RESIZES_H

#include "base/clock.h"
#include "base/vec.h"
#include "ledger/keyed.h"
#include "ledger/nouns.h"
#include "model/recommendation.h"
#include "model/share.h"

struct change;

/* More memory than any GPU has. */
#define RESIZE_MIB_MAX ((int64_t)1 << 30)

/* A tenant that should have another share, or of whom the books differ. */
struct resize {
	char *uid;	   /* owned */
	struct share want; /* 0, 0: nobody asks for anything */
	bool memory_stays; /* other memory was asked for than it can have as it runs */
	enum share_state state;
	char *quota;	      /* owned; that has no room; NULL: none */
	uint64_t flight;      /* the patch of the tenant under way, 0: none */
	struct share sent;    /* by the last one */
	struct share most;    /* of all that were made from `rv` and may be done: the largest */
	bool sealed;	      /* that was done, and none was sent since */
	char *rv;	      /* owned; of the tenant: the last one was made from this */
	int64_t rest_until;   /* with `rv` still shown nothing is sent before that */
	bool follows;	      /* nobody asked: `want` is what its ledgers have */
	int64_t behind_since; /* nobody asks, and the books differ; 0: they do not */
	struct backoff backoff;
};

struct resizes {
	struct picture *picture; /* borrowed, as are these */
	struct quotas *quotas;
	struct {
		KEYED_FIELDS(struct resize);
	} items;
	uint32_t awake; /* so many of the first are looked at in each step; the rest have it */
	/* of this step: tenants of whom the books differ, by pod slot; one of several GPUs may
	 * stand here more than once */
	VEC_OF(uint32_t) behind;
	/* of this step: entries to be written anew */
	struct {
		VEC_FIELDS(struct resized {
			uint32_t gpu;	 /* of the snapshot */
			const char *uid; /* borrowed from the item's text */
			struct share share;
			bool shrinks;
		});
	} decided;
};

void resizes_init(struct resizes *resizes, struct quotas *quotas);
void resizes_finish(struct resizes *all);
void resize_wanted(struct resizes *resizes, const struct change *c);
void resize_settle(struct resizes *resizes, int64_t now, uint64_t id, const struct outcome *o);
void resizes_new_term(struct resizes *resizes);
struct resize *resize_find(const struct resizes *resizes, const char *uid); /* NULL: nobody */
struct resize *resize_touch(struct resizes *resizes, const char *uid); /* awake; made if need be */
/* Of a journal, in the order in which they were: takes its texts. False: there is one for the
 * tenant. */
bool resize_restore(struct resizes *resizes, const struct resize *kept);
/* What became of what was wanted for it. */
void resize_fate(const struct resizes *resizes, const char *uid, struct share_fate *ret);
void resize_unask(struct resize *r);
void resize_wake(struct resizes *resizes, const char *uid);
void resize_rest(struct resizes *all, uint32_t i); /* one that is awake */
void resize_forget(struct resizes *all, uint32_t i);
/* What a watch of pods said, before the world has it: whoever it is about may have to wake. */
void resize_noted(struct resizes *resizes, const struct change *c);

#endif
