/* GPUWorkloadGroups: O9 to O11, every source of keys, what is refused and why. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "model/names.h"
#include "owner/groups.h"

struct scene {
	struct pair label_items[2], note_items[1];
	struct pod pod;
	struct group_rule rule;
	struct pair wanted;
	struct workload_group group;
	struct groups *groups;
	struct arena arena;
};

/* A pod of a run called nightly-x7k2p and a group that keys on the label of its cron workflow. */
static void scene_init(struct scene *s)
{
	*s = (struct scene){.groups = groups_create()};
	s->label_items[0] = (struct pair){"example.com/run", "nightly"};
	s->pod = (struct pod){.ns = "team",
		.name = "p",
		.owner = {"argoproj.io/v1alpha1", "Workflow", "nightly-x7k2p", "u"},
		.labels = {s->label_items, 1},
		.notes = {s->note_items, 0},
		.gpu_container = "main",
		.gpu_image = "reg/train:2"};
	s->rule = (struct group_rule){.owner_group = "argoproj.io", .owner_kind = "Workflow"};
	s->group = (struct workload_group){.name = "runs",
		.rules = &s->rule,
		.rule_count = 1,
		.key_from = GROUP_KEY_LABEL_VALUE,
		.key_name = "example.com/run"};
}

static void scene_finish(struct scene *s)
{
	groups_destroy(s->groups);
	arena_finish(&s->arena);
}

static bool set(struct scene *s)
{
	struct change c = {.type = CHANGE_SET, .kind = KIND_GROUP, .group = &s->group};
	return groups_apply(s->groups, &c);
}

static struct workload resolve(struct scene *s)
{
	struct workload w;
	workload_of(s->groups, NULL, &s->pod, &s->arena, &w);
	return w;
}

static void belongs_to(struct scene *s, const char *name)
{
	struct workload w = resolve(s);
	cr_assert_str_eq(w.key.name, name);
	cr_assert_str_eq(w.key.ns, "team");
}

static void is_left_alone(struct scene *s, const char *why)
{
	cr_assert_str_eq(resolve(s).key.kind, "Workflow", "%s", why);
}

/* Three runs, many pods, one workload. */
Test(groups, o9_runs_of_one_label_are_one_workload)
{
	struct scene s;
	scene_init(&s);
	s.group.policy = "small";
	s.group.retention_s = 3600;
	cr_assert(set(&s));
	static const char *const runs[] = {"nightly-1", "nightly-2", "nightly-3"};
	for (size_t i = 0; i < COUNT_OF(runs); i++) {
		s.pod.owner.name = runs[i];
		struct workload w = resolve(&s);
		cr_assert_str_eq(w.key.group, NAME_GROUP);
		cr_assert_str_eq(w.key.kind, WORKLOAD_GROUP_KIND);
		cr_assert_str_eq(w.key.name, "runs.nightly");
		cr_assert_str_eq(w.policy, "small");
		cr_assert_eq(w.retention_s, 3600);
		cr_assert_eq(w.type, WORKLOAD_BATCH);
	}
	s.group.disabled = true;
	cr_assert(set(&s));
	is_left_alone(&s, "disabled");
	scene_finish(&s);
}

Test(groups, without_a_group_the_owner_is_the_workload)
{
	struct scene s;
	scene_init(&s);
	struct workload w = resolve(&s);
	cr_assert_str_eq(w.key.kind, "Workflow");
	cr_assert_str_eq(w.key.group, "argoproj.io");
	cr_assert_str_eq(w.key.name, "nightly-x7k2p");
	cr_assert_null(w.policy);
	s.pod.owner = (struct owner){0};
	cr_assert_null(resolve(&s).key.name, "a bare pod is nobody's");
	workload_of(NULL, NULL, &s.pod, &s.arena, &w);
	cr_assert_null(w.key.name);
	scene_finish(&s);
}

Test(groups, o10_what_cannot_be_used_says_why)
{
	static const struct {
		const char *regex, *says;
	} cases[] = {
		{"a(b", "Unmatched"},
		{"[z-a]", "range"},
		{"(a)\\1", "refers back"},
		{"((a{100}){100}){100}", "repeats"},
		{"a{99999999999999999999}", "repeats"},
		{"a{1,2", NULL},
		{"a++", "repeats a repetition"},
		{"((((((((((((a+)+)+)+)+)+)+)+)+)+)+)+)", "repeats more"},
	};
	struct scene s;
	scene_init(&s);
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		s.rule.image_regex = cases[i].regex;
		cr_assert(set(&s));
		const char *problem = groups_problem(s.groups, 0);
		cr_assert_not_null(problem, "case %zu", i);
		cr_assert_not_null(strstr(problem, "rules[0].imageRegex"), "%s", problem);
		cr_assert(cases[i].says == NULL || strstr(problem, cases[i].says) != NULL, "%s",
			problem);
		is_left_alone(&s, cases[i].regex);
	}
	struct pair foreign = {"example.com/x", NULL};
	s.rule = (struct group_rule){.notes = {&foreign, 1}};
	cr_assert(set(&s));
	cr_assert_not_null(strstr(groups_problem(s.groups, 0), "use a label"));
	s.group.key_from = GROUP_KEY_ANNOTATION_VALUE;
	cr_assert(set(&s));
	cr_assert_not_null(strstr(groups_problem(s.groups, 0), "keyName"));
	s.group.key_from = GROUP_KEY_LABEL_VALUE;
	s.rule = (struct group_rule){.container_name_regex = "main"};
	cr_assert(set(&s));
	cr_assert_not_null(strstr(groups_problem(s.groups, 0), "at least one of"));
	s.rule = (struct group_rule){.owner_kind = "Workflow", .owner_group = "argoproj.io"};
	s.group.owner_suffix_regex = "(";
	cr_assert(set(&s));
	cr_assert_not_null(strstr(groups_problem(s.groups, 0), "ownerSuffixRegex"));
	s.group.owner_suffix_regex = NULL;
	cr_assert(set(&s));
	cr_assert_null(groups_problem(s.groups, 0));
	belongs_to(&s, "runs.nightly");
	scene_finish(&s);
}

/* Inside of a set, or after a backslash, they repeat nothing. */
Test(groups, what_looks_costly_and_is_not)
{
	static const char *const fine[] = {"[+*?{}]+", "^[][:digit:]+++]*$", "\\+\\+\\+*",
		"^([a-z0-9]+)(-[a-z0-9]+)?(-[0-9]{4}){1,3}-.*$"};
	struct scene s;
	scene_init(&s);
	for (size_t i = 0; i < COUNT_OF(fine); i++) {
		s.rule.image_regex = fine[i];
		cr_assert(set(&s));
		cr_assert_null(groups_problem(s.groups, 0), "%s: %s", fine[i],
			groups_problem(s.groups, 0));
	}
	scene_finish(&s);
}

Test(groups, o11_the_highest_weight_wins_then_the_name)
{
	struct scene s;
	scene_init(&s);
	s.group.name = "light";
	cr_assert(set(&s));
	s.group.name = "heavy";
	s.group.weight = 10;
	cr_assert(set(&s));
	belongs_to(&s, "heavy.nightly");
	s.group.name = "also";
	cr_assert(set(&s));
	belongs_to(&s, "also.nightly");
	struct change gone = {.type = CHANGE_GONE, .kind = KIND_GROUP, .name = "also"};
	cr_assert(groups_apply(s.groups, &gone));
	gone.name = "heavy";
	cr_assert(groups_apply(s.groups, &gone));
	belongs_to(&s, "light.nightly");
	scene_finish(&s);
}

Test(groups, keys_come_from_where_it_says)
{
	struct scene s;
	scene_init(&s);
	s.group.key_from = GROUP_KEY_OWNER_NAME;
	s.group.key_name = NULL;
	cr_assert(set(&s));
	belongs_to(&s, "runs.nightly-x7k2p");
	s.group.owner_suffix_regex = "-[a-z0-9]{5}";
	cr_assert(set(&s));
	belongs_to(&s, "runs.nightly");
	s.pod.owner.name = "-x7k2p";
	belongs_to(&s, "runs.-x7k2p");
	s.pod.owner.name = "nightly-x7k2p-tail-here";
	belongs_to(&s, "runs.nightly-x7k2p-tail-here");

	s.group.owner_suffix_regex = NULL;
	s.group.key_from = GROUP_KEY_REGEX_CAPTURE;
	s.rule.owner_name_regex = "^([a-z]+)(-x)?";
	cr_assert(set(&s));
	belongs_to(&s, "runs.nightly");
	s.pod.owner.name = "7";
	is_left_alone(&s, "the name does not match");
	s.rule.owner_name_regex = "7|(a)";
	cr_assert(set(&s));
	is_left_alone(&s, "the parentheses took no part");

	s.group.key_from = GROUP_KEY_CONSTANT;
	s.group.key_name = "all";
	cr_assert(set(&s));
	belongs_to(&s, "runs.all");

	s.group.key_from = GROUP_KEY_ANNOTATION_VALUE;
	s.group.key_name = "aliquot.dev/x";
	cr_assert(set(&s));
	is_left_alone(&s, "no such annotation");
	s.note_items[0] = (struct pair){"aliquot.dev/x", "y"};
	s.pod.notes.count = 1;
	belongs_to(&s, "runs.y");
	scene_finish(&s);
}

Test(groups, every_part_of_a_rule_must_hold)
{
	struct scene s;
	scene_init(&s);
	s.wanted = (struct pair){"example.com/run", "nightly"};
	s.rule = (struct group_rule){.labels = {&s.wanted, 1},
		.image_regex = "^reg/train:",
		.container_name_regex = "^main$"};
	cr_assert(set(&s));
	belongs_to(&s, "runs.nightly");
	s.pod.gpu_container = "side";
	is_left_alone(&s, "another container");
	s.pod.gpu_container = NULL;
	is_left_alone(&s, "no container has a GPU");
	s.pod.gpu_container = "main";
	s.pod.gpu_image = NULL;
	is_left_alone(&s, "an image that is not known");
	s.pod.gpu_image = "reg/train:2";
	s.wanted.value = "weekly";
	cr_assert(set(&s));
	is_left_alone(&s, "another value");
	s.wanted.value = NULL;
	s.rule.excluded = (struct pairs){&s.wanted, 1};
	cr_assert(set(&s));
	is_left_alone(&s, "an excluded label");
	scene_finish(&s);
}

/* The targetRef's name has a limit, and a line break in it helps nobody. */
Test(groups, odd_values_become_names)
{
	struct scene s;
	char value[4096];
	scene_init(&s);
	memset(value, 'v', sizeof value - 1);
	value[sizeof value - 1] = '\0';
	s.label_items[0].value = value;
	cr_assert(set(&s));
	const char *first = resolve(&s).key.name;
	cr_assert_leq(strlen(first), 253);
	value[sizeof value - 2] = 'w';
	cr_assert_str_neq(resolve(&s).key.name, first);
	s.label_items[0].value = "a\nb";
	const char *name = resolve(&s).key.name;
	cr_assert_null(strchr(name, '\n'));
	cr_assert_eq(strncmp(name, "runs.a-b-", 9), 0, "%s", name);
	s.label_items[0].value = "";
	is_left_alone(&s, "an empty value is no key");
	scene_finish(&s);
}

Test(groups, a_relist_forgets_what_is_gone_and_keeps_what_was_unreadable)
{
	struct scene s;
	scene_init(&s);
	struct change begin = {.type = CHANGE_RELIST_BEGIN, .kind = KIND_GROUP};
	struct change end = {.type = CHANGE_RELIST_END, .kind = KIND_GROUP};
	struct change keep = {.type = CHANGE_KEEP, .kind = KIND_GROUP, .name = "kept"};
	cr_assert(set(&s));
	s.group.name = "kept";
	cr_assert(set(&s));
	groups_apply(s.groups, &begin);
	groups_apply(s.groups, &keep);
	groups_apply(s.groups, &end);
	cr_assert_eq(groups_count(s.groups), 1);
	cr_assert_str_eq(groups_at(s.groups, 0)->name, "kept");
	uint64_t version = groups_version(s.groups);
	groups_apply(s.groups, &begin);
	end.no_sweep = true;
	groups_apply(s.groups, &end);
	cr_assert_eq(groups_count(s.groups), 1);
	cr_assert_eq(groups_version(s.groups), version);
	scene_finish(&s);
}

/* Every word of its status would else have all pods looked at again. */
Test(groups, a_status_alone_changes_no_pod)
{
	struct scene s;
	scene_init(&s);
	s.group.uid = "u";
	s.group.generation = 3;
	s.group.status_accepted_reason = "Accepted";
	cr_assert(set(&s));
	uint64_t version = groups_version(s.groups);
	s.group.status_pods = 7;
	s.group.status_groups = 2;
	s.group.status_observed_generation = 3;
	cr_assert(set(&s));
	cr_expect_eq(groups_version(s.groups), version);
	cr_expect_eq(groups_at(s.groups, 0)->status_pods, 7);
	cr_expect_eq(groups_at(s.groups, 0)->status_groups, 2);
	s.group.generation = 4;
	cr_assert(set(&s));
	cr_expect_gt(groups_version(s.groups), version);
	cr_expect_eq(groups_count(s.groups), 1);
	scene_finish(&s);
}

Test(groups, there_is_an_end)
{
	struct scene s;
	scene_init(&s);
	char name[16];
	s.group.name = name;
	for (int i = 0; i < GROUPS_MAX; i++) {
		snprintf(name, sizeof name, "g%d", i);
		cr_assert(set(&s));
	}
	cr_assert(set(&s), "one that is known may change");
	snprintf(name, sizeof name, "more");
	cr_assert_not(set(&s));
	cr_assert_eq(groups_count(s.groups), GROUPS_MAX);
	scene_finish(&s);
}
