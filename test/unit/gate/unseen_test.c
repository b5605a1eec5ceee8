/* Owners whose converted pods never come to be. */
#include "gate/unseen.h"

#include <criterion/criterion.h>
#include <stdio.h>

#include "model/names.h"

#define SECOND 1000

struct bed {
	struct unseen u;
	int64_t now;
	int64_t late_ms;  /* the watch */
	bool other_words; /* versions that are no numbers */
};

/* Something is written all the time, the Lease every two seconds. */
static void look(struct bed *b)
{
	char stored[32], shown[32];
	int64_t late = b->now - b->late_ms;
	const char *head = b->other_words ? "v" : "";
	snprintf(
		stored, sizeof stored, "%s%lld", head, (long long)(1000000 + b->now / 2000 * 2000));
	snprintf(shown, sizeof shown, "%s%lld", head, (long long)(1000000 + late));
	unseen_look(&b->u, stored, shown, b->now);
}

static struct pod pod_of(const char *ns, const char *owner)
{
	return (struct pod){.ns = ns, .name = "p", .uid = "u", .owner = {.uid = owner}};
}

/* A pod is made: is it converted? It never comes. */
static bool make(struct bed *b, const char *ns, const char *owner)
{
	struct pod p = pod_of(ns, owner);
	look(b);
	bool may = unseen_may_convert(&b->u, &p, b->now);
	if (may) {
		unseen_converted(&b->u, &p, b->now);
	}
	return may;
}

static void come(struct bed *b, const char *ns, const char *owner)
{
	struct pair label[] = {{LABEL_TENANT, "true"}};
	struct pod p = pod_of(ns, owner);
	p.labels = (struct pairs){label, 1};
	struct change c = {.type = CHANGE_SET, .kind = KIND_POD, .pod = &p};
	unseen_observe(&b->u, &c, b->now);
}

static void pass(struct bed *b, int seconds)
{
	for (int i = 0; i < seconds; i++, b->now += SECOND) {
		look(b);
	}
}

/* How many of the pods that are made each second are converted. */
static int run(struct bed *b, int seconds, const char *ns, const char *owner)
{
	int converted = 0;
	for (int i = 0; i < seconds; i++, b->now += SECOND) {
		converted += make(b, ns, owner);
	}
	return converted;
}

Test(unseen, who_never_comes_is_left_whole_after_some_seconds_and_tried_ever_more_seldom)
{
	struct bed b = {.now = 1};
	cr_expect_eq(run(&b, 7, "a", "o"), 6);
	cr_expect_eq(run(&b, 58, "a", "o"), 0);
	/* One pod tries it, and the others are whole meanwhile. */
	cr_expect_eq(run(&b, 60, "a", "o"), 1);
	b.now += 10 * 3600 * SECOND;
	cr_expect(make(&b, "a", "o"));
	cr_expect(make(&b, "a", "o"), "asked about again after another webhook");
	b.now += 3600 * SECOND;
	cr_expect_not(make(&b, "a", "o"));
	int tried = run(&b, 7 * 24 * 3600, "a", "o");
	cr_expect(tried >= 165 && tried <= 175, "%d", tried);
}

Test(unseen, whoever_comes_is_converted_and_not_looked_at_again)
{
	struct bed b = {.now = 1};
	run(&b, 10, "a", "o");
	cr_assert_not(make(&b, "a", "o"));
	cr_expect(unseen_refuses_some(&b.u, "a", b.now));
	come(&b, "a", "o");
	cr_expect_not(unseen_refuses_some(&b.u, "a", b.now));
	/* A quota, or what else an owner meets later. */
	cr_expect_eq(run(&b, 100, "a", "o"), 100);
	/* A burst that the watch has not shown yet. */
	for (int i = 0; i < 1000; i++) {
		cr_expect(make(&b, "b", "o"));
	}
	b.now += UNSEEN_AFTER_MS - 1;
	cr_expect(make(&b, "b", "o"));
}

Test(unseen, two_owners_stand_for_a_namespace_that_has_no_tenants)
{
	struct bed b = {.now = 1};
	run(&b, 10, "a", "o");
	cr_expect(make(&b, "a", "other"), "one may be odd");
	pass(&b, 10);
	cr_expect_not(make(&b, "a", "other"));
	cr_expect_not(make(&b, "a", "third"));
	cr_expect(make(&b, "b", "o"), "of another namespace");
	come(&b, "a", "fourth");
	cr_expect(make(&b, "a", "third"));
	cr_expect_not(make(&b, "a", "o"));
}

/* Who makes up owners has the places of their own namespace. */
Test(unseen, many_owners_take_nobodys_place)
{
	struct bed b = {.now = 1};
	run(&b, 10, "a", "o");
	cr_assert_not(make(&b, "a", "o"));
	come(&b, "hostile", "x");
	for (int i = 0; i < 2000; i++, b.now += 10) {
		char owner[32];
		snprintf(owner, sizeof owner, "made-up-%d", i);
		make(&b, "hostile", owner);
	}
	cr_expect_not(make(&b, "a", "o"));
	/* And pods without an owner are one. */
	cr_expect(make(&b, "c", NULL));
	pass(&b, 8);
	cr_expect_not(make(&b, "c", NULL));
}

/* Whoever makes up owners, or whose Jobs something refuses, does not harm those that are well. */
Test(unseen, those_that_never_come_do_not_close_whom_was_seen)
{
	struct bed b = {.now = 1};
	char owner[16];
	come(&b, "a", "well");
	for (int i = 0; i < UNSEEN_OF_ONE; i++) {
		snprintf(owner, sizeof owner, "made-up-%d", i);
		cr_expect(make(&b, "a", owner));
	}
	pass(&b, 8);
	for (int i = 0; i < UNSEEN_OF_ONE; i++) {
		snprintf(owner, sizeof owner, "made-up-%d", i);
		cr_expect_not(make(&b, "a", owner));
	}
	cr_expect_not(make(&b, "a", "new"));
	cr_expect(make(&b, "a", "well"));
}

/* Its pods were made, and the watch has not come to them: "Too large resource version: 700,
 * current: 634". */
Test(unseen, a_watch_that_is_late_misses_nobody)
{
	struct bed b = {.now = 1, .late_ms = 40 * SECOND};
	cr_expect_eq(run(&b, 40, "a", "o"), 40);
	cr_expect_not(unseen_refuses_some(&b.u, "a", b.now));
	come(&b, "a", "o");
	cr_expect_eq(run(&b, 100, "a", "o"), 100);
	/* Whose do not come although it shows what was written after them. */
	cr_expect_eq(run(&b, 60, "a", "other"), 46);
	cr_expect(unseen_refuses_some(&b.u, "a", b.now));
}

/* The Lease may be stored apart from pods: then its versions are never reached. */
Test(unseen, a_watch_whose_version_says_nothing_is_not_waited_for_without_end)
{
	struct bed b = {.now = 1, .late_ms = 500 * SECOND};
	cr_expect_eq(run(&b, 140, "a", "o"), UNSEEN_BOUND_MS / SECOND);
	b = (struct bed){.now = 1, .other_words = true};
	cr_expect_eq(run(&b, 60, "a", "o"), UNSEEN_STILL_MS / SECOND);
}

/* The word of a Lease that was written before the pod was stored may itself be late. */
Test(unseen, a_version_that_was_written_earlier_shows_nothing)
{
	struct bed b = {.now = 1};
	struct pod p = pod_of("a", "o");
	unseen_look(&b.u, "10", "10", b.now);
	unseen_converted(&b.u, &p, b.now);
	b.now += UNSEEN_STORE_MS;
	unseen_look(&b.u, "20", "20", b.now);
	b.now += UNSEEN_AFTER_MS;
	unseen_observe(&b.u, &(struct change){.type = CHANGE_FRESH, .kind = KIND_POD}, b.now);
	cr_expect(unseen_may_convert(&b.u, &p, b.now));
	unseen_look(&b.u, "30", "29", b.now);
	cr_expect(unseen_may_convert(&b.u, &p, b.now));
	unseen_look(&b.u, "30", "30", b.now);
	cr_expect_not(unseen_may_convert(&b.u, &p, b.now));
}

/* A small cluster: nothing is written of pods, and the watch has nothing to tell. */
Test(unseen, a_watch_that_stands_and_is_silent_shows_that_nobody_came)
{
	struct bed b = {.now = 1};
	const struct change broken = {.type = CHANGE_STALE, .kind = KIND_POD};
	const struct change stands = {.type = CHANGE_FRESH, .kind = KIND_POD};
	struct pod p = pod_of("a", "o");
	unseen_look(&b.u, "7", "5", b.now);
	unseen_converted(&b.u, &p, b.now);
	unseen_observe(&b.u, &broken, b.now);
	b.now += UNSEEN_STILL_MS;
	cr_expect(unseen_may_convert(&b.u, &p, b.now), "it is broken");
	unseen_observe(&b.u, &stands, b.now);
	b.now += UNSEEN_STILL_MS - 1;
	cr_expect(unseen_may_convert(&b.u, &p, b.now));
	b.now += 1;
	cr_expect_not(unseen_may_convert(&b.u, &p, b.now));
}
