/* Capacity pods that the scheduler does not bind: they are pinned, so that nobody gets anything by
 * waiting for them. */
#include "cluster.h"

static void tell_whole(struct cluster *c, const char *name, const char *node)
{
	struct pod p = {.ns = "default",
		.name = name,
		.uid = name,
		.resource_version = "1",
		.gpus = 1,
		.cpu_milli = 10,
		.mem_bytes = 100,
		.created_ms = 900000,
		.node = node,
		.phase = POD_RUNNING};
	struct change set = {.type = CHANGE_SET, .kind = KIND_POD, .pod = &p};
	engine_observe(c->e, &set);
}

static bool runs_on(struct cluster *c, const char *name, const char *node)
{
	const struct obj *o = find(c, name);
	return !o->gated && strcmp(o->node, node) == 0;
}

Test(refused, c16_who_was_not_fast_enough_opens_elsewhere_at_once)
{
	struct cluster *c = cluster_new(2, 1, 1);
	c->refuses = 1;
	arrive(c, "a", 250);
	turn(c);
	cr_assert_eq(c->creates, 1);
	tell_whole(c, "w", "n0");
	run_for(c, 1000);
	cr_assert(runs_on(c, "a", "n1"));
	cr_assert_eq(c->creates, 2);
	cr_assert_eq(c->deletes, 1);
	/* The node had no part in it. */
	struct change gone = {
		.type = CHANGE_GONE, .kind = KIND_POD, .ns = "default", .name = "w", .uid = "w"};
	engine_observe(c->e, &gone);
	c->refuses = 0;
	arrive(c, "b", 900);
	run_for(c, 1000);
	cr_assert(runs_on(c, "b", "n0"));
	cluster_free(c);
}

Test(refused, only_as_many_go_as_there_are_too_many)
{
	struct cluster *c = cluster_new(1, 3, 1);
	c->refuses = 1;
	arrive(c, "a", 600);
	arrive(c, "b", 600);
	arrive(c, "d", 600);
	turn(c);
	cr_assert_eq(c->creates, 3);
	tell_whole(c, "w", "n0");
	run_for(c, 2000);
	cr_assert_eq(c->deletes, 1);
	cr_assert_eq(placed(c), 0);
	cluster_free(c);
}

/* `patience_ms`: so long it may be mended. Then it goes, its node rests, and is tried again in
 * growing pauses. */
static void given_up(struct cluster *c, int64_t patience_ms)
{
	arrive(c, "a", 250);
	run_for(c, patience_ms - 1000);
	cr_assert_eq(c->creates, 1, "it may be tried again");
	cr_assert_eq(c->deletes, 0);
	run_for(c, 4000);
	cr_assert(runs_on(c, "a", "n1"));
	cr_assert_eq(c->deletes, 1);
	arrive(c, "b", 900);
	int before = c->creates;
	run_for(c, 600000);
	cr_assert(c->creates - before >= 2 && c->creates - before <= 9, "%d", c->creates - before);
	cluster_free(c);
}

Test(refused, one_that_is_refused_for_another_reason_is_given_up_and_its_node_rests)
{
	struct cluster *c = cluster_new(2, 1, 1);
	c->refuses = 1;
	given_up(c, 5000);
}

Test(refused, one_whose_image_does_not_come_is_given_up_and_its_node_rests)
{
	struct cluster *c = cluster_new(2, 1, 1);
	c->troubles = 1;
	given_up(c, 12000);
}

Test(refused, one_that_is_bound_after_all_stays)
{
	struct cluster *c = cluster_new(1, 1, 1);
	c->refuses = 1;
	arrive(c, "a", 250);
	run_for(c, 3000);
	for (int i = 0; i < PODS_MAX; i++) {
		struct obj *o = &c->pods[i];
		if (o->exists && o->capacity) {
			o->unbound = false;
			o->running = true;
			o->rv = ++c->rv;
			publish(c, o);
		}
	}
	run_for(c, 5000);
	cr_assert(runs_on(c, "a", "n0"));
	cr_assert_eq(c->deletes, 0);
	cluster_free(c);
}

Test(refused, one_that_came_and_went_between_two_steps_is_not_waited_for)
{
	struct cluster *c = cluster_new(1, 1, 1);
	c->by_hand = true;
	arrive(c, "a", 250);
	turn(c);
	cr_assert_eq(c->creates, 1);
	for (int i = 0; i < PODS_MAX; i++) {
		if (c->pods[i].exists && c->pods[i].capacity) {
			leave(c, &c->pods[i]);
		}
	}
	run_for(c, 1000);
	cr_assert_eq(c->creates, 2);
	cr_assert(runs_on(c, "a", "n0"));
	cluster_free(c);
}
