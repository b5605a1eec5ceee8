/* Mistakes of reading: what the codec might make of an object, in every controller. */
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "mistakes.h"
#include "model/names.h"

static bool is_tenant(const struct change *c)
{
	return c->type == CHANGE_SET && c->kind == KIND_POD && pod_is_tenant(c->pod);
}

/* "0.25" is read as 0.2. */
void shares_truncated(struct change *c, teller tell, void *data)
{
	struct pod copy;
	struct pair notes[64];
	char share[8];
	if (!is_tenant(c) || c->pod->notes.count > COUNT_OF(notes)) {
		tell(data, c);
		return;
	}
	copy = *c->pod;
	memcpy(notes, copy.notes.items, copy.notes.count * sizeof *notes);
	copy.notes.items = notes;
	for (uint32_t i = 0; i < copy.notes.count; i++) {
		if (strcmp(notes[i].key, NOTE_SHARE) == 0) {
			snprintf(share, sizeof share, "%.3s", notes[i].value);
			notes[i].value = share;
		}
	}
	c->pod = &copy;
	tell(data, c);
}

/* One GPU more than it says. */
void quotas_misread(struct change *c, teller tell, void *data)
{
	struct quota copy;
	if (c->type == CHANGE_SET && c->kind == KIND_QUOTA && c->quota->bounds_gpus) {
		copy = *c->quota;
		copy.hard_milli += MODEL_GPU_MILLI;
		c->quota = &copy;
	}
	tell(data, c);
}

/* Ours is the only gate that is looked for. */
void other_gates_unread(struct change *c, teller tell, void *data)
{
	struct pod copy;
	const char *ours = NAME_GATE;
	if (is_tenant(c) && pod_has_gate(c->pod, NAME_GATE)) {
		copy = *c->pod;
		copy.gates = &ours;
		copy.gate_count = 1;
		c->pod = &copy;
		tell(data, c);
		return;
	}
	tell(data, c);
}
