/* What many say is kept once: what pods take of their nodes, and the labels of nodes. */
#include <criterion/criterion.h>
#include <stdio.h>

#include "base/intern.h"
#include "store.h"
#include "world/world.h"
#include "../world_check.h"

static void set_pod(struct world *w, const char *name, const char *uid, int64_t cpu_milli)
{
	struct pod pod = {.ns = "team",
		.name = name,
		.uid = uid,
		.node = "node-1",
		.phase = POD_RUNNING,
		.cpu_milli = cpu_milli,
		.mem_bytes = 1 << 30};
	struct change c = {.type = CHANGE_SET, .kind = KIND_POD, .pod = &pod};
	world_apply(w, &c);
	cr_assert_null(world_check(w), "%s", world_check(w));
}

static const struct world_takes *takes(const struct world *w, const char *name)
{
	return world_pod_find(w, "team", name)->takes;
}

Test(shared, pods_that_take_the_same_share_it)
{
	struct world *w = world_create();
	set_pod(w, "a", "0b0f1a4e-7c1d-4a30-8a11-1e1f8a0c0001", 500);
	set_pod(w, "b", "0b0f1a4e-7c1d-4a30-8a11-1e1f8a0c0002", 500);
	set_pod(w, "c", "0b0f1a4e-7c1d-4a30-8a11-1e1f8a0c0003", 700);
	cr_expect_eq(takes(w, "a"), takes(w, "b"));
	cr_expect_neq(takes(w, "a"), takes(w, "c"));
	cr_expect_eq(takes(w, "a")->pods, 2);
	/* One of them takes another amount, and the other one keeps its own. */
	set_pod(w, "b", "0b0f1a4e-7c1d-4a30-8a11-1e1f8a0c0002", 700);
	cr_expect_eq(takes(w, "b"), takes(w, "c"));
	cr_expect_eq(takes(w, "a")->cpu_milli, 500);
	cr_expect_eq(takes(w, "a")->pods, 1);
	cr_expect_eq(world_node_at(w, world_node_find(w, "node-1"))->cpu_milli, 1900);
	static const char *const names[] = {"a", "b", "c"};
	for (size_t i = 0; i < COUNT_OF(names); i++) {
		struct change c = {
			.type = CHANGE_GONE, .kind = KIND_POD, .ns = "team", .name = names[i]};
		world_apply(w, &c);
		cr_assert_null(world_check(w));
	}
	cr_expect_eq(world_node_at(w, world_node_find(w, "node-1"))->cpu_milli, 0);
	world_destroy(w);
}

/* Of an ordinary pod only a part of a hash of its uid is kept. */
Test(shared, a_pod_of_the_same_name_is_another_one)
{
	struct world *w = world_create();
	set_pod(w, "a", "0b0f1a4e-7c1d-4a30-8a11-1e1f8a0c0001", 500);
	struct change late = {.type = CHANGE_GONE,
		.kind = KIND_POD,
		.ns = "team",
		.name = "a",
		.uid = "0b0f1a4e-7c1d-4a30-8a11-1e1f8a0c0009"};
	world_apply(w, &late);
	cr_assert_not_null(world_pod_find(w, "team", "a"));
	late.uid = "0b0f1a4e-7c1d-4a30-8a11-1e1f8a0c0001";
	world_apply(w, &late);
	cr_expect_null(world_pod_find(w, "team", "a"));
	world_destroy(w);
}

static void set_node(struct world *w, const char *name, struct pair *labels, uint32_t count)
{
	struct node node = {.name = name, .labels = {labels, count}, .uid = "u", .ready = true};
	struct change c = {.type = CHANGE_SET, .kind = KIND_NODE, .node = &node};
	world_apply(w, &c);
}

static const struct node *node_at(const struct world *w, const char *name)
{
	return &world_node_at(w, world_node_find(w, name))->noun;
}

Test(shared, nodes_share_the_words_of_their_labels)
{
	struct pair one[] = {{"kubernetes.io/hostname", "node-1"}, {"zone", "a"}};
	struct pair two[] = {{"kubernetes.io/hostname", "node-2"}, {"zone", "a"}};
	struct pair less[] = {{"zone", "b"}};
	struct world *w = world_create();
	set_node(w, "node-1", one, 2);
	set_node(w, "node-2", two, 2);
	const struct pairs *a = &node_at(w, "node-1")->labels, *b = &node_at(w, "node-2")->labels;
	cr_expect_eq(a->items[0].key, b->items[0].key);
	cr_expect_eq(a->items[1].value, b->items[1].value);
	cr_expect_str_eq(pairs_get(b, "kubernetes.io/hostname"), "node-2");
	set_node(w, "node-1", less, 1);
	cr_expect_str_eq(pairs_get(a, "zone"), "b");
	cr_expect_null(pairs_get(a, "kubernetes.io/hostname"));
	cr_expect_str_eq(pairs_get(b, "zone"), "a");
	struct change gone = {.type = CHANGE_GONE, .kind = KIND_NODE, .name = "node-2"};
	world_apply(w, &gone);
	cr_expect_eq(node_at(w, "node-2")->labels.count, 0);
	set_node(w, "node-2", NULL, 0);
	cr_expect_eq(node_at(w, "node-2")->labels.count, 0);
	cr_expect(node_at(w, "node-2")->ready);
	world_destroy(w);
}

/* It is still there when it is taken anew. */
Test(shared, a_node_can_be_told_of_itself)
{
	struct pair labels[] = {{"kubernetes.io/hostname", "node-1"}, {"zone", "a"}};
	struct world *w = world_create();
	set_node(w, "node-1", labels, 2);
	struct node same = *node_at(w, "node-1");
	same.ready = false;
	struct change c = {.type = CHANGE_SET, .kind = KIND_NODE, .node = &same};
	world_apply(w, &c);
	cr_expect_not(node_at(w, "node-1")->ready);
	cr_expect_str_eq(node_at(w, "node-1")->uid, "u");
	cr_expect_str_eq(pairs_get(&node_at(w, "node-1")->labels, "zone"), "a");
	cr_expect_str_eq(
		pairs_get(&node_at(w, "node-1")->labels, "kubernetes.io/hostname"), "node-1");
	world_destroy(w);
}

static void set_busy(struct world *w, const char *name, int64_t devices, uint16_t port)
{
	struct amount amount = {"example.com/device", devices};
	struct host_port taken = {.port = port, .protocol = "TCP", .address = "10.0.0.1"};
	struct pod pod = {.ns = "team",
		.name = name,
		.uid = "0b0f1a4e-7c1d-4a30-8a11-1e1f8a0c0001",
		.node = "node-1",
		.phase = POD_RUNNING,
		.extra = {{&amount, 1}, {&taken, 1}}};
	struct change c = {.type = CHANGE_SET, .kind = KIND_POD, .pod = &pod};
	world_apply(w, &c);
	cr_assert_null(world_check(w), "%s", world_check(w));
}

static void remove_all(struct world *w)
{
	static const char *const names[] = {"a", "b"};
	for (size_t i = 0; i < COUNT_OF(names); i++) {
		struct change c = {
			.type = CHANGE_GONE, .kind = KIND_POD, .ns = "team", .name = names[i]};
		world_apply(w, &c);
		cr_assert_null(world_check(w));
	}
	struct change c = {.type = CHANGE_GONE, .kind = KIND_NODE, .name = "node-1"};
	world_apply(w, &c);
}

/* A word that nobody gives back would stay for good, and every change would add to it. */
Test(shared, words_go_with_the_last_who_says_them)
{
	struct pair one[] = {{"kubernetes.io/hostname", "node-1"}, {"zone", "a"}};
	struct pair other[] = {{"kubernetes.io/hostname", "node-1"}, {"rack", "7"}};
	struct world *w = world_create();
	set_node(w, "node-1", NULL, 0);
	/* The name of a namespace that ever had a pod stays (world/sightings.c). */
	set_busy(w, "a", 1, 80);
	remove_all(w);
	size_t before = intern_count(w->words);
	for (int round = 0; round < 3; round++) {
		set_node(w, "node-1", one, 2);
		set_node(w, "node-1", one, 2);
		set_node(w, "node-1", other, 2);
		set_busy(w, "a", 1, 80);
		set_busy(w, "a", 1, 80);
		set_busy(w, "b", 1, 80);
		cr_expect_eq(takes(w, "a"), takes(w, "b"));
		set_busy(w, "a", 2, 80);
		set_busy(w, "b", 2, 443);
		cr_expect_gt(intern_count(w->words), before);
		remove_all(w);
		cr_expect_eq(intern_count(w->words), before);
		cr_expect_eq(w->takes.count, w->free_takes.count);
	}
	world_destroy(w);
}
