/* What agents have told, and of which nodes somebody wants to know. */
#include <criterion/criterion.h>

#include "model/names.h"
#include "world/node_states.h"
#include "../world_check.h"

static void apply_node(struct world *w, const char *name)
{
	struct node n = {.name = name, .uid = name, .ready = true};
	world_apply(w, &(struct change){.type = CHANGE_SET, .kind = KIND_NODE, .node = &n});
}

static void apply_state(struct world *w, struct node_state s)
{
	struct device_state device = {.uuid = "GPU-A"};
	const char *pods[] = {"u1"};
	s.boot = s.boot != NULL ? s.boot : "b1";
	s.devices = &device;
	s.device_count = 1;
	s.pods = pods;
	s.pod_count = 1;
	world_apply(w, &(struct change){.type = CHANGE_SET, .kind = KIND_STATE, .state = &s});
	cr_assert_null(world_check(w));
}

static const struct node_state *state(const struct world *w, const char *node)
{
	return world_state_of(w, world_node_find(w, node));
}

Test(states, the_last_one_of_a_node_that_is_there)
{
	struct world *w = world_create();
	apply_state(w, (struct node_state){.node = "n1", .sequence = 1});
	cr_expect_eq(world_node_find(w, "n1"), WORLD_NONE, "nobody knows that node");
	apply_node(w, "n1");
	cr_expect_null(state(w, "n1"));
	uint64_t version = world_version(w);
	apply_state(w, (struct node_state){.node = "n1", .sequence = 2, .seen_ms = 100});
	cr_assert_not_null(state(w, "n1"));
	cr_expect(world_version(w) > version, "there is something to decide");
	version = world_version(w);
	apply_state(w, (struct node_state){.node = "n1", .sequence = 3, .seen_ms = 200});
	cr_expect_eq(state(w, "n1")->seen_ms, 200);
	apply_state(
		w, (struct node_state){.node = "n1", .sequence = 4, .seen_ms = 300, .again = true});
	cr_expect_eq(state(w, "n1")->seen_ms, 300);
	cr_expect(state(w, "n1")->device_count == 1 && state(w, "n1")->pod_count == 1);
	apply_state(
		w, (struct node_state){.node = "n1", .boot = "b2", .sequence = 4, .again = true});
	cr_expect_eq(state(w, "n1")->seen_ms, 300, "as before of whom?");
	cr_expect_eq(world_version(w), version, "the same again decides nothing anew");
	struct change gone = {.type = CHANGE_GONE, .kind = KIND_NODE, .name = "n1"};
	world_apply(w, &gone);
	cr_expect_null(state(w, "n1"), "the next node of that name has other devices");
	apply_node(w, "n1");
	apply_state(w, (struct node_state){.node = "n1", .sequence = 5});
	gone.kind = KIND_STATE;
	world_apply(w, &gone);
	cr_expect_null(state(w, "n1"));
	world_destroy(w);
}

Test(states, what_was_told_before_the_node_was_started_says_nothing)
{
	struct world *w = world_create();
	const char *boots[] = {NULL, "b1", "b1", NULL, "b1"};
	struct node n = {.name = "n1", .uid = "n1"};
	struct change set = {.type = CHANGE_SET, .kind = KIND_NODE, .node = &n};
	world_apply(w, &set);
	apply_state(w, (struct node_state){.node = "n1", .sequence = 1});
	for (size_t i = 0; i < COUNT_OF(boots); i++) {
		n.boot = boots[i];
		world_apply(w, &set);
		cr_assert_not_null(state(w, "n1"), "row %zu: the same boot, or nobody knows", i);
	}
	n.boot = "b2";
	world_apply(w, &set);
	cr_expect_null(state(w, "n1"));
	world_destroy(w);
}

static void apply_tenant(struct world *w, const char *label, enum pod_phase phase)
{
	struct pair labels = {label, "true"};
	struct pair note = {NOTE_GPU_UUID, "GPU-A"};
	struct pod p = {.ns = NAME_NAMESPACE,
		.name = "p",
		.uid = "p",
		.node = "n1",
		.phase = phase,
		.labels = {&labels, 1},
		.notes = {&note, 1}};
	world_apply(w, &(struct change){.type = CHANGE_SET, .kind = KIND_POD, .pod = &p});
	cr_assert_null(world_check(w));
}

Test(states, wanted_where_tenants_run_or_may_run)
{
	struct world *w = world_create();
	struct change gone = {
		.type = CHANGE_GONE, .kind = KIND_POD, .ns = NAME_NAMESPACE, .name = "p"};
	apply_node(w, "n1");
	cr_expect_not(world_wants_state(w, 0));
	apply_tenant(w, "app", POD_RUNNING);
	cr_expect_not(world_wants_state(w, 0), "a pod like any other");
	apply_tenant(w, LABEL_CAPACITY, POD_RUNNING);
	cr_expect(world_wants_state(w, 0));
	apply_tenant(w, LABEL_TENANT, POD_SUCCEEDED);
	cr_expect_not(world_wants_state(w, 0), "it is over");
	apply_tenant(w, LABEL_TENANT, POD_RUNNING);
	cr_expect(world_wants_state(w, 0));
	world_apply(w, &gone);
	cr_assert_null(world_check(w));
	cr_expect(world_wants_state(w, 0), "by force: it may run on");
	world_departed_end(w, world_departed_at(w, 0));
	cr_assert_null(world_check(w));
	cr_expect_not(world_wants_state(w, 0));
	world_departed_drop(w, 0);
	cr_assert_null(world_check(w));
	world_destroy(w);
}
