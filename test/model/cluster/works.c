/* The Deployments of a run, and what people do to them: scale, roll out, delete pods, set budgets.
 */
#include <stdio.h>
#include <string.h>

#include "objects/api_object.h"
#include "objects/dice.h"
#include "json/decode.h"
#include "machines.h"
#include "model/names.h"
#include "objects/patch.h"
#include "sets.h"
#include "objects/trace.h"
#include "work_health.h"
#include "claims/work_objects.h"

#define WORKS_MOST    3
#define REPLICAS_MOST 3

bool works_replaces(const char *path, const char *body)
{
	bool pods = strstr(path, "/namespaces/" WORKS_NS "/pods") != NULL;
	bool about = strstr(path, "/pods/work-") != NULL || strstr(body, LABEL_SURGE) != NULL;
	return pods && about && strstr(path, "/status") == NULL;
}

/* --- the run --- */

static uint32_t works_rate(struct sim *s, uint32_t most)
{
	return sim_chance(s, 500) ? 0 : (uint32_t)sim_between(s, 1, most);
}

/* Such a run is long, for a new pod has to do well for five minutes before the next one goes. What
 * else may go wrong in the cluster is left to the other runs, and comes less often. */
void works_weather(struct sim *s)
{
	struct weather *w = &s->weather;
	uint32_t *const spells[] = {&w->partition, &w->pause, &w->crash, &w->leave,
		&w->server_restart, &w->compaction, &w->clock_jump, &w->node_loss, &w->cordon,
		&w->node_change, &w->upgrade, &w->hand_delete, &w->sick};
	uint32_t *const faults[] = {&w->lost_request, &w->lost_answer, &w->late, &w->twice,
		&w->refused, &w->busy, &w->broken};
	struct dice back = dice_enter(s, dice_key("rolled", NULL, 0));
	for (size_t i = 0; i < COUNT_OF(faults); i++) {
		*faults[i] = (*faults[i] + 3) / 4;
	}
	for (size_t i = 0; i < COUNT_OF(spells); i++) {
		*spells[i] = (*spells[i] + 9) / 10;
	}
	w->grouped = w->halved = w->haughty = w->exclusive = w->greedy = w->walled = w->faulty = 0;
	w->quota = w->doubled = w->wish = 0;
	w->narrow = w->crowded = w->probed = false;
	w->whole = 10;
	w->crash_at_write /= 4;
	w->crash_at_roll = sim_chance(s, 500) ? (uint32_t)sim_between(s, 20, 250) : 0;
	w->rolled = true;
	w->pace_ms = sim_between(s, 20000, 60000);
	w->lag_ms = w->lag_ms > 20000 ? 20000 : w->lag_ms;
	w->flap = works_rate(s, 40);
	w->away = works_rate(s, 5);
	w->slow_sets = works_rate(s, 20);
	w->rework = works_rate(s, 15);
	w->unfit = works_rate(s, 300);
	w->slow_answers = works_rate(s, 200);
	s->works.surges = sim_chance(s, 800);
	dice_leave(s, back);
	/* Not drawn, so that it changes no other draw. */
	w->refusals = dice_key("refusals", NULL, s->config.seed) % 2 == 0 ? 4 : 0;
	w->regret = 500;
	w->lost_race = dice_key("lost races", NULL, s->config.seed) % 4 == 0 ? 300 : 0;
}

static void make_policy(struct sim *s)
{
	store_put(&s->store, RES_POLICIES,
		json_pack("{s:s, s:s, s:{s:s, s:i}, s:{s:i, s:{s:{s:{s:s}}}, s:s, s:{s:i, s:i, "
			  "s:i}, s:{s:i, s:i, s:i, s:s}}}",
			"apiVersion", "aliquot.dev/v1alpha1", "kind", "GPUPolicy", "metadata",
			"name", "works", "generation", 1, "spec", "priority", 200, "selector",
			"podSelector", "matchLabels", "sized", "true", "mode", "Automate",
			"history", "windowSeconds", 3600, "requiredSeconds", 60, "halfLifeSeconds",
			600, "update", "scaleDownDelaySeconds", 0, "minPodAgeSeconds", 0,
			"cooldownSeconds", 30, "replacement", "SurgeThenEvict"),
		ACTOR_PERSON);
}

static json_t *template_of(const char *name)
{
	return json_pack("{s:{s:{s:s, s:s, s:s}, s:{s:s}},"
			 " s:{s:s, s:[{s:s, s:s, s:{s:{s:s, s:s, s:s}, s:{s:s}}}]}}",
		"metadata", "labels", LABEL_WORK, name, "sized", "true", "lasting", "true",
		"annotations", "version", "1", "spec", "schedulerName", "default-scheduler",
		"containers", "name", "main", "image", "work", "resources", "requests", "cpu",
		"100m", "memory", "512Mi", NAME_GPU_RESOURCE, "1", "limits", NAME_GPU_RESOURCE,
		"1");
}

static void make_deployment(struct sim *s, const char *name, int64_t replicas)
{
	json_t *strategy = sim_chance(s, 500) ? json_pack("{s:b}", "surges", 1) : json_object();
	store_put(&s->store, RES_DEPLOYMENTS,
		json_pack("{s:s, s:s, s:{s:s, s:s, s:i, s:{}}, s:{s:I, s:o, s:{s:{s:s}}, s:o}, "
			  "s:{s:i}}",
			"apiVersion", "apps/v1", "kind", "Deployment", "metadata", "name", name,
			"namespace", WORKS_NS, "generation", 1, "annotations", "spec", "replicas",
			(json_int_t)replicas, "strategy", strategy, "selector", "matchLabels",
			LABEL_WORK, name, "template", template_of(name), "status",
			"observedGeneration", 0),
		ACTOR_PERSON);
}

void works_make(struct sim *s, int64_t replicas)
{
	s->weather.rolled = s->works.surges = true;
	make_policy(s);
	make_deployment(s, "work-0", replicas);
	sets_soon(s);
}

static void set_budget(struct sim *s, const char *name, int64_t least)
{
	struct stored *had = store_find(&s->store, RES_BUDGETS, WORKS_NS, name);
	int64_t generation = had != NULL ? work_number(had->value, "metadata.generation") : 0;
	json_t *value = json_pack("{s:s, s:s, s:{s:s, s:s, s:I}, s:{s:I, s:{s:{s:s}}}, s:{}}",
		"apiVersion", "policy/v1", "kind", "PodDisruptionBudget", "metadata", "name", name,
		"namespace", WORKS_NS, "generation", (json_int_t)generation + 1, "spec",
		"minAvailable", (json_int_t)least, "selector", "matchLabels", LABEL_WORK, name,
		"status");
	if (had != NULL) {
		json_object_set(value, "status", json_object_get(had->value, "status"));
	}
	store_put(&s->store, RES_BUDGETS, value, ACTOR_PERSON);
}

static int64_t gpus(const struct sim *s)
{
	int64_t n = 0;
	vec_for_each (const struct machine, m, &s->fleet.machines) {
		n += m->device_count;
	}
	return n;
}

void works_start(struct sim *s)
{
	char name[32];
	if (!s->weather.rolled) {
		return;
	}
	struct dice back = dice_enter(s, dice_key("works", NULL, 0));
	int64_t all = 0, count = sim_between(s, 1, WORKS_MOST);
	make_policy(s);
	for (int64_t i = 0; i < count; i++) {
		int64_t replicas = sim_between(s, 1, REPLICAS_MOST);
		snprintf(name, sizeof name, "work-%lld", (long long)i);
		make_deployment(s, name, replicas);
		if (sim_chance(s, 300)) {
			set_budget(s, name, sim_between(s, 1, replicas));
		}
		all += replicas;
	}
	int64_t spare = sim_between(s, 0, 4);
	while (gpus(s) < all + spare) {
		fleet_add(s);
	}
	dice_leave(s, back);
	sets_soon(s);
}

void works_finish(struct sim *s)
{
	VEC_FINISH(&s->works.intents);
	VEC_FINISH(&s->works.beside);
	VEC_FINISH(&s->works.rework);
	wayback_finish(s);
}

/* --- people --- */

typedef bool (*wanted)(const struct stored *o);

static bool is_deployment(const struct stored *o)
{
	return o->resource == RES_DEPLOYMENTS;
}

static struct stored *works_pick(struct sim *s, wanted want)
{
	struct stored *best = NULL;
	uint64_t lowest = UINT64_MAX;
	for (size_t i = 0; i < s->store.items.count; i++) {
		struct stored *o = s->store.items.items[i];
		uint64_t lot = want(o) ? dice_key("worked", o->name, s->scope) : UINT64_MAX;
		if (lot < lowest) {
			lowest = lot;
			best = o;
		}
	}
	return best;
}

static json_t *next_generation(const struct stored *o)
{
	json_t *draft = store_draft(o);
	json_object_set_new(json_object_get(draft, "metadata"), "generation",
		json_integer(work_number(o->value, "metadata.generation") + 1));
	return draft;
}

void works_scale(struct sim *s, const struct stored *d, int64_t replicas)
{
	json_t *draft = next_generation(d);
	json_object_set_new(json_object_get(draft, "spec"), "replicas", json_integer(replicas));
	store_put(&s->store, RES_DEPLOYMENTS, draft, ACTOR_PERSON);
}

static void scale_by_lot(struct sim *s, const struct stored *d)
{
	int64_t replicas = sim_between(s, sim_chance(s, 100) ? 0 : 1, REPLICAS_MOST);
	dice_say(s, "a person scales %s to %lld", d->name, (long long)replicas);
	sim_trace(s, "a person scales %s to %lld", d->name, (long long)replicas);
	works_scale(s, d, replicas);
}

static void roll_out(struct sim *s, const struct stored *d)
{
	char version[16];
	snprintf(version, sizeof version, "%lld", (long long)sim_between(s, 1, 4));
	dice_say(s, "a person rolls out version %s of %s", version, d->name);
	sim_trace(s, "a person rolls out version %s of %s", version, d->name);
	json_t *draft = next_generation(d);
	json_t *note = json_pack("{s:{s:{s:{s:{s:s}}}}}", "spec", "template", "metadata",
		"annotations", "version", version);
	patch_merge(draft, note);
	json_decref(note);
	store_put(&s->store, RES_DEPLOYMENTS, draft, ACTOR_PERSON);
}

static void change_budget(struct sim *s, const struct stored *d)
{
	struct stored *had = store_find(&s->store, RES_BUDGETS, WORKS_NS, d->name);
	if (had != NULL && sim_chance(s, 500)) {
		dice_say(s, "a person takes the budget of %s away", d->name);
		store_remove(&s->store, had, ACTOR_PERSON);
		return;
	}
	int64_t least = sim_between(s, 1, REPLICAS_MOST);
	dice_say(s, "a person wants %lld of %s to be there", (long long)least, d->name);
	set_budget(s, d->name, least);
}

static void works_delete(struct sim *s, wanted want)
{
	struct stored *o = works_pick(s, want);
	if (o != NULL) {
		int64_t grace = sim_chance(s, 200) ? 0 : sim_between(s, 1, 30);
		dice_say(
			s, "a person deletes %s with a grace of %lld s", o->name, (long long)grace);
		sim_trace(
			s, "a person deletes %s with a grace of %lld s", o->name, (long long)grace);
		apiserver_delete_pod(s, o, grace, ACTOR_PERSON);
	}
}

/* Some like to do it while a pod is being replaced. */
static void rework(struct sim *s, bool surging)
{
	struct stored *d = works_pick(s, is_deployment);
	uint32_t more = surging ? 4 : 1;
	if (d == NULL || !dice_falls(s, "rework", s->weather.rework * more)) {
		return;
	}
	int64_t what = sim_between(s, 0, 99);
	if (what < 30) {
		scale_by_lot(s, d);
	} else if (what < 50) {
		roll_out(s, d);
	} else if (what < 65) {
		change_budget(s, d);
	} else {
		works_delete(s, surging ? work_is_surging : work_is_running);
	}
}

/* --- spells --- */

static void flap(struct sim *s, uint32_t times)
{
	struct stored *o = works_pick(s, work_is_running);
	if (o != NULL && o->pod.ready && dice_falls(s, "flap", s->weather.flap * times)) {
		work_stumbles(s, o, sim_between(s, 500, sim_chance(s, 100) ? 200000 : 20000));
	}
}

void works_spells(struct sim *s)
{
	const struct weather *w = &s->weather;
	if (!w->rolled || s->calm) {
		return;
	}
	bool surging = works_pick(s, work_is_surging) != NULL;
	rework(s, surging);
	flap(s, surging ? 4 : 1);
	if (dice_falls(s, "webhook away", w->away)) {
		s->works.away_until = sim_now(s) + sim_between(s, 1000, 200000);
		dice_say(s, "nobody answers for the webhook until %lld",
			(long long)s->works.away_until);
		sim_trace(s, "nobody answers for the webhook until %lld",
			(long long)s->works.away_until);
	}
	if (dice_falls(s, "slow controllers", w->slow_sets)) {
		s->works.slow_until = sim_now(s) + sim_between(s, 1000, 30000);
		dice_say(s, "ReplicaSets are not looked at until %lld",
			(long long)s->works.slow_until);
	}
	if (dice_falls(s, "surges forbidden", w->away / 3)) {
		s->works.surges = !s->works.surges;
		dice_say(s, "surges are %s", s->works.surges ? "allowed" : "forbidden");
		sim_trace(s, "surges are %s", s->works.surges ? "allowed" : "forbidden");
	}
	wayback_spells(s);
}

void works_calm(struct sim *s)
{
	s->works.away_until = s->works.slow_until = s->works.wayback.refused_until = 0;
}
