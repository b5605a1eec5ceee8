/* Deployments that are rightsized, in some runs: the controllers above their pods, what people do
 * to them, and what a replacement must never do. They know only objects. */
#ifndef SIM_WORKS_H
#define SIM_WORKS_H

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

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
/* A ReplicaSet has just taken that pod, and looks next whether it has one too many. */
void works_adopted(struct sim *s, const char *set, const char *uid);
/* A new pod: so long it is not Ready; 0: it is at once. */
int64_t works_unfit_ms(struct sim *s, const struct stored *o);
void works_get_well(void *data, uint64_t serial);
/* Its condition Ready, from now on. */
json_t *pod_ready_new(const struct sim *s, bool ready);
const char *work_of(const struct stored *o); /* NULL: no pod of a Deployment */
/* Is this write about a pod that is replaced? */
bool works_replaces(const char *path, const char *body);
bool work_is_ready(const struct stored *o); /* and stays */
/* Its ReplicaSet by name; NULL: nobody controls it. */
const char *work_set_of(const struct stored *o);
int64_t work_number(const json_t *value, const char *path); /* 0: not there */
const char *work_text(const json_t *value, const char *path);
/* The ReplicaSet of its Deployment's version; NULL: there is none yet. */
const struct stored *work_newest(const struct sim *s, const struct stored *deployment);

/* --- sets.c: the controllers of Deployments, ReplicaSets and budgets --- */
void sets_committed(struct sim *s, const struct commit *c);
void sets_soon(struct sim *s);
/* Whom the ReplicaSet would delete, had it one pod too many; `more` is taken for one of its pods.
 * `cheap` passes for one that is cheap to delete. NULL: nobody. */
const struct stored *sets_victim(const struct sim *s, const struct stored *set,
	const struct stored *more, const struct stored *cheap);
/* May it be evicted, by the budgets that select it? Counted if so. NULL: it may; else why not. */
const char *budgets_forbid(struct sim *s, const struct stored *o, bool counts);

/* --- webhook.c --- */
/* The pod is changed in place, as the webhook would. */
void webhook_admit(struct sim *s, int actor, bool dry, json_t *pod);
bool webhook_answers(const struct sim *s);

/* --- check_roll.c --- */
void roll_intended(struct sim *s, int replica, const struct action *a);
void roll_committed(struct sim *s, const struct commit *c);
bool roll_excuses(const struct sim *s, const struct stored *o); /* its eviction */
/* A controller writes or deletes a pod that is no tenant, or none yet: is that its business? */
bool roll_may_write(struct sim *s, const struct commit *c);
bool roll_may_delete(struct sim *s, const struct stored *o);
void roll_look(struct sim *s); /* once a second */
bool roll_settled(struct sim *s, struct str *why);

#endif
