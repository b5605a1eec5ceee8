/* The number of the term in an object of its own, against a model of the two Leases. */
#include "kube/election.h"

#include "fake_wire.h"

#define LOCK "/leases/lock"
#define TERM "/leases/count"

struct leaf {
	bool exists;
	int version;
	int number; /* spec.leaseTransitions */
	char holder[32], renew[TIME_TEXT_MAX];
};

struct shelf {
	struct leaf lock, count;
	const char *refusal; /* of all about `count`; NULL: none */
	int writes;	     /* of `count` */
};

struct candidate {
	struct fake_clock clock;
	struct fake_wire *wire;
	struct kube_cred *cred;
	struct kube *kube;
	struct election *e;
	int64_t term; /* when it was told that it leads; 0: it does not */
	int lost;
	size_t served;
};

static void on_change(void *data, bool leads)
{
	struct candidate *c = data;
	c->term = leads ? election_term(c->e) : 0;
	c->lost += !leads;
}

static void set_up(struct candidate *c, const char *identity, const char *term)
{
	*c = (struct candidate){.clock = fake_clock_make(), .wire = fake_wire_create()};
	c->cred = kube_cred_create_plain("https://api", NULL, &c->clock.clock);
	c->kube = kube_create(&c->wire->wire, c->cred, &c->clock.clock, NULL);
	struct election_config config = {
		.ns = "home", .name = "lock", .term = term, .identity = identity};
	c->e = election_create(c->kube, &config, on_change, c);
}

static void tear_down(struct candidate *c)
{
	election_destroy(c->e);
	kube_destroy(c->kube);
	kube_cred_destroy(c->cred);
	fake_wire_destroy(c->wire);
}

/* The member's text, number or string; false: there is none. */
static bool member(const char *body, const char *key, char *to, size_t size)
{
	CLEANUP(str_finish) struct str name = STR_INIT(128);
	str_append_format(&name, "\"%s\":", key);
	const char *at = strstr(body, str_text(&name));
	if (at == NULL) {
		return false;
	}
	at += name.len;
	at += *at == '"';
	snprintf(to, size, "%.*s", (int)strcspn(at, ",}\""), at);
	return true;
}

static void say(struct fake_call *c, const struct leaf *l)
{
	CLEANUP(str_finish) struct str body = STR_INIT(1024);
	str_append_format(&body,
		"{\"kind\":\"Lease\",\"metadata\":{\"name\":\"x\",\"resourceVersion\":\"%d\"},"
		"\"spec\":{\"holderIdentity\":\"%s\",\"leaseDurationSeconds\":12,"
		"\"leaseTransitions\":%d",
		l->version, l->holder, l->number);
	if (l->renew[0] != '\0') {
		str_append_format(&body, ",\"renewTime\":\"%s\"", l->renew);
	}
	str_append_text(&body, "}}");
	fake_answer(c, 200, str_text(&body));
}

static int number_of(const char *text)
{
	int64_t value = -1;
	cr_assert(parse_i64(view_of(text), 0, INT32_MAX, &value), "%s", text);
	return (int)value;
}

static void serve_write(struct fake_call *c, struct leaf *l)
{
	char text[64];
	bool applies = strcmp(c->content_type, KUBE_APPLY_PATCH) == 0;
	cr_expect_eq(applies, !l->exists, "only what is not there is applied");
	if (member(c->body, "resourceVersion", text, sizeof text) &&
		number_of(text) != l->version) {
		fake_answer(c, 409, "{\"kind\":\"Status\",\"reason\":\"Conflict\"}");
		return;
	}
	if (member(c->body, "leaseTransitions", text, sizeof text)) {
		l->number = number_of(text);
	}
	(void)!member(c->body, "holderIdentity", l->holder, sizeof l->holder);
	(void)!member(c->body, "renewTime", l->renew, sizeof l->renew);
	l->exists = true;
	l->version++;
	say(c, l);
}

static void serve_one(struct shelf *s, struct fake_call *c)
{
	bool is_term = strstr(c->path, TERM) != NULL;
	struct leaf *l = is_term ? &s->count : &s->lock;
	s->writes += is_term && c->method != WIRE_GET;
	if (is_term && s->refusal != NULL) {
		fake_answer(c, 403, s->refusal);
	} else if (c->method != WIRE_GET) {
		serve_write(c, l);
	} else if (l->exists) {
		say(c, l);
	} else {
		fake_answer(c, 404, "{\"kind\":\"Status\",\"code\":404,\"reason\":\"NotFound\"}");
	}
}

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

static void pass(struct candidate *c, struct shelf *s, int64_t ms)
{
	for (int64_t t = 0; t < ms; t += 100) {
		fake_pass(&c->clock, 100);
		settle(c, s);
	}
}

static struct shelf shelf_of(int lock, int count)
{
	return (struct shelf){.lock = {.exists = true, .version = 1, .number = lock},
		.count = {.exists = true, .version = 1, .number = count}};
}

/* The next request, which nobody has answered yet. */
static struct fake_call *ask(struct candidate *c, const char *path, enum wire_method method)
{
	election_step(c->e, c->clock.mono);
	struct fake_call *call = fake_last(c->wire);
	cr_assert(call->open);
	cr_assert_eq(call->method, method, "%s", call->path);
	fake_expect_path(call, path);
	return call;
}

Test(election_term, nobody_leads_before_the_number_stands)
{
	struct shelf s = shelf_of(3, 3);
	struct candidate c;
	set_up(&c, "one", "count");
	serve_one(&s, ask(&c, LOCK, WIRE_GET));
	serve_one(&s, ask(&c, TERM, WIRE_GET));
	serve_one(&s, ask(&c, LOCK "?", WIRE_PATCH));
	struct fake_call *raise = ask(&c, TERM "?", WIRE_PATCH);
	cr_expect_not(election_leads(c.e));
	serve_one(&s, raise);
	election_step(c.e, c.clock.mono);
	cr_expect(election_leads(c.e));
	cr_expect_eq(c.term, 4);
	cr_expect_eq(s.lock.number, 4);
	cr_expect_eq(s.count.number, 4);
	tear_down(&c);
}

/* Whichever is higher counts, and both say the same then: so a version that knows the Lease alone
 * is of a higher term when it takes it, and one that takes it afterwards of a higher one again. */
Test(election_term, a_version_before_and_this_one_in_turn)
{
	static const struct {
		int lock, count, term;
	} rows[] = {{7, 3, 8}, {3, 7, 8}, {0, 0, 1}, {0, 12, 13}};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct shelf s = shelf_of(rows[i].lock, rows[i].count);
		struct candidate now, before;
		set_up(&now, "now", "count");
		settle(&now, &s);
		cr_expect_eq(now.term, rows[i].term);
		cr_expect_eq(s.lock.number, rows[i].term);
		cr_expect_eq(s.count.number, rows[i].term);
		election_release(now.e);
		settle(&now, &s);
		set_up(&before, "before", NULL);
		settle(&before, &s);
		cr_expect_eq(before.term, rows[i].term + 1, "it is not refused");
		election_release(before.e);
		settle(&before, &s);
		tear_down(&now);
		set_up(&now, "again", "count");
		settle(&now, &s);
		cr_expect_eq(now.term, rows[i].term + 2);
		cr_expect_eq(s.count.number, rows[i].term + 2);
		tear_down(&now);
		tear_down(&before);
	}
}

Test(election_term, the_lease_that_a_tool_lowered_begins_no_earlier_term)
{
	struct shelf s = shelf_of(5, 5);
	struct candidate c;
	set_up(&c, "one", "count");
	settle(&c, &s);
	cr_assert_eq(c.term, 6);
	s.lock = (struct leaf){.exists = true, .version = 40};
	pass(&c, &s, 20000);
	cr_expect_eq(c.lost, 1);
	cr_expect_eq(c.term, 7);
	cr_expect_eq(s.lock.number, 7);
	tear_down(&c);
}

Test(election_term, one_that_was_lowered_or_taken_away_is_raised_again)
{
	struct shelf s = shelf_of(5, 5);
	struct candidate c;
	set_up(&c, "one", "count");
	settle(&c, &s);
	s.count.number = 2;
	s.count.version++;
	pass(&c, &s, 11000);
	cr_expect_eq(s.count.number, 6);
	s.count = (struct leaf){0};
	pass(&c, &s, 11000);
	cr_expect(s.count.exists);
	cr_expect_eq(s.count.number, 6);
	cr_expect_eq(c.term, 6);
	cr_expect_eq(c.lost, 0, "it leads all the while");
	int writes = s.writes;
	pass(&c, &s, 60000);
	cr_expect_eq(s.writes, writes, "what stands as it should is not written");
	cr_expect_eq(c.lost, 0);
	tear_down(&c);
}

Test(election_term, one_that_is_higher_ends_the_lead)
{
	struct shelf s = shelf_of(5, 5);
	struct candidate c;
	set_up(&c, "one", "count");
	settle(&c, &s);
	s.count.number = 9;
	s.count.version++;
	/* A placement was refused: it is not looked at in its turn, but soon. */
	election_doubt(c.e);
	pass(&c, &s, 3000);
	cr_expect_eq(c.lost, 1);
	cr_expect_eq(c.term, 10);
	cr_expect_eq(s.lock.number, 10);
	tear_down(&c);
}

Test(election_term, one_that_another_raised_in_between_is_read_again)
{
	struct shelf s = shelf_of(5, 5);
	struct candidate c;
	set_up(&c, "one", "count");
	serve_one(&s, ask(&c, LOCK, WIRE_GET));
	serve_one(&s, ask(&c, TERM, WIRE_GET));
	s.count.number = 6;
	s.count.version++;
	c.served = c.wire->count;
	settle(&c, &s);
	cr_expect_not(election_leads(c.e));
	pass(&c, &s, 1000);
	cr_expect_eq(c.term, 7);
	cr_expect_eq(s.count.number, 7);
	tear_down(&c);
}

Test(election_term, without_the_right_the_number_of_the_lease_counts)
{
	struct shelf s = shelf_of(5, 0);
	struct candidate c;
	s.refusal = "{\"kind\":\"Status\",\"code\":403,\"reason\":\"Forbidden\",\"message\":"
		    "\"leases \\\"count\\\" is forbidden: no\"}";
	set_up(&c, "one", "count");
	settle(&c, &s);
	cr_expect_eq(c.term, 6);
	pass(&c, &s, 30000);
	cr_expect_eq(c.lost, 0);
	/* It gets the right while it leads. */
	s.refusal = NULL;
	pass(&c, &s, 11000);
	cr_expect_eq(s.count.number, 6);
	cr_expect_eq(c.lost, 0);
	tear_down(&c);
}

Test(election_term, a_policy_that_lets_nobody_lower_it_is_no_lack_of_rights)
{
	struct shelf s = shelf_of(5, 5);
	struct candidate c;
	set_up(&c, "one", "count");
	serve_one(&s, ask(&c, LOCK, WIRE_GET));
	serve_one(&s, ask(&c, TERM, WIRE_GET));
	serve_one(&s, ask(&c, LOCK "?", WIRE_PATCH));
	fake_answer(ask(&c, TERM "?", WIRE_PATCH), 403,
		"{\"kind\":\"Status\",\"code\":403,\"reason\":\"Forbidden\",\"message\":\"leases "
		"is "
		"forbidden: ValidatingAdmissionPolicy 'aliquot-term-rises' denied request\"}");
	c.served = c.wire->count;
	election_step(c.e, c.clock.mono);
	cr_expect_not(election_leads(c.e));
	pass(&c, &s, 1000);
	cr_expect_eq(c.term, 7, "it has taken the Lease once more");
	tear_down(&c);
}

Test(election_term, an_api_server_that_says_nothing_of_it_makes_no_leader)
{
	struct shelf s = shelf_of(5, 5);
	struct candidate c;
	set_up(&c, "one", "count");
	for (int i = 0; i < 3; i++) {
		serve_one(&s, ask(&c, LOCK, WIRE_GET));
		fake_fail(ask(&c, TERM, WIRE_GET), false);
		election_step(c.e, c.clock.mono);
		cr_expect_not(election_leads(c.e));
		cr_expect_eq(s.lock.number, 5);
		fake_pass(&c.clock, 2000);
	}
	c.served = c.wire->count;
	settle(&c, &s);
	cr_expect_eq(c.term, 6);
	tear_down(&c);
}

/* The Lease is renewed in time, whatever the looks in between come to. */
Test(election_term, a_look_that_hangs_does_not_cost_the_lead)
{
	struct shelf s = shelf_of(5, 5);
	struct candidate c;
	set_up(&c, "one", "count");
	settle(&c, &s);
	for (int64_t t = 0; t < 60000; t += 100) {
		struct fake_call *last = fake_last(c.wire);
		bool looks = last->open && last->method == WIRE_GET && strstr(last->path, TERM);
		if (looks) {
			cr_expect_leq(last->timeout_ms, 1000);
			fake_pass(&c.clock, last->timeout_ms);
			fake_fail(last, false);
		}
		fake_pass(&c.clock, 100);
		election_step(c.e, c.clock.mono);
		if (c.wire->count > c.served && !strstr(fake_last(c.wire)->path, TERM)) {
			settle(&c, &s);
		}
		c.served = c.wire->count;
	}
	cr_expect_eq(c.lost, 0);
	cr_expect_eq(c.term, 6);
	pass(&c, &s, 2000);
	tear_down(&c);
}
