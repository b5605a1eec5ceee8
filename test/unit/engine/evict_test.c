/* When a tenant is taken down: within which bounds, and what its answers lead to. The cause here is
 * a node whose driver is being upgraded (C13). */
#include "evict_bed.h"

static void upgrade(struct bed *b, const char *state)
{
	struct pair labels[] = {{"nvidia.com/gpu-driver-upgrade-state", state}};
	struct node n = {.name = "n0",
		.ready = true,
		.cpu_milli = 64000,
		.mem_bytes = (int64_t)1 << 40,
		.pod_slots = 110,
		.gpus = 1,
		.labels = {labels, state != NULL ? 1 : 0}};
	struct change set = {.type = CHANGE_SET, .kind = KIND_NODE, .node = &n};
	engine_observe(b->e, &set);
}

/* So many tenants of a node that is to be emptied. */
static struct bed leaving_node(int tenants, const char *owner)
{
	static const char *const names[] = {"t0", "t1", "t2", "t3", "t4", "t5"};
	struct bed b = bed_make();
	upgrade(&b, "drain-required");
	tell_reach(&b, true);
	tell_capacity(&b, &(struct cap){"c0", "c0-uid", "G0", false, {0}});
	for (int i = 0; i < tenants; i++) {
		tell_tenant(&b, &(struct tenant){.name = names[i],
					.owner_kind = "ReplicaSet",
					.owner = owner,
					.milli = "100",
					.node = "n0"});
	}
	return b;
}

Test(evict, c13_a_node_in_an_upgrade_is_emptied_with_the_reason_before)
{
	struct bed b = leaving_node(1, NULL);
	const struct action *a = step(&b, ACTION_EVICT);
	cr_assert_not_null(a);
	cr_expect_str_eq(a->ns, "default");
	cr_expect_str_eq(a->uid, "t0");
	cr_expect_null(a->resource_version, "its kubelet may say what it likes meanwhile");
	cr_expect_eq(a->reason, REASON_NODE_LEAVES);
	const struct action *told = event_of(&b, "NodeLeaves");
	cr_assert_not_null(told);
	cr_expect(told < a, "I5: first the reason");
	cr_expect(strstr(told->message, "n0") != NULL &&
			  strstr(told->message, "drain-required") != NULL,
		"%s", told->message);
	cr_expect_null(step(&b, ACTION_EVICT), "once");
	bed_finish(&b);
}

Test(evict, c13_other_states_of_an_upgrade_take_nobody_down)
{
	static const char *const states[] = {NULL, "upgrade-done", "cordon-required", "failed"};
	for (size_t i = 0; i < COUNT_OF(states); i++) {
		struct bed b = leaving_node(1, NULL);
		upgrade(&b, states[i]);
		cr_expect_null(step(&b, ACTION_EVICT), "%s", text_or(states[i], "none"));
		bed_finish(&b);
	}
}

/* Something evicts the capacity pod, and its budget let it. */
static void disrupt(struct bed *b, const char *name, const char *uuid)
{
	struct pair label[] = {{LABEL_CAPACITY, "true"}};
	struct gpu_identity id = {.mem_mib = USABLE};
	snprintf(id.uuid, sizeof id.uuid, "%s", uuid);
	char uid[64];
	snprintf(uid, sizeof uid, "%s-uid", name);
	struct pod p = {.ns = NAME_NAMESPACE,
		.name = name,
		.uid = uid,
		.node = "n0",
		.gpus = 1,
		.phase = POD_RUNNING,
		.labels = {label, 1},
		.identity = &id,
		.holds = true,
		.disrupted = true};
	tell_pod(b, &p);
}

Test(evict, c13_a_capacity_pod_that_is_being_evicted_is_left_first)
{
	struct bed b = leaving_node(1, NULL);
	upgrade(&b, NULL);
	disrupt(&b, "c0", "G0");
	cr_expect_not_null(step(&b, ACTION_EVICT));
	cr_expect_not_null(event_of(&b, "NodeLeaves"));
	bed_finish(&b);
}

Test(evict, c3_nobody_is_evicted_while_the_webhook_is_not_reached)
{
	struct bed b = leaving_node(1, NULL);
	tell_reach(&b, false);
	cr_expect_null(step(&b, ACTION_EVICT));
	b.now += 60000;
	cr_expect_null(step(&b, ACTION_EVICT));
	tell_reach(&b, true);
	cr_expect_not_null(step(&b, ACTION_EVICT));
	bed_finish(&b);
}

/* A policy refuses the canary: who cannot stay goes all the same. */
Test(evict, c3_c13_a_node_is_emptied_also_where_nobody_knows_whether_the_webhook_is_reached)
{
	struct bed b = leaving_node(1, NULL);
	struct change c = {.type = CHANGE_REACH, .unsure = true};
	engine_observe(b.e, &c);
	cr_expect_not_null(step(&b, ACTION_EVICT));
	bed_finish(&b);
}

Test(evict, two_of_one_owner_never_go_at_once)
{
	struct bed b = leaving_node(2, "rs");
	uint64_t id = step(&b, ACTION_EVICT)->id;
	cr_expect_eq(count_of(&b, ACTION_EVICT), 1);
	cr_expect(engine_evicts(b.e, "t0") && engine_evicts(b.e, "t1"), "and it says so");
	settle(&b, id, 0, "");
	b.now += 1000;
	cr_expect_null(step(&b, ACTION_EVICT), "the first is on its way still");
	tell_gone(&b, "default", "t0");
	tell_gone(&b, "default", "t1");
	b.now += 1000;
	cr_expect_null(step(&b, ACTION_EVICT));
	bed_finish(&b);
	b = leaving_node(2, NULL);
	step(&b, ACTION_EVICT);
	cr_expect_eq(count_of(&b, ACTION_EVICT), 2, "bare pods are nobody's replicas");
	bed_finish(&b);
}

Test(evict, so_many_a_minute_in_all)
{
	struct bed b = leaving_node(0, NULL);
	char name[8];
	for (int i = 0; i < 40; i++) {
		snprintf(name, sizeof name, "p%d", i);
		tell_tenant(&b, &(struct tenant){.name = name, .milli = "10", .node = "n0"});
	}
	step(&b, ACTION_EVICT);
	cr_expect_eq(count_of(&b, ACTION_EVICT), 30);
	b.now += 59000;
	cr_expect_null(step(&b, ACTION_EVICT));
	b.now += 1000;
	step(&b, ACTION_EVICT);
	cr_expect_eq(count_of(&b, ACTION_EVICT), 10);
	bed_finish(&b);
}

Test(evict, a_budget_is_asked_again_after_a_rest_and_its_words_are_told)
{
	struct bed b = leaving_node(1, NULL);
	uint64_t id = step(&b, ACTION_EVICT)->id;
	settle(&b, id, 429, "429: the pod's disruption budget: web needs 2");
	b.now += 1000;
	cr_expect_null(step(&b, ACTION_EVICT));
	const struct action *told = event_of(&b, "EvictionRefused");
	cr_assert_not_null(told);
	cr_expect(strstr(told->message, "web needs 2") != NULL, "%s", told->message);
	b.now += 4000;
	cr_assert_not_null(step(&b, ACTION_EVICT));
	cr_expect_null(event_of(&b, "EvictionRefused"), "once");
	cr_expect_null(event_of(&b, "NodeLeaves"), "once");
	bed_finish(&b);
}

/* What becomes of one that was answered so, so long after. */
static bool asked_again(int status, int64_t after_ms)
{
	struct bed b = leaving_node(1, NULL);
	settle(&b, step(&b, ACTION_EVICT)->id, status, "answer");
	b.now += after_ms;
	bool again = step(&b, ACTION_EVICT) != NULL;
	bed_finish(&b);
	return again;
}

Test(evict, what_the_watch_does_not_show_in_time_was_not_done)
{
	cr_expect_not(asked_again(0, 29000));
	cr_expect(asked_again(0, 31000));
	cr_expect_not(asked_again(404, 29000), "the watch will show it gone");
	cr_expect_not(asked_again(503, 9000), "it may have been done");
	cr_expect_not(asked_again(409, 500));
	cr_expect(asked_again(409, 1500), "as it is now");
}

Test(evict, a_pod_that_is_going_is_left_alone)
{
	struct bed b = leaving_node(0, NULL);
	tell_tenant(
		&b, &(struct tenant){.name = "t0", .milli = "100", .node = "n0", .deleting = true});
	cr_expect_null(step(&b, ACTION_EVICT));
	bed_finish(&b);
}

/* As of a pod under two budgets, for which the API server answers 500 whenever it is asked. */
Test(evict, an_answer_of_500_that_lasts_is_a_refusal_and_is_told)
{
	struct bed b = leaving_node(1, NULL);
	settle(&b, step(&b, ACTION_EVICT)->id, 500, "more than one budget");
	b.now += 9000;
	cr_expect_null(step(&b, ACTION_EVICT), "it may have been done");
	cr_expect_null(event_of(&b, "EvictionRefused"));
	b.now += 2000;
	cr_expect_null(step(&b, ACTION_EVICT), "it rests");
	b.now += 5000;
	const struct action *again = step(&b, ACTION_EVICT);
	cr_assert_not_null(again);
	settle(&b, again->id, 500, "more than one budget");
	b.now += 14000;
	cr_expect_null(step(&b, ACTION_EVICT), "rests longer each time");
	bed_finish(&b);
}

static bool is_told_after(struct bed *b, int64_t ms)
{
	b->now += ms;
	step(b, ACTION_EVICT);
	return event_of(b, "EvictionRefused") != NULL;
}

Test(evict, what_failed_for_good_is_told_once)
{
	struct bed b = leaving_node(1, NULL);
	settle(&b, step(&b, ACTION_EVICT)->id, 500, "more than one budget");
	cr_expect_not(is_told_after(&b, 9000));
	bool told = is_told_after(&b, 2000) || is_told_after(&b, 0);
	cr_expect(told);
	cr_expect_not(is_told_after(&b, 1000));
	bed_finish(&b);
}

Test(evict, an_eviction_that_got_lost_keeps_its_owner_waiting_only_for_a_while)
{
	struct bed b = leaving_node(2, "rs");
	uint64_t id = step(&b, ACTION_EVICT)->id;
	settle(&b, id, 0, "");
	b.now += 29000;
	cr_expect_null(step(&b, ACTION_EVICT));
	b.now += 2000;
	cr_expect_not_null(step(&b, ACTION_EVICT));
	bed_finish(&b);
}

Test(evict, c13_the_second_of_two_capacity_pods_counts_as_well)
{
	struct bed b = bed_make();
	upgrade(&b, NULL);
	tell_reach(&b, true);
	tell_capacity(&b, &(struct cap){"c0", "c0-uid", "G0", false, {0}});
	tell_capacity(&b, &(struct cap){"c1", "c1-uid", "G1", false, {0}});
	tell_tenant(&b, &(struct tenant){.name = "t0",
				.milli = "100",
				.node = "n0",
				.holder = "c0,c1",
				.uuid = "G0,G1"});
	cr_expect_null(step(&b, ACTION_EVICT));
	disrupt(&b, "c1", "G1");
	cr_expect_not_null(step(&b, ACTION_EVICT));
	bed_finish(&b);
}
