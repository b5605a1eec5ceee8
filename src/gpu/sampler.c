/* The look: open, count, then each device by itself. */
#include "base/str.h"
#include "device.h"
#include "figures.h"
#include "gpu/xid.h"
#include "library.h"
#include "look.h"
#include "processes.h"
#include "sampler_parts.h"
#include "use.h"

#define OPEN_FIRST_MS	1000
#define OPEN_CAP_MS	30000
#define REOPEN_EVERY_MS 60000

struct sampler *sampler_create(const char *library, const struct clock *clock)
{
	struct sampler *s = xcalloc(1, sizeof *s);
	s->library_name = library;
	s->clock = clock;
	s->backoff = (struct backoff){.first_ms = OPEN_FIRST_MS, .cap_ms = OPEN_CAP_MS};
	rng_seed(&s->rng, rng_system_seed());
	return s;
}

/* --- the library ------------------------------------------------------------------------------ */

/* Frees what belongs to the opening of the library that is about to end. */
static void device_forget_opening(struct device *d, const struct nvml_calls *calls)
{
	if (d->before != NULL) {
		(void)calls->gpm_free(d->before);
	}
	if (d->after != NULL) {
		(void)calls->gpm_free(d->after);
	}
	d->before = d->after = NULL;
	d->before_ms = 0;
	d->handle = NULL;
}

static void library_close(struct sampler *s)
{
	for (uint32_t i = 0; i < s->device_count; i++) {
		device_forget_opening(s->devices[i], &s->library.calls);
	}
	if (s->events != NULL) {
		(void)s->library.calls.events_free(s->events);
		s->events = NULL;
	}
	nvml_library_finish(&s->library);
	s->reopen_at_ms = 0;
}

void sampler_destroy(struct sampler *s)
{
	if (s == NULL) {
		return;
	}
	library_close(s);
	for (uint32_t i = 0; i < s->device_count; i++) {
		VEC_FINISH(&s->devices[i]->used);
		free(s->devices[i]);
	}
	VEC_FINISH(&s->rows);
	free(s);
}

static void events_open(struct sampler *s)
{
	const struct nvml_calls *calls = &s->library.calls;
	bool whole = calls->events_make != NULL && calls->events_free != NULL &&
		     calls->events_register != NULL && calls->events_wait != NULL;
	if (whole && calls->events_make(&s->events) != NVML_SUCCESS) {
		s->events = NULL;
	}
}

static int library_open(struct sampler *s, struct fault *ret_fault)
{
	int64_t now_ms = clock_mono(s->clock);
	if (s->library.initialised && s->reopen_at_ms != 0 && now_ms >= s->reopen_at_ms) {
		library_close(s);
	}
	if (s->library.initialised) {
		return 0;
	}
	if (now_ms < s->open_at_ms) {
		fault_copy(ret_fault, &s->unopened);
		return -1;
	}
	if (nvml_library_open(&s->library, s->library_name, &s->unopened) != 0) {
		nvml_library_finish(&s->library);
		s->open_at_ms = now_ms + backoff_next(&s->backoff, &s->rng);
		fault_copy(ret_fault, &s->unopened);
		return -1;
	}
	s->backoff.attempt = 0;
	s->open_at_ms = 0;
	events_open(s);
	return 0;
}

/* --- one device ------------------------------------------------------------------------------- */

static struct device *device_of_index(struct sampler *s, uint32_t index)
{
	for (uint32_t i = 0; i < s->device_count; i++) {
		if (s->devices[i]->index == index) {
			return s->devices[i];
		}
	}
	return NULL;
}

/* The memory of the device with this identity. Where all places are taken, one goes that no index
 * points to. */
static struct device *device_for_identity(
	struct sampler *s, const struct gpu_device *told, uint32_t index)
{
	struct device *before = device_of_index(s, index);
	struct device *found = NULL;
	for (uint32_t i = 0; i < s->device_count && found == NULL; i++) {
		if (text_equals(s->devices[i]->told.identity.uuid, told->identity.uuid)) {
			found = s->devices[i];
		}
	}
	if (before != NULL && before != found) {
		before->index = UINT32_MAX;
	}
	if (found == NULL && s->device_count < PROBE_DEVICES_MAX) {
		found = s->devices[s->device_count++] = xcalloc(1, sizeof *found);
	} else if (found == NULL) {
		found = device_of_index(s, UINT32_MAX);
		ENSURE(found != NULL);
		device_forget_opening(found, &s->library.calls);
		VEC_FINISH(&found->used);
		*found = (struct device){0};
	}
	found->told = *told;
	found->index = index;
	return found;
}

static void figures_unknown(struct gpu_reading *r)
{
	for (int i = 0; i < FIGURE_COUNT; i++) {
		r->figures[i] = GPU_UNKNOWN;
	}
}

/* What a device cannot be looked at without: whatever it says instead is why it did not answer. */
static bool look_needs(struct look *l, int code, const char *call)
{
	if (!look_took(l, code, call) && l->reading->fault.kind == FAULT_NONE) {
		(void)nvml_fault(&l->reading->fault, code, call);
	}
	return code == NVML_SUCCESS;
}

/* Asks who it is: false, it does not answer. */
static bool device_meet(struct look *l, uint32_t index)
{
	char text[GPU_UUID_MAX];
	struct gpu_device told = {0};
	if (!look_needs(l, l->calls->uuid(l->handle, text, sizeof text), "read the UUID")) {
		return false;
	}
	if (device_describe(l->calls, l->handle, &told, &l->reading->fault) != 0) {
		return false;
	}
	l->device = device_for_identity(l->s, &told, index);
	return true;
}

/* What did not answer keeps the name that it had, and what it has done until then. */
static void reading_of_absent(struct look *l, uint32_t index)
{
	struct gpu_reading *r = l->reading;
	struct device *d = l->device != NULL ? l->device : device_of_index(l->s, index);
	r->answered = false;
	r->processes = NULL;
	r->process_count = 0;
	r->processes_told = false;
	r->ill = arena_strdup(l->arena, r->fault.message);
	figures_unknown(r);
	if (d == NULL) {
		return;
	}
	r->device = d->told;
	memcpy(r->pci_bus_id, d->pci_bus_id, sizeof r->pci_bus_id);
	r->figures[FIGURE_XID] = d->heard ? d->xid : GPU_UNKNOWN;
	r->ill_xid = d->ill_xid;
	/* On its way back it may fail otherwise for a while. */
	d->lost = d->lost || r->fault.kind == FAULT_GONE || r->fault.kind == FAULT_FATAL;
}

static void device_look(struct look *l, uint32_t index)
{
	static void (*const steps[])(struct look * l) = {xid_listen, look_figures, look_processes,
		look_use, look_gpm, look_samples, look_health};
	struct gpu_reading *r = l->reading;
	figures_unknown(r);
	r->answered = look_needs(l, l->calls->handle(index, &l->handle), "open a GPU");
	r->answered = r->answered && device_meet(l, index);
	if (r->answered && l->device->lost) {
		/* Whatever the XID stood for: it was reset since. */
		l->device->lost = false;
		l->device->ill_xid = 0;
	}
	for (size_t i = 0; r->answered && i < COUNT_OF(steps); i++) {
		steps[i](l);
	}
	if (!r->answered) {
		reading_of_absent(l, index);
		return;
	}
	r->device = l->device->told;
	memcpy(r->pci_bus_id, l->device->pci_bus_id, sizeof r->pci_bus_id);
}

/* --- the look --------------------------------------------------------------------------------- */

static void driver_read(struct sampler *s, struct gpu_sample *sample)
{
	char text[96] = "";
	int cuda = 0;
	if (s->library.calls.driver_version(text, sizeof text) == NVML_SUCCESS) {
		(void)snprintf(sample->driver, sizeof sample->driver, "%.*s",
			(int)sizeof sample->driver - 1, text);
	}
	if (s->library.calls.cuda_version != NULL &&
		s->library.calls.cuda_version(&cuda) == NVML_SUCCESS && cuda > 0) {
		sample->cuda = cuda;
	}
}

/* Devices that this process may not open are nobody's business here. */
static void index_look(struct look *l, uint32_t index)
{
	struct sampler *s = l->s;
	void *handle;
	l->reading->index = index;
	if ((s->left_out >> index & 1) != 0) {
		figures_unknown(l->reading);
		(void)fault_set(&l->reading->fault, FAULT_TRANSIENT,
			"a call to the driver about this GPU did not come back; it is left out and "
			"tried "
			"again later");
		reading_of_absent(l, index);
		l->sample->device_count++;
		return;
	}
	if (s->on_device != NULL) {
		s->on_device(s->data, index);
	}
	if (s->library.calls.handle(index, &handle) == NVML_NO_PERMISSION) {
		return;
	}
	device_look(l, index);
	/* What cannot be, or is not allowed, is the same tomorrow. */
	const struct gpu_reading *r = l->reading;
	bool may_help =
		!r->answered && r->fault.kind != FAULT_INVALID && r->fault.kind != FAULT_DENIED;
	if (may_help && s->reopen_at_ms == 0) {
		s->reopen_at_ms = clock_mono(s->clock) + REOPEN_EVERY_MS;
	}
	l->sample->device_count++;
}

static int devices_look(const struct look *as, uint32_t count, struct fault *ret_fault)
{
	struct gpu_sample *sample = as->sample;
	sample->devices = ARENA_ARRAY(as->arena, struct gpu_reading, count + 1);
	for (uint32_t i = 0; i < count; i++) {
		struct look look = *as;
		look.reading = &sample->devices[sample->device_count];
		index_look(&look, i);
		if (look.deaf) {
			fault_copy(ret_fault, &look.reading->fault);
			return -1;
		}
	}
	return 0;
}

void sampler_watch(struct sampler *s, void (*on_device)(void *data, uint32_t index), void *data)
{
	s->on_device = on_device;
	s->data = data;
}

void sampler_leave_out(struct sampler *s, uint64_t indices)
{
	_Static_assert(PROBE_DEVICES_MAX <= 64, "a bit for each");
	s->left_out = indices;
}

int sampler_look(struct sampler *s, int64_t use_every_ms, struct arena *arena,
	struct gpu_sample *ret_sample, struct fault *ret_fault)
{
	struct gpu_sample sample = {.taken_ms = clock_mono(s->clock)};
	struct look look = {.s = s,
		.calls = &s->library.calls,
		.arena = arena,
		.sample = &sample,
		.use_every_ms = use_every_ms};
	unsigned count = 0;
	if (library_open(s, ret_fault) != 0) {
		return -1;
	}
	if (nvml_devices_count(look.calls, &count, ret_fault) != 0) {
		library_close(s);
		return -1;
	}
	driver_read(s, &sample);
	xid_gather(s);
	if (devices_look(&look, count, ret_fault) != 0) {
		library_close(s);
		return -1;
	}
	sample.took_ms = clock_mono(s->clock) - sample.taken_ms;
	*ret_sample = sample;
	return 0;
}
