/* The world: sums that stay right, relists that sweep, names that are reused. */
#include <criterion/criterion.h>
#include <stdio.h>

#include "base/rand.h"
#include "model/names.h"
#include "world/world.h"
#include "../world_check.h"

static struct pod make_pod(const char *name, const char *uid, const char *node, int64_t cpu)
{
	return (struct pod){.ns = "default",
		.name = name,
		.uid = uid,
		.node = node,
		.cpu_milli = cpu,
		.mem_bytes = cpu * 1000,
		.phase = node != NULL ? POD_RUNNING : POD_PENDING,
		.resource_version = "1"};
}

static void set(struct world *w, const struct pod *p)
{
	struct change c = {.type = CHANGE_SET, .kind = KIND_POD, .pod = p};
	world_apply(w, &c);
}

static void gone(struct world *w, const char *name, const char *uid)
{
	struct change c = {
		.type = CHANGE_GONE, .kind = KIND_POD, .ns = "default", .name = name, .uid = uid};
	world_apply(w, &c);
}

static void mark(struct world *w, enum change_type type)
{
	struct change c = {.type = type, .kind = KIND_POD};
	world_apply(w, &c);
}

static const struct world_node *node(struct world *w, const char *name)
{
	return world_node_at(w, world_node_find(w, name));
}

Test(world, sums_follow_bind_finish_and_delete)
{
	struct world *w = world_create();
	struct pod p = make_pod("a", "u1", NULL, 500);
	set(w, &p);
	cr_assert_eq(world_pod_count(w), 1);
	p.node = "n1";
	set(w, &p);
	cr_assert_eq(node(w, "n1")->cpu_milli, 500);
	cr_assert_eq(node(w, "n1")->pods, 1);
	p.phase = POD_SUCCEEDED;
	set(w, &p);
	cr_assert_eq(node(w, "n1")->cpu_milli, 0, "a finished pod uses nothing");
	p.phase = POD_RUNNING;
	set(w, &p);
	gone(w, "a", "u1");
	cr_assert_eq(node(w, "n1")->cpu_milli, 0);
	cr_assert_eq(world_pod_count(w), 0);
	cr_assert_null(world_check(w));
	world_destroy(w);
}

Test(world, what_is_known_already_changes_nothing)
{
	struct world *w = world_create();
	struct pod small = make_pod("a", "u1", "n1", 500);
	struct pod large = make_pod("b", "u2", "n1", 500);
	large.gpus = 1;
	large.resource_version = "7";
	set(w, &small);
	set(w, &large);
	uint64_t version = world_version(w);
	uint64_t policies = world_policy_version(w);
	mark(w, CHANGE_RELIST_BEGIN);
	set(w, &small);
	set(w, &large);
	cr_assert(world_version(w) == version && world_policy_version(w) == policies);
	mark(w, CHANGE_RELIST_END);
	cr_assert_eq(world_pod_count(w), 2, "a picture that says the same keeps them");
	version = world_version(w);
	large.resource_version = "8";
	set(w, &large);
	cr_assert(world_version(w) > version);
	version = world_version(w);
	small.phase = POD_SUCCEEDED;
	set(w, &small);
	cr_assert(world_version(w) > version);
	version = world_version(w);
	struct amount storage = {"ephemeral-storage", 5};
	small.phase = POD_RUNNING;
	set(w, &small);
	small.extra.amounts = (struct amounts){&storage, 1};
	version = world_version(w);
	set(w, &small);
	cr_assert(world_version(w) > version && node(w, "n1")->uses.amounts.count == 1);
	version = world_version(w);
	small.node = "n2";
	set(w, &small);
	cr_assert(world_version(w) > version && node(w, "n1")->pods == 1);
	cr_assert_null(world_check(w));
	world_destroy(w);
}

/* Whoever writes nodeName gets past the scheduler, with any request the API server can store. */
Test(world, absurd_requests_do_not_overflow_the_sums)
{
	struct world *w = world_create();
	const char *names[] = {"a", "b"};
	for (int i = 0; i < 2; i++) {
		struct pod p = make_pod(names[i], names[i], "n1", 1);
		p.cpu_milli = p.mem_bytes = p.gpus = INT64_MAX;
		set(w, &p);
	}
	cr_assert_gt(node(w, "n1")->cpu_milli, 0);
	cr_assert_gt(node(w, "n1")->mem_bytes, 0);
	cr_assert_gt(node(w, "n1")->gpus, 0);
	cr_assert_null(world_check(w));
	for (int i = 0; i < 2; i++) {
		gone(w, names[i], names[i]);
	}
	cr_assert_eq(node(w, "n1")->mem_bytes, 0);
	world_destroy(w);
}

Test(world, a_node_that_is_gone_keeps_its_name_only)
{
	struct world *w = world_create();
	struct node n = {.name = "n1", .gpus = 8};
	struct change change = {.type = CHANGE_SET, .kind = KIND_NODE, .node = &n};
	world_apply(w, &change);
	cr_assert_eq(node(w, "n1")->noun.gpus, 8);
	world_apply(w, &(struct change){.type = CHANGE_GONE, .kind = KIND_NODE, .name = "n1"});
	cr_assert_not(node(w, "n1")->known);
	cr_assert_null(node(w, "n1")->arena.head, "its memory is given back");
	world_apply(w, &change);
	cr_assert_str_eq(node(w, "n1")->noun.name, "n1");
	world_destroy(w);
}

Test(world, a_reused_name_is_another_pod)
{
	struct world *w = world_create();
	struct pod p = make_pod("a", "u1", "n1", 100);
	set(w, &p);
	struct pod q = make_pod("a", "u2", "n2", 200);
	set(w, &q);
	cr_assert_eq(world_pod_count(w), 1);
	cr_assert_eq(node(w, "n1")->cpu_milli, 0);
	cr_assert_eq(node(w, "n2")->cpu_milli, 200);
	gone(w, "a", "u1");
	cr_assert_eq(world_pod_count(w), 1, "a late deletion of the first is not the second's");
	gone(w, "a", "u2");
	cr_assert_eq(world_pod_count(w), 0);
	cr_assert_null(world_check(w));
	world_destroy(w);
}

Test(world, a_relist_synthesises_deletes_only_at_its_end)
{
	struct world *w = world_create();
	mark(w, CHANGE_RELIST_BEGIN);
	struct pod a = make_pod("a", "u1", "n1", 1), b = make_pod("b", "u2", "n1", 2);
	set(w, &a);
	set(w, &b);
	cr_assert_not(world_synced(w, KIND_POD));
	mark(w, CHANGE_RELIST_END);
	cr_assert(world_synced(w, KIND_POD));
	mark(w, CHANGE_RELIST_BEGIN);
	set(w, &a);
	cr_assert_eq(world_pod_count(w), 2, "nothing is swept before the end");
	mark(w, CHANGE_RELIST_BEGIN);
	set(w, &a);
	struct change keep = {.type = CHANGE_KEEP, .kind = KIND_POD, .ns = "default", .name = "b"};
	world_apply(w, &keep);
	mark(w, CHANGE_RELIST_END);
	cr_assert_eq(world_pod_count(w), 2, "what could not be read is not gone");
	mark(w, CHANGE_RELIST_BEGIN);
	struct change blind = {.type = CHANGE_RELIST_END, .kind = KIND_POD, .no_sweep = true};
	world_apply(w, &blind);
	cr_assert_eq(world_pod_count(w), 2);
	mark(w, CHANGE_RELIST_BEGIN);
	set(w, &a);
	mark(w, CHANGE_RELIST_END);
	cr_assert_eq(world_pod_count(w), 1);
	cr_assert_not_null(world_pod_find(w, "default", "a"));
	mark(w, CHANGE_STALE);
	cr_assert_not(world_synced(w, KIND_POD));
	mark(w, CHANGE_FRESH);
	cr_assert(world_synced(w, KIND_POD));
	cr_assert_null(world_check(w));
	world_destroy(w);
}

Test(world, gpu_pods_keep_their_whole_noun)
{
	struct world *w = world_create();
	struct pair labels[] = {{"app", "x"}, {LABEL_TENANT, "true"}};
	struct pair notes[] = {{NOTE_CAPACITY_POD, "capacity-1"}, {NOTE_COMPUTE_MILLI, "250"},
		{NOTE_GPU_UUID, "GPU-1"}, {NOTE_MEMORY_MIB, "20000"}};
	struct pod p = make_pod("t", "u9", "n1", 100);
	p.labels = (struct pairs){labels, 2};
	pairs_sort(&p.labels);
	p.notes = (struct pairs){notes, 4};
	struct toleration tol[] = {{"k", "Exists", NULL, "NoSchedule"}};
	p.tolerations = tol;
	p.toleration_count = 1;
	set(w, &p);
	const struct world_pod *found = world_pod_by_uid(w, "u9");
	cr_assert_not_null(found);
	cr_assert_eq(found->gpu->milli, 250);
	cr_assert_eq(found->gpu->mem_mib, 20000);
	cr_assert_str_eq(found->gpu->uuid, "GPU-1");
	CLEANUP(arena_finish) struct arena a = {0};
	struct pod back;
	cr_assert(world_pod_unpack(found, &a, &back));
	cr_assert_str_eq(back.name, "t");
	cr_assert_str_eq(pairs_get(&back.labels, "app"), "x");
	cr_assert_str_eq(back.tolerations[0].effect, "NoSchedule");
	cr_assert_null(back.tolerations[0].value);
	/* Stripped of everything, it is a plain pod again. */
	struct pod plain = make_pod("t", "u9", "n1", 100);
	set(w, &plain);
	cr_assert_null(world_pod_by_uid(w, "u9"));
	cr_assert_eq(world_class_count(w, WORLD_WHOLE) + world_class_count(w, WORLD_TENANT), 0);
	cr_assert_null(world_check(w));
	world_destroy(w);
}

Test(world, limit_ranges_and_policies_come_and_go)
{
	struct world *w = world_create();
	struct limit_range l = {"team", "lr", true};
	struct change c = {.type = CHANGE_SET, .kind = KIND_LIMIT_RANGE, .limit_range = &l};
	world_apply(w, &c);
	world_apply(w, &c);
	cr_assert_eq(world_namespace_find(w, "team")->gpu_limits, 1);
	c.type = CHANGE_GONE;
	c.ns = "team";
	c.name = "lr";
	world_apply(w, &c);
	cr_assert_eq(world_namespace_find(w, "team")->gpu_limits, 0);
	struct policy p = {.name = "a", .priority = 7, .max_tenants = 16};
	struct change s = {.type = CHANGE_SET, .kind = KIND_POLICY, .policy = &p};
	world_apply(w, &s);
	p.priority = 9;
	world_apply(w, &s);
	uint32_t count = 0;
	cr_assert_eq(world_policies(w, &count)[0]->priority, 9);
	cr_assert_eq(count, 1);
	cr_assert_eq(world_policy_find(w, "a")->priority, 9);
	struct change g = {.type = CHANGE_GONE, .kind = KIND_POLICY, .name = "a"};
	world_apply(w, &g);
	cr_assert_null(world_policy_find(w, "a"));
	world_destroy(w);
}

/* Random sets, deletions and relists over few names: the sums and the indexes must agree after
 * every step. */
Test(world, random_histories_keep_every_sum)
{
	struct world *w = world_create();
	struct rng r;
	rng_seed(&r, 7);
	char name[16], uid[40], on[16];
	for (int step = 0; step < 20000; step++) {
		snprintf(name, sizeof name, "p%d", (int)rng_below(&r, 40));
		snprintf(uid, sizeof uid, "%s-%d", name, (int)rng_below(&r, 3));
		snprintf(on, sizeof on, "n%d", (int)rng_below(&r, 5));
		struct pod p = make_pod(
			name, uid, rng_below(&r, 4) ? on : NULL, (int64_t)rng_below(&r, 100));
		p.gpus = rng_below(&r, 3) == 0 ? 1 : 0;
		struct amount amounts[] = {{"ephemeral-storage", 1 + (int64_t)rng_below(&r, 3)},
			{"example.com/fpga", INT64_MAX}};
		struct host_port ports[] = {
			{80 + (int32_t)rng_below(&r, 2), "TCP", ""}, {53, "UDP", "10.0.0.1"}};
		const char *claims[] = {"data", rng_below(&r, 2) ? "logs" : "scratch"};
		const char *gates[] = {NAME_GATE};
		p.claims = claims;
		p.claim_count = (uint32_t)rng_below(&r, 3);
		p.gates = gates;
		p.gate_count = (uint32_t)rng_below(&r, 2);
		p.extra = (struct extra){
			{amounts, (uint32_t)rng_below(&r, 3)}, {ports, (uint32_t)rng_below(&r, 3)}};
		p.phase = (enum pod_phase)rng_below(&r, 4);
		switch (rng_below(&r, 12)) {
		case 0:
			mark(w, CHANGE_RELIST_BEGIN);
			break;
		case 1:
			mark(w, CHANGE_RELIST_END);
			break;
		case 2:
		case 3:
			gone(w, name, rng_below(&r, 2) ? uid : NULL);
			break;
		default:
			set(w, &p);
			break;
		}
		if (step % 50 == 0) {
			cr_assert_null(world_check(w), "step %d: %s", step, world_check(w));
		}
	}
	world_destroy(w);
}

Test(world, is_blind_until_a_relist_reads_everything)
{
	struct world *w = world_create();
	struct pod known = make_pod("known", "u1", NULL, 1);
	struct change keep = {
		.type = CHANGE_KEEP, .kind = KIND_POD, .ns = "default", .name = "known"};
	set(w, &known);
	world_apply(w, &keep);
	cr_expect_not(world_blind(w, KIND_POD), "that one is known");
	keep.ns = keep.name = NULL;
	world_apply(w, &keep);
	cr_expect(world_blind(w, KIND_POD));
	mark(w, CHANGE_RELIST_BEGIN);
	cr_expect(world_blind(w, KIND_POD));
	mark(w, CHANGE_RELIST_END);
	cr_expect_not(world_blind(w, KIND_POD));
	mark(w, CHANGE_RELIST_BEGIN);
	cr_expect(world_blind(w, KIND_POD), "what is told first may name what is told last");
	keep.ns = keep.name = NULL;
	world_apply(w, &keep);
	mark(w, CHANGE_RELIST_END);
	cr_expect(world_blind(w, KIND_POD));
	cr_expect_not(world_blind(w, KIND_NODE));
	keep.kind = KIND_NODE;
	world_apply(w, &keep);
	cr_expect(world_blind(w, KIND_NODE), "a nameless node is no crash");
	world_destroy(w);
}

static void keep_pod(struct world *w, const char *ns, const char *name)
{
	world_apply(
		w, &(struct change){.type = CHANGE_KEEP, .kind = KIND_POD, .ns = ns, .name = name});
}

/* Somebody's unreadable pod says nothing of the pods of others. */
Test(world, a_pod_that_is_unread_is_known_by_its_name)
{
	struct world *w = world_create();
	struct pod same = make_pod("m", "u1", NULL, 1);
	keep_pod(w, "default", "m");
	cr_expect_not(world_blind(w, KIND_POD));
	cr_expect(world_pod_unread(w, "default", "m"));
	cr_expect(world_pod_unread(w, "default", NULL) && world_pod_unread(w, NULL, NULL));
	cr_expect_not(world_pod_unread(w, "default", "n"));
	cr_expect_not(world_pod_unread(w, "other", "m") || world_pod_unread(w, "other", NULL));
	set(w, &same);
	cr_expect_not(world_pod_unread(w, NULL, NULL), "it can be read now");
	keep_pod(w, "other", "m");
	world_apply(w, &(struct change){
			       .type = CHANGE_GONE, .kind = KIND_POD, .ns = "other", .name = "m"});
	cr_expect_not(world_pod_unread(w, NULL, NULL), "it is gone");
	keep_pod(w, "other", "before");
	mark(w, CHANGE_RELIST_BEGIN);
	cr_expect(world_pod_unread(w, "any", "x"), "a relist is on its way");
	keep_pod(w, "other", "met");
	set(w, &same);
	mark(w, CHANGE_RELIST_END);
	cr_expect(world_pod_unread(w, "other", "met"));
	cr_expect_not(world_pod_unread(w, "other", "before") || world_pod_unread(w, "any", "x"));
	world_destroy(w);
}

/* However many somebody makes, it is their own namespace that is not seen. */
Test(world, very_many_unread_pods_hide_their_own_namespace_only)
{
	struct world *w = world_create();
	for (int i = 0; i < 100000; i++) {
		char name[32];
		snprintf(name, sizeof name, "m-%d", i);
		keep_pod(w, "mallory", name);
	}
	keep_pod(w, "odd", "");
	cr_expect(world_pod_unread(w, "mallory", "never-made") && world_pod_unread(w, "odd", "x"));
	cr_expect_not(world_pod_unread(w, "default", NULL) || world_blind(w, KIND_POD));
	mark(w, CHANGE_RELIST_BEGIN);
	mark(w, CHANGE_RELIST_END);
	cr_expect_not(world_pod_unread(w, NULL, NULL));
	world_destroy(w);
}

/* What is known of a claim lasts as long as anybody waits with it, whatever is told of them. */
Test(world, a_claim_is_kept_while_a_tenant_with_our_gate_names_it)
{
	struct world *w = world_create();
	const char *claims[] = {"data"}, *gates[] = {NAME_GATE};
	struct volume_claim bound = {.ns = "default", .name = "data", .state = CLAIM_BOUND};
	struct change told = {.type = CHANGE_SET, .kind = KIND_CLAIM, .claim = &bound};
	struct pod a = make_pod("a", "ua", NULL, 0), b = make_pod("b", "ub", NULL, 0);
	a.claims = b.claims = claims;
	a.claim_count = b.claim_count = 1;
	a.gates = b.gates = gates;
	world_apply(w, &told);
	cr_expect_null(world_claim_find(w, "default", "data"), "nobody names it");
	set(w, &b);
	cr_expect_null(world_claim_find(w, "default", "data"), "nor one without our gate");
	a.gate_count = b.gate_count = 1;
	uint64_t version = world_claims_version(w);
	set(w, &a);
	cr_expect_eq(world_claim_find(w, "default", "data")->state, CLAIM_UNREAD);
	cr_expect_neq(world_claims_version(w), version);
	world_apply(w, &told);
	set(w, &b);
	set(w, &a);
	cr_expect_eq(world_claim_find(w, "default", "data")->state, CLAIM_BOUND);
	a.gate_count = 0;
	set(w, &a);
	cr_expect_eq(world_claim_find(w, "default", "data")->state, CLAIM_BOUND);
	version = world_claims_version(w);
	b.phase = POD_FAILED;
	set(w, &b);
	cr_expect_null(world_claim_find(w, "default", "data"));
	cr_expect_neq(world_claims_version(w), version);
	cr_expect_null(world_check(w));
	world_destroy(w);
}

static void slice(struct world *w, const char *name, const char *on)
{
	struct gpu_slice s = {name, on};
	struct change c = {.type = CHANGE_SET, .kind = KIND_SLICE, .slice = &s};
	world_apply(w, &c);
	cr_assert_null(world_check(w));
}

/* C27: slices may come before their node, move, and go with a relist. */
Test(world, slices_are_counted_on_their_nodes)
{
	struct world *w = world_create();
	struct change begin = {.type = CHANGE_RELIST_BEGIN, .kind = KIND_SLICE},
		      end = {.type = CHANGE_RELIST_END, .kind = KIND_SLICE},
		      keep = {.type = CHANGE_KEEP, .kind = KIND_SLICE, .name = "a"},
		      gone = {.type = CHANGE_GONE, .kind = KIND_SLICE, .name = "c"};
	slice(w, "a", "n1");
	slice(w, "b", "n1");
	slice(w, "c", "n2");
	slice(w, "d", NULL);
	cr_expect_eq(node(w, "n1")->dra_slices, 2);
	slice(w, "b", "n2");
	cr_expect_eq(node(w, "n2")->dra_slices, 2);
	world_apply(w, &gone);
	cr_expect_eq(node(w, "n2")->dra_slices, 1);
	world_apply(w, &begin);
	world_apply(w, &keep);
	world_apply(w, &end);
	cr_expect_eq(node(w, "n1")->dra_slices, 1);
	cr_expect_eq(node(w, "n2")->dra_slices, 0);
	cr_expect_null(world_check(w));
	cr_expect_not(world_all_synced(w));
	world_destroy(w);
}
