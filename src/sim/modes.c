/* Who may be on a GPU by its mode, from the objects alone: that of a tenant and of a capacity pod
 * is written on it when it is made, and never changes. */
#include "modes.h"

#include <stdio.h>
#include <string.h>

#include "claim.h"
#include "model/names.h"
#include "model/plan.h"
#include "sim_parts.h"

/* As the webhook does, which makes no client of a pod of several GPUs. */
void modes_ask(struct sim *s, json_t *value)
{
	json_t *meta = json_object_get(value, "metadata");
	json_t *notes = json_object_get(meta, "annotations");
	const char *name = json_string_value(json_object_get(meta, "name"));
	struct dice back = dice_enter(s, dice_next(s, "mode", name, 0));
	if (sim_chance(s, s->weather.walled) && json_object_get(notes, NOTE_GPU_COUNT) == NULL) {
		json_object_set_new(notes, NOTE_ISOLATION, json_string(ISOLATION_MPS_TEXT));
	}
	dice_leave(s, back);
}

bool modes_agree(const struct pod *a, const struct pod *b)
{
	return pod_is_mps(a) == pod_is_mps(b);
}

/* Of those who wait. Who runs is there whatever is written: its capacity pod may have been deleted
 * by hand, and the GPU be held by another. */
void modes_check_ledger(struct sim *s, const struct stored *holder)
{
	const struct ledger *l = &holder->pod.ledger;
	for (uint32_t i = 0; i < l->count; i++) {
		const struct stored *o = store_find_uid(&s->store, l->items[i].uid);
		if (o != NULL && o->resource == RES_PODS && pod_has_gate(&o->pod, NAME_GATE) &&
			!modes_agree(&o->pod, &holder->pod)) {
			sim_fail(s, "mode", "%s promises a GPU to %s, which is of another mode",
				holder->name, o->name);
			return;
		}
	}
}

void modes_check_told(struct sim *s, const struct stored *tenant)
{
	const struct pairs *notes = &tenant->pod.notes;
	bool placed = pairs_get(notes, NOTE_GPU_UUID) != NULL;
	bool limited = pairs_get(notes, NOTE_MPS_THREADS) != NULL &&
		       pairs_get(notes, NOTE_MPS_MEMORY) != NULL;
	bool any = pairs_get(notes, NOTE_MPS_THREADS) != NULL ||
		   pairs_get(notes, NOTE_MPS_MEMORY) != NULL;
	bool wants = placed && pod_is_mps(&tenant->pod);
	if (wants != limited || any != limited) {
		sim_fail(s, "mode", "%s was told limits of MPS where it has none, or none",
			tenant->name);
	}
}

int64_t modes_capacity_cpu(const struct sim *s)
{
	return s->weather.walled > 0 ? CAPACITY_MPS_CPU_MILLI : CAPACITY_CPU_MILLI;
}

int64_t modes_capacity_mem(const struct sim *s)
{
	return s->weather.walled > 0 ? CAPACITY_MPS_MEM_BYTES : CAPACITY_MEM_BYTES;
}

/* Seen there, or asked for and not seen yet. */
static bool holds_other(const struct claim *c, const char *node, bool mps)
{
	for (size_t i = 0; i < c->seen.count; i++) {
		const struct stored *o = c->seen.items[i];
		if (o->resource == RES_PODS && pod_is_capacity(&o->pod) &&
			pod_is_mps(&o->pod) != mps && text_equals(o->pod.node, node)) {
			return true;
		}
	}
	return claim_intends(c, ACTION_CREATE_CAPACITY, NULL, 60000);
}

const char *modes_claim(struct claim *c)
{
	static const char first[] = ", the first on ";
	bool mps = pod_is_mps(&c->pod->pod);
	const char *own = strstr(c->message, " with isolation ");
	const char *node = strstr(c->message, first);
	char name[64];
	if (strncmp(own, mps ? " with isolation MPS" : " with isolation None", 18) != 0) {
		return "it is of the other mode";
	}
	if (node == NULL) {
		return NULL;
	}
	node += strlen(first);
	snprintf(name, sizeof name, "%.*s", (int)strcspn(node, ",; "), node);
	return holds_other(c, name, mps) ? NULL : "no GPU there is of the other mode";
}
