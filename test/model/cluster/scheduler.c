/* The default scheduler, as much of it as matters: gates, the node pin and the node selector,
 * taints left out, nvidia.com/gpu, CPU, memory and pod slots by requests. */
#include "scheduler.h"

#include <string.h>

#include "objects/dice.h"
#include "objects/patch.h"

#define ROUND_MS 300

static bool term_allows(const struct node_term *t, const struct node *n)
{
	for (uint32_t i = 0; i < t->fields.count; i++) {
		if (!term_matches(&t->fields.items[i], n->name)) {
			return false;
		}
	}
	return (t->fields.count > 0 || t->labels.count > 0) && terms_match(&t->labels, &n->labels);
}

static bool affinity_allows(const struct pod *p, const struct node *n)
{
	for (uint32_t i = 0; i < p->node_term_count; i++) {
		if (term_allows(&p->node_terms[i], n)) {
			return true;
		}
	}
	return p->node_term_count == 0;
}

struct room {
	int64_t cpu_milli, mem_bytes, slots, gpus;
};

/* Counted until its object is gone, but in a cluster that is broken on purpose. */
static bool pod_counts(const struct sim *s, const struct pod *p)
{
	bool early = s->config.hooks != NULL && s->config.hooks->devices_free_early;
	return !early || !pod_is_capacity(p) || p->deleting_ms == 0;
}

static struct room room_on_node(const struct sim *s, const struct node *n)
{
	struct room r = {n->cpu_milli, n->mem_bytes, n->pod_slots, n->gpus};
	for (size_t i = 0; i < s->store.items.count; i++) {
		const struct stored *o = s->store.items.items[i];
		if (o->resource != RES_PODS || !text_equals(o->pod.node, n->name) ||
			pod_is_terminal(&o->pod)) {
			continue;
		}
		r.cpu_milli -= o->pod.cpu_milli;
		r.mem_bytes -= o->pod.mem_bytes;
		r.slots--;
		r.gpus -= pod_counts(s, &o->pod) ? o->pod.gpus : 0;
	}
	return r;
}

static bool pod_fits_node(const struct sim *s, const struct pod *p, const struct node *n)
{
	if (n->unschedulable || !n->ready || !affinity_allows(p, n) ||
		!pairs_contain(&n->labels, &p->node_selector)) {
		return false;
	}
	struct room r = room_on_node(s, n);
	return r.cpu_milli >= p->cpu_milli && r.mem_bytes >= p->mem_bytes && r.slots >= 1 &&
	       r.gpus >= p->gpus;
}

static void bind(struct sim *s, struct stored *o, const char *node)
{
	json_t *draft = store_draft(o);
	if (node != NULL) {
		json_object_set_new(json_object_get(draft, "spec"), "nodeName", json_string(node));
	}
	json_t *wrap = json_pack("{s:[o]}", "conditions",
		pod_condition_new(
			"PodScheduled", node != NULL, node != NULL ? NULL : "Unschedulable"));
	patch_conditions(json_object_get(draft, "status"), wrap);
	json_decref(wrap);
	store_put(&s->store, RES_PODS, draft, ACTOR_SCHEDULER);
}

static bool waits_for_node(const struct stored *o)
{
	return o->resource == RES_PODS && text_empty(o->pod.node) && o->pod.gate_count == 0 &&
	       o->pod.deleting_ms == 0 && !pod_is_terminal(&o->pod);
}

/* The highest priority below that one among those who wait; INT64_MIN: nobody is left. */
static int64_t next_priority(const struct sim *s, int64_t below)
{
	int64_t next = INT64_MIN;
	for (size_t i = 0; i < s->store.items.count; i++) {
		const struct stored *o = s->store.items.items[i];
		bool lower = waits_for_node(o) && o->pod.priority < below && o->pod.priority > next;
		next = lower ? o->pod.priority : next;
	}
	return next;
}

static void schedule_one(struct sim *s, struct stored *o)
{
	const char *node = NULL;
	for (size_t j = 0; j < s->store.items.count && node == NULL; j++) {
		const struct stored *n = s->store.items.items[j];
		bool good = n->resource == RES_NODES && pod_fits_node(s, &o->pod, &n->node);
		node = good ? n->name : NULL;
	}
	bind(s, o, node);
}

/* By priority, capacity pods first of all; then in order of age. */
static void schedule(void *data, uint64_t arg)
{
	(void)arg;
	struct sim *s = data;
	s->fleet.scheduling = false;
	for (int64_t p = INT64_MAX; (p = next_priority(s, p)) != INT64_MIN;) {
		for (size_t i = 0; i < s->store.items.count; i++) {
			struct stored *o = s->store.items.items[i];
			if (waits_for_node(o) && o->pod.priority == p) {
				schedule_one(s, o);
			}
		}
	}
}

void scheduler_soon(struct sim *s)
{
	if (!s->fleet.scheduling) {
		s->fleet.scheduling = true;
		struct dice back = dice_enter(s, dice_key("round", NULL, (uint64_t)sim_now(s)));
		agenda_add(&s->agenda, sim_now(s) + sim_between(s, 1, ROUND_MS), schedule, s, 0);
		dice_leave(s, back);
	}
}
