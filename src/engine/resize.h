/* A tenant that runs gets another share where it is, and nothing restarts: in a mode that enforces
 * nothing a share is a line in the books. Two books say it, the ledger of the capacity pod and what
 * the tenant was told, and each is written by itself; so that nothing is given twice whatever fails
 * between, the ledger never says less than the tenant was told:
 *
 *     1. what grows, grows in the ledger, by the same compare-and-swap that grants
 *     2. the tenant is told, by one patch, once the watch shows the ledger
 *     3. what shrinks, shrinks in the ledger, once that patch was answered and the watch shows it
 *
 * Growing and shrinking alone take two writes. What counts is the ledger, as always. A patch that
 * is late fails on the version that it was made from, since each patch makes a new one; so a
 * process that did not send the last one itself sends one before it lets the ledger shrink.
 *
 * Who wants another share for a tenant says so by CHANGE_SHARE, once; it is remembered while the
 * tenant is there, by this process alone, and tried whenever there may be room. Where nobody says
 * anything and the books differ for long, somebody was interrupted: the tenant is told what its
 * ledger says. Tenants of MPS cannot be changed while they run: they are left as they are; of a
 * framework that was told at its start what to take the compute alone changes. The engine owns it;
 * nothing fails. */
#ifndef ENGINE_RESIZE_H
#define ENGINE_RESIZE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/map.h"
#include "base/vec.h"
#include "engine/engine.h"
#include "model/recommendation.h"

/* More memory than any GPU has. */
#define RESIZE_MIB_MAX ((int64_t)1 << 30)

struct change;
struct emitter;
struct grant;
struct holder;
struct outcome;
struct picture;
struct plan;
struct quotas;
struct world_pod;

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
		VEC_FIELDS(struct resize);
	} items;
	uint32_t awake; /* so many of the first are looked at in each step; the rest have it */
	struct map by_uid;
	/* of this step: tenants of whom the books differ, by pod slot; one of several GPUs may
	 * stand here more than once */
	struct {
		VEC_FIELDS(uint32_t);
	} behind;
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
void resizes_begin(struct resizes *resizes); /* of a picture */
/* What an entry takes of its GPU; `p` is its tenant, NULL: the world knows of none. */
struct share resize_counts(struct resizes *resizes, const struct holder *h,
	const struct grant *entry, const struct world_pod *p);
/* At most what a tenant that no ledger names was told, or may yet be told by what was sent. */
struct share resize_may_have(const struct resizes *resizes, const struct world_pod *p);
/* Step 4, before those who wait: what runs comes first. */
void resizes_decide(struct resizes *resizes);
/* The entry as it is to be written into the ledger of GPU `at` of the snapshot. */
void resize_entry(const struct resizes *resizes, uint32_t at, struct grant *entry);
/* Does what is to be written there give less to somebody? */
bool resizes_shrink(const struct resizes *resizes, uint32_t at);
/* Tenants are told. */
void resizes_emit(struct resizes *resizes, struct emitter *out);
void resize_settle(struct resizes *resizes, int64_t now, uint64_t id, const struct outcome *o);
void resizes_sweep(struct resizes *resizes);
void resizes_new_term(struct resizes *resizes);

/* --- resizes.c: the table --- */
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
