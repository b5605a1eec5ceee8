/* A workload goes when its object or its last pod has been gone for long enough. */
#include "workload_life.h"

#include "owner/groups.h"
#include "tracking/workload_table.h"

static void container_remove(struct sizer *s, struct sized_workload *x, struct sized_container *c)
{
	healing_lose(&s->healing.alarms, c);
	sized_container_drop(x, c);
}

void workload_remove(struct sizer *s, struct sized_workload *x)
{
	surges_drop(&s->rollouts, x);
	rollout_drop(&s->rollouts, x);
	s->waiting -= x->waits ? 1 : 0;
	while (x->containers.count > 0) {
		container_remove(s, x, x->containers.items[0]);
	}
	uint32_t at = x->row.at;
	table_remove(&s->tracking.workloads, &x->row);
	/* A look at those alerted may have passed the place, which the last one has now. */
	s->healing.alarms.any |= at < s->tracking.workloads.rows.count &&
				 workload_at(&s->tracking, at)->heal.alerted;
}

void workload_drop_containers(struct sizer *s, struct sized_workload *x, int64_t now_ms)
{
	for (size_t i = x->containers.count; i-- > 0;) {
		struct sized_container *c = x->containers.items[i];
		if (c->seen_ms == 0) {
			c->seen_ms = now_ms;
		}
		if (c->feeds == 0 && now_ms - c->seen_ms > SIZER_KEEP_S * INT64_C(1000)) {
			container_remove(s, x, c);
		}
	}
}

/* As the pod that was seen last was told, else as its group says now. */
static int64_t kept_for_s(const struct groups *groups, const struct sized_workload *x)
{
	int64_t told_s = x->retention_s;
	bool grouped = text_equals(x->key.kind, WORKLOAD_GROUP_KIND) && groups != NULL;
	for (size_t i = 0; told_s == 0 && grouped && i < groups_count(groups); i++) {
		const struct workload_group *g = groups_at(groups, i);
		size_t n = strlen(g->name);
		bool its = strncmp(x->key.name, g->name, n) == 0 && x->key.name[n] == '.';
		told_s = its ? g->retention_s : 0;
	}
	return told_s > 0 ? told_s : SIZER_KEEP_S;
}

bool workload_is_forgotten(
	const struct sizer_config *config, const struct sized_workload *x, int64_t now_ms)
{
	return x->pods == 0 && !x->owned && x->seen_ms != 0 &&
	       now_ms - x->seen_ms > kept_for_s(config->groups, x) * 1000;
}
