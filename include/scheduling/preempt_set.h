/* Whom one GPU would have to lose so that a request fits it: the fewest, then the lowest
 * priorities, then the least share. Up to two are found by trying all; where three or more must go,
 * the smallest that are not needed are spared one by one, which leaves a set from which nobody can
 * be spared, if not always the smallest there is. Pure. */
#ifndef SCHEDULING_PREEMPT_SET_H
#define SCHEDULING_PREEMPT_SET_H

#include <stdbool.h>
#include <stdint.h>

#include "ledger/sharing_group.h"
#include "place/place.h"
#include "world/world.h"

struct contest {
	const struct snapshot *snap;
	const struct place_request *request;
	struct place_gpu gpu; /* both as they will be without those who leave anyway */
	struct place_node node;
	const struct world_pod
		*victims[MODEL_GRANTS_MAX]; /* candidates: those who may go, in a fixed order */
	uint32_t count;
	/* Everybody who is there is known, so that it is known what holds without some of them: the
	 * rules of those who stay for certain, and of those who may go. */
	bool rules_known;
	struct manners stay, rules[MODEL_GRANTS_MAX];
};

struct victims {
	uint64_t mask; /* of the contest's */
	uint32_t count;
	int32_t top_priority; /* of them */
	int64_t milli;
	struct place_verdict share; /* what the request gets there */
};

/* One more of those who share a GPU. */
void contest_join(struct manners *all, const struct manners *one);
/* What it takes of its node. */
void contest_leave_node(struct place_node *n, const struct world_pod *p);
/* A tenant of that GPU, bound or not, is taken out of both. */
void contest_give_back(struct place_gpu *g, struct place_node *n, const struct world_pod *p);
/* False: it would not fit though all of them went. */
bool contest_solve(const struct contest *c, struct victims *ret_victims);
void victims_add(struct victims *v, const struct world_pod *p);
bool victims_are_cheaper(const struct victims *a, const struct victims *b);

#endif
