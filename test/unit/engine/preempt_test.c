/* C17: who is displaced for whom, and who gets what that frees. */
#include "evict_bed.h"

struct gated {
	const char *name, *share, *policy;
	int32_t priority;
	bool never, barred; /* by a gate of somebody else */
	int64_t cpu_milli;
	const char *zone, *count, *class;
};

static void tell_gated(struct bed *b, const struct gated *w)
{
	struct pair label[] = {{LABEL_TENANT, "true"}};
	struct pair notes[] = {{NOTE_ORIGINAL, "{}"}, {NOTE_SHARE, w->share},
		{w->policy != NULL ? NOTE_POLICY : NOTE_GPU_COUNT,
			w->policy != NULL ? w->policy : w->count}};
	struct pair zone[] = {{"zone", w->zone}};
	const char *gate[] = {NAME_GATE, "example.com/other"};
	struct pod p = {.ns = "default",
		.name = w->name,
		.uid = w->name,
		.priority = w->priority,
		.never_preempts = w->never,
		.runtime_class = w->class,
		.cpu_milli = w->cpu_milli > 0 ? w->cpu_milli : 10,
		.mem_bytes = 100,
		.labels = {label, 1},
		.notes = {notes, w->policy != NULL || w->count != NULL ? 3 : 2},
		.node_selector = {zone, w->zone != NULL ? 1 : 0},
		.gates = gate,
		.gate_count = w->barred ? 2 : 1};
	tell_pod(b, &p);
}

static void tell_low(struct bed *b, const char *name, const char *milli, int32_t priority)
{
	tell_tenant(b,
		&(struct tenant){.name = name, .milli = milli, .node = "n0", .priority = priority});
}

static int64_t milli_of(const char *text)
{
	int64_t n = 0;
	cr_assert(parse_i64(view_of(text), 1, 1000, &n));
	return n;
}

/* One GPU, which `a` and `c` share. */
static struct bed shared_of(const struct engine_config *cfg, const char *a, int32_t a_priority,
	const char *c, int32_t c_priority)
{
	struct bed b = bed_make_of(cfg);
	tell_node(&b, "n0", 1, 110);
	tell_reach(&b, true);
	struct grant both[] = {
		{"a", "default", "a", milli_of(a), 1000}, {"c", "default", "c", milli_of(c), 1000}};
	tell_capacity(&b, &(struct cap){"c0", "c0-uid", "G0", false, {both, 2}});
	tell_low(&b, "a", a, a_priority);
	tell_low(&b, "c", c, c_priority);
	return b;
}

static struct bed shared_by(const char *a, int32_t a_priority, const char *c, int32_t c_priority)
{
	return shared_of(&(struct engine_config){0}, a, a_priority, c, c_priority);
}

/* The first eviction after it has waited long enough; NULL: none. */
static const struct action *wait_for_it(struct bed *b)
{
	cr_expect_null(step(b, ACTION_EVICT));
	b->now += 9000;
	cr_expect_null(step(b, ACTION_EVICT), "a GPU that is being opened is waited for");
	b->now += 1500;
	return step(b, ACTION_EVICT);
}

static void expect_victim(struct bed *b, const char *name)
{
	const struct action *a = wait_for_it(b);
	cr_assert_not_null(a, "nobody instead of %s", name);
	cr_expect_str_eq(a->uid, name);
	cr_expect_eq(count_of(b, ACTION_EVICT), 1, "never more than needed");
	bed_finish(b);
}

static void expect_nobody(struct bed *b)
{
	cr_expect_null(wait_for_it(b));
	b->now += 30000;
	cr_expect_null(step(b, ACTION_EVICT));
	bed_finish(b);
}

Test(preempt, c17_a_tenant_of_lower_priority_gives_way)
{
	struct bed b = shared_by("600", 0, "300", 50);
	tell_gated(&b, &(struct gated){.name = "w", .share = "0.5", .priority = 10});
	const struct action *a = wait_for_it(&b);
	cr_assert_not_null(a);
	cr_expect_str_eq(a->uid, "a");
	cr_expect_eq(a->reason, REASON_PREEMPTED);
	const struct action *told = event_of(&b, "Preempted");
	cr_assert_not_null(told);
	cr_expect(strstr(told->message, "default/w") != NULL, "%s", told->message);
	bed_finish(&b);
}

/* Whoever goes would go for nothing, where its class may see no GPU there (C26). */
Test(preempt, c26_nobody_goes_before_the_class_is_proven)
{
	struct inject_class other = {"boxed", INJECT_CDI};
	struct inject_claim claim = {.node = "n0",
		.uuid = "G0",
		.driver = "",
		.boot = "",
		.runtime = "",
		.class = "",
		.others = &other};
	for (uint32_t proven = 0; proven < 2; proven++) {
		struct engine_config cfg = {.injection = "probe"};
		struct bed b = shared_of(&cfg, "700", 0, "300", 5);
		struct grant both[] = {
			{"a", "default", "a", 700, 1000}, {"c", "default", "c", 300, 1000}};
		claim.other_count = proven;
		struct pair label[] = {{LABEL_CAPACITY, "true"}};
		struct gpu_identity id = {.uuid = "G0", .mem_mib = USABLE};
		tell_pod(&b, &(struct pod){.ns = NAME_NAMESPACE,
				     .name = "c0",
				     .uid = "c0-uid",
				     .node = "n0",
				     .gpus = 1,
				     .phase = POD_RUNNING,
				     .labels = {label, 1},
				     .identity = &id,
				     .holds = true,
				     .claim = &claim,
				     .ledger = {both, 2}});
		tell_gated(
			&b, &(struct gated){
				    .name = "w", .share = "0.5", .priority = 9, .class = "boxed"});
		cr_expect_eq(wait_for_it(&b) != NULL, proven == 1);
		bed_finish(&b);
	}
}

Test(preempt, c17_after_as_long_as_is_configured)
{
	struct bed b = shared_of(&(struct engine_config){.lacks_ms = 1000}, "600", 0, "300", 50);
	tell_gated(&b, &(struct gated){.name = "w", .share = "0.5", .priority = 10});
	cr_expect_null(step(&b, ACTION_EVICT));
	b.now += 900;
	cr_expect_null(step(&b, ACTION_EVICT));
	b.now += 200;
	cr_expect_not_null(step(&b, ACTION_EVICT));
	bed_finish(&b);
}

Test(preempt, c17_an_equal_priority_is_not_lower)
{
	struct bed b = shared_by("600", 10, "300", 50);
	tell_gated(&b, &(struct gated){.name = "w", .share = "0.5", .priority = 10});
	expect_nobody(&b);
}

Test(preempt, c17_never_of_the_pod)
{
	struct bed b = shared_by("600", 0, "300", 0);
	tell_gated(&b, &(struct gated){.name = "w", .share = "0.5", .priority = 10, .never = true});
	expect_nobody(&b);
}

Test(preempt, c17_never_of_its_policy)
{
	for (int never = 0; never < 2; never++) {
		struct bed b = shared_by("600", 0, "300", 0);
		struct policy p = {.name = "polite",
			.generation = 1,
			.mode = MODE_AUTOMATE,
			.sizing.min_percent = 1,
			.sizing.max_percent = 100,
			.max_tenants = 16,
			.never_preempts = never};
		struct change set = {.type = CHANGE_SET, .kind = KIND_POLICY, .policy = &p};
		engine_observe(b.e, &set);
		tell_gated(&b,
			&(struct gated){
				.name = "w", .share = "0.5", .policy = "polite", .priority = 10});
		(never ? expect_nobody(&b) : expect_victim(&b, "a"));
	}
}

Test(preempt, c17_the_fewest_then_the_lowest_then_the_least)
{
	struct bed b = shared_by("600", 5, "300", 0);
	tell_gated(&b, &(struct gated){.name = "w", .share = "0.6", .priority = 10});
	expect_victim(&b, "a");
	b = shared_by("500", 5, "450", 0);
	tell_gated(&b, &(struct gated){.name = "w", .share = "0.4", .priority = 10});
	expect_victim(&b, "c");
	b = shared_by("500", 0, "450", 0);
	tell_gated(&b, &(struct gated){.name = "w", .share = "0.4", .priority = 10});
	expect_victim(&b, "c");
}

Test(preempt, c17_only_where_the_pod_would_really_fit)
{
	struct bed b = shared_by("600", 0, "300", 0);
	tell_gated(&b,
		&(struct gated){.name = "w", .share = "0.5", .priority = 10, .zone = "elsewhere"});
	expect_nobody(&b);
	/* n0 has 64 CPUs, each tenant one of them. */
	b = shared_by("600", 0, "300", 0);
	tell_gated(&b,
		&(struct gated){.name = "w", .share = "0.5", .priority = 10, .cpu_milli = 64001});
	expect_nobody(&b);
	b = shared_by("600", 0, "300", 50);
	tell_gated(&b,
		&(struct gated){.name = "w", .share = "0.1", .priority = 10, .cpu_milli = 63000});
	expect_victim(&b, "a");
}

/* The second one is asked when the first is on its way, and not before. */
Test(preempt, c17_one_after_the_other)
{
	struct bed b = shared_by("500", 0, "500", 0);
	tell_gated(&b, &(struct gated){.name = "w", .share = "1", .priority = 10});
	const struct action *a = wait_for_it(&b);
	cr_assert_not_null(a);
	cr_expect_str_eq(a->uid, "a");
	cr_expect_eq(count_of(&b, ACTION_EVICT), 1);
	settle(&b, a->id, 0, "");
	b.now += 300;
	a = step(&b, ACTION_EVICT);
	cr_assert_not_null(a);
	cr_expect_str_eq(a->uid, "c");
	bed_finish(&b);
}

Test(preempt, c17_who_leaves_anyway_is_enough)
{
	struct bed b = shared_by("600", 0, "300", 0);
	tell_tenant(
		&b, &(struct tenant){.name = "c", .milli = "300", .node = "n0", .deleting = true});
	tell_gated(&b, &(struct gated){.name = "w", .share = "0.4", .priority = 10});
	expect_nobody(&b);
}

static void goes(struct bed *b, const char *name, const char *milli)
{
	tell_tenant(
		b, &(struct tenant){.name = name, .milli = milli, .node = "n0", .deleting = true});
	tell_gone(b, "default", name);
}

/* A younger and even a more important one comes between the eviction and the grant. */
Test(preempt, c17_what_it_frees_is_its_own_for_a_minute)
{
	struct bed b = shared_by("600", 0, "300", 50);
	tell_gated(&b, &(struct gated){.name = "w", .share = "0.5", .priority = 10});
	settle(&b, wait_for_it(&b)->id, 0, "");
	tell_gated(&b, &(struct gated){.name = "z", .share = "0.5", .priority = 40});
	goes(&b, "a", "600");
	b.now += 100;
	const struct action *g = step(&b, ACTION_GRANT);
	cr_assert_not_null(g);
	bool has_w = false;
	for (uint32_t i = 0; i < g->ledger.count; i++) {
		has_w = has_w || text_equals(g->ledger.items[i].uid, "w");
		cr_expect(!text_equals(g->ledger.items[i].uid, "z"));
	}
	cr_expect(has_w);
	bed_finish(&b);
}

Test(preempt, c17_and_after_a_minute_whoever_ranks_first_gets_it)
{
	for (int gone = 0; gone < 2; gone++) {
		struct bed b = shared_by("600", 0, "300", 50);
		struct gated w = {.name = "w", .share = "0.5", .priority = 10};
		tell_gated(&b, &w);
		settle(&b, wait_for_it(&b)->id, 0, "");
		w.barred = true; /* it cannot take what is held for it */
		tell_gated(&b, &w);
		tell_gone(&b, "default", gone == 1 ? "w" : "nobody");
		tell_gated(&b, &(struct gated){.name = "z", .share = "0.5", .priority = 5});
		goes(&b, "a", "600");
		cr_expect_eq(step(&b, ACTION_GRANT) != NULL, gone == 1, "held for who waits");
		b.now += 60000;
		cr_expect(gone == 1 || step(&b, ACTION_GRANT) != NULL, "for a minute");
		bed_finish(&b);
	}
}

Test(preempt, c17_a_budget_that_refuses_sends_it_to_another_gpu)
{
	struct bed b = bed_make();
	tell_node(&b, "n0", 2, 110);
	tell_reach(&b, true);
	struct grant a0[] = {{"a", "default", "a", 900, 1000}};
	struct grant c1[] = {{"c", "default", "c", 950, 1000}};
	tell_capacity(&b, &(struct cap){"c0", "c0-uid", "G0", false, {a0, 1}});
	tell_capacity(&b, &(struct cap){"c1", "c1-uid", "G1", false, {c1, 1}});
	tell_low(&b, "a", "900", 0);
	tell_tenant(&b,
		&(struct tenant){
			.name = "c", .milli = "950", .node = "n0", .holder = "c1", .uuid = "G1"});
	tell_gated(&b, &(struct gated){.name = "w", .share = "0.5", .priority = 10});
	const struct action *a = wait_for_it(&b);
	cr_assert_not_null(a);
	cr_expect_str_eq(a->uid, "a");
	settle(&b, a->id, 429, "429: the pod's disruption budget");
	b.now += 300;
	a = step(&b, ACTION_EVICT);
	cr_assert_not_null(a);
	cr_expect_str_eq(a->uid, "c");
	bed_finish(&b);
}

/* With room anywhere nobody goes, however low. */
Test(preempt, c17_never_for_a_saving)
{
	struct bed b = shared_by("600", 0, "300", 0);
	tell_node(&b, "n0", 2, 110);
	tell_gated(&b, &(struct gated){.name = "w", .share = "0.5", .priority = 10});
	expect_nobody(&b);
}

/* Who ranks lower may have reserved the GPU meanwhile: that keeps nobody who ranks higher off. */
Test(preempt, c17_a_keeper_of_lower_rank_is_in_nobodys_way)
{
	struct bed b = shared_by("600", 0, "300", 50);
	tell_gated(&b, &(struct gated){.name = "k", .share = "0.5", .priority = 5, .never = true});
	cr_expect_null(step(&b, ACTION_EVICT));
	b.now += 61000;
	cr_expect_null(step(&b, ACTION_EVICT));
	tell_gated(&b, &(struct gated){.name = "w", .share = "0.5", .priority = 10});
	expect_victim(&b, "a");
}

static void tell_policy(struct bed *b, const char *name, enum exclusivity exclusivity)
{
	struct policy p = {.name = name,
		.generation = 1,
		.mode = MODE_AUTOMATE,
		.sizing.min_percent = 1,
		.sizing.max_percent = 100,
		.exclusivity = exclusivity,
		.max_tenants = 16};
	struct change set = {.type = CHANGE_SET, .kind = KIND_POLICY, .policy = &p};
	engine_observe(b->e, &set);
}

/* There is room for it, but not in this company. */
Test(preempt, c17_who_wants_a_gpu_alone_displaces_whoever_is_there)
{
	struct bed b = shared_by("200", 0, "300", 0);
	tell_policy(&b, "solo", EXCLUSIVITY_DEDICATED);
	tell_gated(
		&b, &(struct gated){.name = "w", .share = "0.2", .policy = "solo", .priority = 10});
	const struct action *a = wait_for_it(&b);
	cr_assert_not_null(a);
	cr_expect_str_eq(a->uid, "a");
	settle(&b, a->id, 0, "");
	b.now += 300;
	a = step(&b, ACTION_EVICT);
	cr_assert_not_null(a);
	cr_expect_str_eq(a->uid, "c");
	bed_finish(&b);
	/* One of them may not be asked: then the other is not either. */
	b = shared_by("200", 0, "300", 50);
	tell_policy(&b, "solo", EXCLUSIVITY_DEDICATED);
	tell_gated(
		&b, &(struct gated){.name = "w", .share = "0.2", .policy = "solo", .priority = 10});
	expect_nobody(&b);
}

/* --- several GPUs --- */

static struct bed two_gpus(int32_t first, int32_t second)
{
	struct bed b = bed_make();
	tell_node(&b, "n0", 2, 110);
	tell_reach(&b, true);
	struct grant a0[] = {{"a", "default", "a", 900, 1000}};
	struct grant c1[] = {{"c", "default", "c", 700, 1000}};
	tell_capacity(&b, &(struct cap){"c0", "c0-uid", "G0", false, {a0, 1}});
	tell_capacity(&b, &(struct cap){"c1", "c1-uid", "G1", false, {c1, 1}});
	tell_low(&b, "a", "900", first);
	tell_tenant(&b, &(struct tenant){.name = "c",
				.milli = "700",
				.node = "n0",
				.holder = "c1",
				.uuid = "G1",
				.priority = second});
	return b;
}

Test(preempt, c17_a_tenant_of_several_gpus_displaces_on_each)
{
	struct bed b = two_gpus(0, 0);
	tell_gated(&b, &(struct gated){.name = "w", .share = "0.5", .count = "2", .priority = 10});
	const struct action *a = wait_for_it(&b);
	cr_assert_not_null(a);
	char first[8];
	snprintf(first, sizeof first, "%s", a->uid);
	cr_expect_eq(count_of(&b, ACTION_EVICT), 1);
	settle(&b, a->id, 0, "");
	b.now += 300;
	a = step(&b, ACTION_EVICT);
	cr_assert_not_null(a);
	cr_expect_str_neq(a->uid, first);
	settle(&b, a->id, 0, "");
	/* What they free is held, on both. */
	tell_gated(&b, &(struct gated){.name = "z", .share = "0.6", .priority = 40});
	tell_tenant(
		&b, &(struct tenant){.name = "a", .milli = "900", .node = "n0", .deleting = true});
	tell_gone(&b, "default", "a");
	tell_tenant(&b, &(struct tenant){.name = "c",
				.milli = "700",
				.node = "n0",
				.holder = "c1",
				.uuid = "G1",
				.deleting = true});
	tell_gone(&b, "default", "c");
	b.now += 100;
	(void)step(&b, ACTION_GRANT);
	int granted = 0;
	vec_for_each (const struct action, g, &b.plan.actions) {
		if (g->type == ACTION_GRANT) {
			cr_expect_eq(g->ledger.count, 1);
			cr_expect_str_eq(g->ledger.items[0].uid, "w");
			granted++;
		}
	}
	cr_expect_eq(granted, 2);
	bed_finish(&b);
}

/* One of the two GPUs cannot be freed: nobody goes in vain. */
Test(preempt, c17_several_gpus_or_none)
{
	struct bed b = two_gpus(0, 50);
	tell_gated(&b, &(struct gated){.name = "w", .share = "0.5", .count = "2", .priority = 10});
	expect_nobody(&b);
}

Test(preempt, c17_a_tenant_of_several_gpus_gives_way)
{
	struct bed b = bed_make();
	tell_node(&b, "n0", 2, 110);
	tell_reach(&b, true);
	struct grant g0[] = {{"g", "default", "g", 600, 1000}};
	tell_capacity(&b, &(struct cap){"c0", "c0-uid", "G0", false, {g0, 1}});
	tell_capacity(&b, &(struct cap){"c1", "c1-uid", "G1", false, {g0, 1}});
	tell_tenant(&b, &(struct tenant){.name = "g",
				.milli = "600",
				.node = "n0",
				.holder = "c0,c1",
				.uuid = "G0,G1"});
	tell_gated(&b, &(struct gated){.name = "w", .share = "0.5", .priority = 10});
	expect_victim(&b, "g");
}

/* --- whole GPUs --- */

struct ask {
	const char *name;
	int64_t gpus;
	int32_t priority;
	bool never, unjudged;
};

static void tell_whole(struct bed *b, const struct ask *ask)
{
	struct pod p = {.ns = "default",
		.name = ask->name,
		.uid = ask->name,
		.gpus = ask->gpus,
		.cpu_milli = 10,
		.mem_bytes = 100,
		.created_ms = 500,
		.priority = ask->priority,
		.never_preempts = ask->never,
		.has_pod_affinity = ask->unjudged,
		.unschedulable = true,
		.phase = POD_PENDING};
	tell_pod(b, &p);
}

Test(preempt, c17_a_whole_pod_displaces_tenants_of_lower_priority)
{
	struct bed b = shared_by("600", 0, "300", 5);
	tell_whole(&b, &(struct ask){.name = "w", .gpus = 1, .priority = 10});
	const struct action *a = wait_for_it(&b);
	cr_assert_not_null(a);
	cr_expect_eq(a->reason, REASON_PREEMPTED);
	cr_expect_eq(count_of(&b, ACTION_EVICT), 1, "one after the other");
	const struct action *told = event_of(&b, "Preempted");
	cr_assert_not_null(told);
	cr_expect(strstr(told->message, "default/w") != NULL, "%s", told->message);
	cr_expect_str_eq(a->uid, "a");
	settle(&b, a->id, 0, "");
	b.now += 300;
	a = step(&b, ACTION_EVICT);
	cr_assert_not_null(a);
	cr_expect_str_eq(a->uid, "c");
	settle(&b, a->id, 0, "");
	/* A tenant that ranks higher comes meanwhile: it is not for that that they went. */
	tell_gated(&b, &(struct gated){.name = "z", .share = "0.5", .priority = 40, .never = true});
	goes(&b, "a", "600");
	b.now += 100;
	cr_expect_null(step(&b, ACTION_GRANT) != NULL && b.plan.actions.items[0].ledger.count > 1
			       ? "z has it"
			       : NULL);
	goes(&b, "c", "300");
	b.now += 100;
	const struct action *gone = step(&b, ACTION_DELETE_CAPACITY);
	cr_assert_not_null(gone, "the GPU goes at once");
	cr_expect_str_eq(gone->name, "c0");
	bed_finish(&b);
}

Test(preempt, c17_a_whole_pod_displaces_nobody_who_does_not_rank_lower)
{
	static const struct ask asks[] = {{.name = "w", .gpus = 1, .priority = 5},
		{.name = "w", .gpus = 1, .priority = 10, .never = true},
		{.name = "w", .gpus = 1, .priority = 10, .unjudged = true},
		{.name = "w", .gpus = 2, .priority = 10}};
	for (size_t i = 0; i < COUNT_OF(asks); i++) {
		struct bed b = shared_by("600", 0, "300", 5);
		tell_whole(&b, &asks[i]);
		expect_nobody(&b);
	}
}

Test(preempt, c17_a_whole_pod_takes_the_gpu_that_costs_least)
{
	struct bed b = two_gpus(5, 0);
	tell_whole(&b, &(struct ask){.name = "w", .gpus = 1, .priority = 10});
	expect_victim(&b, "c");
	/* What nobody uses counts, too. */
	b = two_gpus(5, 0);
	goes(&b, "a", "900");
	tell_capacity(&b, &(struct cap){"c0", "c0-uid", "G0", false, {NULL, 0}});
	tell_whole(&b, &(struct ask){.name = "w", .gpus = 2, .priority = 10});
	expect_victim(&b, "c");
}

/* Two GPUs, on each of which somebody without a budget shares with a replica of one ReplicaSet. */
static struct bed budgeted(void)
{
	static const char *const names[] = {"a0", "y0", "a1", "y1"};
	static const char *const gpus[] = {"G0", "G1"}, *const pods[] = {"c0", "c1"};
	struct bed b = bed_make();
	tell_node(&b, "n0", 2, 110);
	tell_reach(&b, true);
	for (int i = 0; i < 2; i++) {
		struct grant both[] = {{names[2 * i], "default", names[2 * i], 450, 1000},
			{names[2 * i + 1], "default", names[2 * i + 1], 450, 1000}};
		char uid[16];
		snprintf(uid, sizeof uid, "%s-uid", pods[i]);
		tell_capacity(&b, &(struct cap){pods[i], uid, gpus[i], false, {both, 2}});
	}
	for (int i = 0; i < 4; i++) {
		tell_tenant(&b, &(struct tenant){.name = names[i],
					.milli = "450",
					.node = "n0",
					.owner_kind = "ReplicaSet",
					.owner = i % 2 == 1 ? "y" : NULL,
					.holder = pods[i / 2],
					.uuid = gpus[i / 2]});
	}
	return b;
}

Test(preempt, one_refused_by_its_budget_costs_no_neighbour_of_its_siblings)
{
	struct bed b = budgeted();
	tell_gated(&b, &(struct gated){.name = "w", .share = "0.9", .priority = 10});
	const struct action *a = wait_for_it(&b);
	cr_assert_not_null(a);
	cr_assert_str_eq(a->uid, "a0");
	settle(&b, a->id, 0, "");
	goes(&b, "a0", "450");
	b.now += 500;
	a = step(&b, ACTION_EVICT);
	cr_assert_not_null(a);
	cr_assert_str_eq(a->uid, "y0");
	for (int i = 0; i < 40; i++) {
		if (a != NULL) {
			cr_assert_eq(a->uid[0], 'y', "%s goes in vain", a->uid);
			settle(&b, a->id, 429, "429: the pod's disruption budget: y needs 2");
		}
		b.now += 1000;
		a = step(&b, ACTION_EVICT);
	}
	bed_finish(&b);
}
