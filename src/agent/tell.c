/* Devices, then pods, then who uses what: the answer of /v1/state. */
#include "tell.h"

#include "own/state.h"

/* --- devices ---------------------------------------------------------------------------------- */

static const char *why_ill(const struct gpu_reading *r, struct arena *arena)
{
	if (r->answered && r->ill == NULL) {
		return NULL;
	}
	const char *why = r->ill != NULL ? r->ill : r->fault.message;
	why = text_empty(why) ? "the driver does not answer for it" : why;
	return arena_strndup(arena, why, strnlen(why, STATE_WHY_MAX));
}

static enum ill_cause ill_cause_of(const struct gpu_reading *r)
{
	bool lost = r->fault.kind == FAULT_GONE || r->fault.kind == FAULT_FATAL;
	if (!r->answered && lost) {
		return ILL_LOST;
	}
	return r->ill_xid != 0 ? ILL_HEARD : ILL_ASKED;
}

static void tell_mps(const struct mps_fleet *mps, struct arena *arena, struct device_state *d)
{
	const struct mps_status *s = mps != NULL ? mps_fleet_status(mps, d->uuid) : NULL;
	if (s != NULL) {
		d->mps = s->state;
		d->contexts = s->contexts;
		d->mps_why = s->why[0] != '\0' ? arena_strdup(arena, s->why) : NULL;
	}
}

/* One that never said its UUID cannot be told, and nobody can have been placed on it. */
static int tell_devices(
	const struct tell *t, struct arena *arena, struct node_state *s, struct fault *ret_fault)
{
	s->devices = ARENA_ARRAY(arena, struct device_state, t->sample->device_count + 1);
	for (uint32_t i = 0; i < t->sample->device_count; i++) {
		const struct gpu_reading *r = &t->sample->devices[i];
		if (text_empty(r->device.identity.uuid)) {
			continue;
		}
		if (s->device_count == STATE_DEVICES_MAX) {
			return fault_set(
				ret_fault, FAULT_LIMIT, "more than %d devices", STATE_DEVICES_MAX);
		}
		struct device_state *d = &s->devices[s->device_count++];
		d->uuid = r->device.identity.uuid;
		d->why = why_ill(r, arena);
		if (d->why == NULL && t->left != NULL) {
			d->why = left_why(t->left, d->uuid);
		}
		d->cause = d->why != NULL ? ill_cause_of(r) : ILL_ASKED;
		int64_t total = r->figures[FIGURE_FB_TOTAL], used = r->figures[FIGURE_FB_USED];
		if (r->answered && total > 0 && used >= 0 && used <= total) {
			d->total_mib = total >> 20;
			d->used_mib = used >> 20;
		}
		tell_mps(t->mps, arena, d);
	}
	return 0;
}

/* --- pods ------------------------------------------------------------------------------------- */

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Each once, in order. */
static uint32_t sort_and_dedup(const char **uids, uint32_t count)
{
	uint32_t kept = 0;
	qsort(uids, count, sizeof *uids, by_text);
	for (uint32_t i = 0; i < count; i++) {
		if (kept == 0 || strcmp(uids[kept - 1], uids[i]) != 0) {
			uids[kept++] = uids[i];
		}
	}
	return kept;
}

/* Some process may be on a device and is not known, so no pod can be said to be on none. */
static bool is_blind(const struct tell *t)
{
	bool blind = t->usage->incomplete;
	for (uint32_t i = 0; i < t->sample->device_count; i++) {
		blind = blind || !t->sample->devices[i].processes_told;
	}
	for (uint32_t i = 0; i < t->usage->device_count; i++) {
		blind = blind || t->usage->devices[i].blind;
	}
	return blind;
}

/* The pods that are there and may use a device, and whoever has a process on one. Of a pod that the
 * API server does not know, any more or yet, it cannot be told: it is listed. */
static int tell_pods(
	const struct tell *t, struct arena *arena, struct node_state *s, struct fault *ret_fault)
{
	bool blind = is_blind(t);
	uint32_t room = t->present->count + t->usage->pod_count, count = 0;
	const char **uids = ARENA_ARRAY(arena, const char *, room + 1);
	for (uint32_t i = 0; i < t->present->count; i++) {
		const char *name = t->present->names[i];
		const struct node_pod *pod = node_pods_of_cgroup(t->pods, name);
		if (pod == NULL || blind || pod->tenant || pod->capacity || pod->gpus > 0) {
			uids[count++] = pod != NULL ? pod->uid : name;
		}
	}
	for (uint32_t i = 0; i < t->usage->pod_count; i++) {
		if (t->usage->pods[i].use.processes > 0) {
			uids[count++] = t->usage->pods[i].uid;
		}
	}
	s->pods = uids;
	s->pod_count = sort_and_dedup(uids, count);
	if (s->pod_count > STATE_PODS_MAX) {
		return fault_set(
			ret_fault, FAULT_LIMIT, "more than %d pods use devices", STATE_PODS_MAX);
	}
	return 0;
}

/* In the order of the pods, as they are written. */
static int compare_pod_use(const void *a, const void *b)
{
	const struct pod_use *x = a, *y = b;
	int order = strcmp(x->uid, y->uid);
	return order != 0 ? order : strcmp(x->uuid, y->uuid);
}

static int tell_uses(
	const struct tell *t, struct arena *arena, struct node_state *s, struct fault *ret_fault)
{
	s->uses = ARENA_ARRAY(arena, struct pod_use, t->usage->pod_count + 1);
	for (uint32_t i = 0; i < t->usage->pod_count; i++) {
		const struct pod_usage *p = &t->usage->pods[i];
		const char *uuid = t->sample->devices[p->device].device.identity.uuid;
		if (p->use.processes == 0 || text_empty(uuid)) {
			continue;
		}
		if (s->use_count == STATE_USES_MAX) {
			return fault_set(ret_fault, FAULT_LIMIT, "more than %d uses of devices",
				STATE_USES_MAX);
		}
		s->uses[s->use_count++] = (struct pod_use){.uid = p->uid,
			.uuid = uuid,
			.mem_mib = p->use.mem_bytes < 0 ? -1 : p->use.mem_bytes >> 20,
			.processes = p->use.processes};
	}
	qsort(s->uses, s->use_count, sizeof *s->uses, compare_pod_use);
	return 0;
}

/* --- all of it -------------------------------------------------------------------------------- */

static int check_sample(const struct tell *t, struct fault *ret_fault)
{
	int64_t age_ms = t->now_ms - t->sample->taken_ms;
	if (age_ms < 0 || age_ms > STATE_AGE_MAX_MS) {
		return fault_set(ret_fault, FAULT_TRANSIENT,
			"the driver was last heard %lld ms ago", (long long)age_ms);
	}
	if (t->usage->host_pid_missing) {
		return fault_set(ret_fault, FAULT_INVALID,
			"HostPIDRequired: none of the processes that the driver names can be "
			"found; "
			"the agent needs hostPID: true");
	}
	if (t->own_uid != NULL && !cgroups_have(t->present, t->own_uid)) {
		return fault_set(ret_fault, FAULT_INVALID,
			"the agent's own pod %s is not among the cgroups: is it the host's tree?",
			t->own_uid);
	}
	return 0;
}

int tell_state(const struct tell *t, struct arena *arena, struct node_state *ret_state,
	struct fault *ret_fault)
{
	struct node_state s = {.seen_ms = t->sample->taken_ms - t->now_ms};
	if (check_sample(t, ret_fault) < 0 || tell_devices(t, arena, &s, ret_fault) < 0 ||
		tell_pods(t, arena, &s, ret_fault) < 0 || tell_uses(t, arena, &s, ret_fault) < 0) {
		return -1;
	}
	*ret_state = s;
	return 0;
}
