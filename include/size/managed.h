/* Who else has a say in a pod: a group that starts together, a queue that counts its GPUs, the
 * parallel job of which it is a rank. Pure; each answer names what tells it, borrowed from the pod
 * or static, and is NULL where nothing does. */
#ifndef SIZE_MANAGED_H
#define SIZE_MANAGED_H

#include "model/pod.h"

/* The label or the scheduling gate by which a queue manages it. */
const char *managed_queue(const struct pod *pod);
/* By labels alone, or by the variables and arguments of its GPU container too where they are known
 * (admission form). A size of one, as far as it is told, is no parallel job. */
const char *managed_rank(const struct pod *pod, const struct container *gpu);
/* By what of it the pod starts together with others; NULL: by nothing that is known. `basic` as
 * basic_group. */
const char *admit_gang(const struct pod *pod, bool basic);
/* By its labels it is one rank of a parallel job: those of one job should not share a GPU. */
bool admit_is_rank(const struct pod *pod);

#endif
