/* The next pods of a workload that was taken away from a GPU come to another one, if there is one.
 */
#include "cluster.h"

#define HOLD_MS 600000

static void come(struct cluster *c, const char *name, const char *owner, int64_t milli)
{
	arrive(c, name, milli);
	struct obj *o = find(c, name);
	snprintf(o->owner, sizeof o->owner, "%s", owner);
	publish(c, o);
	run_for(c, 3000);
}

static const char *where(struct cluster *c, const char *name)
{
	cr_assert_not(find(c, name)->gated, "%s waits: %s", name, c->said);
	return find(c, name)->uuid;
}

static void avoid_gpu(struct cluster *c, const char *name, int64_t for_ms)
{
	struct change away = {
		.type = CHANGE_AVOID_GPU, .uid = find(c, name)->uid, .for_ms = for_ms};
	cr_assert(engine_observe(c->e, &away));
}

/* Beside a neighbour, where best fit puts it. */
static struct cluster *beside_another(int gpus)
{
	struct cluster *c = cluster_new(1, gpus, 1);
	come(c, "greedy", "other-b", 300);
	come(c, "old", "web-a", 300);
	cr_assert_str_eq(where(c, "old"), where(c, "greedy"));
	return c;
}

Test(gpu_avoidance, the_next_one_opens_another_gpu)
{
	struct cluster *c = beside_another(2);
	avoid_gpu(c, "old", HOLD_MS);
	come(c, "new", "web-a", 300);
	cr_expect_str_neq(where(c, "new"), where(c, "greedy"));
	cr_assert_eq(placed(c), 3);
	come(c, "third", "other-b", 100);
	cr_expect_str_eq(where(c, "third"), where(c, "greedy"), "it is nobody else's matter");
	cluster_free(c);
}

Test(gpu_avoidance, it_joins_another_one_that_is_open)
{
	struct cluster *c = beside_another(2);
	come(c, "large", "other-b", 900);
	cr_assert_str_neq(where(c, "large"), where(c, "greedy"));
	avoid_gpu(c, "old", HOLD_MS);
	come(c, "new", "web-a", 50);
	cr_expect_str_eq(where(c, "new"), where(c, "large"));
	cluster_free(c);
}

/* A hint, and no ban. */
Test(gpu_avoidance, where_nothing_else_is_to_be_had_it_comes_back)
{
	struct cluster *c = beside_another(1);
	avoid_gpu(c, "old", HOLD_MS);
	come(c, "new", "web-a", 300);
	cr_expect_str_eq(where(c, "new"), where(c, "greedy"));
	cluster_free(c);
}

/* Whoever should have gone stays after all. */
Test(gpu_avoidance, it_is_taken_back)
{
	struct cluster *c = beside_another(2);
	avoid_gpu(c, "old", HOLD_MS);
	avoid_gpu(c, "old", -1);
	come(c, "new", "web-a", 300);
	cr_expect_str_eq(where(c, "new"), where(c, "greedy"));
	cluster_free(c);
}

Test(gpu_avoidance, it_ends)
{
	struct cluster *c = beside_another(2);
	avoid_gpu(c, "old", 20000);
	run_for(c, 30000);
	come(c, "new", "web-a", 300);
	cr_expect_str_eq(where(c, "new"), where(c, "greedy"));
	cluster_free(c);
}

Test(gpu_avoidance, a_pod_without_an_owner_is_about_itself)
{
	struct cluster *c = cluster_new(1, 2, 1);
	come(c, "one", "", 300);
	avoid_gpu(c, "one", HOLD_MS);
	come(c, "two", "", 300);
	cr_expect_str_eq(where(c, "two"), where(c, "one"));
	cluster_free(c);
}

/* Others that wait are decided in the same picture, which is whole again behind it. */
Test(gpu_avoidance, the_picture_is_whole_for_those_behind_it)
{
	struct cluster *c = beside_another(2);
	avoid_gpu(c, "old", HOLD_MS);
	char name[16];
	for (int i = 0; i < 6; i++) {
		snprintf(name, sizeof name, "p%d", i);
		arrive(c, name, 100);
		snprintf(find(c, name)->owner, sizeof find(c, name)->owner, "%s",
			i % 2 == 0 ? "web-a" : "other-b");
		publish(c, find(c, name));
	}
	run_for(c, 10000);
	for (int i = 0; i < 6; i++) {
		snprintf(name, sizeof name, "p%d", i);
		bool same = strcmp(where(c, name), where(c, "greedy")) == 0;
		cr_expect_eq(same, i % 2 != 0, "%s", name);
	}
	cluster_free(c);
}

/* Whoever leads anew is told anew. */
Test(gpu_avoidance, another_term_knows_of_none)
{
	struct cluster *c = beside_another(2);
	avoid_gpu(c, "old", HOLD_MS);
	struct change lead = {.type = CHANGE_LEADER, .leads = false};
	engine_observe(c->e, &lead);
	lead.leads = true;
	engine_observe(c->e, &lead);
	run_for(c, 3000);
	come(c, "new", "web-a", 300);
	cr_expect_str_eq(where(c, "new"), where(c, "greedy"));
	cluster_free(c);
}

Test(gpu_avoidance, of_whom_nobody_knows_nothing_is_kept)
{
	struct cluster *c = beside_another(2);
	struct change away = {.type = CHANGE_AVOID_GPU, .uid = "nobody", .for_ms = HOLD_MS};
	cr_expect(engine_observe(c->e, &away));
	away.uid = find(c, "old")->uid;
	away.for_ms = 0;
	cr_expect(engine_observe(c->e, &away));
	come(c, "new", "web-a", 300);
	cr_expect_str_eq(where(c, "new"), where(c, "greedy"));
	cluster_free(c);
}

static void avoid_gpu_as(struct cluster *c, const char *name, const char *owner, int64_t for_ms)
{
	struct obj *o = find(c, name);
	snprintf(o->owner, sizeof o->owner, "%s", owner);
	observe(c, o);
	avoid_gpu(c, name, for_ms);
}

/* As many as are kept, and `old`'s is the one that would end first. */
Test(gpu_avoidance, one_that_is_taken_back_and_was_never_there_drops_no_other)
{
	enum { OTHERS = 255 };
	struct cluster *c = beside_another(2);
	char owner[16];
	avoid_gpu(c, "old", HOLD_MS);
	for (int i = 0; i < OTHERS; i++) {
		snprintf(owner, sizeof owner, "w%d-a", i);
		avoid_gpu_as(c, "old", owner, 2 * HOLD_MS);
	}
	avoid_gpu_as(c, "old", "strange-a", -1);
	avoid_gpu_as(c, "old", "strange-a", 0);
	come(c, "new", "web-a", 300);
	cr_expect_str_neq(where(c, "new"), where(c, "greedy"));
	avoid_gpu_as(c, "old", "strange-a", 2 * HOLD_MS);
	come(c, "newer", "web-a", 100);
	cr_expect_str_eq(where(c, "newer"), where(c, "greedy"), "one more, and it makes way");
	cluster_free(c);
}
