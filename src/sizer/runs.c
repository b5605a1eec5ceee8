/* Runs: pods that end because their work is done. Batch, training and builds are sized by them, so
 * each counts once for its container, by whoever leads when it ends. */
#include "state.h"

/* One that was told to go exits as well as it can. */
static bool is_done(const struct world_pod *wp)
{
	return wp != NULL && wp->phase == POD_SUCCEEDED && !wp->graceful;
}

static void add(struct sized_container *c, int64_t created_ms, bool known)
{
	if (history_add_run(c->history, created_ms, known)) {
		c->save.samples = -1; /* that is worth a checkpoint */
	}
}

/* What a failed one would have used nobody knows. But builds are ended by their runner, who deletes
 * their pods, and one that fails has built as well. */
void runs_end(struct sized_pod *p, const struct world_pod *wp)
{
	if (!is_done(wp) && p->of->type != WORKLOAD_BUILD) {
		return;
	}
	for (uint8_t i = 0; i < p->feed_count; i++) {
		add(p->feeds[i].container, p->created_ms, true);
	}
}

void runs_recall(struct sizer *s, const struct world_pod *wp)
{
	struct pod pod;
	struct workload w;
	arena_reset(&s->scratch);
	if (!is_done(wp) || wp->gpu->container == NULL ||
		!world_pod_unpack(wp, &s->scratch, &pod)) {
		return;
	}
	workload_of(s->config.groups, s->config.owners, &pod, &s->scratch, &w);
	if (w.key.name == NULL || w.top.pending) {
		return;
	}
	/* Of a workload that nobody knows nothing was measured: none is made. */
	struct sized *x = sized_find(s, w.key.ns, workload_object_name(&w.key, &s->scratch));
	struct sized_container *c = x != NULL ? sized_container_find(x, wp->gpu->container) : NULL;
	if (c != NULL) {
		add(c, wp->gpu->created_ms, false);
	}
}
