/* Looks as bytes, of a process that its driver's library may have ruined: whatever comes, what is
 * taken is within its limits and is written again as the same bytes. An odd first byte gives the
 * rest a right head, which chance would not find. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "gpu/frame.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_reading(const struct gpu_reading *r)
{
	ENSURE(r->answered == (r->fault.kind == FAULT_NONE));
	ENSURE(r->answered || (r->ill != NULL && !r->processes_told));
	ENSURE(r->processes_told || r->process_count == 0);
	ENSURE(r->process_count <= SAMPLE_PROCESSES_MAX);
	ENSURE(strlen(r->device.identity.uuid) < sizeof r->device.identity.uuid);
	for (uint32_t i = 0; i < r->process_count; i++) {
		const struct gpu_process *p = &r->processes[i];
		ENSURE(p->pid > (i > 0 ? r->processes[i - 1].pid : 0));
		ENSURE(p->mem_bytes >= -1 && p->sm >= -1 && p->sm <= 100000);
	}
}

static void check_frame(const struct frame *f, struct view bytes)
{
	CLEANUP(str_finish) struct str again = STR_INIT(FRAME_BYTES_MAX);
	if (f->looked) {
		ENSURE(f->sample.device_count <= PROBE_DEVICES_MAX);
		for (uint32_t i = 0; i < f->sample.device_count; i++) {
			check_reading(&f->sample.devices[i]);
		}
		ENSURE(frame_write_sample(&again, &f->sample));
	} else {
		ENSURE(f->why.kind != FAULT_NONE);
		ENSURE(frame_write_fault(&again, &f->why));
	}
	ENSURE(again.len == bytes.n && memcmp(again.p, bytes.p, bytes.n) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	CLEANUP(str_finish) struct str head = STR_INIT(64);
	CLEANUP(arena_finish) struct arena arena = {0};
	const struct fault any = {.kind = FAULT_TRANSIENT};
	struct fault fault = {0};
	struct frame frame;
	if (size == 0) {
		return 0;
	}
	ENSURE(frame_write_fault(&head, &any));
	uint32_t total = (uint32_t)size - 1 + FRAME_HEAD_BYTES;
	memcpy(head.p + 4, &total, sizeof total);
	bool helped = data[0] % 2 == 1;
	size_t n = helped ? size - 1 + FRAME_HEAD_BYTES : size - 1;
	char *bytes = xmalloc(n + 1);
	if (helped) {
		memcpy(bytes, head.p, FRAME_HEAD_BYTES);
	}
	if (size > 1) {
		memcpy(bytes + (helped ? FRAME_HEAD_BYTES : 0), data + 1, size - 1);
	}
	char *exact = xmemdup(bytes, n);
	struct view view = {exact, n};
	int64_t told = frame_size(view, &fault);
	ENSURE(told == 0 ? n < FRAME_HEAD_BYTES : told <= (int64_t)FRAME_BYTES_MAX);
	if (frame_read(view, &arena, &frame, &fault) == 0) {
		ENSURE(told == (int64_t)n);
		check_frame(&frame, view);
	} else {
		ENSURE(fault.kind != FAULT_NONE && fault.message[0] != '\0');
	}
	free(exact);
	free(bytes);
	return 0;
}
