/* The bill: parts of shared GPUs, whole ones, then GPU by GPU who pays what, then node by node what
 * is left. Pods are visited by their slots in the world, which do not move between slices. */
#include "sizer/bills.h"

#include <stdlib.h>

#include "sized_pods.h"
#include "state.h"

#define LABEL_MODEL	"nvidia.com/gpu.product"
#define BILL_GROUPS_MAX 4096
#define PARTS_MAX	65536
#define SLOTS_A_UNIT	8
#define NONE		UINT32_MAX

enum step { STEP_BEGIN, STEP_PODS, STEP_GPUS, STEP_NODES, STEP_END };

/* --- groups --- */

struct group_key {
	uint8_t by;
	const char *name;
};

static bool same_group(const void *owner, uint32_t slot, const void *key)
{
	const struct bills *b = owner;
	const struct group_key *k = key;
	return b->groups.items[slot].by == k->by &&
	       text_equals(b->groups.items[slot].name, k->name);
}

void bills_init(struct bills *b)
{
	map_init(&b->by_name, same_group, b);
}

void bills_finish(struct bills *b)
{
	vec_for_each (struct bill_group, g, &b->groups) {
		free(g->name);
	}
	VEC_FINISH(&b->groups);
	VEC_FINISH(&b->parts);
	VEC_FINISH(&b->paid);
	VEC_FINISH(&b->others);
	VEC_FINISH(&b->next_others);
	map_finish(&b->by_name);
}

static uint64_t bill_name_hash(uint8_t by, const char *name)
{
	return hash_bytes(&by, 1, hash_text(name));
}

/* NONE: there are too many. */
static uint32_t free_group(struct bills *b)
{
	static const struct bill_group none = {.name = NULL};
	if (b->unused > 0) {
		uint32_t at = b->unused - 1;
		b->unused = b->groups.items[at].next;
		return at;
	}
	if (b->groups.count >= BILL_GROUPS_MAX) {
		return NONE;
	}
	VEC_PUSH(&b->groups, none);
	return (uint32_t)b->groups.count - 1;
}

/* NONE: it has no name, or there are too many. */
static uint32_t bill_group_of(struct bills *b, enum bill_by by, const char *name)
{
	struct group_key key = {(uint8_t)by, name};
	if (text_empty(name)) {
		return NONE;
	}
	uint64_t hash = bill_name_hash(key.by, name);
	uint32_t at = map_find(&b->by_name, hash, &key);
	if (at == MAP_NONE) {
		at = free_group(b);
		if (at == NONE) {
			return NONE;
		}
		b->groups.items[at] = (struct bill_group){.name = xstrdup(name), .by = key.by};
		map_put(&b->by_name, hash, at);
	}
	b->groups.items[at].turn = b->turn;
	return at;
}

static void keep_group(struct bills *b, uint32_t at)
{
	if (at != NONE) {
		b->groups.items[at].turn = b->turn;
	}
}

/* Those that no pod had in this turn: they pay nothing, and nobody knows their place. */
static void forget_groups(struct bills *b)
{
	for (uint32_t at = 0; at < b->groups.count; at++) {
		struct bill_group *g = &b->groups.items[at];
		if (g->name == NULL || g->turn == b->turn) {
			continue;
		}
		map_remove(&b->by_name, bill_name_hash(g->by, g->name), at);
		free(g->name);
		*g = (struct bill_group){.next = b->unused};
		b->unused = at + 1;
	}
}

void bills_label(struct sizer *s, struct bill_pod *ret, const struct pod *noun)
{
	const struct bill_config *c = &s->config.bill;
	ret->team = c->team_label != NULL ? bill_group_of(&s->bills, BILL_TEAM,
						    pairs_get(&noun->labels, c->team_label))
					  : NONE;
	ret->model = c->model_label != NULL ? bill_group_of(&s->bills, BILL_MODEL,
						      pairs_get(&noun->labels, c->model_label))
					    : NONE;
}

/* --- prices --- */

static int64_t price_at(const struct sizer *s, const struct world *w, uint32_t node)
{
	const struct bill_config *c = &s->config.bill;
	const struct world_node *n = node != WORLD_NONE ? world_node_at(w, node) : NULL;
	int64_t micro = 0;
	if (n == NULL || !n->known) {
		return PRICE_ABSENT;
	}
	const char *own =
		c->price_label != NULL ? pairs_get(&n->noun.labels, c->price_label) : NULL;
	if (own != NULL && price_parse(view_of(own), &micro)) {
		return micro;
	}
	const struct prices none = {NULL, 0};
	return prices_of(
		c->prices != NULL ? c->prices : &none, pairs_get(&n->noun.labels, LABEL_MODEL));
}

/* --- who pays --- */

static void pay_group(struct bills *b, uint32_t at, int64_t cost)
{
	if (at != NONE) {
		b->groups.items[at].cost.next += cost;
	}
}

static void pay(struct sizer *s, const struct bill_part *p, int64_t cost)
{
	struct bills *b = &s->bills;
	b->next.pods += cost;
	if (p->node < b->paid.count) {
		b->paid.items[p->node] += cost;
	}
	pay_group(b, p->group, cost);
	struct bill_pod *bill = p->pod != NULL	   ? &p->pod->bill
				: p->other != NONE ? &b->next_others.items[p->other].bill
						   : NULL;
	if (bill != NULL) {
		bill->cost.next += cost;
		pay_group(b, bill->team, cost);
		pay_group(b, bill->model, cost);
	}
	if (p->pod != NULL) {
		p->pod->of->bill.next += cost;
	}
}

static struct share fresh_use(const struct sized_pod *p, int64_t now_ms)
{
	struct share used = {0, 0};
	for (uint8_t i = 0; p != NULL && i < p->feed_count; i++) {
		const struct sized_feed *f = &p->feeds[i];
		if (f->feed.last_ms > 0 && now_ms - f->feed.last_ms <= HISTORY_FRESH_MS) {
			used.milli += f->heal.compute > 0
					      ? f->heal.compute / (METERED_FULL / MODEL_GPU_MILLI)
					      : 0;
			used.mib += f->heal.mib;
		}
	}
	return used;
}

/* A tenant of several GPUs has a part of each. */
static void bill_add_tenant(
	struct sizer *s, const struct world_pod *wp, struct bill_part part, int64_t now_ms)
{
	struct view rest = view_of(wp->gpu->uuid), uuid;
	const struct share used = fresh_use(part.pod, now_ms);
	part.milli = to_int32(wp->gpu->milli);
	part.mib = to_int32(wp->gpu->mem_mib);
	part.used_milli = to_int32(used.milli);
	part.used_mib = to_int32(used.mib);
	while (view_next(&rest, ',', &uuid)) {
		char name[GPU_UUID_MAX];
		if (uuid.n >= sizeof name || s->bills.parts.count >= PARTS_MAX) {
			continue;
		}
		memcpy(name, uuid.p, uuid.n);
		name[uuid.n] = '\0';
		uint32_t at = gpus_at(&s->gpus, name);
		if (at == UINT32_MAX) {
			continue;
		}
		struct gpu *g = &s->gpus.list.items[at];
		part.next = g->first;
		g->first = (uint32_t)s->bills.parts.count;
		VEC_PUSH(&s->bills.parts, part);
	}
}

/* NONE: there are too many. */
static uint32_t bill_other_add(struct sizer *s, const struct world_pod *wp)
{
	struct bill_others *all = &s->bills.next_others;
	struct bill_other made = {.bill = {.team = NONE, .model = NONE}};
	struct pod noun;
	size_t n = strlen(world_pod_uid(wp));
	if (n >= sizeof made.uid || all->count >= SIZER_PODS_MAX) {
		return NONE;
	}
	memcpy(made.uid, world_pod_uid(wp), n + 1);
	arena_reset(&s->scratch);
	if (world_pod_unpack(wp, &s->scratch, &noun)) {
		bills_label(s, &made.bill, &noun);
	}
	VEC_PUSH(all, made);
	return (uint32_t)all->count - 1;
}

static void bill_add_pod(
	struct sizer *s, const struct world *w, const struct world_pod *wp, int64_t now_ms)
{
	const struct world_gpu *g = wp->gpu;
	struct bill_part part = {.pod = pods_find(s, world_pod_uid(wp)),
		.group = bill_group_of(&s->bills, BILL_NAMESPACE, wp->ns),
		.node = wp->node,
		.other = NONE,
		.next = NONE};
	bool tenant = g->class == WORLD_TENANT && g->milli > 0 && !g->gated;
	bool whole = g->class == WORLD_WHOLE && wp->node != WORLD_NONE;
	if (part.pod == NULL && (tenant || whole)) {
		part.other = bill_other_add(s, wp);
	}
	if (tenant) {
		bill_add_tenant(s, wp, part, now_ms);
	} else if (whole) {
		int64_t price = price_at(s, w, wp->node);
		pay(s, &part, price > 0 ? price * g->gpus : 0);
	}
}

static void bills_begin(struct sizer *s, const struct world *w)
{
	struct bills *b = &s->bills;
	VEC_CLEAR(&b->parts);
	VEC_CLEAR(&b->next_others);
	VEC_CLEAR(&b->paid);
	VEC_RESERVE(&b->paid, world_node_slots(w) + 1);
	for (size_t i = 0; i < world_node_slots(w); i++) {
		VEC_PUSH(&b->paid, 0);
	}
	vec_for_each (struct bill_group, g, &b->groups) {
		g->cost.next = 0;
	}
	b->turn++;
	for (size_t i = 0; i < s->pods.count; i++) {
		struct bill_pod *bill = &s->pods.items[i]->bill;
		bill->cost.next = 0;
		keep_group(b, bill->team);
		keep_group(b, bill->model);
	}
	for (size_t i = 0; i < s->workloads.count; i++) {
		s->workloads.items[i]->bill.next = 0;
	}
	vec_for_each (struct gpu, g, &s->gpus.list) {
		g->first = g->gone ? g->first : NONE;
	}
	b->next = (struct bill_totals){0};
}

/* --- GPU by GPU --- */

static int64_t node_gpu_mib(const struct sizer *s, uint32_t node)
{
	int64_t mib = devices_at(&s->devices, node);
	return mib > 0 ? mib : devices_largest(&s->devices);
}

static void split(struct sizer *s, const struct world *w, const struct gpu *g)
{
	struct cost_tenant tenants[MODEL_GRANTS_MAX];
	int64_t costs[MODEL_GRANTS_MAX];
	uint32_t count = 0, node = NONE;
	for (uint32_t at = g->first; at != NONE && count < COUNT_OF(tenants);
		at = s->bills.parts.items[at].next) {
		const struct bill_part *p = &s->bills.parts.items[at];
		tenants[count++] =
			(struct cost_tenant){{p->milli, p->mib}, {p->used_milli, p->used_mib}};
		node = p->node != WORLD_NONE ? p->node : node;
	}
	node = g->round == s->round ? g->node : node;
	int64_t price = price_at(s, w, node);
	if (count == 0 || price <= 0) {
		return;
	}
	int64_t usable = g->mem_mib > 0 ? g->mem_mib : node_gpu_mib(s, node);
	cost_split(price, usable, tenants, count, costs);
	uint32_t i = 0;
	for (uint32_t at = g->first; at != NONE && i < count; i++) {
		struct bill_part part = s->bills.parts.items[at];
		part.node = node;
		pay(s, &part, costs[i]);
		s->bills.next.saved += price - costs[i];
		at = part.next;
	}
}

/* --- node by node --- */

static void count_node(struct sizer *s, const struct world *w, uint32_t at)
{
	struct bill_totals *t = &s->bills.next;
	const struct world_node *n = world_node_at(w, at);
	int64_t paid = at < s->bills.paid.count ? s->bills.paid.items[at] : 0;
	int64_t offered = n->known ? n->noun.gpus : 0;
	int64_t price = price_at(s, w, at);
	/* A node that lost a device has it until its pods are gone. */
	int64_t gpus = n->gpus > offered ? n->gpus : offered;
	t->gpus += (uint32_t)gpus;
	if (price < 0) {
		t->unpriced += (uint32_t)gpus;
		return;
	}
	int64_t all = price * gpus;
	int64_t unheld = price * (gpus - n->gpus);
	all = all > paid ? all : paid;
	t->all += all;
	int64_t idle = all - paid;
	t->idle_free += unheld < idle ? unheld : idle;
	t->idle_held += unheld < idle ? idle - unheld : 0;
}

static void publish(struct bill_cost *c)
{
	c->cost = c->next;
}

static void bills_publish(struct sizer *s)
{
	struct bills *b = &s->bills;
	for (size_t i = 0; i < s->pods.count; i++) {
		publish(&s->pods.items[i]->bill.cost);
	}
	for (size_t i = 0; i < s->workloads.count; i++) {
		struct sized *x = s->workloads.items[i];
		publish(&x->bill);
		b->next.idle_workloads += x->idle;
		b->next.wasted += x->idle ? x->bill.cost : 0;
	}
	vec_for_each (struct bill_group, g, &b->groups) {
		publish(&g->cost);
	}
	b->next.freed = b->next.saved - b->next.idle_held;
	forget_groups(b);
	vec_for_each (struct bill_other, o, &b->next_others) {
		publish(&o->bill.cost);
	}
	struct bill_others former = b->others;
	b->others = b->next_others;
	b->next_others = former;
	b->totals = b->next;
}

/* --- slices --- */

static void step_pods(struct sizer *s, const struct world *w, int64_t now_ms, int64_t *budget)
{
	for (; s->at < world_pod_slots(w) && *budget > 0; s->at++) {
		const struct world_pod *wp = world_pod_at(w, (uint32_t)s->at);
		*budget -= s->at % SLOTS_A_UNIT == 0;
		if (wp != NULL && wp->gpu != NULL && !world_pod_terminal(wp)) {
			bill_add_pod(s, w, wp, now_ms);
			(*budget)--;
		}
	}
}

static bool bill_step_is_done(const struct sizer *s, const struct world *w, enum step step)
{
	return step == STEP_PODS    ? s->at >= world_pod_slots(w)
	       : step == STEP_GPUS  ? s->at >= s->gpus.list.count
	       : step == STEP_NODES ? s->at >= world_node_slots(w)
				    : true;
}

static void bill_step_run(struct sizer *s, const struct world *w, int64_t now_ms, int64_t *budget)
{
	switch ((enum step)s->bills.step) {
	case STEP_BEGIN:
		bills_begin(s, w);
		break;
	case STEP_PODS:
		step_pods(s, w, now_ms, budget);
		break;
	case STEP_GPUS:
		for (; s->at<s->gpus.list.count && * budget> 0; (*budget)--) {
			const struct gpu *g = &s->gpus.list.items[s->at++];
			if (!g->gone) {
				split(s, w, g);
			}
		}
		break;
	case STEP_NODES:
		for (; s->at < world_node_slots(w) && *budget > 0; (*budget)--) {
			count_node(s, w, (uint32_t)s->at++);
		}
		break;
	case STEP_END:
		bills_publish(s);
		break;
	}
}

bool bills_step(struct sizer *s, const struct world *w, int64_t now_ms, int64_t *budget)
{
	while (*budget > 0) {
		enum step step = (enum step)s->bills.step;
		bill_step_run(s, w, now_ms, budget);
		if (!bill_step_is_done(s, w, step)) {
			return false;
		}
		s->at = 0;
		s->bills.step = step == STEP_END ? STEP_BEGIN : (uint32_t)step + 1;
		if (step == STEP_END) {
			return true;
		}
	}
	return false;
}

/* --- what is asked --- */

void sizer_bill(const struct sizer *s, struct bill_totals *ret)
{
	*ret = s->bills.totals;
}

size_t sizer_bill_rows(const struct sizer *s, enum bill_by by)
{
	return by == BILL_POD	     ? s->pods.count + s->bills.others.count
	       : by == BILL_WORKLOAD ? s->workloads.count
				     : s->bills.groups.count;
}

int64_t sizer_bill_cost(const struct sizer *s, enum bill_by by, size_t i)
{
	const struct bills *b = &s->bills;
	size_t pods = s->pods.count;
	return by == BILL_WORKLOAD ? s->workloads.items[i]->bill.cost
	       : by != BILL_POD	   ? b->groups.items[i].by == by ? b->groups.items[i].cost.cost : 0
	       : i < pods	   ? s->pods.items[i]->bill.cost.cost
				   : b->others.items[i - pods].bill.cost.cost;
}

/* Whoever pays nothing is not looked for: without prices those are all. */
bool sizer_bill_row(const struct sizer *s, const struct world *w, enum bill_by by, size_t i,
	struct bill_row *ret)
{
	*ret = (struct bill_row){.cost = sizer_bill_cost(s, by, i)};
	if (ret->cost <= 0) {
		return false;
	}
	if (by == BILL_POD) {
		size_t pods = s->pods.count;
		const char *uid =
			i < pods ? s->pods.items[i]->uid : s->bills.others.items[i - pods].uid;
		const struct world_pod *wp = world_pod_by_uid(w, uid);
		ret->ns = wp != NULL ? wp->ns : NULL;
		ret->name = wp != NULL ? world_pod_name(wp) : NULL;
		return wp != NULL;
	}
	if (by == BILL_WORKLOAD) {
		const struct sized *x = s->workloads.items[i];
		ret->ns = x->key.ns;
		ret->kind = x->key.kind;
		ret->name = x->key.name;
		return true;
	}
	ret->name = s->bills.groups.items[i].name;
	return true;
}

const char *bills_text(const struct sizer *s, struct arena *a, int64_t micro)
{
	char text[PRICE_TEXT_MAX];
	return arena_printf(
		a, "%s %s/h", price_format(micro, text), text_or(s->config.bill.currency, "units"));
}
