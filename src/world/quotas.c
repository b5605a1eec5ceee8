/* ResourceQuotas that bound GPUs, and what of each is taken: kept up with every pod, since a step
 * must not walk over all of them. Each namespace knows its own.
 *
 * A whole GPU counts from the creation of its pod to its end, as the API server counts it; a share
 * counts from the moment that a tenant shows it. What was given and is not shown yet is the
 * engine's to add. */
#include "quotas.h"

#include <stdlib.h>

#include "namespaces.h"
#include "nouns.h"
#include "record/tables.h"

/* Sums must not overflow, whatever people ask for: as in pods.c. */
#define AMOUNT_MAX (INT64_MAX >> 17)

static void quota_count_pod(struct world_quota *q, const struct world_pod *p, int sign)
{
	const struct world_gpu *g = p->gpu;
	bool holds = g->class == WORLD_TENANT && !g->gated;
	if (!quota_covers(&q->noun, &g->subject)) {
		return;
	}
	q->whole_gpus += sign * g->gpus;
	int64_t milli = g->devices > 1 && g->milli < AMOUNT_MAX / MODEL_GPU_COUNT_MAX &&
					g->devices <= MODEL_GPU_COUNT_MAX
				? g->milli * g->devices
				: g->milli;
	q->granted_milli += holds ? sign * (milli < AMOUNT_MAX ? milli : AMOUNT_MAX) : 0;
}

void quotas_count(struct world *w, const struct world_pod *p, int sign)
{
	if (p->gpu == NULL || world_pod_terminal(p) || w->quotas.rows.count == 0) {
		return;
	}
	const struct world_namespace *n = world_namespace_find(w, p->ns);
	for (size_t i = 0; n != NULL && i < n->quotas.count; i++) {
		quota_count_pod(n->quotas.items[i], p, sign);
	}
}

static void count_all(const struct world *w, struct world_quota *q)
{
	q->whole_gpus = q->granted_milli = 0;
	for (size_t class = 0; class < WORLD_CLASSES; class ++) {
		for (size_t i = 0; i < w->gpu_pods[class].count; i++) {
			const struct world_pod *p = w->pods.items[w->gpu_pods[class].items[i]];
			if (!world_pod_terminal(p) && strcmp(q->noun.ns, p->ns) == 0) {
				quota_count_pod(q, p, 1);
			}
		}
	}
}

static void quota_drop(void *data, struct table_row *row)
{
	struct world *w = data;
	struct world_quota *q = (struct world_quota *)(void *)row;
	struct world_namespace *n = namespace_touch(w, q->noun.ns);
	size_t i = 0;
	while (n->quotas.items[i] != q) {
		i++;
	}
	VEC_REMOVE_SWAP(&n->quotas, i);
	arena_finish(&q->arena);
	free(q);
	w->version++;
}

void quotas_init(struct world *w)
{
	table_init(&w->quotas, quota_drop, w);
}

void quotas_set(struct world *w, const struct quota *noun)
{
	struct table_row *known = table_find(&w->quotas, noun->ns, noun->name);
	struct world_quota *q = (struct world_quota *)(void *)known;
	if (!noun->bounds_gpus) {
		if (known != NULL) {
			table_remove(&w->quotas, known);
		}
		return;
	}
	/* The API server writes into the status of a quota with every pod, and the watch tells:
	 * what we read of it has not changed then, and nothing is counted or decided anew. */
	if (known != NULL && record_equals(&quota_table, &q->noun, noun)) {
		known->mark = w->quotas.mark;
		return;
	}
	if (known == NULL) {
		q = xcalloc(1, sizeof *q);
		VEC_PUSH(&namespace_touch(w, noun->ns)->quotas, q);
	}
	noun_copy(&q->arena, &quota_table, noun, &q->noun);
	q->row.ns = q->noun.ns;
	q->row.name = q->noun.name;
	q->row.mark = w->quotas.mark;
	if (known == NULL) {
		table_add(&w->quotas, &q->row);
	}
	count_all(w, q);
	w->version++;
}

size_t world_quota_count(const struct world *w)
{
	return w->quotas.rows.count;
}

const struct world_quota *world_quota_at(const struct world *w, size_t i)
{
	return quota_at(w, i);
}

bool world_quota_covers(const struct world_quota *q, const struct world_pod *p)
{
	return quota_covers(&q->noun, &p->gpu->subject);
}

const char *world_zero_quota(const struct world *w, const struct pod *pod)
{
	const struct world_namespace *n = world_namespace_find(w, pod->ns);
	struct quota_subject s = quota_subject_of(pod);
	for (size_t i = 0; n != NULL && i < n->quotas.count; i++) {
		const struct quota *q = &n->quotas.items[i]->noun;
		if (q->hard_milli <= 0 && quota_covers(q, &s)) {
			return q->name;
		}
	}
	return NULL;
}
