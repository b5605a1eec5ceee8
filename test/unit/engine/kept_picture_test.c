/* What is kept from one picture to the next, for how long, and that the check of it sees what is
 * wrong. */
#include "odd_bed.h"
#include "state.h"

/* A tenant that runs as its ledger says. */
static struct bed one_gpu(void)
{
	struct bed b = bed_make();
	static struct grant entry[] = {{"t", "default", "t", 700, 50000}};
	tell_node(&b, "n0", 2, 10);
	tell_capacity(&b,
		&(struct cap){.name = "c0", .uid = "c0", .uuid = "GPU-0", .ledger = {entry, 1}});
	tell_running(&b, "t", "c0", "GPU-0");
	(void)step(&b, ACTION_GRANT);
	return b;
}

static struct holder *c0(struct bed *b)
{
	return holder_find(&b->e->book, "c0");
}

static void step_again(struct bed *b)
{
	tell_waiting(b, "w", "0.9");
	b->now += 1000;
	engine_step(b->e, (struct engine_now){b->now, b->now}, 100000, &b->plan);
}

static void expect_said(struct bed *b, const char *what)
{
	const char *said = engine_differs(b->e);
	cr_assert_not_null(said);
	cr_expect_str_eq(said, what, "%s", said);
	bed_finish(b);
}

Test(kept_picture, what_nothing_has_changed_of_is_kept)
{
	struct bed b = one_gpu();
	const uint32_t *slots = c0(&b)->kept.slots;
	step_again(&b);
	cr_expect_eq(c0(&b)->kept.step, b.e->time.step);
	cr_expect_eq(c0(&b)->kept.slots, slots);
	cr_expect_eq(b.e->picture.snap.gpus.items[0].free_milli, 300);
	cr_expect_eq(b.e->picture.unsettled.count, 1, "who waits, and nobody else");
	cr_assert_null(engine_differs(b.e));
	bed_finish(&b);
}

Test(kept_picture, who_left_is_looked_for_anew)
{
	struct bed b = one_gpu();
	tell_gone(&b, "default", "t");
	step_again(&b);
	cr_expect_neq(c0(&b)->kept.step, b.e->time.step);
	cr_assert_null(engine_differs(b.e));
	bed_finish(&b);
}

Test(kept_picture, a_share_that_was_kept_wrongly_is_named)
{
	struct bed b = one_gpu();
	c0(&b)->kept.milli++;
	step_again(&b);
	expect_said(&b, "GPU of c0 on n0: compute");
}

Test(kept_picture, a_tenant_that_was_kept_wrongly_is_named)
{
	struct bed b = one_gpu();
	bits_put(&b.e->picture.kept.plain, 1, false);
	step_again(&b);
	expect_said(&b, "pod t: plain");
}

Test(kept_picture, a_gpu_that_is_not_found_is_named)
{
	struct bed b = one_gpu();
	map_clear(&b.e->picture.gpus_by_uuid);
	step_again(&b);
	expect_said(&b, "GPU of c0 on n0: same");
}
