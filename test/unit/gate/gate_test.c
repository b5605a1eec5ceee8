/* When a backlog closes conversion, when what one person does cannot, and what a new replica waits
 * for. */
#include "gate/gate.h"

#include "../kube/fake_wire.h"
#include "model/names.h"

#define NOW ((int64_t)1000000000)

struct bed {
	struct world *world;
	struct clock clock;
	struct gate gate;
};

static int64_t fixed(const struct clock *c)
{
	return NOW + c->policy_offset_ms;
}

static void bed_init(struct bed *b)
{
	*b = (struct bed){.world = world_create(), .clock = {.mono_ms = fixed, .wall_ms = fixed}};
	b->gate = (struct gate){.world = b->world, .clock = &b->clock};
}

/* One tenant: made `age` ago; told `reason` `told` ago, NONE: nothing. */
struct tenant {
	const char *ns, *name;
	int64_t age_s;
	enum reason reason;
	int64_t told_s;
	bool placed;
};

/* With so many gates, the first of which is ours. */
static void tell_gated(struct world *w, int64_t now, const struct tenant *t, uint32_t gate_count)
{
	char uid[96];
	struct pair label[] = {{LABEL_TENANT, "true"}};
	struct pair notes[] = {{NOTE_CAPACITY_POD, "cap"}, {NOTE_GPU_UUID, "GPU-A"}};
	const char *gates[] = {NAME_GATE, "example.com/quota"};
	snprintf(uid, sizeof uid, "%s/%s", t->ns, t->name);
	struct pod p = {.ns = t->ns,
		.name = t->name,
		.uid = uid,
		.created_ms = now - t->age_s * 1000,
		.labels = {label, 1},
		.notes = {notes, t->placed ? 2 : 0},
		.gates = gates,
		.gate_count = gate_count};
	if (t->reason != REASON_NONE) {
		p.placed = (struct pod_condition){.type = NAME_PLACED,
			.is_true = t->placed,
			.reason = reason_name(t->reason),
			.since_ms = now - t->told_s * 1000};
	}
	pairs_sort(&p.notes);
	world_apply(w, &(struct change){.type = CHANGE_SET, .kind = KIND_POD, .pod = &p});
}

static void tell_at(struct world *w, int64_t now, const struct tenant *t)
{
	tell_gated(w, now, t, t->placed ? 0 : 1);
}

static void tell(struct bed *b, const struct tenant *t)
{
	tell_at(b->world, NOW, t);
}

/* Looks, and cleans up. */
static void expect(struct bed *b, bool mine, bool others)
{
	gate_part.step(&b->gate, &(struct turn){.now = NOW});
	cr_expect_eq(gate_has_backlog(&b->gate, "a"), mine);
	cr_expect_eq(gate_has_backlog(&b->gate, "other"), others);
	world_destroy(b->world);
}

Test(gate, an_engine_that_judges_nobody_closes_it)
{
	struct bed b;
	bed_init(&b);
	tell(&b, &(struct tenant){"a", "t", 61, REASON_NONE, 0, false});
	tell(&b, &(struct tenant){"b", "t", 70, REASON_NONE, 0, false});
	expect(&b, true, true);
}

/* C19: nobody judges them before that gate is gone. */
Test(gate, those_who_wait_for_the_gate_of_somebody_else_close_nothing)
{
	const struct tenant a = {"a", "t", 3600, REASON_NONE, 0, false};
	const struct tenant other = {"b", "t", 3600, REASON_GRANTING, 60, false};
	struct bed b;
	bed_init(&b);
	tell_gated(b.world, NOW, &a, 2);
	tell_gated(b.world, NOW, &other, 2);
	expect(&b, false, false);
}

Test(gate, an_engine_whose_grants_never_come_through_closes_it)
{
	struct bed b;
	bed_init(&b);
	tell(&b, &(struct tenant){"a", "t", 61, REASON_GRANTING, 31, false});
	tell(&b, &(struct tenant){"b", "t", 90, REASON_WAITING_FOR_CAPACITY, 80, false});
	/* Placed before: it tells nothing of now. */
	tell(&b, &(struct tenant){"c", "t", 300, REASON_PLACED, 290, true});
	expect(&b, true, true);
}

/* A broken image on the nodes with GPUs, a runtime that gives nothing by name, nodes that end what
 * is started there: the whole pod would have run. */
Test(gate, every_reason_that_is_ours_closes_it)
{
	static const enum reason ours[] = {REASON_CAPACITY_FAILED, REASON_NO_INJECTION,
		REASON_PROBE_ENDED, REASON_PROVING, REASON_RUNTIME_CLASS, REASON_POLICY_REFUSED};
	for (size_t i = 0; i < COUNT_OF(ours); i++) {
		struct bed b;
		bed_init(&b);
		tell(&b, &(struct tenant){"a", "t", 100, ours[i], 60, false});
		tell(&b, &(struct tenant){"b", "t", 100, ours[i], 60, false});
		expect(&b, true, true);
	}
}

Test(gate, tenants_of_one_namespace_close_it_for_that_one_alone)
{
	struct bed b;
	bed_init(&b);
	tell(&b, &(struct tenant){"a", "t", 100, REASON_GRANTING, 60, false});
	tell(&b, &(struct tenant){"a", "u", 100, REASON_GRANTING, 60, false});
	expect(&b, true, false);
}

Test(gate, one_pod_that_the_api_server_refuses_is_passed_by)
{
	struct bed b;
	bed_init(&b);
	tell(&b, &(struct tenant){"a", "t", 600, REASON_API_REFUSED, 500, false});
	tell(&b, &(struct tenant){"b", "t", 600, REASON_API_REFUSED, 500, false});
	tell(&b, &(struct tenant){"c", "t", 100, REASON_NONE, 0, true});
	expect(&b, false, false);
}

/* Somebody took our rights away: every write is refused. */
Test(gate, an_api_server_that_refuses_everything_closes_it)
{
	struct bed b;
	bed_init(&b);
	tell(&b, &(struct tenant){"a", "t", 600, REASON_API_REFUSED, 500, false});
	tell(&b, &(struct tenant){"b", "t", 600, REASON_API_REFUSED, 500, false});
	expect(&b, true, true);
}

Test(gate, a_burst_that_is_being_judged_closes_nothing)
{
	struct bed b;
	char name[16];
	bed_init(&b);
	for (int i = 0; i < 3000; i++) {
		snprintf(name, sizeof name, "t%d", i);
		enum reason reason = i < 1400 ? REASON_SHORT_COMPUTE : REASON_NONE;
		tell(&b, &(struct tenant){i % 2 ? "a" : "b", name, 80, reason, 70 - i / 20, false});
	}
	expect(&b, false, false);
}

/* One that is written to all the time, so that every write of ours meets a conflict, or whose
 * annotations leave no room for ours. */
Test(gate, one_odd_pod_that_later_ones_pass_by_closes_nothing)
{
	struct bed b;
	bed_init(&b);
	tell(&b, &(struct tenant){"a", "busy", 600, REASON_GRANTING, 500, false});
	tell(&b, &(struct tenant){"b", "full", 600, REASON_NONE, 0, false});
	tell(&b, &(struct tenant){"c", "t", 30, REASON_NONE, 0, true});
	expect(&b, false, false);
}

/* It waited for room for an hour, and has just got some. */
Test(gate, one_that_waited_for_others_is_not_late_at_once)
{
	struct bed b;
	bed_init(&b);
	tell(&b, &(struct tenant){"a", "t", 3600, REASON_GRANTING, 5, false});
	tell(&b, &(struct tenant){"b", "t", 3600, REASON_WAITING_FOR_CAPACITY, 5, false});
	expect(&b, false, false);
}

Test(gate, it_opens_again_when_the_line_moves)
{
	struct bed b;
	bed_init(&b);
	tell(&b, &(struct tenant){"a", "t", 100, REASON_GRANTING, 60, false});
	tell(&b, &(struct tenant){"b", "t", 100, REASON_GRANTING, 60, false});
	gate_part.step(&b.gate, &(struct turn){.now = NOW - 2000});
	cr_expect(gate_has_backlog(&b.gate, NULL));
	tell(&b, &(struct tenant){"b", "t", 100, REASON_PLACED, 0, true});
	expect(&b, true, false);
}

/* --- a replica that has just begun --- */

struct replica {
	struct fake_clock clock;
	struct fake_wire *wire;
	struct kube_cred *cred;
	struct kube *kube;
	struct election *election;
	struct world *world;
	struct gate gate;
};

static void on_leadership(void *data, bool leads)
{
	(void)data;
	(void)leads;
}

static void begin_as(struct replica *r, bool never_lead)
{
	struct election_config config = {.ns = "n", .name = "lock", .identity = "me"};
	config.never_lead = never_lead;
	*r = (struct replica){.clock = fake_clock_make(), .wire = fake_wire_create()};
	r->cred = kube_cred_create_plain("https://api", NULL, &r->clock.clock);
	r->kube = kube_create(&r->wire->wire, r->cred, &r->clock.clock, NULL);
	r->election = election_create(r->kube, &config, on_leadership, r);
	r->world = world_create();
	r->gate =
		(struct gate){.world = r->world, .election = r->election, .clock = &r->clock.clock};
}

static void end(struct replica *r)
{
	election_destroy(r->election);
	world_destroy(r->world);
	kube_destroy(r->kube);
	kube_cred_destroy(r->cred);
	fake_wire_destroy(r->wire);
}

static void begin(struct replica *r)
{
	begin_as(r, true);
}

static void fill_caches(struct replica *r)
{
	for (int k = 0; k < KIND_ENGINE; k++) {
		struct change c = {.type = CHANGE_RELIST_BEGIN, .kind = (enum kind)k};
		world_apply(r->world, &c);
		c.type = CHANGE_RELIST_END;
		world_apply(r->world, &c);
	}
}

/* Time passes, in which the Lease is renewed now and then, by nobody where `holder` is NULL: then
 * it says all the time what it has always said. */
static void pass(struct replica *r, int64_t ms, const char *holder)
{
	char renewed[TIME_TEXT_MAX], body[512];
	for (int64_t t = 0; t < ms; t += 100) {
		fake_pass(&r->clock, 100);
		election_step(r->election, r->clock.mono);
		time_format_micro(holder != NULL ? r->clock.wall : NOW, renewed);
		snprintf(body, sizeof body,
			"{\"kind\":\"Lease\",\"metadata\":{\"namespace\":\"n\",\"name\":\"lock\","
			"\"uid\":\"u\",\"resourceVersion\":\"1\"},\"spec\":{\"holderIdentity\":\"%"
			"s\","
			"\"leaseDurationSeconds\":12,\"renewTime\":\"%s\"}}",
			holder != NULL ? holder : "long dead", renewed);
		if (fake_open_count(r->wire) > 0) {
			fake_answer(fake_last(r->wire), 200, body);
		}
		election_step(r->election, r->clock.mono);
		gate_part.step(&r->gate, &(struct turn){.now = r->clock.mono});
	}
}

Test(gate, a_new_replica_waits_until_it_sees_a_renewal)
{
	struct replica r;
	begin(&r);
	fill_caches(&r);
	pass(&r, 100, "other");
	cr_expect_not(gate_acquainted(&r.gate), "what the Lease says may be of long ago");
	cr_expect_eq(gate_may_convert(&r.gate, "a"), REASON_CONTROLLER_AWAY);
	pass(&r, 2100, "other");
	cr_expect(gate_acquainted(&r.gate));
	cr_expect_eq(gate_may_convert(&r.gate, "a"), REASON_NONE);
	end(&r);
}
/* C2: 20 seconds, and not a moment of the next renewal that does not come. */
Test(gate, a_lease_that_is_not_renewed_closes_it_after_20_seconds)
{
	struct replica r;
	begin(&r);
	fill_caches(&r);
	pass(&r, 2200, "other");
	/* Once more it says something else, and then the same for good. */
	pass(&r, 2500, NULL);
	cr_assert_eq(gate_may_convert(&r.gate, "a"), REASON_NONE);
	const int64_t seen = r.clock.mono - election_age_ms(r.election, r.clock.mono);
	while (r.clock.mono - seen < 19800) {
		pass(&r, 100, NULL);
		cr_assert_eq(gate_may_convert(&r.gate, "a"), REASON_NONE, "%lld ms",
			(long long)(r.clock.mono - seen));
	}
	pass(&r, 400, NULL);
	cr_expect_eq(gate_may_convert(&r.gate, "a"), REASON_CONTROLLER_AWAY);
	cr_expect_eq(gate_may_replace(&r.gate, "a"), REASON_CONTROLLER_AWAY);
	end(&r);
}

/* A leader that ends gives it back: who were stripped then would wait for nobody. */
Test(gate, c2_a_lease_that_was_given_back_closes_it_at_once)
{
	struct replica r;
	begin(&r);
	fill_caches(&r);
	pass(&r, 4200, "other");
	cr_assert_eq(gate_may_convert(&r.gate, "a"), REASON_NONE);
	pass(&r, 2100, "");
	cr_expect_eq(gate_may_convert(&r.gate, "a"), REASON_CONTROLLER_AWAY);
	cr_expect_eq(gate_may_replace(&r.gate, "a"), REASON_CONTROLLER_AWAY);
	pass(&r, 2100, "next");
	cr_expect_eq(gate_may_convert(&r.gate, "a"), REASON_NONE);
	end(&r);
}

/* Who leads next places what it converts in the moment before. */
Test(gate, c2_who_takes_a_lease_that_was_given_back_does_not_close)
{
	struct replica r;
	begin_as(&r, false);
	fill_caches(&r);
	pass(&r, 4200, "other");
	cr_assert_eq(gate_may_convert(&r.gate, "a"), REASON_NONE);
	while (election_holder(r.election)[0] != '\0') {
		pass(&r, 100, "");
	}
	cr_expect_eq(gate_may_convert(&r.gate, "a"), REASON_NONE);
	election_release(r.election);
	cr_expect_eq(gate_may_convert(&r.gate, "a"), REASON_CONTROLLER_AWAY, "it goes as well");
	end(&r);
}

Test(gate, a_new_replica_waits_for_its_caches)
{
	struct replica r;
	begin(&r);
	pass(&r, 30000, "other");
	cr_expect_not(gate_acquainted(&r.gate));
	cr_expect_eq(gate_may_convert(&r.gate, "a"), REASON_NOT_SYNCED);
	fill_caches(&r);
	pass(&r, 100, "other");
	cr_expect(gate_acquainted(&r.gate));
	cr_expect_eq(gate_may_convert(&r.gate, "a"), REASON_NONE);
	end(&r);
}

/* Pods must find somebody who lets them start whole. */
Test(gate, where_nobody_leads_a_new_replica_waits_for_one_term)
{
	struct replica r;
	begin(&r);
	fill_caches(&r);
	pass(&r, 11900, NULL);
	cr_expect_not(gate_acquainted(&r.gate));
	pass(&r, 300, NULL);
	cr_expect(gate_acquainted(&r.gate));
	cr_expect_eq(gate_may_convert(&r.gate, "a"), REASON_CONTROLLER_AWAY);
	end(&r);
}

/* Else the death of the leader would take the webhook away from everybody. */
Test(gate, what_a_replica_has_seen_once_it_need_not_see_again)
{
	struct replica r;
	begin(&r);
	fill_caches(&r);
	pass(&r, 3000, "other");
	pass(&r, 60000, NULL);
	cr_expect(gate_acquainted(&r.gate));
	cr_expect_eq(gate_may_convert(&r.gate, "a"), REASON_CONTROLLER_AWAY);
	world_apply(r.world, &(struct change){.type = CHANGE_STALE, .kind = KIND_POD});
	pass(&r, 100, NULL);
	cr_expect(gate_acquainted(&r.gate));
	end(&r);
}

/* A look goes over many tenants in slices, and tells nothing before its end. */
Test(gate, the_last_of_many_tenants_is_found)
{
	struct bed b;
	char name[32];
	bed_init(&b);
	for (int i = 0; i < 2000; i++) {
		snprintf(name, sizeof name, "t%d", i);
		tell(&b, &(struct tenant){"b", name, 100, REASON_NONE, 0, true});
	}
	tell(&b, &(struct tenant){"a", "late", 90, REASON_GRANTING, 40, false});
	gate_part.step(&b.gate, &(struct turn){.now = NOW});
	cr_expect(!gate_has_backlog(&b.gate, "a"));
	int steps = 1;
	while (gate_part.deadline(&b.gate, &(struct turn){0}) <= NOW && steps < 100) {
		gate_part.step(&b.gate, &(struct turn){.now = NOW});
		steps++;
	}
	cr_expect(steps > 4 && steps < 20, "%d steps", steps);
	cr_expect(gate_has_backlog(&b.gate, "a") && !gate_has_backlog(&b.gate, "b"));
	world_destroy(b.world);
}

/* --- trials: a door that is closed reopens only by a tenant that closing prevents --- */

/* Two namespaces of one person, whose pods wait for something that nobody else needs. */
static void close_for_all(struct replica *r)
{
	begin(r);
	fill_caches(r);
	pass(r, 3000, "other");
	int64_t wall = r->clock.wall;
	tell_at(r->world, wall, &(struct tenant){"m", "t", 100, REASON_CAPACITY_FAILED, 60, false});
	tell_at(r->world, wall, &(struct tenant){"n", "t", 100, REASON_CAPACITY_FAILED, 60, false});
	pass(r, 3000, "other");
	cr_assert_eq(gate_may_convert(&r->gate, "a"), REASON_BACKLOG);
}

/* So many are let through, each of another namespace, until no more are. */
static int let_through(struct replica *r, char first)
{
	int count = 0;
	char ns[2] = {first, '\0'};
	for (; gate_may_convert(&r->gate, ns) == REASON_NONE && count < 20; ns[0]++, count++) {
		gate_converted(&r->gate, ns);
		cr_expect_eq(gate_may_convert(&r->gate, ns), REASON_BACKLOG, "a second of %s", ns);
	}
	return count;
}

static bool opens_within(struct replica *r, const char *ns, int64_t ms)
{
	for (int64_t t = 0; t < ms; t += 1000) {
		if (gate_may_convert(&r->gate, ns) == REASON_NONE) {
			return true;
		}
		pass(r, 1000, "other");
	}
	return false;
}

Test(gate, two_namespaces_do_not_close_it_for_good)
{
	struct replica r;
	close_for_all(&r);
	pass(&r, 61000, "other");
	cr_expect_eq(gate_may_convert(&r.gate, NULL), REASON_BACKLOG);
	int let = let_through(&r, 'a');
	cr_expect(let > 0 && let <= 4, "%d", let);
	pass(&r, 5000, "other");
	/* One of them runs; the two wait as ever. */
	tell_at(r.world, r.clock.wall, &(struct tenant){"a", "t", 4, REASON_NONE, 0, true});
	pass(&r, 2000, "other");
	for (char ns[2] = "a"; ns[0] < 'k'; ns[0]++) {
		cr_expect_eq(gate_may_convert(&r.gate, ns), REASON_NONE);
		gate_converted(&r.gate, ns);
	}
	end(&r);
}

/* Whoever has pods that never arrive has no use of more of them. */
Test(gate, those_who_closed_it_take_no_trial_of_others)
{
	struct replica r;
	close_for_all(&r);
	pass(&r, 61000, "other");
	for (int i = 0; i < 10; i++) {
		if (gate_may_convert(&r.gate, "m") == REASON_NONE) {
			gate_converted(&r.gate, "m");
		}
	}
	cr_expect_eq(gate_may_convert(&r.gate, "m"), REASON_BACKLOG);
	cr_expect_eq(let_through(&r, 'a'), 4);
	end(&r);
}

Test(gate, a_trial_in_vain_is_not_the_last)
{
	struct replica r;
	close_for_all(&r);
	cr_expect(opens_within(&r, "a", 61000));
	cr_expect_eq(let_through(&r, 'a'), 4);
	pass(&r, 121000, "other");
	cr_expect_eq(gate_may_convert(&r.gate, "e"), REASON_BACKLOG);
	pass(&r, 100000, "other");
	cr_expect_eq(gate_may_convert(&r.gate, "e"), REASON_BACKLOG, "it waits twice as long");
	cr_expect(opens_within(&r, "e", 21000));
	cr_expect_eq(gate_may_convert(&r.gate, "a"), REASON_BACKLOG, "it had its trial");
	cr_expect_eq(let_through(&r, 'e'), 4);
	end(&r);
}

Test(gate, one_namespace_alone_is_tried_too)
{
	struct replica r;
	begin(&r);
	fill_caches(&r);
	pass(&r, 3000, "other");
	tell_at(r.world, r.clock.wall,
		&(struct tenant){"m", "t", 100, REASON_WAITING_FOR_CAPACITY, 60, false});
	pass(&r, 3000, "other");
	cr_expect_eq(gate_may_convert(&r.gate, "a"), REASON_NONE);
	cr_expect_eq(gate_may_convert(&r.gate, "m"), REASON_BACKLOG);
	cr_expect(opens_within(&r, "m", 61000));
	gate_converted(&r.gate, "m");
	cr_expect_eq(gate_may_convert(&r.gate, "m"), REASON_BACKLOG);
	tell_at(r.world, r.clock.wall, &(struct tenant){"m", "u", 0, REASON_NONE, 0, true});
	pass(&r, 3000, "other");
	cr_expect_eq(gate_may_convert(&r.gate, "m"), REASON_NONE);
	end(&r);
}

/* The first that hangs: others wait for what becomes of it, wherever they are. */
Test(gate, pods_that_run_are_left_while_one_that_was_made_hangs)
{
	struct replica r;
	begin(&r);
	fill_caches(&r);
	pass(&r, 3000, "other");
	cr_expect_eq(gate_may_replace(&r.gate, "a"), REASON_NONE);
	tell_at(r.world, r.clock.wall,
		&(struct tenant){"m", "t", 100, REASON_CAPACITY_FAILED, 60, false});
	pass(&r, 3000, "other");
	cr_expect_eq(gate_may_convert(&r.gate, "a"), REASON_NONE);
	cr_expect_eq(gate_may_replace(&r.gate, "a"), REASON_BACKLOG);
	pass(&r, 61000, "other");
	cr_expect_eq(gate_may_replace(&r.gate, "a"), REASON_NONE, "one of them is a trial");
	gate_replaced(&r.gate);
	cr_expect_eq(gate_may_replace(&r.gate, "b"), REASON_BACKLOG);
	end(&r);
}

/* What is told of a pod changes while the node rests and is tried again, once a minute. */
Test(gate, a_reason_that_changes_all_the_time_opens_nothing)
{
	struct replica r;
	close_for_all(&r);
	for (int i = 0; i < 6; i++) {
		enum reason reason = i % 2 ? REASON_CAPACITY_FAILED : REASON_WAITING_FOR_CAPACITY;
		tell_at(r.world, r.clock.wall, &(struct tenant){"m", "t", 200, reason, 0, false});
		tell_at(r.world, r.clock.wall, &(struct tenant){"n", "t", 200, reason, 0, false});
		pass(&r, 30000, "other");
		cr_expect_eq(gate_may_convert(&r.gate, NULL), REASON_BACKLOG);
		pass(&r, 30000, "other");
		cr_expect_eq(gate_may_convert(&r.gate, NULL), REASON_BACKLOG);
	}
	end(&r);
}
