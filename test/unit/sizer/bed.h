/* What the tests of this room share: a world with some pods, a sizer, and an API server that does
 * what the actions say and tells it back as a watch does. */
#ifndef UNIT_SIZER_BED_H
#define UNIT_SIZER_BED_H

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/map.h"
#include "model/names.h"
#include "record/tables.h"
#include "sizer/recommendation_watch.h"
#include "sizer/sizer.h"
#include "sizer/workload_pods.h"
#include "sizer_state.h"
#include "tracking/tracking.h"

#define BED_MIB	   81920
#define BED_START  INT64_C(1790000000000)
#define MINUTE_MS  INT64_C(60000)
#define HOUR_MS	   (60 * MINUTE_MS)
#define BED_ROUND  10000
#define BED_BUDGET 1000000

struct bed_object {
	struct arena arena;
	struct recommendation r;
	bool there;
	int writes;
};

struct bed {
	struct world *world;
	struct sizer *sizer;
	struct groups *groups;
	struct around *around;
	struct podgroups *pod_groups;
	struct sizing sizing;
	struct plan plan;
	struct sizer_now now;
	struct bed_object objects[64];
	size_t count;
	uint32_t budget;
	enum policy_mode mode;
	int64_t policy_generation;
	struct rollout_kind kinds[1];
	uint32_t kind_count;
	enum isolation isolation; /* of the policy */
	struct rollout rollout;	  /* its kinds are those above */
	/* an eviction, as the API server answers it; NULL: it is done */
	void (*evict)(struct bed *b, const struct action *a, struct outcome *o);
	/* one task of a surge, done; NULL: none is asked for */
	void (*surge)(struct bed *b, const struct action *a, struct outcome *o);
	void *cluster; /* of whoever set `evict` or `surge` */
	int evictions;
	struct standing standing; /* of every owner */
	int readings;
	enum fault_kind owner_fails; /* every reading of one */
	int owner_status;
	bool unadvised; /* tenants that are made: a person asked for the share */
	size_t request_count;
	struct resize_request request;	 /* the last one */
	struct share_fate resize_status; /* of all */
	bool told_memory;		 /* tenants that are made: their framework was */
	bool fails;			 /* every write */
	bool unreadable;		 /* the checkpoint */
	int creates, statuses, events, saves, deletes;
	struct bill_config bill;
	const char *product, *price; /* of nodes */
	const char *memory, *pool;   /* the same; the latter is what pods ask for, NULL: any */
	const char *at;		     /* where pods are; NULL: "node" */
	int64_t gpus;
	const char *team; /* of pods with whole GPUs */
	bool alone;	  /* of pods: nobody controls them */
	int64_t waiting;  /* requests, told with each use */
	/* of tenants that are told next */
	int64_t oom_ms, failed_ms;
	uint32_t restarts;
	bool ready, ended, leaves; /* it has ended with an error; it is being deleted */
	bool pulls;		   /* it waits for its image */
	char started[256];	   /* what the last HealingStarted said */
	char reasons[1024];	   /* of events, each with a blank behind it */
	struct arena kept;	   /* of the last checkpoint */
	struct checkpoint checkpoint;
	int64_t checkpoint_ms;
	struct sizer_admission admission; /* after a restart */
	enum fault_kind fails_with;
	char message[256]; /* of the last event */
};

static inline void bed_world(struct bed *b, struct change *c)
{
	c->type = CHANGE_SET;
	world_apply(b->world, c);
}

static inline void bed_policy(struct bed *b)
{
	b->rollout.kinds = b->kinds;
	b->rollout.kind_count = b->kind_count;
	struct policy p = {.name = "quick",
		.uid = "p",
		.resource_version = "1",
		.generation = b->policy_generation,
		.priority = 100,
		.has_selector = true,
		.mode = b->mode,
		.rollout = b->rollout,
		.isolation = b->isolation,
		.sizing = b->sizing};
	struct change c = {.kind = KIND_POLICY, .policy = &p};
	bed_world(b, &c);
}

static inline void bed_node(struct bed *b, const char *name)
{
	struct pair labels[] = {{"nvidia.com/gpu.memory", text_or(b->memory, "81920")},
		{"nvidia.com/gpu.product", text_or(b->product, "GPU")},
		{"pool", text_or(b->pool, "")}, {"price", text_or(b->price, "")}};
	struct node n = {.name = name,
		.uid = name,
		.resource_version = "1",
		.labels = {labels, COUNT_OF(labels)},
		.gpus = b->gpus > 0 ? b->gpus : 8,
		.pod_slots = 100,
		.ready = true};
	struct change c = {.kind = KIND_NODE, .node = &n};
	bed_world(b, &c);
}

/* With a whole GPU, of the Deployment; several of them are several pods. */
static inline void bed_pod(struct bed *b, const char *deployment, const char *name, int64_t gpus)
{
	char owner[128];
	struct pair labels[] = {{"pod-template-hash", "1234abcd"}, {"team", text_or(b->team, "")}};
	struct container main = {.name = "main", .gpus = gpus};
	struct pair pool = {"pool", b->pool};
	snprintf(owner, sizeof owner, "%s-1234abcd", deployment);
	struct pod p = {.ns = "team",
		.name = name,
		.uid = name,
		.resource_version = "1",
		.node = text_or(b->at, "node"),
		.node_selector = {&pool, b->pool != NULL ? 1 : 0},
		.phase = POD_RUNNING,
		.created_ms = b->now.policy_ms,
		.labels = {labels, COUNT_OF(labels)},
		.owner = b->alone ? (struct owner){NULL, NULL, NULL, NULL}
				  : (struct owner){"apps/v1", "ReplicaSet", owner, "rs"},
		.containers = &main,
		.container_count = 1,
		.gpus = gpus};
	struct change c = {.kind = KIND_POD, .pod = &p};
	bed_world(b, &c);
}

/* A tenant of so much of one GPU, of the same. */
static inline void bed_tenant(
	struct bed *b, const char *deployment, const char *name, int64_t milli, int64_t mib)
{
	char owner[128], share[32], memory[32];
	struct pair labels[] = {{LABEL_TENANT, "true"}, {"pod-template-hash", "1234abcd"}};
	snprintf(owner, sizeof owner, "%s-1234abcd", deployment);
	snprintf(share, sizeof share, "%lld", (long long)milli);
	snprintf(memory, sizeof memory, "%lld", (long long)mib);
	/* in their order; a name that nobody knows is as good as none */
	const char *framework = b->told_memory ? NOTE_FRAMEWORK_MEMORY : NAME_GROUP "/e";
	const char *advised = b->unadvised ? NAME_GROUP "/r" : NOTE_RECOMMENDATION;
	struct pair notes[] = {{NOTE_COMPUTE_MILLI, share}, {NOTE_CONTAINER, "main"},
		{framework, "0.2"}, {NOTE_GPU_UUID, "GPU-1"}, {NOTE_MEMORY_MIB, memory},
		{advised, "deployment-web@1"}};
	struct pod p = {.ns = "team",
		.name = name,
		.uid = name,
		.resource_version = "1",
		.node = "node",
		.phase = b->ended   ? POD_FAILED
			 : b->pulls ? POD_PENDING
				    : POD_RUNNING,
		.deleting_ms = b->leaves ? b->now.policy_ms : 0,
		.created_ms = b->now.policy_ms,
		.labels = {labels, COUNT_OF(labels)},
		.notes = {notes, COUNT_OF(notes)},
		.gpu_container = "main",
		.gpu_oom_ms = b->oom_ms,
		.failed_ms = b->failed_ms,
		.restarts = b->restarts,
		.ready = b->ready,
		.owner = b->alone ? (struct owner){NULL, NULL, NULL, NULL}
				  : (struct owner){"apps/v1", "ReplicaSet", owner, "rs"}};
	struct change c = {.kind = KIND_POD, .pod = &p};
	bed_world(b, &c);
}

/* It holds that GPU. */
static inline void bed_capacity(struct bed *b, const char *name, const char *uuid)
{
	struct pair labels[] = {{LABEL_CAPACITY, "true"}};
	struct gpu_identity id = {.mem_mib = BED_MIB};
	snprintf(id.uuid, sizeof id.uuid, "%s", uuid);
	struct pod p = {.ns = NAME_NAMESPACE,
		.name = name,
		.uid = name,
		.resource_version = "1",
		.node = "node",
		.phase = POD_RUNNING,
		.labels = {labels, COUNT_OF(labels)},
		.identity = &id,
		.gpus = 1,
		.holds = true};
	struct change c = {.kind = KIND_POD, .pod = &p};
	bed_world(b, &c);
}

/* A HorizontalPodAutoscaler of that Deployment. */
static inline void bed_scaler(struct bed *b, const char *deployment, const char *metric)
{
	struct scaler s = {.kind = "HorizontalPodAutoscaler",
		.name = "scaler",
		.metrics = &metric,
		.metric_count = 1,
		.target = {"team", "apps", "Deployment", deployment}};
	struct change c = {.type = CHANGE_SET, .kind = KIND_SCALER, .scaler = &s};
	cr_assert(around_apply(b->around, &c));
}

static inline void bed_scaler_gone(struct bed *b)
{
	struct change c = {
		.type = CHANGE_GONE, .kind = KIND_SCALER, .ns = "team", .name = "scaler"};
	cr_assert(around_apply(b->around, &c));
}

static inline void bed_pod_gone(struct bed *b, const char *name)
{
	struct change c = {
		.type = CHANGE_GONE, .kind = KIND_POD, .ns = "team", .name = name, .uid = name};
	world_apply(b->world, &c);
}

/* Where windows of policies are, an hour to the east. */
static inline void bed_zone(struct bed *b)
{
	static const struct zone zone = {.from_s = 0, .until_s = INT64_MAX, .offset_s = 3600};
	cr_assert(around_zone_set(b->around, "Europe/Berlin", &zone));
}

static inline void bed_resize_status(void *data, const char *uid, struct share_fate *ret)
{
	(void)uid;
	*ret = ((struct bed *)data)->resize_status;
}

/* --- the API server --- */

static inline void bed_list(struct bed *b)
{
	struct change c = {.type = CHANGE_RELIST_BEGIN, .kind = KIND_RECOMMENDATION};
	(void)sizer_observe(b->sizer, &c);
	for (size_t i = 0; i < b->count; i++) {
		if (b->objects[i].there) {
			struct change set = {.type = CHANGE_SET,
				.kind = KIND_RECOMMENDATION,
				.recommendation = &b->objects[i].r};
			cr_assert(sizer_observe(b->sizer, &set));
		}
	}
	c.type = CHANGE_RELIST_END;
	(void)sizer_observe(b->sizer, &c);
}

static inline struct bed_object *bed_object(struct bed *b, const char *name)
{
	for (size_t i = 0; i < b->count; i++) {
		if (b->objects[i].there && text_equals(b->objects[i].r.name, name)) {
			return &b->objects[i];
		}
	}
	return NULL;
}

static inline void bed_echo(struct bed *b, struct bed_object *o)
{
	struct change c = {
		.type = CHANGE_SET, .kind = KIND_RECOMMENDATION, .recommendation = &o->r};
	cr_assert(sizer_observe(b->sizer, &c));
}

static inline void bed_remove(struct bed *b, const char *name)
{
	struct bed_object *o = bed_object(b, name);
	struct change c = {
		.type = CHANGE_GONE, .kind = KIND_RECOMMENDATION, .ns = "team", .name = name};
	o->there = false;
	(void)sizer_observe(b->sizer, &c);
}

/* As the codec writes it: whole percents and seconds. */
static inline void bed_round(struct recommendation *r)
{
	for (uint32_t i = 0; i < r->container_count; i++) {
		struct recommended_container *c = &r->containers[i];
		if (c->allocated_pods == 0) {
			c->allocated = (struct share){0, 0};
		}
		c->usage.last_sample_ms -= c->usage.last_sample_ms % 1000;
	}
	for (int i = 0; i < RECOMMENDATION_CONDITIONS; i++) {
		r->conditions[i].since_ms -= r->conditions[i].since_ms % 1000;
	}
	r->history.first_sample_ms -= r->history.first_sample_ms % 1000;
}

static inline void bed_create(struct bed *b, const struct action *a)
{
	cr_assert_null(bed_object(b, a->name));
	cr_assert_lt(b->count, COUNT_OF(b->objects));
	struct bed_object *o = &b->objects[b->count++];
	record_copy(&o->arena, &recommendation_table, a->recommendation, &o->r);
	o->r.uid = arena_printf(&o->arena, "uid-%zu", b->count);
	o->r.generation = 1;
	o->r.owned = a->owner.api_version != NULL;
	o->there = true;
	b->creates++;
}

static inline void bed_status(struct bed *b, const struct action *a)
{
	struct bed_object *o = bed_object(b, a->name);
	cr_assert_not_null(o);
	cr_assert_str_eq(a->uid, o->r.uid);
	char uid[64];
	bool owned = o->r.owned;
	snprintf(uid, sizeof uid, "%s", o->r.uid);
	arena_reset(&o->arena);
	record_copy(&o->arena, &recommendation_table, a->recommendation, &o->r);
	o->r.owned = owned;
	o->r.uid = arena_strdup(&o->arena, uid);
	bed_round(&o->r);
	o->writes++;
	b->statuses++;
}

static inline void bed_save(struct bed *b, const struct action *a, struct outcome *outcome)
{
	const struct checkpoint *c = a->checkpoint;
	b->saves++;
	if (b->fails) {
		return;
	}
	if (a->makes && b->checkpoint.name != NULL) {
		fault_set(&outcome->fault, FAULT_CONFLICT, "it is there already");
		outcome->exists = true;
		outcome->found = b->unreadable ? NULL : &b->checkpoint;
		return;
	}
	if (!a->makes && b->checkpoint.name == NULL) {
		fault_set(&outcome->fault, FAULT_NOT_FOUND, "it is not there");
		return;
	}
	arena_reset(&b->kept);
	b->checkpoint = *c;
	b->checkpoint.ns = arena_strdup(&b->kept, c->ns);
	b->checkpoint.name = arena_strdup(&b->kept, c->name);
	b->checkpoint.recommendation = arena_strdup(&b->kept, c->recommendation);
	b->checkpoint.container = arena_strdup(&b->kept, c->container);
	b->checkpoint.bytes.p =
		memcpy(arena_alloc(&b->kept, c->bytes.n + 1), c->bytes.p, c->bytes.n);
}

static inline void bed_apply(struct bed *b, const struct action *a)
{
	struct outcome outcome = {.fault.kind = b->fails ? b->fails_with : FAULT_NONE};
	cr_assert(sizer_owns(a->id));
	if (a->type == ACTION_EVENT) {
		size_t n = strlen(b->reasons);
		snprintf(b->message, sizeof b->message, "%s", a->message);
		if (text_equals(a->event_reason, "HealingStarted")) {
			snprintf(b->started, sizeof b->started, "%s", a->message);
		}
		snprintf(b->reasons + n, sizeof b->reasons - n, "%s ", a->event_reason);
		b->events++;
	} else if (a->type == ACTION_CHECKPOINT) {
		bed_save(b, a, &outcome);
	} else if (a->type == ACTION_READ_OWNER) {
		b->readings++;
		if (b->owner_fails != FAULT_NONE) {
			outcome.fault.kind = b->owner_fails;
			outcome.fault.status = b->owner_status;
		}
		outcome.standing = outcome.fault.kind != FAULT_NONE ? NULL : &b->standing;
	} else if (a->type == ACTION_SURGE) {
		cr_assert_not_null(b->surge);
		b->surge(b, a, &outcome);
	} else if (a->type == ACTION_EVICT) {
		b->evictions++;
		cr_assert_not(text_empty(a->uid));
		cr_assert(a->reason != REASON_GIVEN_BACK || !text_empty(a->resource_version),
			"who waits goes only as it was judged: it may be placed by then");
		if (b->evict != NULL) {
			b->evict(b, a, &outcome);
		}
	} else if (!b->fails && a->type == ACTION_CREATE_RECOMMENDATION) {
		bed_create(b, a);
	} else if (!b->fails && a->type == ACTION_DELETE_RECOMMENDATION) {
		cr_assert_str_eq(a->uid, bed_object(b, a->name)->r.uid);
		b->deletes++;
	} else if (!b->fails) {
		bed_status(b, a);
	}
	char name[64];
	snprintf(name, sizeof name, "%s", text_or(a->name, ""));
	sizer_settle(b->sizer, b->now, a->id, &outcome);
	struct bed_object *o = bed_object(b, name);
	if (o != NULL && a->type == ACTION_DELETE_RECOMMENDATION && !b->fails) {
		bed_remove(b, name);
	} else if (o != NULL && (a->type == ACTION_CREATE_RECOMMENDATION ||
					a->type == ACTION_RECOMMENDATION_STATUS)) {
		bed_echo(b, o);
	}
}

/* --- time --- */

/* One step, and what it asks for. */
static inline void bed_step(struct bed *b)
{
	sizer_step(b->sizer, b->now, b->world, b->budget, &b->plan);
	size_t count = 0;
	const struct resize_request *resize_requests = sizer_resize_requests(b->sizer, &count);
	b->request_count += count;
	if (count > 0) {
		b->request = resize_requests[count - 1];
	}
	for (size_t i = 0; i < b->plan.actions.count; i++) {
		bed_apply(b, &b->plan.actions.items[i]);
	}
}

static inline void bed_pass(struct bed *b, int64_t ms)
{
	b->now.mono_ms += ms;
	b->now.policy_ms += ms;
	b->now.wall_ms += ms;
}

/* Until the next round has ended. */
static inline void bed_turn(struct bed *b)
{
	struct sizer_totals before, after;
	sizer_sum(b->sizer, &before);
	bed_pass(b, BED_ROUND);
	for (int i = 0; i < 100000; i++) {
		bed_step(b);
		sizer_sum(b->sizer, &after);
		if (after.rounds > before.rounds) {
			return;
		}
		if (!b->plan.unfinished) {
			bed_pass(b, 100);
		}
	}
	cr_assert_fail("the round does not end");
}

static inline bool bed_use(struct bed *b, const char *pod, int percent, int64_t mib)
{
	struct metered_figure f = {.container = "main",
		.compute = percent * (METERED_FULL / 100),
		.mem_bytes = mib << 20,
		.at_ms = b->now.policy_ms};
	struct app_gauges app = app_gauges_none();
	app.waiting = b->waiting;
	struct sizer_use use = {
		.uid = pod, .source = METERED_AGENT, .figures = &f, .figure_count = 1, .app = &app};
	return sizer_take(b->sizer, &use, b->now.policy_ms);
}

/* For so many minutes a pod uses that, told each half of one. */
static inline void bed_run(struct bed *b, const char *pod, int percent, int64_t mib, int minutes)
{
	for (int i = 0; i < minutes * 2; i++) {
		if (pod != NULL) {
			cr_assert(bed_use(b, pod, percent, mib));
		}
		bed_pass(b, 30000 - BED_ROUND);
		bed_turn(b);
	}
}

static inline struct bed *bed_new(void)
{
	static const struct sizing sizing = SIZING_DEFAULT;
	struct bed *b = xcalloc(1, sizeof *b);
	b->world = world_create();
	b->groups = groups_create();
	b->around = around_create();
	b->pod_groups = podgroups_create();
	b->sizing = sizing;
	b->sizing.window_s = 7200;
	b->sizing.required_s = 1800;
	b->sizing.scale_down_delay_s = 600;
	b->sizing.half_life_s = 3600;
	b->policy_generation = 1;
	b->standing = (struct standing){.exists = true, .wanted = -1};
	b->budget = BED_BUDGET;
	b->fails_with = FAULT_TRANSIENT;
	b->waiting = METERED_ABSENT;
	b->now = (struct sizer_now){1000, BED_START, BED_START};
	struct sizer_config config = {.groups = b->groups,
		.engine = {b, bed_resize_status},
		.bill = b->bill,
		.around = b->around,
		.pod_groups = b->pod_groups,
		.round_ms = BED_ROUND,
		.checkpoint_ms = b->checkpoint_ms};
	b->sizer = sizer_create(&config);
	bed_node(b, "node");
	bed_policy(b);
	bed_list(b);
	return b;
}

/* The process ends and another one starts; what the API server has is there. */
static inline void bed_restart(struct bed *b)
{
	struct sizer_config config = {.groups = b->groups,
		.admission = b->admission,
		.engine = {b, bed_resize_status},
		.bill = b->bill,
		.around = b->around,
		.pod_groups = b->pod_groups,
		.round_ms = BED_ROUND,
		.checkpoint_ms = b->checkpoint_ms};
	sizer_destroy(b->sizer);
	b->sizer = sizer_create(&config);
	bed_list(b);
}

static inline void bed_free(struct bed *b)
{
	sizer_destroy(b->sizer);
	groups_destroy(b->groups);
	around_destroy(b->around);
	podgroups_destroy(b->pod_groups);
	world_destroy(b->world);
	plan_finish(&b->plan);
	arena_finish(&b->kept);
	for (size_t i = 0; i < b->count; i++) {
		arena_finish(&b->objects[i].arena);
	}
	free(b);
}

static inline const struct recommendation *bed_told(struct bed *b, const char *name)
{
	struct bed_object *o = bed_object(b, name);
	cr_assert_not_null(o, "%s is not there", name);
	return &o->r;
}

static inline const char *bed_reason(
	struct bed *b, const char *name, enum recommendation_condition type)
{
	return text_or(bed_told(b, name)->conditions[type].reason, "absent");
}

#endif
