/* Numbers as this machine has them: both ends are the same program. */
#include "gpu/frame.h"

#define FRAME_MAGIC   0x414c4651u
#define REQUEST_MAGIC 0x414c4652u
#define MARK_MAGIC    0x414c4653u

enum { KIND_SAMPLE = 1, KIND_FAULT = 2 };
enum { FLAG_ANSWERED = 1, FLAG_USE = 2, FLAG_TOLD = 4, FLAG_ILL = 8, FLAG_MIG = 16, FLAGS = 31 };

#define ILL_MAX	 FAULT_MESSAGE_MAX
#define USE_FULL 100000
#define KINDS	 (PROCESS_COMPUTE | PROCESS_GRAPHICS | PROCESS_MPS_CLIENT)

/* --- writing ---------------------------------------------------------------------------------- */

static void put_u32(struct str *to, uint32_t value)
{
	(void)str_append(to, (const char *)&value, sizeof value);
}

static void put_i64(struct str *to, int64_t value)
{
	(void)str_append(to, (const char *)&value, sizeof value);
}

static void frame_put_text(struct str *to, const char *text)
{
	size_t n = strlen(text);
	put_u32(to, (uint32_t)n);
	(void)str_append(to, text, n);
}

static void put_fault(struct str *to, const struct fault *f)
{
	put_u32(to, (uint32_t)f->kind);
	frame_put_text(to, f->message);
}

static void put_process(struct str *to, const struct gpu_process *p)
{
	put_u32(to, p->pid);
	put_u32(to, p->kinds);
	put_i64(to, p->mem_bytes);
	put_u32(to, (uint32_t)p->sm);
	put_u32(to, (uint32_t)p->mem_util);
	put_u32(to, (uint32_t)p->enc);
	put_u32(to, (uint32_t)p->dec);
}

static void put_reading(struct str *to, const struct gpu_reading *r)
{
	const struct gpu_identity *id = &r->device.identity;
	put_u32(to, r->index);
	put_u32(to, (r->answered ? FLAG_ANSWERED : 0u) | (r->process_use ? FLAG_USE : 0u) |
			    (r->processes_told ? FLAG_TOLD : 0u) |
			    (r->ill != NULL ? FLAG_ILL : 0u) | (r->device.mig ? FLAG_MIG : 0u));
	frame_put_text(to, id->uuid);
	frame_put_text(to, id->model);
	frame_put_text(to, id->driver);
	put_i64(to, id->mem_mib);
	put_u32(to, (uint32_t)id->minor);
	frame_put_text(to, r->pci_bus_id);
	put_fault(to, &r->fault);
	frame_put_text(to, r->ill != NULL ? r->ill : "");
	put_u32(to, (uint32_t)r->ill_xid);
	for (int i = 0; i < FIGURE_COUNT; i++) {
		put_i64(to, r->figures[i]);
	}
	put_u32(to, r->process_count);
	for (uint32_t i = 0; i < r->process_count; i++) {
		put_process(to, &r->processes[i]);
	}
}

/* The head is put in once the size is known. */
static bool frame_close(struct str *to, size_t at)
{
	if (to->overflow) {
		return false;
	}
	uint32_t head[2] = {FRAME_MAGIC, (uint32_t)(to->len - at)};
	_Static_assert(sizeof head == FRAME_HEAD_BYTES, "two numbers");
	memcpy(to->p + at, head, sizeof head);
	return true;
}

bool frame_write_sample(struct str *to, const struct gpu_sample *s)
{
	size_t at = to->len;
	put_i64(to, 0);
	put_u32(to, KIND_SAMPLE);
	put_i64(to, s->taken_ms);
	put_i64(to, s->took_ms);
	put_u32(to, s->retries);
	put_u32(to, s->dropped);
	put_u32(to, s->errors);
	frame_put_text(to, s->driver);
	put_u32(to, (uint32_t)s->cuda);
	put_u32(to, s->device_count);
	for (uint32_t i = 0; i < s->device_count; i++) {
		put_reading(to, &s->devices[i]);
	}
	return frame_close(to, at);
}

bool frame_write_fault(struct str *to, const struct fault *why)
{
	size_t at = to->len;
	put_i64(to, 0);
	put_u32(to, KIND_FAULT);
	put_fault(to, why);
	return frame_close(to, at);
}

void frame_write_request(char to[FRAME_REQUEST_BYTES], const struct frame_request *request)
{
	uint32_t words[2] = {REQUEST_MAGIC, request->use_every_ms};
	_Static_assert(sizeof words + sizeof request->left_out == FRAME_REQUEST_BYTES, "all of it");
	memcpy(to, words, sizeof words);
	memcpy(to + sizeof words, &request->left_out, sizeof request->left_out);
}

void frame_write_mark(char to[FRAME_MARK_BYTES], uint32_t index)
{
	uint32_t words[2] = {MARK_MAGIC, index};
	_Static_assert(sizeof words == FRAME_MARK_BYTES, "two numbers");
	memcpy(to, words, sizeof words);
}

/* --- reading ---------------------------------------------------------------------------------- */

/* What is left of the frame; bad once anything was wrong, and then everything reads as zero. */
struct reader {
	const char *at;
	size_t left;
	const char *wrong; /* the first thing that was; NULL: nothing */
	struct arena *arena;
};

static void reader_refuse(struct reader *r, const char *what)
{
	r->wrong = r->wrong != NULL ? r->wrong : what;
	r->left = 0;
}

static void reader_take(struct reader *r, void *to, size_t n, const char *what)
{
	memset(to, 0, n);
	if (r->left < n) {
		reader_refuse(r, what);
		return;
	}
	memcpy(to, r->at, n);
	r->at += n;
	r->left -= n;
}

static uint32_t take_u32(struct reader *r, const char *what)
{
	uint32_t value;
	reader_take(r, &value, sizeof value, what);
	return value;
}

static int64_t take_i64(struct reader *r, int64_t least, const char *what)
{
	int64_t value;
	reader_take(r, &value, sizeof value, what);
	if (value < least && r->wrong == NULL) {
		reader_refuse(r, what);
	}
	return r->wrong == NULL ? value : 0;
}

static int32_t take_i32(struct reader *r, int32_t least, int32_t most, const char *what)
{
	int32_t value;
	reader_take(r, &value, sizeof value, what);
	if ((value < least || value > most) && r->wrong == NULL) {
		reader_refuse(r, what);
	}
	return r->wrong == NULL ? value : 0;
}

/* A count of things of which each has so many bytes at least: none is made room for that cannot be
 * there. */
static uint32_t take_count(struct reader *r, uint32_t most, size_t each, const char *what)
{
	uint32_t count = take_u32(r, what);
	if (count > most || count > r->left / each) {
		reader_refuse(r, what);
		return 0;
	}
	return count;
}

static void reader_take_text(struct reader *r, char *to, size_t size, const char *what)
{
	uint32_t n = take_u32(r, what);
	to[0] = '\0';
	if (n >= size || n > r->left || memchr(r->at, '\0', n) != NULL) {
		reader_refuse(r, what);
		return;
	}
	reader_take(r, to, n, what);
	to[n] = '\0';
}

static void take_fault(struct reader *r, struct fault *f)
{
	uint32_t kind = take_u32(r, "the kind of a fault");
	if (kind > FAULT_FATAL) {
		reader_refuse(r, "the kind of a fault");
		kind = FAULT_NONE;
	}
	*f = (struct fault){.kind = (enum fault_kind)kind};
	reader_take_text(r, f->message, sizeof f->message, "the message of a fault");
}

static int32_t reader_take_use(struct reader *r)
{
	return take_i32(r, -1, USE_FULL, "what a process uses");
}

static void take_process(struct reader *r, struct gpu_process *p, uint32_t after_pid)
{
	p->pid = take_u32(r, "a process");
	p->kinds = take_u32(r, "the kind of a process");
	p->mem_bytes = take_i64(r, -1, "the memory of a process");
	p->sm = reader_take_use(r);
	p->mem_util = reader_take_use(r);
	p->enc = reader_take_use(r);
	p->dec = reader_take_use(r);
	if (p->pid <= after_pid || (p->kinds & ~(uint32_t)KINDS) != 0) {
		reader_refuse(r, "the order of the processes");
	}
}
enum { PROCESS_BYTES = 4 + 4 + 8 + 4 * 4 };

static void take_flags(struct reader *r, struct gpu_reading *to)
{
	uint32_t flags = take_u32(r, "the flags of a device");
	if ((flags & ~(uint32_t)FLAGS) != 0) {
		reader_refuse(r, "the flags of a device");
	}
	to->answered = (flags & FLAG_ANSWERED) != 0;
	to->process_use = (flags & FLAG_USE) != 0;
	to->processes_told = (flags & FLAG_TOLD) != 0;
	to->device.mig = (flags & FLAG_MIG) != 0;
	to->ill = (flags & FLAG_ILL) != 0 ? "" : NULL;
}

static void take_reading(struct reader *r, struct gpu_reading *to)
{
	char ill[ILL_MAX];
	to->index = (uint32_t)take_i32(r, 0, PROBE_DEVICES_MAX - 1, "the index of a device");
	take_flags(r, to);
	struct gpu_identity *id = &to->device.identity;
	reader_take_text(r, id->uuid, sizeof id->uuid, "a UUID");
	reader_take_text(r, id->model, sizeof id->model, "a model");
	reader_take_text(r, id->driver, sizeof id->driver, "a driver");
	id->mem_mib = take_i64(r, 0, "the memory of a device");
	id->minor = take_i32(r, 0, INT32_MAX, "the number of a device");
	reader_take_text(r, to->pci_bus_id, sizeof to->pci_bus_id, "a place on the bus");
	take_fault(r, &to->fault);
	reader_take_text(r, ill, sizeof ill, "why a device is ill");
	if (to->ill == NULL && ill[0] != '\0') {
		reader_refuse(r, "why a device is ill");
	}
	to->ill = to->ill != NULL ? arena_strdup(r->arena, ill) : NULL;
	to->ill_xid = take_i32(r, 0, INT32_MAX, "an XID");
	for (int i = 0; i < FIGURE_COUNT; i++) {
		to->figures[i] = take_i64(r, INT64_MIN, "a figure");
	}
	to->process_count = take_count(r, SAMPLE_PROCESSES_MAX, PROCESS_BYTES, "the processes");
	to->processes = ARENA_ARRAY(r->arena, struct gpu_process, to->process_count + 1u);
	uint32_t pid = 0;
	for (uint32_t i = 0; i < to->process_count; i++) {
		take_process(r, &to->processes[i], pid);
		pid = to->processes[i].pid;
	}
	bool sound = to->answered ? to->fault.kind == FAULT_NONE
				  : to->fault.kind != FAULT_NONE && to->ill != NULL &&
					    !to->processes_told;
	if (!sound || (to->process_count > 0 && !to->processes_told)) {
		reader_refuse(r, "whether a device answered");
	}
}
enum { READING_BYTES = 4 * 12 + 8 + FIGURE_COUNT * 8 };

static void take_sample(struct reader *r, struct gpu_sample *s)
{
	s->taken_ms = take_i64(r, 0, "the time of the look");
	s->took_ms = take_i64(r, 0, "the length of the look");
	s->retries = take_u32(r, "the retries");
	s->dropped = take_u32(r, "the dropped rows");
	s->errors = take_u32(r, "the errors");
	reader_take_text(r, s->driver, sizeof s->driver, "the driver's version");
	s->cuda = take_i32(r, 0, INT32_MAX, "the version of CUDA");
	s->device_count = take_count(r, PROBE_DEVICES_MAX, READING_BYTES, "the devices");
	s->devices = ARENA_ARRAY(r->arena, struct gpu_reading, s->device_count + 1u);
	for (uint32_t i = 0; i < s->device_count; i++) {
		take_reading(r, &s->devices[i]);
		if (i > 0 && s->devices[i].index <= s->devices[i - 1].index) {
			reader_refuse(r, "the order of the devices");
		}
	}
}

int64_t frame_size(struct view bytes, struct fault *ret_fault)
{
	uint32_t head[2];
	if (bytes.n < FRAME_HEAD_BYTES) {
		return 0;
	}
	memcpy(head, bytes.p, sizeof head);
	if (head[0] != FRAME_MAGIC || head[1] < FRAME_HEAD_BYTES) {
		return fault_set(ret_fault, FAULT_INVALID,
			"the answer of the process that asks the driver does not begin as one");
	}
	if (head[1] > FRAME_BYTES_MAX) {
		return fault_set(ret_fault, FAULT_LIMIT,
			"the answer of the process that asks the driver has %u bytes, at most %zu "
			"are taken",
			head[1], FRAME_BYTES_MAX);
	}
	return head[1];
}

int frame_read(
	struct view bytes, struct arena *arena, struct frame *ret_frame, struct fault *ret_fault)
{
	struct frame frame = {0};
	int64_t size = frame_size(bytes, ret_fault);
	if (size < 0) {
		return -1;
	}
	struct reader r = {.at = bytes.p, .left = bytes.n, .arena = arena};
	if (size == 0 || (size_t)size != bytes.n) {
		reader_refuse(&r, "its size");
	} else {
		r.at += FRAME_HEAD_BYTES;
		r.left -= FRAME_HEAD_BYTES;
	}
	uint32_t kind = take_u32(&r, "its kind");
	frame.looked = kind == KIND_SAMPLE;
	if (frame.looked) {
		take_sample(&r, &frame.sample);
	} else {
		take_fault(&r, &frame.why);
	}
	if (!frame.looked && (kind != KIND_FAULT || frame.why.kind == FAULT_NONE)) {
		reader_refuse(&r, "its kind");
	}
	if (r.wrong != NULL || r.left > 0) {
		return fault_set(ret_fault, FAULT_INVALID,
			"the answer of the process that asks the driver is no look: %s is wrong",
			r.wrong != NULL ? r.wrong : "its end");
	}
	*ret_frame = frame;
	return 0;
}

int frame_read_request(const char from[FRAME_REQUEST_BYTES], struct frame_request *ret_request,
	struct fault *ret_fault)
{
	uint32_t words[2];
	memcpy(words, from, sizeof words);
	if (words[0] != REQUEST_MAGIC) {
		return fault_set(ret_fault, FAULT_INVALID, "what was asked is no request");
	}
	ret_request->use_every_ms = words[1];
	memcpy(&ret_request->left_out, from + sizeof words, sizeof ret_request->left_out);
	return 0;
}

bool frame_read_mark(struct view bytes, uint32_t *ret_index)
{
	uint32_t words[2];
	if (bytes.n < sizeof words) {
		return false;
	}
	memcpy(words, bytes.p, sizeof words);
	if (words[0] != MARK_MAGIC || words[1] >= PROBE_DEVICES_MAX) {
		return false;
	}
	*ret_index = words[1];
	return true;
}
