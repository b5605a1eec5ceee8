/* May a pod run on a node: the scheduler's own questions, asked before anything is promised. */
#include "place/place.h"

#include "base/str.h"
#include "model/names.h"

static bool taints_tolerated(const struct pod *pod, const struct node *n)
{
	for (uint32_t i = 0; i < n->taint_count; i++) {
		const struct taint *t = &n->taints[i];
		if (text_equals(t->effect, "PreferNoSchedule")) {
			continue;
		}
		if (!pod_tolerates(pod, t->key, t->value, t->effect)) {
			return false;
		}
	}
	return true;
}

static bool fields_match(const struct terms *fields, const char *node_name)
{
	for (uint32_t i = 0; i < fields->count; i++) {
		const struct term *t = &fields->items[i];
		if (!text_equals(t->key, "metadata.name") || !term_matches(t, node_name)) {
			return false;
		}
	}
	return true;
}

/* OR over terms; a term with nothing in it matches nothing, as in Kubernetes. */
static bool affinity_matches(const struct pod *pod, const struct node *n)
{
	if (pod->node_term_count == 0) {
		return true;
	}
	for (uint32_t i = 0; i < pod->node_term_count; i++) {
		const struct node_term *t = &pod->node_terms[i];
		bool empty = t->labels.count == 0 && t->fields.count == 0;
		if (!empty && terms_match(&t->labels, &n->labels) &&
			fields_match(&t->fields, n->name)) {
			return true;
		}
	}
	return false;
}

bool place_node_suits(const struct pod *pod, const struct node *n)
{
	return !pod->too_complex && pairs_contain(&n->labels, &pod->node_selector) &&
	       affinity_matches(pod, n) && taints_tolerated(pod, n);
}

enum reason place_node_fits(const struct pod *pod, const struct place_node *n)
{
	bool room = n->free_cpu_milli >= pod->cpu_milli && n->free_mem_bytes >= pod->mem_bytes &&
		    n->free_slots >= 1;
	bool fits = !n->no_grants && room && place_node_suits(pod, n->noun);
	return fits ? REASON_NONE : REASON_NODE_UNFIT;
}
