/* Where a new pod would find room. */
#include "bed.h"

#include "rooms.h"

struct site {
	struct bed *bed;
	struct rooms rooms;
	struct pod pod; /* who asks */
	struct share want;
	struct room_ask ask;
};

static void init(struct site *s)
{
	*s = (struct site){.bed = bed_new(), .want = {300, 7168}};
	s->ask = (struct room_ask){.world = s->bed->world, .pod = &s->pod, .want = &s->want};
}

static void finish(struct site *s)
{
	rooms_finish(&s->rooms);
	bed_free(s->bed);
}

static void node(struct site *s, int64_t gpus, bool ready, bool tainted)
{
	struct taint taint = {"team", "a", "NoSchedule"};
	struct node n = {.name = "node",
		.uid = "node",
		.resource_version = "2",
		.taints = &taint,
		.taint_count = tainted ? 1 : 0,
		.gpus = gpus,
		.pod_slots = 100,
		.ready = ready};
	struct change c = {.kind = KIND_NODE, .node = &n};
	bed_world(s->bed, &c);
}

/* A capacity pod with one tenant of so much. */
static void capacity(struct site *s, int64_t milli, bool holds)
{
	struct gpu_identity identity = {.uuid = "GPU-1", .mem_mib = BED_MIB};
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
	bed_world(s->bed, &c);
	rooms_clear(&s->rooms);
	rooms_add(&s->rooms, world_pod_by_uid(s->bed->world, "c"), &pod);
}

Test(rooms, a_shared_gpu_comes_before_a_free_one)
{
	struct site s;
	init(&s);
	node(&s, 2, true, false);
	cr_expect_eq(rooms_find(&s.rooms, &s.ask), ROLL_ROOM_FREE);
	capacity(&s, 700, true);
	cr_expect_eq(rooms_find(&s.rooms, &s.ask), ROLL_ROOM_OPEN);
	capacity(&s, 710, true);
	cr_expect_eq(rooms_find(&s.rooms, &s.ask), ROLL_ROOM_FREE);
	node(&s, 1, true, false);
	cr_expect_eq(rooms_find(&s.rooms, &s.ask), ROLL_ROOM_NONE, "the capacity pod has it");
	finish(&s);
}

Test(rooms, who_takes_nobody_has_none)
{
	struct site s;
	init(&s);
	node(&s, 1, true, false);
	capacity(&s, 100, false);
	cr_expect_eq(rooms_find(&s.rooms, &s.ask), ROLL_ROOM_NONE);
	capacity(&s, 100, true);
	s.ask.alone = true;
	cr_expect_eq(rooms_find(&s.rooms, &s.ask), ROLL_ROOM_NONE);
	s.ask.alone = false;
	s.ask.mps = true;
	cr_expect_eq(rooms_find(&s.rooms, &s.ask), ROLL_ROOM_NONE, "of the other mode");
	s.ask.mps = false;
	node(&s, 1, false, false);
	cr_expect_eq(rooms_find(&s.rooms, &s.ask), ROLL_ROOM_NONE, "not ready");
	node(&s, 1, true, true);
	cr_expect_eq(rooms_find(&s.rooms, &s.ask), ROLL_ROOM_NONE, "a taint");
	node(&s, 1, true, false);
	cr_expect_eq(rooms_find(&s.rooms, &s.ask), ROLL_ROOM_OPEN);
	s.want.mib = BED_MIB;
	cr_expect_eq(rooms_find(&s.rooms, &s.ask), ROLL_ROOM_NONE);
	finish(&s);
}

Test(rooms, what_is_given_back_counts)
{
	struct site s;
	const struct share has = {200, 1024};
	init(&s);
	node(&s, 1, true, false);
	capacity(&s, 900, true);
	cr_expect(rooms_fit_after(&s.rooms, &s.ask, "capacity-1", &has));
	s.want.milli = 301;
	cr_expect_not(rooms_fit_after(&s.rooms, &s.ask, "capacity-1", &has));
	cr_expect_not(rooms_fit_after(&s.rooms, &s.ask, "capacity-2", &has));
	finish(&s);
}

Test(rooms, one_gpu_can_be_left_out)
{
	struct site s;
	init(&s);
	node(&s, 1, true, false);
	capacity(&s, 100, true);
	s.ask.apart = "capacity-1";
	cr_expect_eq(rooms_find(&s.rooms, &s.ask), ROLL_ROOM_NONE);
	node(&s, 2, true, false);
	cr_expect_eq(rooms_find(&s.rooms, &s.ask), ROLL_ROOM_FREE);
	node(&s, 1, true, false);
	s.ask.apart = "capacity-2";
	cr_expect_eq(rooms_find(&s.rooms, &s.ask), ROLL_ROOM_OPEN);
	finish(&s);
}
