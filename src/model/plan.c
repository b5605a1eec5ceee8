/* Plans, and the names of kinds and actions. */
#include "model/plan.h"

#include "model/change.h"

void plan_reset(struct plan *p)
{
	arena_reset(&p->arena);
	VEC_CLEAR(&p->actions);
	p->unfinished = false;
}

void plan_finish(struct plan *p)
{
	if (p == NULL) {
		return;
	}
	arena_finish(&p->arena);
	VEC_FINISH(&p->actions);
}

struct action *plan_add(struct plan *p, enum action_type type, uint64_t id)
{
	struct action a = {.id = id, .type = type};
	VEC_PUSH(&p->actions, a);
	return &p->actions.items[p->actions.count - 1];
}

const char *action_type_name(enum action_type type)
{
	static const char *const names[] = {"CreateCapacity", "DeleteCapacity", "Grant", "Place",
		"Resize", "Condition", "PolicyStatus", "Evict", "ReadJob", "CreateRecommendation",
		"RecommendationStatus", "Event"};
	return names[type];
}

const char *action_name(const struct action *a)
{
	if (a->claim != NULL && a->type == ACTION_CREATE_CAPACITY) {
		return "CreateProbe";
	}
	if (a->claim != NULL && a->type == ACTION_DELETE_CAPACITY) {
		return "DeleteProbe";
	}
	return action_type_name(a->type);
}

const char *kind_name(enum kind kind)
{
	static const char *const names[] = {"Pod", "Node", "GPUPolicy", "Namespace", "LimitRange",
		"ResourceQuota", "ResourceSlice", "PersistentVolumeClaim", "NodeState",
		"GPURecommendation", "GPUWorkloadGroup"};
	return kind < KIND_COUNT ? names[kind] : "?";
}
