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
		"Resize", "Condition", "PolicyStatus", "Evict", "ReadJob", "ReadOwner",
		"CreateRecommendation", "RecommendationStatus", "DeleteRecommendation",
		"Checkpoint", "Surge", "Event"};
	_Static_assert(COUNT_OF(names) == ACTION_EVENT + 1, "each action has a name");
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
	if (a->type == ACTION_SURGE && a->surge != NULL) {
		return surge_task_name(a->surge->task);
	}
	return action_type_name(a->type);
}

const char *surge_task_name(enum surge_task task)
{
	static const char *const names[] = {"SurgeLook", "SurgeRead", "SurgeCreate", "SurgeCheapen",
		"SurgeRestore", "SurgeAdopt", "SurgeDrop"};
	return names[task];
}

const char *kind_name(enum kind kind)
{
	static const char *const names[] = {"Pod", "Node", "GPUPolicy", "Namespace", "LimitRange",
		"ResourceQuota", "ResourceSlice", "PersistentVolumeClaim", "NodeState",
		"GPURecommendation", "GPUWorkloadGroup", "HorizontalPodAutoscaler", "ScaledObject",
		"PodDisruptionBudget", "PodGroup"};
	return kind < KIND_COUNT ? names[kind] : "?";
}
