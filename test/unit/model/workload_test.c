/* Keys, types, and names that are objects' names and never meet. */
#include <criterion/criterion.h>
#include <string.h>

#include "base/str.h"
#include "model/workload.h"

static const char *name_of(struct arena *a, const char *group, const char *kind, const char *name)
{
	struct workload_key key = {"ns", group, kind, name};
	return workload_object_name(&key, a);
}

Test(workload, plain_names)
{
	CLEANUP(arena_finish) struct arena a = {0};
	cr_assert_str_eq(name_of(&a, "apps", "Deployment", "llm"), "deployment-llm");
	cr_assert_str_eq(name_of(&a, "kubeflow.org", "PyTorchJob", "a.b"), "pytorchjob-a.b");
	cr_assert_str_eq(name_of(&a, "aliquot.dev", WORKLOAD_GROUP_KIND, "runs.nightly"),
		"gpuworkloadgroup-runs.nightly");
}

Test(workload, long_names_are_cut_and_hashed)
{
	CLEANUP(arena_finish) struct arena a = {0};
	char name[81];
	memset(name, 'x', 80);
	name[80] = '\0';
	const char *cut = name_of(&a, "apps", "Deployment", name);
	cr_assert_eq(strlen(cut), WORKLOAD_OBJECT_NAME_MAX);
	cr_assert_str_eq(cut, "deployment-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx-030aa466");
	name[79] = 'y';
	cr_assert_str_neq(name_of(&a, "apps", "Deployment", name), cut);
	name[52] = '\0';
	cr_assert_str_eq(name_of(&a, "apps", "Deployment", name) + sizeof "deployment", name);
}

/* A Job of batch and one of Volcano, both called train. */
Test(workload, kinds_of_two_groups_do_not_meet)
{
	CLEANUP(arena_finish) struct arena a = {0};
	cr_assert_str_eq(name_of(&a, "batch", "Job", "train"), "job-train");
	cr_assert_str_eq(name_of(&a, "batch.volcano.sh", "Job", "train"), "job-train-1f267ced");
}

Test(workload, what_no_name_may_hold_is_replaced_and_hashed)
{
	CLEANUP(arena_finish) struct arena a = {0};
	cr_assert_str_eq(name_of(&a, "aliquot.dev", WORKLOAD_GROUP_KIND, "runs.Team_A"),
		"gpuworkloadgroup-runs-team-a-58a1bff5");
	static const char *const odd[] = {"a..b", "a.-b", "a.", "-", "ä", "a/b", ""};
	for (size_t i = 0; i < COUNT_OF(odd); i++) {
		const char *made = name_of(&a, "apps", "Deployment", odd[i]);
		cr_assert_eq(strspn(made, "abcdefghijklmnopqrstuvwxyz0123456789-"), strlen(made));
		cr_assert_gt(strlen(made), sizeof "deployment-");
	}
}

Test(workload, types)
{
	enum workload_type type = WORKLOAD_UNKNOWN;
	for (int i = WORKLOAD_UNKNOWN + 1; i < WORKLOAD_TYPES; i++) {
		cr_assert(workload_type_parse(workload_type_name((enum workload_type)i), &type));
		cr_assert_eq(type, i);
	}
	cr_assert_not(workload_type_parse("training", &type));
	cr_assert_not(workload_type_parse(NULL, &type));
	cr_assert_null(workload_type_name(WORKLOAD_UNKNOWN));
}

Test(workload, keys)
{
	struct workload_key a = {"ns", "apps", "Deployment", "x"};
	struct workload_key same = {"ns", "apps", "Deployment", "x"};
	struct workload_key others[] = {{"n", "sapps", "Deployment", "x"},
		{"ns", "", "Deployment", "x"}, {"ns", "apps", "Deploymentx", ""},
		{"ns", "apps", "Deployment", "y"}};
	cr_assert(workload_key_equals(&a, &same));
	cr_assert_eq(workload_key_hash(&a), workload_key_hash(&same));
	for (size_t i = 0; i < COUNT_OF(others); i++) {
		cr_assert_not(workload_key_equals(&a, &others[i]));
		cr_assert_neq(workload_key_hash(&a), workload_key_hash(&others[i]));
	}
}
