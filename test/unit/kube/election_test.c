/* The election against a model of one Lease on an API server, with any number of candidates. */
#include "kube/election.h"

#include "fake_wire.h"
#include "model/names.h"

#define CANDIDATES 2

/* The Lease as the API server keeps it. */
struct shelf {
	bool exists;
	char holder[64];
	int version;
	int64_t renew_count;
	char renew[TIME_TEXT_MAX];
	int transitions;
	char heard[64];	     /* its annotation, without quotes */
	int heards;	     /* writes that said something of it */
	char refused_by[64]; /* the other annotation, which says who refuses the canary */
};

struct candidate {
	struct fake_clock clock;
	struct fake_wire *wire;
	struct kube_cred *cred;
	struct kube *kube;
	struct election *e;
	int gained, lost;
	int64_t term;  /* when it was told that it leads */
	size_t served; /* requests looked at */
};

static void on_change(void *data, bool leads)
{
	struct candidate *c = data;
	c->gained += leads;
	c->lost += !leads;
	c->term = leads ? election_term(c->e) : c->term;
}

static void set_up(struct candidate *c, const char *identity, bool may_create)
{
	*c = (struct candidate){.clock = fake_clock_make(), .wire = fake_wire_create()};
	c->cred = kube_cred_create_plain("https://api", NULL, &c->clock.clock);
	c->kube = kube_create(&c->wire->wire, c->cred, &c->clock.clock, NULL);
	struct election_config config = {.ns = "aliquot-system",
		.name = "lock",
		.identity = identity,
		.may_create = may_create};
	c->e = election_create(c->kube, &config, on_change, c);
}

static void tear_down(struct candidate *c)
{
	election_destroy(c->e);
	kube_destroy(c->kube);
	kube_cred_destroy(c->cred);
	fake_wire_destroy(c->wire);
}

static void body_of(const struct shelf *s, struct str *out)
{
	str_append_format(out,
		"{\"kind\":\"Lease\",\"metadata\":{\"namespace\":\"aliquot-system\",\"name\":"
		"\"lock\",\"uid\":\"u\","
		"\"resourceVersion\":\"%d\"",
		s->version);
	if (s->heard[0] != '\0') {
		str_append_format(out, ",\"annotations\":{\"aliquot.dev/heard\":\"%s\"}", s->heard);
	} else if (s->refused_by[0] != '\0') {
		str_append_format(
			out, ",\"annotations\":{\"" NOTE_REFUSED_BY "\":\"%s\"}", s->refused_by);
	}
	str_append_text(out, "}");
	if (s->renew[0] != '\0') {
		str_append_format(out,
			",\"spec\":{\"holderIdentity\":\"%s\",\"leaseDurationSeconds\":12,"
			"\"renewTime\":\"%s\","
			"\"leaseTransitions\":%d}",
			s->holder, s->renew, s->transitions);
	}
	str_append_text(out, "}");
}

/* The text of a member that is a string, out of a body written by the code under test. */
static void member(const char *body, const char *key, char *to, size_t size)
{
	CLEANUP(str_finish) struct str name = STR_INIT(128);
	str_append_format(&name, "\"%s\":\"", key);
	const char *at = strstr(body, str_text(&name));
	cr_assert_not_null(at, "%s lacks %s", body, key);
	at += name.len;
	snprintf(to, size, "%.*s", (int)strcspn(at, "\""), at);
}

static void serve_write(struct shelf *s, struct fake_call *c)
{
	CLEANUP(str_finish) struct str body = STR_INIT(4096);
	char version[16] = "";
	if (c->method == WIRE_PATCH) {
		member(c->body, "resourceVersion", version, sizeof version);
		char now[16];
		snprintf(now, sizeof now, "%d", s->version);
		if (strcmp(now, version) != 0) {
			fake_answer(c, 409,
				"{\"kind\":\"Status\",\"code\":409,\"reason\":\"Conflict\"}");
			return;
		}
		fake_expect_path(c, "/leases/lock?");
	}
	const char *number = strstr(c->body, "\"leaseTransitions\":");
	if (number != NULL) {
		number += strlen("\"leaseTransitions\":");
		int64_t value = 0;
		cr_assert(parse_i64(
			(struct view){number, strspn(number, "0123456789")}, 0, INT32_MAX, &value));
		s->transitions = (int)value;
	}
	if (strstr(c->body, "\"aliquot.dev/heard\":null") != NULL) {
		s->heard[0] = '\0';
		s->heards++;
	} else if (strstr(c->body, "\"aliquot.dev/heard\"") != NULL) {
		member(c->body, "aliquot.dev/heard", s->heard, sizeof s->heard);
		s->heards++;
	}
	if (strstr(c->body, "\"" NOTE_REFUSED_BY "\":null") != NULL) {
		s->refused_by[0] = '\0';
	} else if (strstr(c->body, "\"" NOTE_REFUSED_BY "\"") != NULL) {
		cr_expect_str_eq(s->refused_by, "", "it is said once");
		member(c->body, NOTE_REFUSED_BY, s->refused_by, sizeof s->refused_by);
	}
	s->exists = true;
	s->version++;
	member(c->body, "holderIdentity", s->holder, sizeof s->holder);
	member(c->body, "renewTime", s->renew, sizeof s->renew);
	body_of(s, &body);
	fake_answer(c, 200, str_text(&body));
}

static void serve_one(struct shelf *s, struct fake_call *c)
{
	CLEANUP(str_finish) struct str body = STR_INIT(4096);
	if (c->method != WIRE_GET) {
		serve_write(s, c);
		return;
	}
	if (!s->exists) {
		fake_answer(c, 404, "{\"kind\":\"Status\",\"code\":404,\"reason\":\"NotFound\"}");
		return;
	}
	body_of(s, &body);
	fake_answer(c, 200, str_text(&body));
}

/* Steps a candidate and answers all it asks, until it asks nothing more. */
static void settle(struct candidate *c, struct shelf *s)
{
	election_step(c->e, c->clock.mono);
	for (int turns = 0; turns < 20 && c->served < c->wire->count; turns++) {
		while (c->served < c->wire->count) {
			struct fake_call *call = &c->wire->calls[c->served++];
			if (call->open) {
				serve_one(s, call);
			}
		}
		election_step(c->e, c->clock.mono);
	}
}

/* The first has asked for the lease, the second has not looked yet. */
static void set_up_two(struct candidate *all, struct shelf *s)
{
	set_up(&all[0], "one", false);
	set_up(&all[1], "two", false);
	settle(&all[0], s);
}

static void pass(struct candidate *all, size_t count, struct shelf *s, int64_t ms)
{
	for (int64_t t = 0; t < ms; t += 100) {
		for (size_t i = 0; i < count; i++) {
			fake_pass(&all[i].clock, 100);
			settle(&all[i], s);
		}
	}
}

Test(election, takes_an_empty_lease_at_once_and_keeps_it)
{
	struct shelf shelf = {.exists = true, .version = 1};
	struct candidate c;
	set_up(&c, "one", false);
	settle(&c, &shelf);
	cr_expect(election_leads(c.e));
	cr_expect(election_may_write(c.e, c.clock.mono));
	cr_expect_str_eq(election_holder(c.e), "one");
	cr_expect_eq(c.gained, 1);
	cr_expect_eq(shelf.transitions, 1);
	pass(&c, 1, &shelf, 60000);
	cr_expect_eq(c.gained, 1);
	cr_expect_eq(c.lost, 0);
	cr_expect_eq(shelf.transitions, 1, "renewing is no transition");
	cr_expect_leq(election_age_ms(c.e, c.clock.mono), 2000);
	tear_down(&c);
}

Test(election, creates_the_lease_only_where_it_may)
{
	struct shelf shelf = {0};
	struct candidate c;
	set_up(&c, "one", false);
	settle(&c, &shelf);
	pass(&c, 1, &shelf, 10000);
	cr_expect_not(shelf.exists);
	cr_expect_not(election_leads(c.e));
	tear_down(&c);
	set_up(&c, "one", true);
	settle(&c, &shelf);
	cr_expect(shelf.exists);
	cr_expect(election_leads(c.e));
	cr_expect_eq(c.term, 1);
	cr_expect_eq(shelf.transitions, 1);
	tear_down(&c);
}

Test(election, one_leads_and_the_other_takes_over_after_it_died)
{
	struct shelf shelf = {.exists = true, .version = 1};
	struct candidate all[CANDIDATES];
	set_up_two(all, &shelf);
	settle(&all[1], &shelf);
	cr_expect_eq(election_age_ms(all[1].e, all[1].clock.mono), INT64_MAX,
		"a lease that was only seen once proves no life");
	pass(all, 2, &shelf, 30000);
	cr_expect(election_leads(all[0].e));
	cr_expect_not(election_leads(all[1].e));
	cr_expect_str_eq(election_holder(all[1].e), "one");
	cr_expect_leq(election_age_ms(all[1].e, all[1].clock.mono), 4100);
	/* The first one dies. */
	int64_t waited = 0;
	while (!election_leads(all[1].e)) {
		pass(&all[1], 1, &shelf, 100);
		waited += 100;
		cr_assert_lt(waited, 30000);
	}
	cr_expect_geq(waited, 10000, "%lld", (long long)waited);
	cr_expect_leq(waited, 14100, "%lld", (long long)waited);
	cr_expect_str_eq(shelf.holder, "two");
	cr_expect_eq(shelf.transitions, 2);
	cr_expect_eq(all[0].term, 1);
	cr_expect_eq(all[1].term, 2);
	tear_down(&all[0]);
	tear_down(&all[1]);
}

Test(election, a_leader_that_was_stopped_writes_nothing_when_it_wakes)
{
	struct shelf shelf = {.exists = true, .version = 1};
	struct candidate all[CANDIDATES];
	set_up_two(all, &shelf);
	pass(all, 2, &shelf, 10000);
	/* Stopped for 20 s: its clock goes on, its code does not run. */
	pass(&all[1], 1, &shelf, 20000);
	cr_expect(election_leads(all[1].e));
	fake_pass(&all[0].clock, ELECTION_RENEW_DEADLINE_MS);
	cr_expect_not(election_may_write(all[0].e, all[0].clock.mono), "nobody else leads yet");
	fake_pass(&all[0].clock, 20000 - ELECTION_RENEW_DEADLINE_MS);
	cr_expect_not(
		election_may_write(all[0].e, all[0].clock.mono), "asked before its first step");
	settle(&all[0], &shelf);
	cr_expect_not(election_leads(all[0].e));
	cr_expect_eq(all[0].lost, 1);
	pass(all, 2, &shelf, 20000);
	cr_expect_not(election_leads(all[0].e));
	cr_expect_eq(all[0].gained + all[1].gained, 2);
	tear_down(&all[0]);
	tear_down(&all[1]);
}

Test(election, stops_before_anybody_could_have_taken_over)
{
	struct shelf shelf = {.exists = true, .version = 1};
	struct candidate c;
	set_up(&c, "one", false);
	settle(&c, &shelf);
	int64_t renewed = c.clock.mono;
	/* From now on the API server answers nothing. */
	while (election_may_write(c.e, c.clock.mono)) {
		cr_expect_eq(c.clock.mono + election_write_ms(c.e, c.clock.mono),
			renewed + ELECTION_DURATION_MS, "a write ends before that");
		fake_pass(&c.clock, 100);
		election_step(c.e, c.clock.mono);
		cr_assert_lt(c.clock.mono - renewed, 20000);
	}
	cr_expect_eq(c.clock.mono - renewed, ELECTION_RENEW_DEADLINE_MS);
	cr_expect_eq(election_write_ms(c.e, c.clock.mono), 0);
	cr_expect_eq(c.lost, 1);
	tear_down(&c);
}

Test(election, an_answer_that_comes_too_late_does_not_make_a_leader)
{
	struct shelf shelf = {.exists = true, .version = 1};
	struct candidate c;
	set_up(&c, "one", false);
	election_step(c.e, c.clock.mono);
	serve_one(&shelf, fake_last(c.wire)); /* the read */
	election_step(c.e, c.clock.mono);
	fake_pass(&c.clock, 9000);
	serve_one(&shelf, fake_last(c.wire)); /* the taking, far too late */
	election_step(c.e, c.clock.mono);
	cr_expect_not(election_leads(c.e));
	cr_expect_eq(c.gained, 0);
	cr_expect_gt(election_age_ms(c.e, c.clock.mono), 8000);
	tear_down(&c);
}

Test(election, two_that_race_for_a_free_lease_do_not_both_win)
{
	struct shelf shelf = {.exists = true, .version = 1};
	struct candidate all[CANDIDATES];
	set_up(&all[0], "one", false);
	set_up(&all[1], "two", false);
	/* Both read it free, then both write. */
	for (int i = 0; i < CANDIDATES; i++) {
		election_step(all[i].e, all[i].clock.mono);
		serve_one(&shelf, fake_last(all[i].wire));
		election_step(all[i].e, all[i].clock.mono);
	}
	for (int i = 0; i < CANDIDATES; i++) {
		all[i].served = all[i].wire->count - 1;
		settle(&all[i], &shelf);
	}
	cr_expect_eq(election_leads(all[0].e) + election_leads(all[1].e), 1);
	cr_expect(election_leads(all[0].e));
	cr_expect_str_eq(election_holder(all[1].e), "one", "the loser looks at once");
	tear_down(&all[0]);
	tear_down(&all[1]);
}

Test(election, a_renewal_of_unknown_fate_is_looked_up)
{
	struct shelf shelf = {.exists = true, .version = 1};
	struct candidate c;
	set_up(&c, "one", false);
	settle(&c, &shelf);
	fake_pass(&c.clock, 2000);
	election_step(c.e, c.clock.mono);
	struct fake_call *patch = fake_last(c.wire);
	cr_assert_eq(patch->method, WIRE_PATCH);
	/* It took effect, and the answer was lost. */
	shelf.version++;
	fake_fail(patch, true);
	c.served = c.wire->count;
	pass(&c, 1, &shelf, 3000);
	cr_expect(election_leads(c.e));
	cr_expect_eq(c.lost, 0);
	cr_expect_leq(election_age_ms(c.e, c.clock.mono), 2000);
	tear_down(&c);
}

Test(election, release_gives_the_lease_back_and_the_standby_takes_it_at_once)
{
	struct shelf shelf = {.exists = true, .version = 1};
	struct candidate all[CANDIDATES];
	set_up_two(all, &shelf);
	pass(all, 2, &shelf, 5000);
	election_release(all[0].e);
	cr_expect_not(election_may_write(all[0].e, all[0].clock.mono));
	settle(&all[0], &shelf);
	cr_expect(election_is_released(all[0].e));
	cr_expect_eq(all[0].lost, 1);
	cr_expect_str_eq(shelf.holder, "");
	pass(&all[1], 1, &shelf, 2100);
	cr_expect(election_leads(all[1].e));
	tear_down(&all[0]);
	tear_down(&all[1]);
}

Test(election, a_standby_has_nothing_to_release)
{
	struct shelf shelf = {.exists = true, .version = 1};
	struct candidate all[CANDIDATES];
	set_up_two(all, &shelf);
	pass(all, 2, &shelf, 5000);
	election_release(all[1].e);
	settle(&all[1], &shelf);
	cr_expect(election_is_released(all[1].e));
	cr_expect_str_eq(shelf.holder, "one");
	tear_down(&all[0]);
	tear_down(&all[1]);
}

Test(election, whoever_must_never_lead_only_watches)
{
	struct shelf shelf = {.exists = true, .version = 1};
	struct candidate c;
	set_up(&c, "one", false);
	election_destroy(c.e);
	struct election_config config = {
		.ns = "aliquot-system", .name = "lock", .identity = "w", .never_lead = true};
	c.e = election_create(c.kube, &config, on_change, &c);
	settle(&c, &shelf);
	pass(&c, 1, &shelf, 30000);
	cr_expect_not(election_leads(c.e));
	cr_expect_eq(shelf.version, 1);
	tear_down(&c);
}

/* C33: what the process before it had sent must be of an earlier term. */
Test(election, the_same_name_after_a_restart_has_a_term_of_its_own)
{
	struct shelf shelf = {.exists = true,
		.version = 1,
		.transitions = 40,
		.renew = "2026-01-02T03:04:05.000000Z"};
	struct candidate c;
	set_up(&c, "one", false);
	settle(&c, &shelf);
	pass(&c, 1, &shelf, 10000);
	cr_expect_eq(c.term, 41);
	tear_down(&c);
	set_up(&c, "one", false);
	cr_expect_eq(election_term(c.e), 0);
	settle(&c, &shelf);
	cr_expect(election_leads(c.e));
	cr_expect_eq(c.term, 42);
	cr_expect_eq(shelf.transitions, 42);
	pass(&c, 1, &shelf, 10000);
	cr_expect_eq(shelf.transitions, 42);
	/* Nor has who lost it and gets it again without anybody between. */
	fake_pass(&c.clock, 20000);
	settle(&c, &shelf);
	pass(&c, 1, &shelf, 4000);
	cr_expect(election_leads(c.e));
	cr_expect_eq(c.lost, 1);
	cr_expect_eq(c.term, 43);
	tear_down(&c);
}

Test(election, a_lease_that_was_given_back_has_a_new_term_for_whoever_takes_it)
{
	struct shelf shelf = {.exists = true, .version = 1};
	struct candidate all[CANDIDATES];
	set_up_two(all, &shelf);
	pass(all, 2, &shelf, 5000);
	election_release(all[0].e);
	settle(&all[0], &shelf);
	cr_expect_eq(shelf.transitions, 1, "nobody has it, and nobody has a new term");
	pass(&all[1], 1, &shelf, 2100);
	cr_expect_eq(all[1].term, 2);
	tear_down(&all[0]);
	tear_down(&all[1]);
}

/* A taking of unknown fate may have been done; the number that it gave is nobody's then. */
Test(election, a_taking_without_an_answer_is_followed_by_one_of_a_later_term)
{
	struct shelf shelf = {.exists = true, .version = 1};
	struct candidate c;
	set_up(&c, "one", false);
	election_step(c.e, c.clock.mono);
	serve_one(&shelf, fake_last(c.wire));
	election_step(c.e, c.clock.mono);
	struct fake_call *patch = fake_last(c.wire);
	cr_assert_eq(patch->method, WIRE_PATCH);
	shelf.version++;
	shelf.transitions = 1;
	snprintf(shelf.holder, sizeof shelf.holder, "one");
	snprintf(shelf.renew, sizeof shelf.renew, "2026-01-02T03:04:05.000000Z");
	fake_fail(patch, true);
	c.served = c.wire->count;
	pass(&c, 1, &shelf, 3000);
	cr_expect(election_leads(c.e));
	cr_expect_eq(c.term, 2);
	tear_down(&c);
}

/* Two processes of one name must not both lead: the number says whose it is. */
Test(election, a_lease_that_was_taken_under_the_same_name_is_lost)
{
	struct shelf shelf = {.exists = true, .version = 1};
	struct candidate all[CANDIDATES];
	set_up(&all[0], "one", false);
	set_up(&all[1], "one", false);
	settle(&all[0], &shelf);
	settle(&all[1], &shelf);
	cr_expect_eq(all[1].term, 2);
	fake_pass(&all[0].clock, 2000);
	election_step(all[0].e, all[0].clock.mono);
	serve_one(&shelf, fake_last(all[0].wire)); /* the renewal meets a conflict */
	election_step(all[0].e, all[0].clock.mono);
	serve_one(&shelf, fake_last(all[0].wire)); /* the read shows another number */
	all[0].served = all[0].wire->count;
	election_step(all[0].e, all[0].clock.mono);
	cr_expect_not(election_leads(all[0].e));
	cr_expect_eq(all[0].lost, 1);
	tear_down(&all[0]);
	tear_down(&all[1]);
}

Test(election, a_lease_in_doubt_is_read_soon_and_not_more_often)
{
	struct shelf shelf = {.exists = true, .version = 1};
	struct candidate c;
	set_up(&c, "one", false);
	election_doubt(c.e);
	settle(&c, &shelf);
	cr_expect(election_leads(c.e));
	size_t before = c.wire->count;
	for (int i = 0; i < 100; i++) {
		election_doubt(c.e);
		pass(&c, 1, &shelf, 100);
	}
	cr_expect_geq(c.wire->count - before, 10);
	cr_expect_leq(c.wire->count - before, 50, "%zu requests", c.wire->count - before);
	cr_expect_eq(c.lost, 0);
	/* Somebody has it. */
	snprintf(shelf.holder, sizeof shelf.holder, "two");
	shelf.version++;
	election_doubt(c.e);
	pass(&c, 1, &shelf, 600);
	cr_expect_not(election_leads(c.e));
	tear_down(&c);
}

/* What one leader has heard the next one reads; it is written when it is another, and no other
 * time.
 */
Test(election, what_was_heard_stands_on_the_lease)
{
	struct shelf shelf = {.exists = true, .version = 1};
	struct candidate all[CANDIDATES];
	set_up_two(all, &shelf);
	election_keep(all[1].e, "nonsense");
	cr_expect_str_eq(election_heard(all[0].e), "");
	pass(all, 2, &shelf, 6000);
	cr_expect_eq(shelf.heards, 0, "nobody has said anything");
	election_keep(all[0].e, "");
	pass(all, 2, &shelf, 6000);
	cr_expect_eq(shelf.heards, 0, "nothing is what stands there");
	election_keep(all[0].e, "gpu ill");
	pass(all, 2, &shelf, 6000);
	election_keep(all[0].e, "gpu ill");
	pass(all, 2, &shelf, 6000);
	cr_expect_str_eq(shelf.heard, "gpu ill");
	cr_expect_eq(shelf.heards, 1);
	/* The first one dies. */
	pass(&all[1], 1, &shelf, 20000);
	cr_assert(election_leads(all[1].e));
	cr_expect_str_eq(election_heard(all[1].e), "gpu ill");
	cr_expect_eq(shelf.heards, 1, "it stays until somebody says otherwise");
	election_keep(all[1].e, "");
	pass(&all[1], 1, &shelf, 6000);
	cr_expect_str_eq(shelf.heard, "");
	cr_expect_eq(shelf.heards, 2);
	cr_expect_str_eq(election_heard(all[1].e), "");
	tear_down(&all[0]);
	tear_down(&all[1]);
}

/* An upgrade: what was heard in the last moment goes with the Lease that is given back. */
Test(election, it_is_given_back_with_what_was_heard)
{
	struct shelf shelf = {.exists = true, .version = 1};
	struct candidate c;
	set_up(&c, "one", false);
	settle(&c, &shelf);
	cr_assert(election_leads(c.e));
	election_keep(c.e, "gpu ill");
	election_release(c.e);
	settle(&c, &shelf);
	cr_expect(election_is_released(c.e));
	cr_expect_str_eq(shelf.holder, "");
	cr_expect_str_eq(shelf.heard, "gpu ill");
	tear_down(&c);
}

Test(election, who_refuses_the_canary_stands_on_the_lease_until_nobody_does)
{
	struct shelf shelf = {.exists = true, .version = 1};
	struct candidate c;
	set_up(&c, "one", false);
	election_tell_refusal(c.e, "before it leads");
	settle(&c, &shelf);
	pass(&c, 1, &shelf, 6000);
	cr_expect_str_eq(shelf.refused_by, "");
	cr_expect_str_not_empty(election_version(c.e));
	election_tell_refusal(c.e, "house-images");
	pass(&c, 1, &shelf, 6000);
	cr_expect_str_eq(shelf.refused_by, "house-images");
	election_tell_refusal(c.e, NULL);
	pass(&c, 1, &shelf, 6000);
	cr_expect_str_eq(shelf.refused_by, "");
	tear_down(&c);
}
