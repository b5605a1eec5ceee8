/* C14: capacity pods that ask for a node. */
#include "scale_bed.h"

Test(scale, c14_k39_without_any_gpu_one_capacity_pod_for_each_that_is_needed)
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
	cr_expect_eq(m.companions, 0, "they belong to a pod that exists");
	settle_all(&b);
	b.now += 100;
	cr_expect_null(step(&b, ACTION_CREATE_CAPACITY), "once");
	bed_finish(&b);
}

Test(scale, c14_companions_ask_for_what_the_tenants_need)
{
	struct bed b = scaling_bed();
	tell_guest(&b, &(struct guest){.name = "a", .share = "0.6", .cpu_milli = 100});
	tell_guest(&b, &(struct guest){.name = "c", .share = "0.3", .cpu_milli = 400});
	struct made m = wait_for(&b, 10000);
	cr_assert_eq(m.count, 1);
	char name[64];
	snprintf(name, sizeof name, "%s", m.name);
	settle_all(&b);
	tell_asking(&b, name, NULL, NULL);
	b.now += 100;
	(void)step(&b, ACTION_CREATE_CAPACITY);
	m = made_by(&b);
	cr_expect_eq(m.count, 0);
	cr_expect_eq(m.companions, 1);
	cr_expect_eq(m.cpu_milli, 500);
	settle_all(&b);
	b.now += 1000;
	cr_expect_null(step(&b, ACTION_CREATE_CAPACITY), "not again and again");
	/* A node comes, and both are bound there. The companion has taken its last CPU. */
	tell_node(&b, "n0", 1, 110);
	tell_asking(&b, name, "n0", NULL);
	char companion[80];
	snprintf(companion, sizeof companion, "companion-%s", name + strlen("capacity-"));
	struct pod p = {.ns = NAME_NAMESPACE,
		.name = companion,
		.uid = "0b3e7c52-1d4f-4a6b-8c9d-0e1f2a3b4c5d",
		.node = "n0",
		.cpu_milli = 63990,
		.phase = POD_RUNNING};
	tell_pod(&b, &p);
	b.now += 100;
	cr_expect_null(step(&b, ACTION_DELETE_CAPACITY));
	cr_expect_eq(engine_report(b.e)->by_reason[REASON_WAITING_FOR_CAPACITY], 2);
	tell_asking(&b, name, "n0", "G0");
	b.now += 100;
	const struct action *gone = step(&b, ACTION_DELETE_CAPACITY);
	cr_assert_not_null(gone);
	cr_expect_str_eq(gone->name, companion);
	cr_expect(gone->companion, "nobody knows its version");
	cr_expect_str_eq(
		gone->uid, "0b3e7c52-1d4f-4a6b-8c9d-0e1f2a3b4c5d", "by which it is deleted");
	bool granted = false;
	vec_for_each (const struct action, a, &b.plan.actions) {
		granted = granted || (a->type == ACTION_GRANT && a->ledger.count == 2);
	}
	cr_expect(granted);
	bed_finish(&b);
}

Test(scale, c14_constraints_go_along_but_what_only_discovery_labels)
{
	struct bed b = scaling_bed();
	/* Its GPU is free and the tenant may not go there: it is ruled out by name. */
	tell_node(&b, "n0", 1, 110);
	tell_guest(
		&b, &(struct guest){.name = "a", .share = "0.6", .zone = "far", .product = "H100"});
	tell_guest(
		&b, &(struct guest){.name = "b", .share = "0.3", .zone = "far", .product = "H100"});
	tell_guest(&b, &(struct guest){.name = "c", .share = "0.1", .zone = "farther"});
	struct made m = wait_for(&b, 10000);
	cr_expect_eq(m.count, 2, "one a group");
	cr_expect_eq(m.labels, 1);
	cr_expect_eq(m.terms, 1);
	cr_expect_eq(m.fields, 1);
	bed_finish(&b);
}

Test(scale, c14_k39_it_goes_when_nobody_needs_it_any_more)
{
	struct bed b = scaling_bed();
	tell_guest(&b, &(struct guest){.name = "a", .share = "0.6"});
	struct made m = wait_for(&b, 10000);
	cr_assert_eq(m.count, 1);
	settle_all(&b);
	tell_asking(&b, m.name, NULL, NULL);
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
	tell_asking(&b, m.name, NULL, NULL);
	b.now += 60000;
	const struct action *said = step(&b, ACTION_CONDITION);
	cr_assert_not_null(said);
	cr_expect_eq(said->reason, REASON_NO_GPU_NODE);
	cr_expect(strstr(said->message, "a capacity pod waits for a node since 60 s") != NULL, "%s",
		said->message);
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
Test(scale, c16_none_waits_while_a_whole_pod_is_about_to_have_a_gpu)
{
	struct bed b = scaling_bed();
	tell_guest(&b, &(struct guest){.name = "a", .share = "0.6", .zone = "far"});
	struct made m = wait_for(&b, 10000);
	cr_assert_eq(m.count, 1);
	settle_all(&b);
	tell_asking(&b, m.name, NULL, NULL);
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
