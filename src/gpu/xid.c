/* XIDs: what the driver says of a device when something went wrong on it. */
#include "gpu/xid.h"

#include "look.h"
#include "sampler_parts.h"

#define EVENTS_A_LOOK 256

/* After these the device is as good as before: a program did something that it must not do. The
 * same ones as NVIDIA's device plugin passes over. */
static const int32_t programs_own[] = {13, 31, 43, 45, 68, 109};

static const struct {
	int32_t xid;
	const char *means;
} sentences[] = {
	{48, "memory had an error that ECC could not correct"},
	{62, "the microcontroller halted"},
	{63, "a row of memory is being replaced"},
	{64, "a row of memory could not be replaced"},
	{74, "NVLink had an error"},
	{79, "the GPU has fallen off the bus"},
	{92, "memory has many errors that ECC corrects"},
	{94, "memory had an error that was contained"},
	{95, "memory had an error that was not contained"},
	{119, "the GPU's system processor does not answer"},
	{120, "the GPU's system processor failed"},
	{140, "memory had an error in the kernel's part"},
};

bool xid_is_the_programs(int64_t xid)
{
	for (size_t i = 0; i < COUNT_OF(programs_own); i++) {
		if (programs_own[i] == xid) {
			return true;
		}
	}
	return false;
}

const char *xid_sentence(struct arena *arena, int32_t xid)
{
	for (size_t i = 0; i < COUNT_OF(sentences); i++) {
		if (sentences[i].xid == xid) {
			return arena_printf(arena, "XID %d: %s", (int)xid, sentences[i].means);
		}
	}
	return arena_printf(arena, "XID %d", (int)xid);
}

void xid_listen(struct look *l)
{
	struct device *d = l->device;
	if (d->handle != NULL || l->s->events == NULL) {
		return;
	}
	int code = l->calls->events_register(l->handle, NVML_EVENT_XID, l->s->events);
	if (look_took(l, code, "listen to XIDs")) {
		d->handle = l->handle;
		d->heard = true;
	}
}

static void event_take(struct sampler *s, const struct nvml_event *event)
{
	for (uint32_t i = 0; i < s->device_count; i++) {
		struct device *d = s->devices[i];
		if (d->handle == NULL || d->handle != event->device ||
			event->type != NVML_EVENT_XID || event->data > INT32_MAX) {
			continue;
		}
		d->xid = (int32_t)event->data;
		if (!xid_is_the_programs(d->xid)) {
			d->ill_xid = d->xid;
		}
	}
}

void xid_gather(struct sampler *s)
{
	for (int i = 0; s->events != NULL && i < EVENTS_A_LOOK; i++) {
		struct nvml_event event = {0};
		/* Out of time: there are no more. What else it may be the devices tell. */
		if (s->library.calls.events_wait(s->events, &event, 0) != NVML_SUCCESS) {
			return;
		}
		event_take(s, &event);
	}
}
