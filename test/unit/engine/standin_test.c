/* C14: tenants of several GPUs ask for a node that has all of them. */
#include "scale_bed.h"

static void tell_pair_guest(struct bed *b, const char *name, const char *share)
{
	tell_guest(
		b, &(struct guest){.name = name, .share = share, .count = "2", .cpu_milli = 100});
}

/* The first one that the last plan creates. */
static const struct action *standin_of(const struct bed *b)
{
	vec_for_each (const struct action, a, &b->plan.actions) {
		if (a->type == ACTION_CREATE_CAPACITY && a->gpus > 0) {
			return a;
		}
	}
	return NULL;
}

/* What a pair of tenants' GPUs has waited for. */
static void ask_of(struct bed *b, char name[64])
{
	tell_pair_guest(b, "a", "0.6");
	struct made m = wait_for(b, 10000);
	cr_assert_eq(m.several, 1);
	snprintf(name, 64, "%s", standin_of(b)->name);
	settle_all(b);
	tell_standin(b, name, NULL, 2, false);
	b->now += 100;
	(void)step(b, ACTION_CREATE_CAPACITY);
	cr_assert_eq(made_by(b).count + made_by(b).several + deletions(b), 0);
}

Test(standin, c14_one_pod_asks_for_all_gpus_of_a_tenant)
{
	struct bed b = scaling_bed();
	tell_pair_guest(&b, "a", "0.6");
	struct made m = wait_for(&b, 10000);
	cr_expect_eq(m.count, 0, "capacity pods could land apart");
	cr_assert_eq(m.several, 1);
	const struct action *a = standin_of(&b);
	cr_expect_eq(a->gpus, 2);
	cr_expect(a->unpinned && text_empty(a->node) && text_empty(a->capacity_pod));
	cr_expect_eq(a->cpu_milli, 120, "with those of two capacity pods");
	settle_all(&b);
	b.now += 1000;
	(void)step(&b, ACTION_CREATE_CAPACITY);
	cr_expect_eq(made_by(&b).several, 0, "once");
	b.now += 30000;
	(void)step(&b, ACTION_CREATE_CAPACITY);
	cr_expect_eq(made_by(&b).several, 1, "it never came");
	bed_finish(&b);
}

Test(standin, c14_tenants_of_as_many_gpus_share_them)
{
	struct bed b = scaling_bed();
	tell_pair_guest(&b, "a", "0.6");
	tell_pair_guest(&b, "b", "0.3");
	tell_pair_guest(&b, "c", "0.3");
	tell_guest(&b, &(struct guest){.name = "d", .share = "0.1"});
	struct made m = wait_for(&b, 10000);
	cr_expect_eq(m.several, 2);
	cr_expect_eq(m.count, 1, "of those of one GPU nobody is with them");
	bed_finish(&b);
}

/* It is bound to n0, and goes. */
static void land(struct bed *b, const char *name)
{
	tell_standin(b, name, "n0", 2, false);
	b->now += 100;
	(void)step(b, ACTION_CREATE_CAPACITY);
	cr_expect_eq(opened_on(b, "n0"), 0, "its GPUs are not free");
	cr_assert_eq(deletions(b), 1);
	cr_expect_null(step(b, ACTION_DELETE_CAPACITY), "once");
	tell_standin(b, name, "n0", 2, true);
	b->now += 1000;
	(void)step(b, ACTION_CREATE_CAPACITY);
	cr_expect_eq(opened_on(b, "n0") + made_by(b).several + deletions(b), 0);
	tell_gone(b, NAME_NAMESPACE, name);
	b->now += 100;
	(void)step(b, ACTION_CREATE_CAPACITY);
	cr_expect_eq(opened_on(b, "n0") + made_by(b).several, 0, "the kubelet is late");
}

/* A node of so many pods came, the stand-in was bound there, and has gone. */
static struct bed bed_landed(int64_t slots)
{
	struct bed b = scaling_bed();
	char name[64];
	ask_of(&b, name);
	tell_node(&b, "n0", 2, slots);
	land(&b, name);
	b.now += 3000;
	(void)step(&b, ACTION_CREATE_CAPACITY);
	return b;
}

/* Its GPUs are the tenant's. */
Test(standin, c14_where_it_was_bound_gpus_are_opened)
{
	struct bed b = bed_landed(110);
	cr_expect_eq(opened_on(&b, "n0"), 2);
	cr_expect_null(standin_of(&b));
	bed_finish(&b);
}

/* Its tenant does not fit there, and it may be that it will. */
Test(standin, c14_one_that_landed_in_vain_stays_for_minutes_and_no_other_comes)
{
	struct bed b = scaling_bed();
	char name[64];
	ask_of(&b, name);
	tell_node(&b, "n0", 2, 2);
	tell_standin(&b, name, "n0", 2, false);
	for (int i = 0; i < 29; i++) {
		(void)step(&b, ACTION_CREATE_CAPACITY);
		cr_expect_eq(opened_on(&b, "n0") + made_by(&b).several + deletions(&b), 0);
		b.now += 10000;
	}
	b.now += 10000;
	const struct action *said = step(&b, ACTION_CONDITION);
	cr_assert_not_null(said);
	cr_expect_eq(said->reason, REASON_NO_SCALE_UP);
	cr_expect_eq(deletions(&b), 1);
	bed_finish(&b);
}

/* Of two that wait the first one's node comes: the second one goes on waiting under its name. */
Test(standin, c14_who_waits_beside_one_that_landed_waits_on)
{
	struct bed b = scaling_bed();
	char first[64];
	tell_pair_guest(&b, "a", "0.6");
	tell_pair_guest(&b, "b", "0.6");
	cr_assert_eq(wait_for(&b, 10000).several, 2);
	snprintf(first, sizeof first, "%s", standin_of(&b)->name);
	struct made m = made_by(&b);
	settle_all(&b);
	tell_standin(&b, first, NULL, 2, false);
	tell_standin(&b, m.name, NULL, 2, false);
	tell_node(&b, "n0", 2, 110);
	land(&b, first);
	b.now += 3000;
	(void)step(&b, ACTION_CREATE_CAPACITY);
	cr_expect_eq(opened_on(&b, "n0"), 2);
	cr_expect_eq(made_by(&b).several, 0);
	settle_all(&b);
	for (int i = 0; i < 10; i++) {
		b.now += 2000;
		(void)step(&b, ACTION_CREATE_CAPACITY);
		cr_expect_eq(made_by(&b).several, 0, "%d", i);
		cr_expect_eq(deletions(&b), 0, "%d", i);
	}
	bed_finish(&b);
}

Test(standin, c14_it_goes_when_nobody_needs_it_any_more)
{
	struct bed b = scaling_bed();
	char name[64];
	ask_of(&b, name);
	tell_gone(&b, "default", "a");
	b.now += 100;
	(void)step(&b, ACTION_DELETE_CAPACITY);
	cr_expect_eq(deletions(&b), 1);
	cr_expect_eq(engine_report(b.e)->waiting, 0);
	b.now += 5000;
	(void)step(&b, ACTION_DELETE_CAPACITY);
	cr_expect_eq(deletions(&b), 1, "asked again");
	bed_finish(&b);
}

/* Somebody who led before made it; nobody knows for whom. */
Test(standin, c14_a_left_over_one_goes)
{
	struct bed b = scaling_bed();
	tell_standin(&b, "companion-several-0123456789ab-0", NULL, 2, false);
	(void)step(&b, ACTION_DELETE_CAPACITY);
	cr_expect_eq(deletions(&b), 1);
	bed_finish(&b);
}

/* It looks like a pod that waits for whole GPUs, and keeps nothing from anybody. */
Test(standin, c16_it_is_no_whole_pod)
{
	struct bed b = scaling_bed();
	char name[64];
	ask_of(&b, name);
	tell_node(&b, "n0", 2, 110);
	b.now += 100;
	(void)step(&b, ACTION_CREATE_CAPACITY);
	cr_expect_eq(opened_on(&b, "n0"), 2, "they are free now, without it");
	cr_expect_eq(deletions(&b), 1);
	bed_finish(&b);
}

Test(standin, c14_after_twenty_minutes_it_rests_and_says_so)
{
	struct bed b = scaling_bed();
	char name[64];
	ask_of(&b, name);
	b.now += 60000;
	const struct action *said = step(&b, ACTION_CONDITION);
	cr_assert_not_null(said);
	cr_expect(
		strstr(said->message, "waits for a node since 60 s") != NULL, "%s", said->message);
	b.now += 1140000;
	said = step(&b, ACTION_CONDITION);
	cr_assert_not_null(said);
	cr_expect_eq(said->reason, REASON_NO_SCALE_UP);
	cr_expect_eq(deletions(&b), 1);
	bed_finish(&b);
}

/* What asks for the last plan's node is refused. */
static void refuse_it(struct bed *b)
{
	struct outcome o = {.fault = {.kind = FAULT_DENIED,
				    .message = "403 Forbidden: admission webhook \"images\" "
					       "denied the request: no"}};
	engine_settle(b->e, (struct engine_now){b->now, b->now}, standin_of(b)->id, &o);
	b->now += 1000;
}

static uint32_t refused_waiters(const struct bed *b)
{
	return engine_report(b->e)->by_reason[REASON_POLICY_REFUSED];
}

Test(standin, a_policy_that_refuses_one_is_named_and_asked_again)
{
	struct bed b = scaling_bed();
	tell_labelled(&b, "of-karpenter", 0, "karpenter.sh/nodepool", "default");
	tell_pair_guest(&b, "a", "0.6");
	cr_assert_eq(wait_for(&b, 10000).several, 1);
	refuse_it(&b);
	(void)step(&b, ACTION_CREATE_CAPACITY);
	cr_expect_eq(made_by(&b).several, 0, "not at once");
	cr_expect_eq(refused_waiters(&b), 1);
	b.now += 30000;
	(void)step(&b, ACTION_CREATE_CAPACITY);
	cr_assert_eq(made_by(&b).several, 1);
	settle_all(&b);
	b.now += 1000;
	(void)step(&b, ACTION_CREATE_CAPACITY);
	cr_expect_eq(refused_waiters(&b), 0);
	bed_finish(&b);
}

/* Where nobody would answer it is no reason to wait: that counts as ours, and a whole pod would
 * wait for the same GPUs. */
Test(standin, a_policy_that_refuses_one_where_no_autoscaler_was_seen_is_named_beside_the_reason)
{
	struct bed b = scaling_bed();
	tell_pair_guest(&b, "a", "0.6");
	cr_assert_eq(wait_for(&b, 10000).several, 1);
	refuse_it(&b);
	b.now += 60000;
	const struct action *said = step(&b, ACTION_CONDITION);
	cr_assert_not_null(said);
	cr_expect_eq(said->reason, REASON_NO_GPU_NODE);
	cr_expect(strstr(said->message, "policy images refuses the pod that would ask") != NULL,
		"%s", said->message);
	cr_expect_eq(refused_waiters(&b), 0);
	/* The other autoscaler marks what it takes away. */
	struct taint leaves = {"ToBeDeletedByClusterAutoscaler", "1", "NoSchedule"};
	struct node n = {.name = "n0", .ready = true, .taints = &leaves, .taint_count = 1};
	engine_observe(b.e, &(struct change){.type = CHANGE_SET, .kind = KIND_NODE, .node = &n});
	(void)step(&b, ACTION_CREATE_CAPACITY);
	cr_expect_eq(refused_waiters(&b), 1);
	tell_node_gone(&b, "n0");
	(void)step(&b, ACTION_CREATE_CAPACITY);
	cr_expect_eq(refused_waiters(&b), 1, "it was seen");
	bed_finish(&b);
}

/* Whether the node that one got was there before is what tells an autoscaler's answer from a GPU
 * that has just got free. */
static bool answers(bool there_before)
{
	struct bed b = scaling_bed();
	char name[64];
	struct pod whole = {.ns = "default",
		.name = "w",
		.uid = "w",
		.node = "n0",
		.gpus = 2,
		.phase = POD_RUNNING};
	if (there_before) {
		tell_labelled(&b, "n0", 2, NULL, NULL);
		tell_pod(&b, &whole);
	}
	ask_of(&b, name);
	if (there_before) {
		tell_gone(&b, "default", "w");
	} else {
		tell_labelled(&b, "n0", 2, NULL, NULL);
	}
	tell_standin(&b, name, "n0", 2, false);
	b.now += 100;
	(void)step(&b, ACTION_CREATE_CAPACITY);
	/* Another group, whose own is refused. */
	tell_guest(&b, &(struct guest){.name = "z", .share = "0.6", .zone = "z", .cpu_milli = 1});
	cr_assert_eq(wait_for(&b, 10000).count, 1);
	refuse_it(&b);
	(void)step(&b, ACTION_CREATE_CAPACITY);
	bool counts = refused_waiters(&b) > 0;
	bed_finish(&b);
	return counts;
}

Test(standin, an_autoscaler_that_answered_once_is_one)
{
	cr_expect(answers(false));
	cr_expect_not(answers(true));
}
