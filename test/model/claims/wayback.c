/* Tenants that wait in vain and are given back, judged by the objects: none that has its share
 * goes, none that waits for what a whole pod would wait for, too, nobody whom no owner makes anew;
 * and what was given back stays so for its while. */
#include "wayback.h"

#include <stdio.h>
#include <string.h>

#include "objects/dice.h"
#include "json/decode.h"
#include "model/names.h"
#include "objects/request_path.h"
#include "objects/trace.h"
#include "work_objects.h"

#define AFTER_MS  300000 /* giveBackAfterMinutes of the policy `works` */
#define CLOCKS_MS 150000 /* controllers' clocks are a minute off, either way */
#define LATELY_MS 180000
#define WHILE_MS  600000 /* the first time, and twice as long each time */
#define WHILES	  6	 /* longer than any run */

static struct given *given_of(struct sim *s, const char *work)
{
	vec_for_each (struct given, g, &s->works.wayback.given) {
		if (strcmp(g->work, work) == 0) {
			return g;
		}
	}
	struct given made = {.times = 0};
	snprintf(made.work, sizeof made.work, "%s", work);
	VEC_PUSH(&s->works.wayback.given, made);
	return &s->works.wayback.given.items[s->works.wayback.given.count - 1];
}

void wayback_finish(struct sim *s)
{
	VEC_FINISH(&s->works.wayback.given);
}

/* --- the trouble --- */

void wayback_spells(struct sim *s)
{
	struct wayback *w = &s->works.wayback;
	if (sim_now(s) < w->refused_until ||
		!dice_falls(s, "capacity refused", s->weather.refusals)) {
		return;
	}
	w->refused_until = sim_now(s) + sim_between(s, 60000, 1500000);
	dice_say(s, "capacity pods are refused until %lld", (long long)w->refused_until);
	sim_trace(s, "capacity pods are refused until %lld", (long long)w->refused_until);
}

static bool is_returned(const struct sim *s, const struct stored *o)
{
	bool returned = false;
	vec_for_each (const struct roll_intent, i, &s->works.intents) {
		if (strcmp(i->uid, o->uid) == 0 && sim_now(s) - i->at < LATELY_MS) {
			returned = i->returns;
		}
	}
	return returned;
}

/* The pod of "…/namespaces/NS/pods/NAME/eviction"; NULL: it is another path. */
static const struct stored *evicted_by(const struct sim *s, const char *path)
{
	struct api_path p;
	bool is = api_path_parse(path, &p) && strcmp(p.resource, "pods") == 0 &&
		  strcmp(p.sub, "eviction") == 0;
	return is ? store_find(&s->store, RES_PODS, p.ns, p.name) : NULL;
}

/* Some evictions are late, and capacity pods are taken again in that moment: the pod may have its
 * share by then. */
const char *wayback_fate(struct sim *s, const struct wire_request *r)
{
	struct wayback *w = &s->works.wayback;
	struct api_path p;
	if (r->method != WIRE_POST || s->calm) {
		return NULL;
	}
	bool creates = api_path_parse(r->path, &p) && strcmp(p.resource, "pods") == 0 &&
		       p.name[0] == '\0' && strcmp(p.ns, NAME_NAMESPACE) == 0;
	if (creates && sim_now(s) < w->refused_until) {
		return "403";
	}
	const struct stored *o = evicted_by(s, r->path);
	if (o == NULL || !is_returned(s, o) || sim_now(s) >= w->refused_until ||
		!dice_falls(s, "regret", s->weather.regret)) {
		return NULL;
	}
	dice_say(s, "capacity pods are taken again while the eviction of %s is late", o->name);
	sim_trace(s, "capacity pods are taken again");
	w->refused_until = 0;
	s->tally.regrets++;
	return "LATE";
}

/* --- who waits --- */

/* NULL: it may be given back; else why not. */
static const char *unjust(const struct stored *o)
{
	const struct pod *p = &o->pod;
	return !pod_is_tenant(p) || !pod_has_gate(p, NAME_GATE)	   ? "has its share"
	       : p->gate_count > 1				   ? "has another gate"
	       : p->beside					   ? "stands beside another pod"
	       : pairs_get(&p->notes, NOTE_RECOMMENDATION) == NULL ? "asked for its share"
	       : !text_equals(p->owner.kind, "ReplicaSet")	   ? "is made anew by nobody"
	       : p->placed.type == NULL || p->placed.is_true ||
			       !reason_would_run_whole(reason_parse(p->placed.reason))
		       ? "waits for what a whole pod would wait for, too"
		       : NULL;
}

void wayback_look(struct sim *s)
{
	for (size_t i = 0; i < s->store.items.count; i++) {
		const struct stored *o = s->store.items.items[i];
		if (work_of(o) != NULL && unjust(o) == NULL && o->pod.deleting_ms == 0 &&
			sim_now(s) - o->born_ms >= AFTER_MS - CLOCKS_MS) {
			given_of(s, work_of(o))->vain_at = sim_now(s);
		}
	}
}

/* --- evictions --- */

static const struct stored *find_in(const struct picture *p, const char *uid)
{
	for (size_t i = 0; i < p->count; i++) {
		if (strcmp(p->items[i]->uid, uid) == 0) {
			return p->items[i];
		}
	}
	return NULL;
}

/* By what its controller had been told. */
void wayback_intended(struct sim *s, int replica, const struct action *a)
{
	struct picture p;
	if (text_empty(a->resource_version)) {
		sim_fail(s, "given-back", "r%d gives %s back, whatever has become of it", replica,
			a->name);
	}
	if (s->memory.partial[replica][RES_PODS] ||
		!past_picture(s, replica, s->memory.told.count, &p)) {
		return;
	}
	const struct stored *o = find_in(&p, text_or(a->uid, ""));
	const char *why = o != NULL ? unjust(o) : NULL;
	if (why != NULL) {
		sim_fail(s, "given-back", "r%d gives %s back, which %s", replica, o->name, why);
	} else if (o != NULL && given_of(s, work_of(o))->given_at == 0) {
		sim_fail(s, "given-back",
			"r%d gives %s back, and its GPURecommendation says so not", replica,
			o->name);
	}
	VEC_FINISH(&p);
}

/* As it is in this moment. */
void wayback_evicted(struct sim *s, const struct stored *o)
{
	if (is_returned(s, o)) {
		s->report->returned++;
		if (!pod_has_gate(&o->pod, NAME_GATE)) {
			sim_fail(s, "given-back", "%s is given back, and has its share", o->name);
		}
	}
}

/* --- what the GPURecommendation says --- */

static bool says_given_back(const json_t *value)
{
	size_t i;
	json_t *c;
	json_t *all = (json_t *)(uintptr_t)decode_find(value, "status.conditions");
	json_array_foreach(all, i, c)
	{
		if (text_equals(json_string_value(json_object_get(c, "reason")), "GivenBack") &&
			text_equals(json_string_value(json_object_get(c, "type")), "Paused") &&
			text_equals(json_string_value(json_object_get(c, "status")), "True")) {
			return true;
		}
	}
	return false;
}

static bool target_is_whole(const json_t *value)
{
	const json_t *first = json_array_get(decode_find(value, "status.containers"), 0);
	const json_t *target = json_object_get(first, "target");
	return json_integer_value(json_object_get(target, "computePercent")) == 100;
}

static int64_t while_of(const struct given *g)
{
	int64_t times = g->times < 1 ? 1 : g->times > WHILES ? WHILES : g->times;
	return WHILE_MS << (times - 1);
}

static void check_given_back(struct sim *s, struct given *g, int replica)
{
	if (g->vain_at == 0 || sim_now(s) - g->vain_at > LATELY_MS) {
		sim_fail(s, "given-back",
			"r%d gives the pods of %s back, none of which has waited in vain for long",
			replica, g->work);
	}
	g->given_at = sim_now(s);
}

void wayback_committed(struct sim *s, const struct commit *c)
{
	static const char prefix[] = "deployment-";
	const struct stored *o = c->after != NULL ? c->after : c->before;
	if (o->resource != RES_RECOMMENDATIONS || strncmp(o->name, prefix, strlen(prefix)) != 0) {
		return;
	}
	struct given *g = given_of(s, o->name + strlen(prefix));
	bool says = c->after != NULL && says_given_back(o->value);
	if (says && g->given_at == 0) {
		g->times = work_number(o->value, "status.lastUpdate.givenBackTimes");
		check_given_back(s, g, c->actor);
	}
	int64_t left = g->given_at != 0 ? g->given_at + while_of(g) - sim_now(s) : 0;
	if (c->after != NULL && left > CLOCKS_MS && (!says || !target_is_whole(o->value))) {
		sim_fail(s, "given-back", "%s is applied again %lld s too early", o->name,
			(long long)left / 1000);
	}
	g->given_at = says ? g->given_at : 0;
}
