/* What is told of a node, and when nothing is. */
#include "tell.h"

#include <criterion/criterion.h>
#include <string.h>

#include "base/str.h"
#include "own/state.h"

#define GIB ((int64_t)1 << 30)

struct bed {
	struct arena arena;
	struct gpu_sample sample;
	struct gpu_reading readings[2];
	struct usage usage;
	struct device_use uses[2];
	struct pod_usage on[4];
	struct node_pods *pods;
	struct cgroup_pods present;
	const char *names[6];
	struct tell tell;
	struct node_state state;
	struct fault fault;
};

static void know(struct bed *b, const char *uid, bool tenant, int64_t gpus)
{
	struct node_pod pod = {.uid = uid,
		.ns = "a",
		.name = uid,
		.tenant = tenant,
		.gpus = gpus,
		.phase = POD_RUNNING};
	cr_assert(node_pods_set(b->pods, &pod));
}

static void begin(struct bed *b)
{
	*b = (struct bed){.pods = node_pods_create(),
		.names = {"agent", "tenant", "whole", "plain", "unknown"}};
	for (int i = 0; i < 2; i++) {
		struct gpu_reading *r = &b->readings[i];
		r->answered = r->processes_told = true;
		snprintf(r->device.identity.uuid, sizeof r->device.identity.uuid, "GPU-%d", i);
		r->figures[FIGURE_FB_TOTAL] = 80 * GIB;
		r->figures[FIGURE_FB_USED] = (i + 1) * GIB;
	}
	b->sample =
		(struct gpu_sample){.devices = b->readings, .device_count = 2, .taken_ms = 5000};
	b->usage = (struct usage){.pods = b->on, .devices = b->uses, .device_count = 2};
	know(b, "agent", false, 0);
	know(b, "tenant", true, 0);
	know(b, "whole", false, 1);
	know(b, "plain", false, 0);
	b->present = (struct cgroup_pods){b->names, 5};
	b->tell = (struct tell){.sample = &b->sample,
		.usage = &b->usage,
		.pods = b->pods,
		.present = &b->present,
		.own_uid = "agent",
		.now_ms = 5700};
}

static void end(struct bed *b)
{
	node_pods_destroy(b->pods);
	arena_finish(&b->arena);
}

static int told(struct bed *b)
{
	return tell_state(&b->tell, &b->arena, &b->state, &b->fault);
}

static void use(struct bed *b, const char *uid, uint32_t device, uint32_t processes, int64_t bytes)
{
	b->on[b->usage.pod_count++] = (struct pod_usage){
		.uid = uid, .device = device, .use = {.processes = processes, .mem_bytes = bytes}};
}

static void expect_pods(struct bed *b, const char *want)
{
	CLEANUP(str_finish) struct str have = STR_INIT(1024);
	for (uint32_t i = 0; i < b->state.pod_count; i++) {
		str_append_format(&have, "%s%s", i > 0 ? " " : "", b->state.pods[i]);
	}
	cr_expect_str_eq(str_text(&have), want);
}

Test(tell, who_may_use_a_device_is_listed_while_its_cgroup_is_there)
{
	struct bed b;
	begin(&b);
	cr_assert_eq(told(&b), 0, "%s", b.fault.message);
	expect_pods(&b, "tenant unknown whole");
	cr_expect_eq(b.state.seen_ms, -700);
	cr_expect(b.state.device_count == 2 && b.state.use_count == 0);
	cr_expect(b.state.devices[1].total_mib == 80 * 1024 && b.state.devices[1].used_mib == 2048);
	cr_expect_null(b.state.devices[0].why);
	b.present.count = 1;
	cr_assert_eq(told(&b), 0, "%s", b.fault.message);
	expect_pods(&b, "");
	end(&b);
}

/* A pod that was granted nothing and has a process on a device all the same is told with it. */
Test(tell, whoever_has_a_process_is_listed_with_what_it_uses)
{
	struct bed b;
	begin(&b);
	use(&b, "plain", 0, 2, 3 * GIB);
	use(&b, "plain", 1, 1, -1);
	use(&b, "tenant", 0, 0, 0);
	cr_assert_eq(told(&b), 0, "%s", b.fault.message);
	expect_pods(&b, "plain tenant unknown whole");
	cr_assert_eq(b.state.use_count, 2, "no process is no use");
	cr_expect(b.state.uses[0].mem_mib == 3072 && b.state.uses[0].processes == 2);
	cr_expect_eq(b.state.uses[1].mem_mib, -1);
	cr_expect_str_eq(b.state.uses[1].uuid, "GPU-1");
	end(&b);
}

/* What is made is what a reader gets, also where devices tell their pods in another order. */
Test(tell, the_answer_reads_as_it_was_meant)
{
	struct bed b;
	begin(&b);
	CLEANUP(str_finish) struct str out = STR_INIT(STATE_BYTES_MAX);
	struct node_state read;
	use(&b, "whole", 0, 1, GIB);
	use(&b, "tenant", 0, 2, 2 * GIB);
	use(&b, "unknown", 1, 3, -1);
	use(&b, "tenant", 1, 4, 4 * GIB);
	cr_assert_eq(told(&b), 0, "%s", b.fault.message);
	b.state.node = "n";
	b.state.boot = "b";
	b.state.sequence = 1;
	cr_assert(state_write(&out, &b.state, 0));
	cr_assert_eq(
		state_decode(out.p, out.len, &b.arena, &read, &b.fault), 0, "%s", b.fault.message);
	static const struct pod_use want[] = {{"tenant", "GPU-0", 2048, 2},
		{"tenant", "GPU-1", 4096, 4}, {"unknown", "GPU-1", -1, 3},
		{"whole", "GPU-0", 1024, 1}};
	cr_assert_eq(read.use_count, COUNT_OF(want));
	for (size_t i = 0; i < COUNT_OF(want); i++) {
		cr_expect_str_eq(read.uses[i].uid, want[i].uid);
		cr_expect_str_eq(read.uses[i].uuid, want[i].uuid);
		cr_expect(read.uses[i].mem_mib == want[i].mem_mib &&
			  read.uses[i].processes == want[i].processes);
	}
	end(&b);
}

/* Where it cannot be told who is on a device, everybody may be. */
Test(tell, blindness_lists_everybody)
{
	struct bed b;
	begin(&b);
	b.readings[1].processes_told = false;
	cr_assert_eq(told(&b), 0);
	expect_pods(&b, "agent plain tenant unknown whole");
	b.readings[1].processes_told = true;
	b.uses[0].blind = true;
	cr_assert_eq(told(&b), 0);
	expect_pods(&b, "agent plain tenant unknown whole");
	end(&b);
}

Test(tell, a_device_that_is_ill_or_silent_says_why)
{
	struct bed b;
	begin(&b);
	b.readings[0].ill = "XID 79";
	b.readings[0].ill_xid = 79;
	b.readings[1].answered = false;
	b.readings[1].ill_xid = 48;
	fault_set(&b.readings[1].fault, FAULT_GONE, "the GPU is lost");
	cr_assert_eq(told(&b), 0);
	cr_expect_str_eq(b.state.devices[0].why, "XID 79");
	cr_expect_eq(b.state.devices[0].cause, ILL_HEARD, "nobody can ask for it again");
	cr_expect_str_eq(b.state.devices[1].why, "the GPU is lost");
	cr_expect_eq(b.state.devices[1].cause, ILL_LOST, "whatever was heard of it before");
	b.readings[0].ill_xid = 0;
	fault_set(&b.readings[1].fault, FAULT_TRANSIENT, "the driver is out of memory");
	cr_assert_eq(told(&b), 0);
	cr_expect_eq(b.state.devices[0].cause, ILL_ASKED);
	cr_expect_eq(b.state.devices[1].cause, ILL_HEARD, "it may answer again as it is");
	cr_expect_eq(b.state.devices[1].total_mib, 0, "what a silent one has is not told");
	b.readings[1].device.identity.uuid[0] = '\0';
	cr_assert_eq(told(&b), 0);
	cr_expect_eq(b.state.device_count, 1, "one that never said its name cannot be told");
	end(&b);
}

Test(tell, what_is_not_whole_is_not_told)
{
	struct bed b;
	begin(&b);
	b.tell.now_ms = 5000 + STATE_FRESH_MS + 1;
	cr_expect_eq(told(&b), -1);
	cr_expect_eq(b.fault.kind, FAULT_TRANSIENT);
	b.tell.now_ms = 5000 + STATE_FRESH_MS;
	cr_expect_eq(told(&b), 0);
	b.usage.host_pid_missing = true;
	cr_expect_eq(told(&b), -1);
	cr_expect_not_null(strstr(b.fault.message, "HostPIDRequired"));
	b.usage.host_pid_missing = false;
	b.names[0] = "another";
	cr_expect_eq(told(&b), -1);
	cr_expect_not_null(strstr(b.fault.message, "cgroups"));
	b.tell.own_uid = NULL;
	cr_expect_eq(told(&b), 0);
	end(&b);
}

static bool nobodys(void *data, int32_t pid, struct mps_owner *ret_owner)
{
	(void)data;
	(void)pid;
	(void)ret_owner;
	return false;
}

Test(tell, a_daemon_of_mps_is_told_where_one_is_expected)
{
	static const char *const uuids[] = {"GPU-1"};
	struct bed b;
	begin(&b);
	cr_assert_eq(told(&b), 0, "%s", b.fault.message);
	cr_expect_eq(b.state.devices[1].mps, MPS_UNSAID);
	struct loop *loop = loop_create();
	struct mps_fleet *fleet = mps_fleet_create(&(struct mps_fleet_options){
		.loop = loop, .root = "/none", .ask_ms = 1000, .owner = nobodys});
	mps_fleet_expect(fleet, uuids, 1);
	b.tell.mps = fleet;
	cr_assert_eq(told(&b), 0, "%s", b.fault.message);
	cr_expect_eq(b.state.devices[0].mps, MPS_UNSAID);
	cr_expect_eq(b.state.devices[1].mps, MPS_STARTING);
	cr_expect_null(b.state.devices[1].mps_why);
	mps_fleet_destroy(fleet);
	loop_destroy(loop);
	end(&b);
}
