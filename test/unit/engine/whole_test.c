/* C16, C17, C18: whole-GPU pods and tenants, ranked together. */
#include "cluster.h"

struct ask {
	const char *name;
	int64_t gpus;
	int64_t created_ms, cpu_milli;
	int32_t priority;
	bool unjudged, unseen; /* by the scheduler */
	const char *node;
};

#define WAITS(called, many, when, ...)                                                             \
	&(struct ask)                                                                              \
	{                                                                                          \
		.name = (called), .gpus = (many), .created_ms = (when), ##__VA_ARGS__              \
	}

static void tell_whole(struct cluster *c, const struct ask *ask)
{
	struct pod p = {.ns = "default",
		.name = ask->name,
		.uid = ask->name,
		.resource_version = "1",
		.gpus = ask->gpus,
		.cpu_milli = ask->cpu_milli > 0 ? ask->cpu_milli : 10,
		.mem_bytes = 100,
		.created_ms = ask->created_ms,
		.priority = ask->priority,
		.has_pod_affinity = ask->unjudged,
		.unschedulable = !ask->unseen && ask->node == NULL,
		.node = ask->node,
		.phase = ask->node != NULL ? POD_RUNNING : POD_PENDING};
	struct change set = {.type = CHANGE_SET, .kind = KIND_POD, .pod = &p};
	engine_observe(c->e, &set);
}

/* Its age follows from the first letter after the u. */
static void arrive_as(struct cluster *c, const char *name, int64_t milli, const char *uid)
{
	struct obj *o = add(c, name);
	o->gated = true;
	o->ask_milli = milli;
	snprintf(o->uid, sizeof o->uid, "%s", uid);
	publish(c, o);
}

static void whole_gone(struct cluster *c, const char *name)
{
	struct change gone = {
		.type = CHANGE_GONE, .kind = KIND_POD, .ns = "default", .name = name, .uid = name};
	engine_observe(c->e, &gone);
}

static uint32_t waiting(struct cluster *c, enum reason reason)
{
	return engine_report(c->e)->by_reason[reason];
}

static int capacity_pods(struct cluster *c)
{
	int n = 0;
	for (int i = 0; i < PODS_MAX; i++) {
		n += c->pods[i].exists && c->pods[i].capacity;
	}
	return n;
}

static bool runs(struct cluster *c, const char *name)
{
	return !find(c, name)->gated;
}

Test(whole, c16_nothing_opens_where_an_older_whole_pod_fits)
{
	struct cluster *c = cluster_new(1, 2, 1);
	tell_whole(c, WAITS("w", 1, 500));
	arrive(c, "a", 250);
	run_for(c, 15000);
	cr_assert_eq(c->creates, 0);
	cr_assert_eq(waiting(c, REASON_WHOLE_POD_FIRST), 1);
	cr_assert_str_eq(c->said, "needs 0.25 GPU, what is left on n0 is kept for a pod that asks "
				  "for whole GPUs and comes first: default/w");
	/* It was bound: the rest is for tenants. */
	tell_whole(c, WAITS("w", 1, 500, .node = "n0"));
	run_for(c, 2000);
	cr_assert(runs(c, "a"));
	cluster_free(c);
}

/* Times of creation are whole seconds, and a controller makes many in one. */
Test(whole, c16_of_the_same_second_the_whole_pod_comes_first)
{
	struct cluster *c = cluster_new(1, 1, 1);
	arrive(c, "a", 250);
	tell_whole(c, WAITS("w", 1, 1000 + find(c, "a")->uid[1]));
	run_for(c, 15000);
	cr_assert_eq(c->creates, 0);
	cr_assert_eq(waiting(c, REASON_WHOLE_POD_FIRST), 1);
	cluster_free(c);
}

Test(whole, c16_one_that_nobody_has_looked_at_yet_waits_for_nobody)
{
	struct cluster *c = cluster_new(1, 1, 1);
	tell_whole(c, WAITS("w", 1, 500, .unseen = true));
	arrive(c, "a", 250);
	run_for(c, 2000);
	cr_assert(runs(c, "a"));
	cluster_free(c);
}

Test(whole, c17_who_ranks_higher_goes_first)
{
	struct cluster *c = cluster_new(1, 1, 1);
	/* Younger than any tenant here. */
	tell_whole(c, WAITS("w", 1, 900000));
	arrive(c, "a", 250);
	run_for(c, 2000);
	cr_assert(runs(c, "a"));
	cluster_free(c);

	c = cluster_new(1, 1, 1);
	tell_whole(c, WAITS("w", 1, 900000, .priority = 5));
	arrive(c, "a", 250);
	run_for(c, 2000);
	cr_assert_not(runs(c, "a"));
	cluster_free(c);
}

Test(whole, c12_an_idle_capacity_pod_goes_at_once_and_only_one_that_is_needed)
{
	struct cluster *c = cluster_new(1, 2, 1);
	arrive(c, "a", 700);
	arrive(c, "b", 700);
	run_for(c, 2000);
	leave(c, find(c, "a"));
	leave(c, find(c, "b"));
	run_for(c, 500);
	cr_assert_eq(capacity_pods(c), 2, "within their grace");
	/* The youngest of all wants it all the same: nobody else does. */
	tell_whole(c, WAITS("w", 1, 900000));
	run_for(c, 500);
	cr_assert_eq(c->deletes, 1);
	cr_assert_eq(capacity_pods(c), 1);
	run_for(c, 5000);
	cr_assert_eq(c->deletes, 1, "what is free by now is enough");
	cluster_free(c);
}

Test(whole, c12_one_with_tenants_stays)
{
	struct cluster *c = cluster_new(1, 2, 1);
	arrive(c, "a", 700);
	arrive(c, "b", 700);
	run_for(c, 2000);
	leave(c, find(c, "a"));
	run_for(c, 500);
	tell_whole(c, WAITS("w", 2, 500));
	run_for(c, 5000);
	cr_assert_eq(c->deletes, 0, "one idle GPU is of no use to it");
	tell_whole(c, WAITS("w", 1, 500));
	run_for(c, 500);
	cr_assert_eq(c->deletes, 1);
	cr_assert(runs(c, "b"));
	cluster_free(c);
}

Test(whole, c16_an_older_tenant_may_join_an_idle_gpu_first)
{
	struct cluster *c = cluster_new(1, 1, 1);
	arrive(c, "a", 700);
	run_for(c, 2000);
	leave(c, find(c, "a"));
	arrive(c, "b", 700);
	tell_whole(c, WAITS("w", 1, 900000));
	run_for(c, 2000);
	cr_assert(runs(c, "b"));
	cr_assert_eq(c->deletes, 0);
	cluster_free(c);
}

/* 60 s for a pod that the scheduler could bind and does not, then others for five minutes. */
Test(whole, c16_whom_the_scheduler_leaves_alone_freezes_nothing)
{
	struct cluster *c = cluster_new(1, 2, 1);
	tell_whole(c, WAITS("w", 1, 500));
	arrive(c, "a", 250);
	run_for(c, 59000);
	cr_assert_not(runs(c, "a"));
	run_for(c, 3000);
	cr_assert(runs(c, "a"));
	cluster_free(c);
}

Test(whole, c16_what_nobody_judges_holds_only_what_it_asks_for)
{
	struct cluster *c = cluster_new(2, 2, 1);
	tell_whole(c, WAITS("w", 1, 500, .unjudged = true));
	arrive(c, "a", 250);
	run_for(c, 2000);
	cr_assert(runs(c, "a"));
	cluster_free(c);
}

Test(whole, c16_one_that_can_never_fit_holds_nothing)
{
	struct cluster *c = cluster_new(2, 2, 1);
	tell_whole(c, WAITS("w", 3, 500));
	run_for(c, 100000);
	arrive(c, "a", 250);
	run_for(c, 2000);
	cr_assert(runs(c, "a"));
	cluster_free(c);
}

/* Everything that has to do with GPUs may end, other pods are there for good. */
Test(whole, c16_one_whose_cpu_is_never_free_holds_nothing)
{
	struct cluster *c = cluster_new(1, 1, 1);
	struct pod other = {.ns = "default",
		.name = "daemon",
		.uid = "daemon",
		.node = "n0",
		.cpu_milli = 63000,
		.phase = POD_RUNNING};
	struct change set = {.type = CHANGE_SET, .kind = KIND_POD, .pod = &other};
	engine_observe(c->e, &set);
	arrive(c, "a", 500);
	run_for(c, 2000);
	tell_whole(c, WAITS("w", 1, 500, .cpu_milli = 2000));
	run_for(c, 62000);
	arrive(c, "b", 250);
	run_for(c, 2000);
	cr_assert(runs(c, "b"));
	/* What the tenant takes of it would be enough. */
	tell_whole(c, WAITS("v", 1, 500, .cpu_milli = 995));
	run_for(c, 62000);
	arrive(c, "d", 100);
	run_for(c, 2000);
	cr_assert_not(runs(c, "d"));
	cluster_free(c);
}

/* Eight small tenants on eight GPUs, a pod for one GPU and one for eight. */
static struct cluster *c18_cluster(void)
{
	struct cluster *c = cluster_new(1, 8, 1);
	char name[16];
	for (int i = 0; i < 8; i++) {
		snprintf(name, sizeof name, "t%d", i);
		arrive(c, name, 900);
	}
	run_for(c, 3000);
	cr_assert_eq(placed(c), 8);
	tell_whole(c, WAITS("one", 1, 1100));
	tell_whole(c, WAITS("eight", 8, 1101));
	return c;
}

static int events_seen;
static char event_said[512];

static void run_and_watch(struct cluster *c, int64_t ms)
{
	for (int64_t end = c->now + ms; c->now < end; c->now += 50) {
		turn(c);
		for (size_t i = 0; i < c->plan.actions.count; i++) {
			const struct action *a = &c->plan.actions.items[i];
			if (a->type == ACTION_EVENT && a->event_reason != NULL) {
				cr_assert_str_eq(a->event_reason, "SharesInTheWay");
				events_seen++;
				snprintf(event_said, sizeof event_said, "%s", a->message);
			}
		}
	}
}

Test(whole, c18_newcomers_never_overtake)
{
	struct cluster *c = c18_cluster();
	run_and_watch(c, 61000);
	cr_assert_eq(events_seen, 1);
	cr_assert_str_eq(event_said,
		"waits for 1 whole GPU; on n0, the node nearest to it, 8 shares on GPUs are in the "
		"way: default/x, default/x, default/x, default/x and 4 more; whoever ranks lower "
		"gets no new share there until it fits");
	/* There is room for it on each GPU. */
	arrive_as(c, "new", 100, "uz");
	run_and_watch(c, 15000);
	cr_assert_not(runs(c, "new"));
	cr_assert_eq(waiting(c, REASON_WHOLE_POD_FIRST), 1);
	/* One leaves: its GPU goes at once. */
	leave(c, find(c, "t3"));
	run_and_watch(c, 1000);
	cr_assert_eq(capacity_pods(c), 7);
	tell_whole(c, WAITS("one", 1, 1100, .node = "n0"));
	whole_gone(c, "one");
	run_and_watch(c, 20000);
	cr_assert_eq(events_seen, 2, "once each");
	cr_assert_not(runs(c, "new"), "now the large one waits");
	whole_gone(c, "eight");
	run_and_watch(c, 2000);
	cr_assert(runs(c, "new"));
	cluster_free(c);
}

/* What a step does is no different if it is done in slices. */
Test(whole, c16_holds_over_the_slices_of_a_step)
{
	struct cluster *c = cluster_new(1, 2, 1);
	char name[16];
	tell_whole(c, WAITS("w", 1, 500));
	for (int i = 0; i < 20; i++) {
		snprintf(name, sizeof name, "t%d", i);
		arrive(c, name, 250);
	}
	for (int i = 0; i < 400; i++, c->now += 50) {
		deliver(c);
		engine_step(c->e, (struct engine_now){c->now, c->now}, 1, &c->plan);
		for (size_t k = 0; k < c->plan.actions.count; k++) {
			struct action a = c->plan.actions.items[k];
			apply(c, &a);
		}
	}
	cr_assert_eq(c->creates, 0);
	cluster_free(c);
}

/* Of two GPUs one has little left, the other less: small ones come and go on both. */
Test(whole, c17_a_tenant_passed_over_reserves_its_best_gpu)
{
	struct cluster *c = cluster_new(1, 2, 1);
	arrive_as(c, "a", 600, "ua");
	arrive_as(c, "b", 700, "ub");
	run_for(c, 2000);
	arrive_as(c, "big", 500, "uc");
	run_for(c, 61000);
	cr_assert_not(runs(c, "big"));
	arrive_as(c, "small", 400, "ud");
	run_for(c, 15000);
	cr_assert_not(runs(c, "small"), "it fits only where the big one waits");
	cr_assert_eq(waiting(c, REASON_RESERVED), 1);
	arrive_as(c, "tiny", 300, "ue");
	run_for(c, 2000);
	cr_assert(runs(c, "tiny"), "the other GPU is nobody's");
	leave(c, find(c, "a"));
	run_for(c, 2000);
	cr_assert(runs(c, "big"));
	cr_assert(runs(c, "small"));
	cluster_free(c);
}

/* What would do for it is kept for somebody before it: it is next in the step in which that one
 * comes, not half a minute later. */
Test(whole, c17_who_is_behind_a_reservation_is_next)
{
	struct cluster *c = cluster_new(1, 1, 1);
	arrive_as(c, "a", 900, "ua");
	run_for(c, 2000);
	arrive_as(c, "middle", 300, "ub");
	arrive_as(c, "big", 900, "uc");
	run_for(c, 70000);
	arrive_as(c, "small", 200, "ud");
	run_for(c, 5000);
	leave(c, find(c, "a"));
	run_for(c, 2000);
	cr_assert(runs(c, "middle"));
	run_for(c, 15000);
	cr_assert_not(runs(c, "small"), "the big one waited before it");
	cr_assert_eq(waiting(c, REASON_RESERVED), 1);
	cluster_free(c);
}

static void want(struct cluster *c, const char *name, int64_t milli)
{
	struct change share = {.type = CHANGE_SHARE,
		.uid = find(c, name)->uid,
		.milli = milli,
		.mem_mib = milli * USABLE / MODEL_GPU_MILLI};
	engine_observe(c->e, &share);
}

/* A share that was nearly given, and was not, is no reason to begin to wait anew. */
Test(whole, c17_what_comes_to_nothing_ends_no_patience)
{
	struct cluster *c = cluster_new(1, 2, 1);
	arrive_as(c, "d", 900, "ue");
	run_for(c, 2000);
	arrive_as(c, "a", 600, "ua");
	arrive_as(c, "b", 300, "ub");
	run_for(c, 2000);
	arrive_as(c, "big", 300, "uc");
	run_for(c, 50000);
	/* It fits as soon as b is gone; d's ledger is not seen by then, so that nothing is given.
	 */
	c->delay_ms = 4000;
	leave(c, find(c, "b"));
	want(c, "d", 950);
	for (int i = 0; i < 200 && waiting(c, REASON_GRANTING) == 0; i++) {
		run_for(c, 50);
	}
	cr_assert_eq(waiting(c, REASON_GRANTING), 1);
	want(c, "a", 900);
	run_for(c, 5000);
	c->delay_ms = 0;
	run_for(c, 10000);
	cr_assert_not(runs(c, "big"), "its room has gone to one that was there before");
	arrive_as(c, "small", 100, "ud");
	run_for(c, 5000);
	cr_assert_not(runs(c, "small"), "the big one has waited for longer than a minute");
	cr_assert_eq(waiting(c, REASON_RESERVED), 1);
	cluster_free(c);
}

/* Nor is a GPU that was opened for it in vain. */
Test(whole, c17_a_gpu_that_never_comes_ends_no_patience)
{
	struct cluster *c = cluster_new(1, 2, 1);
	tell_whole(c, WAITS("whole", 1, 500, .node = "n0"));
	run_for(c, 1000);
	arrive_as(c, "a", 600, "ua");
	run_for(c, 2000);
	arrive_as(c, "big", 600, "ub");
	run_for(c, 57000);
	c->refuses = 1;
	whole_gone(c, "whole");
	run_for(c, 2000);
	cr_assert_eq(waiting(c, REASON_WAITING_FOR_CAPACITY), 1);
	for (int i = 0; i < 6000 && waiting(c, REASON_WAITING_FOR_CAPACITY) == 1; i++) {
		run_for(c, 100);
	}
	cr_assert_eq(waiting(c, REASON_WAITING_FOR_CAPACITY), 0);
	arrive_as(c, "small", 100, "uc");
	run_for(c, 5000);
	cr_assert_not(runs(c, "small"), "the big one has waited for longer than a minute");
	cr_assert_eq(waiting(c, REASON_RESERVED), 1);
	cluster_free(c);
}

Test(whole, c17_a_hundred_others_are_enough)
{
	struct cluster *c = cluster_new(1, 1, 1);
	char name[16], uid[16];
	arrive_as(c, "a", 600, "ua");
	run_for(c, 1000);
	arrive_as(c, "big", 500, "uc");
	run_for(c, 200);
	int passed = 0;
	for (int i = 0; i < 150; i++) {
		snprintf(name, sizeof name, "s%d", i);
		snprintf(uid, sizeof uid, "uz%d", i);
		arrive_as(c, name, 300, uid);
		run_for(c, 250);
		bool ran = runs(c, name);
		passed += ran ? 1 : 0;
		leave(c, find(c, name));
		run_for(c, 50);
		cr_assert(ran || passed >= 100, "%d", passed);
	}
	cr_assert_eq(passed, 100);
	cluster_free(c);
}

static void arrive_pair(struct cluster *c, const char *name, int64_t milli, const char *uid)
{
	struct obj *o = add(c, name);
	o->gated = true;
	o->ask_milli = milli;
	o->count = 2;
	snprintf(o->uid, sizeof o->uid, "%s", uid);
	publish(c, o);
}

Test(whole, c17_a_tenant_of_several_gpus_reserves_where_the_least_is_missing)
{
	struct cluster *c = cluster_new(2, 2, 1);
	const char *const names[] = {"a", "b", "d", "e"};
	const int64_t shares[] = {900, 900, 700, 600};
	char uid[8];
	for (size_t i = 0; i < COUNT_OF(names); i++) {
		snprintf(uid, sizeof uid, "u%s", names[i]);
		arrive_as(c, names[i], shares[i], uid);
		run_for(c, 1000);
	}
	cr_assert_eq(placed(c), 4);
	arrive_pair(c, "pair", 500, "ug");
	run_for(c, 61000);
	cr_assert_not(runs(c, "pair"));
	arrive_as(c, "small", 300, "uh");
	run_for(c, 15000);
	cr_assert_not(runs(c, "small"), "it fits only where the pair waits");
	cr_assert_eq(waiting(c, REASON_RESERVED), 1);
	arrive_as(c, "tiny", 100, "ui");
	run_for(c, 2000);
	cr_assert(runs(c, "tiny"), "the other node is nobody's");
	leave(c, find(c, "d"));
	run_for(c, 2000);
	cr_assert_not(runs(c, "small"), "it would be in the way still");
	leave(c, find(c, "e"));
	run_for(c, 2000);
	cr_assert(runs(c, "pair"));
	cr_assert(runs(c, "small"));
	cluster_free(c);
}

Test(whole, c17_nor_does_a_tenant_of_several_gpus_join_what_is_reserved)
{
	struct cluster *c = cluster_new(1, 2, 1);
	arrive_as(c, "a", 600, "ua");
	arrive_as(c, "b", 600, "ub");
	run_for(c, 2000);
	arrive_as(c, "big", 500, "uc");
	run_for(c, 61000);
	arrive_pair(c, "pair", 200, "ud");
	run_for(c, 15000);
	cr_assert_not(runs(c, "pair"));
	cr_assert_eq(waiting(c, REASON_RESERVED), 1);
	cr_assert(strstr(c->said, "default/big") != NULL, "%s", c->said);
	leave(c, find(c, "a"));
	run_for(c, 2000);
	cr_assert(runs(c, "big"));
	cr_assert(runs(c, "pair"));
	cluster_free(c);
}

Test(whole, c16_a_tenant_of_several_gpus_is_told_that_a_whole_pod_comes_first)
{
	struct cluster *c = cluster_new(1, 2, 1);
	tell_whole(c, WAITS("w", 1, 500));
	arrive_pair(c, "pair", 250, "ua");
	run_for(c, 15000);
	cr_assert_eq(c->creates, 0);
	cr_assert_eq(waiting(c, REASON_WHOLE_POD_FIRST), 1);
	cr_assert_str_eq(c->said, "needs 0.25 GPU, what is left on n0 is kept for a pod that asks "
				  "for whole GPUs and comes first: default/w");
	whole_gone(c, "w");
	run_for(c, 3000);
	cr_assert(runs(c, "pair"));
	cluster_free(c);
}
