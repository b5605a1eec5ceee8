/* Who may be on a GPU by its mode, from the objects alone: that of a tenant and of a capacity pod
 * is written on it when it is made, and never changes. */
#include "isolation_rules.h"

#include <stdio.h>
#include <string.h>

#include "claim_intent.h"
#include "objects/dice.h"
#include "objects/machine_find.h"
#include "model/names.h"
#include "model/plan.h"
#include "objects/trace.h"

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

/* --- daemons --- */

/* A leader learns late of a capacity pod, and what was said before counts for nothing; from then on
 * it asks every few seconds. */
#define LEARNS_MS 15000

static void get_over(void *data, uint64_t index)
{
	struct sim *s = data;
	struct machine *m = &s->fleet.machines.items[index / COUNT_OF(m->devices)];
	m->devices[index % COUNT_OF(m->devices)].faulty = false;
	m->sick_at = sim_now(s);
}

void modes_spells(struct sim *s)
{
	if (s->fleet.machines.count == 0 || s->weather.walled == 0 ||
		!dice_falls(s, "fault of a daemon", s->weather.faulty)) {
		return;
	}
	uint64_t at = (uint64_t)sim_between(s, 0, (int64_t)s->fleet.machines.count - 1);
	struct machine *m = &s->fleet.machines.items[at];
	uint64_t device = (uint64_t)sim_between(s, 0, m->device_count - 1);
	m->devices[device].faulty = true;
	m->sick_at = sim_now(s);
	s->report->faults++;
	dice_say(s, "the daemon of %s comes to a fault", m->devices[device].uuid);
	agenda_add(&s->agenda, sim_now(s) + sim_between(s, 1000, 200000), get_over, s,
		at * COUNT_OF(m->devices) + device);
}

static const struct stored *device_holder(const struct sim *s, const struct device *d)
{
	const struct stored *o = d->holder[0] != '\0' ? store_find_uid(&s->store, d->holder) : NULL;
	return o != NULL && o->resource == RES_PODS && pod_is_capacity(&o->pod) ? o : NULL;
}

enum mps_state modes_daemon(const struct sim *s, const struct device *d)
{
	const struct stored *o = device_holder(s, d);
	if (o == NULL || !pod_is_mps(&o->pod)) {
		return MPS_UNSAID;
	}
	return d->faulty ? MPS_FAULT : MPS_ACTIVE;
}

static void hear_of_fault(
	struct sim *s, int replica, const struct device_state *told, struct device *d)
{
	int incarnation = s->slots[replica].incarnation;
	bool same = strcmp(d->faults_told[replica].holder, d->holder) == 0 &&
		    d->faults_told[replica].incarnation == incarnation &&
		    d->faults_told[replica].since > 0;
	if (told->mps != MPS_FAULT) {
		d->faults_told[replica].since = 0;
	} else if (!same) {
		memcpy(d->faults_told[replica].holder, d->holder, sizeof d->holder);
		d->faults_told[replica].incarnation = incarnation;
		d->faults_told[replica].since = sim_now(s);
	}
}

void modes_told(struct sim *s, int replica, const struct change *c)
{
	bool tells = c->type == CHANGE_SET && c->kind == KIND_STATE && !c->state->again;
	struct machine *m = tells ? fleet_find(s, c->state->node) : NULL;
	for (uint32_t i = 0; m != NULL && !m->doubled && i < c->state->device_count; i++) {
		for (int k = 0; k < m->device_count; k++) {
			if (strcmp(m->devices[k].uuid, c->state->devices[i].uuid) == 0) {
				hear_of_fault(s, replica, &c->state->devices[i], &m->devices[k]);
			}
		}
	}
}

static bool has_been_told(const struct sim *s, int replica, const struct device *d)
{
	int64_t since = d->faults_told[replica].since;
	int64_t from = since > s->claims.leads_since ? since : s->claims.leads_since;
	return since > 0 && sim_now(s) - from > LEARNS_MS &&
	       d->faults_told[replica].incarnation == s->slots[replica].incarnation &&
	       strcmp(d->faults_told[replica].holder, d->holder) == 0;
}

void modes_check_chosen(struct sim *s, int replica, const char *holder, const char *uid)
{
	const struct stored *t = store_find_uid(&s->store, uid);
	bool waits = t != NULL && t->resource == RES_PODS && pod_has_gate(&t->pod, NAME_GATE);
	vec_for_each (const struct machine, m, &s->fleet.machines) {
		for (int i = 0; waits && i < m->device_count; i++) {
			const struct device *d = &m->devices[i];
			const struct stored *o = device_holder(s, d);
			if (o != NULL && text_equals(o->name, holder) && pod_is_mps(&o->pod) &&
				has_been_told(s, replica, d)) {
				sim_fail(s, "mode", "r%d gives a share of %s to %s in a fault",
					replica, d->uuid, t->name);
				return;
			}
		}
	}
}
