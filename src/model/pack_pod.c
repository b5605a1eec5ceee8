/* Pods as bytes: all that a decision reads of one. */
#include "model/pack_pod.h"

#include <stdio.h>

#include "pack.h"

enum {
	FLAG_STATIC = 1 << 0,
	FLAG_NEVER_PREEMPTS = 1 << 1,
	FLAG_HAS_PRIORITY = 1 << 2,
	FLAG_CLAIMS = 1 << 3,
	FLAG_GROUP = 1 << 4,
	FLAG_POD_AFFINITY = 1 << 5,
	FLAG_SPREAD = 1 << 6,
	FLAG_VOLUMES = 1 << 7,
	FLAG_READY = 1 << 8,
	FLAG_UNSCHEDULABLE = 1 << 9,
	FLAG_HOLDS = 1 << 10,
	FLAG_PLACED = 1 << 11,
	FLAG_LEDGER_BAD = 1 << 12,
	FLAG_IDENTITY = 1 << 13,
	FLAG_TOO_COMPLEX = 1 << 14,
	FLAG_DEADLINE = 1 << 15,
	FLAG_BEST_EFFORT = 1 << 16,
	FLAG_CROSSES = 1 << 17,
	FLAG_DISRUPTED = 1 << 18,
	FLAG_KEEPS_NODE = 1 << 19,
	FLAG_FORGED = 1 << 20,
	FLAG_TOLD_OVERUSE = 1 << 21,
	FLAG_TOLD_CONTENTION = 1 << 22,
	FLAG_BESIDE = 1 << 23,
	FLAG_SURGED = 1 << 24,
	FLAG_OWN_COST = 1 << 25,
	FLAG_CUT = 1 << 26,
	FLAG_LEAN = 1 << 27,
	FLAG_LINGERS = 1 << 28,
};

static uint64_t pod_flags(const struct pod *p)
{
	uint64_t f = 0;
	f |= p->is_static ? FLAG_STATIC : 0;
	f |= p->never_preempts ? FLAG_NEVER_PREEMPTS : 0;
	f |= p->has_priority ? FLAG_HAS_PRIORITY : 0;
	f |= p->has_claims ? FLAG_CLAIMS : 0;
	f |= p->has_group ? FLAG_GROUP : 0;
	f |= p->has_pod_affinity ? FLAG_POD_AFFINITY : 0;
	f |= p->has_spread ? FLAG_SPREAD : 0;
	f |= p->has_volumes_claimed ? FLAG_VOLUMES : 0;
	f |= p->ready ? FLAG_READY : 0;
	f |= p->unschedulable ? FLAG_UNSCHEDULABLE : 0;
	f |= p->holds ? FLAG_HOLDS : 0;
	f |= p->placed.is_true ? FLAG_PLACED : 0;
	f |= p->ledger_bad ? FLAG_LEDGER_BAD : 0;
	f |= p->identity != NULL ? FLAG_IDENTITY : 0;
	f |= p->too_complex ? FLAG_TOO_COMPLEX : 0;
	f |= p->has_deadline ? FLAG_DEADLINE : 0;
	f |= p->best_effort ? FLAG_BEST_EFFORT : 0;
	f |= p->crosses_namespaces ? FLAG_CROSSES : 0;
	f |= p->disrupted ? FLAG_DISRUPTED : 0;
	f |= p->keeps_node ? FLAG_KEEPS_NODE : 0;
	f |= p->forged ? FLAG_FORGED : 0;
	f |= p->told_overuse ? FLAG_TOLD_OVERUSE : 0;
	f |= p->told_contention ? FLAG_TOLD_CONTENTION : 0;
	f |= p->beside ? FLAG_BESIDE : 0;
	f |= p->surged ? FLAG_SURGED : 0;
	f |= p->own_cost ? FLAG_OWN_COST : 0;
	f |= p->cut ? FLAG_CUT : 0;
	f |= p->lean ? FLAG_LEAN : 0;
	f |= p->lingers ? FLAG_LINGERS : 0;
	return f;
}

static void pod_set_flags(struct pod *p, uint64_t f)
{
	p->is_static = f & FLAG_STATIC;
	p->never_preempts = f & FLAG_NEVER_PREEMPTS;
	p->has_priority = f & FLAG_HAS_PRIORITY;
	p->has_claims = f & FLAG_CLAIMS;
	p->has_group = f & FLAG_GROUP;
	p->has_pod_affinity = f & FLAG_POD_AFFINITY;
	p->has_spread = f & FLAG_SPREAD;
	p->has_volumes_claimed = f & FLAG_VOLUMES;
	p->ready = f & FLAG_READY;
	p->unschedulable = f & FLAG_UNSCHEDULABLE;
	p->holds = f & FLAG_HOLDS;
	p->placed.is_true = f & FLAG_PLACED;
	p->ledger_bad = f & FLAG_LEDGER_BAD;
	p->too_complex = f & FLAG_TOO_COMPLEX;
	p->has_deadline = f & FLAG_DEADLINE;
	p->best_effort = f & FLAG_BEST_EFFORT;
	p->crosses_namespaces = f & FLAG_CROSSES;
	p->disrupted = f & FLAG_DISRUPTED;
	p->keeps_node = f & FLAG_KEEPS_NODE;
	p->forged = f & FLAG_FORGED;
	p->told_overuse = f & FLAG_TOLD_OVERUSE;
	p->told_contention = f & FLAG_TOLD_CONTENTION;
	p->beside = f & FLAG_BESIDE;
	p->surged = f & FLAG_SURGED;
	p->own_cost = f & FLAG_OWN_COST;
	p->cut = f & FLAG_CUT;
	p->lean = f & FLAG_LEAN;
	p->lingers = f & FLAG_LINGERS;
}

static void pack_extra(struct str *out, const struct extra *x)
{
	pack_amounts(out, &x->amounts);
	pack_u64(out, x->ports.count);
	for (uint32_t i = 0; i < x->ports.count; i++) {
		pack_i64(out, x->ports.items[i].port);
		pack_text(out, x->ports.items[i].protocol);
		pack_text(out, x->ports.items[i].address);
	}
}

static struct extra unpack_extra(struct unpack *u)
{
	struct extra x = {.amounts = unpack_amounts(u)};
	x.ports.count = unpack_count(u);
	x.ports.items = ARENA_ARRAY(u->arena, struct host_port, x.ports.count);
	for (uint32_t i = 0; i < x.ports.count; i++) {
		x.ports.items[i].port = (int32_t)unpack_i64(u);
		x.ports.items[i].protocol = unpack_text(u);
		x.ports.items[i].address = unpack_text(u);
	}
	return x;
}

static void pack_neighbours(struct str *out, const struct pod *p)
{
	pack_u64(out, p->neighbour_count);
	for (uint32_t i = 0; i < p->neighbour_count; i++) {
		const struct neighbour_term *t = &p->neighbours[i];
		pack_u64(out, (uint64_t)t->kind << 3 | (t->all_namespaces ? 1 : 0) |
				      (t->any_node ? 2 : 0) | (t->heeds_taints ? 4 : 0));
		pack_text(out, t->key);
		pack_i64(out, t->max_skew);
		pack_i64(out, t->min_domains);
		pack_selector(out, &t->pods);
		pack_texts(out, t->namespaces, t->namespace_count);
	}
}

static void unpack_neighbours(struct unpack *u, struct pod *p)
{
	p->neighbour_count = unpack_count(u);
	p->neighbours = ARENA_ARRAY(u->arena, struct neighbour_term, p->neighbour_count);
	for (uint32_t i = 0; i < p->neighbour_count; i++) {
		struct neighbour_term *t = &p->neighbours[i];
		uint64_t flags = unpack_u64(u);
		t->kind = (enum neighbour_kind)(flags >> 3);
		t->all_namespaces = flags & 1;
		t->any_node = flags & 2;
		t->heeds_taints = flags & 4;
		t->key = unpack_text(u);
		t->max_skew = (int32_t)unpack_i64(u);
		t->min_domains = (int32_t)unpack_i64(u);
		t->pods = unpack_selector(u);
		t->namespaces = unpack_texts(u, &t->namespace_count);
	}
}

static void pack_placing(struct str *out, const struct pod *p)
{
	pack_texts(out, p->gates, p->gate_count);
	pack_pairs(out, &p->node_selector);
	pack_node_terms(out, p->node_terms, p->node_term_count);
	pack_u64(out, p->toleration_count);
	for (uint32_t i = 0; i < p->toleration_count; i++) {
		const struct toleration *t = &p->tolerations[i];
		pack_text(out, t->key);
		pack_text(out, t->operator);
		pack_text(out, t->value);
		pack_text(out, t->effect);
	}
}

static void unpack_placing(struct unpack *u, struct pod *p)
{
	p->gates = unpack_texts(u, &p->gate_count);
	p->node_selector = unpack_pairs(u);
	p->node_terms = unpack_node_terms(u, &p->node_term_count);
	p->toleration_count = unpack_count(u);
	p->tolerations = ARENA_ARRAY(u->arena, struct toleration, p->toleration_count);
	for (uint32_t i = 0; i < p->toleration_count; i++) {
		struct toleration *t = &p->tolerations[i];
		t->key = unpack_text(u);
		t->operator= unpack_text(u);
		t->value = unpack_text(u);
		t->effect = unpack_text(u);
	}
}

static void pack_held(struct str *out, const struct pod *p)
{
	if (p->identity != NULL) {
		pack_text(out, p->identity->uuid);
		pack_text(out, p->identity->model);
		pack_text(out, p->identity->driver);
		pack_i64(out, p->identity->mem_mib);
		pack_i64(out, p->identity->minor);
	}
	inject_claim_pack(out, p->claim);
	inject_sight_pack(out, p->sight);
	pack_u64(out, p->ledger.count);
	for (uint32_t i = 0; i < p->ledger.count; i++) {
		const struct grant *g = &p->ledger.items[i];
		pack_text(out, g->uid);
		pack_text(out, g->ns);
		pack_text(out, g->name);
		pack_i64(out, g->milli);
		pack_i64(out, g->mem_mib);
	}
}

static void unpack_into(struct unpack *u, char *to, size_t room)
{
	const char *text = text_or(unpack_text(u), "");
	snprintf(to, room, "%s", text);
}

static void unpack_held(struct unpack *u, struct pod *p, bool has_identity)
{
	if (has_identity) {
		struct gpu_identity *id = ARENA_NEW(u->arena, struct gpu_identity);
		unpack_into(u, id->uuid, sizeof id->uuid);
		unpack_into(u, id->model, sizeof id->model);
		unpack_into(u, id->driver, sizeof id->driver);
		id->mem_mib = unpack_i64(u);
		id->minor = (int32_t)unpack_i64(u);
		p->identity = id;
	}
	p->claim = inject_claim_unpack(u);
	p->sight = inject_sight_unpack(u);
	p->ledger.count = unpack_count(u);
	p->ledger.items = ARENA_ARRAY(u->arena, struct grant, p->ledger.count);
	for (uint32_t i = 0; i < p->ledger.count; i++) {
		struct grant *g = &p->ledger.items[i];
		g->uid = unpack_text(u);
		g->ns = unpack_text(u);
		g->name = unpack_text(u);
		g->milli = unpack_i64(u);
		g->mem_mib = unpack_i64(u);
	}
}

void pod_pack(struct str *out, const struct pod *p)
{
	const char *const texts[] = {p->ns, p->name, p->uid, p->resource_version,
		p->owner.api_version, p->owner.kind, p->owner.name, p->owner.uid, p->node,
		p->scheduler, p->runtime_class, p->priority_class, p->status_reason, p->placed.type,
		p->placed.reason, p->placed.message, p->trouble, p->gpu_container, p->gpu_image,
		p->group_name};
	const int64_t numbers[] = {p->created_ms, p->deleting_ms, p->grace_s, p->priority,
		p->cpu_milli, p->mem_bytes, p->gpus, p->phase, p->placed.since_ms, p->restarts,
		p->gpu_oom_ms, p->failed_ms};
	for (size_t i = 0; i < COUNT_OF(texts); i++) {
		pack_text(out, texts[i]);
	}
	for (size_t i = 0; i < COUNT_OF(numbers); i++) {
		pack_i64(out, numbers[i]);
	}
	pack_u64(out, pod_flags(p));
	pack_pairs(out, &p->labels);
	pack_pairs(out, &p->notes);
	pack_placing(out, p);
	pack_extra(out, &p->extra);
	pack_texts(out, p->claims, p->claim_count);
	pack_neighbours(out, p);
	pack_held(out, p);
}

bool pod_unpack(struct unpack *u, struct pod *ret)
{
	struct pod p = {0};
	const char **const texts[] = {&p.ns, &p.name, &p.uid, &p.resource_version,
		&p.owner.api_version, &p.owner.kind, &p.owner.name, &p.owner.uid, &p.node,
		&p.scheduler, &p.runtime_class, &p.priority_class, &p.status_reason, &p.placed.type,
		&p.placed.reason, &p.placed.message, &p.trouble, &p.gpu_container, &p.gpu_image,
		&p.group_name};
	for (size_t i = 0; i < COUNT_OF(texts); i++) {
		*texts[i] = unpack_text(u);
	}
	p.created_ms = unpack_i64(u);
	p.deleting_ms = unpack_i64(u);
	p.grace_s = unpack_i64(u);
	p.priority = (int32_t)unpack_i64(u);
	p.cpu_milli = unpack_i64(u);
	p.mem_bytes = unpack_i64(u);
	p.gpus = unpack_i64(u);
	p.phase = (enum pod_phase)unpack_i64(u);
	p.placed.since_ms = unpack_i64(u);
	p.restarts = (uint32_t)unpack_i64(u);
	p.gpu_oom_ms = unpack_i64(u);
	p.failed_ms = unpack_i64(u);
	uint64_t flags = unpack_u64(u);
	pod_set_flags(&p, flags);
	p.labels = unpack_pairs(u);
	p.notes = unpack_pairs(u);
	unpack_placing(u, &p);
	p.extra = unpack_extra(u);
	p.claims = unpack_texts(u, &p.claim_count);
	unpack_neighbours(u, &p);
	unpack_held(u, &p, flags & FLAG_IDENTITY);
	if (u->bad) {
		return false;
	}
	*ret = p;
	return true;
}
