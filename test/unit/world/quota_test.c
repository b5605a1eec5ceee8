/* C7: what of a quota is taken, kept up with every pod; world_check counts anew after each step. */
#include "world/world.h"

#include <criterion/criterion.h>
#include <stdio.h>

#include "base/rand.h"
#include "model/names.h"
#include "../world_check.h"

struct what {
	const char *ns, *name, *uid, *class;
	enum pod_phase phase;
	int64_t gpus, milli;
	bool gated;
	const char *uuids; /* of its GPUs; NULL: not told */
};

static void set_pod(struct world *w, struct what x)
{
	char milli[24];
	snprintf(milli, sizeof milli, "%lld", (long long)x.milli);
	const char *gates[] = {NAME_GATE};
	struct pair label = {LABEL_TENANT, "true"};
	struct pair notes[] = {{NOTE_COMPUTE_MILLI, milli}, {NOTE_GPU_UUID, x.uuids}};
	struct pod p = {.ns = x.ns,
		.name = x.name,
		.uid = x.uid,
		.phase = x.phase,
		.priority_class = x.class,
		.gpus = x.gpus,
		.labels = {&label, x.gpus > 0 ? 0 : 1},
		.notes = {notes, x.uuids != NULL ? 2
				 : x.milli > 0	 ? 1
						 : 0},
		.gates = gates,
		.gate_count = x.gated ? 1 : 0};
	struct change c = {.type = CHANGE_SET, .kind = KIND_POD, .pod = &p};
	world_apply(w, &c);
	cr_assert_null(world_check(w));
}

static void drop_pod(struct world *w, const char *ns, const char *name)
{
	struct change c = {.type = CHANGE_GONE, .kind = KIND_POD, .ns = ns, .name = name};
	world_apply(w, &c);
	cr_assert_null(world_check(w));
}

static void set_quota(struct world *w, const char *ns, const char *name, const char *class)
{
	struct term scope = {"PriorityClass", TERM_IN, &class, 1};
	struct quota q = {ns, name, true, 2000, {&scope, class != NULL ? 1 : 0}};
	struct change c = {.type = CHANGE_SET, .kind = KIND_QUOTA, .quota = &q};
	world_apply(w, &c);
	cr_assert_null(world_check(w));
}

static void tell(struct world *w, enum change_type type)
{
	struct change c = {.type = type, .kind = KIND_QUOTA};
	world_apply(w, &c);
}

static void expect(struct world *w, const char *name, int64_t whole, int64_t milli)
{
	for (size_t i = 0; i < world_quota_count(w); i++) {
		const struct world_quota *q = world_quota_at(w, i);
		if (strcmp(q->noun.name, name) == 0) {
			cr_assert_eq(q->whole_gpus, whole, "%s: %lld GPUs", name,
				(long long)q->whole_gpus);
			cr_assert_eq(q->granted_milli, milli, "%s: %lld milli", name,
				(long long)q->granted_milli);
			return;
		}
	}
	cr_assert_fail("no quota %s", name);
}

Test(quota, whole_gpus_and_shown_shares_count_until_their_pod_ends)
{
	struct world *w = world_create();
	/* Before the quota is known, and after. */
	set_pod(w, (struct what){.ns = "team", .name = "a", .uid = "1", .gpus = 2});
	set_quota(w, "team", "q", NULL);
	set_quota(w, "team", "high", "high");
	expect(w, "q", 2, 0);
	set_pod(w,
		(struct what){.ns = "team", .name = "b", .uid = "2", .gpus = 1, .class = "high"});
	expect(w, "q", 3, 0);
	expect(w, "high", 1, 0);
	/* A gate says nothing of what will be given; another namespace counts elsewhere. */
	set_pod(w, (struct what){.ns = "team", .name = "t", .uid = "3", .gated = true});
	set_pod(w, (struct what){.ns = "other", .name = "x", .uid = "4", .gpus = 4});
	expect(w, "q", 3, 0);
	set_pod(w, (struct what){.ns = "team", .name = "t", .uid = "3", .milli = 250});
	expect(w, "q", 3, 250);
	set_pod(w, (struct what){
			   .ns = "team", .name = "a", .uid = "1", .gpus = 2, .phase = POD_FAILED});
	expect(w, "q", 1, 250);
	drop_pod(w, "team", "b");
	expect(w, "q", 0, 250);
	expect(w, "high", 0, 0);
	/* The same name with another uid is another pod. */
	set_pod(w, (struct what){.ns = "team", .name = "t", .uid = "9", .milli = 500});
	expect(w, "q", 0, 500);
	drop_pod(w, "team", "t");
	expect(w, "q", 0, 0);
	world_destroy(w);
}
Test(quota, a_tenant_of_several_gpus_counts_each_of_them)
{
	struct world *w = world_create();
	set_quota(w, "team", "q", NULL);
	set_pod(w, (struct what){.ns = "team",
			   .name = "t",
			   .uid = "1",
			   .milli = 250,
			   .uuids = "GPU-A,GPU-B,GPU-C,GPU-D"});
	expect(w, "q", 0, 1000);
	drop_pod(w, "team", "t");
	expect(w, "q", 0, 0);
	world_destroy(w);
}

/* The API server writes a quota's status with every pod; nothing is decided anew for that. */
Test(quota, the_same_again_is_no_change)
{
	struct world *w = world_create();
	set_quota(w, "team", "q", NULL);
	uint64_t version = world_version(w);
	set_quota(w, "team", "q", NULL);
	cr_assert_eq(world_version(w), version);
	set_quota(w, "team", "q", "high");
	cr_assert_gt(world_version(w), version);
	world_destroy(w);
}

Test(quota, relists_sweep_and_keep)
{
	struct world *w = world_create();
	set_quota(w, "team", "q", NULL);
	set_quota(w, "team", "r", NULL);
	set_quota(w, "other", "s", NULL);
	tell(w, CHANGE_RELIST_BEGIN);
	set_quota(w, "team", "r", NULL);
	struct change keep = {.type = CHANGE_KEEP, .kind = KIND_QUOTA, .ns = "other", .name = "s"};
	world_apply(w, &keep);
	tell(w, CHANGE_RELIST_END);
	cr_assert(world_synced(w, KIND_QUOTA));
	cr_assert_eq(world_quota_count(w), 2);
	cr_assert_eq(world_namespace_find(w, "team")->quotas.count, 1);
	set_pod(w, (struct what){.ns = "team", .name = "a", .uid = "1", .gpus = 1});
	expect(w, "r", 1, 0);
	/* One that speaks of GPUs no more bounds none. */
	struct quota q = {.ns = "team", .name = "r"};
	struct change set = {.type = CHANGE_SET, .kind = KIND_QUOTA, .quota = &q};
	world_apply(w, &set);
	cr_assert_eq(world_quota_count(w), 1);
	struct change gone = {.type = CHANGE_GONE, .kind = KIND_QUOTA, .ns = "other", .name = "s"};
	world_apply(w, &gone);
	cr_assert_eq(world_quota_count(w), 0);
	drop_pod(w, "team", "a");
	world_destroy(w);
}

Test(quota, a_quota_of_none_is_found_for_whom_it_covers)
{
	struct world *w = world_create();
	const char *class = "high";
	struct term scope = {"PriorityClass", TERM_IN, &class, 1};
	struct quota q = {"team", "none", true, 0, {&scope, 1}};
	struct change c = {.type = CHANGE_SET, .kind = KIND_QUOTA, .quota = &q};
	world_apply(w, &c);
	struct pod p = {.ns = "team", .name = "", .priority_class = "high"};
	cr_assert_str_eq(world_zero_quota(w, &p), "none");
	p.priority_class = NULL;
	cr_assert_null(world_zero_quota(w, &p));
	p = (struct pod){.ns = "other", .name = "", .priority_class = "high"};
	cr_assert_null(world_zero_quota(w, &p));
	world_destroy(w);
}

/* Pods and quotas come and go in any order: world_check agrees after every one. */
Test(quota, sums_agree_whatever_comes)
{
	static const char *const names[] = {"a", "b", "c"}, *const classes[] = {NULL, "high"};
	for (uint64_t seed = 0; seed < 20; seed++) {
		struct rng rng;
		rng_seed(&rng, seed);
		struct world *w = world_create();
		for (int i = 0; i < 300; i++) {
			const char *ns = names[rng_below(&rng, 3)];
			const char *name = names[rng_below(&rng, 3)];
			const char *class = classes[rng_below(&rng, 2)];
			char uid[16];
			snprintf(uid, sizeof uid, "%s/%s/%d", ns, name, (int)rng_below(&rng, 2));
			struct what x = {ns, name, uid, class, (enum pod_phase)rng_below(&rng, 4),
				(int64_t)rng_below(&rng, 3), (int64_t)rng_below(&rng, 900),
				rng_below(&rng, 3) == 0, NULL};
			struct change gone = {.type = CHANGE_GONE,
				.kind = rng_below(&rng, 2) == 0 ? KIND_POD : KIND_QUOTA,
				.ns = ns,
				.name = name};
			switch (rng_below(&rng, 4)) {
			case 0:
				set_quota(w, ns, name, class);
				break;
			case 1:
				world_apply(w, &gone);
				cr_assert_null(world_check(w));
				break;
			default:
				set_pod(w, x);
			}
		}
		world_destroy(w);
	}
}
