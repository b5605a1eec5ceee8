/* Nodes, policies, namespaces, limit ranges, and the change that carries one of them. */
#include "pack.h"

#include "pack_policy.h"

static void node_pack(struct str *out, const struct node *n)
{
	pack_text(out, n->name);
	pack_text(out, n->uid);
	pack_text(out, n->resource_version);
	pack_text(out, n->boot);
	pack_text(out, n->gpus_reset);
	pack_text(out, n->runtime);
	pack_pairs(out, &n->labels);
	pack_u64(out, n->taint_count);
	for (uint32_t i = 0; i < n->taint_count; i++) {
		pack_text(out, n->taints[i].key);
		pack_text(out, n->taints[i].value);
		pack_text(out, n->taints[i].effect);
	}
	pack_u64(out, (n->unschedulable ? 1 : 0) | (n->ready ? 2 : 0) |
			      (n->shares_already ? 4 : 0) | (n->serves_hami ? 8 : 0) |
			      (n->serves_kai ? 16 : 0) | (n->is_mig ? 32 : 0));
	pack_i64(out, n->cpu_milli);
	pack_i64(out, n->mem_bytes);
	pack_i64(out, n->pod_slots);
	pack_i64(out, n->gpus);
	pack_amounts(out, &n->others);
}

static void node_unpack(struct unpack *u, struct node *n)
{
	n->name = unpack_text(u);
	n->uid = unpack_text(u);
	n->resource_version = unpack_text(u);
	n->boot = unpack_text(u);
	n->gpus_reset = unpack_text(u);
	n->runtime = unpack_text(u);
	n->labels = unpack_pairs(u);
	n->taint_count = unpack_count(u);
	n->taints = ARENA_ARRAY(u->arena, struct taint, n->taint_count);
	for (uint32_t i = 0; i < n->taint_count; i++) {
		n->taints[i].key = unpack_text(u);
		n->taints[i].value = unpack_text(u);
		n->taints[i].effect = unpack_text(u);
	}
	uint64_t flags = unpack_u64(u);
	n->unschedulable = flags & 1;
	n->ready = flags & 2;
	n->shares_already = flags & 4;
	n->serves_hami = flags & 8;
	n->serves_kai = flags & 16;
	n->is_mig = flags & 32;
	n->cpu_milli = unpack_i64(u);
	n->mem_bytes = unpack_i64(u);
	n->pod_slots = unpack_i64(u);
	n->gpus = unpack_i64(u);
	n->others = unpack_amounts(u);
}

static void policy_pack(struct str *out, const struct policy *p)
{
	const char *const texts[] = {p->name, p->uid, p->resource_version, p->status_ready_reason};
	const int64_t numbers[] = {p->generation, p->created_ms, p->priority, p->mode, p->isolation,
		p->exclusivity, p->packing, p->capacity_lost, p->max_tenants, p->memory_overuse,
		p->idle_grace_s, p->status_observed_generation, p->status_matched,
		p->status_automated, p->status_accepted_ms, p->status_overlapping_ms,
		p->status_ready_ms};
	for (size_t i = 0; i < COUNT_OF(texts); i++) {
		pack_text(out, texts[i]);
	}
	for (size_t i = 0; i < COUNT_OF(numbers); i++) {
		pack_i64(out, numbers[i]);
	}
	pack_sizing(out, &p->sizing);
	pack_rollout(out, &p->rollout);
	pack_u64(out, (p->is_fallback ? 1 : 0) | (p->has_selector ? 2 : 0) | (p->built_in ? 4 : 0) |
			      (p->status_overlapping ? 8 : 0) | (p->never_preempts ? 16 : 0));
	pack_selector(out, &p->namespaces);
	pack_selector(out, &p->pods);
	pack_u64(out, p->owner_kind_count);
	for (uint32_t i = 0; i < p->owner_kind_count; i++) {
		pack_text(out, p->owner_kinds[i].group);
		pack_text(out, p->owner_kinds[i].kind);
	}
	pack_texts(out, p->workload_types, p->workload_type_count);
}

static void policy_unpack_numbers(struct unpack *u, struct policy *p)
{
	p->generation = unpack_i64(u);
	p->created_ms = unpack_i64(u);
	p->priority = (int32_t)unpack_i64(u);
	p->mode = (enum policy_mode)unpack_i64(u);
	p->isolation = (enum isolation)unpack_i64(u);
	p->exclusivity = (enum exclusivity)unpack_i64(u);
	p->packing = (enum packing)unpack_i64(u);
	p->capacity_lost = (enum capacity_lost)unpack_i64(u);
	p->max_tenants = (int32_t)unpack_i64(u);
	p->memory_overuse = (enum memory_overuse)unpack_i64(u);
	p->idle_grace_s = (int32_t)unpack_i64(u);
	p->status_observed_generation = unpack_i64(u);
	p->status_matched = (int32_t)unpack_i64(u);
	p->status_automated = (int32_t)unpack_i64(u);
	p->status_accepted_ms = unpack_i64(u);
	p->status_overlapping_ms = unpack_i64(u);
	p->status_ready_ms = unpack_i64(u);
	p->sizing = unpack_sizing(u);
	p->rollout = unpack_rollout(u);
}

static void policy_unpack(struct unpack *u, struct policy *p)
{
	p->name = unpack_text(u);
	p->uid = unpack_text(u);
	p->resource_version = unpack_text(u);
	p->status_ready_reason = unpack_text(u);
	policy_unpack_numbers(u, p);
	uint64_t flags = unpack_u64(u);
	p->is_fallback = flags & 1;
	p->has_selector = flags & 2;
	p->built_in = flags & 4;
	p->status_overlapping = flags & 8;
	p->never_preempts = flags & 16;
	p->namespaces = unpack_selector(u);
	p->pods = unpack_selector(u);
	p->owner_kind_count = unpack_count(u);
	p->owner_kinds = ARENA_ARRAY(u->arena, struct owner_kind, p->owner_kind_count);
	for (uint32_t i = 0; i < p->owner_kind_count; i++) {
		p->owner_kinds[i].group = unpack_text(u);
		p->owner_kinds[i].kind = unpack_text(u);
	}
	p->workload_types = unpack_texts(u, &p->workload_type_count);
}

static void claim_pack(struct str *out, const struct volume_claim *v)
{
	pack_text(out, v->ns);
	pack_text(out, v->name);
	pack_u64(out, v->state);
	pack_node_terms(out, v->terms, v->term_count);
	pack_terms(out, &v->zones);
}

static void claim_unpack(struct unpack *u, struct volume_claim *v)
{
	v->ns = unpack_text(u);
	v->name = unpack_text(u);
	uint64_t state = unpack_u64(u);
	u->bad |= state >= CLAIM_STATES;
	v->state = (enum claim_state)state;
	v->terms = unpack_node_terms(u, &v->term_count);
	v->zones = unpack_terms(u);
}

static void device_pack(struct str *out, const struct device_state *d)
{
	pack_text(out, d->uuid);
	pack_text(out, d->why);
	pack_u64(out, d->cause);
	pack_i64(out, d->total_mib);
	pack_i64(out, d->used_mib);
	pack_u64(out, d->mps);
	pack_u64(out, d->contexts);
	pack_text(out, d->mps_why);
}

static void device_unpack(struct unpack *u, struct device_state *d)
{
	d->uuid = unpack_text(u);
	d->why = unpack_text(u);
	uint64_t cause = unpack_u64(u);
	d->cause = cause < ILL_CAUSES ? (enum ill_cause)cause : ILL_ASKED;
	u->bad |= cause >= ILL_CAUSES;
	d->total_mib = unpack_i64(u);
	d->used_mib = unpack_i64(u);
	uint64_t mps = unpack_u64(u);
	u->bad |= d->uuid == NULL || mps >= MPS_STATES;
	d->mps = (enum mps_state)mps;
	d->contexts = (uint32_t)unpack_u64(u);
	d->mps_why = unpack_text(u);
}

static void uses_unpack(struct unpack *u, struct node_state *s)
{
	s->use_count = unpack_count(u);
	s->uses = ARENA_ARRAY(u->arena, struct pod_use, s->use_count);
	for (uint32_t i = 0; i < s->use_count; i++) {
		struct pod_use *use = &s->uses[i];
		use->uid = unpack_text(u);
		use->uuid = unpack_text(u);
		use->mem_mib = unpack_i64(u);
		use->processes = (uint32_t)unpack_u64(u);
		u->bad |= use->uid == NULL || use->uuid == NULL;
	}
}

static void state_pack(struct str *out, const struct node_state *s)
{
	pack_text(out, s->node);
	pack_text(out, s->boot);
	pack_i64(out, s->sequence);
	pack_i64(out, s->seen_ms);
	pack_i64(out, s->seen_by_ms);
	pack_u64(out, s->again);
	pack_u64(out, s->again ? 0 : s->device_count);
	for (uint32_t i = 0; !s->again && i < s->device_count; i++) {
		device_pack(out, &s->devices[i]);
	}
	pack_texts(out, s->pods, s->again ? 0 : s->pod_count);
	pack_u64(out, s->again ? 0 : s->use_count);
	for (uint32_t i = 0; !s->again && i < s->use_count; i++) {
		pack_text(out, s->uses[i].uid);
		pack_text(out, s->uses[i].uuid);
		pack_i64(out, s->uses[i].mem_mib);
		pack_u64(out, s->uses[i].processes);
	}
}

static void state_unpack(struct unpack *u, struct node_state *s)
{
	s->node = unpack_text(u);
	s->boot = unpack_text(u);
	s->sequence = unpack_i64(u);
	s->seen_ms = unpack_i64(u);
	s->seen_by_ms = unpack_i64(u);
	s->again = unpack_u64(u) != 0;
	s->device_count = unpack_count(u);
	s->devices = ARENA_ARRAY(u->arena, struct device_state, s->device_count);
	for (uint32_t i = 0; i < s->device_count; i++) {
		device_unpack(u, &s->devices[i]);
	}
	s->pods = unpack_texts(u, &s->pod_count);
	for (uint32_t i = 0; i < s->pod_count; i++) {
		u->bad |= s->pods[i] == NULL;
	}
	uses_unpack(u, s);
	u->bad |= s->boot == NULL;
}

static void object_pack(struct str *out, const struct change *c)
{
	switch (c->kind) {
	case KIND_POD:
		pod_pack(out, c->pod);
		break;
	case KIND_NODE:
		node_pack(out, c->node);
		break;
	case KIND_POLICY:
		policy_pack(out, c->policy);
		break;
	case KIND_NAMESPACE:
		pack_text(out, c->namespace->name);
		pack_pairs(out, &c->namespace->labels);
		pack_pairs(out, &c->namespace->notes);
		pack_u64(out, c->namespace->terminating);
		break;
	case KIND_LIMIT_RANGE:
		pack_text(out, c->limit_range->ns);
		pack_text(out, c->limit_range->name);
		pack_u64(out, c->limit_range->limits_gpus);
		break;
	case KIND_QUOTA:
		pack_text(out, c->quota->ns);
		pack_text(out, c->quota->name);
		pack_u64(out, c->quota->bounds_gpus);
		pack_i64(out, c->quota->hard_milli);
		pack_terms(out, &c->quota->scopes);
		break;
	case KIND_SLICE:
		pack_text(out, c->slice->name);
		pack_text(out, c->slice->node);
		break;
	case KIND_CLAIM:
		claim_pack(out, c->claim);
		break;
	case KIND_STATE:
		state_pack(out, c->state);
		break;
	case KIND_RECOMMENDATION:
	case KIND_GROUP:
	case KIND_SCALER:
	case KIND_SCALED_OBJECT:
	case KIND_BUDGET:
	case KIND_POD_GROUP:
	case KIND_COUNT:
		BUG("not a kind of the engine");
	}
}

void runtime_pack(struct str *out, const struct runtime_class *r)
{
	pack_u64(out, r != NULL);
	if (r != NULL) {
		pack_i64(out, r->cpu_milli);
		pack_i64(out, r->mem_bytes);
		pack_pairs(out, &r->selector);
	}
}

const struct runtime_class *runtime_unpack(struct unpack *u)
{
	if (unpack_u64(u) == 0 || u->bad) {
		return NULL;
	}
	struct runtime_class *r = ARENA_ARRAY(u->arena, struct runtime_class, 1);
	r->cpu_milli = unpack_i64(u);
	r->mem_bytes = unpack_i64(u);
	r->selector = unpack_pairs(u);
	/* Sums must not overflow. */
	u->bad = u->bad || r->cpu_milli < 0 || r->mem_bytes < 0 ||
		 r->cpu_milli > RUNTIME_AMOUNT_MAX || r->mem_bytes > RUNTIME_AMOUNT_MAX;
	return r;
}

static void heard_pack(struct str *out, const struct heard *h)
{
	const char *const texts[] = {h->uuid, h->node, h->why, h->by, h->boot, h->reset};
	for (size_t i = 0; i < COUNT_OF(texts); i++) {
		pack_text(out, texts[i]);
	}
}

static const struct heard *heard_unpack(struct unpack *u)
{
	struct heard *h = ARENA_NEW(u->arena, struct heard);
	const char **texts[] = {&h->uuid, &h->node, &h->why, &h->by, &h->boot, &h->reset};
	for (size_t i = 0; i < COUNT_OF(texts); i++) {
		*texts[i] = unpack_text(u);
	}
	u->bad = u->bad || h->uuid == NULL || h->node == NULL || h->by == NULL;
	return h;
}

void change_pack(struct str *out, const struct change *c)
{
	pack_u64(out, c->type);
	pack_u64(out, c->kind);
	pack_u64(out, (c->leads ? 1 : 0) | (c->no_sweep ? 2 : 0) | (c->reached ? 4 : 0) |
			      (c->unsure ? 8 : 0));
	pack_text(out, c->ns);
	pack_text(out, c->name);
	pack_text(out, c->uid);
	if (c->type == CHANGE_SET) {
		object_pack(out, c);
	}
	if (c->type == CHANGE_RUNTIME) {
		runtime_pack(out, c->runtime);
	}
	if (c->type == CHANGE_SHARE) {
		pack_i64(out, c->milli);
		pack_i64(out, c->mem_mib);
	}
	if (c->type == CHANGE_SHUN) {
		pack_i64(out, c->for_ms);
	}
	if (c->type == CHANGE_HEARD) {
		heard_pack(out, c->heard);
	}
}

static void namespace_unpack(struct unpack *u, struct namespace *n)
{
	n->name = unpack_text(u);
	n->labels = unpack_pairs(u);
	n->notes = unpack_pairs(u);
	n->terminating = unpack_u64(u) != 0;
}

static void quota_unpack(struct unpack *u, struct quota *q)
{
	q->ns = unpack_text(u);
	q->name = unpack_text(u);
	q->bounds_gpus = unpack_u64(u) != 0;
	q->hard_milli = unpack_i64(u);
	q->scopes = unpack_terms(u);
}

static void object_unpack(struct unpack *u, struct change *c)
{
	struct pod *pod = ARENA_NEW(u->arena, struct pod);
	struct node *node = ARENA_NEW(u->arena, struct node);
	struct policy *policy = ARENA_NEW(u->arena, struct policy);
	struct namespace *ns = ARENA_NEW(u->arena, struct namespace);
	struct limit_range *range = ARENA_NEW(u->arena, struct limit_range);
	struct quota *quota = ARENA_NEW(u->arena, struct quota);
	struct gpu_slice *slice = ARENA_NEW(u->arena, struct gpu_slice);
	struct volume_claim *claim = ARENA_NEW(u->arena, struct volume_claim);
	struct node_state *state = ARENA_NEW(u->arena, struct node_state);
	switch (c->kind) {
	case KIND_POD:
		pod_unpack(u, pod);
		c->pod = pod;
		break;
	case KIND_NODE:
		node_unpack(u, node);
		c->node = node;
		break;
	case KIND_POLICY:
		policy_unpack(u, policy);
		c->policy = policy;
		break;
	case KIND_NAMESPACE:
		namespace_unpack(u, ns);
		c->namespace = ns;
		break;
	case KIND_LIMIT_RANGE:
		range->ns = unpack_text(u);
		range->name = unpack_text(u);
		range->limits_gpus = unpack_u64(u) != 0;
		c->limit_range = range;
		break;
	case KIND_QUOTA:
		quota_unpack(u, quota);
		c->quota = quota;
		break;
	case KIND_SLICE:
		slice->name = unpack_text(u);
		slice->node = unpack_text(u);
		c->slice = slice;
		break;
	case KIND_CLAIM:
		claim_unpack(u, claim);
		c->claim = claim;
		break;
	case KIND_STATE:
		state_unpack(u, state);
		c->state = state;
		break;
	case KIND_RECOMMENDATION:
	case KIND_GROUP:
	case KIND_SCALER:
	case KIND_SCALED_OBJECT:
	case KIND_BUDGET:
	case KIND_POD_GROUP:
	case KIND_COUNT:
		break;
	}
}

bool change_unpack(struct unpack *u, struct change *ret)
{
	struct change c = {0};
	uint64_t type = unpack_u64(u);
	uint64_t kind = unpack_u64(u);
	if (u->bad || type > CHANGE_RUNTIME || kind >= KIND_ENGINE) {
		u->bad = true;
		return false;
	}
	c.type = (enum change_type)type;
	c.kind = (enum kind)kind;
	uint64_t flags = unpack_u64(u);
	c.leads = flags & 1;
	c.no_sweep = flags & 2;
	c.reached = flags & 4;
	c.unsure = flags & 8;
	c.ns = unpack_text(u);
	c.name = unpack_text(u);
	c.uid = unpack_text(u);
	if (c.type == CHANGE_SET) {
		object_unpack(u, &c);
	}
	if (c.type == CHANGE_RUNTIME) {
		c.runtime = runtime_unpack(u);
	}
	if (c.type == CHANGE_SHARE) {
		c.milli = unpack_i64(u);
		c.mem_mib = unpack_i64(u);
	}
	if (c.type == CHANGE_SHUN) {
		c.for_ms = unpack_i64(u);
	}
	if (c.type == CHANGE_HEARD) {
		c.heard = heard_unpack(u);
	}
	if (u->bad) {
		return false;
	}
	*ret = c;
	return true;
}
