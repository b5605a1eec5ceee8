/* Which pod a process belongs to, by the text of /proc/PID/cgroup.
 *
 * Whoever runs in a container with cgroups of its own may make some below it and name them like
 * another pod's. So the outermost pod of a path is taken and never one further in, also where the
 * outermost one is not known to anybody; and of its container only what the runtime named, directly
 * below the pod. Hierarchies (cgroup v1) that contradict each other name none. */
#ifndef NODE_CGROUP_H
#define NODE_CGROUP_H

#include <stdbool.h>
#include <stddef.h>

#define CGROUP_BYTES_MAX     ((size_t)64 * 1024)
#define CGROUP_POD_MAX	     37
#define CGROUP_CONTAINER_MAX 65

struct cgroup_name {
	/* A uid with dashes; of a static pod 32 hexadecimal digits, which are its annotation
	 * kubernetes.io/config.hash and not its uid. */
	char pod[CGROUP_POD_MAX];
	char container[CGROUP_CONTAINER_MAX]; /* 64 hexadecimal digits; "": none is named */
};

/* Not the least of the text is trusted: any bytes, any length. False: no pod. Only whole lines
 * count, so that a text that was cut off names no half of a container. */
bool cgroup_find(const char *text, size_t n, struct cgroup_name *ret_name);

#endif
