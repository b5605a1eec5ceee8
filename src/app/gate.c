/* The three conditions of C2. */
#include "gate.h"

#include "base/clock.h"
#include "base/str.h"
#include "model/pod.h"

#define LEASE_FRESH_MS 20000
#define BACKLOG_MS     60000
#define LOOK_EVERY_MS  1000
/* How many old tenants are looked into at once; one is enough to close the gate. */
#define LOOK_MAX 64

/* What people can do something about, or time will: not ours. */
static bool is_ours(const char *reason)
{
	static const enum reason theirs[] = {REASON_NOT_OURS, REASON_OTHER_GATES,
		REASON_NO_GPU_NODE, REASON_SHORT_COMPUTE, REASON_SHORT_MEMORY, REASON_MAX_TENANTS,
		REASON_NODE_UNFIT, REASON_CAPACITY_FAILED, REASON_TOO_COMPLEX, REASON_EXCLUDED,
		REASON_DISABLED, REASON_POLICY_NOT_FOUND};
	for (size_t i = 0; i < COUNT_OF(theirs); i++) {
		if (text_equals(reason, reason_name(theirs[i]))) {
			return false;
		}
	}
	return true;
}

static bool has_backlog(const struct gate *g)
{
	int64_t wall = clock_wall(g->clock);
	size_t n = world_class_count(g->world, WORLD_TENANT);
	CLEANUP(arena_finish) struct arena arena = {0};
	int looked = 0;
	for (size_t i = 0; i < n && looked < LOOK_MAX; i++) {
		const struct world_pod *p = world_class_at(g->world, WORLD_TENANT, i);
		struct pod pod;
		if (!p->gpu->gated || p->deleting || wall - p->gpu->created_ms < BACKLOG_MS) {
			continue;
		}
		looked++;
		arena_reset(&arena);
		if (world_pod_unpack(p, &arena, &pod) && !p->gpu->other_gates &&
			is_ours(pod.placed.type != NULL ? pod.placed.reason : NULL)) {
			return true;
		}
	}
	return false;
}

void gate_step(struct gate *g, int64_t now_mono_ms)
{
	if (now_mono_ms - g->looked_at >= LOOK_EVERY_MS) {
		g->looked_at = now_mono_ms;
		g->backlog = has_backlog(g);
	}
}

enum reason gate_may_convert(const struct gate *g)
{
	if (election_age_ms(g->election, clock_mono(g->clock)) >= LEASE_FRESH_MS ||
		election_holder(g->election)[0] == '\0') {
		return REASON_CONTROLLER_AWAY;
	}
	if (!world_all_synced(g->world)) {
		return REASON_NOT_SYNCED;
	}
	return g->backlog ? REASON_BACKLOG : REASON_NONE;
}
