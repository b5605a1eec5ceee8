/* Who waits for the list of checkpoints, and for how long. */
#include "recall.h"

#include "../kube/fake_wire.h"

#define MINUTE_MS INT64_C(60000)

struct bed {
	struct fake_clock clock;
	struct fake_wire *wire;
	struct kube_cred *cred;
	struct kube *kube;
	struct sizer *sizer;
	struct recall *recall;
};

static void set_up(struct bed *b)
{
	const struct sizer_config config = {.round_ms = 10000};
	*b = (struct bed){.clock = fake_clock_make(), .wire = fake_wire_create()};
	b->cred = kube_cred_create_plain("https://api", NULL, &b->clock.clock);
	b->kube = kube_create(&b->wire->wire, b->cred, &b->clock.clock, NULL);
	b->sizer = sizer_create(&config);
	b->recall = recall_create(b->kube, b->sizer);
}

static void tear_down(struct bed *b)
{
	recall_destroy(b->recall);
	sizer_destroy(b->sizer);
	kube_destroy(b->kube);
	kube_cred_destroy(b->cred);
	fake_wire_destroy(b->wire);
}

/* For so long, where each question is answered so; when it ended, -1: it did not. */
static int64_t ends_after(struct bed *b, int64_t ms, int status)
{
	for (int64_t passed = 0; passed < ms; passed += 1000) {
		if (recall_step(b->recall, b->clock.mono)) {
			return passed;
		}
		if (fake_open_count(b->wire) > 0) {
			fake_answer(fake_last(b->wire), status, "{}");
		}
		fake_pass(&b->clock, 1000);
	}
	return -1;
}

/* Neither a role nor a kind comes by waiting, and nobody is sized meanwhile. */
Test(recall, a_list_that_is_refused_for_good_is_not_waited_for)
{
	static const int statuses[] = {403, 404};
	for (size_t i = 0; i < COUNT_OF(statuses); i++) {
		struct bed b;
		set_up(&b);
		int64_t ms = ends_after(&b, 10 * MINUTE_MS, statuses[i]);
		cr_expect_geq(ms, 5 * MINUTE_MS, "%d", statuses[i]);
		cr_expect_leq(ms, 6 * MINUTE_MS, "%d", statuses[i]);
		tear_down(&b);
	}
}

Test(recall, a_server_that_fails_is_waited_for)
{
	static const int statuses[] = {429, 500, 503};
	for (size_t i = 0; i < COUNT_OF(statuses); i++) {
		struct bed b;
		set_up(&b);
		cr_expect_eq(ends_after(&b, 20 * MINUTE_MS, statuses[i]), -1, "%d", statuses[i]);
		cr_expect(recall_is_late(b.recall, b.clock.mono));
		tear_down(&b);
	}
}

/* While it starts its kinds come and go. */
Test(recall, one_that_refuses_now_and_then_is_waited_for)
{
	struct bed b;
	set_up(&b);
	for (int i = 0; i < 5; i++) {
		cr_expect_eq(ends_after(&b, 4 * MINUTE_MS, 404), -1);
		cr_expect_eq(ends_after(&b, MINUTE_MS, 503), -1);
	}
	tear_down(&b);
}
