/* XIDs that a process was told which has ended since. */
#include "gpu_recall.h"

#include <criterion/criterion.h>
#include <stdio.h>

static struct gpu_reading reading_of(const char *uuid)
{
	struct gpu_reading r = {.answered = true};
	(void)snprintf(r.device.identity.uuid, sizeof r.device.identity.uuid, "%s", uuid);
	return r;
}

static struct gpu_reading merge(struct recall *r, struct arena *arena, struct gpu_reading reading)
{
	struct gpu_sample sample = {.devices = &reading, .device_count = 1};
	recall_merge(r, &sample, arena);
	return reading;
}

Test(gpu_recall, an_xid_stays_with_its_device)
{
	struct recall r = {0};
	struct arena arena = {0};
	struct gpu_reading ill = reading_of("GPU-a");
	ill.figures[FIGURE_XID] = 13;
	ill.ill_xid = 48;
	ill.ill = "XID 48: …";
	ill = merge(&r, &arena, ill);
	cr_assert_str_eq(ill.ill, "XID 48: …");
	/* A new process knows nothing of it. */
	struct gpu_reading later = merge(&r, &arena, reading_of("GPU-a"));
	cr_assert_eq(later.figures[FIGURE_XID], 13);
	cr_assert_eq(later.ill_xid, 48);
	cr_assert_not_null(later.ill);
	struct gpu_reading deaf = reading_of("GPU-a");
	deaf.figures[FIGURE_XID] = GPU_UNKNOWN;
	cr_assert_eq(merge(&r, &arena, deaf).figures[FIGURE_XID], 13);
	struct gpu_reading other = reading_of("GPU-b");
	other.figures[FIGURE_XID] = GPU_UNKNOWN;
	other = merge(&r, &arena, other);
	cr_assert_eq(other.figures[FIGURE_XID], GPU_UNKNOWN);
	cr_assert_null(other.ill);
	recall_finish(&r);
	arena_finish(&arena);
}

Test(gpu_recall, a_device_that_was_lost_and_is_back_is_well)
{
	struct recall r = {0};
	struct arena arena = {0};
	struct gpu_reading reading = reading_of("GPU-a");
	reading.ill_xid = 79;
	reading.ill = "XID 79";
	(void)merge(&r, &arena, reading);
	struct gpu_reading absent = reading_of("GPU-a");
	absent.answered = false;
	absent.fault.kind = FAULT_TRANSIENT;
	absent.ill = "a moment";
	(void)merge(&r, &arena, absent);
	cr_assert_eq(merge(&r, &arena, reading_of("GPU-a")).ill_xid, 79, "it was not reset");
	absent.fault.kind = FAULT_GONE;
	absent = merge(&r, &arena, absent);
	cr_assert_str_eq(absent.ill, "a moment");
	struct gpu_reading back = merge(&r, &arena, reading_of("GPU-a"));
	cr_assert_eq(back.ill_xid, 0);
	cr_assert_null(back.ill);
	recall_finish(&r);
	arena_finish(&arena);
}

Test(gpu_recall, has_a_limit_and_needs_a_name)
{
	struct recall r = {0};
	struct arena arena = {0};
	for (int i = 0; i < 2 * PROBE_DEVICES_MAX; i++) {
		char uuid[32];
		(void)snprintf(uuid, sizeof uuid, "GPU-%d", i);
		(void)merge(&r, &arena, reading_of(uuid));
	}
	(void)merge(&r, &arena, reading_of(""));
	cr_assert_eq(r.count, PROBE_DEVICES_MAX);
	recall_finish(&r);
	arena_finish(&arena);
}

/* A new process that leaves a device out has never heard who it is. */
Test(gpu_recall, a_device_that_does_not_answer_keeps_its_name)
{
	struct recall r = {0};
	struct arena arena = {0};
	struct gpu_reading two[2] = {reading_of("GPU-a"), reading_of("GPU-b")};
	struct gpu_sample sample = {.devices = two, .device_count = 2};
	two[1].index = 3;
	two[1].device.identity.minor = 5;
	(void)snprintf(two[1].pci_bus_id, sizeof two[1].pci_bus_id, "00000000:41:00.0");
	recall_merge(&r, &sample, &arena);
	two[1] = (struct gpu_reading){.index = 3, .ill = "it hangs"};
	recall_merge(&r, &sample, &arena);
	cr_assert_str_eq(two[1].device.identity.uuid, "GPU-b");
	cr_assert_eq(two[1].device.identity.minor, 5);
	cr_assert_str_eq(two[1].pci_bus_id, "00000000:41:00.0");
	/* The other one has its place now: nobody knows who this is. */
	two[0] = (struct gpu_reading){.index = 0, .ill = "it hangs"};
	two[1] = reading_of("GPU-a");
	two[1].index = 3;
	recall_merge(&r, &sample, &arena);
	cr_assert_str_empty(two[0].device.identity.uuid);
	two[1] = (struct gpu_reading){.index = 3, .ill = "it hangs"};
	recall_merge(&r, &sample, &arena);
	cr_assert_str_eq(two[1].device.identity.uuid, "GPU-a");
	recall_finish(&r);
	arena_finish(&arena);
}
