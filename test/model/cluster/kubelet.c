/* The kubelets and their device manager. A bound pod is admitted after a while, with a whole device
 * where it asks for one, or refused; then its containers start. A device is free again when the pod
 * is over or its object gone. Capacity pods tell their identity by the termination message of their
 * init container, exactly as the shipped program writes it. */
#include "kubelet.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "own/capacity_text.h"
#include "objects/dice.h"
#include "objects/machine_find.h"
#include "model/names.h"
#include "objects/patch.h"
#include "checks/prober.h"
#include "work_health.h"
#include "claims/work_objects.h"

#define RETRY_MS 1000

static void pod_start(void *data, uint64_t serial);

static uint64_t uid_serial(const char *uid)
{
	int64_t serial = 0;
	return parse_i64(view_of(uid + 4), 0, INT64_MAX, &serial) ? (uint64_t)serial : 0;
}

static struct stored *pod_by_serial(struct sim *s, uint64_t serial)
{
	char uid[32];
	snprintf(uid, sizeof uid, "uid-%06llu", (unsigned long long)serial);
	return store_find_uid(&s->store, uid);
}

/* NULL: its machine does not answer now. */
static struct machine *machine_of(struct sim *s, const struct stored *o)
{
	struct machine *m = fleet_find(s, o->pod.node);
	return m != NULL && m->up ? m : NULL;
}

/* What befalls this pod now. */
static struct dice kubelet_dice(struct sim *s, const struct stored *o, const char *what)
{
	return dice_enter(s, dice_next(s, what, o->name, 0));
}

static void kubelet_later(struct sim *s, int64_t ms, agenda_run run, uint64_t serial)
{
	agenda_add(&s->agenda, sim_now(s) + ms, run, s, serial);
}

static void set_phase_as(
	struct sim *s, struct stored *o, const char *phase, const char *reason, bool ready)
{
	json_t *draft = store_draft(o);
	json_t *status = json_object_get(draft, "status");
	json_object_set_new(status, "phase", json_string(phase));
	if (reason != NULL) {
		json_object_set_new(status, "reason", json_string(reason));
	}
	json_t *wrap = json_pack("{s:[o]}", "conditions", pod_ready_new(s, ready));
	patch_conditions(status, wrap);
	json_decref(wrap);
	store_put(&s->store, RES_PODS, draft, ACTOR_KUBELET);
}

static void set_phase(struct sim *s, struct stored *o, const char *phase, const char *reason)
{
	set_phase_as(s, o, phase, reason, strcmp(phase, "Running") == 0);
}

/* --- the device manager --- */

/* In a cluster that is broken on purpose, whoever is on its way out lets go at once. */
static void let_go_early(struct sim *s, struct machine *m)
{
	for (int i = 0; i < m->device_count; i++) {
		const struct stored *o = store_find_uid(&s->store, m->devices[i].holder);
		if (o != NULL && o->pod.deleting_ms != 0 && pod_is_capacity(&o->pod)) {
			m->devices[i].holder[0] = '\0';
		}
	}
}

static bool allocate(struct sim *s, struct machine *m, const struct stored *o)
{
	int64_t free_ones = 0;
	for (int i = 0; i < m->device_count; i++) {
		free_ones += m->devices[i].holder[0] == '\0';
	}
	if (free_ones < o->pod.gpus && s->config.hooks != NULL &&
		s->config.hooks->devices_free_early) {
		let_go_early(s, m);
	}
	free_ones = 0;
	for (int i = 0; i < m->device_count; i++) {
		free_ones += m->devices[i].holder[0] == '\0';
	}
	if (free_ones < o->pod.gpus) {
		return false;
	}
	int64_t left = o->pod.gpus;
	for (int i = 0; i < m->device_count && left > 0; i++) {
		if (m->devices[i].holder[0] == '\0') {
			snprintf(m->devices[i].holder, sizeof m->devices[i].holder, "%s", o->uid);
			left--;
		}
	}
	return true;
}

static const struct device *device_held_by(const struct machine *m, const char *uid)
{
	for (int i = 0; i < m->device_count; i++) {
		if (strcmp(m->devices[i].holder, uid) == 0) {
			return &m->devices[i];
		}
	}
	return NULL;
}

/* --- running --- */

static void pod_finish(void *data, uint64_t serial)
{
	struct sim *s = data;
	struct stored *o = pod_by_serial(s, serial);
	if (o == NULL || o->pod.phase != POD_RUNNING) {
		return;
	}
	if (machine_of(s, o) == NULL) {
		kubelet_later(s, RETRY_MS, pod_finish, serial);
		return;
	}
	struct dice back = kubelet_dice(s, o, "end");
	set_phase(s, o, sim_chance(s, 800) ? "Succeeded" : "Failed", NULL);
	dice_leave(s, back);
}

/* Some work for ever. */
static void run_work(struct sim *s, struct stored *o, uint64_t serial)
{
	bool whole = o->pod.gpus > 0 && !s->weather.lasting;
	bool stays = pairs_get(&o->pod.labels, "lasting") != NULL;
	struct dice back = kubelet_dice(s, o, "life");
	int64_t unfit_ms = work_of(o) != NULL ? works_unfit_ms(s, o) : 0;
	set_phase_as(s, o, "Running", NULL, unfit_ms == 0);
	if (unfit_ms > 0) {
		kubelet_later(s, unfit_ms, works_get_well, serial);
	}
	if (stays) {
		dice_leave(s, back);
		return;
	}
	if (whole || sim_chance(s, s->weather.mortal)) {
		kubelet_later(s, sim_between(s, 300, s->weather.life_ms), pod_finish, serial);
	}
	dice_leave(s, back);
}

static json_t *init_status(const struct device *d)
{
	CLEANUP(str_finish) struct str text = STR_INIT(IDENTITY_TEXT_MAX);
	struct gpu_identity id = {
		.model = "Modelled", .driver = "570.86.15", .mem_mib = d->mem_mib};
	snprintf(id.uuid, sizeof id.uuid, "%s", d->uuid);
	bool fits = identity_write(&text, &id);
	ENSURE(fits);
	return json_pack("{s:s, s:b, s:i, s:{s:{s:i, s:s, s:s}}}", "name", CAPACITY_INIT_CONTAINER,
		"ready", 1, "restartCount", 0, "state", "terminated", "exitCode", 0, "reason",
		"Completed", "message", str_text(&text));
}

static void pod_hold(void *data, uint64_t serial)
{
	struct sim *s = data;
	struct stored *o = pod_by_serial(s, serial);
	if (o == NULL || pod_is_terminal(&o->pod) || o->pod.deleting_ms != 0) {
		return;
	}
	if (machine_of(s, o) == NULL) {
		kubelet_later(s, RETRY_MS, pod_hold, serial);
		return;
	}
	json_t *draft = store_draft(o);
	json_t *status = json_object_get(draft, "status");
	json_object_set_new(status, "phase", json_string("Running"));
	json_object_set_new(status, "containerStatuses",
		json_pack("[{s:s, s:b, s:i, s:{s:{}}}]", "name", CAPACITY_MAIN_CONTAINER, "ready",
			1, "restartCount", 0, "state", "running"));
	store_put(&s->store, RES_PODS, draft, ACTOR_KUBELET);
}

static void pod_identify(struct sim *s, struct stored *o, const struct machine *m, uint64_t serial)
{
	json_t *draft = store_draft(o);
	json_object_set_new(json_object_get(draft, "status"), "initContainerStatuses",
		json_pack("[o]", init_status(device_held_by(m, o->uid))));
	struct dice back = kubelet_dice(s, o, "identity");
	int64_t delay = sim_between(s, 10, 500);
	dice_leave(s, back);
	store_put(&s->store, RES_PODS, draft, ACTOR_KUBELET);
	kubelet_later(s, delay, pod_hold, serial);
}

static void pod_start(void *data, uint64_t serial)
{
	struct sim *s = data;
	struct stored *o = pod_by_serial(s, serial);
	if (o == NULL || pod_is_terminal(&o->pod) || o->pod.deleting_ms != 0) {
		return;
	}
	struct machine *m = machine_of(s, o);
	if (m == NULL) {
		kubelet_later(s, RETRY_MS, pod_start, serial);
		return;
	}
	if (pod_is_probe(&o->pod)) {
		prober_run(s, o, m);
		return;
	}
	if (!allocate(s, m, o)) {
		set_phase(s, o, "Failed", "UnexpectedAdmissionError");
	} else if (pod_is_capacity(&o->pod)) {
		pod_identify(s, o, m, serial);
	} else {
		run_work(s, o, serial);
	}
}

static void pod_admit(void *data, uint64_t serial)
{
	struct sim *s = data;
	struct stored *o = pod_by_serial(s, serial);
	if (o != NULL && !pod_is_terminal(&o->pod) && o->pod.gpus > 0 && machine_of(s, o) != NULL) {
		struct dice back = kubelet_dice(s, o, "admission");
		bool refused = dice_falls(s, "kubelet refusal", s->weather.kubelet_refusal);
		dice_leave(s, back);
		if (refused) {
			dice_say(s, "the kubelet refuses %s", o->name);
			s->report->faults++;
			set_phase(s, o, "Failed", "UnexpectedAdmissionError");
			return;
		}
	}
	pod_start(s, serial);
}

static void pod_stop(void *data, uint64_t serial)
{
	struct sim *s = data;
	struct stored *o = pod_by_serial(s, serial);
	if (o == NULL) {
		return;
	}
	if (machine_of(s, o) == NULL) {
		kubelet_later(s, RETRY_MS, pod_stop, serial);
		return;
	}
	store_remove(&s->store, o, ACTOR_KUBELET);
}

/* C39: it has been told that somebody is there, and holds its GPU until it is killed. */
static bool holds_on(const struct pod *p)
{
	const char *in_use = pairs_get(&p->labels, LABEL_IN_USE);
	return pod_is_capacity(p) && p->lingers && in_use != NULL &&
	       !text_equals(in_use, IN_USE_NO);
}

void kubelet_committed(struct sim *s, const struct commit *c)
{
	const struct pod *before = c->before != NULL ? &c->before->pod : NULL;
	if (c->after == NULL) {
		return;
	}
	const struct pod *after = &c->after->pod;
	uint64_t serial = uid_serial(c->after->uid);
	bool had_node = before != NULL && !text_empty(before->node);
	if (!had_node && !text_empty(after->node)) {
		struct dice back = kubelet_dice(s, c->after, "start");
		int64_t delay = sim_between(s, 20, 1500);
		if (dice_falls(s, "slow start", s->weather.slow_start)) {
			delay += sim_between(s, 1000, 60000);
			dice_say(s, "%s starts after %lld ms", c->after->name, (long long)delay);
		}
		dice_leave(s, back);
		kubelet_later(s, delay, pod_admit, serial);
	}
	bool asked = before != NULL && before->deleting_ms != 0;
	if (after->deleting_ms != 0 && (!asked || after->grace_s < before->grace_s)) {
		struct dice back = kubelet_dice(s, c->after, "stop");
		int64_t least = holds_on(after) ? after->grace_s * 1000 : 0;
		kubelet_later(s, sim_between(s, least, after->grace_s * 1000), pod_stop, serial);
		dice_leave(s, back);
	}
}
