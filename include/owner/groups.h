/* GPUWorkloadGroups at work: compiled once, matched in their order (the highest weight first, then
 * the name), and what a pod belongs to in the end.
 *
 * A group that cannot be used as written (an expression that does not compile, or could cost
 * without measure) matches nothing and says why. An expression matches anywhere in the text unless
 * it is anchored. */
#ifndef OWNER_GROUPS_H
#define OWNER_GROUPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"
#include "model/change.h"
#include "model/group.h"
#include "model/workload.h"
#include "owner/owner.h"

#define GROUPS_MAX 256

struct groups;

struct groups *groups_create(void);
void groups_destroy(struct groups *g);
/* What the watch of GPUWorkloadGroups said. False: there are too many, this one is not kept. */
bool groups_apply(struct groups *g, const struct change *c);
/* Grows with every change that could match pods differently. */
uint64_t groups_version(const struct groups *g);

/* In the order in which they are matched. Borrowed until the next groups_apply. */
size_t groups_count(const struct groups *g);
const struct workload_group *groups_at(const struct groups *g, size_t i);
/* Of its condition Accepted: one word. */
const char *groups_reason(const struct groups *g, size_t i);
/* NULL: it is accepted. Else which expression of it is wrong, and how. */
const char *groups_problem(const struct groups *g, size_t i);

/* Texts are borrowed from the pod, the groups, the port or the arena. */
struct workload {
	struct workload_key key; /* name NULL: nobody owns the pod, and no group takes it */
	struct owner_top top;
	enum workload_type type;
	const char *gathered_by; /* the group; NULL: none takes the pod */
	const char *policy;	 /* of the group, by name; NULL: none */
	int32_t retention_s;	 /* 0: no group's, the usual one holds */
};

/* `groups` and `port` may be NULL. */
void workload_of(const struct groups *groups, const struct owner_port *port, const struct pod *pod,
	struct arena *a, struct workload *ret);

#endif
