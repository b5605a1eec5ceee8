/* The bill: parts of shared GPUs, whole ones, then GPU by GPU who pays what, then node by node what
 * is left. Pods are visited by their slots in the world, which do not move between slices. */
#include "sizer/bills.h"

#include "bill_state.h"
#include "sizer_state.h"
#include "tracking/pod_table.h"

#define LABEL_MODEL  "nvidia.com/gpu.product"
#define PARTS_MAX    65536
#define SLOTS_A_UNIT 8
#define NONE	     UINT32_MAX

void bills_finish(struct bills *b)
{
	VEC_FINISH(&b->parts);
	VEC_FINISH(&b->paid);
	VEC_FINISH(&b->others);
	VEC_FINISH(&b->next_others);
}

/* --- prices --- */

static int64_t price_at(const struct bills *b, const struct world *w, uint32_t node)
{
	const struct bill_config *c = &b->tracking->config.bill;
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
		b->tracking->labels.list.items[at].cost.next += cost;
	}
}

static void pay(struct bills *b, const struct bill_part *p, int64_t cost)
{
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
	struct bills *b, const struct world_pod *wp, struct bill_part part, int64_t now_ms)
{
	struct view rest = view_of(wp->gpu->uuid), uuid;
	const struct share used = fresh_use(part.pod, now_ms);
	part.milli = to_int32(wp->gpu->milli);
	part.mib = to_int32(wp->gpu->mem_mib);
	part.used_milli = to_int32(used.milli);
	part.used_mib = to_int32(used.mib);
	while (view_next(&rest, ',', &uuid)) {
		char name[GPU_UUID_MAX];
		if (uuid.n >= sizeof name || b->parts.count >= PARTS_MAX) {
			continue;
		}
		memcpy(name, uuid.p, uuid.n);
		name[uuid.n] = '\0';
		uint32_t at = gpus_at(&b->supply->gpus, name);
		if (at == UINT32_MAX) {
			continue;
		}
		struct gpu *g = &b->supply->gpus.list.items[at];
		part.next = g->first;
		g->first = (uint32_t)b->parts.count;
		VEC_PUSH(&b->parts, part);
	}
}

/* NONE: there are too many. */
static uint32_t bill_other_add(struct bills *b, const struct world_pod *wp)
{
	struct bill_others *all = &b->next_others;
	struct bill_other made = {.bill = {.team = NONE, .model = NONE}};
	struct pod noun;
	size_t n = strlen(world_pod_uid(wp));
	if (n >= sizeof made.uid || all->count >= SIZER_PODS_MAX) {
		return NONE;
	}
	memcpy(made.uid, world_pod_uid(wp), n + 1);
	arena_reset(&b->tracking->scratch);
	if (world_pod_unpack(wp, &b->tracking->scratch, &noun)) {
		bill_groups_label(
			&b->tracking->labels, &b->tracking->config.bill, &noun.labels, &made.bill);
	}
	VEC_PUSH(all, made);
	return (uint32_t)all->count - 1;
}

static void bill_add_pod(
	struct bills *b, const struct world *w, const struct world_pod *wp, int64_t now_ms)
{
	const struct world_gpu *g = wp->gpu;
	struct bill_part part = {.pod = pods_find(b->tracking, world_pod_uid(wp)),
		.group = bill_groups_at(&b->tracking->labels, BILL_NAMESPACE, wp->ns),
		.node = wp->node,
		.other = NONE,
		.next = NONE};
	bool tenant = g->class == WORLD_TENANT && g->milli > 0 && !g->gated;
	bool whole = g->class == WORLD_WHOLE && wp->node != WORLD_NONE;
	if (part.pod == NULL && (tenant || whole)) {
		part.other = bill_other_add(b, wp);
	}
	if (tenant) {
		bill_add_tenant(b, wp, part, now_ms);
	} else if (whole) {
		int64_t price = price_at(b, w, wp->node);
		pay(b, &part, price > 0 ? price * g->gpus : 0);
	}
}

/* Each step returns true once it is over. */

static bool bills_begin(struct bills *b, const struct world *w, int64_t now_ms, int64_t *budget)
{
	(void)now_ms;
	(void)budget;
	VEC_CLEAR(&b->parts);
	VEC_CLEAR(&b->next_others);
	VEC_CLEAR(&b->paid);
	VEC_RESERVE(&b->paid, world_node_slots(w) + 1);
	for (size_t i = 0; i < world_node_slots(w); i++) {
		VEC_PUSH(&b->paid, 0);
	}
	vec_for_each (struct bill_group, g, &b->tracking->labels.list) {
		g->cost.next = 0;
	}
	b->tracking->labels.turn++;
	for (size_t i = 0; i < b->tracking->pods.count; i++) {
		struct bill_pod *bill = &b->tracking->pods.items[i]->bill;
		bill->cost.next = 0;
		bill_groups_keep(&b->tracking->labels, bill->team);
		bill_groups_keep(&b->tracking->labels, bill->model);
	}
	for (size_t i = 0; i < b->tracking->workloads.rows.count; i++) {
		workload_at(b->tracking, i)->bill.next = 0;
	}
	vec_for_each (struct gpu, g, &b->supply->gpus.list) {
		g->first = g->gone ? g->first : NONE;
	}
	b->next = (struct bill_totals){0};
	return true;
}

static bool bill_pods(struct bills *b, const struct world *w, int64_t now_ms, int64_t *budget)
{
	for (; b->at < world_pod_slots(w) && *budget > 0; b->at++) {
		const struct world_pod *wp = world_pod_at(w, (uint32_t)b->at);
		*budget -= b->at % SLOTS_A_UNIT == 0;
		if (wp != NULL && wp->gpu != NULL && !world_pod_terminal(wp)) {
			bill_add_pod(b, w, wp, now_ms);
			(*budget)--;
		}
	}
	return b->at >= world_pod_slots(w);
}

/* --- GPU by GPU --- */

static void split_gpu(struct bills *b, const struct world *w, const struct gpu *g)
{
	struct cost_tenant tenants[MODEL_GRANTS_MAX];
	int64_t costs[MODEL_GRANTS_MAX];
	uint32_t count = 0, node = NONE;
	for (uint32_t at = g->first; at != NONE && count < COUNT_OF(tenants);
		at = b->parts.items[at].next) {
		const struct bill_part *p = &b->parts.items[at];
		tenants[count++] =
			(struct cost_tenant){{p->milli, p->mib}, {p->used_milli, p->used_mib}};
		node = p->node != WORLD_NONE ? p->node : node;
	}
	node = g->round == b->tracking->round ? g->node : node;
	int64_t price = price_at(b, w, node);
	if (count == 0 || price <= 0) {
		return;
	}
	int64_t usable = g->mem_mib > 0 ? g->mem_mib : supply_gpu_mib(b->supply, node);
	cost_split(price, usable, tenants, count, costs);
	uint32_t i = 0;
	for (uint32_t at = g->first; at != NONE && i < count; i++) {
		struct bill_part part = b->parts.items[at];
		part.node = node;
		pay(b, &part, costs[i]);
		b->next.saved += price - costs[i];
		at = part.next;
	}
}

static bool split_gpus(struct bills *b, const struct world *w, int64_t now_ms, int64_t *budget)
{
	(void)now_ms;
	for (; b->at<b->supply->gpus.list.count && * budget> 0; (*budget)--) {
		const struct gpu *g = &b->supply->gpus.list.items[b->at++];
		if (!g->gone) {
			split_gpu(b, w, g);
		}
	}
	return b->at >= b->supply->gpus.list.count;
}

/* --- node by node --- */

static void count_node(struct bills *b, const struct world *w, uint32_t at)
{
	struct bill_totals *t = &b->next;
	const struct world_node *n = world_node_at(w, at);
	int64_t paid = at < b->paid.count ? b->paid.items[at] : 0;
	int64_t offered = n->known ? n->noun.gpus : 0;
	int64_t price = price_at(b, w, at);
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

static bool count_nodes(struct bills *b, const struct world *w, int64_t now_ms, int64_t *budget)
{
	(void)now_ms;
	for (; b->at < world_node_slots(w) && *budget > 0; (*budget)--) {
		count_node(b, w, (uint32_t)b->at++);
	}
	return b->at >= world_node_slots(w);
}

static void publish(struct bill_cost *c)
{
	c->cost = c->next;
}

static bool bills_publish(struct bills *b, const struct world *w, int64_t now_ms, int64_t *budget)
{
	(void)w;
	(void)now_ms;
	(void)budget;
	for (size_t i = 0; i < b->tracking->pods.count; i++) {
		publish(&b->tracking->pods.items[i]->bill.cost);
	}
	for (size_t i = 0; i < b->tracking->workloads.rows.count; i++) {
		struct sized_workload *x = workload_at(b->tracking, i);
		publish(&x->bill);
		b->next.idle_workloads += x->idle;
		b->next.wasted += x->idle ? x->bill.cost : 0;
	}
	vec_for_each (struct bill_group, g, &b->tracking->labels.list) {
		publish(&g->cost);
	}
	b->next.freed = b->next.saved - b->next.idle_held;
	bill_groups_forget(&b->tracking->labels);
	vec_for_each (struct bill_other, o, &b->next_others) {
		publish(&o->bill.cost);
	}
	struct bill_others former = b->others;
	b->others = b->next_others;
	b->next_others = former;
	b->totals = b->next;
	return true;
}

bool bills_step(struct bills *b, const struct world *w, int64_t now_ms, int64_t *budget)
{
	static bool (*const steps[])(struct bills * b, const struct world *w, int64_t now_ms,
		int64_t *budget) = {bills_begin, bill_pods, split_gpus, count_nodes, bills_publish};
	while (*budget > 0 && steps[b->step](b, w, now_ms, budget)) {
		b->at = 0;
		b->step = (b->step + 1) % COUNT_OF(steps);
		if (b->step == 0) {
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
	return by == BILL_POD	     ? s->tracking.pods.count + s->bills.others.count
	       : by == BILL_WORKLOAD ? s->tracking.workloads.rows.count
				     : s->tracking.labels.list.count;
}

int64_t sizer_bill_cost(const struct sizer *s, enum bill_by by, size_t i)
{
	const struct bills *b = &s->bills;
	size_t pods = s->tracking.pods.count;
	return by == BILL_WORKLOAD ? workload_at(&s->tracking, i)->bill.cost
	       : by != BILL_POD	   ? s->tracking.labels.list.items[i].by == by
					     ? s->tracking.labels.list.items[i].cost.cost
					     : 0
	       : i < pods	   ? s->tracking.pods.items[i]->bill.cost.cost
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
		size_t pods = s->tracking.pods.count;
		const char *uid = i < pods ? s->tracking.pods.items[i]->uid
					   : s->bills.others.items[i - pods].uid;
		const struct world_pod *wp = world_pod_by_uid(w, uid);
		ret->ns = wp != NULL ? wp->ns : NULL;
		ret->name = wp != NULL ? world_pod_name(wp) : NULL;
		return wp != NULL;
	}
	if (by == BILL_WORKLOAD) {
		const struct sized_workload *x = workload_at(&s->tracking, i);
		ret->ns = x->key.ns;
		ret->kind = x->key.kind;
		ret->name = x->key.name;
		return true;
	}
	ret->name = s->tracking.labels.list.items[i].name;
	return true;
}

const char *bill_text(const struct bill_config *config, struct arena *a, int64_t micro)
{
	char text[PRICE_TEXT_MAX];
	return arena_printf(
		a, "%s %s/h", price_format(micro, text), text_or(config->currency, "units"));
}
