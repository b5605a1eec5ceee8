/* Running pods that are replaced: rolls.c asks src/roll about each workload once a round and
 * carries out what it says. An eviction is an action of ours; a new pod that comes first is
 * surges.c's, who says by rolls_settle how it ended.
 *
 * Nothing of what is remembered here outlives the process but what the GPURecommendation says: what
 * is under way the pods tell. */
#ifndef SIZER_ROLLS_H
#define SIZER_ROLLS_H

#include "state.h"

/* Its owner, as it was read last. What is known of its template and of minReadySeconds outlasts an
 * answer that tells nothing. */
struct owner_seen {
	int64_t at_ms;	  /* 0: it was not */
	int64_t retry_ms; /* after a failure: not before */
	uint8_t misses;	  /* times in a row that it should have been read and could not be */
	bool known;	  /* an answer came, whatever it was */
	bool recreates;	  /* its old pods go before new ones come */
	bool going;	  /* it is not there, or not for long */
	uint8_t course;	  /* enum standing_course */
	/* enum reason: why its template has admission leave the next one whole, without a wall
	 * and with one; NONE: it does not */
	uint8_t whole, whole_walled;
	int32_t wanted, min_ready_s;
};

/* Once there was a replacement it is remembered for as long as the workload: keep it small. */
struct sized_roll {
	struct roll roll;
	uint64_t eviction;	/* the action under way; 0: none is */
	uint64_t stopped_under; /* a digest of the policy's choice when it stopped; 0: not known */
	uint64_t reading;	/* of its owner, the action under way; 0: none is */
	struct owner_seen seen;
	uint64_t told_whys;    /* of what keeps it an event said so, by bits, */
	int64_t told_revision; /* for that target */
	struct {
		const char *reason; /* of the sizer's names; NULL: none */
		int64_t at_ms;
	} update;	  /* lastUpdate */
	int32_t mended;	  /* pods that made way after a rollback */
	uint8_t result;	  /* enum update_result, of lastUpdate */
	bool live;	  /* it was judged here; else it is as it was told */
	bool as_judged;	  /* the eviction is of the pod as it was, which was not Ready */
	bool wants_to_go; /* a pod, as soon as its owner is read: nobody waits for the round */
};
static_assert(sizeof(struct sized_roll) <= 224, "what is remembered of replacements is larger");

/* --- rolls.c --- */
/* After it was decided what it should have, before its status is written. Units of work. */
uint32_t rolls_step(struct sizer *s, struct sized *x, struct decision *d, struct plan *plan);
/* What became of the replacement that is under way. */
void rolls_settle(struct sizer *s, struct sized *x, const struct roll_ending *e, int64_t now_ms);
/* What the watch says of the past. */
void rolls_told(struct sizer *s, struct sized *x, const struct recommendation *told);
/* Somebody else leads, or did: what was under way is not known. */
void rolls_forget(struct sizer *s, struct sized *x);
void rolls_drop(struct sizer *s, struct sized *x);
/* Its targets stay as they are: it was rolled back. */
bool rolls_hold(const struct sized *x);
/* C35: new pods of it are whole for a while. False: not now. */
bool rolls_give_back(struct sizer *s, struct sized *x, const struct decision *d);
/* Does the GPURecommendation say what new pods get? Whoever admits them reads it there. */
bool rolls_shown(const struct sized *x);
/* A surge of a former leader's was found by this pod: it goes on, and nothing else is begun. */
void rolls_found(struct sizer *s, struct sized *x, const struct world_pod *wp, struct sizer_now now,
	const struct world *w);

/* --- asks.c: what src/roll is asked --- */
struct asked {
	struct roll_ask ask;
	struct roll_pod *pods;	       /* ask.pods */
	struct sized_pod **members;    /* as those */
	uint32_t outdated;	       /* of them */
	const struct sized_pod *mover; /* who should be on another GPU; NULL: that is not asked */
};
/* --- returns.c --- */
/* Tenants that wait in vain and would run whole make way for such. */
void returns_step(struct sizer *s, struct sized *x, const struct decision *d, struct plan *plan);

/* --- rolls_answer.c --- */
/* What became of an action; false: it is none of ours. */
bool rolls_answer(
	struct sizer *s, struct sizer_now now, uint64_t id, const struct outcome *outcome);

/* --- next.c --- */
/* Why admission will leave the next one whole, or nobody will place it, as far as that is known, a
 * sentence; NULL: it is not known to. `like`: the pod that was made last. */
const char *asks_left_whole(const struct sized *x, const struct decision *d, const struct pod *like,
	const struct asked *asked, struct arena *a);

/* --- asks.c --- */
/* Was its owner read lately, or can it not be read? */
bool asks_owner_is_fresh(const struct sized *x, int64_t now_ms, int64_t age_ms);
/* False: there is nothing to be asked. `d`: what becomes of a contended pod is noted there. */
bool asks_make(
	struct sizer *s, struct sized *x, struct decision *d, struct arena *a, struct asked *ret);

/* --- surges.c --- */
/* Why no new pod can be made beside that one, a sentence; NULL: it can. */
const char *surges_unfit(const struct sizer *s, const struct sized *x, const struct pod *pod);
/* roll_begin was called; the end is told by rolls_settle. */
void surges_begin(
	struct sizer *s, struct sized *x, const struct sized_pod *p, const struct decision *d);

#endif
