/* What people do: tenants as the webhook leaves them, whole-GPU pods, deletions by hand, notes on
 * pods, nodes that are cordoned, lost and added. Names are used again, so that a pod may come back
 * as another. */
#include <stdio.h>
#include <string.h>

#include "checks/eviction.h"
#include "checks/prober.h"
#include "claims/isolation_rules.h"
#include "claims/sharing_rules.h"
#include "cluster/appetite.h"
#include "cluster/machines.h"
#include "crowd.h"
#include "model/names.h"
#include "objects/api_object.h"
#include "objects/dice.h"
#include "objects/machine_find.h"
#include "objects/patch.h"
#include "objects/trace.h"
#include "wish.h"

#define TEAM	   "team"
#define ORIGINAL   "{\"v\":1,\"gpu\":{\"limits\":{\"nvidia.com/gpu\":\"1\"}}}"
#define NAMES	   30
#define PODS_MOST  48
#define GATED_MOST 10

static bool unused_name(struct sim *s, const char *prefix, char *name, size_t room)
{
	snprintf(name, room, "%s-%lld", prefix, (long long)sim_between(s, 0, NAMES - 1));
	return store_find(&s->store, RES_PODS, TEAM, name) == NULL;
}

static json_t *pod_value(const char *name, json_t *labels, json_t *notes, json_t *requests)
{
	return json_pack("{s:s, s:s, s:{s:s, s:s, s:o, s:o},"
			 " s:{s:s, s:i, s:[{s:s, s:s, s:{s:o}}]}, s:{s:s}}",
		"apiVersion", "v1", "kind", "Pod", "metadata", "name", name, "namespace", TEAM,
		"labels", labels, "annotations", notes, "spec", "schedulerName",
		"default-scheduler", "priority", 0, "containers", "name", "main", "image", "work",
		"resources", "requests", requests, "status", "phase", "Pending");
}

/* Some name the zones they may go to, in alternatives: each must get the pin. */
static json_t *affinity(struct sim *s)
{
	json_t *terms = json_array();
	const char *zones[] = {"a", "b"};
	for (int64_t i = sim_between(s, 1, 2); i > 0; i--) {
		json_array_append_new(
			terms, json_pack("{s:[{s:s, s:s, s:[s]}]}", "matchExpressions", "key",
				       "zone", "operator", "In", "values", zones[i - 1]));
	}
	return json_pack("{s:{s:{s:o}}}", "nodeAffinity",
		"requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms", terms);
}

/* What an eviction depends on: a priority, an app with its budget, an owner who makes it anew. */
static void add_rank(struct sim *s, json_t *value)
{
	char app[] = {(char)('a' + sim_between(s, 0, SIM_APPS - 1)), '\0'};
	json_t *meta = json_object_get(value, "metadata");
	json_object_set_new(json_object_get(meta, "labels"), "app", json_string(app));
	json_object_set_new(json_object_get(value, "spec"), "priority",
		json_integer(sim_chance(s, 500) ? 0 : sim_between(s, 0, s->ranks - 1)));
	if (sim_chance(s, 600)) {
		json_object_set_new(meta, "ownerReferences",
			json_pack("[{s:s, s:s, s:s, s:s, s:b}]", "apiVersion", "apps/v1", "kind",
				"ReplicaSet", "name", app, "uid", app, "controller", 1));
	}
}

/* Some pods may run for so long only, which is what scopes of quotas go by. */
static bool set_deadline(struct sim *s, json_t *value)
{
	const char *name =
		json_string_value(json_object_get(json_object_get(value, "metadata"), "name"));
	struct dice back = dice_enter(s, dice_next(s, "deadline", name, 0));
	bool has = s->weather.quota > 0 && sim_chance(s, 300);
	if (has) {
		json_object_set_new(json_object_get(value, "spec"), "activeDeadlineSeconds",
			json_integer(86400));
	}
	dice_leave(s, back);
	return has;
}

/* Where machines are large, up to all of one. */
static json_t *several(struct sim *s)
{
	char count[8];
	int64_t most = sim_chance(s, 300) ? s->weather.wide : 4;
	snprintf(count, sizeof count, "%lld", (long long)sim_between(s, 2, most));
	return json_string(count);
}

void people_create_tenant(struct sim *s)
{
	static const char *const shares[] = {
		"0.1", "0.2", "0.25", "0.3", "0.5", "0.5", "0.6", "0.9"};
	static const char *const memories[] = {
		"1Gi", "2Gi", "4Gi", "6Gi", "8Gi", "12Gi", "14Gi", "30Gi"};
	static const char *const cpus[] = {"50m", "100m", "500m", "1500m"};
	char name[64];
	if (!dice_falls(s, "tenant", 1000) || !unused_name(s, "tenant", name, sizeof name)) {
		return;
	}
	dice_say(s, "a person creates %s", name);
	json_t *notes = json_pack("{s:s, s:s}", NOTE_ORIGINAL, ORIGINAL, NOTE_CONTAINER, "main");
	bool by_memory = sim_chance(s, 150);
	if (!by_memory) {
		json_object_set_new(notes, NOTE_SHARE, json_string(shares[sim_between(s, 0, 7)]));
	}
	if (by_memory || sim_chance(s, 200)) {
		json_object_set_new(
			notes, NOTE_MEMORY, json_string(memories[sim_between(s, 0, 7)]));
	}
	if (sim_chance(s, s->weather.grouped)) {
		const char *count = sim_chance(s, 700) ? "2" : "3";
		json_object_set_new(notes, NOTE_GPU_COUNT,
			s->weather.wide > 0 ? several(s) : json_string(count));
	}
	json_t *value = pod_value(name, json_pack("{s:s}", LABEL_TENANT, "true"), notes,
		json_pack("{s:s, s:s}", "cpu", cpus[sim_between(s, 0, 3)], "memory", "512Mi"));
	add_rank(s, value);
	(void)set_deadline(s, value);
	company_ask(s, value);
	modes_ask(s, value);
	appetite_ask(s, value);
	prober_ask(s, value);
	json_t *spec = json_object_get(value, "spec");
	json_t *gates = json_pack("[{s:s}]", "name", NAME_GATE);
	if (sim_chance(s, 50)) {
		json_array_append_new(gates, json_pack("{s:s}", "name", "example.com/quota"));
	}
	json_object_set_new(spec, "schedulingGates", gates);
	if (sim_chance(s, 150)) {
		json_object_set_new(spec, "affinity", affinity(s));
	}
	s->report->tenants++;
	store_put(&s->store, RES_PODS, value, ACTOR_PERSON);
}

/* The API server's own charge: whole GPUs, when their pod is made. */
static bool is_charged(const struct sim *s, int64_t gpus, const struct quota_subject *subject)
{
	int64_t whole = 0;
	const struct stored *q = store_find(&s->store, RES_QUOTAS, TEAM, "gpus");
	if (q == NULL || !quota_covers(&q->quota, subject)) {
		return true;
	}
	for (size_t i = 0; i < s->store.items.count; i++) {
		const struct stored *o = s->store.items.items[i];
		struct quota_subject other = quota_subject_of(&o->pod);
		bool counts = o->resource == RES_PODS && !pod_is_terminal(&o->pod) &&
			      strcmp(o->ns, TEAM) == 0 && quota_covers(&q->quota, &other);
		whole += counts ? o->pod.gpus * MODEL_GPU_MILLI : 0;
	}
	return whole + gpus * MODEL_GPU_MILLI <= q->quota.hard_milli;
}

/* Scopes are for good, as long as there is one of that name. */
static json_t *scopes_of(struct sim *s, const struct stored *had)
{
	static const char *const names[] = {"NotTerminating", "Terminating"};
	if (had != NULL) {
		const json_t *spec = json_object_get(had->value, "spec");
		json_t *scopes = json_object_get(spec, "scopes");
		return scopes != NULL ? json_deep_copy(scopes) : json_array();
	}
	return sim_chance(s, 400) ? json_pack("[s]", names[sim_between(s, 0, 1)]) : json_array();
}

/* Made, changed, taken away. */
static void change_quota(struct sim *s)
{
	static const char *const hards[] = {"1", "2", "3", "5"};
	struct stored *o = store_find(&s->store, RES_QUOTAS, TEAM, "gpus");
	if (o != NULL && sim_chance(s, 400)) {
		dice_say(s, "a person takes the quota away");
		store_remove(&s->store, o, ACTOR_PERSON);
		return;
	}
	const char *hard = hards[sim_between(s, 0, 3)];
	dice_say(s, "a person sets a quota of %s GPUs", hard);
	store_put(&s->store, RES_QUOTAS,
		json_pack("{s:s, s:s, s:{s:s, s:s}, s:{s:{s:s}, s:o}}", "apiVersion", "v1", "kind",
			"ResourceQuota", "metadata", "name", "gpus", "namespace", TEAM, "spec",
			"hard", "requests.nvidia.com/gpu", hard, "scopes", scopes_of(s, o)),
		ACTOR_PERSON);
}

static void create_whole(struct sim *s)
{
	char name[64], gpus[4];
	if (!dice_falls(s, "whole pod", 1000) || !unused_name(s, "whole", name, sizeof name)) {
		return;
	}
	dice_say(s, "a person creates %s", name);
	int64_t number = sim_between(s, 1, s->weather.wide > 0 ? 4 : 2);
	snprintf(gpus, sizeof gpus, "%lld", (long long)number);
	json_t *value = pod_value(name, json_object(), json_object(),
		json_pack("{s:s, s:s, s:s}", "cpu", "100m", "memory", "512Mi", NAME_GPU_RESOURCE,
			gpus));
	bool haughty = sim_chance(s, s->weather.haughty);
	if (haughty || sim_chance(s, 300)) {
		json_object_set_new(json_object_get(value, "spec"), "priority",
			json_integer(sim_between(s, 0, haughty ? SIM_RANKS : s->ranks - 1)));
	}
	struct quota_subject subject = {.has_deadline = set_deadline(s, value)};
	if (!is_charged(s, number, &subject)) {
		json_decref(value);
		return;
	}
	store_put(&s->store, RES_PODS, value, ACTOR_PERSON);
}

typedef bool (*wanted)(const struct stored *o);

static bool is_workload(const struct stored *o)
{
	return o->resource == RES_PODS && !pod_is_capacity(&o->pod);
}

static bool is_ended_workload(const struct stored *o)
{
	return is_workload(o) && pod_is_terminal(&o->pod);
}

static bool is_capacity(const struct stored *o)
{
	return o->resource == RES_PODS && pod_is_capacity(&o->pod);
}

static bool is_foreign_gated(const struct stored *o)
{
	return is_workload(o) && pod_has_gate(&o->pod, "example.com/quota");
}

static bool is_node(const struct stored *o)
{
	return o->resource == RES_NODES;
}

static bool is_gated_workload(const struct stored *o)
{
	return is_workload(o) && pod_has_gate(&o->pod, NAME_GATE);
}

static bool is_running(const struct stored *o)
{
	return is_workload(o) && o->pod.phase == POD_RUNNING;
}

static int64_t count_wanted(const struct sim *s, wanted want)
{
	int64_t n = 0;
	for (size_t i = 0; i < s->store.items.count; i++) {
		n += want(s->store.items.items[i]);
	}
	return n;
}

/* By lot among those there are: the lowest number wins, so that one more or less of the others
 * seldom changes who it is. */
static struct stored *pick_wanted(struct sim *s, wanted want)
{
	struct stored *best = NULL;
	uint64_t lowest = UINT64_MAX;
	for (size_t i = 0; i < s->store.items.count; i++) {
		struct stored *o = s->store.items.items[i];
		uint64_t lot = dice_key("lot", o->name, s->scope);
		if (want(o) && lot <= lowest) {
			lowest = lot;
			best = o;
		}
	}
	return best;
}

static void delete_wanted(struct sim *s, wanted want)
{
	struct stored *o = pick_wanted(s, want);
	if (o != NULL && dice_falls(s, "deletion", 1000)) {
		int64_t grace = sim_chance(s, 200) ? 0 : sim_between(s, 1, 30);
		dice_say(s, "a person deletes %s/%s with a grace of %lld s", o->ns, o->name,
			(long long)grace);
		sim_trace(s, "a person deletes %s/%s with a grace of %lld s", o->ns, o->name,
			(long long)grace);
		apiserver_delete_pod(s, o, grace, ACTOR_PERSON);
	}
}

/* By hand, or as something that drains a node does; then its tenants go too. */
static void end_capacity(struct sim *s)
{
	struct stored *o = sim_chance(s, 400) ? pick_wanted(s, is_capacity) : NULL;
	if (o == NULL) {
		delete_wanted(s, is_capacity);
		return;
	}
	struct api_answer answer = {0};
	json_t *body = json_object();
	dice_say(s, "a person evicts %s", o->name);
	sim_trace(s, "a person evicts %s", o->name);
	apiserver_evict(s, ACTOR_PERSON, o, body, &answer);
	free(answer.body);
	json_decref(body);
}

static void annotate(struct sim *s)
{
	struct stored *o = pick_wanted(s, stored_is_pod);
	if (o != NULL && dice_falls(s, "note", 1000)) {
		char text[24];
		dice_say(s, "a person writes a note on %s", o->name);
		json_t *draft = store_draft(o);
		snprintf(text, sizeof text, "%lld", (long long)sim_now(s));
		json_t *note = json_pack(
			"{s:{s:{s:s}}}", "metadata", "annotations", "example.com/note", text);
		patch_merge(draft, note);
		json_decref(note);
		store_put(&s->store, RES_PODS, draft, ACTOR_PERSON);
	}
}

/* Another controller lets its pod go. */
static void open_foreign_gate(struct sim *s)
{
	struct stored *o = pick_wanted(s, is_foreign_gated);
	if (o != NULL && dice_falls(s, "foreign gate", 1000)) {
		dice_say(s, "somebody else's gate of %s goes", o->name);
		json_t *draft = store_draft(o);
		json_t *gates = json_object_get(json_object_get(draft, "spec"), "schedulingGates");
		for (size_t i = json_array_size(gates); i-- > 0;) {
			const char *name = json_string_value(
				json_object_get(json_array_get(gates, i), "name"));
			if (!text_equals(name, NAME_GATE)) {
				json_array_remove(gates, i);
			}
		}
		store_put(&s->store, RES_PODS, draft, ACTOR_PERSON);
	}
}

static void cordon(struct sim *s)
{
	struct stored *o = pick_wanted(s, is_node);
	if (o != NULL) {
		dice_say(s, "%s is cordoned, or no longer", o->name);
		json_t *draft = store_draft(o);
		json_t *spec = json_object_get(draft, "spec");
		bool was = json_is_true(json_object_get(spec, "unschedulable"));
		json_object_set_new(spec, "unschedulable", json_boolean(!was));
		store_put(&s->store, RES_NODES, draft, ACTOR_PERSON);
	}
}

static void end_upgrade(void *data, uint64_t index)
{
	struct sim *s = data;
	fleet_upgrade(s, &s->fleet.machines.items[index], false);
}

static void begin_upgrade(struct sim *s)
{
	struct stored *o = pick_wanted(s, is_node);
	struct machine *m = o != NULL ? fleet_find(s, o->name) : NULL;
	if (m != NULL) {
		fleet_upgrade(s, m, true);
		agenda_add(&s->agenda, sim_now(s) + sim_between(s, 2000, 60000), end_upgrade, s,
			(uint64_t)(m - s->fleet.machines.items));
	}
}

static void set_budgets(struct sim *s)
{
	for (int i = 0; i < SIM_APPS; i++) {
		s->budgets[i] = sim_chance(s, 400) ? 0 : sim_between(s, 1, 4);
	}
}

static void change_nodes(struct sim *s)
{
	const struct weather *w = &s->weather;
	if (dice_falls(s, "cordon", w->cordon)) {
		cordon(s);
	}
	if (dice_falls(s, "node loss", w->node_loss)) {
		struct stored *o = pick_wanted(s, is_node);
		struct machine *m = o != NULL ? fleet_find(s, o->name) : NULL;
		if (m != NULL && m->up) {
			dice_say(s, "%s is lost", m->name);
			fleet_lose(s, m, sim_chance(s, 300));
		}
	}
	if (s->fleet.machines.count < 8 && dice_falls(s, "new node", w->node_change)) {
		dice_say(s, "a node is added");
		fleet_add(s);
	}
	if (dice_falls(s, "quota", w->quota)) {
		change_quota(s);
	}
	if (dice_falls(s, "upgrade", w->upgrade)) {
		begin_upgrade(s);
	}
	if (dice_falls(s, "budget", 10)) {
		set_budgets(s);
	}
	if (sim_chance(s, w->hand_delete)) {
		struct dice back = dice_enter(s, s->scope + 1);
		end_capacity(s);
		dice_leave(s, back);
	}
}

/* Where much waits already, work is taken away rather than added: a full cluster moves little. */
static bool cluster_is_full(struct sim *s)
{
	return count_wanted(s, stored_is_pod) >= PODS_MOST ||
	       count_wanted(s, is_gated_workload) >= GATED_MOST;
}

static void act_once(struct sim *s)
{
	if (cluster_is_full(s)) {
		delete_wanted(s, sim_chance(s, 500) ? is_running : is_gated_workload);
		change_nodes(s);
		return;
	}
	int64_t what = sim_between(s, 0, 99);
	if (what < 54) {
		sim_chance(s, s->weather.whole) ? create_whole(s) : people_create_tenant(s);
	} else if (what < 70) {
		delete_wanted(s, is_workload);
	} else if (what < 85) {
		delete_wanted(s, is_ended_workload);
	} else if (what < 92) {
		annotate(s);
	} else if (what < 95) {
		open_foreign_gate(s);
	} else {
		for (int64_t i = sim_between(s, 3, 16); i > 0; i--) {
			struct dice back =
				dice_enter(s, dice_key("burst", NULL, s->scope + (uint64_t)i));
			people_create_tenant(s);
			dice_leave(s, back);
		}
	}
	change_nodes(s);
}

static void work(void *data, uint64_t turn)
{
	struct sim *s = data;
	if (s->calm) {
		return;
	}
	struct dice back = dice_enter(s, dice_key("work", NULL, turn));
	int64_t rest = sim_between(s, 50, s->weather.pace_ms);
	act_once(s);
	dice_leave(s, back);
	agenda_add(&s->agenda, sim_now(s) + rest, work, s, turn + 1);
}

static json_t *asked_tenant(const struct wanted_pod *a)
{
	json_t *notes = json_pack("{s:s, s:s}", NOTE_ORIGINAL, ORIGINAL, NOTE_CONTAINER, "main");
	json_t *labels = json_pack("{s:s}", LABEL_TENANT, "true");
	if (a->share != NULL) {
		json_object_set_new(notes, NOTE_SHARE, json_string(a->share));
	}
	if (a->memory != NULL) {
		json_object_set_new(notes, NOTE_MEMORY, json_string(a->memory));
	}
	if (a->count != NULL) {
		json_object_set_new(notes, NOTE_GPU_COUNT, json_string(a->count));
	}
	if (a->app != NULL) {
		json_object_set_new(labels, "app", json_string(a->app));
	}
	json_t *value = pod_value(
		a->name, labels, notes, json_pack("{s:s, s:s}", "cpu", "100m", "memory", "512Mi"));
	json_object_set_new(json_object_get(value, "spec"), "schedulingGates",
		json_pack("[{s:s}]", "name", NAME_GATE));
	return value;
}

static json_t *asked_whole(const struct wanted_pod *a)
{
	json_t *labels = a->lasting ? json_pack("{s:s}", "lasting", "true") : json_object();
	return pod_value(a->name, labels, json_object(),
		json_pack("{s:s, s:s, s:s}", "cpu", "100m", "memory", "512Mi", NAME_GPU_RESOURCE,
			a->gpus));
}

void people_ask_for(struct sim *s, const struct wanted_pod *a)
{
	json_t *value = a->gpus != NULL ? asked_whole(a) : asked_tenant(a);
	json_object_set_new(json_object_get(value, "spec"), "priority", json_integer(a->priority));
	s->report->tenants += a->gpus == NULL;
	store_put(&s->store, RES_PODS, value, ACTOR_PERSON);
}

void people_ask(struct sim *s, const char *name, const char *share)
{
	people_ask_for(s, &(struct wanted_pod){.name = name, .share = share});
}

void people_take_away(struct sim *s, const char *name)
{
	struct stored *o = store_find(&s->store, RES_PODS, TEAM, name);
	if (o != NULL) {
		apiserver_delete_pod(s, o, 2, ACTOR_PERSON);
	}
}

void people_prepare(struct sim *s)
{
	set_budgets(s);
	/* In some runs all are equal, and nobody may go for another. */
	s->ranks = sim_between(s, 1, SIM_RANKS);
	store_put(&s->store, RES_NAMESPACES,
		json_pack("{s:{s:s}, s:{s:s}}", "metadata", "name", TEAM, "status", "phase",
			"Active"),
		ACTOR_CLUSTER);
	static const char *const leases[] = {NAME_CONTROLLER, NAME_TERM};
	for (size_t i = 0; i < COUNT_OF(leases); i++) {
		store_put(&s->store, RES_LEASES,
			json_pack("{s:{s:s, s:s}, s:{}}", "metadata", "namespace", NAME_NAMESPACE,
				"name", leases[i], "spec"),
			ACTOR_CLUSTER);
	}
}

void people_start(struct sim *s)
{
	people_prepare(s);
	company_begin(s);
	appetite_begin(s);
	wish_start(s);
	agenda_add(&s->agenda, sim_now(s) + sim_between(s, 0, 5000),
		s->weather.crowded ? crowd_work : work, s, 0);
}
