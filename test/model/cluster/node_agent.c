/* The agents: one a machine, as long as it is up. What an agent lists is what really runs there: a
 * pod whose containers run, and what outlived a pod that was taken away by force. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "appetite.h"
#include "checks/check_left.h"
#include "claims/isolation_rules.h"
#include "own/state.h"
#include "model/names.h"
#include "node_agent.h"
#include "objects/dice.h"
#include "objects/machine_find.h"
#include "objects/trace.h"

/* An agent looks at its node no less often. */
#define SAMPLE_MS 5000
#define USES_MAX  512

static void sample_clear(struct sample *t)
{
	for (size_t i = 0; i < t->pods.count; i++) {
		free(t->pods.items[i]);
	}
	VEC_CLEAR(&t->pods);
}

void agent_restart(struct machine *m)
{
	m->boot++;
	m->sequence = 0;
	for (int i = 0; i < m->device_count; i++) {
		struct device *d = &m->devices[i];
		d->unheard = d->sick;
		/* The agent that heard of it ended, and perhaps nobody was told that it is over. */
		d->open = d->open || d->was_sick || d->sick;
	}
	sample_clear(&m->sample);
	m->sample.taken_at = -SAMPLE_MS;
}

void agent_finish(struct machine *m)
{
	sample_clear(&m->sample);
	VEC_FINISH(&m->sample.pods);
	portions_finish(&m->sample.portions);
}

static void sample_take(struct sim *s, struct machine *m)
{
	struct sample *t = &m->sample;
	size_t at = 0;
	sample_clear(t);
	t->taken_at = sim_now(s);
	for (size_t i = 0; i < s->store.items.count; i++) {
		const struct stored *o = s->store.items.items[i];
		bool runs = o->resource == RES_PODS && o->pod.phase == POD_RUNNING &&
			    text_equals(o->pod.node, m->name);
		if (runs) {
			VEC_PUSH(&t->pods, xstrdup(o->uid));
		}
	}
	for (const struct left *left; (left = left_on(s, m->name, &at)) != NULL;) {
		VEC_PUSH(&t->pods, xstrdup(left->tenant));
	}
	portions_take(s, m, &t->portions);
}

/* Those of one pod stand together, in the order of the pods. */
static uint32_t uses_of(const struct machine *m, struct pod_use *out, uint32_t most)
{
	const struct sample *t = &m->sample;
	uint32_t n = 0;
	for (size_t i = 0; i < t->pods.count; i++) {
		vec_for_each (const struct portion, p, &t->portions.uses) {
			if (n < most && strcmp(p->uid, t->pods.items[i]) == 0) {
				out[n++] = (struct pod_use){
					t->pods.items[i], m->devices[p->device].uuid, p->mib, 1};
			}
		}
	}
	return n;
}

char *agent_answer(struct sim *s, const char *node, bool nobody)
{
	struct machine *m = fleet_find(s, node);
	char boot[32];
	struct device_state devices[COUNT_OF(m->devices)];
	struct str out = STR_INIT(STATE_BYTES_MAX);
	if (m == NULL) {
		return NULL;
	}
	int64_t now = sim_now(s);
	bool old = m->sample.taken_at <= now - SAMPLE_MS || m->sequence == 0;
	if (!nobody && (old || !dice_falls(s, "old sample", s->weather.cached))) {
		sample_take(s, m);
	} else if (!nobody) {
		dice_say(s, "the agent of %s answers with what it saw %lld ms ago", m->name,
			(long long)(now - m->sample.taken_at));
	}
	for (int i = 0; i < m->device_count; i++) {
		bool heard = m->devices[i].sick && !m->devices[i].unheard;
		devices[i] = (struct device_state){.uuid = m->devices[i].uuid,
			.why = heard ? "XID 95" : NULL,
			.cause = heard ? ILL_HEARD : ILL_ASKED,
			.mps = nobody ? MPS_UNSAID : modes_daemon(s, &m->devices[i])};
		if (m->sample.portions.told && !nobody) {
			devices[i].total_mib = m->devices[i].mem_mib;
			devices[i].used_mib = m->sample.portions.used_mib[i];
		}
	}
	struct pod_use uses[USES_MAX];
	snprintf(boot, sizeof boot, "boot-%d", m->boot);
	struct node_state state = {.node = m->name,
		.boot = boot,
		.sequence = ++m->sequence,
		.seen_ms = nobody ? 0 : m->sample.taken_at - now,
		.devices = devices,
		.device_count = (uint32_t)m->device_count,
		.pods = (const char **)(uintptr_t)m->sample.pods.items,
		.pod_count = nobody ? 0 : (uint32_t)m->sample.pods.count,
		.uses = uses,
		.use_count = nobody ? 0 : uses_of(m, uses, USES_MAX)};
	bool whole = state_write(&out, &state, store_wall(&s->store));
	ENSURE(whole);
	return str_take(&out);
}

/* --- GPUs fall ill and get well --- */

/* Who does not know of the event cannot tell that it is over: a person says it. */
static void say_it_was_reset(struct sim *s, const struct machine *m)
{
	struct stored *o = m->gone ? NULL : store_find(&s->store, RES_NODES, "", m->name);
	if (o == NULL) {
		return;
	}
	json_t *draft = store_draft(o);
	json_t *meta = json_object_get(draft, "metadata");
	if (json_object_get(meta, "annotations") == NULL) {
		json_object_set_new(meta, "annotations", json_object());
	}
	json_object_set_new(json_object_get(meta, "annotations"), NOTE_GPUS_RESET,
		json_sprintf("%lld", (long long)sim_now(s)));
	store_put(&s->store, RES_NODES, draft, ACTOR_PERSON);
	sim_trace(s, "a person says that the GPUs of %s were reset", m->name);
}

void agent_heal(struct sim *s, struct machine *m, int device)
{
	struct device *d = &m->devices[device];
	if (d->sick) {
		m->sick_at = sim_now(s);
	}
	if (d->open) {
		say_it_was_reset(s, m);
	}
	d->sick = d->unheard = d->open = false;
}

static void get_well(void *data, uint64_t index)
{
	struct sim *s = data;
	struct machine *m = &s->fleet.machines.items[index / COUNT_OF(m->devices)];
	agent_heal(s, m, (int)(index % COUNT_OF(m->devices)));
}

void agent_spells(struct sim *s)
{
	modes_spells(s);
	if (s->fleet.machines.count == 0 || !dice_falls(s, "sick GPU", s->weather.sick)) {
		return;
	}
	uint64_t at = (uint64_t)sim_between(s, 0, (int64_t)s->fleet.machines.count - 1);
	struct machine *m = &s->fleet.machines.items[at];
	uint64_t device = (uint64_t)sim_between(s, 0, m->device_count - 1);
	m->devices[device].sick = m->devices[device].was_sick = true;
	m->devices[device].unheard = false;
	m->sick_at = sim_now(s);
	s->report->faults++;
	dice_say(s, "%s of %s is not healthy", m->devices[device].uuid, m->name);
	sim_trace(s, "%s of %s is not healthy", m->devices[device].uuid, m->name);
	agenda_add(&s->agenda, sim_now(s) + sim_between(s, 1000, 60000), get_well, s,
		at * COUNT_OF(m->devices) + device);
}
