/* What a kubelet answers about the devices of its pods. */
#include "formats/pod_resources.h"

#include <criterion/criterion.h>

#include "proto_lines.h"

#define RESOURCES "nvidia.com/gpu, example.com/gpu"

struct bed {
	struct str list, frame;
	struct arena arena;
	struct pod_resources got;
	struct fault fault;
};

static struct bed bed;

static void begin(void)
{
	bed = (struct bed){.list = STR_INIT(8 << 20), .frame = STR_INIT(8 << 20)};
}

static void end(void)
{
	str_finish(&bed.list);
	str_finish(&bed.frame);
	arena_finish(&bed.arena);
}

TestSuite(pod_resources, .init = begin, .fini = end);

static int decode(void)
{
	put_frame(&bed.frame, &bed.list);
	return pod_resources_decode((struct view){str_text(&bed.frame), bed.frame.len}, RESOURCES,
		&bed.arena, &bed.got, &bed.fault);
}

static void expect(uint32_t pod, uint32_t at, const char *uuid, const char *container)
{
	cr_assert_lt(pod, bed.got.count);
	cr_assert_lt(at, bed.got.pods[pod].count);
	cr_assert_str_eq(bed.got.pods[pod].devices[at].uuid, uuid);
	cr_assert_str_eq(bed.got.pods[pod].devices[at].container, container);
}

Test(pod_resources, pods_and_their_devices)
{
	put_pod(&bed.list, "a", "GPU-1 GPU-2");
	put_pod(&bed.list, "b", "GPU-3");
	cr_assert_eq(decode(), 0, "%s", bed.fault.message);
	cr_assert_eq(bed.got.count, 2);
	cr_assert_str_eq(bed.got.pods[0].name, "a");
	cr_assert_str_eq(bed.got.pods[0].ns, "team");
	cr_assert_eq(bed.got.pods[0].count, 2);
	expect(0, 0, "GPU-1", "main");
	expect(0, 1, "GPU-2", "main");
	expect(1, 0, "GPU-3", "main");
}

Test(pod_resources, a_node_without_pods)
{
	cr_assert_eq(decode(), 0);
	cr_assert_eq(bed.got.count, 0);
}

Test(pod_resources, several_containers_and_other_resources)
{
	struct str pod = STR_INIT(4096), fields = STR_INIT(4096);
	put_text(&pod, 1, "a");
	put_text(&pod, 2, "team");
	put_container(&pod, "one", "nvidia.com/gpu", "GPU-1");
	put_container(&pod, "two", "example.com/gpu", "GPU-1");
	put_container(&pod, "nic", "example.com/nic", "GPU-7 0000:3b:00.1");
	/* Of a later version, or of no use here. */
	put_varint(&pod, 9 << 3);
	put_varint(&pod, 5);
	put_text(&pod, 12, "x");
	put_message(&bed.list, 1, &pod);
	cr_assert_eq(decode(), 0, "%s", bed.fault.message);
	cr_assert_eq(bed.got.pods[0].count, 2);
	expect(0, 0, "GPU-1", "one");
	expect(0, 1, "GPU-1", "two");
	str_finish(&pod);
	str_finish(&fields);
}

Test(pod_resources, replicas_are_one_device)
{
	put_pod(&bed.list, "a", "GPU-1::0 GPU-1::7 GPU-1 GPU-2::1");
	cr_assert_eq(decode(), 0, "%s", bed.fault.message);
	cr_assert_eq(bed.got.pods[0].count, 2);
	expect(0, 0, "GPU-1", "main");
	expect(0, 1, "GPU-2", "main");
}

Test(pod_resources, what_is_no_gpu_is_counted_and_left_out)
{
	char longer[GPU_UUID_MAX + 8];
	memset(longer, 'a', sizeof longer - 1);
	longer[sizeof longer - 1] = '\0';
	memcpy(longer, "GPU-", 4);
	put_pod(&bed.list, "a", "MIG-1 MIG-GPU-1/3/0::2 GPU-1");
	put_pod(&bed.list, "b", "0 1 gpu-2 GPU-\x01");
	put_pod(&bed.list, "c", longer);
	cr_assert_eq(decode(), 0, "%s", bed.fault.message);
	cr_assert_eq(bed.got.mig, 2);
	cr_assert_eq(bed.got.odd, 5);
	cr_assert_eq(bed.got.pods[0].count, 1);
	cr_assert_eq(bed.got.pods[1].count, 0);
}

static void expect_fault(enum fault_kind kind, const char *word)
{
	bed.got.count = 77;
	cr_assert_eq(decode(), -1);
	cr_assert_eq(bed.fault.kind, kind, "%s", bed.fault.message);
	cr_assert_not_null(strstr(bed.fault.message, word), "%s", bed.fault.message);
	cr_assert_eq(bed.got.count, 77, "nothing is told");
}

Test(pod_resources, a_pod_without_a_name)
{
	put_pod(&bed.list, "", "GPU-1");
	expect_fault(FAULT_INVALID, "pod 1");
}

Test(pod_resources, a_name_that_is_none)
{
	put_pod(&bed.list, "good", "GPU-1");
	put_pod(&bed.list, "a\nb", "GPU-1");
	expect_fault(FAULT_INVALID, "pod 2");
}

Test(pod_resources, bytes_that_are_no_field)
{
	str_append_text(&bed.list, "garbage");
	expect_fault(FAULT_INVALID, "no field");
}

Test(pod_resources, a_pod_that_breaks_off)
{
	put_pod(&bed.list, "a", "GPU-1");
	bed.list.len -= 2;
	expect_fault(FAULT_INVALID, "no field");
}

Test(pod_resources, too_many_pods)
{
	for (int i = 0; i <= POD_RESOURCES_PODS_MAX; i++) {
		put_pod(&bed.list, "a", "");
	}
	expect_fault(FAULT_LIMIT, "more than 2048 pods");
}

Test(pod_resources, too_many_devices_of_one_pod)
{
	struct str ids = STR_INIT(4096);
	for (int i = 0; i <= NODE_TOLD_MAX; i++) {
		str_append_format(&ids, "GPU-%d ", i);
	}
	put_pod(&bed.list, "a", str_text(&ids));
	str_finish(&ids);
	expect_fault(FAULT_LIMIT, "64 GPUs of one pod");
}

Test(pod_resources, too_many_bytes)
{
	struct str name = STR_INIT(4096);
	for (int i = 0; i < 240; i++) {
		str_append_char(&name, 'n');
	}
	while (bed.list.len <= POD_RESOURCES_BYTES_MAX) {
		put_text(&bed.list, 7, str_text(&name));
	}
	str_finish(&name);
	expect_fault(FAULT_LIMIT, "larger than");
}

Test(pod_resources, frames_that_are_none)
{
	static const struct {
		const char *p;
		size_t n;
	} bad[] = {{"", 0}, {"\0\0\0\0", 4}, {"\1\0\0\0\0", 5}, {"\0\0\0\0\1", 5},
		{"\0\0\0\0\0x", 6}, {"\0\xff\xff\xff\xff", 5}, {"HTTP/1.1 400 Bad Request", 24}};
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct fault f = {0};
		cr_assert_eq(pod_resources_decode((struct view){bad[i].p, bad[i].n}, RESOURCES,
				     &bed.arena, &bed.got, &f),
			-1, "%zu", i);
		cr_assert_eq(f.kind, FAULT_INVALID, "%zu", i);
	}
}
