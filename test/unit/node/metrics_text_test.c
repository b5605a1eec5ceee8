/* The text of /metrics against a file that promtool reads too (test/tidy/test_exposition.py). */
#include "node/metrics_text.h"

#include <malloc.h>

#include "../codec/data.h"
#include "formats/exposition.h"
#include "usage_bed.h"

static struct bed bed;
static const struct exposition_options plain = {.node = "node-3"};

static void begin(void)
{
	bed_init(&bed, 3);
	snprintf(bed.sample.driver, sizeof bed.sample.driver, "550.54.15");
	bed.sample.took_ms = 12;
	for (uint32_t d = 0; d < 3; d++) {
		struct gpu_reading *r = &bed.devices[d];
		snprintf(r->device.identity.model, sizeof r->device.identity.model,
			"NVIDIA H100 80GB HBM3");
		snprintf(r->pci_bus_id, sizeof r->pci_bus_id, "00000000:%u1:00.0", d + 4);
	}
}

static void end(void)
{
	bed_finish(&bed);
}

TestSuite(exposition, .init = begin, .fini = end);

static struct str text_of(const struct exposition_options *options)
{
	struct str out = STR_INIT(METRICS_BYTES_MAX);
	bed_make(&bed);
	cr_assert(exposition_write(&out, &bed.sample, &bed.usage, options));
	return out;
}

static bool has(const struct str *text, const char *part)
{
	return strstr(str_text(text), part) != NULL;
}

static size_t times(const struct str *text, const char *part)
{
	size_t n = 0;
	for (const char *p = str_text(text); (p = strstr(p, part)) != NULL; p += strlen(part)) {
		n++;
	}
	return n;
}

static void everything_is_told(struct gpu_reading *r)
{
	static const int64_t figures[FIGURE_COUNT] = {
		[FIGURE_SM_CLOCK] = 1980,
		[FIGURE_MEM_CLOCK] = 2619,
		[FIGURE_GPU_TEMP] = 41,
		[FIGURE_MEMORY_TEMP] = 52,
		[FIGURE_POWER_MW] = 310250,
		[FIGURE_ENERGY_MJ] = 9876543210,
		[FIGURE_PCIE_REPLAY] = 0,
		[FIGURE_GPU_UTIL] = 62500,
		[FIGURE_MEM_COPY_UTIL] = 20000,
		[FIGURE_FB_FREE] = 60000 * BED_MIB + 1,
		[FIGURE_FB_USED] = 20919 * BED_MIB - 1,
		[FIGURE_FB_RESERVED] = 640 * BED_MIB,
		[FIGURE_FB_TOTAL] = 81559 * BED_MIB,
		[FIGURE_PROF_GR_ENGINE_ACTIVE] = 624,
		[FIGURE_PROF_SM_ACTIVE] = 500,
		[FIGURE_PROF_SM_OCCUPANCY] = 125,
		[FIGURE_PROF_PIPE_TENSOR_ACTIVE] = 33,
		[FIGURE_PROF_DRAM_ACTIVE] = 1000,
		[FIGURE_PROF_PCIE_TX_BYTES] = 123456789,
		[FIGURE_PROF_PCIE_RX_BYTES] = 987654321,
	};
	memcpy(r->figures, figures, sizeof figures);
}

/* A shared device with a busy and an idle tenant and a process of the host, a device with a pod of
 * its own, and one that does not answer. */
static void a_node(void)
{
	everything_is_told(&bed.devices[0]);
	bed_capacity(&bed, "hold", "GPU-0");
	bed_tenant(&bed, "busy", "GPU-0");
	bed_tenant(&bed, "idle", "GPU-0");
	struct gpu_process *p = bed_runs(&bed, 0, 10, "busy", 50);
	p->sm = 50500;
	p->mem_util = 3000;
	p->mem_bytes = 700 * BED_MIB + 12345;
	bed_place(&bed, 11, PLACE_HOST);
	bed_process(&bed, 0, 11, 2, 30);
	snprintf(bed.devices[1].device.identity.model, GPU_MODEL_MAX, "a \"model\" \\ with\nall");
	bed.devices[1].figures[FIGURE_GPU_UTIL] = 70000;
	bed.devices[1].figures[FIGURE_GPU_TEMP] = 60;
	bed.devices[1].figures[FIGURE_POWER_MW] = 500000;
	bed.devices[1].figures[FIGURE_FB_USED] = 30000 * BED_MIB;
	bed.devices[1].figures[FIGURE_FB_FREE] = 51559 * BED_MIB;
	bed.devices[1].figures[FIGURE_XID] = 79;
	bed.devices[1].ill = "XID 79";
	bed_whole(&bed, "whole");
	bed_runs(&bed, 1, 12, "whole", 70)->mem_bytes = 29000 * BED_MIB;
	bed.devices[2].answered = false;
	bed.devices[2].figures[FIGURE_GPU_TEMP] = 20;
}

/* Scenario 17. */
Test(exposition, the_whole_of_it)
{
	CLEANUP(str_finish) struct str expected = DATA("exposition.txt");
	a_node();
	CLEANUP(str_finish) struct str text = text_of(&plain);
	cr_assert_str_eq(str_text(&text), str_text(&expected));
}

static int count_sample(void *data, const struct exposition_sample *sample, struct fault *ret_fault)
{
	(void)sample;
	(void)ret_fault;
	++*(size_t *)data;
	return 0;
}

/* The other end of it, in the controller. */
Test(exposition, our_own_parser_reads_it)
{
	size_t samples = 0;
	struct fault f = {0};
	struct exposition *parser = exposition_create(count_sample, &samples);
	a_node();
	CLEANUP(str_finish) struct str text = text_of(&plain);
	cr_assert_eq(exposition_feed(parser, str_text(&text), text.len, &f), 0, "%s", f.message);
	cr_assert_eq(exposition_end(parser, &f), 0, "%s", f.message);
	cr_assert_eq(samples, times(&text, "\n") - 2 * times(&text, "# HELP "));
	exposition_destroy(parser);
}

/* Scenario 4: in a container the driver counts from 0 what it is allowed to see. */
Test(exposition, a_device_is_called_by_its_minor_number)
{
	bed.devices[0].device.identity.minor = 5;
	bed.devices[0].figures[FIGURE_GPU_TEMP] = 40;
	CLEANUP(str_finish) struct str text = text_of(&plain);
	cr_assert(has(&text, "DCGM_FI_DEV_GPU_TEMP{gpu=\"5\",UUID=\"GPU-0\","
			     "pci_bus_id=\"00000000:41:00.0\",device=\"nvidia5\","));
}

/* Scenario 17, the switches. */
Test(exposition, both_spellings_of_the_host_and_a_uid)
{
	struct exposition_options options = {
		.node = "node-3", .small_hostname = true, .pod_uid = true};
	a_node();
	CLEANUP(str_finish) struct str text = text_of(&options);
	cr_assert(has(&text, ",hostname=\"node-3\",DCGM_FI_DRIVER_VERSION="));
	cr_assert_not(has(&text, "Hostname"));
	cr_assert(has(&text, ",pod=\"busy\",pod_uid=\"busy\"} 50.5\n"));
}

/* Scenario 17: HELP and TYPE once, and nothing without a line. */
Test(exposition, families_are_announced_once)
{
	a_node();
	CLEANUP(str_finish) struct str text = text_of(&plain);
	cr_assert_eq(times(&text, "# HELP DCGM_FI_DEV_GPU_UTIL "), 1);
	cr_assert_eq(times(&text, "# TYPE DCGM_FI_DEV_GPU_UTIL gauge\n"), 1);
	cr_assert_eq(times(&text, "\nDCGM_FI_DEV_GPU_UTIL{"), 5);
	cr_assert_eq(times(&text, "# HELP "), times(&text, "# TYPE "));
	bed.devices[0].answered = bed.devices[1].answered = false;
	CLEANUP(str_finish) struct str silent = text_of(&plain);
	cr_assert_not(has(&silent, "DCGM_FI_DEV"), "%s", str_text(&silent));
	cr_assert_eq(times(&silent, "aliquot_agent_device_up{"), 3);
	cr_assert_not(has(&silent, "unattributed"));
}

Test(exposition, an_estimate_says_so)
{
	bed_capacity(&bed, "hold", "GPU-0");
	bed_tenant(&bed, "a", "GPU-0");
	bed_runs(&bed, 0, 1, "hold", 40);
	bed_runs(&bed, 0, 2, "a", 0)->kinds = PROCESS_MPS_CLIENT;
	bed.devices[0].figures[FIGURE_POWER_MW] = 100000;
	CLEANUP(str_finish) struct str text = text_of(&plain);
	cr_assert(has(&text, "pod=\"a\",attribution=\"estimated\",source=\"mps-server\"} 40\n"));
	cr_assert(has(&text, "pod=\"a\",attribution=\"estimated\",source=\"compute\"} 40\n"));
	cr_assert_eq(times(&text, "estimated"), 2);
	cr_assert_not(has(&text, "DCGM_FI_DEV_MEM_COPY_UTIL{"), "nobody knows");
}

/* Scenario 16. */
Test(exposition, a_pod_is_named_on_its_own_device_alone)
{
	bed_tenant(&bed, "mine", "GPU-0");
	bed_tenant(&bed, "roams", "GPU-1");
	bed_runs(&bed, 0, 1, "mine", 10);
	bed_runs(&bed, 0, 2, "roams", 10);
	CLEANUP(str_finish) struct str text = text_of(&plain);
	for (struct view rest = view_of(str_text(&text)), line; view_next(&rest, '\n', &line);) {
		bool other = memmem(line.p, line.n, "UUID=\"GPU-0\"", 12) != NULL;
		cr_assert(!other || memmem(line.p, line.n, "roams", 5) == NULL, "%.*s", (int)line.n,
			line.p);
	}
	cr_assert(has(&text, "reason=\"not_granted\"} 1\n"));
}

/* Scenario 14. */
Test(exposition, without_the_hosts_pids_the_devices_are_told_of)
{
	bed_tenant(&bed, "a", "GPU-0");
	bed_place(&bed, 1, PLACE_GONE);
	bed_process(&bed, 0, 1, 40, 100);
	bed.places.host_pid_missing = true;
	bed.devices[0].figures[FIGURE_GPU_UTIL] = 40000;
	CLEANUP(str_finish) struct str text = text_of(&plain);
	cr_assert(has(&text, "aliquot_agent_host_pid_missing 1\n"));
	cr_assert_eq(times(&text, "\nDCGM_FI_DEV_GPU_UTIL{"), 1);
	cr_assert_not(has(&text, "pod="));
}

/* Scenario 18. */
Test(exposition, idle_is_zero_and_deleted_is_gone)
{
	bed_tenant(&bed, "a", "GPU-0");
	CLEANUP(str_finish) struct str idle = text_of(&plain);
	cr_assert(has(&idle, "pod=\"a\"} 0\n"));
	cr_assert(has(&idle, "DCGM_FI_DEV_FB_FREE{"));
	node_pods_remove(bed.pods, "a");
	CLEANUP(str_finish) struct str gone = text_of(&plain);
	cr_assert_not(has(&gone, "pod="));
}

Test(exposition, what_is_left_of_a_share)
{
	bed_tenant(&bed, "a", "GPU-0"); /* 1000 MiB */
	bed_in_pod(&bed, 1, "a", "a");
	struct gpu_process *p = bed_process(&bed, 0, 1, 1, 300);
	bed_in_pod(&bed, 2, "a", "side-id");
	bed_process(&bed, 0, 2, 1, 100);
	CLEANUP(str_finish) struct str text = text_of(&plain);
	cr_assert_eq(
		times(&text, "\nDCGM_FI_DEV_FB_FREE{"), 1, "of the pod, not of each container");
	cr_assert(has(&text, "pod=\"a\"} 600\n"));
	p->mem_bytes = 5000 * BED_MIB;
	CLEANUP(str_finish) struct str over = text_of(&plain);
	cr_assert_eq(times(&over, "\nDCGM_FI_DEV_FB_FREE{"), 1);
	cr_assert(has(&over, "pod=\"a\"} 5000\n"), "what it uses is told as it is");
	p->mem_bytes = -1;
	CLEANUP(str_finish) struct str untold = text_of(&plain);
	cr_assert_not(has(&untold, "DCGM_FI_DEV_FB_FREE{"));
	cr_assert_eq(times(&untold, "\nDCGM_FI_DEV_FB_USED{"), 1);
}

Test(exposition, the_drivers_words_need_not_be_text)
{
	snprintf(bed.devices[0].device.identity.model, GPU_MODEL_MAX, "caf\xe9 \x01");
	bed.devices[0].figures[FIGURE_GPU_TEMP] = -3;
	bed.devices[0].figures[FIGURE_POWER_MW] = -1;
	CLEANUP(str_finish) struct str text = text_of(&plain);
	cr_assert(has(&text, "modelName=\"caf? ?\""));
	cr_assert(has(&text, "} -3\n"));
	cr_assert(has(&text, "} -0.001\n"));
}

Test(exposition, a_name_that_is_too_long_breaks_no_line)
{
	char *name = ARENA_ARRAY(&bed.arena, char, 9001);
	struct exposition_options options = {.node = name};
	const char *uuid = "GPU-0";
	memset(name, 'x', 9000);
	bed_tenant(&bed, "short", uuid);
	bed_pod(&bed, (struct node_pod){.uid = "long",
			      .name = name,
			      .phase = POD_RUNNING,
			      .tenant = true,
			      .uuids = &uuid,
			      .uuid_count = 1});
	CLEANUP(str_finish) struct str text = text_of(&options);
	cr_assert(has(&text, "pod=\"short\"} 0\n"));
	cr_assert_eq(times(&text, "pod=\""), times(&text, "pod=\"short\"}"));
	cr_assert(has(&text, "aliquot_agent_pods_left_out 1\n"));
}

Test(exposition, too_much_text_loses_the_pods_and_says_so)
{
	bed.devices[0].figures[FIGURE_GPU_UTIL] = 40000;
	CLEANUP(str_finish) struct str devices = text_of(&plain);
	for (int i = 0; i < 40; i++) {
		char uid[16];
		snprintf(uid, sizeof uid, "u%d", i);
		bed_tenant(&bed, uid, "GPU-0");
	}
	bed_make(&bed);
	CLEANUP(str_finish) struct str out = STR_INIT(devices.len + 6);
	str_append_text(&out, "first\n");
	cr_assert(exposition_write(&out, &bed.sample, &bed.usage, &plain));
	cr_assert(view_starts_with(view_of(str_text(&out)), "first\n# HELP DCGM_FI_DEV_GPU_UTIL"));
	cr_assert(has(&out, "aliquot_agent_pods_left_out 1\n"));
	cr_assert_not(has(&out, "pod="));
	CLEANUP(str_finish) struct str small = STR_INIT(1000);
	str_append_text(&small, "first\n");
	cr_assert_not(exposition_write(&small, &bed.sample, &bed.usage, &plain));
	cr_assert_str_eq(str_text(&small), "first\n");
}

Test(exposition, what_is_presumed_says_so_everywhere)
{
	bed_tenant(&bed, "a", "GPU-0");
	bed_tenant(&bed, "b", "GPU-1");
	bed_whole(&bed, "w");
	CLEANUP(str_finish) struct str text = text_of(&plain);
	cr_assert_eq(times(&text, "pod=\"w\""), 5);
	cr_assert_eq(
		times(&text, "pod=\"w\",attribution=\"estimated\",source=\"only-place\"} 0\n"), 5);
}

Test(exposition, devices_that_never_spoke_share_no_series)
{
	for (int d = 1; d < 3; d++) {
		bed.devices[d].answered = false;
		bed.devices[d].device.identity.uuid[0] = '\0';
	}
	CLEANUP(str_finish) struct str text = text_of(&plain);
	cr_assert_eq(times(&text, "aliquot_agent_device_up{"), 1);
	cr_assert(has(&text, "aliquot_agent_devices_unknown 2\n"));
}

Test(exposition, counts_what_only_rises)
{
	struct metric_registry *registry = metric_registry_create();
	CLEANUP(str_finish) struct str text = STR_INIT(4096);
	bed.places.gone = 2;
	bed.sample.dropped = 3;
	bed.sample.retries = 1;
	bed_make(&bed);
	exposition_count(registry, &bed.sample, &bed.usage);
	exposition_count(registry, &bed.sample, &bed.usage);
	metric_write(registry, &text);
	cr_assert(has(&text, "aliquot_agent_processes_gone_total 4\n"));
	cr_assert(has(&text, "aliquot_agent_rows_dropped_total 6\n"));
	cr_assert(has(&text, "aliquot_agent_list_retries_total 2\n"));
	metric_registry_destroy(registry);
}

static size_t in_use(void)
{
	struct mallinfo2 info = mallinfo2();
	return info.uordblks + info.hblkhd;
}

static void a_look(struct arena *arena, struct str *out)
{
	str_reset(out);
	arena_reset(arena);
	usage_make(&bed.sample, &bed.places, bed.pods, arena, &bed.usage);
	cr_assert(exposition_write(out, &bed.sample, &bed.usage, &plain));
}

/* Scenario 18: the sanitized build sees what is lost, this what grows. */
Test(exposition, ten_thousand_looks_leave_nothing)
{
	struct arena arena = {0};
	CLEANUP(str_finish) struct str out = STR_INIT(METRICS_BYTES_MAX);
	a_node();
	for (int i = 0; i < 10; i++) {
		a_look(&arena, &out);
	}
	size_t before = in_use();
	for (int i = 0; i < 10000; i++) {
		a_look(&arena, &out);
	}
	cr_assert_eq(in_use(), before);
	arena_finish(&arena);
}
