/* The run: make the cluster, let trouble have its time, then calm, and see that everything comes to
 * rest. */
#include "sim/sim.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "checks/check_end.h"
#include "claims/check_fair.h"
#include "claims/check_nearest.h"
#include "claims/check_roll.h"
#include "claims/claim.h"
#include "claims/delay.h"
#include "cluster/kubelet.h"
#include "cluster/machines.h"
#include "cluster/replica.h"
#include "cluster/scheduler.h"
#include "cluster/sets.h"
#include "network_link.h"
#include "objects/dice.h"
#include "objects/trace.h"
#include "people.h"
#include "rival.h"
#include "weather.h"

#define TROUBLE_LEAST_MS 60000
#define TROUBLE_MOST_MS	 400000
#define CALM_MS		 1800000
/* Where one waits for as long as others live. */
#define TROUBLE_CROWD_MS 400000
/* Where pods are replaced one after the other. */
#define TROUBLE_ROLLED_MS 2400000
#define CALM_ROLLED_MS	  10800000
#define LOOK_MS		  1000

static void note_lease(struct sim *s, const struct stored *o)
{
	if (strcmp(o->name, NAME_CONTROLLER) != 0) {
		return;
	}
	const json_t *spec = json_object_get(o->value, "spec");
	const char *holder = json_string_value(json_object_get(spec, "holderIdentity"));
	snprintf(s->lease_holder, sizeof s->lease_holder, "%s", text_or(holder, ""));
	s->lease_at = sim_now(s);
}

static const char *actor_name(int actor, char buffer[16])
{
	static const char *const names[] = {"?", "scheduler", "kubelet", "person", "cluster"};
	if (actor < 0) {
		return names[-actor];
	}
	snprintf(buffer, 16, "r%d", actor);
	return buffer;
}

static void trace_commit(struct sim *s, const struct commit *c, const struct stored *o)
{
	static const char *const types[] = {"ADDED", "MODIFIED", "DELETED"};
	char buffer[16];
	if (!s->config.trace || o->resource == RES_LEASES) {
		return;
	}
	sim_trace(s, "[%lld] %s by %s: %s", (long long)o->version, types[c->type],
		actor_name(c->actor, buffer), s->store.past.items[s->store.past.count - 1].text);
}

static void fleet_committed(struct sim *s, const struct commit *c)
{
	const struct stored *o = c->before != NULL ? c->before : c->after;
	if (o->resource == RES_NODES) {
		scheduler_soon(s);
		return;
	}
	if (o->resource != RES_PODS) {
		return;
	}
	bool over = c->after == NULL || pod_is_terminal(&c->after->pod);
	vec_for_each (struct machine, m, &s->fleet.machines) {
		for (int i = 0; i < m->device_count && over; i++) {
			if (text_equals(m->devices[i].holder, o->uid)) {
				m->devices[i].holder[0] = '\0';
			}
		}
	}
	scheduler_soon(s);
	kubelet_committed(s, c);
}

static void on_commit(void *data, const struct commit *c)
{
	struct sim *s = data;
	const struct stored *o = c->after != NULL ? c->after : c->before;
	trace_commit(s, c, o);
	past_note(s, c);
	if (o->resource == RES_LEASES) {
		note_lease(s, o);
	}
	check_commit(s, c);
	fleet_committed(s, c);
	rival_committed(s, c);
	if (s->weather.rolled) {
		roll_committed(s, c);
		sets_committed(s, c);
	}
	for (int i = 0; i < s->replicas; i++) {
		link_changed(&s->slots[i].link, o->resource);
	}
}

static void set_up(struct sim *s)
{
	dice_init(s);
	store_init(&s->store, &s->agenda, on_commit, s);
	weather_draw(s);
	nearest_begin(s);
	s->replicas = (int)sim_between(s, 1, SIM_REPLICAS);
	s->idle_grace_ms = sim_between(s, 1, sim_chance(s, 500) ? 4 : 20) * 1000;
	s->open_timeout_ms = sim_between(s, 10, 60) * 1000;
	s->held_ms = sim_between(s, 10, 60) * 1000;
	s->lost_ms = sim_between(s, 5, 60) * 1000;
	s->blind_ms = fair_blind_ms(&s->weather);
	s->patience_ms = sim_between(s, 5, 60) * 1000;
	s->budget = sim_chance(s, 300) ? (uint32_t)sim_between(s, 1, 40) : 4000;
	for (int i = 0; i < SIM_REPLICAS; i++) {
		link_init(&s->slots[i].link, s, i);
	}
	if (s->config.scenario != NULL) {
		scenario_begin(s);
	} else {
		fleet_init(s);
		people_start(s);
		works_start(s);
	}
	weather_start(s);
	delay_start(s);
	for (int i = 0; i < s->replicas; i++) {
		replica_create(s, i);
	}
}

static void tear_down(struct sim *s)
{
	for (int i = 0; i < s->replicas; i++) {
		replica_destroy(s->slots[i].replica);
		link_finish(&s->slots[i].link);
	}
	for (size_t i = 0; i < s->parcels.count; i++) {
		parcel_free(s->parcels.items[i]);
	}
	VEC_FINISH(&s->parcels);
	check_finish(s);
	past_end(s);
	claim_finish(s);
	delay_finish(s);
	works_finish(s);
	fleet_finish(s);
	pages_finish(s);
	store_finish(&s->store);
	agenda_finish(&s->agenda);
	dice_finish(s);
}

static void run_until(struct sim *s, int64_t until)
{
	while (!s->report->failed && agenda_step(&s->agenda, until)) {
	}
	s->agenda.now = until;
}

/* Looks once a second; the run ends as soon as everything is as it should be. */
static void come_to_rest(struct sim *s)
{
	int64_t calm = s->weather.rolled ? CALM_ROLLED_MS : CALM_MS;
	int64_t last = sim_now(s) + (s->config.calm_ms > 0 ? s->config.calm_ms : calm);
	while (!s->report->failed) {
		CLEANUP(str_finish) struct str why = STR_INIT(1024);
		const struct sim_scenario *c = s->config.scenario;
		bool own = c != NULL && c->own_rest;
		if ((own || check_settled(s, &why)) && scenario_settled(s, &why) &&
			(!s->weather.rolled || roll_settled(s, &why))) {
			return;
		}
		if (sim_now(s) >= last) {
			sim_fail(s, "rest", "%s, %lld s after the last fault", str_text(&why),
				(long long)(sim_now(s) - s->calm_at) / 1000);
			return;
		}
		run_until(s, sim_now(s) + LOOK_MS);
	}
}

void sim_run(const struct sim_config *config, struct sim_report *ret_report)
{
	*ret_report = (struct sim_report){.rule = ""};
	struct sim *s = xcalloc(1, sizeof *s);
	s->config = *config;
	s->report = ret_report;
	set_up(s);
	int64_t trouble = s->config.trouble_ms > 0
				  ? s->config.trouble_ms
				  : sim_between(s, TROUBLE_LEAST_MS, TROUBLE_MOST_MS);
	trouble += s->weather.rolled	? TROUBLE_ROLLED_MS
		   : s->weather.crowded ? TROUBLE_CROWD_MS
					: 0;
	run_until(s, trouble);
	if (!ret_report->failed) {
		weather_calm(s);
		come_to_rest(s);
	}
	ret_report->steps = s->agenda.done;
	ret_report->writes = s->store.commits;
	ret_report->digest = s->store.digest;
	tear_down(s);
	free(s);
}
