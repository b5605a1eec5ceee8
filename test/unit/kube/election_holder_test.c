/* How long whoever holds the Lease is waited for: what it promised itself counts where that is
 * longer than ours, for a holder of another version believes that it leads for so long. */
#include "kube/election.h"

#include "fake_wire.h"

static void on_change(void *data, bool leads)
{
	(void)data;
	(void)leads;
}

/* From the first look at a Lease that nobody renews to the first attempt to take it; its holder
 * wrote `duration_s`. */
static int64_t waited_ms(int32_t duration_s)
{
	struct fake_clock clock = fake_clock_make();
	struct fake_wire *wire = fake_wire_create();
	struct kube_cred *cred = kube_cred_create_plain("https://api", NULL, &clock.clock);
	struct kube *kube = kube_create(&wire->wire, cred, &clock.clock, NULL);
	struct election_config config = {.ns = "aliquot-system", .name = "lock", .identity = "two"};
	struct election *e = election_create(kube, &config, on_change, NULL);
	CLEANUP(str_finish) struct str lease = STR_INIT(1024);
	int64_t waited = 0;
	str_append_format(&lease,
		"{\"kind\":\"Lease\",\"metadata\":{\"namespace\":\"aliquot-system\",\"name\":"
		"\"lock\",\"uid\":\"u\",\"resourceVersion\":\"7\"},\"spec\":{\"holderIdentity\":"
		"\"one\",\"leaseDurationSeconds\":%d,\"renewTime\":"
		"\"2026-11-18T10:00:00.000000Z\",\"leaseTransitions\":3}}",
		duration_s);
	for (;; waited += 100) {
		election_step(e, clock.mono);
		if (fake_last(wire)->method != WIRE_GET) {
			break;
		}
		if (fake_last(wire)->open) {
			fake_answer(fake_last(wire), 200, str_text(&lease));
			continue;
		}
		cr_assert_lt(waited, 100000);
		fake_pass(&clock, 100);
	}
	election_destroy(e);
	kube_destroy(kube);
	kube_cred_destroy(cred);
	fake_wire_destroy(wire);
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
