/* The whole world as changes: told to an empty world in this order they make one that answers every
 * question as this one does, in the same order. Decisions look at pods, nodes and policies in the
 * order of their slots and lists, so the order is part of what is kept. */
#include "pods.h"

#include <stdio.h>

#include "model/names.h"

/* No namespace has such a name, so no pod is mistaken for a gap. */
#define GAP_NS "-"

struct saver {
	const struct world *w;
	world_tell tell;
	void *data;
};

/* `c` has its kind and its noun. */
static void tell_set(const struct saver *s, struct change c)
{
	c.type = CHANGE_SET;
	s->tell(s->data, &c);
}

static void tell_kind(const struct saver *s, enum change_type type, enum kind kind)
{
	s->tell(s->data, &(struct change){.type = type, .kind = kind});
}

static void tell_name(const struct saver *s, enum change_type type, enum kind kind, const char *ns,
	const char *name)
{
	s->tell(s->data, &(struct change){.type = type, .kind = kind, .ns = ns, .name = name});
}

/* A name that was heard of but is not there keeps its place. */
static void save_nodes(const struct saver *s)
{
	for (size_t i = 0; i < s->w->nodes.count; i++) {
		const struct world_node *n = s->w->nodes.items[i];
		struct node only_name = {.name = n->name};
		tell_set(s, (struct change){
				    .kind = KIND_NODE, .node = n->known ? &n->noun : &only_name});
		if (!n->known) {
			tell_name(s, CHANGE_GONE, KIND_NODE, NULL, n->name);
		}
	}
}

static void save_namespaces(const struct saver *s)
{
	for (size_t i = 0; i < s->w->namespaces.rows.count; i++) {
		const struct table_row *row = s->w->namespaces.rows.items[i];
		const struct world_namespace *n = (const struct world_namespace *)(const void *)row;
		tell_set(s, (struct change){.kind = KIND_NAMESPACE, .namespace = &n->noun});
		if (!n->known) {
			tell_name(s, CHANGE_GONE, KIND_NAMESPACE, NULL, n->noun.name);
		}
	}
}

static void save_small(const struct saver *s)
{
	save_nodes(s);
	save_namespaces(s);
	for (size_t i = 0; i < s->w->policy_views.count; i++) {
		tell_set(s, (struct change){
				    .kind = KIND_POLICY, .policy = s->w->policy_views.items[i]});
	}
	for (size_t i = 0; i < s->w->ranges.rows.count; i++) {
		const struct table_row *r = s->w->ranges.rows.items[i];
		struct limit_range noun = {.ns = r->ns, .name = r->name, .limits_gpus = true};
		tell_set(s, (struct change){.kind = KIND_LIMIT_RANGE, .limit_range = &noun});
	}
	for (size_t i = 0; i < s->w->quotas.rows.count; i++) {
		tell_set(s, (struct change){.kind = KIND_QUOTA, .quota = &quota_at(s->w, i)->noun});
	}
	for (size_t i = 0; i < s->w->slices.rows.count; i++) {
		const struct table_row *row = s->w->slices.rows.items[i];
		uint32_t node = ((const struct world_slice *)(const void *)row)->node;
		struct gpu_slice noun = {row->name, s->w->nodes.items[node]->name};
		tell_set(s, (struct change){.kind = KIND_SLICE, .slice = &noun});
	}
}

/* Each comes and goes once more: by an event before it had a node, if it has ended, and by another
 * one in its place, of which nobody told, if it may run. Nodes have their places already, and the
 * one slot that this takes is the first that comes after. */
static void save_departed(const struct saver *s)
{
	char milli[24], mib[24];
	struct pair tenant = {LABEL_TENANT, "true"};
	for (size_t i = 0; i < s->w->departed.rows.count; i++) {
		const struct world_departed *d = departed_at(s->w, i);
		bool bound = !d->ended && d->node != WORLD_NONE;
		snprintf(milli, sizeof milli, "%lld", (long long)d->milli);
		snprintf(mib, sizeof mib, "%lld", (long long)d->mem_mib);
		struct pair notes[] = {{NOTE_COMPUTE_MILLI, milli}, {NOTE_MEMORY_MIB, mib},
			{NOTE_GPU_UUID, text_or(d->uuid, "")}};
		struct pod noun = {.ns = d->ns,
			.name = d->name,
			.uid = d->uid,
			.phase = POD_RUNNING,
			.node = bound ? s->w->nodes.items[d->node]->name : NULL,
			.labels = {&tenant, 1},
			.notes = {notes, d->uuid != NULL ? COUNT_OF(notes) : 2}};
		pairs_sort(&noun.notes);
		struct pod other = {.ns = d->ns, .name = d->name, .uid = ""};
		tell_set(s, (struct change){.kind = KIND_POD, .pod = &noun});
		if (!d->ended) {
			tell_set(s, (struct change){.kind = KIND_POD, .pod = &other});
		}
		tell_name(s, CHANGE_GONE, KIND_POD, d->ns, d->name);
	}
}

/* Every slot in order, first without what makes a pod a GPU pod; an empty slot gets a stand-in. */
static void save_slots(const struct saver *s)
{
	char gap[32], brief[PODS_BRIEF_SIZE];
	struct arena arena = {0};
	for (uint32_t i = 0; i < s->w->pods.count; i++) {
		const struct world_pod *p = s->w->pods.items[i];
		struct pod noun = {.ns = GAP_NS, .name = gap};
		snprintf(gap, sizeof gap, "%u", i);
		if (p != NULL) {
			noun = (struct pod){.ns = p->ns,
				.name = world_pod_name(p),
				/* One that had a GPU may have kept all of it. */
				.uid = p->gpu != NULL || text_equals(p->ns, NAME_NAMESPACE)
					       ? world_pod_uid(p)
					       : pods_brief(world_pod_uid(p), brief),
				.node = p->node != WORLD_NONE ? s->w->nodes.items[p->node]->name
							      : NULL,
				.cpu_milli = p->takes->cpu_milli,
				.mem_bytes = p->takes->mem_bytes,
				.extra = extra_read(p->takes->extra, &arena),
				.phase = (enum pod_phase)p->phase,
				.deleting_ms = p->deleting ? 1 : 0,
				.grace_s = p->graceful ? 1 : 0};
		}
		tell_set(s, (struct change){.kind = KIND_POD, .pod = &noun});
		arena_reset(&arena);
	}
	arena_finish(&arena);
}

/* The stand-ins leave in the order in which the slots became free, so that the next pods take the
 * same ones. */
static void save_gaps(const struct saver *s)
{
	char gap[32];
	for (size_t i = 0; i < s->w->free_pods.count; i++) {
		snprintf(gap, sizeof gap, "%u", s->w->free_pods.items[i]);
		tell_name(s, CHANGE_GONE, KIND_POD, GAP_NS, gap);
	}
}

static void save_classes(const struct saver *s)
{
	struct arena arena = {0};
	for (int class = 0; class < WORLD_CLASSES; class ++) {
		for (size_t i = 0; i < s->w->gpu_pods[class].count; i++) {
			struct pod noun;
			bool whole = world_pod_unpack(
				world_class_at(s->w, (enum world_class) class, i), &arena, &noun);
			ENSURE(whole);
			tell_set(s, (struct change){.kind = KIND_POD, .pod = &noun});
			arena_reset(&arena);
		}
	}
	arena_finish(&arena);
}

static void save_claims(const struct saver *s)
{
	for (size_t i = 0; i < s->w->claims.rows.count; i++) {
		const struct volume_claim *c = &claim_at(s->w, i)->noun;
		if (c->state != CLAIM_UNREAD) {
			tell_set(s, (struct change){.kind = KIND_CLAIM, .claim = c});
		}
	}
}

static void save_states(const struct saver *s)
{
	for (uint32_t i = 0; i < s->w->nodes.count; i++) {
		const struct node_state *state = world_state_of(s->w, i);
		if (state != NULL) {
			tell_set(s, (struct change){.kind = KIND_STATE, .state = state});
		}
	}
}

/* A relist that is under way goes on: what it has met so far is met again. */
static void save_marks(const struct saver *s, enum kind kind)
{
	const struct world *w = s->w;
	uint32_t mark = w->sync[kind].mark;
	for (size_t i = 0; kind == KIND_POD && i < w->pods.count; i++) {
		const struct world_pod *p = w->pods.items[i];
		if (p != NULL && p->mark == mark) {
			tell_name(s, CHANGE_KEEP, kind, p->ns, world_pod_name(p));
		}
	}
	for (size_t i = 0; kind == KIND_NODE && i < w->nodes.count; i++) {
		if (w->nodes.items[i]->mark == mark) {
			tell_name(s, CHANGE_KEEP, kind, NULL, w->nodes.items[i]->name);
		}
	}
	const struct table *t = kind == KIND_NAMESPACE ? &w->namespaces : table_of(w, kind);
	for (size_t i = 0; t != NULL && i < t->rows.count; i++) {
		const struct table_row *row = t->rows.items[i];
		if (row->mark == t->mark) {
			tell_name(s, CHANGE_KEEP, kind, row->ns[0] != '\0' ? row->ns : NULL,
				row->name);
		}
	}
}

/* Those that the relist that is under way has met, or those that it has not. */
static void save_missed(const struct saver *s, bool met)
{
	const struct sync_state *pods = &s->w->sync[KIND_POD];
	for (size_t i = 0; i < s->w->missed.rows.count; i++) {
		const struct table_row *row = s->w->missed.rows.items[i];
		if ((pods->relisting && row->mark == pods->mark) == met) {
			tell_name(s, CHANGE_KEEP, KIND_POD, row->ns, row->name);
		}
	}
}

void world_save(const struct world *w, world_tell tell_change, void *data)
{
	const struct saver s = {w, tell_change, data};
	for (int k = 0; k < KIND_ENGINE; k++) {
		if (w->sync[k].complete) {
			tell_kind(&s, CHANGE_RELIST_BEGIN, (enum kind)k);
			tell_kind(&s, CHANGE_RELIST_END, (enum kind)k);
		}
		if (w->sync[k].stale) {
			tell_kind(&s, CHANGE_STALE, (enum kind)k);
		}
	}
	save_small(&s);
	save_departed(&s);
	save_slots(&s);
	save_gaps(&s);
	save_classes(&s);
	save_claims(&s);
	save_states(&s);
	for (int k = 0; k < KIND_ENGINE; k++) {
		if (w->sync[k].blind) {
			tell_kind(&s, CHANGE_KEEP, (enum kind)k);
		}
		if (k == KIND_POD) {
			save_missed(&s, false);
		}
		if (w->sync[k].relisting) {
			tell_kind(&s, CHANGE_RELIST_BEGIN, (enum kind)k);
			save_marks(&s, (enum kind)k);
		}
		if (k == KIND_POD && w->sync[k].relisting) {
			save_missed(&s, true);
		}
		if (w->sync[k].relisting && w->sync[k].blind_now) {
			tell_kind(&s, CHANGE_KEEP, (enum kind)k);
		}
	}
}
