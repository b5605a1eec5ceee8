/* One placement, or one share for a tenant that runs, that is held up until another controller
 * leads: its capacity pod is deleted by hand at once, its leader leaves, and the GPU is opened anew
 * for somebody who comes first. When it gets there at last nobody knows of it, and only the API
 * server can refuse it (C33). */
#include <string.h>

#include "cluster/machines.h"
#include "cluster/replica.h"
#include "model/names.h"
#include "objects/api_object.h"
#include "objects/trace.h"
#include "people.h"
#include "sim/scenario.h"

#define TEAM "team"
#define MIB  40000
#define LATE "/namespaces/" TEAM "/pods/tenant-0"

static const struct asking fence_script[] = {
	{1000, 1, {.name = "tenant", .share = "0.6"}},
	{0},
};

static bool fenced_pod_runs(const struct sim *s, const char *name)
{
	const struct stored *o = store_find(&s->store, RES_PODS, TEAM, name);
	return o != NULL && o->pod.phase == POD_RUNNING;
}

/* The leader is told to end, a person deletes what there is of capacity pods, others ask. */
static void meanwhile(void *data, uint64_t arg)
{
	struct sim *s = data;
	(void)arg;
	for (int i = 0; i < s->replicas; i++) {
		if (s->slots[i].leads && s->slots[i].replica != NULL) {
			replica_leave(s->slots[i].replica);
		}
	}
	for (size_t i = s->store.items.count; i-- > 0;) {
		struct stored *o = s->store.items.items[i];
		if (o->resource == RES_PODS && pod_is_capacity(&o->pod)) {
			sim_trace(s, "a person deletes %s", o->name);
			apiserver_delete_pod(s, o, 0, ACTOR_PERSON);
		}
	}
	people_ask_for(s, &(struct wanted_pod){.name = "first-0", .share = "0.6", .priority = 3});
}

/* The same, and a tool that restores Leases brings back one that nobody ever held. */
static void meanwhile_lowered(void *data, uint64_t arg)
{
	struct sim *s = data;
	meanwhile(data, arg);
	json_t *draft =
		store_draft(store_find(&s->store, RES_LEASES, NAME_NAMESPACE, NAME_CONTROLLER));
	json_object_set_new(draft, "spec", json_object());
	store_put(&s->store, RES_LEASES, draft, ACTOR_PERSON);
}

static bool is_of_the_tenant(const struct wire_request *r)
{
	size_t n = strcspn(r->path, "?"), m = strlen(LATE);
	return r->method == WIRE_PATCH && n >= m && memcmp(r->path + n - m, LATE, m) == 0;
}

static const char *hold_up(struct sim *s, void (*then)(void *data, uint64_t arg))
{
	s->tally.denied++;
	agenda_add(&s->agenda, sim_now(s) + 100, then, s, 0);
	return "LATE";
}

static void fence_begin(struct sim *s)
{
	scenario_fine_weather(s);
	s->weather.late_ms = 25000;
	s->replicas = SIM_REPLICAS;
	fleet_make(s, 1, MIB);
}

static const char *fence_fate(struct sim *s, const struct wire_request *r)
{
	return is_of_the_tenant(r) && s->tally.denied == 0 ? hold_up(s, meanwhile) : NULL;
}

static const char *lowered_fate(struct sim *s, const struct wire_request *r)
{
	return is_of_the_tenant(r) && s->tally.denied == 0 ? hold_up(s, meanwhile_lowered) : NULL;
}

/* Whoever came first runs, or the late one, if it got there in time. */
static bool fence_settled(struct sim *s, struct str *why)
{
	bool late = fenced_pod_runs(s, "tenant-0"), first = fenced_pod_runs(s, "first-0");
	if (late == first) {
		str_append_format(
			why, "%s of the late one and the first runs", late ? "each" : "none");
	}
	return late != first;
}

static const struct asking share_script[] = {
	{1000, 1, {.name = "tenant", .share = "0.3"}},
	{0},
};

/* It should have nearly all of the GPU, on which nobody else is. */
static void wish(void *data, uint64_t arg)
{
	struct sim *s = data;
	const struct stored *o = store_find(&s->store, RES_PODS, TEAM, "tenant-0");
	struct change c = {.type = CHANGE_SHARE, .milli = 900, .mem_mib = MIB / 2};
	(void)arg;
	c.uid = o != NULL ? o->uid : "";
	for (int i = 0; i < s->replicas; i++) {
		if (s->slots[i].leads && s->slots[i].replica != NULL) {
			replica_tell(s->slots[i].replica, &c);
		}
	}
}

static void share_begin(struct sim *s)
{
	fence_begin(s);
	agenda_add(&s->agenda, 20000, wish, s, 0);
}

static const char *share_fate(struct sim *s, const struct wire_request *r)
{
	bool told = is_of_the_tenant(r) && sim_now(s) >= 20000;
	return told && s->tally.denied == 0 ? hold_up(s, meanwhile) : NULL;
}

static bool share_settled(struct sim *s, struct str *why)
{
	bool both = fenced_pod_runs(s, "tenant-0") && fenced_pod_runs(s, "first-0");
	if (!both || s->tally.denied == 0) {
		str_append_format(why, "%s", both ? "no share was told" : "not both run");
	}
	return both && s->tally.denied > 0;
}

const struct sim_scenario scenarios_fence[] = {
	{"fence", "a placement arrives when another controller has given its GPU away", fence_begin,
		fence_settled, fence_fate, .script = fence_script, .trouble_ms = 60000},
	{"fence-lowered", "the same, and the number on the Lease was lowered meanwhile",
		fence_begin, fence_settled, lowered_fate, .script = fence_script,
		.trouble_ms = 60000},
	{"fence-share", "a larger share arrives when another controller has given its GPU away",
		share_begin, share_settled, share_fate, .script = share_script,
		.trouble_ms = 60000},
};
const size_t scenarios_fence_count = COUNT_OF(scenarios_fence);
