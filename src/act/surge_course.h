/* Tasks of a surge that are more than one request. */
#ifndef ACT_SURGE_COURSE_H
#define ACT_SURGE_COURSE_H

#include "surge_draft.h"

/* Is the action a task of several requests, LOOK, READ or CREATE, which read before they write? */
bool surge_is_course(const struct action *x);
/* The action is borrowed. */
struct surge_course *surge_course_create(const struct action *x, int64_t wall_ms);
void surge_course_destroy(struct surge_course *c);
/* Takes the answer (NULL: it begins) and sends the next request of the job, for which there is so
 * much time. False: it is over, and the job's fault says how. */
bool surge_course_go(struct job *j, const struct kube_answer *answer, struct kube *kube,
	int64_t write_ms, kube_done done);
/* What was read; NULL: nothing, or not all. */
const struct surge_seen *surge_course_seen(const struct surge_course *c);

#endif
