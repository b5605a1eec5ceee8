/* What is remembered of Deployments that are rightsized. */
#ifndef SIM_WORKS_PARTS_H
#define SIM_WORKS_PARTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"

#define LABEL_WORK "work" /* of a pod: its Deployment */
#define WORKS_NS   "team"

/* A pod that a controller has decided to evict for its share. */
struct roll_intent {
	char uid[40];
	int64_t at;
	bool returns; /* or to give it back */
};
/* What was true of a pod that stands beside another, for the last time. */
struct beside {
	char uid[40], old_uid[40], set_uid[40];
	int64_t right_at; /* adopted then, the old one would have gone: */
	bool right;	  /* as it would now */
	int64_t adopt_at; /* the last write that adopts it was sent; 0: none */
	bool adopted;
};
/* When a Deployment was last at a rollout, and since when. */
struct rework {
	char name[32];
	int64_t since, wanted_at;
	int64_t least; /* replicas that it wanted within the last while */
	bool moves;
};
/* Of one Deployment. */
struct given {
	char work[32];
	int64_t vain_at;  /* when one of its pods had last waited for long enough; 0: never */
	int64_t given_at; /* since when its GPURecommendation says GivenBack; 0: it does not */
	int64_t times;	  /* as it says */
};
struct wayback {
	int64_t refused_until; /* new capacity pods */
	struct {
		VEC_FIELDS(struct given);
	} given;
};

struct works {
	bool surges; /* the overlay is applied: pods may be made beside others */
	bool soon;   /* a turn of the controllers is on the agenda */
	int64_t away_until, slow_until;
	uint64_t serial; /* of names of pods */
	struct wayback wayback;
	struct {
		VEC_FIELDS(struct roll_intent);
	} intents;
	struct {
		VEC_FIELDS(struct beside);
	} beside;
	struct {
		VEC_FIELDS(struct rework);
	} rework;
};

#endif
