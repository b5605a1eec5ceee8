/* The named scenarios, one row each. */
#include "sim/scenario.h"

#include <stdio.h>
#include <string.h>

#include "cluster/machines.h"
#include "model/names.h"
#include "objects/dice.h"
#include "people.h"

#define ASK_MS 1000
#define MIB    40000

/* --- who asks for what --- */

static void ask_for_tenant(void *data, uint64_t number)
{
	static const char *const shares[] = {"0.5", "0.7"};
	struct sim *s = data;
	char name[32];
	snprintf(name, sizeof name, "tenant-%llu", (unsigned long long)number / 2);
	people_ask(s, name, shares[number % 2]);
}

static void ask_at_once(struct sim *s, int count, const char *share)
{
	uint64_t which = strcmp(share, "0.7") == 0 ? 1 : 0;
	for (int i = 0; i < count; i++) {
		agenda_add(&s->agenda, ASK_MS, ask_for_tenant, s, (uint64_t)i * 2 + which);
	}
}

static void take_tenant_away(void *data, uint64_t number)
{
	struct sim *s = data;
	char name[32];
	snprintf(name, sizeof name, "tenant-%llu", (unsigned long long)number);
	people_take_away(s, name);
}

/* --- what is there in the end --- */

struct census {
	int capacity, placed, gated, most_on_one, gpus_used;
};

static bool is_running_pod(const struct stored *o)
{
	return o->resource == RES_PODS && !pod_is_terminal(&o->pod);
}

static int tenants_on(const struct sim *s, const char *uuid)
{
	int n = 0;
	for (size_t i = 0; i < s->store.items.count; i++) {
		const struct stored *o = s->store.items.items[i];
		n += is_running_pod(o) && pod_is_tenant(&o->pod) &&
		     text_equals(pairs_get(&o->pod.notes, NOTE_GPU_UUID), uuid);
	}
	return n;
}

static struct census take_census(const struct sim *s)
{
	struct census c = {0};
	for (size_t i = 0; i < s->store.items.count; i++) {
		const struct stored *o = s->store.items.items[i];
		if (!is_running_pod(o)) {
			continue;
		}
		const struct gpu_identity *id = o->pod.identity;
		int on = pod_is_capacity(&o->pod) && id != NULL ? tenants_on(s, id->uuid) : 0;
		c.capacity += pod_is_capacity(&o->pod);
		c.gpus_used += on > 0;
		c.most_on_one = on > c.most_on_one ? on : c.most_on_one;
		c.gated += pod_is_tenant(&o->pod) && pod_has_gate(&o->pod, NAME_GATE);
		c.placed += pod_is_tenant(&o->pod) && pairs_get(&o->pod.notes, NOTE_GPU_UUID);
	}
	return c;
}

/* So many are placed on so many GPUs, each with its own capacity pod, and none was given back. */
static bool packing_stands(struct sim *s, struct str *why, int placed, int gpus)
{
	struct census c = take_census(s);
	const struct sim_tally *t = &s->tally;
	bool good = c.placed == placed && c.gpus_used == gpus && c.capacity == gpus &&
		    t->created == (uint64_t)gpus && t->given_back == 0;
	if (!good) {
		str_append_format(why,
			"%d placed on %d GPUs, %d at most on one, %d capacity pods of %llu made "
			"and %llu given back; not %d on %d",
			c.placed, c.gpus_used, c.most_on_one, c.capacity,
			(unsigned long long)t->created, (unsigned long long)t->given_back, placed,
			gpus);
	}
	return good;
}

/* One creation a GPU, one placement a tenant, no more grants than tenants. */
static bool writes_at_most(struct sim *s, struct str *why, uint64_t most)
{
	if (s->tally.pod_writes > most) {
		str_append_format(why, "%llu writes about pods, more than %llu",
			(unsigned long long)s->tally.pod_writes, (unsigned long long)most);
	}
	return s->tally.pod_writes <= most;
}

/* --- weather --- */

void scenario_fine_weather(struct sim *s)
{
	s->weather = (struct weather){
		.latency_ms = sim_between(s, 1, 50), .life_ms = 1000, .lasting = true};
	s->budget = 4000;
	s->idle_grace_ms = 5000;
	s->open_timeout_ms = 60000;
	s->held_ms = 10000;
}

/* --- 4 and 5: at once --- */

static void k4_begin(struct sim *s)
{
	scenario_fine_weather(s);
	fleet_make(s, 8, MIB);
	ask_at_once(s, 16, "0.5");
}

static bool k4_settled(struct sim *s, struct str *why)
{
	return packing_stands(s, why, 16, 8) && take_census(s).most_on_one == 2 &&
	       writes_at_most(s, why, 8 + 16 + 16);
}

static void k5_begin(struct sim *s)
{
	scenario_fine_weather(s);
	fleet_make(s, 4, MIB);
	fleet_make(s, 4, MIB);
	ask_at_once(s, 16, "0.7");
}

static bool k5_settled(struct sim *s, struct str *why)
{
	return packing_stands(s, why, 8, 8) && take_census(s).most_on_one == 1;
}

/* --- 6: watches late, each by itself, so that pods and nodes come out of order --- */

static void k6_begin(struct sim *s)
{
	scenario_fine_weather(s);
	s->weather.stream_lag = 1000;
	s->weather.lag_ms = 2000;
	s->weather.duplicate = 100;
	for (int i = 0; i < 4; i++) {
		fleet_make(s, 8, MIB);
	}
	ask_at_once(s, 64, "0.5");
}

static bool k6_settled(struct sim *s, struct str *why)
{
	return packing_stands(s, why, 64, 32) && take_census(s).most_on_one == 2;
}

/* --- 7: the first creation is done, and its answer lost --- */

static void k7_begin(struct sim *s)
{
	scenario_fine_weather(s);
	fleet_make(s, 2, MIB);
	ask_at_once(s, 1, "0.5");
}

static const char *k7_fate(struct sim *s, const struct wire_request *r)
{
	return r->method == WIRE_POST && s->tally.posts++ == 0 ? "LOST-ANSWER" : NULL;
}

static bool k7_settled(struct sim *s, struct str *why)
{
	return packing_stands(s, why, 1, 1);
}

/* --- 8: two that both believe that they lead, for good --- */

static void k8_begin(struct sim *s)
{
	/* Where both lead at once nobody's term is over, and no fence keeps a placement from a GPU
	 * whose capacity pod a person took away while it was under way, nor another share for one
	 * that runs from coming after the one that the other has written since. */
	s->weather.hand_delete = s->weather.snatch = s->weather.doubled = 0;
	s->weather.node_loss = s->weather.wish = 0;
	s->replicas = SIM_REPLICAS;
	fleet_init(s);
	people_start(s);
}

/* --- 9: the process ends at one of its writes, before it leaves or just after --- */

static void k9_begin(struct sim *s)
{
	scenario_fine_weather(s);
	fleet_make(s, 2, MIB);
	ask_at_once(s, 3, "0.5");
	agenda_add(&s->agenda, 40000, take_tenant_away, s, 0);
	agenda_add(&s->agenda, 60000, take_tenant_away, s, 1);
	agenda_add(&s->agenda, 60000, take_tenant_away, s, 2);
}

static const char *k9_fate(struct sim *s, const struct wire_request *r)
{
	uint64_t which = (s->config.seed - 1) / 2;
	(void)r;
	if (s->tally.pod_writes != which + 1 || s->tally.crashed) {
		return NULL;
	}
	s->tally.crashed = true;
	return s->config.seed % 2 != 0 ? "CRASH BEFORE" : "CRASH AFTER";
}

static bool k9_settled(struct sim *s, struct str *why)
{
	struct census c = take_census(s);
	if (c.capacity > 0 || c.placed > 0 || c.gated > 0) {
		str_append_text(why, "something is left");
		return false;
	}
	return true;
}

/* --- 46: an API server that does badly --- */

static void k46_begin(struct sim *s)
{
	scenario_fine_weather(s);
	struct weather *w = &s->weather;
	w->busy = w->broken = w->stream_break = 150;
	w->compaction = 200;
	w->stall = 400;
	w->server_restart = 20;
	fleet_make(s, 2, MIB);
	fleet_make(s, 2, MIB);
	ask_at_once(s, 8, "0.5");
}

static bool k46_settled(struct sim *s, struct str *why)
{
	return packing_stands(s, why, 8, 4);
}

/* --- 47: one placement is refused for good --- */

#define DENIED "/namespaces/team/pods/tenant-0"

static void k47_begin(struct sim *s)
{
	scenario_fine_weather(s);
	fleet_make(s, 2, MIB);
	ask_at_once(s, 4, "0.5");
}

static const char *k47_fate(struct sim *s, const struct wire_request *r)
{
	size_t n = strcspn(r->path, "?"), m = strlen(DENIED);
	if (r->method != WIRE_PATCH || n < m || memcmp(r->path + n - m, DENIED, m) != 0) {
		return NULL;
	}
	s->tally.denied++;
	return "403";
}

/* Half a second, doubled up to a minute: 8 within the first two, one more a minute. */
static bool k47_settled(struct sim *s, struct str *why)
{
	const struct stored *o = store_find(&s->store, RES_PODS, "team", "tenant-0");
	bool says = o != NULL && !o->pod.placed.is_true &&
		    text_equals(o->pod.placed.reason, "ApiRefused");
	struct census c = take_census(s);
	if (c.placed != 3 || !says || s->tally.denied < 5 || s->tally.denied > 16) {
		str_append_format(why, "%d others are placed, asked %llu times, it says %s",
			c.placed, (unsigned long long)s->tally.denied,
			o != NULL ? text_or(o->pod.placed.reason, "nothing") : "nothing");
		return false;
	}
	return true;
}

/* --- the rows --- */

static const struct sim_scenario scenarios[] = {
	{"k4", "16 halves at once on the 8 GPUs of one node", k4_begin, k4_settled,
		.trouble_ms = 60000},
	{"k5", "16 of 0.7 on 8 GPUs of two nodes", k5_begin, k5_settled, .trouble_ms = 60000},
	{"k6", "64 halves on the 32 GPUs of 4 nodes, every watch up to 2 s late", k6_begin,
		k6_settled, .trouble_ms = 120000},
	{"k7", "a capacity pod is made and the answer lost", k7_begin, k7_settled, k7_fate,
		.trouble_ms = 60000},
	{"k8", "two controllers that both believe that they lead", k8_begin,
		.everyone_leads = true},
	{"k9", "the controller ends at one of its writes, by the seed which", k9_begin, k9_settled,
		k9_fate, .trouble_ms = 70000},
	{"k46", "429, 500, watches that end, history that is gone", k46_begin, k46_settled,
		.trouble_ms = 120000},
	{"k47", "one placement is refused for good", k47_begin, k47_settled, k47_fate,
		.trouble_ms = 300000, .own_rest = true},
};

const struct sim_scenario *sim_scenario_at(size_t i)
{
	size_t more = i < COUNT_OF(scenarios) ? 0 : i - COUNT_OF(scenarios);
	size_t fence = more < scenarios_more_count ? 0 : more - scenarios_more_count;
	size_t roll = fence < scenarios_fence_count ? 0 : fence - scenarios_fence_count;
	return i < COUNT_OF(scenarios)	       ? &scenarios[i]
	       : more < scenarios_more_count   ? &scenarios_more[more]
	       : fence < scenarios_fence_count ? &scenarios_fence[fence]
	       : roll < scenarios_roll_count   ? &scenarios_roll[roll]
					       : NULL;
}

const struct sim_scenario *sim_scenario_find(const char *name)
{
	const struct sim_scenario *c = NULL;
	for (size_t i = 0; (c = sim_scenario_at(i)) != NULL; i++) {
		if (strcmp(c->name, name) == 0) {
			return c;
		}
	}
	return NULL;
}

const char *sim_scenario_name(const struct sim_scenario *c)
{
	return c->name;
}

const char *sim_scenario_what(const struct sim_scenario *c)
{
	return c->what;
}

/* --- how the run meets them --- */

static void script_comes(void *data, uint64_t index)
{
	struct sim *s = data;
	const struct asking *a = &s->config.scenario->script[index];
	for (int i = 0; i < a->times; i++) {
		char name[64];
		struct wanted_pod ask = a->ask;
		snprintf(name, sizeof name, "%s-%d", a->ask.name, i);
		ask.name = name;
		people_ask_for(s, &ask);
	}
}

void scenario_begin(struct sim *s)
{
	const struct sim_scenario *c = s->config.scenario;
	if (c->trouble_ms > 0) {
		s->config.trouble_ms = c->trouble_ms;
		people_prepare(s);
	}
	c->begin(s);
	for (uint64_t i = 0; c->script != NULL && c->script[i].times > 0; i++) {
		agenda_add(&s->agenda, c->script[i].at_ms, script_comes, s, i);
	}
}

const char *scenario_fate(struct sim *s, const struct wire_request *r)
{
	const struct sim_scenario *c = s->config.scenario;
	if (r->method == WIRE_GET || strstr(r->path, "/pods") == NULL) {
		return NULL;
	}
	s->tally.pod_writes += strstr(r->path, "/status") == NULL;
	return c != NULL && c->fate != NULL ? c->fate(s, r) : NULL;
}

bool scenario_settled(struct sim *s, struct str *why)
{
	const struct sim_scenario *c = s->config.scenario;
	return c == NULL || c->settled == NULL || c->settled(s, why);
}
