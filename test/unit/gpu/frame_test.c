/* A look as bytes: the same comes back, and nothing else is taken. */
#include "gpu/frame.h"

#include <criterion/criterion.h>
#include <stdio.h>

static struct gpu_process processes[] = {{.pid = 7,
						 .kinds = PROCESS_COMPUTE,
						 .mem_bytes = 1 << 20,
						 .sm = 100000,
						 .mem_util = 0,
						 .enc = 5,
						 .dec = 6},
	{.pid = 8,
		.kinds = PROCESS_COMPUTE | PROCESS_MPS_CLIENT,
		.mem_bytes = -1,
		.sm = -1,
		.mem_util = -1,
		.enc = -1,
		.dec = -1}};

static struct gpu_reading readings[2];

static struct gpu_sample sample_made(void)
{
	struct gpu_reading *r = &readings[0];
	*r = (struct gpu_reading){.device = {.identity = {.uuid = "GPU-1",
						     .model = "H100 \"x\"",
						     .driver = "550",
						     .mem_mib = 81000,
						     .minor = 3}},
		.pci_bus_id = "00000000:41:00.0",
		.index = 1,
		.answered = true,
		.process_use = true,
		.processes_told = true,
		.ill = "XID 79",
		.ill_xid = 79,
		.processes = processes,
		.process_count = 2};
	for (int i = 0; i < FIGURE_COUNT; i++) {
		r->figures[i] = i % 3 == 0 ? GPU_UNKNOWN : i * 1000;
	}
	readings[1] = (struct gpu_reading){.device = {.mig = true},
		.index = 4,
		.ill = "lost",
		.fault = {.kind = FAULT_GONE, .message = "lost"}};
	return (struct gpu_sample){.devices = readings,
		.device_count = 2,
		.taken_ms = 12345,
		.took_ms = 6,
		.retries = 1,
		.dropped = 2,
		.errors = 3,
		.driver = "550.54.15",
		.cuda = 12040};
}

static struct view view_of_str(const struct str *s)
{
	return (struct view){str_text(s), s->len};
}

static void expect_same(const struct gpu_reading *a, const struct gpu_reading *b)
{
	cr_expect_eq(
		memcmp(&a->device.identity, &b->device.identity, sizeof a->device.identity), 0);
	cr_expect_eq(a->device.mig, b->device.mig);
	cr_expect_str_eq(a->pci_bus_id, b->pci_bus_id);
	cr_expect_eq(a->answered, b->answered);
	cr_expect_eq(a->process_use, b->process_use);
	cr_expect_eq(a->processes_told, b->processes_told);
	cr_expect_eq(a->fault.kind, b->fault.kind);
	cr_expect_str_eq(a->fault.message, b->fault.message);
	cr_expect_str_eq(a->ill, b->ill);
	cr_expect_eq(a->ill_xid, b->ill_xid);
	cr_expect_eq(memcmp(a->figures, b->figures, sizeof a->figures), 0);
	cr_assert_eq(a->process_count, b->process_count);
	if (a->process_count > 0) {
		cr_expect_eq(
			memcmp(a->processes, b->processes, a->process_count * sizeof *a->processes),
			0);
	}
}

Test(frame, a_sample_comes_back_as_it_was)
{
	CLEANUP(str_finish) struct str text = STR_INIT(FRAME_BYTES_MAX);
	CLEANUP(arena_finish) struct arena arena = {0};
	struct gpu_sample s = sample_made();
	struct frame f;
	struct fault fault = {0};
	cr_assert(frame_write_sample(&text, &s));
	cr_assert_eq(frame_size(view_of_str(&text), &fault), (int64_t)text.len);
	cr_assert_eq(frame_read(view_of_str(&text), &arena, &f, &fault), 0, "%s", fault.message);
	cr_assert(f.looked);
	cr_expect_eq(f.sample.taken_ms, 12345);
	cr_expect_eq(f.sample.took_ms, 6);
	cr_expect_eq(f.sample.retries, 1);
	cr_expect_eq(f.sample.dropped, 2);
	cr_expect_eq(f.sample.errors, 3);
	cr_expect_str_eq(f.sample.driver, "550.54.15");
	cr_expect_eq(f.sample.cuda, 12040);
	cr_assert_eq(f.sample.device_count, 2);
	expect_same(&f.sample.devices[0], &readings[0]);
	expect_same(&f.sample.devices[1], &readings[1]);
	cr_expect(f.sample.devices[0].index == 1 && f.sample.devices[1].index == 4);
}

Test(frame, a_fault_comes_back_as_it_was)
{
	CLEANUP(str_finish) struct str text = STR_INIT(FRAME_BYTES_MAX);
	CLEANUP(arena_finish) struct arena arena = {0};
	struct fault why = {.kind = FAULT_TRANSIENT, .message = "the driver is not loaded"}, fault;
	struct frame f;
	cr_assert(frame_write_fault(&text, &why));
	cr_assert_eq(frame_read(view_of_str(&text), &arena, &f, &fault), 0);
	cr_assert_not(f.looked);
	cr_assert_eq(f.why.kind, FAULT_TRANSIENT);
	cr_assert_str_eq(f.why.message, why.message);
}

/* Whatever is cut off, and whatever byte is another one: never more than a refusal. */
Test(frame, takes_no_other_bytes)
{
	CLEANUP(str_finish) struct str text = STR_INIT(FRAME_BYTES_MAX);
	struct gpu_sample s = sample_made();
	cr_assert(frame_write_sample(&text, &s));
	for (size_t n = 0; n < text.len; n++) {
		CLEANUP(arena_finish) struct arena arena = {0};
		CLEANUP(cleanup_free) char *cut = xmemdup(str_text(&text), n + 1);
		struct frame f;
		struct fault fault = {0};
		cr_assert_eq(frame_read((struct view){cut, n}, &arena, &f, &fault), -1);
		cr_assert_str_not_empty(fault.message);
		memcpy(cut, str_text(&text), n + 1);
		cut[n] = (char)(cut[n] ^ 0x80);
		CLEANUP(cleanup_free) char *whole = xmemdup(str_text(&text), text.len);
		whole[n] = cut[n];
		int rc = frame_read((struct view){whole, text.len}, &arena, &f, &fault);
		cr_assert(rc == -1 || f.sample.device_count <= PROBE_DEVICES_MAX);
	}
}

Test(frame, refuses_what_a_sampler_would_not_say)
{
	static const struct {
		size_t offset; /* in the first process or reading */
		int64_t value;
		const char *words;
	} rows[] = {{offsetof(struct gpu_process, sm), 100001, "uses"},
		{offsetof(struct gpu_process, dec), -2, "uses"},
		{offsetof(struct gpu_process, kinds), 8, "order"},
		{offsetof(struct gpu_process, pid), 9, "order"},
		{offsetof(struct gpu_process, pid), 0, "order"}};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		CLEANUP(str_finish) struct str text = STR_INIT(FRAME_BYTES_MAX);
		CLEANUP(arena_finish) struct arena arena = {0};
		struct gpu_process kept = processes[0];
		struct gpu_sample s = sample_made();
		struct frame f;
		struct fault fault = {0};
		int32_t value = (int32_t)rows[i].value;
		memcpy((char *)&processes[0] + rows[i].offset, &value, sizeof value);
		cr_assert(frame_write_sample(&text, &s));
		processes[0] = kept;
		cr_expect_eq(frame_read(view_of_str(&text), &arena, &f, &fault), -1);
		cr_expect_not_null(strstr(fault.message, rows[i].words), "%s", fault.message);
	}
	struct gpu_sample s = sample_made();
	readings[1].processes_told = true;
	CLEANUP(str_finish) struct str text = STR_INIT(FRAME_BYTES_MAX);
	CLEANUP(arena_finish) struct arena arena = {0};
	struct frame f;
	struct fault fault = {0};
	cr_assert(frame_write_sample(&text, &s));
	cr_expect_eq(frame_read(view_of_str(&text), &arena, &f, &fault), -1);
	cr_expect_not_null(strstr(fault.message, "answered"), "%s", fault.message);
}

Test(frame, says_its_size_and_has_a_limit)
{
	CLEANUP(str_finish) struct str text = STR_INIT(FRAME_BYTES_MAX);
	struct gpu_sample s = sample_made();
	struct fault fault = {0};
	cr_assert(frame_write_sample(&text, &s));
	for (size_t n = 0; n < FRAME_HEAD_BYTES; n++) {
		cr_assert_eq(frame_size((struct view){str_text(&text), n}, &fault), 0);
	}
	uint32_t large = (uint32_t)FRAME_BYTES_MAX + 1;
	memcpy(text.p + 4, &large, sizeof large);
	cr_assert_eq(frame_size(view_of_str(&text), &fault), -1);
	cr_assert_eq(fault.kind, FAULT_LIMIT);
	text.p[0] = 'x';
	cr_assert_eq(frame_size(view_of_str(&text), &fault), -1);
	cr_assert_eq(fault.kind, FAULT_INVALID);
	CLEANUP(str_finish) struct str small = STR_INIT(300);
	cr_assert_not(frame_write_sample(&small, &s));
}

Test(frame, a_request_comes_back_as_it_was)
{
	char bytes[FRAME_REQUEST_BYTES];
	struct frame_request asked = {0};
	struct fault fault = {0};
	frame_write_request(bytes, &(struct frame_request){14500, UINT64_C(1) << 63 | 2});
	cr_assert_eq(frame_read_request(bytes, &asked, &fault), 0);
	cr_assert(asked.use_every_ms == 14500 && asked.left_out == (UINT64_C(1) << 63 | 2));
	bytes[0] = 'x';
	cr_assert_eq(frame_read_request(bytes, &asked, &fault), -1);
}

Test(frame, a_mark_is_none_of_the_answer)
{
	char bytes[FRAME_MARK_BYTES];
	uint32_t index = 7;
	struct fault fault = {0};
	frame_write_mark(bytes, PROBE_DEVICES_MAX - 1);
	cr_assert(frame_read_mark((struct view){bytes, sizeof bytes}, &index));
	cr_assert_eq(index, PROBE_DEVICES_MAX - 1);
	cr_assert_eq(frame_size((struct view){bytes, sizeof bytes}, &fault), -1);
	cr_assert_not(frame_read_mark((struct view){bytes, sizeof bytes - 1}, &index));
	frame_write_mark(bytes, PROBE_DEVICES_MAX);
	cr_assert_not(frame_read_mark((struct view){bytes, sizeof bytes}, &index));
	CLEANUP(str_finish) struct str text = STR_INIT(1024);
	cr_assert(frame_write_fault(&text, &(struct fault){.kind = FAULT_TRANSIENT}));
	cr_assert_not(frame_read_mark(view_of_str(&text), &index));
}

Test(frame, devices_come_in_their_order)
{
	CLEANUP(str_finish) struct str text = STR_INIT(FRAME_BYTES_MAX);
	CLEANUP(arena_finish) struct arena arena = {0};
	struct gpu_sample s = sample_made();
	struct frame f;
	struct fault fault = {0};
	uint32_t kept = readings[1].index;
	readings[1].index = readings[0].index;
	cr_assert(frame_write_sample(&text, &s));
	readings[1].index = kept;
	cr_expect_eq(frame_read(view_of_str(&text), &arena, &f, &fault), -1);
	cr_expect_not_null(strstr(fault.message, "order of the devices"), "%s", fault.message);
}
