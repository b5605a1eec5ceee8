/* A recommendation as the share of the next pod: when it counts, and what beats it. */
#include <criterion/criterion.h>

#include "base/cleanup.h"
#include "model/names.h"
#include "size/admit.h"

struct scene {
	struct pair note_items[2], default_items[1];
	struct container containers[1];
	struct pod pod;
	struct namespace ns;
	struct policy policy;
	const struct policy *policy_list[1];
	struct workload workload;
	struct admit_input in;
};

/* A pod of a Deployment under a policy that automates, for which 0.3 and 7Gi are recommended. */
static void scene_init(struct scene *s)
{
	*s = (struct scene){0};
	s->containers[0] = (struct container){.name = "main", .gpus = 1, .image = "pytorch:2"};
	s->pod = (struct pod){.ns = "team",
		.name = "p",
		.owner = {"apps/v1", "StatefulSet", "web", "u"},
		.notes = {s->note_items, 0},
		.containers = s->containers,
		.container_count = 1};
	s->ns = (struct namespace){.name = "team", .notes = {s->default_items, 0}};
	s->policy = (struct policy){.name = "own",
		.generation = 3,
		.has_selector = true,
		.mode = MODE_AUTOMATE,
		.sizing = SIZING_DEFAULT};
	s->policy_list[0] = &s->policy;
	s->workload = (struct workload){.key = {"team", "apps", "StatefulSet", "web"},
		.top = {.kind = "StatefulSet", .group = view_of("apps"), .name = view_of("web")}};
	s->in = (struct admit_input){.pod = &s->pod,
		.ns = &s->ns,
		.policies = {s->policy_list, 1},
		.workload = &s->workload,
		.recommendation = "statefulset-web@17",
		.target_milli = 300,
		.target_mib = 7168,
		.count_max = 16};
}

static struct admit_verdict judged(struct scene *s, enum reason reason)
{
	struct admit_verdict v = admit_judge(&s->in);
	cr_assert_eq(v.reason, reason, "%s", reason_name(v.reason));
	cr_assert_eq(v.convert, reason == REASON_CONVERTED);
	return v;
}

static void note(struct scene *s, const char *key, const char *value)
{
	s->note_items[s->pod.notes.count++] = (struct pair){key, value};
	pairs_sort(&s->pod.notes);
}

Test(recommended, it_is_the_share)
{
	CLEANUP(arena_finish) struct arena a = {0};
	struct scene s;
	struct mutation m;
	scene_init(&s);
	struct admit_verdict v = judged(&s, REASON_CONVERTED);
	cr_assert_eq(v.milli, 300);
	cr_assert_eq(v.mem_mib, 7168);
	cr_assert_not(v.clamped);
	admit_mutation(&s.in, &v, &a, &m);
	cr_assert_str_eq(m.recommendation, "statefulset-web@17");
	cr_assert_str_eq(m.policy_applied, "own@3");
}

Test(recommended, r3_without_one_the_pod_stays_whole)
{
	struct scene s;
	scene_init(&s);
	s.in.recommendation = NULL;
	judged(&s, REASON_NO_RECOMMENDATION);
}

/* C6: what a person asks for beats it, within the policy's bounds. */
Test(recommended, a_persons_wish_beats_it)
{
	CLEANUP(arena_finish) struct arena a = {0};
	struct scene s;
	struct mutation m;
	scene_init(&s);
	note(&s, NOTE_GPU_FRACTION, "0.05");
	struct admit_verdict v = judged(&s, REASON_CONVERTED);
	cr_assert_eq(v.milli, 100);
	cr_assert_eq(v.mem_mib, 0);
	cr_assert(v.clamped);
	admit_mutation(&s.in, &v, &a, &m);
	cr_assert_null(m.recommendation);
}

/* The policy was narrowed since: the share obeys it, and nobody asked for anything to be told. */
Test(recommended, the_policy_of_now_bounds_it)
{
	struct scene s;
	scene_init(&s);
	s.policy.sizing.max_percent = 20;
	struct admit_verdict v = judged(&s, REASON_CONVERTED);
	cr_assert_eq(v.milli, 200);
	cr_assert_not(v.clamped);
}

Test(recommended, o3_a_policy_that_does_not_exist_is_not_replaced)
{
	struct scene s;
	scene_init(&s);
	note(&s, NOTE_POLICY, "gone");
	judged(&s, REASON_POLICY_NOT_FOUND);
	scene_init(&s);
	s.workload.policy = "gone too";
	judged(&s, REASON_POLICY_NOT_FOUND);
}

Test(recommended, o4_an_excluded_namespace_keeps_its_whole_gpus)
{
	struct scene s;
	scene_init(&s);
	s.default_items[0] = (struct pair){NOTE_DEFAULT "exclude", "true"};
	s.ns.notes.count = 1;
	judged(&s, REASON_EXCLUDED);
}

Test(recommended, o6_only_automate_applies_it)
{
	struct scene s;
	scene_init(&s);
	s.policy.mode = MODE_RECOMMEND;
	judged(&s, REASON_NOT_AUTOMATED);
	note(&s, NOTE_MODE, "Automate");
	judged(&s, REASON_CONVERTED);
	scene_init(&s);
	s.policy.mode = MODE_DISABLED;
	judged(&s, REASON_DISABLED);
}

Test(recommended, the_strategy_never_applies_none)
{
	struct scene s;
	struct rollout_kind kinds[] = {
		{"DaemonSet", ROLLOUT_NEVER}, {"StatefulSet", ROLLOUT_ON_CREATE}};
	scene_init(&s);
	s.policy.rollout.kinds = kinds;
	s.policy.rollout.kind_count = COUNT_OF(kinds);
	judged(&s, REASON_CONVERTED);
	kinds[1].strategy = ROLLOUT_NEVER;
	struct admit_verdict v = judged(&s, REASON_NEVER_SIZED);
	cr_expect_str_eq(v.facts.name, "own");
	s.in.workload = NULL;
	judged(&s, REASON_NEVER_SIZED);
	note(&s, NOTE_GPU_FRACTION, "0.5");
	judged(&s, REASON_CONVERTED);
}

/* Installing changes no pod: without a person's policy nothing is automated. */
Test(recommended, o7_no_built_in_applies_it)
{
	struct scene s;
	for (int i = WORKLOAD_UNKNOWN; i < WORKLOAD_TYPES; i++) {
		scene_init(&s);
		s.in.policies.count = 0;
		s.workload.type = (enum workload_type)i;
		judged(&s, REASON_NOT_AUTOMATED);
	}
}

Test(recommended, r16_several_gpus_mig_and_claims_are_only_recommended)
{
	struct scene s;
	scene_init(&s);
	s.containers[0].gpus = 2;
	judged(&s, REASON_MULTI_GPU);
	note(&s, NOTE_GPU_FRACTION, "0.5");
	judged(&s, REASON_CONVERTED);
	scene_init(&s);
	s.containers[0].mig = true;
	judged(&s, REASON_MIG);
	scene_init(&s);
	s.containers[0].claims = true;
	judged(&s, REASON_RESOURCE_CLAIMS);
}

Test(recommended, a_whole_gpu_is_left_whole)
{
	struct scene s;
	scene_init(&s);
	s.in.target_milli = 1000;
	judged(&s, REASON_WHOLE);
	/* Its conversion was undone: a maximum is of shares. */
	s.policy.sizing.max_percent = 50;
	judged(&s, REASON_WHOLE);
	s.in.target_milli = 800;
	judged(&s, REASON_CONVERTED);
}

/* It has a controller, but no name for it that anything could be recommended under. */
Test(recommended, an_owner_that_is_not_known_is_left_whole)
{
	struct scene s;
	scene_init(&s);
	s.workload.key.name = NULL;
	judged(&s, REASON_OWNER_UNKNOWN);
}
