/* What agents tell: a GPU that is not healthy gets no new tenants (C10), and a pod that its agent
 * does not list any more holds no share (C22). Silence says nothing. */
#include "odd_bed.h"

static const struct cap cap = {"cap", "c1", "GPU-A", false, {0}};

struct say {
	int64_t seen_ms;
	const char *why;  /* of GPU-A; NULL: it is well */
	const char *uid;  /* NULL: no pod */
	const char *uuid; /* NULL: GPU-A */
	const char *boot; /* NULL: b */
	enum ill_cause cause;
};

static void tell_state(struct bed *b, const struct say *say)
{
	struct device_state device = {
		.uuid = text_or(say->uuid, "GPU-A"), .why = say->why, .cause = say->cause};
	const char *pods[] = {say->uid};
	struct node_state s = {.node = "n0",
		.boot = text_or(say->boot, "b"),
		.sequence = b->now,
		.seen_ms = say->seen_ms,
		.devices = &device,
		.device_count = 1,
		.pods = pods,
		.pod_count = say->uid != NULL ? 1 : 0};
	struct change c = {.type = CHANGE_SET, .kind = KIND_STATE, .state = &s};
	engine_observe(b->e, &c);
}

static void tell_health(struct bed *b, const char *why)
{
	tell_state(b, &(struct say){.seen_ms = b->now, .why = why});
}

static struct bed bed_open(bool with_tenant)
{
	static const struct grant t[] = {{"t", "default", "t", 700, 50000}};
	struct bed b = bed_make();
	struct cap holder = cap;
	if (with_tenant) {
		holder.ledger = (struct ledger){(struct grant *)(uintptr_t)t, 1};
	}
	tell_node(&b, "n0", 1, 110);
	tell_capacity(&b, &holder);
	if (with_tenant) {
		tell_running(&b, "t", "cap", "GPU-A");
	}
	return b;
}

static size_t events(const struct bed *b)
{
	size_t n = 0;
	vec_for_each (const struct action, a, &b->plan.actions) {
		if (a->type == ACTION_EVENT && text_equals(a->event_reason, "GpuUnhealthy")) {
			cr_expect_not_null(strstr(a->message, "XID 79"), "%s", a->message);
			cr_expect_not_null(strstr(a->message, "GPU-A"), "%s", a->message);
			n++;
		}
	}
	return n;
}

Test(health, c10_a_gpu_that_is_not_healthy_gets_no_new_tenants)
{
	struct bed b = bed_open(true);
	tell_health(&b, "XID 79");
	tell_waiting(&b, "w", "0.25");
	cr_expect_null(step(&b, ACTION_GRANT));
	cr_expect_eq(events(&b), 2, "its tenant and its capacity pod are told");
	cr_expect_null(step(&b, ACTION_DELETE_CAPACITY), "its tenant stays");
	cr_expect_eq(events(&b), 0, "once");
	cr_expect_eq(engine_report(b.e)->by_reason[REASON_GPU_UNHEALTHY], 1);
	cr_expect_eq(engine_unhealthy(b.e, "n0"), 1);
	bed_finish(&b);
}

/* How many seconds until `w` gets its share, while `why` is told every second. */
static int waits(struct bed *b, const char *why, bool tells)
{
	int s = 0;
	while (s < 120 && step(b, ACTION_GRANT) == NULL) {
		b->now += 1000;
		s++;
		if (tells) {
			tell_health(b, why);
		}
	}
	return s;
}

Test(health, c10_it_is_used_again_when_it_was_healthy_for_a_while)
{
	struct bed b = bed_open(true);
	tell_health(&b, "XID 79");
	tell_waiting(&b, "w", "0.25");
	cr_expect_eq(waits(&b, "XID 79", true), 120);
	cr_expect_eq(waits(&b, NULL, true), 31);
	cr_expect_eq(engine_unhealthy(b.e, "n0"), 0);
	bed_finish(&b);
}

Test(health, c10_silence_ends_no_fence_and_begins_none)
{
	struct bed b = bed_open(true);
	tell_health(&b, "XID 79");
	tell_waiting(&b, "w", "0.25");
	cr_expect_eq(waits(&b, NULL, false), 120, "its agent says nothing more");
	bed_finish(&b);
	b = bed_open(true);
	tell_waiting(&b, "w", "0.25");
	cr_expect_eq(waits(&b, NULL, false), 0, "nobody ever said anything");
	bed_finish(&b);
	b = bed_open(true);
	tell_state(&b, &(struct say){.seen_ms = b.now - STATE_FRESH_MS - 1, .why = "XID 79"});
	tell_waiting(&b, "w", "0.25");
	cr_expect_eq(waits(&b, NULL, false), 0, "too long ago");
	bed_finish(&b);
}

/* A gap in what is told healthy begins the while anew. */
Test(health, c10_a_gap_is_not_health)
{
	struct bed b = bed_open(true);
	tell_health(&b, "XID 79");
	tell_waiting(&b, "w", "0.25");
	cr_assert_null(step(&b, ACTION_GRANT));
	for (int i = 0; i < 15; i++) {
		b.now += 1000;
		tell_health(&b, NULL);
		cr_assert_null(step(&b, ACTION_GRANT));
	}
	for (int i = 0; i < 12; i++) {
		b.now += 1000;
		cr_assert_null(step(&b, ACTION_GRANT));
	}
	tell_health(&b, NULL);
	int waited = waits(&b, NULL, true);
	cr_expect(waited == 30 || waited == 31, "%d s", waited);
	bed_finish(&b);
}

Test(health, c10_an_unhealthy_gpu_without_tenants_goes_back_and_its_node_rests)
{
	struct bed b = bed_open(false);
	tell_waiting(&b, "w", "0.25");
	tell_health(&b, "XID 79");
	const struct action *a = step(&b, ACTION_DELETE_CAPACITY);
	cr_assert_not_null(a);
	cr_expect_str_eq(a->name, "cap");
	cr_expect_eq(events(&b), 1);
	tell_gone(&b, NAME_NAMESPACE, "cap");
	struct outcome gone = {0};
	engine_settle(b.e, (struct engine_now){b.now, b.now}, a->id, &gone);
	cr_expect_null(step(&b, ACTION_CREATE_CAPACITY), "not at once on the same node");
	/* What was told of the device is kept, whoever holds it next. */
	tell_capacity(&b, &(struct cap){"cap", "c2", "GPU-A", false, {0}});
	b.now += STATE_FRESH_MS + 5000;
	cr_expect_null(step(&b, ACTION_GRANT));
	bed_finish(&b);
}

/* --- what was heard once --- */

static void tell_by(struct bed *b, const char *boot, const char *why, enum ill_cause cause)
{
	tell_state(b, &(struct say){.seen_ms = b->now, .why = why, .boot = boot, .cause = cause});
}

/* How many seconds until somebody gets a share, while that agent calls the device healthy. */
static int waits_for(struct bed *b, const char *boot)
{
	int s = 0;
	while (s < 120 && step(b, ACTION_GRANT) == NULL) {
		b->now += 1000;
		s++;
		tell_by(b, boot, NULL, ILL_ASKED);
	}
	return s;
}

static struct bed bed_heard(void)
{
	struct bed b = bed_open(true);
	tell_started(&b, "n0", 1, 110, &(struct started){"boot-1", "once"});
	tell_by(&b, "b", "XID 79", ILL_HEARD);
	tell_waiting(&b, "w", "0.25");
	cr_assert_null(step(&b, ACTION_GRANT));
	return b;
}

Test(health, c10_an_agent_that_was_started_anew_knows_nothing_of_an_event)
{
	struct bed b = bed_heard();
	cr_expect_eq(waits_for(&b, "b2"), 120);
	cr_expect_eq(waits_for(&b, "b3"), 120);
	cr_expect_eq(engine_unhealthy(b.e, "n0"), 1);
	bed_finish(&b);
}

Test(health, c10_who_heard_an_event_knows_when_it_is_over)
{
	struct bed b = bed_heard();
	cr_expect_eq(waits_for(&b, "b"), 31);
	bed_finish(&b);
	/* The second one heard another, and that one it knows to be over. */
	b = bed_heard();
	tell_by(&b, "b2", "XID 79", ILL_HEARD);
	cr_assert_null(step(&b, ACTION_GRANT));
	cr_expect_eq(waits_for(&b, "b2"), 31);
	bed_finish(&b);
}

Test(health, c10_an_event_is_over_after_a_reset)
{
	static const struct {
		const char *why;
		enum ill_cause cause; /* of what the second agent says before */
		struct started started;
		int waited;
	} rows[] = {
		{"XID 79 is unheard, the driver is busy", ILL_ASKED, {"boot-1", "once"}, 120},
		{"XID 79 is unheard, the GPU is lost", ILL_LOST, {"boot-1", "once"}, 31},
		{NULL, ILL_ASKED, {"boot-2", "once"}, 31},
		{NULL, ILL_ASKED, {NULL, "once"}, 120},
		{NULL, ILL_ASKED, {"boot-1", "again"}, 31},
		{NULL, ILL_ASKED, {"boot-1", NULL}, 120},
	};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct bed b = bed_heard();
		tell_by(&b, "b2", rows[i].why, rows[i].cause);
		cr_assert_null(step(&b, ACTION_GRANT));
		tell_started(&b, "n0", 1, 110, &rows[i].started);
		int waited = waits_for(&b, "b2");
		cr_expect(waited == rows[i].waited || waited == rows[i].waited - 1, "row %zu: %d s",
			i, waited);
		bed_finish(&b);
	}
}

/* What a former leader remembers of it, as the Lease has it. */
static void remember(struct bed *b, const struct heard *h)
{
	struct change c = {.type = CHANGE_HEARD, .heard = h};
	cr_assert(engine_observe(b->e, &c));
}

Test(health, c10_an_event_outlives_the_leader_and_the_agent)
{
	struct bed before = bed_heard();
	struct heard list[HEARD_MAX];
	cr_assert_eq(engine_heard(before.e, list, HEARD_MAX), 1);
	cr_expect_str_eq(list[0].uuid, "GPU-A");
	cr_expect_str_eq(list[0].why, "XID 79");
	cr_expect_str_eq(list[0].by, "b");
	cr_expect_str_eq(list[0].boot, "boot-1");
	cr_expect_eq(engine_heard(before.e, list, 0), 0, "no more than there is room for");
	cr_assert_eq(engine_heard(before.e, list, HEARD_MAX), 1);
	/* Both are started anew. */
	struct bed b = bed_open(true);
	tell_started(&b, "n0", 1, 110, &(struct started){"boot-1", "once"});
	remember(&b, &list[0]);
	tell_by(&b, "b2", NULL, ILL_ASKED);
	tell_waiting(&b, "w", "0.25");
	cr_expect_null(step(&b, ACTION_GRANT));
	cr_expect_eq(waits_for(&b, "b2"), 120);
	cr_expect_eq(engine_unhealthy(b.e, "n0"), 1);
	cr_expect_eq(engine_heard(b.e, list, HEARD_MAX), 1, "it is handed on");
	tell_started(&b, "n0", 1, 110, &(struct started){"boot-1", "again"});
	int waited = waits_for(&b, "b2");
	cr_expect(waited == 30 || waited == 31, "a person has reset it: %d s", waited);
	cr_expect_eq(engine_heard(b.e, list, HEARD_MAX), 0);
	bed_finish(&b);
	bed_finish(&before);
}

Test(health, c10_who_is_told_twice_remembers_once)
{
	const struct heard h = {"GPU-A", "n0", "XID 48", "b", "boot-1", "once"};
	const struct heard gone = {"GPU-Z", "no-such-node", "XID 79", "b", NULL, NULL};
	struct heard list[HEARD_MAX];
	struct bed b = bed_heard();
	remember(&b, &h);
	remember(&b, &gone);
	cr_assert_null(step(&b, ACTION_GRANT));
	cr_assert_eq(engine_heard(b.e, list, HEARD_MAX), 1, "its node is not there");
	cr_expect_str_eq(list[0].why, "XID 79", "what was heard by ourselves counts");
	bed_finish(&b);
}

/* Neither silence nor time makes anybody forget an event, but that the device is not there. */
Test(health, c10_an_event_is_remembered_as_long_as_the_device_may_be_there)
{
	struct bed b = bed_open(false);
	tell_by(&b, "b", "XID 79", ILL_HEARD);
	(void)step(&b, ACTION_GRANT);
	tell_gone(&b, NAME_NAMESPACE, "cap");
	for (int i = 0; i < 30; i++) {
		b.now += 60000;
		(void)step(&b, ACTION_GRANT);
	}
	cr_expect_eq(engine_unhealthy(b.e, "n0"), 1, "nobody holds it, nobody speaks of it");
	for (int i = 0; i < 200; i++) {
		b.now += 5000;
		tell_by(&b, "b2", NULL, ILL_ASKED);
		(void)step(&b, ACTION_GRANT);
	}
	cr_expect_eq(engine_unhealthy(b.e, "n0"), 1, "who speaks of it does not know");
	for (int i = 0; i < 200; i++) {
		b.now += 5000;
		tell_state(&b, &(struct say){.seen_ms = b.now, .uuid = "GPU-B", .boot = "b2"});
		(void)step(&b, ACTION_GRANT);
	}
	cr_expect_eq(engine_unhealthy(b.e, "n0"), 0, "it was taken out");
	bed_finish(&b);
}

/* --- C22 --- */

/* `t` was taken away by force at b->now, and `w` waits for a half. */
static struct bed bed_forced(void)
{
	struct bed b = bed_open(true);
	tell_waiting(&b, "w", "0.5");
	cr_assert_null(step(&b, ACTION_GRANT));
	tell_gone(&b, "default", "t");
	cr_assert_null(step(&b, ACTION_GRANT), "held");
	return b;
}

Test(health, c22_a_share_is_free_when_its_agent_does_not_list_the_pod_any_more)
{
	struct bed b = bed_forced();
	b.now += 5000;
	tell_state(&b, &(struct say){.seen_ms = b.now, .uid = "t"});
	cr_expect_null(step(&b, ACTION_GRANT), "it runs still");
	b.now += 2000;
	tell_state(&b, &(struct say){.seen_ms = b.now});
	const struct action *a = step(&b, ACTION_GRANT);
	cr_assert_not_null(a);
	cr_expect(a->ledger.count == 1 && strcmp(a->ledger.items[0].uid, "w") == 0);
	vec_for_each (const struct action, x, &b.plan.actions) {
		cr_expect_neq(x->type, ACTION_EVENT, "nothing is given up: %s", x->message);
	}
	bed_finish(&b);
}

Test(health, c22_what_was_seen_before_it_was_gone_says_nothing)
{
	static const struct {
		int64_t after_ms; /* the disappearance */
		const char *uuid;
		bool frees;
	} rows[] = {
		{-3000, NULL, false}, {0, NULL, false}, {999, NULL, false}, {1000, NULL, true},
		{5000, "GPU-B", false}, /* an agent that does not know the device */
	};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct bed b = bed_forced();
		int64_t gone_at = b.now;
		b.now += 6000;
		tell_state(&b,
			&(struct say){.seen_ms = gone_at + rows[i].after_ms, .uuid = rows[i].uuid});
		cr_expect_eq(step(&b, ACTION_GRANT) != NULL, rows[i].frees, "row %zu", i);
		bed_finish(&b);
	}
}

Test(health, c22_silence_holds_the_share)
{
	struct bed b = bed_forced();
	cr_expect_eq(waits(&b, NULL, false), 120);
	struct change gone = {.type = CHANGE_GONE, .kind = KIND_STATE, .name = "n0"};
	engine_observe(b.e, &gone);
	cr_expect_null(step(&b, ACTION_GRANT));
	bed_finish(&b);
}

/* The entry of a pod that nobody here ever saw. */
Test(health, c22_of_one_that_left_before_we_came)
{
	struct grant t[] = {{"t", "default", "t", 700, 50000}};
	struct bed b = bed_make();
	struct cap holder = cap;
	holder.ledger = (struct ledger){t, 1};
	tell_node(&b, "n0", 1, 110);
	tell_capacity(&b, &holder);
	tell_waiting(&b, "w", "0.5");
	cr_assert_null(step(&b, ACTION_GRANT));
	b.now += 3000;
	tell_state(&b, &(struct say){.seen_ms = b.now, .uid = "t"});
	cr_assert_null(step(&b, ACTION_GRANT));
	b.now += 3000;
	tell_state(&b, &(struct say){.seen_ms = b.now, .uid = "other"});
	cr_expect_not_null(step(&b, ACTION_GRANT));
	bed_finish(&b);
}
