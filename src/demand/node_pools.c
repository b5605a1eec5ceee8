/* The nodes of a world as few kinds of them. */
#include "demand/node_pools.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/map.h"
#include "base/str.h"
#include "base/vec.h"
#include "model/names.h"
#include "place/place.h"
#include "world/world.h"

/* Rules that one review holds against nodes: well below a millisecond of them. */
#define RULES_A_REVIEW 8192
#define MIG_RESOURCE   "nvidia.com/mig-"

struct pool {
	uint32_t sample; /* a node of it, in the world */
	uint32_t nodes;
};

/* One node, as of the version of its world that was looked at last. */
struct member {
	uint64_t stamp, hash;
	enum unfit given_out; /* by whom; NONE: its GPUs could be shared by us */
	bool counts;	      /* it offers GPUs, or others give them out */
};

struct pools {
	uint64_t version;	       /* of the nodes; 0: there are none */
	VEC_OF(struct member) members; /* beside the world's nodes */
	VEC_OF(struct pool) items;
	struct map by_hash;
};

/* What every node has for itself. */
static const char *const own_labels[] = {"kubernetes.io/hostname", "beta.kubernetes.io/hostname",
	"nvidia.com/gfd.timestamp", "alpha.eksctl.io/instance-id"};

/* What comes and goes with a node's health, or while it is made ready or taken away. */
static const char *const passing_taints[] = {"node.kubernetes.io/",
	"node.cloudprovider.kubernetes.io/", "karpenter.sh/", "ToBeDeletedByClusterAutoscaler",
	"DeletionCandidateOfClusterAutoscaler"};

static bool is_own(const char *key)
{
	for (size_t i = 0; i < COUNT_OF(own_labels); i++) {
		if (text_equals(key, own_labels[i])) {
			return true;
		}
	}
	return false;
}

static bool is_passing(const struct taint *t)
{
	if (text_equals(t->effect, "PreferNoSchedule")) {
		return true;
	}
	for (size_t i = 0; i < COUNT_OF(passing_taints); i++) {
		if (view_starts_with(view_of(t->key), passing_taints[i])) {
			return true;
		}
	}
	return false;
}

/* --- the kinds --- */

static bool pool_same(const void *owner, uint32_t slot, const void *key)
{
	const struct pools *p = owner;
	return p->members.items[p->items.items[slot].sample].hash == *(const uint64_t *)key;
}

struct pools *pools_create(void)
{
	struct pools *p = xcalloc(1, sizeof *p);
	map_init(&p->by_hash, pool_same, p);
	return p;
}

void pools_destroy(struct pools *p)
{
	if (p == NULL) {
		return;
	}
	VEC_FINISH(&p->members);
	VEC_FINISH(&p->items);
	map_finish(&p->by_hash);
	free(p);
}

static uint64_t hash_more(uint64_t hash, const char *text)
{
	text = text_or(text, "");
	return hash_bytes(text, strlen(text) + 1, hash);
}

static uint64_t hash_node(const struct node *n, enum unfit given_out)
{
	uint64_t hash = (uint64_t)given_out + 1;
	for (uint32_t i = 0; i < n->labels.count; i++) {
		if (!is_own(n->labels.items[i].key)) {
			hash = hash_more(hash, n->labels.items[i].key);
			hash = hash_more(hash, n->labels.items[i].value);
		}
	}
	for (uint32_t i = 0; i < n->taint_count; i++) {
		if (!is_passing(&n->taints[i])) {
			hash = hash_more(hash, n->taints[i].key);
			hash = hash_more(hash, n->taints[i].value);
			hash = hash_more(hash, n->taints[i].effect);
		}
	}
	return hash;
}

static bool has_mig(const struct node *n)
{
	for (uint32_t i = 0; i < n->others.count; i++) {
		if (view_starts_with(view_of(n->others.items[i].name), MIG_RESOURCE)) {
			return true;
		}
	}
	return false;
}

enum unfit node_given_out_by(const struct world_node *w)
{
	/* KAI places pods without a GPU too, and where there are some it leaves them on offer. */
	bool kai = w->noun.gpus > 0 && w->kai_pods > 0;
	enum unfit given_out = place_node_given_out(&w->noun, w->dra_slices > 0, kai);
	bool partitions = given_out == UNFIT_NONE && w->noun.gpus <= 0 && has_mig(&w->noun);
	return partitions ? UNFIT_MIG : given_out;
}

static struct member member_of(const struct world_node *w)
{
	struct member m = {.stamp = w->stamp};
	if (!w->known) {
		return m;
	}
	m.given_out = node_given_out_by(w);
	m.counts = w->noun.gpus > 0 || m.given_out != UNFIT_NONE;
	m.hash = m.counts ? hash_node(&w->noun, m.given_out) : 0;
	return m;
}

static void count_node(struct pools *p, uint32_t node)
{
	const struct member *m = &p->members.items[node];
	if (!m->counts) {
		return;
	}
	uint32_t at = map_find(&p->by_hash, m->hash, &m->hash);
	if (at == MAP_NONE) {
		struct pool made = {.sample = node};
		at = (uint32_t)p->items.count;
		VEC_PUSH(&p->items, made);
		map_put(&p->by_hash, m->hash, at);
	}
	p->items.items[at].nodes++;
}

static void refresh_pools(struct pools *p, const struct world *w)
{
	if (p->version == world_nodes_version(w)) {
		return;
	}
	p->version = world_nodes_version(w);
	VEC_CLEAR(&p->items);
	map_clear(&p->by_hash);
	for (uint32_t i = 0; i < world_node_slots(w); i++) {
		const struct world_node *n = world_node_at(w, i);
		if (i == p->members.count) {
			VEC_PUSH(&p->members, member_of(n));
		} else if (p->members.items[i].stamp != n->stamp) {
			p->members.items[i] = member_of(n);
		}
		count_node(p, i);
	}
}

/* --- a pod --- */

struct question {
	const struct world *w;
	const struct pod *pod;
	const struct pairs *class;
	const struct member *members;
	uint32_t rules; /* that the pod has, and one */
	uint32_t left;	/* that may be looked at yet */
	bool some;	/* a node could give it a share, or that is not known */
	struct unfit_tally why;
};

static bool asks_for_its_own(const struct pod *pod)
{
	bool own = false;
	for (uint32_t i = 0; i < pod->node_selector.count && !own; i++) {
		own = is_own(pod->node_selector.items[i].key);
	}
	for (uint32_t i = 0; i < pod->node_term_count && !own; i++) {
		const struct terms *labels = &pod->node_terms[i].labels;
		own = pod->node_terms[i].fields.count > 0;
		for (uint32_t k = 0; k < labels->count && !own; k++) {
			own = is_own(labels->items[k].key);
		}
	}
	return own;
}

static uint32_t rules_in(const struct terms *t)
{
	uint32_t sum = t->count;
	for (uint32_t i = 0; i < t->count; i++) {
		sum += t->items[i].value_count;
	}
	return sum;
}

static uint32_t rules_of(const struct pod *pod)
{
	uint32_t sum = 1 + pod->node_selector.count + pod->toleration_count;
	for (uint32_t i = 0; i < pod->node_term_count; i++) {
		sum += 1 + rules_in(&pod->node_terms[i].labels) +
		       rules_in(&pod->node_terms[i].fields);
	}
	return sum;
}

/* A tenant tolerates the taint of GPU nodes, whatever the pod says: admission adds that (C5). */
static bool tolerates(const struct pod *pod, const struct node *n)
{
	for (uint32_t i = 0; i < n->taint_count; i++) {
		const struct taint *t = &n->taints[i];
		if (!is_passing(t) && !text_equals(t->key, NAME_GPU_RESOURCE) &&
			!pod_tolerates(pod, t->key, t->value, t->effect)) {
			return false;
		}
	}
	return true;
}

/* Holds the pod against one node that stands for so many that are like it. */
static void ask_nodes(struct question *q, uint32_t node, uint32_t nodes)
{
	const struct node *n = &world_node_at(q->w, node)->noun;
	enum unfit given_out = q->members[node].given_out;
	uint32_t cost = q->rules * (1 + n->taint_count);
	if (cost > q->left) {
		q->some = true;
		return;
	}
	q->left -= cost;
	if (!place_node_selected(q->pod, n) || !tolerates(q->pod, n)) {
		return;
	}
	bool for_class = q->class == NULL || pairs_contain(&n->labels, q->class);
	enum unfit cause = given_out != UNFIT_NONE ? given_out
			   : for_class		   ? UNFIT_NONE
						   : UNFIT_RUNTIME;
	q->some = cause == UNFIT_NONE;
	for (uint32_t i = 0; i < nodes && !q->some; i++) {
		unfit_add(&q->why, cause, NULL);
	}
}

bool pools_refuse(struct pools *p, const struct world *w, const struct pod *pod,
	const struct pairs *class, struct unfit_tally *ret_why)
{
	refresh_pools(p, w);
	struct question q = {.w = w,
		.pod = pod,
		.class = class,
		.members = p->members.items,
		.rules = rules_of(pod),
		.left = RULES_A_REVIEW};
	if (asks_for_its_own(pod)) {
		for (uint32_t i = 0; i < p->members.count && !q.some; i++) {
			if (p->members.items[i].counts) {
				ask_nodes(&q, i, 1);
			}
		}
	} else {
		for (size_t i = 0; i < p->items.count && !q.some; i++) {
			ask_nodes(&q, p->items.items[i].sample, p->items.items[i].nodes);
		}
	}
	*ret_why = q.why;
	return !q.some && q.why.nodes > 0;
}
