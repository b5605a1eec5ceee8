/* The tasks of a surge (C24, C25): what roll/surge.h says next, word for word. All writes are
 * about pods; the ReplicaSet and its owner are read and never written. */
#ifndef ACT_SURGE_DRAFT_H
#define ACT_SURGE_DRAFT_H

#include "draft.h"
#include "job_list.h"

/* A task of one write. The action names the pod as it was judged: none goes out without its uid
 * and its version. */
MUST_CHECK int surge_draft(const struct action *x, struct draft *d, struct fault *ret_fault);

/* Is the action a task of several requests, LOOK, READ or CREATE, which read before they write? */
bool surge_is_course(const struct action *x);
/* The course of such an action, which is borrowed. */
struct surge_course *surge_course_create(const struct action *x, int64_t wall_ms);
void surge_course_destroy(struct surge_course *c);
/* Takes the answer (NULL: it begins) and sends the next request of the job, for which there is so
 * much time. False: it is over, and the job's outcome says how. */
bool surge_course_go(
	struct job *j, const struct kube_answer *answer, int64_t write_ms, kube_done done);

#endif
