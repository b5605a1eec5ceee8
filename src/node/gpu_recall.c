/* The driver tells an XID once, to who listens. */
#include "gpu_recall.h"

#include <string.h>

#include "base/str.h"
#include "gpu/sampler.h"

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

void recall_merge(struct recall *r, struct gpu_sample *sample, struct arena *arena)
{
	for (uint32_t i = 0; i < sample->device_count; i++) {
		struct gpu_reading *reading = &sample->devices[i];
		struct recalled *m = recall_of(r, reading->device.identity.uuid);
		if (m != NULL) {
			reading_merge(m, reading, arena);
		}
	}
}

void recall_finish(struct recall *r)
{
	VEC_FINISH(r);
}
