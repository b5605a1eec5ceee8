/* Who becomes a client of MPS. */
#include <criterion/criterion.h>

#include "model/names.h"
#include "size/admit.h"

static struct admit_verdict judge_in(struct policy *policy, const char *level, bool unlabelled,
	struct arena *arena, struct mutation *ret_mutation)
{
	struct container main = {.name = "main", .gpus = 1, .image = "pytorch:2"};
	struct pair fraction = {NOTE_GPU_FRACTION, "0.25"}, label = {LABEL_POD_SECURITY, level};
	struct pod pod = {.ns = "team",
		.name = "p",
		.notes = {&fraction, 1},
		.containers = &main,
		.container_count = 1};
	struct namespace ns = {.name = "team", .labels = {&label, level != NULL ? 1 : 0}};
	const struct policy *list[] = {policy};
	struct admit_input in = {
		.pod = &pod, .ns = &ns, .policies = {list, 1}, .mps_unlabelled = unlabelled};
	struct admit_verdict v = admit_judge(&in);
	cr_assert(v.convert);
	admit_mutation(&in, &v, arena, ret_mutation);
	return v;
}

static struct admit_verdict judge(struct policy *policy, const char *level, struct arena *arena,
	struct mutation *ret_mutation)
{
	return judge_in(policy, level, false, arena, ret_mutation);
}

/* What a namespace does not say the cluster may say, and then no pod would be created. */
Test(isolation, a_namespace_that_says_nothing_has_no_mps_unless_it_is_allowed)
{
	struct policy policy = {.name = "own",
		.has_selector = true,
		.sizing.min_percent = 1,
		.sizing.max_percent = 100,
		.isolation = ISOLATION_MPS};
	CLEANUP(arena_finish) struct arena arena = {0};
	struct mutation m;
	struct admit_verdict v = judge_in(&policy, NULL, false, &arena, &m);
	cr_expect_eq(v.isolation, ISOLATION_NONE);
	cr_assert_str_eq(v.forbids_mps, "");
	v = judge_in(&policy, NULL, true, &arena, &m);
	cr_expect(v.isolation == ISOLATION_MPS && v.forbids_mps == NULL);
	v = judge_in(&policy, "baseline", true, &arena, &m);
	cr_expect_eq(v.isolation, ISOLATION_NONE, "that is said");
}

Test(isolation, is_mps_where_the_policy_says_so_and_pod_security_allows_it)
{
	static const struct {
		const char *level;
		bool mps;
	} rows[] = {{NULL, false}, {"privileged", true}, {"baseline", false}, {"restricted", false},
		{"what-it-takes-for-restricted", false}};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		CLEANUP(arena_finish) struct arena arena = {0};
		struct mutation m;
		struct policy policy = {.name = "own",
			.has_selector = true,
			.sizing.min_percent = 1,
			.sizing.max_percent = 100,
			.isolation = ISOLATION_MPS};
		struct admit_verdict v = judge(&policy, rows[i].level, &arena, &m);
		cr_assert_eq(v.isolation == ISOLATION_MPS, rows[i].mps);
		cr_assert_eq(v.forbids_mps != NULL, !rows[i].mps);
		cr_assert_str_eq(m.isolation, rows[i].mps ? "MPS" : "None");
		cr_assert_eq(m.env, rows[i].mps ? mps_env : tenant_env);
		cr_assert_eq(m.mount_count, rows[i].mps ? MPS_MOUNTS_COUNT : 0u);
		policy.isolation = ISOLATION_NONE;
		v = judge(&policy, rows[i].level, &arena, &m);
		cr_assert_null(m.isolation, "nobody asked for anything else");
		cr_assert_null(v.forbids_mps);
		cr_assert_eq(m.env, tenant_env);
		cr_assert_eq(m.mount_count, 0);
	}
}

/* The daemon's pod is not in the tenant's namespace. */
Test(isolation, c28_is_none_where_capacity_pods_may_not_be_what_a_daemon_is)
{
	static const char *const levels[] = {"privileged", "baseline", "restricted"};
	struct pair own = {LABEL_POD_SECURITY, "privileged"}, theirs = {LABEL_POD_SECURITY, NULL};
	struct policy policy = {.name = "own",
		.has_selector = true,
		.sizing.max_percent = 100,
		.isolation = ISOLATION_MPS};
	struct container main = {.name = "main", .gpus = 1, .image = "pytorch:2"};
	struct pair fraction = {NOTE_GPU_FRACTION, "0.25"};
	struct pod pod = {.ns = "team",
		.name = "p",
		.notes = {&fraction, 1},
		.containers = &main,
		.container_count = 1};
	struct namespace ns = {.name = "team", .labels = {&own, 1}};
	struct namespace home = {.name = NAME_NAMESPACE, .labels = {&theirs, 1}};
	const struct policy *list[] = {&policy};
	struct admit_input in = {.pod = &pod, .ns = &ns, .home = &home, .policies = {list, 1}};
	for (size_t i = 0; i < COUNT_OF(levels); i++) {
		theirs.value = levels[i];
		struct admit_verdict v = admit_judge(&in);
		cr_expect(v.convert);
		cr_expect_eq(v.isolation == ISOLATION_MPS, i == 0, "%s", levels[i]);
		cr_expect_eq(v.home_forbids_mps, i > 0);
		cr_expect(i == 0 ? v.forbids_mps == NULL : text_equals(v.forbids_mps, levels[i]));
	}
	/* Whoever is not of a policy that asks for it misses nothing. */
	policy.isolation = ISOLATION_NONE;
	struct admit_verdict v = admit_judge(&in);
	cr_expect(v.forbids_mps == NULL && !v.home_forbids_mps);
	/* What a namespace enforces of its own is said of it. */
	policy.isolation = ISOLATION_MPS;
	theirs.value = "privileged";
	own.value = "baseline";
	v = admit_judge(&in);
	cr_expect(text_equals(v.forbids_mps, "baseline") && !v.home_forbids_mps);
}
