/* The tasks of a surge (C24, C25): what roll/surge.h says next, word for word. All writes are
 * about pods; the ReplicaSet and its owner are read and never written. */
#ifndef ACT_SURGE_DRAFT_H
#define ACT_SURGE_DRAFT_H

#include "act_parts.h"

/* --- surge_draft.c: the bodies --- */

/* The new pod, made of the ReplicaSet as it was just read, which must be the one of the order. */
MUST_CHECK int surge_create_draft(const struct action *x, const json_t *set,
	struct draft *ret_draft, struct fault *ret_fault);
/* The other writes. The action names the pod as it was judged: none goes out without its uid and
 * its version. */
MUST_CHECK int surge_draft(
	const struct action *x, struct draft *ret_draft, struct fault *ret_fault);

/* --- surge_course.c: tasks of several requests --- */

struct job;
struct surge_course;

/* It reads: LOOK, READ and CREATE. */
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
