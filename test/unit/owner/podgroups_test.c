/* C4. Which PodGroups are known to be Basic, and how many are kept. */
#include "owner/podgroups.h"

#include <criterion/criterion.h>
#include <stdio.h>

static void set(struct podgroups *g, const char *ns, const char *name, bool basic)
{
	struct pod_group noun = {.ns = ns, .name = name, .basic = basic};
	struct change c = {.type = CHANGE_SET, .kind = KIND_POD_GROUP, .pod_group = &noun};
	podgroups_apply(g, &c);
}

static void say(struct podgroups *g, enum change_type type, const char *ns, const char *name)
{
	struct change c = {.type = type, .kind = KIND_POD_GROUP, .ns = ns, .name = name};
	podgroups_apply(g, &c);
}

static bool frees(const struct podgroups *g, const char *ns, const char *name)
{
	struct pod pod = {.ns = ns, .has_group = true, .group_name = name};
	return podgroups_frees(g, &pod);
}

Test(podgroups, C4_only_a_basic_one_of_the_pods_own_namespace_counts)
{
	struct podgroups *g = podgroups_create();
	cr_expect_not(frees(NULL, "a", "g"));
	cr_expect_not(frees(g, "a", "g"), "not seen yet");
	set(g, "a", "g", true);
	set(g, "a", "gang", false);
	cr_expect(frees(g, "a", "g"));
	cr_expect_not(frees(g, "b", "g"), "of another namespace");
	cr_expect_not(frees(g, "a", "gang"));
	cr_expect_not(frees(g, "a", NULL));
	cr_expect_eq(podgroups_count(g), 1);
	set(g, "a", "g", false);
	cr_expect_not(frees(g, "a", "g"), "made anew as a gang");
	podgroups_destroy(g);
	podgroups_destroy(NULL);
}

Test(podgroups, C4_what_goes_or_cannot_be_read_is_not_known_any_more)
{
	static const enum change_type types[] = {CHANGE_GONE, CHANGE_KEEP};
	for (size_t i = 0; i < 2; i++) {
		struct podgroups *g = podgroups_create();
		set(g, "a", "g", true);
		set(g, "a", "h", true);
		say(g, types[i], "a", "g");
		say(g, types[i], NULL, NULL);
		cr_expect_not(frees(g, "a", "g"));
		cr_expect(frees(g, "a", "h"));
		cr_expect_eq(podgroups_count(g), 1);
		podgroups_destroy(g);
	}
}

Test(podgroups, C4_of_a_broken_watch_nothing_is_known)
{
	struct podgroups *g = podgroups_create();
	set(g, "a", "g", true);
	say(g, CHANGE_STALE, NULL, NULL);
	cr_expect_not(frees(g, "a", "g"));
	say(g, CHANGE_FRESH, NULL, NULL);
	cr_expect(frees(g, "a", "g"));
	say(g, CHANGE_STALE, NULL, NULL);
	say(g, CHANGE_RELIST_BEGIN, NULL, NULL);
	set(g, "a", "new", true);
	struct change end = {.type = CHANGE_RELIST_END, .kind = KIND_POD_GROUP, .no_sweep = true};
	podgroups_apply(g, &end);
	cr_expect(frees(g, "a", "new"));
	cr_expect_not(frees(g, "a", "g"), "not in the list, or it could not be read there");
	cr_expect_eq(podgroups_count(g), 1);
	podgroups_destroy(g);
}

Test(podgroups, a_namespace_has_so_many_and_no_more)
{
	struct podgroups *g = podgroups_create();
	char name[32];
	for (int i = 0; i <= PODGROUPS_PER_NAMESPACE; i++) {
		snprintf(name, sizeof name, "g-%d", i);
		set(g, "greedy", name, true);
	}
	cr_expect_eq(podgroups_count(g), PODGROUPS_PER_NAMESPACE);
	cr_expect_eq(podgroups_unkept(g), 1);
	cr_expect_not(frees(g, "greedy", name));
	cr_expect(frees(g, "greedy", "g-0"));
	set(g, "greedy", "g-0", true);
	cr_expect_eq(podgroups_unkept(g), 1, "that one is kept already");
	set(g, "modest", "g", true);
	cr_expect(frees(g, "modest", "g"));
	say(g, CHANGE_GONE, "greedy", "g-7");
	set(g, "greedy", name, true);
	cr_expect(frees(g, "greedy", name));
	podgroups_destroy(g);
}

Test(podgroups, the_cluster_has_so_many_and_no_more)
{
	struct podgroups *g = podgroups_create();
	char ns[32], name[32];
	for (int i = 0; i <= PODGROUPS_MAX; i++) {
		snprintf(ns, sizeof ns, "ns-%d", i / PODGROUPS_PER_NAMESPACE);
		snprintf(name, sizeof name, "g-%d", i);
		set(g, ns, name, true);
	}
	cr_expect_eq(podgroups_count(g), PODGROUPS_MAX);
	cr_expect_eq(podgroups_unkept(g), 1);
	podgroups_destroy(g);
}
