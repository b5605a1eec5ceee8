/* How tenants went: what is remembered of them, how much of it, and that it can be told again. */
#include <criterion/criterion.h>
#include <stdio.h>

#include "model/names.h"
#include "world/world.h"
#include "../world_check.h"

static void apply_pod(struct world *w, const struct pod *p)
{
	struct change c = {.type = CHANGE_SET, .kind = KIND_POD, .pod = p};
	world_apply(w, &c);
}

static void apply_node(struct world *w, bool ready)
{
	struct node n = {.name = "n", .ready = ready, .gpus = 1};
	struct change c = {.type = CHANGE_SET, .kind = KIND_NODE, .node = &n};
	world_apply(w, &c);
}

static void apply_gone(struct world *w, const char *name)
{
	struct change c = {.type = CHANGE_GONE, .kind = KIND_POD, .ns = "default", .name = name};
	world_apply(w, &c);
}

/* A grace below zero: it is being deleted and has none left. */
static void come(struct world *w, const char *name, const char *node, int64_t grace_s)
{
	struct pair label = {LABEL_TENANT, "true"};
	struct pair notes[] = {
		{NOTE_COMPUTE_MILLI, "500"}, {NOTE_GPU_UUID, "GPU-A"}, {NOTE_MEMORY_MIB, "4000"}};
	struct pod p = {.ns = "default",
		.name = name,
		.uid = name,
		.node = node,
		.phase = POD_RUNNING,
		.deleting_ms = grace_s != 0 ? 1 : 0,
		.grace_s = grace_s > 0 ? grace_s : 0,
		.labels = {&label, 1},
		.notes = {notes, 3}};
	pairs_sort(&p.notes);
	apply_pod(w, &p);
}

static void come_and_go(struct world *w, const char *name, const char *node, int64_t grace_s)
{
	come(w, name, node, grace_s);
	apply_gone(w, name);
}

Test(departed, what_has_ended_is_told_from_what_may_run)
{
	struct world *w = world_create();
	apply_node(w, true);
	come_and_go(w, "force", "n", 0);
	come_and_go(w, "gentle", "n", 30);
	come_and_go(w, "unbound", NULL, 0);
	apply_node(w, false);
	come_and_go(w, "unasked", "n", 30);
	cr_expect_not(world_departed_find(w, "force")->ended);
	cr_expect(world_departed_find(w, "gentle")->ended);
	cr_expect(world_departed_find(w, "unbound")->ended);
	cr_expect_not(world_departed_find(w, "unasked")->ended);
	cr_expect_eq(world_departed_find(w, "force")->milli, 500);
	cr_expect_str_eq(world_departed_find(w, "force")->uuid, "GPU-A");
	cr_expect_null(world_departed_find(w, "nobody"));
	world_destroy(w);
}

/* It may have been bound, have run and been taken away between two pictures. */
Test(departed, one_that_a_list_came_without_may_have_begun_meanwhile)
{
	struct world *w = world_create();
	struct change c = {.type = CHANGE_RELIST_BEGIN, .kind = KIND_POD};
	come(w, "t", NULL, 0);
	world_apply(w, &c);
	c.type = CHANGE_RELIST_END;
	world_apply(w, &c);
	cr_assert_not_null(world_departed_find(w, "t"));
	cr_expect_not(world_departed_find(w, "t")->ended);
	world_destroy(w);
}

Test(departed, what_has_ended_is_forgotten_before_what_may_run)
{
	struct world *w = world_create();
	char name[16];
	apply_node(w, true);
	come_and_go(w, "force", "n", 0);
	for (int i = 0; i < 3 * WORLD_DEPARTED_MAX; i++) {
		snprintf(name, sizeof name, "t%d", i);
		come_and_go(w, name, "n", 30);
	}
	cr_expect_eq(world_departed_count(w), WORLD_DEPARTED_MAX);
	cr_expect_not_null(world_departed_find(w, "force"));
	cr_expect_not_null(world_departed_find(w, name), "the latest");
	/* All of them may run: bounded all the same. */
	for (int i = 0; i < 2 * WORLD_DEPARTED_MAX; i++) {
		snprintf(name, sizeof name, "f%d", i);
		come_and_go(w, name, "n", 0);
	}
	cr_expect_eq(world_departed_count(w), WORLD_DEPARTED_MAX);
	cr_expect_null(world_check(w));
	world_destroy(w);
}

static void tell(void *data, const struct change *c)
{
	struct world *copy = data;
	world_apply(copy, c);
}

#define GOING "0f3b1d6e-8a52-4c7b-9d10-6c1e5a7f2b34" /* as long as those of an API server */
Test(departed, can_be_told_again)
{
	struct world *w = world_create(), *copy = world_create();
	apply_node(w, true);
	come_and_go(w, "force", "n", 0);
	come_and_go(w, "gentle", "n", 30);
	come_and_go(w, "again", "n", 0);
	/* Another one has its name now. */
	struct pod next = {.ns = "default", .name = "again", .uid = "next"};
	apply_pod(w, &next);
	come(w, GOING, "n", 30);
	come(w, GOING, "n", -1);
	world_save(w, tell, copy);
	cr_assert_eq(world_departed_count(copy), world_departed_count(w));
	for (size_t i = 0; i < world_departed_count(w); i++) {
		const struct world_departed *a = world_departed_at(w, i);
		const struct world_departed *b = world_departed_at(copy, i);
		cr_expect_str_eq(a->uid, b->uid);
		cr_expect_eq(a->ended, b->ended, "%s", a->uid);
		cr_expect_eq(a->milli, b->milli);
		cr_expect_str_eq(a->uuid, b->uuid);
	}
	cr_expect_eq(world_departed_find(copy, "force")->node, world_node_find(copy, "n"));
	cr_expect_str_eq(world_pod_uid(world_pod_find(copy, "default", "again")), "next");
	/* That its deletion had a grace once is not in the noun any more, and kept. */
	apply_gone(copy, GOING);
	cr_expect(world_departed_find(copy, GOING)->ended);
	world_destroy(w);
	world_destroy(copy);
}
