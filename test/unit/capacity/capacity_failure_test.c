/* How long a capacity pod is hoped for. */
#include "capacity/capacity_failure.h"

#include <criterion/criterion.h>

#include "ledger/ledger.h"

/* Of one that is on its node and told its GPU, at 100 s. */
struct bed {
	struct engine_config config;
	struct step_time time;
	struct picture picture;
	struct gpu_identity identity;
	struct holder pod;
};

static void bed_begin(struct bed *b)
{
	*b = (struct bed){.config = {.open_timeout_ms = 120000},
		.time = {.now = 100000, .deadline = TIME_NEVER},
		.pod = {.in_world = true, .opened_at = 0, .lost_at = -1, .refused_at = -1}};
	b->picture = (struct picture){.cfg = &b->config, .time = &b->time};
	b->pod.pod = (struct pod){
		.node = "n1", .phase = POD_RUNNING, .identity = &b->identity, .holds = true};
}

Test(capacity_failure, one_that_told_its_gpu_has_come_up)
{
	struct bed b;
	bed_begin(&b);
	cr_expect_not(capacity_failed(&b.picture, &b.pod));
	b.pod.pod.phase = POD_FAILED;
	cr_expect(capacity_failed(&b.picture, &b.pod));
}

/* The step is woken when the time is over. */
Test(capacity_failure, one_that_stays_silent_fails_in_time)
{
	struct bed b;
	bed_begin(&b);
	b.pod.pod.identity = NULL;
	cr_expect_not(capacity_failed(&b.picture, &b.pod));
	cr_expect_eq(b.time.deadline, 120000);
	b.time.now = 120000;
	cr_expect(capacity_failed(&b.picture, &b.pod));
}

Test(capacity_failure, one_that_the_scheduler_refuses_fails_sooner)
{
	struct bed b;
	bed_begin(&b);
	b.pod.pod.identity = NULL;
	b.pod.pod.node = NULL;
	b.pod.refused_at = 98000;
	cr_expect(capacity_is_refused(&b.pod));
	cr_expect_not(capacity_failed(&b.picture, &b.pod));
	cr_expect_eq(b.time.deadline, 103000);
	b.time.now = 103000;
	cr_expect(capacity_failed(&b.picture, &b.pod));
	/* Who searches waits for what may not be free yet. */
	b.pod.search = true;
	cr_expect_not(capacity_is_refused(&b.pod));
	cr_expect_not(capacity_failed(&b.picture, &b.pod));
}
