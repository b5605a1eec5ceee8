/* Deployments that are rightsized, in some runs: the controllers above their pods, what people do
 * to them, and what a replacement must never do. They know only objects. */
#ifndef SIM_WORKS_H
#define SIM_WORKS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"
#include "base/vec.h"
#include "wayback.h"

struct action;
struct api_answer;
struct commit;
struct replica;
struct sim;
struct stored;

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

/* --- works.c --- */
void works_weather(struct sim *s); /* what a run about them is like */
void works_start(struct sim *s);
void works_make(struct sim *s, int64_t replicas); /* one Deployment, of a scenario */
void works_scale(struct sim *s, const struct stored *deployment, int64_t replicas);
void works_finish(struct sim *s);
void works_spells(struct sim *s);
void works_calm(struct sim *s);
/* Is this write about a pod that is replaced? */
bool works_replaces(const char *path, const char *body);

#endif
