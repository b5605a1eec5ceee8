/* Which policy holds: O1 to O4 and O6 as far as they need no recommendation, ties, defaults,
 * owners. */
#include <criterion/criterion.h>

#include "base/cleanup.h"
#include "model/names.h"
#include "size/policy.h"

#define SET(...)                                                                                   \
	((struct policy_set){(const struct policy *const[]){__VA_ARGS__},                          \
		sizeof((const struct policy *const[]){__VA_ARGS__}) / sizeof(struct policy *)})
#define PAIRS(...)                                                                                 \
	((struct pairs){(struct pair[]){__VA_ARGS__},                                              \
		sizeof((struct pair[]){__VA_ARGS__}) / sizeof(struct pair)})

static const struct pairs nothing;

static struct policy selecting_all(const char *name, int32_t priority, int64_t created_ms)
{
	return (struct policy){
		.name = name, .priority = priority, .created_ms = created_ms, .has_selector = true};
}

static struct policy_subject plain(void)
{
	return (struct policy_subject){.labels = &nothing, .notes = &nothing};
}

Test(policy, o1_higher_priority_is_used_and_its_deletion_brings_the_other)
{
	struct policy a = selecting_all("a", 100, 1), b = selecting_all("b", 200, 2);
	struct policy_subject who = plain();
	struct policy_set both = SET(&a, &b), one = SET(&a);
	struct policy_choice c = policy_choose(&both, &who);
	cr_assert_eq(c.policy, &b);
	cr_assert_eq(c.source, POLICY_FROM_SELECTOR);
	cr_assert_str_eq(policy_source_name(c.source), "Selector");
	cr_assert_not(c.conflict);
	cr_assert_eq(policy_choose(&one, &who).policy, &a);
}

Test(policy, o2_equal_priorities_older_wins_then_name_and_the_loser_overlaps)
{
	struct policy old = selecting_all("z", 100, 1), young = selecting_all("a", 100, 2);
	struct policy twin = selecting_all("b", 100, 2), low = selecting_all("c", 50, 0);
	struct policy_subject who = plain();
	/* in whatever order they come */
	struct policy_set sets[] = {SET(&old, &young, &low), SET(&low, &young, &old)};
	for (size_t i = 0; i < COUNT_OF(sets); i++) {
		struct policy_choice c = policy_choose(&sets[i], &who);
		cr_assert_eq(c.policy, &old);
		cr_assert(c.conflict);
	}
	struct policy_set same_age = SET(&twin, &young);
	cr_assert_eq(policy_choose(&same_age, &who).policy, &young, "name order");

	struct policy_tally cells[3] = {{0}};
	policy_tally_add(&sets[0], &who, cells);
	cr_assert_eq(cells[0].matched, 1);
	cr_assert_not(cells[0].overlapping);
	cr_assert_eq(cells[1].matched, 0);
	cr_assert(cells[1].overlapping);
	cr_assert_not(cells[2].overlapping, "a lower priority is no overlap");
}

Test(policy, a_tie_below_the_winner_is_no_conflict)
{
	struct policy a = selecting_all("a", 100, 1), b = selecting_all("b", 100, 2),
		      top = selecting_all("top", 200, 3);
	struct policy_subject who = plain();
	struct policy_set set = SET(&a, &b, &top);
	struct policy_choice c = policy_choose(&set, &who);
	cr_assert_eq(c.policy, &top);
	cr_assert_not(c.conflict);
}

Test(policy, o3_annotation_beats_selectors_and_a_missing_one_has_no_fallback)
{
	struct policy a = selecting_all("a", 9000, 1), named = {.name = "c"};
	struct policy fallback = {.name = "f", .is_fallback = true};
	struct policy_set set = SET(&a, &named, &fallback);
	struct pairs notes = PAIRS({NOTE_POLICY, "c"});
	struct namespace ns = {.notes = PAIRS({NOTE_DEFAULT "policy", "a"})};
	struct policy_subject who = {.labels = &nothing, .notes = &notes, .ns = &ns};
	struct policy_choice c = policy_choose(&set, &who);
	cr_assert_eq(c.policy, &named);
	cr_assert_eq(c.source, POLICY_FROM_ANNOTATION);

	notes = PAIRS({NOTE_POLICY, "gone"});
	c = policy_choose(&set, &who);
	cr_assert_null(c.policy);
	cr_assert_eq(c.reason, REASON_POLICY_NOT_FOUND);
	cr_assert_str_eq(c.missing, "gone");

	notes = nothing;
	c = policy_choose(&set, &who);
	cr_assert_eq(c.policy, &a);
	cr_assert_eq(c.source, POLICY_FROM_NAMESPACE);
	ns.notes = PAIRS({NOTE_DEFAULT "policy", "gone"});
	cr_assert_eq(policy_choose(&set, &who).reason, REASON_POLICY_NOT_FOUND);

	struct policy_tally cells[3] = {{0}};
	policy_tally_add(&set, &who, cells);
	cr_assert_eq(cells[0].matched + cells[1].matched + cells[2].matched, 0);
}

Test(policy, fallback_holds_where_nothing_matches_and_the_built_in_after_it)
{
	struct policy low = {.name = "low", .is_fallback = true, .priority = 1};
	struct policy high = {.name = "high", .is_fallback = true, .priority = 2};
	struct policy_subject who = plain();
	struct policy_set set = SET(&low, &high), none = {0};
	struct policy_choice c = policy_choose(&set, &who);
	cr_assert_eq(c.policy, &high);
	cr_assert_eq(c.source, POLICY_FROM_FALLBACK);
	c = policy_choose(&none, &who);
	cr_assert_eq(c.policy, policy_builtin());
	cr_assert_str_eq(c.policy->name, "builtin-default");
	cr_assert(c.policy->built_in);
	cr_assert_eq(c.mode, MODE_RECOMMEND, "installing changes no pod");
	struct pairs notes = PAIRS({NOTE_POLICY, "builtin-default"});
	who.notes = &notes;
	cr_assert_eq(policy_choose(&none, &who).source, POLICY_FROM_ANNOTATION);
}

Test(policy, o4_exclude_of_the_namespace_and_a_pods_own_false_lifts_it)
{
	const struct {
		const char *pod, *ns;
		bool excluded;
		uint32_t bad;
	} cases[] = {{NULL, NULL, false, 0}, {"true", NULL, true, 0}, {NULL, "true", true, 0},
		{"false", "true", false, 0}, {"true", "false", true, 0}, {"maybe", NULL, false, 1},
		{"maybe", "true", true, 1}, {NULL, "yes", false, 1}, {"True", "1", false, 2}};
	struct policy_set none = {0};
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct pairs notes = {0};
		struct namespace ns = {0};
		struct pair own = {NOTE_EXCLUDE, cases[i].pod};
		struct pair of_ns = {NOTE_DEFAULT "exclude", cases[i].ns};
		if (cases[i].pod != NULL) {
			notes = (struct pairs){&own, 1};
		}
		if (cases[i].ns != NULL) {
			ns.notes = (struct pairs){&of_ns, 1};
		}
		struct policy_subject who = {.labels = &nothing, .notes = &notes, .ns = &ns};
		struct policy_choice c = policy_choose(&none, &who);
		cr_assert_eq(c.excluded, cases[i].excluded, "case %zu", i);
		cr_assert_eq(c.bad_count, cases[i].bad, "case %zu", i);
		cr_assert_eq(c.reason, REASON_NONE, "what cannot be read never blocks");
	}
}

Test(policy, o6_mode_pod_then_namespace_then_policy)
{
	struct policy p = selecting_all("p", 1, 1);
	p.mode = MODE_AUTOMATE;
	struct policy_set set = SET(&p);
	struct pairs notes = PAIRS({NOTE_MODE, "Disabled"});
	struct namespace ns = {.notes = PAIRS({NOTE_DEFAULT "mode", "Recommend"})};
	struct policy_subject who = {.labels = &nothing, .notes = &notes, .ns = &ns};
	cr_assert_eq(policy_choose(&set, &who).mode, MODE_DISABLED);
	notes = nothing;
	cr_assert_eq(policy_choose(&set, &who).mode, MODE_RECOMMEND);
	notes = PAIRS({NOTE_MODE, "Foo"});
	struct policy_choice c = policy_choose(&set, &who);
	cr_assert_eq(c.mode, MODE_RECOMMEND, "an unreadable mode does not count");
	cr_assert_eq(c.bad_count, 1);
	cr_assert_str_eq(c.bad[0].value, "Foo");
	ns.notes = nothing;
	notes = nothing;
	cr_assert_eq(policy_choose(&set, &who).mode, MODE_AUTOMATE);

	struct policy_tally cell = {0};
	policy_tally_add(&set, &who, &cell);
	cr_assert_eq(cell.automated, 1);
	notes = PAIRS({NOTE_EXCLUDE, "true"});
	policy_tally_add(&set, &who, &cell);
	cr_assert_eq(cell.matched, 2);
	cr_assert_eq(cell.automated, 1);
}

Test(policy, selectors_look_at_namespace_pod_owner_and_type)
{
	struct policy p = selecting_all("p", 1, 1);
	struct pairs labels = PAIRS({"app", "llm"});
	struct namespace ns = {.labels = PAIRS({"team", "ml"})};
	struct policy_subject who = {.labels = &labels, .notes = &nothing, .ns = &ns};
	cr_assert(policy_selects(&p, &who));
	p.namespaces = (struct selector){.present = true, .match_labels = PAIRS({"team", "ml"})};
	p.pods = (struct selector){.present = true, .match_labels = PAIRS({"app", "llm"})};
	cr_assert(policy_selects(&p, &who));
	who.ns = NULL;
	cr_assert_not(policy_selects(&p, &who), "an unknown namespace has no labels to match");
	who.ns = &ns;
	labels = PAIRS({"app", "other"});
	cr_assert_not(policy_selects(&p, &who));
	labels = PAIRS({"app", "llm"});

	p.owner_kinds = (struct owner_kind[]){{"apps", "Deployment"}, {NULL, "Pod"}};
	p.owner_kind_count = 2;
	cr_assert_not(policy_selects(&p, &who));
	who.owner = (struct owner_top){.kind = "Deployment", .group = view_of("apps")};
	cr_assert(policy_selects(&p, &who));
	who.owner.group = view_of("example.com");
	cr_assert_not(policy_selects(&p, &who));
	p.owner_kind_count = 0;

	p.workload_types = (const char *[]){"Training"};
	p.workload_type_count = 1;
	cr_assert_not(policy_selects(&p, &who), "no type is detected");
	who.workload_type = "Training";
	cr_assert(policy_selects(&p, &who));
	p.has_selector = false;
	cr_assert_not(policy_selects(&p, &who));
}

static struct owner_top top_of(const char *api_version, const char *kind, const char *name,
	const char *label, const char *hash)
{
	struct pair pair = {label, hash};
	struct pod pod = {.owner = {api_version, kind, name, "uid"},
		.labels = {&pair, label != NULL ? 1 : 0}};
	return admit_owner_top(&pod);
}

Test(owner, c4_names_tell_the_owner_above)
{
	const struct {
		const char *api, *kind, *name, *label, *hash;
		const char *top_group, *top_kind, *top_name;
		bool guessed;
	} cases[] = {
		{"apps/v1", "ReplicaSet", "web-7d4b9c", "pod-template-hash", "7d4b9c", "apps",
			"Deployment", "web", true},
		{"apps/v1", "ReplicaSet", "web-7d4b9c", "rollouts-pod-template-hash", "7d4b9c",
			"argoproj.io", "Rollout", "web", true},
		{"apps/v1", "ReplicaSet", "web-7d4b9c", "pod-template-hash", "other", "apps",
			"ReplicaSet", "web-7d4b9c", false},
		{"apps/v1", "ReplicaSet", "web", NULL, NULL, "apps", "ReplicaSet", "web", false},
		{"apps/v1", "ReplicaSet", "-abc", "pod-template-hash", "abc", "apps", "ReplicaSet",
			"-abc", false},
		{"batch/v1", "Job", "nightly-29405160", NULL, NULL, "batch", "CronJob", "nightly",
			true},
		{"batch/v1", "Job", "train-20261121", NULL, NULL, "batch", "Job", "train-20261121",
			false},
		{"batch/v1", "Job", "train-x9405160", NULL, NULL, "batch", "Job", "train-x9405160",
			false},
		{"example.com/v1", "Job", "nightly-29405160", NULL, NULL, "example.com", "Job",
			"nightly-29405160", false},
		{"v1", "ReplicationController", "rc", NULL, NULL, "", "ReplicationController", "rc",
			false},
		{"kubeflow.org/v1", "PyTorchJob", "t", NULL, NULL, "kubeflow.org", "PyTorchJob",
			"t", false},
	};
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct owner_top top = top_of(
			cases[i].api, cases[i].kind, cases[i].name, cases[i].label, cases[i].hash);
		cr_assert_str_eq(top.kind, cases[i].top_kind, "case %zu", i);
		cr_assert(view_equals(top.group, cases[i].top_group), "case %zu", i);
		cr_assert(view_equals(top.name, cases[i].top_name), "case %zu", i);
		cr_assert_eq(top.guessed, cases[i].guessed, "case %zu", i);
	}
	cr_assert_null(top_of("v1", NULL, NULL, NULL, NULL).kind);
	cr_assert_null(top_of(NULL, "Job", "x", NULL, NULL).kind);
}
