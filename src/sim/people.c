/* What people do: tenants as the webhook leaves them, whole-GPU pods, deletions by hand, notes on
 * pods, nodes that are cordoned, lost and added. Names are used again, so that a pod may come back
 * as another. */
#include <stdio.h>
#include <string.h>

#include "model/names.h"
#include "sim_parts.h"

#define TEAM	   "team"
#define NAMES	   30
#define PODS_MOST  48
#define GATED_MOST 10

static bool free_name(struct sim *s, const char *prefix, char *name, size_t room)
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

static void create_tenant(struct sim *s)
{
	static const char *const shares[] = {
		"0.1", "0.2", "0.25", "0.3", "0.5", "0.5", "0.6", "0.9"};
	static const char *const memories[] = {
		"1Gi", "2Gi", "4Gi", "6Gi", "8Gi", "12Gi", "14Gi", "30Gi"};
	static const char *const cpus[] = {"50m", "100m", "500m", "1500m"};
	char name[64];
	if (!free_name(s, "tenant", name, sizeof name)) {
		return;
	}
	json_t *notes = json_pack("{s:s, s:s}", NOTE_ORIGINAL,
		"{\"v\":1,\"gpu\":{\"limits\":{\"nvidia.com/gpu\":\"1\"}}}", NOTE_CONTAINER,
		"main");
	bool by_memory = sim_chance(s, 150);
	if (!by_memory) {
		json_object_set_new(notes, NOTE_SHARE, json_string(shares[sim_between(s, 0, 7)]));
	}
	if (by_memory || sim_chance(s, 200)) {
		json_object_set_new(
			notes, NOTE_MEMORY, json_string(memories[sim_between(s, 0, 7)]));
	}
	json_t *value = pod_value(name, json_pack("{s:s}", LABEL_TENANT, "true"), notes,
		json_pack("{s:s, s:s}", "cpu", cpus[sim_between(s, 0, 3)], "memory", "512Mi"));
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

static void create_whole(struct sim *s)
{
	char name[64], gpus[4];
	if (!free_name(s, "whole", name, sizeof name)) {
		return;
	}
	snprintf(gpus, sizeof gpus, "%lld", (long long)sim_between(s, 1, 2));
	store_put(&s->store, RES_PODS,
		pod_value(name, json_object(), json_object(),
			json_pack("{s:s, s:s, s:s}", "cpu", "100m", "memory", "512Mi",
				NAME_GPU_RESOURCE, gpus)),
		ACTOR_PERSON);
}

typedef bool (*wanted)(const struct stored *o);

static bool is_work(const struct stored *o)
{
	return o->resource == RES_PODS && !pod_is_capacity(&o->pod);
}

static bool is_over(const struct stored *o)
{
	return is_work(o) && pod_is_terminal(&o->pod);
}

static bool is_capacity(const struct stored *o)
{
	return o->resource == RES_PODS && pod_is_capacity(&o->pod);
}

static bool is_pod(const struct stored *o)
{
	return o->resource == RES_PODS;
}

static bool is_foreign_gated(const struct stored *o)
{
	return is_work(o) && pod_has_gate(&o->pod, "example.com/quota");
}

static bool is_node(const struct stored *o)
{
	return o->resource == RES_NODES;
}

static bool is_gated(const struct stored *o)
{
	return is_work(o) && pod_has_gate(&o->pod, NAME_GATE);
}

static bool is_running(const struct stored *o)
{
	return is_work(o) && o->pod.phase == POD_RUNNING;
}

static int64_t count(const struct sim *s, wanted want)
{
	int64_t n = 0;
	for (size_t i = 0; i < s->store.items.count; i++) {
		n += want(s->store.items.items[i]);
	}
	return n;
}

static struct stored *pick(struct sim *s, wanted want)
{
	int64_t n = count(s, want);
	int64_t left = n > 0 ? sim_between(s, 0, n - 1) : -1;
	for (size_t i = 0; i < s->store.items.count && left >= 0; i++) {
		if (want(s->store.items.items[i]) && left-- == 0) {
			return s->store.items.items[i];
		}
	}
	return NULL;
}

static void delete_one(struct sim *s, wanted want)
{
	struct stored *o = pick(s, want);
	if (o != NULL) {
		int64_t grace = sim_chance(s, 200) ? 0 : sim_between(s, 1, 30);
		sim_trace(s, "a person deletes %s/%s with a grace of %lld s", o->ns, o->name,
			(long long)grace);
		apiserver_delete_pod(s, o, grace, ACTOR_PERSON);
	}
}

static void annotate(struct sim *s)
{
	struct stored *o = pick(s, is_pod);
	if (o != NULL) {
		char text[24];
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
	struct stored *o = pick(s, is_foreign_gated);
	if (o != NULL) {
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
	struct stored *o = pick(s, is_node);
	if (o != NULL) {
		json_t *draft = store_draft(o);
		json_t *spec = json_object_get(draft, "spec");
		bool was = json_is_true(json_object_get(spec, "unschedulable"));
		json_object_set_new(spec, "unschedulable", json_boolean(!was));
		store_put(&s->store, RES_NODES, draft, ACTOR_PERSON);
	}
}

static void change_nodes(struct sim *s)
{
	const struct weather *w = &s->weather;
	if (sim_chance(s, w->cordon)) {
		cordon(s);
	}
	if (sim_chance(s, w->node_loss)) {
		struct stored *o = pick(s, is_node);
		struct machine *m = o != NULL ? fleet_find(s, o->name) : NULL;
		if (m != NULL && m->up) {
			fleet_lose(s, m, sim_chance(s, 300));
		}
	}
	if (sim_chance(s, w->node_change) && s->fleet.machines.count < 8) {
		fleet_add(s);
	}
	if (sim_chance(s, w->hand_delete)) {
		delete_one(s, is_capacity);
	}
}

/* Where much waits already, work is taken away rather than added: a full cluster moves little. */
static bool is_full(struct sim *s)
{
	return count(s, is_pod) >= PODS_MOST || count(s, is_gated) >= GATED_MOST;
}

static void act_once(struct sim *s)
{
	if (is_full(s)) {
		delete_one(s, sim_chance(s, 500) ? is_running : is_gated);
		change_nodes(s);
		return;
	}
	int64_t what = sim_between(s, 0, 99);
	if (what < 54) {
		sim_chance(s, s->weather.whole) ? create_whole(s) : create_tenant(s);
	} else if (what < 70) {
		delete_one(s, is_work);
	} else if (what < 85) {
		delete_one(s, is_over);
	} else if (what < 92) {
		annotate(s);
	} else if (what < 95) {
		open_foreign_gate(s);
	} else {
		for (int64_t i = sim_between(s, 3, 16); i > 0; i--) {
			create_tenant(s);
		}
	}
	change_nodes(s);
}

static void work(void *data, uint64_t arg)
{
	struct sim *s = data;
	if (!s->calm) {
		act_once(s);
		agenda_add(&s->agenda, sim_now(s) + sim_between(s, 50, s->weather.pace_ms), work, s,
			arg);
	}
}

static void snatch(void *data, uint64_t serial)
{
	struct sim *s = data;
	char uid[32];
	snprintf(uid, sizeof uid, "uid-%06llu", (unsigned long long)serial);
	struct stored *o = store_find_uid(&s->store, uid);
	if (o != NULL) {
		sim_trace(s, "a person snatches %s away", o->name);
		apiserver_delete_pod(s, o, sim_between(s, 0, 2), ACTOR_PERSON);
	}
}

void people_snatch(struct sim *s, const char *capacity_pod)
{
	struct stored *o = store_find(&s->store, RES_PODS, NAME_NAMESPACE, capacity_pod);
	int64_t serial = 0;
	if (o != NULL && parse_i64(view_of(o->uid + 4), 0, INT64_MAX, &serial)) {
		agenda_add(&s->agenda, sim_now(s) + sim_between(s, 0, 3000), snatch, s,
			(uint64_t)serial);
	}
}

void people_start(struct sim *s)
{
	store_put(&s->store, RES_NAMESPACES,
		json_pack("{s:{s:s}, s:{s:s}}", "metadata", "name", TEAM, "status", "phase",
			"Active"),
		ACTOR_CLUSTER);
	store_put(&s->store, RES_LEASES,
		json_pack("{s:{s:s, s:s}, s:{}}", "metadata", "namespace", NAME_NAMESPACE, "name",
			NAME_CONTROLLER, "spec"),
		ACTOR_CLUSTER);
	agenda_add(&s->agenda, sim_now(s) + sim_between(s, 0, 5000), work, s, 0);
}
