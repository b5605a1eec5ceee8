/* The memory watchdog where nothing enforces a share of GPU memory (mode None): who uses more than
 * was granted, as the agents measure it, is told so at once; and evicted only where its policy says
 * so and the GPU is really short. A figure that nobody tells, or told too long ago, is unknown, and
 * of what is unknown nothing follows but silence. docs/design/overuse.md.
 *
 * Whoever ran out of memory through others is told so too (C29).
 *
 * The engine owns all of it, and may lose it: it is then learnt from the next states, and who was
 * told shows in the pods' conditions. Nothing here fails. */
#ifndef ENGINE_OVERUSE_H
#define ENGINE_OVERUSE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "base/vec.h"
#include "engine/engine.h"

struct engine;
struct node_state;
struct plan;
struct str;
struct unpack;
struct world_pod;

/* A tenant that was seen over its share of one GPU. */
struct overuse {
	char *uid, *uuid; /* owned */
	int64_t share_mib, used_mib;
	int64_t seen_ms; /* the look that counted last had been taken by then */
	uint32_t looks;	 /* in a row that say the contrary of `over` */
	bool over;
	bool known;	 /* the figures are fresh, as of the last pass */
	int64_t told_at; /* -1: not yet */
	/* of this pass */
	int64_t sum_mib; /* what its node tells; -1: not known */
	uint32_t next;	 /* of the same crowd; MAP_NONE: none */
};

/* A GPU on which somebody may be over. */
struct crowd {
	char *uuid;	    /* owned */
	uint64_t members;   /* one number for all tenants that are there */
	int64_t changed_at; /* these since then */
	int64_t failed_at;  /* one of them ran out of memory through others; -1: not since */
	char *victim;	    /* owned; uid of that one */
	/* of this pass */
	bool met, leaving;
	uint64_t sum;
	uint32_t first; /* of those that are over or may be; MAP_NONE: none */
};

/* A tenant that told that a GPU had no memory left. */
struct failure {
	char *uid;     /* owned */
	int64_t at_ms; /* as it says itself: one time is one failure */
	int64_t seen_at;
	bool judged;
	int64_t contended_at; /* it was through others, last then; -1: never */
	int64_t told_at;      /* -1: not yet */
	bool met;	      /* in this pass */
};

/* A condition was asked for. */
struct remark {
	char *uid; /* owned */
	int64_t at;
};

/* There may be as many of each as there are tenants, so each is found by its key. They come and go
 * through overuse_find.c alone. */
struct overuses {
	struct {
		VEC_FIELDS(struct overuse);
		struct map by_key; /* uid and uuid */
	} items;
	struct {
		VEC_FIELDS(struct crowd);
		struct map by_uuid;
	} crowds;
	struct {
		VEC_FIELDS(struct failure);
		struct map by_uid;
	} failures;
	struct {
		VEC_FIELDS(struct remark);
		struct map by_uid;
	} remarks; /* of the last minute */
	int64_t next_at;
};

/* Once a second, whatever calls it. */
void overuse_tend(struct engine *e, struct engine_now now, struct plan *plan);

/* overuse_find.c: found by key, NULL: there is none. What is added must not be there, and its texts
 * are taken; a pointer dies when another one is added or dropped. */
void overuses_init(struct overuses *all);
void overuse_forget(struct overuses *all);
struct overuse *overuse_find(struct overuses *all, const char *uid, const char *uuid);
struct overuse *overuse_add(struct overuses *all, const struct overuse *made);
void overuse_drop(struct overuses *all, size_t i);
struct crowd *crowd_find(struct overuses *all, const char *uuid);
struct crowd *crowd_add(struct overuses *all, const struct crowd *made);
void crowd_drop(struct overuses *all, size_t i);
struct failure *failure_find(struct overuses *all, const char *uid);
struct failure *failure_add(struct overuses *all, const struct failure *made);
void failure_drop(struct overuses *all, size_t i);
struct remark *remark_find(struct overuses *all, const char *uid);
struct remark *remark_add(struct overuses *all, const struct remark *made);
void remark_drop(struct overuses *all, size_t i);

/* What is shared with contention.c. */
#define OVERUSE_TELL_EVERY_MS 600000
/* A tenant whose memory somebody may be watching: it runs, or has just ended, on a GPU in mode
 * None. */
bool overuse_concerns(const struct world_pod *p);
/* What it uses of the device; -1: not known. */
int64_t overuse_measured(const struct engine *e, const struct world_pod *p, const char *uuid);
struct crowd *crowd_touch(struct engine *e, const char *uuid);
void overuse_tell(struct engine *e, const struct world_pod *p, enum reason reason, const char *text,
	struct plan *plan);
/* A condition of that type, unless it is so already or one was asked for lately. */
void overuse_remark(
	struct engine *e, const struct world_pod *p, const struct action *what, struct plan *plan);

/* contention.c */
void failures_tend(struct engine *e, int64_t policy_ms, struct plan *plan);

/* overuse_evict.c: GPUs on which somebody must go */
void crowds_relieve(struct engine *e, struct plan *plan);

/* journal_overuse.c */
void overuses_pack(struct str *out, const struct overuses *all);
bool overuses_unpack(struct overuses *all, struct unpack *u);

#endif
