/* Who uses what. */
#include "usage_bed.h"

static struct bed bed;

static void begin(void)
{
	bed_init(&bed, 2);
}

static void end(void)
{
	bed_finish(&bed);
}

TestSuite(attribute, .init = begin, .fini = end);

static uint32_t lost(uint32_t device, enum loss why)
{
	return bed.usage.devices[device].lost_by[why];
}

/* Scenario 15. */
Test(attribute, adds_up_per_container_and_pod)
{
	bed_tenant(&bed, "a", "GPU-0");
	bed_tenant(&bed, "b", "GPU-0");
	bed_runs(&bed, 0, 1, "a", 10);
	bed_runs(&bed, 0, 2, "a", 5);
	bed_in_pod(&bed, 3, "a", "side-id");
	bed_process(&bed, 0, 3, 20, 50);
	for (uint32_t pid = 4; pid < 7; pid++) {
		bed_runs(&bed, 0, pid, "b", 3);
	}
	bed_make(&bed);
	const struct container_use *main = bed_line(&bed, 0, "a", "main");
	const struct container_use *side = bed_line(&bed, 0, "a", "side");
	cr_assert_eq(main->use.sm, 15000);
	cr_assert_eq(main->use.mem_bytes, 200 * BED_MIB);
	cr_assert_eq(main->use.processes, 2);
	cr_assert(main->first && !side->first);
	cr_assert_eq(side->use.sm, 20000);
	const struct pod_usage *a = bed_pod_usage(&bed, 0, "a"), *b = bed_pod_usage(&bed, 0, "b");
	cr_assert(a->charged && b->charged);
	cr_assert_eq(a->use.sm, 35000);
	cr_assert_eq(a->use.mem_bytes, 250 * BED_MIB);
	cr_assert_eq(a->use.processes, 3);
	cr_assert_eq(b->use.sm, 9000);
	cr_assert_eq(b->use.processes, 3);
	cr_assert_null(a->use.source);
	cr_assert_not(bed.usage.devices[0].scaled);
}

static int64_t sum_of_pods(uint32_t device)
{
	int64_t sum = 0;
	for (uint32_t i = 0; i < bed.usage.container_count; i++) {
		sum += bed.usage.containers[i].device == device ? bed.usage.containers[i].use.sm
								: 0;
	}
	return sum;
}

/* Scenario 15, the rest of it. */
Test(attribute, pods_together_use_no_more_than_the_device)
{
	bed_tenant(&bed, "a", "GPU-0");
	bed_tenant(&bed, "b", "GPU-0");
	bed_runs(&bed, 0, 1, "a", 60);
	bed_runs(&bed, 0, 2, "b", 30);
	bed_place(&bed, 3, PLACE_HOST);
	bed_process(&bed, 0, 3, 30, 10);
	bed.devices[0].figures[FIGURE_GPU_UTIL] = 80000;
	bed.devices[0].figures[FIGURE_PROF_GR_ENGINE_ACTIVE] = 700;
	bed_make(&bed);
	cr_assert(bed.usage.devices[0].scaled);
	const struct pod_usage *a = bed_pod_usage(&bed, 0, "a");
	cr_assert_eq(a->use.sm, 40000);
	cr_assert_str_eq(a->use.source, "scaled");
	cr_assert_eq(bed.usage.devices[0].lost.sm, 20000);
	cr_assert_eq(sum_of_pods(0), 60000);
	cr_assert_null(bed_line(&bed, 1, "a", "main"));
}

/* What the device did in its last moments says nothing of the time since the last look: only a
 * whole device limits where there is no better count. */
Test(attribute, without_gpm_only_the_whole_device_limits)
{
	bed_tenant(&bed, "a", "GPU-0");
	bed_tenant(&bed, "b", "GPU-0");
	bed_runs(&bed, 0, 1, "a", 40);
	bed_runs(&bed, 0, 2, "b", 40);
	bed.devices[0].figures[FIGURE_GPU_UTIL] = 0;
	bed_make(&bed);
	cr_assert_not(bed.usage.devices[0].scaled);
	cr_assert_eq(sum_of_pods(0), 80000);
	bed_process(&bed, 0, 2, 80, 10);
	bed_make(&bed);
	cr_assert(bed.usage.devices[0].scaled);
	cr_assert(sum_of_pods(0) <= 100000 && sum_of_pods(0) >= 99998);
}

Test(attribute, the_largest_part_is_believed_before_the_whole)
{
	bed_tenant(&bed, "a", "GPU-0");
	bed_runs(&bed, 0, 1, "a", 60);
	bed.devices[0].figures[FIGURE_GPU_UTIL] = 0; /* just now, not since the last sample */
	bed.devices[0].figures[FIGURE_PROF_GR_ENGINE_ACTIVE] = 100;
	bed_make(&bed);
	cr_assert_eq(bed_pod_usage(&bed, 0, "a")->use.sm, 60000);
	cr_assert_not(bed.usage.devices[0].scaled);
}

Test(attribute, a_container_uses_a_whole_device_at_most)
{
	bed_tenant(&bed, "a", "GPU-0");
	bed_runs(&bed, 0, 1, "a", 90);
	bed_runs(&bed, 0, 2, "a", 90);
	bed_in_pod(&bed, 3, "a", "side-id");
	bed_process(&bed, 0, 3, 50, 1);
	bed_make(&bed);
	cr_assert_leq(bed_pod_usage(&bed, 0, "a")->use.sm, USE_FULL);
	cr_assert_eq(bed_line(&bed, 0, "a", "main")->use.sm, 66666);
	cr_assert_eq(sum_of_pods(0), 99999);
}

/* Scenario 16. */
Test(attribute, a_name_never_reaches_another_device)
{
	bed_capacity(&bed, "hold-0", "GPU-0");
	bed_capacity(&bed, "hold-1", "GPU-1");
	bed_tenant(&bed, "mine", "GPU-0");
	bed_tenant(&bed, "roams", "GPU-1");
	bed_whole(&bed, "whole");
	bed_runs(&bed, 0, 1, "mine", 10);
	bed_runs(&bed, 0, 2, "roams", 20);  /* granted another one */
	bed_runs(&bed, 0, 3, "whole", 5);   /* not ours, on a shared one */
	bed_runs(&bed, 0, 4, "deleted", 5); /* not known any more */
	bed_runs(&bed, 0, 5, "hold-0", 1);
	bed_make(&bed);
	cr_assert_eq(lost(0, LOSS_NOT_GRANTED), 1);
	cr_assert_eq(lost(0, LOSS_NOT_MANAGED), 1);
	cr_assert_eq(lost(0, LOSS_UNKNOWN_POD), 1);
	cr_assert_eq(lost(0, LOSS_CAPACITY), 1);
	cr_assert_eq(bed.usage.devices[0].lost.sm, 31000);
	cr_assert_eq(bed.usage.devices[0].lost.processes, 4);
	for (uint32_t i = 0; i < bed.usage.container_count; i++) {
		const struct container_use *c = &bed.usage.containers[i];
		const char *owner = c->device == 0 ? "mine" : "roams";
		cr_assert_str_eq(c->pod->name, owner);
	}
	/* For the state of the node they are all there. */
	cr_assert_not(bed_pod_usage(&bed, 0, "roams")->charged);
	cr_assert_eq(bed_pod_usage(&bed, 0, "deleted")->use.processes, 1);
	cr_assert_null(bed_pod_usage(&bed, 0, "deleted")->pod);
	cr_assert_eq(bed_pod_usage(&bed, 0, "whole")->use.mem_bytes, 100 * BED_MIB);
}

Test(attribute, a_pod_of_a_whole_gpu_has_its_own_lines)
{
	bed_tenant(&bed, "mine", "GPU-0");
	bed_whole(&bed, "whole");
	bed_runs(&bed, 1, 1, "whole", 70);
	bed_make(&bed);
	cr_assert_eq(bed_line(&bed, 1, "whole", "main")->use.sm, 70000);
	cr_assert(bed_pod_usage(&bed, 1, "whole")->charged);
	cr_assert(bed.usage.devices[0].shared);
	cr_assert_not(bed.usage.devices[1].shared);
}

/* What replaces a pod under the same name does not get the bill of what was there before. */
Test(attribute, a_name_that_is_used_again_is_another_pod)
{
	const char *uuid = "GPU-0";
	bed_pod(&bed, (struct node_pod){.uid = "new",
			      .name = "web-0",
			      .phase = POD_RUNNING,
			      .tenant = true,
			      .uuids = &uuid,
			      .uuid_count = 1,
			      .gpu_container = "main"});
	bed_runs(&bed, 0, 1, "old", 40);
	bed_make(&bed);
	cr_assert_eq(bed_line(&bed, 0, "web-0", "main")->use.sm, 0);
	cr_assert_eq(lost(0, LOSS_UNKNOWN_POD), 1);
}

/* Scenario 13. */
Test(attribute, a_process_that_ended_is_charged_to_nobody)
{
	bed_tenant(&bed, "a", "GPU-0");
	bed_place(&bed, 1, PLACE_GONE);
	bed_process(&bed, 0, 1, 40, 100);
	bed_make(&bed);
	cr_assert_eq(bed.usage.gone, 1);
	cr_assert_eq(lost(0, LOSS_GONE), 1);
	cr_assert_eq(bed_line(&bed, 0, "a", "main")->use.sm, 0);
	cr_assert_eq(bed.usage.devices[0].lost.sm, 40000);
}

/* Scenario 14. */
Test(attribute, nobody_is_idle_where_no_process_can_be_found)
{
	bed_tenant(&bed, "a", "GPU-0");
	bed_place(&bed, 1, PLACE_GONE);
	bed_process(&bed, 0, 1, 40, 100);
	bed.places.host_pid_missing = true;
	bed_make(&bed);
	cr_assert(bed.usage.host_pid_missing);
	cr_assert_eq(bed.usage.container_count, 0);
	cr_assert_eq(bed_pod_usage(&bed, 0, "a")->use.sm, -1);
	cr_assert_eq(bed_pod_usage(&bed, 0, "a")->use.mem_bytes, -1);
	cr_assert_not(bed_pod_usage(&bed, 0, "a")->charged);
}

Test(attribute, nobody_is_idle_beside_a_process_that_cannot_be_read)
{
	bed_tenant(&bed, "a", "GPU-0");
	bed_tenant(&bed, "b", "GPU-1");
	bed_place(&bed, 1, PLACE_UNREAD);
	bed_process(&bed, 0, 1, 40, 100);
	bed_process(&bed, 0, 2, 1, 1); /* not even listed */
	bed_make(&bed);
	cr_assert_eq(lost(0, LOSS_UNREAD), 2);
	cr_assert(bed.usage.devices[0].blind);
	cr_assert_null(bed_line(&bed, 0, "a", "main"));
	cr_assert_not_null(bed_line(&bed, 1, "b", "main"), "the other device is not concerned");
}

Test(attribute, nobody_is_idle_where_the_driver_lists_no_processes)
{
	bed_tenant(&bed, "a", "GPU-0");
	bed.devices[0].processes_told = false;
	bed_make(&bed);
	cr_assert_eq(bed.usage.container_count, 0);
	cr_assert_eq(bed_pod_usage(&bed, 0, "a")->use.sm, -1);
}

Test(attribute, a_device_without_a_name_is_nobodys)
{
	bed_tenant(&bed, "a", "");
	bed.devices[0].device.identity.uuid[0] = '\0';
	bed_make(&bed);
	cr_assert_eq(bed.usage.pod_count, 0);
	cr_assert_not(bed.usage.devices[0].shared);
}

/* Scenario 18. */
Test(attribute, an_idle_pod_uses_nothing_and_a_deleted_one_has_no_line)
{
	bed_tenant(&bed, "a", "GPU-0");
	bed_make(&bed);
	const struct container_use *line = bed_line(&bed, 0, "a", "main");
	cr_assert_eq(line->use.sm, 0);
	cr_assert_eq(line->use.mem_bytes, 0);
	cr_assert_eq(line->use.enc, 0);
	cr_assert_eq(line->use.processes, 0);
	node_pods_remove(bed.pods, "a");
	bed_runs(&bed, 0, 1, "a", 40);
	bed_make(&bed);
	cr_assert_eq(bed.usage.container_count, 0);
	cr_assert_eq(lost(0, LOSS_UNKNOWN_POD), 1);
}

Test(attribute, who_does_not_run_is_not_idle)
{
	const char *uuid = "GPU-0";
	static const enum pod_phase phases[] = {
		POD_PENDING, POD_UNKNOWN, POD_SUCCEEDED, POD_FAILED};
	static const char *const uids[] = {"pending", "unknown", "succeeded", "failed"};
	for (size_t i = 0; i < COUNT_OF(phases); i++) {
		bed_pod(&bed, (struct node_pod){.uid = uids[i],
				      .phase = phases[i],
				      .tenant = true,
				      .uuids = &uuid,
				      .uuid_count = 1});
	}
	bed_make(&bed);
	cr_assert_eq(bed.usage.container_count, 0);
	cr_assert_eq(bed.usage.pod_count, 2, "who may use the device is there, who ended is not");
	cr_assert_not_null(bed_pod_usage(&bed, 0, "pending"));
}

Test(attribute, a_device_that_does_not_answer_says_nothing_of_pods)
{
	bed_tenant(&bed, "a", "GPU-0");
	bed.devices[0].answered = false;
	bed_make(&bed);
	cr_assert_eq(bed.usage.container_count, 0);
	cr_assert_eq(bed_pod_usage(&bed, 0, "a")->use.mem_bytes, -1);
}

/* Scenarios 6 and 11. */
Test(attribute, what_is_not_told_is_not_zero)
{
	bed_tenant(&bed, "a", "GPU-0");
	bed_tenant(&bed, "b", "GPU-0");
	bed.devices[0].process_use = false;
	bed_runs(&bed, 0, 1, "a", 0)->sm = -1;
	struct gpu_process *second = bed_runs(&bed, 0, 2, "a", 0);
	second->sm = second->enc = -1;
	second->mem_bytes = -1;
	bed_make(&bed);
	const struct use *a = &bed_pod_usage(&bed, 0, "a")->use;
	cr_assert_eq(a->sm, -1);
	cr_assert_eq(a->mem_bytes, -1, "half of it is not all of it");
	cr_assert_eq(a->processes, 2);
	const struct use *b = &bed_line(&bed, 0, "b", "main")->use;
	cr_assert_eq(b->sm, -1, "the device cannot tell");
	cr_assert_eq(b->mem_bytes, 0, "but there is no process");
}

Test(attribute, a_container_that_is_new_is_the_one_with_the_device)
{
	bed_tenant(&bed, "a", "GPU-0");
	bed_in_pod(&bed, 1, "a", "id-of-today");
	bed_process(&bed, 0, 1, 10, 10);
	bed_pod(&bed, (struct node_pod){.uid = "w", .phase = POD_RUNNING});
	bed_in_pod(&bed, 2, "w", "id-of-today");
	bed_process(&bed, 1, 2, 10, 10);
	bed_make(&bed);
	cr_assert_eq(bed_line(&bed, 0, "a", "main")->use.sm, 10000);
	cr_assert_not_null(bed_line(&bed, 1, "w", ""), "one of two: it is not known which");
}

Test(attribute, one_pod_on_several_devices)
{
	const char *uuids[] = {"GPU-1", "GPU-0"};
	bed_pod(&bed, (struct node_pod){.uid = "a",
			      .phase = POD_RUNNING,
			      .tenant = true,
			      .uuids = uuids,
			      .uuid_count = 2,
			      .gpu_container = "main"});
	bed_in_pod(&bed, 1, "a", "a");
	bed_process(&bed, 0, 1, 10, 10);
	bed_process(&bed, 1, 1, 20, 30);
	bed_make(&bed);
	cr_assert_eq(bed_pod_usage(&bed, 0, "a")->use.sm, 10000);
	cr_assert_eq(bed_pod_usage(&bed, 1, "a")->use.mem_bytes, 30 * BED_MIB);
}

Test(attribute, lines_come_in_order)
{
	static const char *const uids[] = {"c", "a", "b"};
	for (size_t i = 0; i < COUNT_OF(uids); i++) {
		bed_tenant(&bed, uids[i], "GPU-1");
	}
	bed_tenant(&bed, "z", "GPU-0");
	bed_runs(&bed, 1, 1, "unknown-2", 1);
	bed_runs(&bed, 1, 2, "unknown-1", 1);
	bed_make(&bed);
	static const char *const lines[] = {"z", "a", "b", "c"};
	static const char *const pods[] = {"z", "unknown-1", "unknown-2", "a", "b", "c"};
	cr_assert_eq(bed.usage.container_count, COUNT_OF(lines));
	for (size_t i = 0; i < COUNT_OF(lines); i++) {
		cr_assert_str_eq(bed.usage.containers[i].pod->uid, lines[i]);
	}
	cr_assert_eq(bed.usage.pod_count, COUNT_OF(pods));
	for (size_t i = 0; i < COUNT_OF(pods); i++) {
		cr_assert_str_eq(bed.usage.pods[i].uid, pods[i]);
	}
}

Test(attribute, reasons_have_names)
{
	for (int why = 0; why < LOSS_COUNT; why++) {
		cr_assert_str_neq(loss_name((enum loss)why), "?");
	}
	cr_assert_str_eq(loss_name(LOSS_COUNT), "?");
}

/* More pods than are told apart, all with one process. */
Test(attribute, too_many_pods_are_said_to_be_too_many)
{
	uint32_t count = USE_LINES_MAX + 3;
	struct gpu_process *processes = ARENA_ARRAY(&bed.arena, struct gpu_process, count);
	struct place *places = ARENA_ARRAY(&bed.arena, struct place, count);
	for (uint32_t i = 0; i < count; i++) {
		processes[i] = (struct gpu_process){.pid = i};
		places[i] = (struct place){.pid = i, .kind = PLACE_POD};
		snprintf(places[i].name.pod, sizeof places[i].name.pod, "u%06u", i);
	}
	bed.devices[0].processes = processes;
	bed.devices[0].process_count = count;
	bed.places = (struct places){.items = places, .count = count};
	bed_make(&bed);
	cr_assert_eq(bed.usage.pod_count, USE_LINES_MAX);
	cr_assert(bed.usage.incomplete);
	cr_assert_eq(lost(0, LOSS_UNKNOWN_POD), count);
}
