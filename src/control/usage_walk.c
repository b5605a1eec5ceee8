/* Some hundred pods in a turn. */
#include "usage_walk.h"

#include "sizer/workload_pods.h"

/* Pods whose figures are handed on in one turn: some tenths of a millisecond. */
#define WALK_PODS 200

static void hand_on_usage(const struct usage_walk *w, const struct latest_pod *p)
{
	const struct world_pod *wp = world_pod_find(w->world, p->ns, p->name);
	if (wp == NULL) {
		return;
	}
	sizer_see(w->sizer, wp, clock_policy(w->clock));
	if (p->state != LATEST_FRESH) {
		return;
	}
	struct sizer_use use = {
		.uid = world_pod_uid(wp),
		.source = p->source,
		.figures = p->figures,
		.figure_count = p->figure_count,
		.app = p->gauges_state == LATEST_FRESH ? &p->gauges : NULL,
	};
	(void)sizer_take(w->sizer, &use, clock_policy(w->clock));
}

static void usage_walk_step(void *self, const struct turn *turn)
{
	struct usage_walk *w = self;
	struct latest_pod pod;
	if (!w->walking && turn->now < w->at_ms) {
		return;
	}
	if (!w->walking) {
		w->walking = true;
		w->at = 0;
	}
	for (int budget = WALK_PODS; budget > 0; budget--) {
		if (w->at >= latest_count(w->latest)) {
			w->walking = false;
			w->at_ms = turn->now + w->every_ms;
			return;
		}
		latest_at(w->latest, w->at++, &pod);
		hand_on_usage(w, &pod);
	}
}

static int64_t usage_walk_deadline(const void *self, const struct turn *turn)
{
	const struct usage_walk *w = self;
	(void)turn;
	return w->walking ? 0 : w->at_ms;
}

const struct part usage_walk_part = {usage_walk_step, usage_walk_deadline, NULL};

void usage_walk_look(struct usage_walk *w, const struct change *c)
{
	bool ended = c->kind == KIND_POD && c->type == CHANGE_SET && pod_is_terminal(c->pod);
	const struct world_pod *wp =
		ended ? world_pod_find(w->world, c->pod->ns, c->pod->name) : NULL;
	if (wp != NULL) {
		sizer_see(w->sizer, wp, clock_policy(w->clock));
	}
}
