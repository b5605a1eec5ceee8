/* A small cluster in memory for the engine's tests: every write is checked against its
 * preconditions as an API server would, the watch is late, answers get lost, the leader forgets
 * everything. The checks read the cluster's own objects only. */
#ifndef TEST_UNIT_ENGINE_CLUSTER_H
#define TEST_UNIT_ENGINE_CLUSTER_H

#include <criterion/criterion.h>
#include <stdio.h>

#include "awake.h"
#include "base/rand.h"
#include "engine/engine.h"
#include "model/names.h"
#include "model/quantity.h"
#include "../world_check.h"

#define PODS_MAX  64
#define NODES_MAX 4
#define USABLE	  80000

struct obj {
	bool exists, capacity, gated, running;
	bool other_gate;      /* beside ours */
	bool elsewhere;	      /* in another namespace */
	bool leaving;	      /* being deleted, with a grace */
	bool unbound;	      /* a capacity pod that the scheduler refuses */
	bool troubled;	      /* one whose image cannot be pulled */
	bool mps;	      /* a client of MPS, or a capacity pod for such */
	bool told, told_true; /* the condition Placed */
	enum reason told_reason;
	char name[64], uid[24], node[16], uuid[128], holder[256], ask[NODES_MAX * 8];
	int count; /* gpu-count; 0: not said */
	int rv;
	char policy[16];       /* its annotation */
	const char *framework; /* that is told its memory, in thousandths when it is placed */
	int32_t told_memory;
	bool ready;
	char applied[24]; /* what it was placed under */
	char owner[16];	  /* a ReplicaSet whose hash is `a` or `b`; empty: none */
	int64_t ask_milli, ask_mib, milli, mib;
	int died_at;
	struct grant_copy {
		char uid[24];
		int64_t milli, mib;
	} grants[MODEL_GRANTS_MAX];
	uint32_t grant_count;
};

struct event {
	int64_t at;
	struct obj obj; /* exists=false: gone */
};

struct cluster {
	struct engine *e;
	struct plan plan;
	struct rng rng;
	struct obj pods[PODS_MAX];
	int nodes, gpus;
	int rv, uids;
	int64_t now;
	int64_t larger_mib; /* memory of the first node's second GPU; 0: it is like the others */
	int delay_ms, lose_percent, fail_percent;
	struct event queue[4096];
	size_t head, tail;
	int grants, places, creates, deletes, conditions, resizes;
	char said[256]; /* the last condition */
	bool by_hand;	/* a person deletes capacity pods */
	bool doubled;	/* the GPUs of a node tell one UUID */
	int refuses;	/* the scheduler binds no capacity pod to that node, counted from 1 */
	int troubles;	/* images cannot be pulled there, counted from 1 */
};

static struct pod_condition condition_of(const struct obj *o)
{
	return (struct pod_condition){.type = o->told ? NAME_PLACED : NULL,
		.is_true = o->told_true,
		.reason = o->told ? reason_name(o->told_reason) : NULL};
}

static const char *namespace_of(const struct obj *o)
{
	return o->capacity ? NAME_NAMESPACE : o->elsewhere ? "other" : "default";
}

static void observe_gone(struct cluster *c, const struct obj *o)
{
	struct change gone = {.type = CHANGE_GONE,
		.kind = KIND_POD,
		.name = o->name,
		.uid = o->uid,
		.ns = namespace_of(o)};
	engine_observe(c->e, &gone);
}

static void fill_capacity(
	const struct obj *o, struct pod *p, struct gpu_identity *id, struct grant *grants)
{
	static struct pair label[] = {{LABEL_CAPACITY, "true"}};
	snprintf(id->uuid, sizeof id->uuid, "%.95s", o->uuid);
	for (uint32_t i = 0; i < o->grant_count; i++) {
		grants[i] = (struct grant){
			o->grants[i].uid, "default", "x", o->grants[i].milli, o->grants[i].mib};
	}
	p->labels = (struct pairs){label, 1};
	p->gpus = 1;
	p->identity = o->running ? id : NULL;
	p->holds = o->running;
	p->ledger = (struct ledger){grants, o->grant_count};
}

static uint32_t note_policy(const struct obj *o, struct pair *notes)
{
	uint32_t n = 0;
	notes[n] = (struct pair){NOTE_POLICY, o->policy};
	n += o->policy[0] != '\0' ? 1 : 0;
	notes[n] = (struct pair){NOTE_POLICY_APPLIED, o->applied};
	n += o->applied[0] != '\0' ? 1 : 0;
	notes[n] = (struct pair){NOTE_FRAMEWORK, o->framework};
	n += o->framework != NULL ? 1 : 0;
	notes[n] = (struct pair){NOTE_FRAMEWORK_MEMORY, "0.1"};
	return n + (o->told_memory > 0 ? 1 : 0);
}

static void observe(struct cluster *c, const struct obj *o)
{
	char rv[16], milli[24], mib[24], share[QUANTITY_TEXT_MAX], count[16];
	snprintf(rv, sizeof rv, "%d", o->rv);
	if (!o->exists) {
		observe_gone(c, o);
		return;
	}
	size_t owned = strlen(o->owner);
	struct pair tenant_label[] = {{LABEL_TENANT, "true"},
		{"pod-template-hash", owned > 0 ? &o->owner[owned - 1] : ""}};
	struct pair notes[16] = {{NOTE_ISOLATION, ISOLATION_MPS_TEXT}};
	uint32_t n = o->mps ? 1 : 0;
	const char *gate[] = {NAME_GATE, "example.com/quota"};
	bool larger = c->larger_mib > 0 && strcmp(o->uuid, "GPU-n0-1") == 0;
	struct gpu_identity id = {.mem_mib = larger ? c->larger_mib : USABLE};
	struct grant grants[MODEL_GRANTS_MAX];
	struct pod p = {.ns = namespace_of(o),
		.name = o->name,
		.uid = o->uid,
		.resource_version = rv,
		.cpu_milli = 10,
		.mem_bytes = 100,
		.created_ms = 1000 + o->uid[1],
		.node = o->unbound ? NULL : o->node,
		.unschedulable = o->unbound,
		.trouble = o->troubled ? "ImagePullBackOff" : NULL,
		.deleting_ms = o->leaving ? 1000 : 0,
		.grace_s = o->leaving ? 30 : 0,
		.ready = o->ready,
		.phase = o->running ? POD_RUNNING : POD_PENDING};
	if (o->capacity) {
		fill_capacity(o, &p, &id, grants);
		p.notes = (struct pairs){notes, n};
	} else {
		if (o->holder[0] != '\0') {
			snprintf(milli, sizeof milli, "%lld", (long long)o->milli);
			snprintf(mib, sizeof mib, "%lld", (long long)o->mib);
			notes[n++] = (struct pair){NOTE_CAPACITY_POD, o->holder};
			notes[n++] = (struct pair){NOTE_COMPUTE_MILLI, milli};
			notes[n++] = (struct pair){NOTE_GPU_UUID, o->uuid};
			notes[n++] = (struct pair){NOTE_MEMORY_MIB, mib};
		}
		notes[n++] = (struct pair){NOTE_ORIGINAL, "{}"};
		notes[n++] = (struct pair){NOTE_SHARE, share_format(o->ask_milli, share)};
		n += note_policy(o, notes + n);
		snprintf(count, sizeof count, "%d", o->count);
		notes[n] = (struct pair){NOTE_GPU_COUNT, count};
		n += o->count > 0 ? 1 : 0;
		p.labels = (struct pairs){tenant_label, 2};
		p.owner = owned > 0 ? (struct owner){"apps/v1", "ReplicaSet", o->owner, "u"}
				    : (struct owner){0};
		p.notes = (struct pairs){notes, n};
		p.gates = gate;
		p.gate_count = o->gated ? (o->other_gate ? 2 : 1) : 0;
		p.placed = condition_of(o);
	}
	pairs_sort(&p.notes);
	struct change set = {.type = CHANGE_SET, .kind = KIND_POD, .pod = &p};
	engine_observe(c->e, &set);
}

static void publish(struct cluster *c, const struct obj *o)
{
	int64_t at =
		c->now + (c->delay_ms > 0 ? (int64_t)rng_below(&c->rng, (uint64_t)c->delay_ms) : 0);
	/* In order, as a watch is. */
	if (c->tail > c->head && c->queue[(c->tail - 1) % COUNT_OF(c->queue)].at > at) {
		at = c->queue[(c->tail - 1) % COUNT_OF(c->queue)].at;
	}
	c->queue[c->tail++ % COUNT_OF(c->queue)] = (struct event){at, *o};
}

static void deliver(struct cluster *c)
{
	while (c->head < c->tail && c->queue[c->head % COUNT_OF(c->queue)].at <= c->now) {
		observe(c, &c->queue[c->head++ % COUNT_OF(c->queue)].obj);
	}
}

static struct obj *find(struct cluster *c, const char *name)
{
	for (int i = 0; i < PODS_MAX; i++) {
		if (c->pods[i].exists && strcmp(c->pods[i].name, name) == 0) {
			return &c->pods[i];
		}
	}
	return NULL;
}

static struct obj *add(struct cluster *c, const char *name)
{
	for (int i = 0; i < PODS_MAX; i++) {
		struct obj *o = &c->pods[i];
		if (!o->exists) {
			*o = (struct obj){.exists = true, .rv = ++c->rv};
			snprintf(o->name, sizeof o->name, "%s", name);
			snprintf(o->uid, sizeof o->uid, "u%d", ++c->uids);
			return o;
		}
	}
	cr_assert(false, "too many pods");
	return NULL;
}

static void arrive(struct cluster *c, const char *name, int64_t milli)
{
	struct obj *o = add(c, name);
	o->gated = true;
	o->ask_milli = milli;
	publish(c, o);
}

static void leave(struct cluster *c, struct obj *o)
{
	o->leaving = !o->gated;
	publish(c, o);
	o->exists = false;
	o->rv = ++c->rv;
	publish(c, o);
}

static void set_fault(struct outcome *o, enum fault_kind kind)
{
	o->fault = (struct fault){.kind = kind};
}

static bool preconditions_hold(const struct action *a, const struct obj *o, struct outcome *out)
{
	char rv[16];
	snprintf(rv, sizeof rv, "%d", o != NULL ? o->rv : 0);
	if (o == NULL || strcmp(o->uid, a->uid) != 0) {
		set_fault(out, FAULT_NOT_FOUND);
		return false;
	}
	if (strcmp(rv, a->resource_version) != 0) {
		set_fault(out, FAULT_CONFLICT);
		return false;
	}
	return true;
}

static void apply_grant(
	struct cluster *c, const struct action *a, struct obj *o, struct outcome *out)
{
	if (!preconditions_hold(a, o, out)) {
		return;
	}
	o->grant_count = a->ledger.count;
	for (uint32_t i = 0; i < a->ledger.count; i++) {
		snprintf(o->grants[i].uid, sizeof o->grants[i].uid, "%s", a->ledger.items[i].uid);
		o->grants[i].milli = a->ledger.items[i].milli;
		o->grants[i].mib = a->ledger.items[i].mem_mib;
	}
	o->rv = ++c->rv;
	publish(c, o);
}

static void apply_place(
	struct cluster *c, const struct action *a, struct obj *o, struct outcome *out)
{
	if (!preconditions_hold(a, o, out)) {
		return;
	}
	cr_assert(o->gated);
	cr_assert_eq(a->mps, o->mps, "it is told limits exactly where it is a client of MPS");
	o->gated = false;
	o->running = true;
	o->milli = a->milli;
	o->mib = a->mem_mib;
	o->told_memory = a->framework_memory;
	snprintf(o->node, sizeof o->node, "%s", a->node);
	snprintf(o->uuid, sizeof o->uuid, "%s", a->uuid);
	snprintf(o->holder, sizeof o->holder, "%s", a->capacity_pod);
	snprintf(o->applied, sizeof o->applied, "%s", text_or(a->policy, ""));
	o->rv = ++c->rv;
	publish(c, o);
}

/* Nothing restarts: only what it was told changes, and no ledger has less for it. */
static void apply_resize(
	struct cluster *c, const struct action *a, struct obj *o, struct outcome *out)
{
	if (!preconditions_hold(a, o, out)) {
		return;
	}
	cr_assert(o->running && !o->mps);
	o->milli = a->milli;
	o->mib = a->mem_mib;
	o->rv = ++c->rv;
	publish(c, o);
}

/* The device plugin gives the lowest GPU of the node that no capacity pod has; none free: the pod
 * fails. */
static void apply_create(struct cluster *c, const struct action *a, struct outcome *out)
{
	if (find(c, a->name) != NULL) {
		return; /* AlreadyExists is success: act reads it back */
	}
	struct obj *o = add(c, a->name);
	o->capacity = true;
	snprintf(o->node, sizeof o->node, "%s", a->node);
	for (int g = 0; g < c->gpus && o->uuid[0] == '\0'; g++) {
		char uuid[32];
		snprintf(uuid, sizeof uuid, "GPU-%s-%d", a->node, g);
		bool taken = false;
		for (int i = 0; i < PODS_MAX; i++) {
			taken |= c->pods[i].exists && c->pods[i].capacity && !c->doubled &&
				 strcmp(c->pods[i].uuid, uuid) == 0;
		}
		if (!taken) {
			snprintf(o->uuid, sizeof o->uuid, "%.23s", uuid);
		}
	}
	cr_assert(o->uuid[0] != '\0', "a capacity pod was created where no GPU is free");
	o->mps = a->mps;
	o->unbound = c->refuses > 0 && o->node[1] - '0' == c->refuses - 1;
	o->troubled = c->troubles > 0 && o->node[1] - '0' == c->troubles - 1;
	o->running = !o->unbound && !o->troubled;
	publish(c, o);
	(void)out;
}

static void apply_delete(
	struct cluster *c, const struct action *a, struct obj *o, struct outcome *out)
{
	char rv[16];
	snprintf(rv, sizeof rv, "%d", o != NULL ? o->rv : 0);
	if (o == NULL || strcmp(rv, a->resource_version) != 0) {
		set_fault(out, o == NULL ? FAULT_NOT_FOUND : FAULT_CONFLICT);
		return;
	}
	leave(c, o);
}

static void apply_condition(
	struct cluster *c, const struct action *a, struct obj *o, struct outcome *out)
{
	if (o == NULL || strcmp(o->uid, a->uid) != 0) {
		set_fault(out, FAULT_NOT_FOUND);
		return;
	}
	o->told = true;
	o->told_true = a->is_true;
	o->told_reason = a->reason;
	o->rv = ++c->rv;
	publish(c, o);
}

static void apply(struct cluster *c, const struct action *a)
{
	struct outcome out = {0};
	char rv[16];
	struct obj *o = a->name != NULL ? find(c, a->name) : NULL;
	if ((int)rng_below(&c->rng, 100) < c->fail_percent) {
		set_fault(&out, FAULT_TRANSIENT);
	} else if (a->type == ACTION_GRANT) {
		c->grants++;
		apply_grant(c, a, o, &out);
	} else if (a->type == ACTION_PLACE) {
		c->places++;
		apply_place(c, a, o, &out);
	} else if (a->type == ACTION_CREATE_CAPACITY) {
		c->creates++;
		apply_create(c, a, &out);
	} else if (a->type == ACTION_DELETE_CAPACITY) {
		c->deletes++;
		apply_delete(c, a, o, &out);
	} else if (a->type == ACTION_RESIZE) {
		c->resizes++;
		apply_resize(c, a, o, &out);
	} else if (a->type == ACTION_CONDITION) {
		c->conditions++;
		snprintf(c->said, sizeof c->said, "%s", text_or(a->message, ""));
		apply_condition(c, a, o, &out);
	}
	if ((int)rng_below(&c->rng, 100) < c->lose_percent) {
		set_fault(&out, FAULT_TRANSIENT);
		out.fault.unknown_outcome = true;
	}
	o = a->name != NULL ? find(c, a->name) : NULL;
	struct pod answer = {0};
	if (o != NULL) {
		snprintf(rv, sizeof rv, "%d", o->rv);
		answer = (struct pod){.uid = o->uid, .resource_version = rv, .phase = POD_RUNNING};
		out.pod = &answer;
	}
	engine_settle(c->e, (struct engine_now){c->now, c->now}, a->id, &out);
}

/* I1 per physical GPU: all that run on it, whoever holds it. */
static void check_gpu(struct cluster *c, const char *uuid)
{
	int64_t milli = 0, mib = 0;
	for (int i = 0; i < PODS_MAX; i++) {
		const struct obj *t = &c->pods[i];
		if (t->exists && !t->capacity && gpu_list_has(t->uuid, uuid)) {
			milli += t->milli;
			mib += t->mib;
		}
	}
	cr_assert_leq(milli, 1000, "I1: %lld milli on %s at %lld", (long long)milli, uuid,
		(long long)c->now);
	cr_assert_leq(mib, USABLE, "I1");
}

/* Each GPU that it was told is one that the capacity pod of the same place holds; all or nothing.
 */
static void check_told(struct cluster *c, const struct obj *o)
{
	struct view uuids = view_of(o->uuid), names = view_of(o->holder), uuid, name;
	uint32_t count = 0;
	while (view_next(&uuids, ',', &uuid)) {
		char holder[64];
		cr_assert(view_next(&names, ',', &name));
		snprintf(holder, sizeof holder, "%.*s", (int)name.n, name.p);
		const struct obj *h = find(c, holder);
		cr_assert(h != NULL || c->by_hand, "I8: %s runs on a GPU nobody holds", o->name);
		if (h != NULL && !c->by_hand) {
			cr_assert(view_equals(uuid, h->uuid), "I3");
			cr_assert_str_eq(o->node, h->node, "I3");
			check_gpu(c, h->uuid);
		}
		for (struct view rest = uuids, other; view_next(&rest, ',', &other);) {
			cr_assert(other.n != uuid.n || memcmp(other.p, uuid.p, uuid.n) != 0,
				"%s has one GPU twice", o->name);
		}
		count++;
	}
	cr_assert_eq(count, o->count > 1 ? (uint32_t)o->count : 1, "%s: all or nothing", o->name);
}

/* The ledger never says less than its tenants were told. */
static void check_ledger(struct cluster *c, const struct obj *h)
{
	for (uint32_t i = 0; i < h->grant_count; i++) {
		for (int k = 0; k < PODS_MAX; k++) {
			const struct obj *t = &c->pods[k];
			bool on = t->exists && !t->capacity && !t->gated &&
				  strcmp(t->uid, h->grants[i].uid) == 0 &&
				  gpu_list_has(t->uuid, h->uuid);
			cr_assert(!on || (h->grants[i].milli >= t->milli &&
						 h->grants[i].mib >= t->mib),
				"the ledger of %s says less of %s than it was told", h->name,
				t->name);
		}
	}
}

/* I1, I2, I3, I8 from the objects alone: what tenants were told, and where. */
static void check(struct cluster *c)
{
	for (int i = 0; i < PODS_MAX; i++) {
		const struct obj *o = &c->pods[i];
		if (!o->exists || o->uuid[0] == '\0') {
			continue;
		}
		if (o->capacity) {
			check_gpu(c, o->uuid);
			check_ledger(c, o);
			for (int k = 0; k < i; k++) {
				const struct obj *other = &c->pods[k];
				cr_assert(c->doubled || !other->exists || !other->capacity ||
						  strcmp(other->uuid, o->uuid) != 0,
					"I2: one capacity pod a GPU");
			}
			continue;
		}
		check_told(c, o);
	}
	cr_assert_null(world_check(engine_world(c->e)));
	cr_assert_null(engine_differs(c->e), "%s", engine_differs(c->e));
}

static void turn(struct cluster *c)
{
	deliver(c);
	engine_step(c->e, (struct engine_now){c->now, c->now}, 100000, &c->plan);
	/* The plan's memory is the engine's caller's: outcomes may come before the next step only.
	 */
	for (size_t i = 0; i < c->plan.actions.count; i++) {
		struct action a = c->plan.actions.items[i];
		apply(c, &a);
	}
	check(c);
}

static void run_for(struct cluster *c, int64_t ms)
{
	for (int64_t end = c->now + ms; c->now < end; c->now += 50) {
		turn(c);
	}
}

static void tell_node(struct cluster *c, const char *name, bool cordoned)
{
	struct node n = {.name = name,
		.ready = true,
		.unschedulable = cordoned,
		.cpu_milli = 64000,
		.mem_bytes = 1 << 30,
		.pod_slots = 110,
		.gpus = c->gpus};
	struct change set = {.type = CHANGE_SET, .kind = KIND_NODE, .node = &n};
	engine_observe(c->e, &set);
}

/* All that there is, to an engine that knows nothing. */
static void tell_cluster(struct cluster *c)
{
	tell_sync(c->e);
	char name[16];
	for (int i = 0; i < c->nodes; i++) {
		snprintf(name, sizeof name, "n%d", i);
		tell_node(c, name, false);
	}
	c->head = c->tail;
	for (int i = 0; i < PODS_MAX; i++) {
		if (c->pods[i].exists) {
			observe(c, &c->pods[i]);
		}
	}
	tell_lead(c->e);
}

static void start_engine(struct cluster *c)
{
	struct engine_config cfg = {.check_every = 1};
	engine_destroy(c->e);
	c->e = engine_create(&cfg, 1);
	tell_cluster(c);
}

static struct cluster *cluster_new(int nodes, int gpus, uint64_t seed)
{
	struct cluster *c = xcalloc(1, sizeof *c);
	c->nodes = nodes;
	c->gpus = gpus;
	c->now = 1000;
	rng_seed(&c->rng, seed);
	start_engine(c);
	return c;
}

static void cluster_free(struct cluster *c)
{
	engine_destroy(c->e);
	plan_finish(&c->plan);
	free(c);
}

static inline enum share_state share_state_of(const struct engine *e, const char *uid)
{
	struct share_fate fate;
	engine_share_fate(e, uid, &fate);
	return fate.state;
}

static int placed(struct cluster *c)
{
	int n = 0;
	for (int i = 0; i < PODS_MAX; i++) {
		n += c->pods[i].exists && !c->pods[i].capacity && !c->pods[i].gated;
	}
	return n;
}

#endif
