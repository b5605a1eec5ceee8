/* Which kind of work a pod does. */
#ifndef OWNER_WORK_H
#define OWNER_WORK_H

#include "owner/owner.h"

/* The kind of work: by the owner's kind, else by what the pod's labels, or the image, command and
 * arguments of its GPU container say. UNKNOWN where nothing does. A pod from the watch carries no
 * command and no arguments, so that there is less to tell by. */
enum workload_type owner_work_of(const struct pod *pod, const struct owner_top *top);

#endif
