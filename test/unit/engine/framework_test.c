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
	cr_expect_eq(engine_share_state(c->e, o->uid), SHARE_HELD);
	share.milli = 200;
	share.mem_mib = 16000;
	engine_observe(c->e, &share);
	run_for(c, 5000);
	cr_expect_eq(o->milli, 200);
	cr_expect_eq(o->mib, 24000);
	cluster_free(c);
}
