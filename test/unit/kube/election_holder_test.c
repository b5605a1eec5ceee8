/* What is known of whoever holds the Lease, and how long it is waited for: what it promised itself
 * counts where that is longer than ours, for a holder of another version believes that it leads for
 * so long. */
#include "kube/election.h"

#include "fake_wire.h"

static void on_change(void *data, bool leads)
{
	(void)data;
	(void)leads;
}

/* Somebody who waits for the Lease of another. */
struct standby {
	struct fake_clock clock;
	struct fake_wire *wire;
	struct kube_cred *cred;
	struct kube *kube;
	struct election *e;
};

static void set_up(struct standby *s)
{
	struct election_config config = {.ns = "aliquot-system", .name = "lock", .identity = "two"};
	*s = (struct standby){.clock = fake_clock_make(), .wire = fake_wire_create()};
	s->cred = kube_cred_create_plain("https://api", NULL, &s->clock.clock);
	s->kube = kube_create(&s->wire->wire, s->cred, &s->clock.clock, NULL);
	s->e = election_create(s->kube, &config, on_change, NULL);
}

static void tear_down(struct standby *s)
{
	election_destroy(s->e);
	kube_destroy(s->kube);
	kube_cred_destroy(s->cred);
	fake_wire_destroy(s->wire);
}

/* Answers the open question: its holder wrote `duration_s`, and renewed it in that second. */
static void answer(struct standby *s, int32_t duration_s, int second)
{
	CLEANUP(str_finish) struct str lease = STR_INIT(1024);
	str_append_format(&lease,
		"{\"kind\":\"Lease\",\"metadata\":{\"namespace\":\"aliquot-system\",\"name\":"
		"\"lock\",\"uid\":\"u\",\"resourceVersion\":\"7\"},\"spec\":{\"holderIdentity\":"
		"\"one\",\"leaseDurationSeconds\":%d,\"renewTime\":"
		"\"2026-11-18T10:00:%02d.000000Z\",\"leaseTransitions\":3}}",
		duration_s, second);
	cr_assert(fake_last(s->wire)->open);
	fake_answer(fake_last(s->wire), 200, str_text(&lease));
	election_step(s->e, s->clock.mono);
}

/* From the first look at a Lease that nobody renews to the first attempt to take it. */
static int64_t waited_ms(int32_t duration_s)
{
	struct standby s;
	int64_t waited = 0;
	set_up(&s);
	for (;; waited += 100) {
		election_step(s.e, s.clock.mono);
		if (fake_last(s.wire)->method != WIRE_GET) {
			break;
		}
		if (fake_last(s.wire)->open) {
			answer(&s, duration_s, 0);
			continue;
		}
		cr_assert_lt(waited, 100000);
		fake_pass(&s.clock, 100);
	}
	tear_down(&s);
	return waited;
}

Test(election_holder, a_holder_is_waited_for_as_long_as_it_promised_itself)
{
	static const struct {
		int32_t duration_s;
		int64_t least_ms;
	} rows[] = {
		{0, ELECTION_DURATION_MS},
		{5, ELECTION_DURATION_MS},
		{12, ELECTION_DURATION_MS},
		{40, 40000},
		{3600, 60000},
	};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		int64_t waited = waited_ms(rows[i].duration_s);
		cr_expect_geq(waited, rows[i].least_ms, "row %zu: %lld", i, (long long)waited);
		cr_expect_leq(waited, rows[i].least_ms + 2 * ELECTION_RETRY_MS, "row %zu: %lld", i,
			(long long)waited);
	}
}

/* C2: who was stopped meanwhile must not take it for a sign of life of now. */
Test(election_holder, an_answer_that_lay_waiting_is_as_old_as_its_question)
{
	struct standby s;
	set_up(&s);
	election_step(s.e, s.clock.mono);
	answer(&s, 12, 0);
	fake_pass(&s.clock, ELECTION_RETRY_MS);
	election_step(s.e, s.clock.mono);
	fake_pass(&s.clock, 30000);
	answer(&s, 12, 2);
	cr_expect_eq(election_age_ms(s.e, s.clock.mono), 30000);
	tear_down(&s);
}
