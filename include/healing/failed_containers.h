/* Containers that ended with an error, until it is judged who took the memory. */
#ifndef HEALING_FAILED_CONTAINERS_H
#define HEALING_FAILED_CONTAINERS_H

#include "healing/healing.h"

/* A container of a running tenant may have ended since the tenant was seen last. */
void healing_ended(
	struct healing *s, struct sized_pod *p, const struct world_gpu *g, int64_t now_ms);
/* The same for a pod that ended, as after one failure with restartPolicy Never, or is being
 * deleted. */
void healing_over(
	struct healing *s, struct sized_pod *p, const struct world_pod *wp, int64_t now_ms);
/* The same for a pod that ended before a round had met it: some fail within seconds. */
void healing_unseen(struct healing *s, const struct world_pod *wp, int64_t now_ms);
/* Judges the ends that are due. */
void healing_judge(struct healing *s, const struct world *w, struct sizer_now now);
/* Monotonic; when a workload is to be looked at apart from the rounds. */
int64_t healing_deadline(const struct healing *s);

#endif
