/* Frameworks that take memory at start: what they are told, and what becomes of it. */
#include "cluster.h"

static struct obj *arrive_of(
	struct cluster *c, const char *name, const char *framework, int64_t milli)
{
	struct obj *o = add(c, name);
	o->gated = true;
	o->ask_milli = milli;
	o->framework = framework;
	publish(c, o);
	return o;
}

static bool waits_for(struct cluster *c, enum reason reason)
{
	return engine_report(c->e)->by_reason[reason] > 0;
}

Test(framework, is_told_its_share_of_the_gpu_it_gets_less_the_context)
{
	struct cluster *c = cluster_new(1, 4, 1);
	arrive_of(c, "vllm", "vLLM", 300);
	arrive_of(c, "sglang", "SGLang", 800);
	arrive_of(c, "tensorflow", "TensorFlow", 800);
	arrive(c, "torch", 500);
	run_for(c, 8000);
	cr_assert_eq(placed(c), 4);
	cr_expect_eq(find(c, "vllm")->told_memory, (24000 - 512) * 1000 / USABLE);
	cr_expect_eq(find(c, "sglang")->told_memory, (64000 - 512) * 850 / USABLE);
	cr_expect_eq(find(c, "tensorflow")->told_memory, 0, "it grows");
	cr_expect_eq(find(c, "torch")->told_memory, 0);
	cluster_free(c);
}

Test(framework, is_told_no_more_than_its_share_of_the_largest_of_its_gpus)
{
	struct cluster *c = cluster_new(1, 2, 1);
	c->larger_mib = 2 * USABLE;
	arrive_of(c, "vllm", "vLLM", 300)->count = 2;
	publish(c, find(c, "vllm"));
	run_for(c, 8000);
	cr_assert_eq(placed(c), 1);
	cr_expect_str_eq(find(c, "vllm")->uuid, "GPU-n0-0,GPU-n0-1");
	cr_expect_eq(find(c, "vllm")->mib, 24000);
	cr_expect_eq(find(c, "vllm")->told_memory, (24000 - 512) * 1000 / (2 * USABLE));
	cluster_free(c);
}

Test(framework, has_a_share_that_leaves_it_something)
{
	struct cluster *c = cluster_new(1, 1, 1);
	arrive_of(c, "vllm", "vLLM", 5);
	arrive(c, "torch", 5);
	run_for(c, 8000);
	cr_assert_eq(placed(c), 2);
	cr_expect_eq(find(c, "vllm")->mib, 1024);
	cr_expect_eq(find(c, "vllm")->told_memory, 6);
	cr_expect_eq(find(c, "torch")->mib, 512);
	cluster_free(c);
}

/* Of a later version. */
Test(framework, that_nobody_here_can_tell_is_not_placed)
{
	struct cluster *c = cluster_new(1, 1, 1);
	arrive_of(c, "other", "Other", 300);
	run_for(c, 5000);
	cr_expect_eq(placed(c), 0);
	cr_expect(waits_for(c, REASON_NOT_OURS));
	cluster_free(c);
}

/* It has taken what it was told, and gives nothing back. */
Test(framework, keeps_its_memory_where_its_compute_changes)
{
	struct cluster *c = cluster_new(1, 1, 1);
	struct obj *o = arrive_of(c, "vllm", "vLLM", 300);
	run_for(c, 5000);
	cr_assert_eq(placed(c), 1);
	struct change share = {.type = CHANGE_SHARE, .uid = o->uid, .milli = 500, .mem_mib = 40000};
	engine_observe(c->e, &share);
	run_for(c, 3000);
	cr_expect_eq(o->milli, 500);
	cr_expect_eq(o->mib, 24000);
	cr_expect_eq(share_state_of(c->e, o->uid), SHARE_MEMORY_STAYS);
	share.milli = 200;
	share.mem_mib = 16000;
	engine_observe(c->e, &share);
	run_for(c, 5000);
	cr_expect_eq(o->milli, 200);
	cr_expect_eq(o->mib, 24000);
	share.mem_mib = 24000;
	engine_observe(c->e, &share);
	run_for(c, 1000);
	cr_expect_eq(share_state_of(c->e, o->uid), SHARE_HELD);
	cluster_free(c);
}

/* --- one after the other --- */

static void gets_ready(struct cluster *c, struct obj *o)
{
	o->ready = true;
	o->rv = ++c->rv;
	publish(c, o);
}

static struct cluster *with_two(const char *first, const char *second)
{
	struct cluster *c = cluster_new(1, 1, 1);
	arrive_of(c, "a", first, 300);
	arrive_of(c, "b", second, 300);
	run_for(c, 15000);
	return c;
}

static struct obj *placed_one(struct cluster *c)
{
	return find(c, find(c, "a")->gated ? "b" : "a");
}

Test(framework, P5_the_second_starts_once_the_first_is_ready)
{
	struct cluster *c = with_two("vLLM", "JAX");
	cr_assert_eq(placed(c), 1);
	cr_expect(waits_for(c, REASON_STARTS_IN_TURN));
	char wanted[128];
	snprintf(wanted, sizeof wanted, "starts once default/%s on the same GPU is Ready",
		placed_one(c)->name);
	cr_expect(strstr(c->said, wanted) != NULL, "%s", c->said);
	cr_expect(strstr(c->said, "at the latest in 5") != NULL, "%s", c->said);
	/* Its share is held meanwhile. */
	arrive(c, "late", 600);
	run_for(c, 5000);
	cr_assert_eq(placed(c), 1);
	gets_ready(c, placed_one(c));
	run_for(c, 2000);
	cr_expect_eq(placed(c), 2);
	cr_expect(find(c, "late")->gated);
	cluster_free(c);
}

Test(framework, P5_or_after_ten_minutes)
{
	struct cluster *c = with_two("vLLM", "vLLM");
	run_for(c, 570000);
	cr_assert_eq(placed(c), 1);
	run_for(c, 30000);
	cr_expect_eq(placed(c), 2);
	/* Two that never get Ready hold a third back for the time of the last. */
	arrive_of(c, "third", "vLLM", 300);
	run_for(c, 560000);
	cr_assert_eq(placed(c), 2);
	run_for(c, 60000);
	cr_expect_eq(placed(c), 3);
	cluster_free(c);
}

Test(framework, P5_binds_nobody_who_looks_at_nothing)
{
	struct cluster *c = with_two("vLLM", "TensorFlow");
	arrive(c, "torch", 300);
	run_for(c, 5000);
	cr_expect_eq(placed(c), 3);
	cluster_free(c);
}

Test(framework, P5_ends_with_the_one_before)
{
	struct cluster *c = with_two("vLLM", "SGLang");
	cr_assert_eq(placed(c), 1);
	leave(c, placed_one(c));
	run_for(c, 5000);
	cr_expect_eq(placed(c), 1);
	cr_expect_not(waits_for(c, REASON_STARTS_IN_TURN));
	cluster_free(c);
}

Test(framework, P5_holds_under_a_new_leader)
{
	struct cluster *c = with_two("vLLM", "vLLM");
	cr_assert_eq(placed(c), 1);
	start_engine(c);
	run_for(c, 20000);
	cr_expect_eq(placed(c), 1);
	gets_ready(c, placed_one(c));
	run_for(c, 5000);
	cr_expect_eq(placed(c), 2);
	cluster_free(c);
}

Test(framework, P5_is_of_each_gpu)
{
	struct cluster *c = cluster_new(1, 2, 1);
	arrive_of(c, "a", "vLLM", 700);
	arrive_of(c, "b", "vLLM", 700);
	run_for(c, 10000);
	cr_expect_eq(placed(c), 2);
	cluster_free(c);
}
