/* What the driver tells of the MPS server alone is shared out among its clients. */
#include "usage_bed.h"

static struct bed bed;

static void begin(void)
{
	bed_init(&bed, 1);
	bed_capacity(&bed, "hold", "GPU-0");
	bed_tenant(&bed, "a", "GPU-0"); /* 250 milli each */
	bed_tenant(&bed, "b", "GPU-0");
	bed_runs(&bed, 0, 1, "hold", 60);
}

static void end(void)
{
	bed_finish(&bed);
}

TestSuite(attribute_share, .init = begin, .fini = end);

static struct gpu_process *client(uint32_t pid, const char *uid, int32_t percent)
{
	struct gpu_process *p = bed_runs(&bed, 0, pid, uid, percent);
	p->kinds = PROCESS_COMPUTE | PROCESS_MPS_CLIENT;
	return p;
}

Test(attribute_share, by_what_the_pods_were_granted)
{
	const char *uuid = "GPU-0";
	bed_pod(&bed, (struct node_pod){.uid = "large",
			      .phase = POD_RUNNING,
			      .tenant = true,
			      .uuids = &uuid,
			      .uuid_count = 1,
			      .milli = 500});
	client(2, "a", 0);
	client(3, "large", 0)->sm = -1;
	client(4, "large", 0)->sm = -1;
	client(5, "large", 0)->sm = -1;
	bed_make(&bed);
	const struct use *a = &bed_pod_usage(&bed, 0, "a")->use;
	const struct use *large = &bed_pod_usage(&bed, 0, "large")->use;
	cr_assert_eq(a->sm, 20000);
	cr_assert_str_eq(a->source, "mps-server");
	cr_assert_eq(a->mem_util, -1, "nobody knows");
	cr_assert_eq(large->sm, 40000, "however many clients it has");
	cr_assert_eq(bed_pod_usage(&bed, 0, "b")->use.sm, 0, "who has no client has no part");
	cr_assert_null(bed_pod_usage(&bed, 0, "b")->use.source);
	cr_assert_eq(bed.usage.devices[0].lost.sm, 0);
	cr_assert_eq(bed.usage.devices[0].lost.mem_bytes, 100 * BED_MIB, "the server's own");
}

Test(attribute_share, not_where_clients_have_their_own)
{
	client(2, "a", 7);
	client(3, "b", 0);
	bed_make(&bed);
	cr_assert_eq(bed_pod_usage(&bed, 0, "a")->use.sm, 7000);
	cr_assert_null(bed_pod_usage(&bed, 0, "a")->use.source);
	cr_assert_eq(bed_pod_usage(&bed, 0, "b")->use.sm, 0);
	cr_assert_eq(bed.usage.devices[0].lost.sm, 60000);
}

Test(attribute_share, also_where_the_server_is_listed_as_a_client)
{
	bed.processes[0][0].kinds |= PROCESS_MPS_CLIENT;
	client(2, "a", 0);
	bed_make(&bed);
	cr_assert_eq(bed_pod_usage(&bed, 0, "a")->use.sm, 60000);
}

Test(attribute_share, not_without_clients)
{
	bed_runs(&bed, 0, 2, "a", 5);
	bed_make(&bed);
	cr_assert_eq(bed_pod_usage(&bed, 0, "a")->use.sm, 5000);
	cr_assert_eq(bed.usage.devices[0].lost.sm, 60000);
}

Test(attribute_share, a_client_of_nobody_takes_its_part_away)
{
	client(2, "a", 0);
	client(3, "unknown", 0);
	bed_make(&bed);
	int64_t a = bed_pod_usage(&bed, 0, "a")->use.sm, rest = bed.usage.devices[0].lost.sm;
	cr_assert_leq(llabs(a - 60000 * 250 / 350), 1);
	cr_assert_eq(a + rest, 60000, "none is lost");
}

Test(attribute_share, no_part_is_lost_in_rounding)
{
	bed.processes[0][0].sm = 100;
	client(2, "a", 0);
	client(3, "a", 0);
	client(4, "a", 0);
	client(5, "b", 0);
	bed_make(&bed);
	cr_assert_eq(bed_pod_usage(&bed, 0, "a")->use.sm, 50);
	cr_assert_eq(bed_pod_usage(&bed, 0, "b")->use.sm, 50);
}

Test(attribute_share, an_engine_that_is_told_limits_too)
{
	bed.processes[0][0].sm = 0;
	bed_runs(&bed, 0, 2, "a", 50);
	bed_runs(&bed, 0, 3, "b", 50);
	bed.devices[0].figures[FIGURE_GPU_UTIL] = 10000;
	bed.devices[0].figures[FIGURE_PROF_GR_ENGINE_ACTIVE] = 800;
	bed_make(&bed);
	cr_assert_eq(bed_pod_usage(&bed, 0, "a")->use.sm, 40000);
	bed.devices[0].figures[FIGURE_PROF_GR_ENGINE_ACTIVE] = 2000;
	bed_make(&bed);
	cr_assert_eq(bed_pod_usage(&bed, 0, "a")->use.sm, 50000);
	cr_assert_not(bed.usage.devices[0].scaled);
}

/* Before Hopper the driver's samples are of the same time as the processes' use. */
Test(attribute_share, the_mean_of_samples_limits_too)
{
	bed.processes[0][0].sm = 0;
	bed_runs(&bed, 0, 2, "a", 50);
	bed_runs(&bed, 0, 3, "b", 50);
	bed.devices[0].figures[FIGURE_GPU_UTIL] = 10000;
	bed.devices[0].figures[FIGURE_GPU_UTIL_MEAN] = 80000;
	bed_make(&bed);
	cr_assert(bed.usage.devices[0].scaled);
	cr_assert_eq(bed_pod_usage(&bed, 0, "a")->use.sm, 40000);
	cr_assert_str_eq(bed.usage.containers[0].use.source, "samples");
	bed.devices[0].figures[FIGURE_PROF_GR_ENGINE_ACTIVE] = 900;
	bed_make(&bed);
	cr_assert_eq(bed_pod_usage(&bed, 0, "a")->use.sm, 45000, "GPM is better");
	cr_assert_str_eq(bed.usage.containers[0].use.source, "scaled");
}
