/* The figures and words that the text and the JSON have in common. */
#include "summary.h"

#define KIND_MAX 253   /* of a kind, and of its group */
#define STALE_MS 20000 /* C2 */

bool report_leads(const struct report_parts *p, int64_t now_ms)
{
	return p->lease_known && !text_empty(p->holder) && now_ms - p->renew_ms <= STALE_MS;
}

const char *report_refused_by(const struct report_parts *p, int64_t now_ms)
{
	return report_leads(p, now_ms) ? p->refused_by : NULL;
}

const char *report_webhook_text(const struct report_parts *p)
{
	switch (p->webhook) {
	case REPORT_WEBHOOK_ABSENT:
		return "is not there: pods start whole";
	case REPORT_WEBHOOK_BARE:
		return "has no certificate yet: pods start whole";
	case REPORT_WEBHOOK_SET:
		if (p->deployment_absent || (p->deployment_known && p->ready == 0)) {
			return "is not answered: pods start whole";
		}
		return p->deployment_known ? "ok" : "is set, whether anybody answers is not known";
	case REPORT_WEBHOOK_UNKNOWN:
		break;
	}
	return "not known";
}

/* Sums have a bound: whoever may write nodes and pods says how many. */
void sum_add(int64_t *sum, int64_t more)
{
	if (__builtin_add_overflow(*sum, more, sum)) {
		*sum = INT64_MAX;
	}
}

int64_t gpus_used_percent(const struct gpus *g)
{
	int64_t used = g->whole > INT64_MAX / 1000 ? INT64_MAX : g->whole * 1000;
	int64_t tenth = g->gpus > INT64_MAX / 10 ? INT64_MAX : g->gpus * 10;
	sum_add(&used, g->milli);
	return tenth > 0 ? used / tenth : 0;
}

int64_t gpus_idle(const struct gpus *g)
{
	int64_t held = g->whole;
	sum_add(&held, g->held);
	return g->gpus > held ? g->gpus - held : 0;
}

/* Has nobody been granted a share of this capacity pod? */
static bool has_no_tenant(const struct world_pod *wp)
{
	CLEANUP(arena_finish) struct arena arena = {.block_bytes = 4096};
	struct pod pod;
	return world_pod_unpack(wp, &arena, &pod) && pod.ledger.count == 0 && !pod.ledger_bad;
}

static void count_gpu_pod(const struct report *r, const struct world_pod *wp, struct gpus *g)
{
	if (wp->node == WORLD_NONE || world_pod_terminal(wp)) {
		return;
	}
	/* Pods of a node that is gone are kept until somebody collects them. */
	if (r->nodes_known && !world_node_at(r->world, wp->node)->known) {
		return;
	}
	switch (wp->gpu->class) {
	case WORLD_WHOLE:
		sum_add(&g->whole, wp->gpu->gpus);
		return;
	case WORLD_TENANT:
		g->tenants += wp->gpu->milli > 0 ? 1 : 0;
		sum_add(&g->milli, world_pod_milli(wp));
		return;
	case WORLD_CAPACITY:
		sum_add(&g->held, wp->gpu->gpus);
		sum_add(&g->empty, has_no_tenant(wp) ? wp->gpu->gpus : 0);
		return;
	case WORLD_PENDING:
	case WORLD_PROBE:
	case WORLD_CLASSES:
		return;
	}
}

struct gpus report_gpus(const struct report *r)
{
	static const enum world_class classes[] = {WORLD_WHOLE, WORLD_TENANT, WORLD_CAPACITY};
	struct gpus g = {0};
	for (uint32_t i = 0; i < world_node_slots(r->world); i++) {
		const struct world_node *n = world_node_at(r->world, i);
		if (n->known && n->noun.gpus > 0) {
			g.nodes++;
			sum_add(&g.gpus, n->noun.gpus);
		}
	}
	for (size_t k = 0; k < COUNT_OF(classes); k++) {
		for (size_t i = 0; i < world_class_count(r->world, classes[k]); i++) {
			count_gpu_pod(r, world_class_at(r->world, classes[k], i), &g);
		}
	}
	return g;
}

const char *report_kind(struct arena *a, const char *kind, const char *group)
{
	struct view k = text_cut(kind, KIND_MAX), g = text_cut(group, KIND_MAX);
	return arena_printf(
		a, "%.*s%s%.*s", (int)k.n, k.p, *group != '\0' ? "." : "", (int)g.n, g.p);
}
