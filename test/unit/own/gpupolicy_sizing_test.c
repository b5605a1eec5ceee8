/* The numbers of a GPUPolicy: all of them, the defaults of the CRD, and what cannot mean anything.
 */
#include <criterion/criterion.h>
#include <jansson.h>

#include "own/gpupolicy.h"
#include "../codec/data.h"
#include "json/yaml.h"

static int decode(const char *spec, struct arena *a, struct policy *p, struct fault *f)
{
	const char *json = arena_printf(a, "{\"metadata\":{\"name\":\"x\"},\"spec\":%s}", spec);
	return fields_decode(view_of(json), &policy_shape, a, p, f);
}

#define EVERY                                                                                      \
	"{\"compute\":{\"percentile\":90,\"headroomPercent\":1,\"minPercent\":2,"                  \
	"\"maxPercent\":3,\"stepPercent\":4},\"memory\":{\"headroomPercent\":5,\"min\":\"6Mi\","   \
	"\"max\":\"7Mi\",\"step\":\"8Mi\",\"preallocated\":\"KeepUsed\"},\"history\":{"            \
	"\"windowSeconds\":3601,\"requiredSeconds\":9,\"halfLifeSeconds\":61},\"update\":{"        \
	"\"byKind\":[{\"kind\":\"StatefulSet\",\"strategy\":\"Ongoing\"},{\"kind\":\"Job\","       \
	"\"strategy\":\"Never\"}],\"minReplicas\":10,\"minPodAgeSeconds\":11,"                     \
	"\"cooldownSeconds\":12,\"giveBackAfterMinutes\":7,\"maxUnavailable\":\"25%\","            \
	"\"replacement\":\"Evict\","                                                               \
	"\"windows\":[{\"days\":[\"Mon\",\"Fri\"],\"start\":\"22:00\",\"end\":\"04:30\","          \
	"\"timeZone\":\"Europe/Berlin\"},{\"days\":[\"Sun\"],\"start\":\"00:00\",\"end\":"         \
	"\"24:00\"}],\"scaleDownDelaySeconds\":13,\"minChangePercent\":14,"                        \
	"\"allowNodeScaleUp\":\"Allow\"},\"healing\":{\"memory\":{\"state\":\"Disabled\","         \
	"\"stepPercent\":15,\"minStep\":\"16Mi\",\"holdSeconds\":17},\"compute\":{\"state\":"      \
	"\"Disabled\",\"stepPercent\":18,\"minStepPercent\":19,\"holdSeconds\":20}}}"

Test(policy_sizing, every_field)
{
	CLEANUP(arena_finish) struct arena a = {0};
	struct policy p;
	struct fault f = {0};
	cr_assert_eq(decode(EVERY, &a, &p, &f), 0, "%s", f.message);
	const struct sizing *s = &p.sizing;
	const int64_t got[] = {s->percentile, s->headroom_percent, s->min_percent, s->max_percent,
		s->step_percent, s->mem_headroom_percent, s->min_mem_mib, s->max_mem_mib,
		s->step_mem_mib, s->preallocated, s->window_s, s->required_s, s->half_life_s,
		s->scale_down_delay_s, s->min_change_percent, s->heal_memory.enabled,
		s->heal_memory.step_percent, s->heal_memory.min_step, s->heal_memory.hold_s,
		s->heal_compute.enabled, s->heal_compute.step_percent, s->heal_compute.min_step,
		s->heal_compute.hold_s};
	const int64_t wanted[] = {90, 1, 2, 3, 4, 5, 6, 7, 8, PREALLOCATED_KEEP_USED, 3601, 9, 61,
		13, 14, 0, 15, 16, 17, 0, 18, 19, 20};
	for (size_t i = 0; i < COUNT_OF(wanted); i++) {
		cr_assert_eq(got[i], wanted[i], "field %zu: %lld", i, (long long)got[i]);
	}
	/* No policy can say these. */
	cr_assert_eq(s->required_runs + s->whole_from_p50_percent + s->active_above_percent, 0);
	cr_assert_eq(s->open, SIZING_OPEN_REST);
}

static struct sizing sizing_of(const char *spec)
{
	CLEANUP(arena_finish) struct arena a = {0};
	struct policy p = {.sizing.percentile = 0};
	struct fault f = {0};
	cr_assert_eq(decode(spec, &a, &p, &f), 0, "%s", f.message);
	return p.sizing;
}

Test(policy_sizing, what_nobody_wrote_is_left_to_the_kind_of_work)
{
	cr_expect_eq(sizing_of("{}").open, 2 * SIZING_OPEN_REST - 1);
	cr_expect_eq(sizing_of("{\"compute\":{\"percentile\":98,\"minPercent\":null}}").open,
		2 * SIZING_OPEN_REST - 1 - SIZING_OPEN_PERCENTILE);
	cr_expect_eq(sizing_of("{}").min_percent, SIZING_LEAST_PERCENT);
	cr_expect_eq(sizing_of("{\"compute\":{\"minPercent\":10}}").min_percent, 10);
	cr_expect_eq(sizing_of("{\"compute\":{\"maxPercent\":3}}").min_percent, 3);
	cr_expect_eq(sizing_of("{\"history\":{\"windowSeconds\":3600}}").required_s, 3600);
	cr_expect_eq(sizing_of("{\"history\":{\"requiredSeconds\":864000}}").window_s, 864000);
}

Test(policy_rollout, every_field)
{
	CLEANUP(arena_finish) struct arena a = {0};
	struct policy p;
	struct fault f = {0};
	cr_assert_eq(decode(EVERY, &a, &p, &f), 0, "%s", f.message);
	const struct rollout *r = &p.rollout;
	cr_assert_eq(r->kind_count, 2);
	cr_assert_str_eq(r->kinds[0].kind, "StatefulSet");
	cr_assert_eq(r->kinds[0].strategy, ROLLOUT_ONGOING);
	cr_assert_eq(r->kinds[1].strategy, ROLLOUT_NEVER);
	cr_assert_eq(r->min_replicas, 10);
	cr_assert_eq(r->min_pod_age_s, 11);
	cr_assert_eq(r->cooldown_s, 12);
	cr_assert_eq(r->max_unavailable, 25);
	cr_assert(r->max_unavailable_is_percent);
	cr_assert(r->evicts && r->may_add_nodes);
	cr_assert_eq(r->window_count, 2);
	cr_assert_eq(r->windows[0].days, 1 | 1 << 4);
	cr_assert_eq(r->windows[0].start_min, 22 * 60);
	cr_assert_eq(r->windows[0].end_min, 4 * 60 + 30);
	cr_assert_str_eq(r->windows[0].time_zone, "Europe/Berlin");
	cr_assert_eq(r->windows[1].days, 1 << 6);
	cr_assert_eq(r->windows[1].end_min, 24 * 60);
	cr_assert_str_eq(r->windows[1].time_zone, "UTC");
	cr_assert_eq(decode("{\"update\":{\"maxUnavailable\":3}}", &a, &p, &f), 0);
	cr_assert_eq(p.rollout.max_unavailable, 3);
	cr_assert_not(p.rollout.max_unavailable_is_percent);
}

/* --- the defaults of the CRD --- */

/* A value with what the schema fills in where nothing is written. */
static json_t *filled(const json_t *schema)
{
	json_t *made = json_object_get(schema, "default");
	const json_t *properties = json_object_get(schema, "properties");
	if (made == NULL || !json_is_object(made)) {
		return json_incref(made);
	}
	made = json_object();
	const char *name;
	json_t *property;
	json_object_foreach((json_t *)(uintptr_t)properties, name, property)
	{
		json_t *value = filled(property);
		if (value != NULL) {
			json_object_set_new(made, name, value);
		}
	}
	return made;
}

static json_t *default_spec(void)
{
	CLEANUP(str_finish)
	struct str yaml = data_read(__FILE__, "../../../../crds/gpupolicies.yaml");
	struct fault f = {0};
	struct doc crd = {0};
	cr_assert_eq(doc_parse(yaml.p, yaml.len, "crd", &crd, &f), 0, "%s", f.message);
	const json_t *version =
		json_array_get(json_object_get(json_object_get(crd.root, "spec"), "versions"), 0);
	const json_t *schema =
		json_object_get(json_object_get(version, "schema"), "openAPIV3Schema");
	json_t *spec = json_object_get(json_object_get(schema, "properties"), "spec");
	json_object_set_new(spec, "default", json_object());
	json_t *made = filled(spec);
	doc_finish(&crd);
	return made;
}

/* A policy that an old API server stored without a default, and one that says it: the same. */
Test(policy_sizing, the_defaults_are_those_of_the_crd)
{
	CLEANUP(arena_finish) struct arena a = {0};
	struct policy p, none;
	struct fault f = {0};
	json_t *spec = default_spec();
	cr_assert_not_null(json_object_get(json_object_get(spec, "healing"), "compute"));
	cr_assert_eq(json_object_size(json_object_get(spec, "compute")), 1,
		"a default is as good as written, and would hold for every type of work");
	char *text = json_dumps(spec, 0);
	cr_assert_eq(decode(text, &a, &p, &f), 0, "%s", f.message);
	cr_assert_eq(decode("{}", &a, &none, &f), 0, "%s", f.message);
	const struct sizing *s = &p.sizing, *n = &none.sizing;
	const int64_t pairs[][2] = {{s->percentile, n->percentile},
		{s->headroom_percent, n->headroom_percent}, {s->min_percent, n->min_percent},
		{s->max_percent, n->max_percent}, {s->step_percent, n->step_percent},
		{s->mem_headroom_percent, n->mem_headroom_percent},
		{s->min_mem_mib, n->min_mem_mib}, {s->max_mem_mib, n->max_mem_mib},
		{s->step_mem_mib, n->step_mem_mib}, {s->preallocated, n->preallocated},
		{s->window_s, n->window_s}, {s->required_s, n->required_s},
		{s->half_life_s, n->half_life_s}, {s->min_change_percent, n->min_change_percent},
		{s->scale_down_delay_s, n->scale_down_delay_s},
		{s->heal_memory.enabled, n->heal_memory.enabled},
		{s->heal_memory.step_percent, n->heal_memory.step_percent},
		{s->heal_memory.min_step, n->heal_memory.min_step},
		{s->heal_memory.hold_s, n->heal_memory.hold_s},
		{s->heal_compute.enabled, n->heal_compute.enabled},
		{s->heal_compute.step_percent, n->heal_compute.step_percent},
		{s->heal_compute.min_step, n->heal_compute.min_step},
		{s->heal_compute.hold_s, n->heal_compute.hold_s},
		{p.rollout.min_replicas, none.rollout.min_replicas},
		{p.rollout.min_pod_age_s, none.rollout.min_pod_age_s},
		{p.rollout.cooldown_s, none.rollout.cooldown_s},
		{p.rollout.max_unavailable, none.rollout.max_unavailable},
		{p.rollout.evicts, none.rollout.evicts},
		{p.rollout.may_add_nodes, none.rollout.may_add_nodes}, {p.priority, none.priority},
		{p.max_tenants, none.max_tenants}, {p.idle_grace_s, none.idle_grace_s}};
	for (size_t i = 0; i < COUNT_OF(pairs); i++) {
		cr_assert_eq(pairs[i][0], pairs[i][1], "pair %zu: %lld, not %lld", i,
			(long long)pairs[i][0], (long long)pairs[i][1]);
	}
	free(text);
	json_decref(spec);
}

static void refused(const char *spec, const char *message)
{
	CLEANUP(arena_finish) struct arena a = {0};
	struct policy p;
	struct fault f = {0};
	cr_assert_eq(decode(spec, &a, &p, &f), -1, "accepted: %s", spec);
	cr_assert_not_null(strstr(f.message, message), "%s", f.message);
}

Test(policy_sizing, what_cannot_mean_anything)
{
	refused("{\"compute\":{\"percentile\":101}}",
		"gpupolicy x: spec.compute.percentile: 101 is not between 50 and 100");
	refused("{\"compute\":{\"stepPercent\":3}}", "stepPercent: 3 does not divide 100");
	refused("{\"history\":{\"windowSeconds\":3600,\"requiredSeconds\":3601}}",
		"spec.history.requiredSeconds");
	refused("{\"memory\":{\"preallocated\":\"Perhaps\"}}", "spec.memory.preallocated");
	refused("{\"memory\":{\"step\":\"0\"}}", "spec.memory.step");
	refused("{\"healing\":{\"compute\":{\"state\":true}}}", "spec.healing.compute.state");
	refused("{\"update\":{\"byKind\":[{\"kind\":\"Job\"}]}}", "spec.update.byKind[0]");
	refused("{\"update\":{\"maxUnavailable\":0}}", "spec.update.maxUnavailable");
	refused("{\"update\":{\"maxUnavailable\":\"0%\"}}", "spec.update.maxUnavailable");
	refused("{\"update\":{\"maxUnavailable\":true}}",
		"spec.update.maxUnavailable: integer or string expected");
	refused("{\"update\":{\"windows\":[{\"days\":[\"Mon\"],\"start\":\"24:00\",\"end\":"
		"\"01:00\"}]}}",
		"spec.update.windows[0]: start: \"24:00\" is no time of day");
	refused("{\"update\":{\"windows\":[{\"days\":[],\"start\":\"23:00\",\"end\":\"01:00\"}]}}",
		"days: no day");
	refused("{\"update\":{\"windows\":[{\"days\":[\"Monday\"],\"start\":\"23:00\",\"end\":"
		"\"01:00\"}]}}",
		"\"Monday\" is not known here");
}
