/* The machines: nodes with whole GPUs of their own UUIDs. A machine can be cut off, come back, or
 * be gone for good, and then its pods go with it. */
#include "machines.h"

#include <stdio.h>
#include <string.h>

#include "checks/prober.h"
#include "json/decode.h"
#include "model/names.h"
#include "node_agent.h"
#include "objects/dice.h"
#include "objects/trace.h"
#include "scheduler.h"

#define NOT_READY_AFTER_MS 20000

static json_t *node_value(struct sim *s, const struct machine *m)
{
	char gpus[8], memory[16];
	snprintf(gpus, sizeof gpus, "%d", m->device_count);
	snprintf(memory, sizeof memory, "%lld", (long long)m->devices[0].mem_mib);
	json_t *labels = json_pack("{s:s}", "zone", sim_chance(s, 500) ? "a" : "b");
	if (m->labelled) {
		json_object_set_new(labels, "nvidia.com/gpu.memory", json_string(memory));
	}
	return json_pack(
		"{s:s, s:s, s:{s:s, s:o}, s:{}, s:{s:{s:s, s:s, s:s, s:s}, s:[{s:s, s:s}]}}",
		"apiVersion", "v1", "kind", "Node", "metadata", "name", m->name, "labels", labels,
		"spec", "status", "allocatable", "cpu", "8", "memory", "64Gi", "pods", "40",
		NAME_GPU_RESOURCE, gpus, "conditions", "type", "Ready", "status", "True");
}

static struct machine machine_make(struct sim *s, int gpus, int64_t mem_mib)
{
	struct machine m = {.up = true, .device_count = gpus};
	int number = s->fleet.made++;
	snprintf(m.name, sizeof m.name, "node-%d", number);
	for (int i = 0; i < m.device_count; i++) {
		m.devices[i].mem_mib = mem_mib;
		snprintf(m.devices[i].uuid, sizeof m.devices[i].uuid, "GPU-%d-%d", number, i);
	}
	prober_draw(s, &m);
	return m;
}

static void machine_enter(struct sim *s, const struct machine *m)
{
	VEC_PUSH(&s->fleet.machines, *m);
	store_put(&s->store, RES_NODES, node_value(s, m), ACTOR_CLUSTER);
	prober_place_stranger(s, m);
}

void fleet_make(struct sim *s, int gpus, int64_t mem_mib)
{
	struct machine m = machine_make(s, gpus, mem_mib);
	m.labelled = true;
	machine_enter(s, &m);
}

void fleet_add(struct sim *s)
{
	static const int64_t sizes[] = {16000, 40000, 81559};
	const struct weather *w = &s->weather;
	int most = w->wide > 0 ? w->wide : w->narrow && !w->crowded ? 2 : 4;
	int gpus = (int)sim_between(s, 1, most);
	bool labelled = sim_chance(s, 800);
	struct machine m = machine_make(s, gpus, sizes[sim_between(s, 0, 2)]);
	m.labelled = labelled;
	if (m.device_count > 1 && sim_chance(s, s->weather.doubled)) {
		m.doubled = true;
		memcpy(m.devices[1].uuid, m.devices[0].uuid, sizeof m.devices[1].uuid);
	}
	machine_enter(s, &m);
}

void fleet_init(struct sim *s)
{
	const struct weather *w = &s->weather;
	for (int64_t i = sim_between(s, 1, w->narrow ? 1 : w->wide > 0 ? 2 : 4); i > 0; i--) {
		fleet_add(s);
	}
}

void fleet_finish(struct sim *s)
{
	vec_for_each (struct machine, m, &s->fleet.machines) {
		agent_finish(m);
	}
	VEC_FINISH(&s->fleet.machines);
}

static void machine_set_ready(struct sim *s, const struct machine *m, bool ready)
{
	struct stored *o = store_find(&s->store, RES_NODES, "", m->name);
	if (o != NULL) {
		json_t *draft = store_draft(o);
		json_t *list = json_object_get(json_object_get(draft, "status"), "conditions");
		json_object_set_new(
			json_array_get(list, 0), "status", json_string(ready ? "True" : "Unknown"));
		store_put(&s->store, RES_NODES, draft, ACTOR_CLUSTER);
	}
}

static void machine_not_ready(void *data, uint64_t index)
{
	struct sim *s = data;
	const struct machine *m = &s->fleet.machines.items[index];
	if (!m->up && !m->gone) {
		machine_set_ready(s, m, false);
	}
}

static void come_back(void *data, uint64_t index)
{
	struct sim *s = data;
	struct machine *m = &s->fleet.machines.items[index];
	if (!m->up && !m->gone) {
		sim_trace(s, "%s is back", m->name);
		m->up = true;
		agent_restart(m);
		machine_set_ready(s, m, true);
		scheduler_soon(s);
	}
}

/* The node's object goes, then everything that ran there. */
static void machine_destroy(struct sim *s, struct machine *m)
{
	m->gone = true;
	struct stored *node = store_find(&s->store, RES_NODES, "", m->name);
	if (node != NULL) {
		store_remove(&s->store, node, ACTOR_CLUSTER);
	}
	for (size_t i = 0; i < s->store.items.count;) {
		struct stored *o = s->store.items.items[i];
		if (o->resource == RES_PODS && text_equals(o->pod.node, m->name)) {
			store_remove(&s->store, o, ACTOR_CLUSTER);
			i = 0;
		} else {
			i++;
		}
	}
}

void fleet_lose(struct sim *s, struct machine *m, bool for_good)
{
	uint64_t index = (uint64_t)(m - s->fleet.machines.items);
	m->up = false;
	s->report->faults++;
	sim_trace(s, "%s is lost%s", m->name, for_good ? " for good" : "");
	if (for_good) {
		machine_destroy(s, m);
		return;
	}
	agenda_add(&s->agenda, sim_now(s) + NOT_READY_AFTER_MS, machine_not_ready, s, index);
	agenda_add(&s->agenda, sim_now(s) + sim_between(s, 5000, 60000), come_back, s, index);
}

void fleet_upgrade(struct sim *s, struct machine *m, bool begins)
{
	struct stored *o = m->gone ? NULL : store_find(&s->store, RES_NODES, "", m->name);
	json_t *draft = o != NULL ? store_draft(o) : NULL;
	json_t *labels = decode_find(draft, "metadata.labels") != NULL
				 ? json_object_get(json_object_get(draft, "metadata"), "labels")
				 : NULL;
	if (labels == NULL) {
		json_decref(draft);
		return;
	}
	sim_trace(s, "the driver of %s %s", m->name, begins ? "is upgraded" : "is new");
	m->upgraded_at = begins || m->upgraded_at > 0 ? sim_now(s) + 1 : 0;
	json_object_set_new(labels, "nvidia.com/gpu-driver-upgrade-state",
		json_string(begins ? "pod-deletion-required" : "upgrade-done"));
	store_put(&s->store, RES_NODES, draft, ACTOR_PERSON);
}

void fleet_repair(struct sim *s)
{
	for (size_t i = 0; i < s->fleet.machines.count; i++) {
		struct machine *m = &s->fleet.machines.items[i];
		come_back(s, (uint64_t)i);
		fleet_upgrade(s, m, false);
		prober_repair(s, m);
		for (int k = 0; k < m->device_count; k++) {
			m->sick_at = m->devices[k].faulty ? sim_now(s) : m->sick_at;
			m->devices[k].faulty = false;
			agent_heal(s, m, k);
		}
		struct stored *o = m->gone ? NULL : store_find(&s->store, RES_NODES, "", m->name);
		if (o != NULL) {
			json_t *draft = store_draft(o);
			json_object_del(json_object_get(draft, "spec"), "unschedulable");
			store_put(&s->store, RES_NODES, draft, ACTOR_PERSON);
		}
	}
}
