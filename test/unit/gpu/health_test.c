/* What a device measures of itself, GPM, XIDs, and what makes it ill. */
#include "sampler_bed.h"

Test(figures, in_their_units)
{
	struct bed *b = bed_create("libnvidia-ml.so.1");
	bed_write(b, BED_ONE "busy 37 12\nsm-clock 1410\nmemory-clock 2619\ntemperature 61\n"
			     "memory-temperature 77\npower-mw 350123\nenergy-mj 1099511627776\n"
			     "pcie-replay 4\nencoder 7\ndecoder 8\nremapped 1 2 1 0\n");
	static const struct {
		enum gpu_figure figure;
		int64_t value;
	} rows[] = {{FIGURE_SM_CLOCK, 1410}, {FIGURE_MEM_CLOCK, 2619}, {FIGURE_GPU_TEMP, 61},
		{FIGURE_MEMORY_TEMP, 77}, {FIGURE_POWER_MW, 350123},
		{FIGURE_ENERGY_MJ, 1099511627776}, {FIGURE_PCIE_REPLAY, 4},
		{FIGURE_GPU_UTIL, 37000}, {FIGURE_MEM_COPY_UTIL, 12000}, {FIGURE_ENC_UTIL, 7000},
		{FIGURE_DEC_UTIL, 8000}, {FIGURE_XID, 0}, {FIGURE_CORRECTABLE_REMAPPED_ROWS, 1},
		{FIGURE_UNCORRECTABLE_REMAPPED_ROWS, 2}, {FIGURE_ROW_REMAP_FAILURE, 0},
		{FIGURE_ROW_REMAP_PENDING, 1}};
	const struct gpu_reading *r = &bed_look(b)->devices[0];
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		cr_expect_eq(r->figures[rows[i].figure], rows[i].value, "figure %d: %lld",
			rows[i].figure, (long long)r->figures[rows[i].figure]);
	}
	cr_assert_null(r->ill);
	bed_destroy(b);
}

Test(figures, what_is_not_told_is_unknown)
{
	static const char *const keys[] = {"sm-clock", "memory-clock", "temperature",
		"memory-temperature", "power-mw", "energy-mj", "pcie-replay", "busy", "encoder",
		"decoder", "remapped", "gpm"};
	struct bed *b = bed_create("libnvidia-ml.so.1");
	char text[2048] = BED_ONE;
	for (size_t i = 0; i < COUNT_OF(keys); i++) {
		(void)snprintf(text + strlen(text), sizeof text - strlen(text), "%s unsupported\n",
			keys[i]);
	}
	bed_write(b, text);
	(void)bed_look(b);
	const struct gpu_reading *r = &bed_next(b)->devices[0];
	for (int i = 0; i < FIGURE_COUNT; i++) {
		bool told = i == FIGURE_XID || i == FIGURE_COMPUTE_MODE ||
			    (i >= FIGURE_FB_FREE && i <= FIGURE_FB_TOTAL);
		cr_expect_eq(r->figures[i] != GPU_UNKNOWN, told, "figure %d", i);
	}
	cr_assert(r->answered);
	cr_assert_null(r->ill);
	cr_assert_eq(b->sample.errors, 0);
	bed_destroy(b);
}

Test(figures, of_an_old_driver)
{
	struct bed *b = bed_create("libnvidia-ml-oldest.so.1");
	bed_write(b, BED_ONE "bus-id 00000001:C1:00.0\nused-mib 100\nreserved-mib 20\n");
	const struct gpu_reading *r = &bed_look(b)->devices[0];
	cr_assert(r->answered);
	cr_assert_str_eq(r->pci_bus_id, "00000001:C1:00.0");
	cr_assert_eq(r->figures[FIGURE_FB_USED], 120ll << 20);
	cr_assert_eq(r->figures[FIGURE_FB_RESERVED], GPU_UNKNOWN);
	cr_assert_eq(r->figures[FIGURE_ROW_REMAP_FAILURE], GPU_UNKNOWN);
	cr_assert_eq(r->figures[FIGURE_GPU_TEMP], 35);
	bed_destroy(b);
}

Test(gpm, is_of_the_time_between_two_looks)
{
	struct bed *b = bed_create("libnvidia-ml.so.1");
	bed_write(b, BED_ONE "gpm 40 30.55 20 10 5 100 0.5\n");
	const struct gpu_reading *r = &bed_look(b)->devices[0];
	cr_assert_eq(r->figures[FIGURE_PROF_SM_ACTIVE], GPU_UNKNOWN, "one sample tells nothing");
	bed_pass(b, 99);
	r = &bed_look(b)->devices[0];
	cr_assert_eq(r->figures[FIGURE_PROF_SM_ACTIVE], GPU_UNKNOWN, "nor do two so close");
	r = &bed_next(b)->devices[0];
	static const int64_t told[] = {400, 306, 200, 100, 50, 104857600, 524288};
	for (size_t i = 0; i < COUNT_OF(told); i++) {
		cr_expect_eq(r->figures[FIGURE_PROF_GR_ENGINE_ACTIVE + i], told[i], "%zu: %lld", i,
			(long long)r->figures[FIGURE_PROF_GR_ENGINE_ACTIVE + i]);
	}
	bed_write(b, BED_ONE "gpm 100.2 nan 300 0 0 0 0\n");
	r = &bed_next(b)->devices[0];
	cr_assert_eq(r->figures[FIGURE_PROF_GR_ENGINE_ACTIVE], 1000);
	cr_assert_eq(r->figures[FIGURE_PROF_SM_ACTIVE], GPU_UNKNOWN);
	cr_assert_eq(r->figures[FIGURE_PROF_SM_OCCUPANCY], GPU_UNKNOWN);
	bed_destroy(b);
}

Test(xid, of_a_program_leaves_the_device_well)
{
	static const int own[] = {13, 31, 43, 45, 68, 109};
	struct bed *b = bed_create("libnvidia-ml.so.1");
	char text[512] = BED_ONE;
	bed_write(b, text);
	cr_assert_eq(bed_look(b)->devices[0].figures[FIGURE_XID], 0);
	for (size_t i = 0; i < COUNT_OF(own); i++) {
		(void)snprintf(text + strlen(text), sizeof text - strlen(text), "xid %d\n", own[i]);
		bed_write(b, text);
		const struct gpu_reading *r = &bed_next(b)->devices[0];
		cr_expect_eq(r->figures[FIGURE_XID], own[i]);
		cr_expect_null(r->ill);
		cr_expect_eq(r->ill_xid, 0);
	}
	bed_destroy(b);
}

Test(xid, of_the_device_makes_it_ill_for_good)
{
	struct bed *b = bed_create("libnvidia-ml.so.1");
	bed_write(b, BED_ONE "device\nuuid " BED_B "\n");
	(void)bed_look(b);
	bed_write(b, BED_ONE "device\nuuid " BED_B "\nxid 79\nxid 13\n");
	for (int look = 0; look < 3; look++) {
		const struct gpu_sample *s = bed_next(b);
		cr_assert_null(s->devices[0].ill);
		cr_assert_eq(s->devices[0].figures[FIGURE_XID], 0);
		cr_assert_str_eq(s->devices[1].ill, "XID 79: the GPU has fallen off the bus");
		cr_assert_eq(s->devices[1].ill_xid, 79);
		cr_assert_eq(s->devices[1].figures[FIGURE_XID], 13, "the last one");
	}
	bed_destroy(b);
}

Test(xid, is_forgiven_by_a_reset)
{
	struct bed *b = bed_create("libnvidia-ml.so.1");
	bed_write(b, BED_ONE);
	(void)bed_look(b);
	bed_write(b, BED_ONE "xid 4711\n");
	cr_assert_str_eq(bed_next(b)->devices[0].ill, "XID 4711");
	/* One that fails once in a while was not reset. */
	bed_write(b, BED_ONE "xid 4711\nreturn nvmlDeviceGetName 999\n");
	cr_assert_not(bed_next(b)->devices[0].answered);
	bed_write(b, BED_ONE "xid 4711\n");
	cr_assert_not_null(bed_next(b)->devices[0].ill);
	bed_write(b, BED_ONE "xid 4711\nreturn nvmlDeviceGetUUID 16\n");
	cr_assert_eq(bed_next(b)->devices[0].ill_xid, 4711);
	bed_write(b, BED_ONE "xid 4711\n");
	cr_assert_null(bed_next(b)->devices[0].ill);
	bed_destroy(b);
}

Test(xid, cannot_be_told_where_nobody_listens)
{
	struct bed *b = bed_create("libnvidia-ml.so.1");
	bed_write(b, BED_ONE "return nvmlDeviceRegisterEvents 3\n");
	cr_assert_eq(bed_look(b)->devices[0].figures[FIGURE_XID], GPU_UNKNOWN);
	bed_destroy(b);
}

Test(health, memory_that_failed)
{
	struct bed *b = bed_create("libnvidia-ml.so.1");
	bed_write(b, BED_ONE "remapped 0 1 0 1\n");
	cr_assert_not_null(strstr(bed_look(b)->devices[0].ill, "repair"));
	bed_write(b, BED_ONE "remapped 3 1 1 0\necc-uncorrected 1\n");
	cr_assert_null(bed_next(b)->devices[0].ill, "the row is replaced at the next reset");
	bed_write(b, BED_ONE "remapped unsupported\necc-uncorrected 1\n");
	cr_assert_not_null(strstr(bed_next(b)->devices[0].ill, "ECC"));
	bed_write(b, BED_ONE "remapped unsupported\necc-uncorrected unsupported\n");
	cr_assert_null(bed_next(b)->devices[0].ill);
	bed_destroy(b);
}
