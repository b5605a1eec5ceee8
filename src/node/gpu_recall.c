/* The driver tells an XID once, to who listens; and a process that never heard a device does not
 * know who it is. */
#include "gpu_recall.h"

#include "base/str.h"
#include "gpu/xid.h"

static struct recalled *recall_of(struct recall *r, const char *uuid)
{
	vec_for_each (struct recalled, it, r) {
		if (text_equals(it->uuid, uuid)) {
			return it;
		}
	}
	if (text_empty(uuid) || r->count >= PROBE_DEVICES_MAX) {
		return NULL;
	}
	struct recalled fresh = {0};
	memcpy(fresh.uuid, uuid, sizeof fresh.uuid);
	fresh.index = UINT32_MAX;
	VEC_PUSH(r, fresh);
	return &r->items[r->count - 1];
}

/* Is it the same device that was ill? One that came back was reset. */
static void note_loss(struct recalled *m, const struct gpu_reading *reading)
{
	enum fault_kind kind = reading->fault.kind;
	if (!reading->answered) {
		m->lost = m->lost || kind == FAULT_GONE || kind == FAULT_FATAL;
	} else if (m->lost) {
		m->lost = false;
		m->ill_xid = 0;
	}
}

static void reading_merge(struct recalled *m, struct gpu_reading *reading, struct arena *arena)
{
	int64_t *xid = &reading->figures[FIGURE_XID];
	note_loss(m, reading);
	m->xid = *xid > 0 ? *xid : m->xid;
	m->ill_xid = reading->ill_xid != 0 ? reading->ill_xid : m->ill_xid;
	if (*xid == 0 || (*xid == GPU_UNKNOWN && m->xid != 0)) {
		*xid = m->xid;
	}
	reading->ill_xid = m->ill_xid;
	if (m->ill_xid != 0 && reading->ill == NULL) {
		reading->ill = xid_sentence(arena, m->ill_xid);
	}
}

static bool sample_has_device(const struct gpu_sample *sample, const char *uuid)
{
	for (uint32_t i = 0; i < sample->device_count; i++) {
		if (text_equals(sample->devices[i].device.identity.uuid, uuid)) {
			return true;
		}
	}
	return false;
}

/* It is the one that was there before, as long as that one is not seen elsewhere. */
static void name_restore(
	const struct recall *r, const struct gpu_sample *sample, struct gpu_reading *reading)
{
	vec_for_each (const struct recalled, m, r) {
		if (m->index == reading->index && !sample_has_device(sample, m->uuid)) {
			reading->device = m->device;
			memcpy(reading->pci_bus_id, m->pci_bus_id, sizeof reading->pci_bus_id);
			return;
		}
	}
}

void recall_merge(struct recall *r, struct gpu_sample *sample, struct arena *arena)
{
	for (uint32_t i = 0; i < sample->device_count; i++) {
		struct gpu_reading *reading = &sample->devices[i];
		if (text_empty(reading->device.identity.uuid)) {
			name_restore(r, sample, reading);
		}
		struct recalled *m = recall_of(r, reading->device.identity.uuid);
		if (m != NULL) {
			reading_merge(m, reading, arena);
		}
		if (m == NULL || !reading->answered) {
			continue;
		}
		vec_for_each (struct recalled, other, r) {
			other->index = other->index == reading->index ? UINT32_MAX : other->index;
		}
		m->index = reading->index;
		m->device = reading->device;
		memcpy(m->pci_bus_id, reading->pci_bus_id, sizeof m->pci_bus_id);
	}
}

void recall_finish(struct recall *r)
{
	VEC_FINISH(r);
}
