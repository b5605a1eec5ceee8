/* Frameworks that fill the share of memory that they are told: what they use is what they were
 * given, under whatever policy. */
#include "played.h"

#include "model/framework.h"

#define WEB "deployment-web"

static int64_t target(const struct played *p)
{
	return bed_told(p->bed, WEB)->containers[0].target.mib;
}

static void begin(struct played *p, enum preallocated preallocated)
{
	played_init(p, "Deployment", 2);
	p->told_memory = p->fills = true;
	p->bed->sizing.preallocated = preallocated;
	played_automate(p);
	played_run(p, 60);
}

static void stays(enum preallocated preallocated, const char *reason)
{
	struct played p;
	begin(&p, preallocated);
	cr_assert_eq(played_whole(&p), 0);
	int64_t mib = target(&p);
	int before = p.bed->evictions;
	played_run(&p, 600);
	cr_expect_eq(p.bed->evictions, before, "%d more", p.bed->evictions - before);
	cr_expect_eq(
		target(&p), mib, "%lld, and %lld before", (long long)target(&p), (long long)mib);
	cr_expect_str_eq(bed_reason(p.bed, WEB, RECOMMENDATION_MEMORY_PREALLOCATED), reason);
	bed_free(p.bed);
}

/* With headroom on it each would be told more than the last one. */
Test(fills, what_was_told_does_not_grow_where_the_policy_goes_by_the_peak)
{
	stays(PREALLOCATED_SHRINK, "ToldItsShare");
}

Test(fills, nor_where_it_keeps_what_is_used)
{
	stays(PREALLOCATED_KEEP_USED, "KeepUsed");
}

static void lose_all(struct played *p)
{
	for (size_t i = 0; i < PLAYED_PODS; i++) {
		if (p->pods[i].there) {
			bed_pod_gone(p->bed, p->pods[i].name);
			p->pods[i].there = false;
		}
	}
	for (int i = 0; i < 10; i++) {
		bed_turn(p->bed);
	}
}

/* One replica: while the next one comes nobody has a share. */
Test(fills, nor_between_two_pods)
{
	struct played p;
	begin(&p, PREALLOCATED_SHRINK);
	int64_t mib = target(&p);
	lose_all(&p);
	cr_expect_eq(target(&p), mib);
	bed_free(p.bed);
}

/* What is left of less beside two contexts cannot be told. */
Test(fills, nor_is_less_than_can_be_told_shown_between_two_pods)
{
	struct played p;
	begin(&p, PREALLOCATED_SHRINK);
	p.bed->sizing.min_mem_mib = 512;
	p.bed->sizing.max_mem_mib = 700;
	p.bed->policy_generation++;
	bed_policy(p.bed);
	bed_turn(p.bed);
	cr_assert_eq(target(&p), framework_least_mib(0));
	lose_all(&p);
	cr_expect_eq(target(&p), framework_least_mib(0));
	bed_free(p.bed);
}
