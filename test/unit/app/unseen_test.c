/* Owners whose converted pods never come to be. */
#include "unseen.h"

#include <criterion/criterion.h>
#include <stdio.h>

#include "model/names.h"

#define SECOND 1000

struct bed {
	struct unseen u;
	int64_t now;
};

static struct pod pod_of(const char *ns, const char *owner)
{
	return (struct pod){.ns = ns, .name = "p", .uid = "u", .owner = {.uid = owner}};
}

/* A pod is made: is it converted? It never comes. */
static bool make(struct bed *b, const char *ns, const char *owner)
{
	struct pod p = pod_of(ns, owner);
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
	unseen_observe(&b->u, &c);
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
	cr_expect_eq(run(&b, 6, "a", "o"), 5);
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
	b.now += 10 * SECOND;
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
	b.now += UNSEEN_AFTER_MS;
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
	b.now += 6 * SECOND;
	for (int i = 0; i < UNSEEN_OF_ONE; i++) {
		snprintf(owner, sizeof owner, "made-up-%d", i);
		cr_expect_not(make(&b, "a", owner));
	}
	cr_expect_not(make(&b, "a", "new"));
	cr_expect(make(&b, "a", "well"));
}
