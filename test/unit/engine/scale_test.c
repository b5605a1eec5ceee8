/* C14: what asks for a node for tenants of one GPU each. */
#include "scale_bed.h"

Test(scale, c14_k39_without_any_gpu_one_pod_for_each_that_is_needed)
{
	struct bed b = scaling_bed();
	tell_guest(&b, &(struct guest){.name = "a", .share = "0.6", .cpu_milli = 100});
	tell_guest(&b, &(struct guest){.name = "b", .share = "0.6", .cpu_milli = 200});
	tell_guest(&b, &(struct guest){.name = "c", .share = "0.3", .cpu_milli = 400});
	cr_expect_null(step(&b, ACTION_CREATE_CAPACITY));
	b.now += 9000;
	cr_expect_null(step(&b, ACTION_CREATE_CAPACITY), "not at once");
	struct made m = wait_for(&b, 1500);
	cr_expect_eq(m.count, 2, "1.5 GPUs");
	cr_expect_eq(m.cpu_milli, 720, "of the tenants, and 10 for each capacity pod");
	settle_all(&b);
	b.now += 100;
	cr_expect_null(step(&b, ACTION_CREATE_CAPACITY), "once");
	bed_finish(&b);
}

/* Asked for, and known to the API server. */
static void ask_of(struct bed *b, char name[64])
{
	struct made m = wait_for(b, 10000);
	cr_assert_eq(m.count, 1);
	snprintf(name, 64, "%s", m.name);
	settle_all(b);
	tell_standin(b, name, NULL, 1, false);
	b->now += 100;
	(void)step(b, ACTION_CREATE_CAPACITY);
	cr_assert_eq(made_by(b).count + deletions(b), 0);
}

/* A node comes, and the scheduler is faster than we are. */
Test(scale, c14_what_was_bound_goes_as_soon_as_its_tenants_can_come)
{
	struct bed b = scaling_bed();
	char name[64];
	tell_guest(&b, &(struct guest){.name = "a", .share = "0.6", .cpu_milli = 100});
	tell_guest(&b, &(struct guest){.name = "c", .share = "0.3", .cpu_milli = 400});
	ask_of(&b, name);
	tell_node(&b, "n0", 1, 110);
	tell_standin(&b, name, "n0", 1, false);
	b.now += 100;
	const struct action *gone = step(&b, ACTION_DELETE_CAPACITY);
	cr_assert_not_null(gone);
	cr_expect_str_eq(gone->name, name);
	cr_expect(gone->companion, "nobody knows its version");
	cr_expect_eq(opened_on(&b, "n0"), 0, "it has the GPU");
	tell_gone(&b, NAME_NAMESPACE, name);
	b.now += 100;
	(void)step(&b, ACTION_CREATE_CAPACITY);
	cr_expect_eq(opened_on(&b, "n0"), 0, "the kubelet is late");
	b.now += 3000;
	(void)step(&b, ACTION_CREATE_CAPACITY);
	cr_expect_eq(opened_on(&b, "n0"), 1);
	cr_expect_eq(made_by(&b).count, 0);
	bed_finish(&b);
}

/* One opens a GPU where others have room too: none of them asks for another node meanwhile. */
Test(scale, c14_tenants_of_one_gpu_never_ask_for_a_second_node)
{
	struct bed b = scaling_bed();
	char name[64];
	tell_guest(&b, &(struct guest){.name = "a", .share = "0.3", .cpu_milli = 100});
	tell_guest(&b, &(struct guest){.name = "c", .share = "0.3", .cpu_milli = 400});
	tell_guest(&b, &(struct guest){.name = "d", .share = "0.3", .cpu_milli = 400});
	ask_of(&b, name);
	tell_node(&b, "n0", 1, 110);
	tell_standin(&b, name, "n0", 1, false);
	int asked = 0;
	for (int i = 0; i < 40; i++) {
		b.now += 1000;
		(void)step(&b, ACTION_CREATE_CAPACITY);
		asked += made_by(&b).count;
		settle_all(&b);
		if (i == 2) {
			tell_gone(&b, NAME_NAMESPACE, name);
		}
	}
	cr_expect_eq(asked, 0);
	bed_finish(&b);
}

/* Labels come minutes after a GPU. Until then what was bound keeps the node from being taken away
 * as empty, and no other one is made. */
Test(scale, c14_a_node_whose_label_is_not_there_yet_is_waited_for)
{
	struct bed b = scaling_bed();
	char name[64];
	tell_guest(&b, &(struct guest){.name = "a", .share = "0.6", .product = "H100"});
	ask_of(&b, name);
	tell_node(&b, "n0", 1, 110);
	tell_standin(&b, name, "n0", 1, false);
	for (int i = 0; i < 20; i++) {
		b.now += 10000;
		(void)step(&b, ACTION_CREATE_CAPACITY);
		cr_expect_eq(made_by(&b).count + deletions(&b), 0, "after %d", i);
	}
	tell_labelled(&b, "n0", 1, "nvidia.com/gpu.product", "H100");
	b.now += 100;
	(void)step(&b, ACTION_CREATE_CAPACITY);
	cr_expect_eq(deletions(&b), 1);
	cr_expect_eq(made_by(&b).count, 0);
	bed_finish(&b);
}

/* The wrong one came. Another would be as wrong. */
Test(scale, c14_after_a_node_that_does_not_serve_the_group_rests)
{
	struct bed b = scaling_bed();
	char name[64];
	tell_guest(&b, &(struct guest){.name = "a", .share = "0.6", .product = "H100"});
	ask_of(&b, name);
	tell_labelled(&b, "n0", 1, "nvidia.com/gpu.product", "L4");
	tell_standin(&b, name, "n0", 1, false);
	(void)step(&b, ACTION_CREATE_CAPACITY);
	b.now += 300000;
	const struct action *said = step(&b, ACTION_CONDITION);
	cr_assert_not_null(said);
	cr_expect_eq(said->reason, REASON_NO_SCALE_UP);
	cr_expect_eq(deletions(&b), 1, "the node may go");
	tell_gone(&b, NAME_NAMESPACE, name);
	tell_node_gone(&b, "n0");
	for (int i = 0; i < 19; i++) {
		b.now += 60000;
		(void)step(&b, ACTION_CREATE_CAPACITY);
		cr_expect_eq(made_by(&b).count, 0, "after %d minutes", i);
	}
	bed_finish(&b);
}

/* An autoscaler took the node away as soon as it was empty: the next one would go as well. */
Test(scale, c14_a_node_that_goes_again_counts_too)
{
	struct bed b = scaling_bed();
	char name[64];
	tell_guest(&b, &(struct guest){.name = "a", .share = "0.6", .product = "H100"});
	ask_of(&b, name);
	tell_node(&b, "n0", 1, 110);
	tell_standin(&b, name, "n0", 1, false);
	b.now += 100;
	(void)step(&b, ACTION_CREATE_CAPACITY);
	tell_gone(&b, NAME_NAMESPACE, name);
	tell_node_gone(&b, "n0");
	b.now += 60000;
	(void)step(&b, ACTION_CREATE_CAPACITY);
	cr_expect_eq(made_by(&b).count, 0);
	bed_finish(&b);
}

Test(scale, c14_constraints_go_along_and_wrong_labels_are_ruled_out)
{
	struct bed b = scaling_bed();
	tell_labelled(&b, "n0", 1, "nvidia.com/gpu.product", "L4");
	tell_labelled(&b, "n1", 1, "nvidia.com/gpu.product", "L4");
	tell_labelled(&b, "n2", 1, NULL, NULL);
	tell_guest(
		&b, &(struct guest){.name = "a", .share = "0.6", .zone = "far", .product = "H100"});
	tell_guest(
		&b, &(struct guest){.name = "b", .share = "0.3", .zone = "far", .product = "H100"});
	struct made m = wait_for(&b, 10000);
	cr_expect_eq(m.count, 1, "one group");
	cr_expect_eq(m.labels, 1, "what nobody knows of a new node is not asked for");
	cr_assert_eq(m.terms, 1);
	cr_assert_eq(m.first->labels.count, 1);
	const struct term *t = &m.first->labels.items[0];
	cr_expect_str_eq(t->key, "nvidia.com/gpu.product");
	cr_expect_eq(t->operator, TERM_NOT_IN);
	cr_assert_eq(t->value_count, 1);
	cr_expect_str_eq(t->values[0], "L4");
	bed_finish(&b);
}

/* As many nodes as there may be have a GPU to give, and none of them suits. */
Test(scale, c14_many_nodes_that_do_not_suit_stop_nobody)
{
	struct bed b = scaling_bed();
	for (int i = 0; i < 200; i++) {
		char node[16];
		snprintf(node, sizeof node, "n%d", i);
		tell_labelled(&b, node, 1, "nvidia.com/gpu.product", "L4");
	}
	tell_guest(&b, &(struct guest){.name = "a", .share = "0.6", .product = "H100"});
	cr_expect_eq(wait_for(&b, 10000).count, 1);
	bed_finish(&b);
}

Test(scale, c14_k39_it_goes_when_nobody_needs_it_any_more)
{
	struct bed b = scaling_bed();
	tell_guest(&b, &(struct guest){.name = "a", .share = "0.6"});
	struct made m = wait_for(&b, 10000);
	cr_assert_eq(m.count, 1);
	settle_all(&b);
	tell_standin(&b, m.name, NULL, 1, false);
	b.now += 100;
	(void)step(&b, ACTION_CREATE_CAPACITY);
	cr_expect_eq(deletions(&b), 0);
	/* Others go on meanwhile, and it is no failure that it is not bound. */
	b.now += 300000;
	(void)step(&b, ACTION_CREATE_CAPACITY);
	cr_expect_eq(deletions(&b), 0);
	tell_gone(&b, "default", "a");
	b.now += 100;
	(void)step(&b, ACTION_DELETE_CAPACITY);
	cr_expect_eq(deletions(&b), 1);
	bed_finish(&b);
}

Test(scale, c14_after_twenty_minutes_it_rests_and_says_so)
{
	struct bed b = scaling_bed();
	tell_guest(&b, &(struct guest){.name = "a", .share = "0.6"});
	struct made m = wait_for(&b, 10000);
	settle_all(&b);
	tell_standin(&b, m.name, NULL, 1, false);
	b.now += 60000;
	const struct action *said = step(&b, ACTION_CONDITION);
	cr_assert_not_null(said);
	cr_expect_eq(said->reason, REASON_NO_GPU_NODE);
	cr_expect(strstr(said->message,
			  "a pod that stands in for it waits for a node since 60 s") != NULL,
		"%s", said->message);
	b.now += 1140000;
	said = step(&b, ACTION_CONDITION);
	cr_assert_not_null(said);
	cr_expect_eq(said->reason, REASON_NO_SCALE_UP);
	cr_expect_eq(deletions(&b), 1);
	/* A group that came later has its turn. */
	tell_gone(&b, NAME_NAMESPACE, m.name);
	tell_guest(&b, &(struct guest){.name = "b", .share = "0.6", .zone = "other"});
	m = wait_for(&b, 10000);
	cr_expect_eq(m.count, 1);
	settle_all(&b);
	b.now += 1200000;
	(void)step(&b, ACTION_CREATE_CAPACITY);
	cr_expect_eq(made_by(&b).count, 2, "and the first once more: %d", made_by(&b).count);
	bed_finish(&b);
}

static void tell_whole(struct bed *b, const char *name)
{
	struct pod p = {.ns = "default",
		.name = name,
		.uid = name,
		.gpus = 1,
		.created_ms = 5,
		.unschedulable = true,
		.phase = POD_PENDING};
	tell_pod(b, &p);
}

/* It would have the GPU before the scheduler looks at the whole pod. */
/* One more node would be given out by somebody else, like those that there are. */
Test(scale, c34_none_for_who_may_go_to_others_nodes_alone)
{
	struct pair zone[] = {{"zone", "z"}};
	struct node n = {.name = "n1",
		.labels = {zone, 1},
		.ready = true,
		.pod_slots = 10,
		.gpus = 1,
		.shares_already = true};
	struct change set = {.type = CHANGE_SET, .kind = KIND_NODE, .node = &n};
	struct bed b = scaling_bed();
	engine_observe(b.e, &set);
	tell_guest(&b, &(struct guest){.name = "a", .share = "0.5", .zone = "z"});
	cr_expect_eq(wait_for(&b, 11000).count, 0);
	tell_guest(&b, &(struct guest){.name = "b", .share = "0.5", .zone = "y"});
	cr_expect_eq(wait_for(&b, 11000).count, 1, "of that kind there is none yet");
	bed_finish(&b);
}

Test(scale, c16_none_waits_while_a_whole_pod_is_about_to_have_a_gpu)
{
	struct bed b = scaling_bed();
	tell_guest(&b, &(struct guest){.name = "a", .share = "0.6", .zone = "far"});
	struct made m = wait_for(&b, 10000);
	cr_assert_eq(m.count, 1);
	settle_all(&b);
	tell_standin(&b, m.name, NULL, 1, false);
	tell_node(&b, "n0", 1, 110);
	tell_whole(&b, "w");
	b.now += 100;
	(void)step(&b, ACTION_DELETE_CAPACITY);
	cr_expect_eq(deletions(&b), 1);
	bed_finish(&b);
}

Test(scale, nothing_is_asked_for_where_it_is_off)
{
	struct bed b = bed_make();
	tell_guest(&b, &(struct guest){.name = "a", .share = "0.6"});
	cr_expect_eq(wait_for(&b, 100000).count, 0);
	bed_finish(&b);
}
