/* Which policy holds: O1 to O4 and O6 as far as they need no recommendation, ties, defaults,
 * owners. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "model/names.h"
#include "size/builtin.h"
#include "size/policy_resolution.h"

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
Test(policy, a_selector_of_namespaces_leaves_the_others_out)
{
	struct policy team = selecting_all("team", 100, 1), all = selecting_all("all", 50, 1);
	team.namespaces = (struct selector){.present = true, .match_labels = PAIRS({"team", "ml"})};
	struct policy_set set = SET(&team, &all);
	struct namespace ml = {.name = "ml", .labels = PAIRS({"team", "ml"})};
	struct namespace web = {.name = "web", .labels = PAIRS({"team", "web"})};
	struct namespace bare = {.name = "bare"};
	struct policy_subject who = plain();
	who.ns = &ml;
	cr_expect_eq(policy_choose(&set, &who).policy, &team);
	who.ns = &web;
	cr_expect_eq(policy_choose(&set, &who).policy, &all);
	who.ns = &bare;
	cr_expect_eq(policy_choose(&set, &who).policy, &all);
	who.ns = NULL;
	cr_expect_eq(policy_choose(&set, &who).policy, &all, "its labels are not known");
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
	who.type = WORKLOAD_TRAINING;
	cr_assert(policy_selects(&p, &who));
	p.has_selector = false;
	cr_assert_not(policy_selects(&p, &who));
}

Test(policy, o7_a_detected_type_has_its_built_in)
{
	struct container c = {.name = "main", .gpus = 1};
	struct pod pod = {.owner = {"kubeflow.org/v1", "PyTorchJob", "t", "u"},
		.containers = &c,
		.container_count = 1};
	struct policy_subject who = policy_subject_of(&pod, NULL);
	struct policy_set none = {NULL, 0};
	struct policy_choice choice = policy_choose(&none, &who);
	cr_assert_eq(who.type, WORKLOAD_TRAINING);
	cr_assert_str_eq(choice.policy->name, "builtin-Training");
	cr_assert_str_eq(policy_source_name(choice.source), "Detected");
	cr_assert_eq(choice.mode, MODE_RECOMMEND);

	/* before the fallback, after the selectors and what a group names */
	struct policy fallback = {.name = "rest", .is_fallback = true};
	struct policy all = selecting_all("all", 1, 1);
	struct policy_set both = SET(&fallback, &all), one = SET(&fallback);
	cr_assert_str_eq(policy_choose(&one, &who).policy->name, "builtin-Training");
	cr_assert_str_eq(policy_choose(&both, &who).policy->name, "all");
	who.group_policy = "rest";
	choice = policy_choose(&both, &who);
	cr_assert_eq(choice.policy, &fallback);
	cr_assert_str_eq(policy_source_name(choice.source), "Group");
	who.group_policy = NULL;
	who.type = WORKLOAD_UNKNOWN;
	cr_assert_str_eq(policy_choose(&one, &who).policy->name, "rest");
}

/* Of every kind of work, and within what the CRD would allow. */
Test(policy, built_ins_change_no_pod)
{
	for (int i = WORKLOAD_UNKNOWN + 1; i < WORKLOAD_TYPES; i++) {
		const char *type = workload_type_name((enum workload_type)i);
		const struct policy *p = policy_builtin_for((enum workload_type)i);
		cr_assert_not_null(p, "%s", type);
		cr_assert_str_eq(p->name + sizeof "builtin", type);
		cr_assert_eq(policy_builtin_named(p->name), p);
		cr_assert(p->built_in);
		cr_assert_eq(p->mode, MODE_RECOMMEND);
		const struct sizing *s = &p->sizing;
		cr_assert(s->percentile >= 50 && s->percentile <= 100, "%s", type);
		cr_assert(s->headroom_percent >= 0 && s->headroom_percent <= 200, "%s", type);
		cr_assert(s->min_percent >= 1 && s->min_percent <= s->max_percent, "%s", type);
		cr_assert(s->max_percent <= 100 && 100 % s->step_percent == 0, "%s", type);
		cr_assert(s->min_mem_mib > 0 && s->step_mem_mib > 0, "%s", type);
		cr_assert(s->window_s >= 3600 && s->window_s <= SIZING_WINDOW_MAX_S, "%s", type);
		cr_assert_leq(s->required_s, s->window_s, "%s", type);
		cr_assert(s->required_s > 0 || s->required_runs > 0, "%s", type);
		cr_assert(s->heal_memory.enabled && s->heal_compute.enabled, "%s", type);
	}
	cr_assert_null(policy_builtin_for(WORKLOAD_UNKNOWN));
	cr_assert_eq(
		policy_builtin_named("builtin-training"), policy_builtin_for(WORKLOAD_TRAINING));
	cr_assert_eq(policy_builtin_named("builtin-default"), policy_builtin());
	cr_assert_null(policy_builtin_named("builtin-"));
}

#define ALL_OPEN (2 * SIZING_OPEN_REST - 1)

Test(policy, what_it_leaves_open_is_that_of_the_kind_of_work)
{
	struct policy p = {.name = "mine", .sizing = SIZING_DEFAULT};
	p.sizing.open = ALL_OPEN & ~(unsigned)SIZING_OPEN_HEADROOM;
	p.sizing.headroom_percent = 33;
	for (int i = 0; i < WORKLOAD_TYPES; i++) {
		const struct policy *typed = policy_builtin_for((enum workload_type)i);
		struct sizing wanted = (typed != NULL ? typed : policy_builtin())->sizing;
		struct sizing s = policy_sizing(&p, (enum workload_type)i);
		wanted.headroom_percent = 33;
		cr_expect_eq(s.percentile, wanted.percentile, "%d", i);
		cr_expect_eq(s.headroom_percent, 33, "%d", i);
		cr_expect_eq(s.min_percent, wanted.min_percent, "%d", i);
		cr_expect_eq(s.max_percent, 100, "%d: nobody wrote less", i);
		cr_expect_eq(s.whole_from_p50_percent, wanted.whole_from_p50_percent, "%d", i);
		cr_expect_eq(s.active_above_percent, wanted.active_above_percent, "%d", i);
		cr_expect_eq(s.mem_headroom_percent, wanted.mem_headroom_percent, "%d", i);
		cr_expect_eq(s.window_s, wanted.window_s, "%d", i);
		cr_expect_eq(s.required_s, wanted.required_s, "%d", i);
		cr_expect_eq(s.required_runs, wanted.required_runs, "%d", i);
		cr_expect_eq(s.required_run_s, wanted.required_run_s, "%d", i);
		cr_expect_eq(s.scale_down_delay_s, wanted.scale_down_delay_s, "%d", i);
		cr_expect_eq(s.shrink_idle_s, wanted.shrink_idle_s, "%d", i);
		cr_expect_eq(s.keeps_running, wanted.keeps_running, "%d", i);
		cr_expect_geq(s.min_percent, SIZING_LEAST_PERCENT, "%d", i);
	}
}

Test(policy, what_is_written_holds_against_what_is_not)
{
	struct policy p = {.name = "mine", .sizing = SIZING_DEFAULT};
	p.sizing.open = ALL_OPEN & ~(unsigned)(SIZING_OPEN_MIN | SIZING_OPEN_REQUIRED);
	p.sizing.min_percent = 60;
	p.sizing.required_s = 20 * 86400;
	struct sizing s = policy_sizing(&p, WORKLOAD_BUILD);
	cr_expect_eq(s.min_percent, 60);
	cr_expect_eq(s.max_percent, 100);
	cr_expect_eq(s.required_s, 20 * 86400);
	cr_expect_eq(s.window_s, 20 * 86400);
	cr_expect_eq(s.required_runs, 0, "it asks for hours");
	cr_expect(s.keeps_running, "until its next run");
	p.sizing.open &= ~(unsigned)SIZING_OPEN_DELAY;
	cr_expect_not(policy_sizing(&p, WORKLOAD_BUILD).keeps_running, "it says when");
	cr_expect(policy_sizing(&p, WORKLOAD_TRAINING).keeps_running);
	p.sizing.open = ALL_OPEN & ~(unsigned)(SIZING_OPEN_MAX | SIZING_OPEN_WINDOW);
	p.sizing.max_percent = 3;
	p.sizing.window_s = 7200;
	s = policy_sizing(&p, WORKLOAD_NOTEBOOK);
	cr_expect_eq(s.min_percent, 3);
	cr_expect_eq(s.max_percent, 3);
	cr_expect_eq(s.required_s, 7200);
	cr_expect_eq(s.window_s, 7200);
	struct policy_subject who = {
		.labels = &nothing, .notes = &nothing, .type = WORKLOAD_TRAINING};
	struct policy_set none = {NULL, 0};
	cr_expect_eq(policy_choose(&none, &who).sizing.percentile, 99);
}

/* docs/policies.md has a row for each. */
Test(policy, the_document_says_what_each_kind_of_work_has)
{
	CLEANUP(str_finish) struct str text = STR_INIT((size_t)1 << 20);
	/* Tests run in the folder that the compiler's paths are relative to. */
	char row[512], path[512];
	snprintf(path, sizeof path, "%.*s../../../docs/policies.md",
		(int)(strrchr(__FILE__, '/') + 1 - __FILE__), __FILE__);
	FILE *file = fopen(path, "r");
	cr_assert_not_null(file, "%s", path);
	for (int c = fgetc(file); c != EOF; c = fgetc(file)) {
		str_append_char(&text, (char)c);
	}
	fclose(file);
	for (int i = 0; i < WORKLOAD_TYPES; i++) {
		const struct policy *typed = policy_builtin_for((enum workload_type)i);
		const struct sizing *s = &(typed != NULL ? typed : policy_builtin())->sizing;
		snprintf(row, sizeof row, "\n| %s | %d | %d | %d | %d | %d | %lld | %lld | %lld |",
			typed != NULL ? workload_type_name((enum workload_type)i) : "not known",
			s->percentile, s->headroom_percent, s->min_percent, s->max_percent,
			s->mem_headroom_percent, (long long)s->window_s, (long long)s->required_s,
			(long long)s->scale_down_delay_s);
		cr_expect_not_null(strstr(str_text(&text), row), "%s", row);
	}
}
