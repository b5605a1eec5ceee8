/* May a pod run on a node: the scheduler's own questions, asked before anything is promised.
 *
 * What is asked first is what lasts: of a node that has the wrong label and is full, the label is
 * told. What kube-scheduler asks besides and nobody asks here is listed in
 * docs/design/feasibility.md.
 *
 * Not everybody comes through here: who asks of a node by itself, without a snapshot, asks the
 * parts of it (place_node_given_out, place_node_suits): demand/node_pools.c before a pod is
 * changed, src/supply, src/capacity. */
#include "place/place.h"

#include "base/str.h"
#include "model/injection.h"
#include "model/names.h"

/* C27: two that give out the same GPU give it out twice. */
enum unfit place_node_given_out(const struct node *n, bool dra, bool kai)
{
	return n->shares_already      ? UNFIT_SHARED
	       : n->is_mig	      ? UNFIT_MIG
	       : dra		      ? UNFIT_DRA
	       : n->serves_hami	      ? UNFIT_HAMI
	       : kai || n->serves_kai ? UNFIT_KAI
				      : UNFIT_NONE;
}

enum unfit place_given_out_by(const struct place_node *n)
{
	return place_node_given_out(n->noun, n->serves_dra, n->serves_kai);
}

static bool tolerates_all(const struct pod *pod, const struct node *n, const char **ret_what)
{
	for (uint32_t i = 0; i < n->taint_count; i++) {
		const struct taint *t = &n->taints[i];
		if (text_equals(t->effect, "PreferNoSchedule")) {
			continue;
		}
		if (!pod_tolerates(pod, t->key, t->value, t->effect)) {
			*ret_what = t->key;
			return false;
		}
	}
	return true;
}

bool place_node_selected(const struct pod *pod, const struct node *n)
{
	return pairs_contain(&n->labels, &pod->node_selector) &&
	       (pod->node_term_count == 0 || node_terms_match(pod->node_terms, pod->node_term_count,
						     n->name, &n->labels));
}

/* The labels of zones and regions, and what each was called before. */
static const struct {
	const char *key, *beta;
} zone_labels[] = {
	{"topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone"},
	{"topology.kubernetes.io/region", "failure-domain.beta.kubernetes.io/region"},
};

static const char *zone_of(const struct pairs *labels, const char *key)
{
	const char *value = pairs_get(labels, key);
	for (size_t i = 0; i < COUNT_OF(zone_labels) && value == NULL; i++) {
		if (text_equals(key, zone_labels[i].beta)) {
			value = pairs_get(labels, zone_labels[i].key);
		}
	}
	return value;
}

/* Zones bind only nodes that are in some zone. */
static bool zones_admit(const struct terms *zones, const struct pairs *labels)
{
	bool zoned = false;
	for (size_t i = 0; i < COUNT_OF(zone_labels) && !zoned; i++) {
		zoned = zone_of(labels, zone_labels[i].beta) != NULL ||
			zone_of(labels, zone_labels[i].key) != NULL;
	}
	for (uint32_t i = 0; i < zones->count && zoned; i++) {
		const struct term *t = &zones->items[i];
		if (!term_matches(t, zone_of(labels, t->key))) {
			return false;
		}
	}
	return true;
}

static bool volumes_admit(
	const struct place_request *r, const struct node *n, const char **ret_what)
{
	for (uint32_t i = 0; i < r->claim_count; i++) {
		const struct volume_claim *c = r->claims[i];
		bool here = c->term_count == 0 ||
			    node_terms_match(c->terms, c->term_count, n->name, &n->labels);
		if (!here || !zones_admit(&c->zones, &n->labels)) {
			*ret_what = c->name;
			return false;
		}
	}
	return true;
}

static bool class_is_void(
	const struct place_request *r, const struct place_node *n, const char **ret_what)
{
	const char *class = text_or(r->pod->runtime_class, "");
	for (const struct inject_void *v = n->voids; v != NULL; v = v->next) {
		if (strcmp(v->class, class) == 0) {
			*ret_what = *class != '\0' ? class : "none";
			return true;
		}
	}
	return false;
}

/* The node takes nobody, whoever asks. Why in detail is asked of its object. */
static enum unfit closed_by(const struct node *n)
{
	if (n->unschedulable) {
		return UNFIT_CORDONED;
	}
	return n->ready ? UNFIT_DRAINING : UNFIT_NOT_READY;
}

static bool port_is_taken(
	const struct snapshot *s, const struct place_node *n, const struct host_port *p)
{
	for (size_t i = 0; i < n->port_count; i++) {
		if (host_port_conflicts(&n->ports[i], p)) {
			return true;
		}
	}
	for (uint32_t i = n->promised; i != 0; i = s->promised.items[i - 1].next) {
		if (host_port_conflicts(&s->promised.items[i - 1].port, p)) {
			return true;
		}
	}
	return false;
}

static struct amount *amount_left(
	const struct snapshot *s, const struct place_node *n, const char *name)
{
	for (uint32_t i = 0; i < n->others_count; i++) {
		struct amount *a = &s->others.items[n->others_at + i];
		if (text_equals(a->name, name)) {
			return a;
		}
	}
	return NULL;
}

static enum unfit extra_unfit(const struct snapshot *s, const struct place_node *n,
	const struct extra *x, const char **ret_what)
{
	for (uint32_t i = 0; i < x->ports.count; i++) {
		if (port_is_taken(s, n, &x->ports.items[i])) {
			return UNFIT_PORT;
		}
	}
	for (uint32_t i = 0; i < x->amounts.count; i++) {
		const struct amount *asked = &x->amounts.items[i];
		const struct amount *left = amount_left(s, n, asked->name);
		if (asked->value > 0 && (left == NULL || left->value < asked->value)) {
			*ret_what = asked->name;
			return UNFIT_RESOURCE;
		}
	}
	return UNFIT_NONE;
}

/* Who asks for nothing of a thing is not kept away by there being less than nothing of it. */
static enum unfit room_unfit(const struct place_node *n, const struct pod *pod)
{
	if (n->free_slots < 1) {
		return UNFIT_SLOTS;
	}
	if (pod->cpu_milli > 0 && n->free_cpu_milli < pod->cpu_milli) {
		return UNFIT_CPU;
	}
	return pod->mem_bytes > 0 && n->free_mem_bytes < pod->mem_bytes ? UNFIT_MEMORY : UNFIT_NONE;
}

bool place_node_tolerated(const struct pod *pod, const struct node *n)
{
	const char *what;
	return tolerates_all(pod, n, &what);
}

bool place_node_suits(const struct pod *pod, const struct node *n)
{
	const char *what;
	return !pod->too_complex && place_node_selected(pod, n) && tolerates_all(pod, n, &what);
}

enum unfit fit_lasting(
	const struct place_request *r, const struct place_node *n, const char **ret_what)
{
	enum unfit given_out = place_given_out_by(n);
	/* A pod for whole GPUs needs no capacity pod. */
	bool shares = r->milli > 0 || r->mem_mib > 0;
	if (shares && n->runtime != NULL &&
		!pairs_contain(&n->noun->labels, &n->runtime->selector)) {
		return UNFIT_RUNTIME;
	}
	if (r->pod->too_complex || !place_node_selected(r->pod, n->noun)) {
		return UNFIT_SELECTOR;
	}
	if (!tolerates_all(r->pod, n->noun, ret_what)) {
		return UNFIT_TAINT;
	}
	if (given_out != UNFIT_NONE) {
		return given_out;
	}
	if (!volumes_admit(r, n->noun, ret_what)) {
		return UNFIT_VOLUME;
	}
	if (shares && class_is_void(r, n, ret_what)) {
		return UNFIT_CLASS;
	}
	return n->no_grants ? closed_by(n->noun) : UNFIT_NONE;
}

enum unfit fit_passing(const struct snapshot *s, const struct place_request *r,
	const struct place_node *n, const char **ret_what)
{
	if (r->apart != 0 && n->kept_apart == r->apart) {
		return n->apart_by != UNFIT_NONE ? n->apart_by : UNFIT_NEIGHBOUR;
	}
	enum unfit cause = extra_unfit(s, n, &r->pod->extra, ret_what);
	return cause == UNFIT_NONE ? room_unfit(n, r->pod) : cause;
}

enum unfit place_unfit(const struct snapshot *s, const struct place_request *r,
	const struct place_node *n, const char **ret_what)
{
	const char *what = NULL;
	enum unfit cause = fit_lasting(r, n, &what);
	if (cause == UNFIT_NONE) {
		cause = fit_passing(s, r, n, &what);
	}
	if (ret_what != NULL) {
		*ret_what = what;
	}
	return cause;
}

/* Gives back (sign 1) or takes (-1). */
static void capacity_move(struct place_node *n, bool mps, int sign)
{
	const struct runtime_class none = {0}, *overhead = n->runtime != NULL ? n->runtime : &none;
	int64_t cpu = mps ? CAPACITY_MPS_CPU_MILLI : CAPACITY_CPU_MILLI;
	int64_t mem = mps ? CAPACITY_MPS_MEM_BYTES : CAPACITY_MEM_BYTES;
	n->free_gpus += sign;
	n->free_slots += sign;
	n->free_cpu_milli += sign * (cpu + overhead->cpu_milli);
	n->free_mem_bytes += sign * (mem + overhead->mem_bytes);
}

void place_reserve_capacity(struct place_node *n, bool mps)
{
	capacity_move(n, mps, -1);
}

void place_return_capacity(struct place_node *n, bool mps)
{
	capacity_move(n, mps, 1);
}

void place_survey(
	const struct snapshot *s, const struct place_request *r, struct unfit_tally *ret_tally)
{
	struct unfit_tally t = {0};
	for (size_t i = 0; i < s->nodes.count; i++) {
		const char *what = NULL;
		struct place_node rest = s->nodes.items[i];
		enum unfit cause = place_unfit(s, r, &rest, &what);
		if (cause == UNFIT_NONE && rest.free_gpus > 0) {
			place_reserve_capacity(&rest, r->mps);
			cause = place_unfit(s, r, &rest, &what);
		}
		if (cause != UNFIT_NONE) {
			unfit_add(&t, cause, what);
		}
	}
	*ret_tally = t;
}

void place_reserve_extra(struct snapshot *s, struct place_node *n, const struct extra *x)
{
	for (uint32_t i = 0; i < x->ports.count; i++) {
		struct place_port p = {x->ports.items[i], n->promised};
		VEC_PUSH(&s->promised, p);
		n->promised = (uint32_t)s->promised.count;
	}
	for (uint32_t i = 0; i < x->amounts.count; i++) {
		struct amount *left = amount_left(s, n, x->amounts.items[i].name);
		/* What is not there cannot be taken; what is asked may be absurd. */
		if (left != NULL) {
			int64_t after;
			bool absurd = __builtin_sub_overflow(
				left->value, x->amounts.items[i].value, &after);
			left->value = absurd ? INT64_MIN : after;
		}
	}
}

void place_reserve_pod(struct snapshot *s, struct place_node *n, const struct pod *pod)
{
	n->free_cpu_milli -= pod->cpu_milli;
	n->free_mem_bytes -= pod->mem_bytes;
	n->free_slots--;
	place_reserve_extra(s, n, &pod->extra);
}
