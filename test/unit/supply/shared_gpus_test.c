/* Where a new pod would find room. */
#include <criterion/criterion.h>

#include "model/names.h"
#include "size/builtin.h"
#include "supply/shared_gpus.h"

#define GPU_MIB 81920

struct site {
	struct world *world; /* owned */
	struct shared_gpus rooms;
	struct pod pod; /* who asks */
	struct share want;
	struct share_query ask;
	struct devices devices;
	const char *memory; /* of the node's GPUs */
	int64_t slots;
	/* of all tenants */
	struct policy policy;
	struct workload_key key;
};

static void init(struct site *s)
{
	*s = (struct site){.world = world_create(), .want = {300, 7168}};
	s->ask = (struct share_query){
		.world = s->world, .pod = &s->pod, .want = &s->want, .devices = &s->devices};
	s->policy = *policy_builtin();
	s->key = (struct workload_key){"team", "apps", "Deployment", "other"};
	devices_init(&s->devices);
}

static void finish(struct site *s)
{
	VEC_FINISH(&s->rooms.list);
	devices_finish(&s->devices);
	world_destroy(s->world);
}

static void node(struct site *s, int64_t gpus, bool ready, bool tainted)
{
	struct taint taint = {"team", "a", "NoSchedule"};
	struct pair label = {"nvidia.com/gpu.memory", text_or(s->memory, "81920")};
	struct node n = {.name = "node",
		.uid = "node",
		.resource_version = "2",
		.taints = &taint,
		.taint_count = tainted ? 1 : 0,
		.labels = {&label, 1},
		.cpu_milli = 4000,
		.mem_bytes = INT64_C(1) << 34,
		.gpus = gpus,
		.pod_slots = s->slots > 0 ? s->slots : 100,
		.ready = ready};
	struct change c = {.kind = KIND_NODE, .node = &n};
	world_apply(s->world, &c);
	VEC_CLEAR(&s->devices.found);
	devices_see(&s->devices, s->world, world_node_find(s->world, "node"));
	devices_settle(&s->devices, s->world);
}

/* A capacity pod with one tenant of so much. */
static void capacity(struct site *s, int64_t milli, bool holds)
{
	struct gpu_identity identity = {.uuid = "GPU-1", .mem_mib = GPU_MIB};
	struct grant grant = {"t", "team", "t", milli, 1024};
	struct pair label = {LABEL_CAPACITY, "true"};
	struct pod pod = {.ns = NAME_NAMESPACE,
		.name = "capacity-1",
		.uid = "c",
		.resource_version = "1",
		.node = "node",
		.phase = POD_RUNNING,
		.labels = {&label, 1},
		.gpus = 1,
		.holds = holds,
		.identity = &identity,
		.ledger = {&grant, 1}};
	struct change c = {.kind = KIND_POD, .pod = &pod};
	world_apply(s->world, &c);
	const struct gpu_tenant tenant = {&s->policy, &s->key};
	VEC_CLEAR(&s->rooms.list);
	shared_gpus_add(&s->rooms, world_pod_by_uid(s->world, "c"), &pod, &tenant);
}

Test(shared_gpus, a_shared_gpu_comes_before_a_free_one)
{
	struct site s;
	init(&s);
	node(&s, 2, true, false);
	cr_expect_eq(shared_gpus_find(&s.rooms, &s.ask), ROLL_ROOM_FREE);
	capacity(&s, 700, true);
	cr_expect_eq(shared_gpus_find(&s.rooms, &s.ask), ROLL_ROOM_OPEN);
	capacity(&s, 710, true);
	cr_expect_eq(shared_gpus_find(&s.rooms, &s.ask), ROLL_ROOM_FREE);
	node(&s, 1, true, false);
	cr_expect_eq(shared_gpus_find(&s.rooms, &s.ask), ROLL_ROOM_NONE, "the capacity pod has it");
	finish(&s);
}

Test(shared_gpus, who_takes_nobody_has_none)
{
	struct site s;
	init(&s);
	node(&s, 1, true, false);
	capacity(&s, 100, false);
	cr_expect_eq(shared_gpus_find(&s.rooms, &s.ask), ROLL_ROOM_NONE);
	capacity(&s, 100, true);
	s.ask.sharing_group = SHARED_BY_NOBODY;
	cr_expect_eq(shared_gpus_find(&s.rooms, &s.ask), ROLL_ROOM_NONE);
	s.ask.sharing_group = SHARED_BY_ANYBODY;
	s.ask.mps = true;
	cr_expect_eq(shared_gpus_find(&s.rooms, &s.ask), ROLL_ROOM_NONE, "of the other mode");
	s.ask.mps = false;
	node(&s, 1, false, false);
	cr_expect_eq(shared_gpus_find(&s.rooms, &s.ask), ROLL_ROOM_NONE, "not ready");
	node(&s, 1, true, true);
	cr_expect_eq(shared_gpus_find(&s.rooms, &s.ask), ROLL_ROOM_NONE, "a taint");
	node(&s, 1, true, false);
	cr_expect_eq(shared_gpus_find(&s.rooms, &s.ask), ROLL_ROOM_OPEN);
	s.want.mib = GPU_MIB;
	cr_expect_eq(shared_gpus_find(&s.rooms, &s.ask), ROLL_ROOM_NONE);
	finish(&s);
}

Test(shared_gpus, what_is_given_back_counts)
{
	struct site s;
	const struct share has = {200, 1024};
	init(&s);
	node(&s, 1, true, false);
	capacity(&s, 900, true);
	cr_expect(shared_gpus_fit_after(&s.rooms, &s.ask, "capacity-1", &has));
	s.want.milli = 301;
	cr_expect_not(shared_gpus_fit_after(&s.rooms, &s.ask, "capacity-1", &has));
	cr_expect_not(shared_gpus_fit_after(&s.rooms, &s.ask, "capacity-2", &has));
	finish(&s);
}

Test(shared_gpus, a_gpu_that_is_too_small_is_no_room)
{
	struct site s;
	init(&s);
	s.memory = "24576";
	s.want.mib = 24000;
	node(&s, 2, true, false);
	cr_expect_eq(shared_gpus_find(&s.rooms, &s.ask), ROLL_ROOM_NONE);
	s.want.mib = 20000;
	cr_expect_eq(shared_gpus_find(&s.rooms, &s.ask), ROLL_ROOM_FREE);
	s.memory = "";
	s.want.mib = 24000;
	node(&s, 2, true, false);
	cr_expect_eq(shared_gpus_find(&s.rooms, &s.ask), ROLL_ROOM_FREE, "nobody knows");
	finish(&s);
}

/* A GPU is opened by one pod more. */
Test(shared_gpus, a_node_that_opens_a_gpu_has_room_for_its_capacity_pod)
{
	struct site s;
	init(&s);
	s.slots = 1;
	node(&s, 2, true, false);
	cr_expect_eq(shared_gpus_find(&s.rooms, &s.ask), ROLL_ROOM_NONE);
	s.slots = 2;
	node(&s, 2, true, false);
	cr_expect_eq(shared_gpus_find(&s.rooms, &s.ask), ROLL_ROOM_FREE);
	s.pod.cpu_milli = 4000;
	cr_expect_eq(shared_gpus_find(&s.rooms, &s.ask), ROLL_ROOM_NONE);
	finish(&s);
}

Test(shared_gpus, as_many_as_the_policies_of_all_allow)
{
	struct site s;
	const struct share has = {100, 1024};
	init(&s);
	node(&s, 1, true, false);
	s.policy.max_tenants = 1;
	capacity(&s, 100, true);
	cr_expect_eq(shared_gpus_find(&s.rooms, &s.ask), ROLL_ROOM_NONE, "who is there says so");
	cr_expect(
		shared_gpus_fit_after(&s.rooms, &s.ask, "capacity-1", &has), "it takes its place");
	s.policy.max_tenants = 2;
	capacity(&s, 100, true);
	cr_expect_eq(shared_gpus_find(&s.rooms, &s.ask), ROLL_ROOM_OPEN);
	s.ask.most = 1;
	cr_expect_eq(shared_gpus_find(&s.rooms, &s.ask), ROLL_ROOM_NONE, "who comes says so");
	finish(&s);
}

Test(shared_gpus, whom_others_keep_away_has_none)
{
	struct site s;
	struct workload_key other = {"team", "apps", "Deployment", "another"};
	init(&s);
	node(&s, 1, true, false);
	s.policy.exclusivity = EXCLUSIVITY_DEDICATED;
	capacity(&s, 100, true);
	cr_expect_eq(shared_gpus_find(&s.rooms, &s.ask), ROLL_ROOM_NONE);
	s.ask.sharing_group = SHARED_BY_NOBODY;
	cr_expect_eq(shared_gpus_find(&s.rooms, &s.ask), ROLL_ROOM_NONE);
	s.policy.exclusivity = EXCLUSIVITY_SAME;
	capacity(&s, 100, true);
	s.ask.sharing_group = sharing_group_of(EXCLUSIVITY_SAME, &s.key);
	cr_expect_eq(shared_gpus_find(&s.rooms, &s.ask), ROLL_ROOM_OPEN, "its own");
	s.ask.sharing_group = sharing_group_of(EXCLUSIVITY_SAME, &other);
	cr_expect_eq(shared_gpus_find(&s.rooms, &s.ask), ROLL_ROOM_NONE);
	s.ask.sharing_group = SHARED_BY_ANYBODY;
	cr_expect_eq(shared_gpus_find(&s.rooms, &s.ask), ROLL_ROOM_NONE);
	finish(&s);
}

/* Somebody else gives its GPUs out. */
Test(shared_gpus, a_node_of_others_has_none)
{
	struct site s;
	init(&s);
	struct node n = {.name = "node",
		.uid = "node",
		.resource_version = "3",
		.shares_already = true,
		.gpus = 4,
		.pod_slots = 100,
		.ready = true};
	struct change c = {.kind = KIND_NODE, .node = &n};
	world_apply(s.world, &c);
	cr_expect_eq(shared_gpus_find(&s.rooms, &s.ask), ROLL_ROOM_NONE);
	finish(&s);
}

Test(shared_gpus, no_node_is_added_that_is_like_one_of_kai)
{
	struct site s;
	struct pod kai = {.ns = "team", .name = "k", .uid = "k", .node = "node"};
	struct change c = {.kind = KIND_POD, .pod = &kai};
	init(&s);
	node(&s, 4, true, false);
	cr_expect(shared_gpus_could_be_added(&s.ask));
	kai.scheduler = "kai-scheduler";
	kai.gpus = 1;
	world_apply(s.world, &c);
	cr_expect_not(shared_gpus_could_be_added(&s.ask));
	finish(&s);
}

Test(shared_gpus, some_gpus_can_be_left_out)
{
	struct site s;
	init(&s);
	node(&s, 1, true, false);
	capacity(&s, 100, true);
	const uint64_t both[] = {hash_text("capacity-2"), hash_text("capacity-1")};
	s.ask.avoided = both;
	s.ask.avoided_count = 2;
	cr_expect_eq(shared_gpus_find(&s.rooms, &s.ask), ROLL_ROOM_NONE);
	node(&s, 2, true, false);
	cr_expect_eq(shared_gpus_find(&s.rooms, &s.ask), ROLL_ROOM_FREE);
	node(&s, 1, true, false);
	s.ask.avoided_count = 1;
	cr_expect_eq(shared_gpus_find(&s.rooms, &s.ask), ROLL_ROOM_OPEN);
	finish(&s);
}

/* A node like one that is there; what that has free does not matter. */
Test(shared_gpus, a_node_could_be_added)
{
	struct site s;
	struct pair pool = {"pool", "none"};
	init(&s);
	s.memory = "24576";
	node(&s, 1, false, false);
	cr_expect_eq(shared_gpus_find(&s.rooms, &s.ask), ROLL_ROOM_NONE);
	cr_expect(shared_gpus_could_be_added(&s.ask));
	s.want.mib = 24576;
	cr_expect_not(shared_gpus_could_be_added(&s.ask), "its GPUs are too small");
	s.want.mib = 7168;
	s.pod.node_selector = (struct pairs){&pool, 1};
	cr_expect_not(shared_gpus_could_be_added(&s.ask), "it may not go there");
	finish(&s);
}
