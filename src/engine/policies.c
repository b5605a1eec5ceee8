/* Policies as people see them: which workloads each one holds, told in its status; and what a
 * person wrote on a pod that cannot be read, told on the pod. One pass over the GPU pods, in
 * slices, whenever something that could matter has changed, at most every two seconds. */
#include "policies.h"

#include <stdlib.h>

#include "demand/node_pools.h"
#include "ledger/engine_config.h"
#include "ledger/ledger.h"
#include "model/names.h"
#include "size/ask.h"
#include "size/explain.h"
#include "size/policy_resolution.h"

#define PASS_EVERY_MS 2000
/* A status that was asked for and did not show up is asked for again. */
#define AGAIN_MS 30000
#define NOTE_MAX 512
/* Pods told about what cannot be read, remembered so that each gets one event in a term. */
#define TOLD_MAX 4096

static bool met_same(const void *owner, uint32_t slot, const void *key)
{
	const struct policies_pass *p = owner;
	return p->met.items[slot] == *(const uint64_t *)key;
}

static bool told_same(const void *owner, uint32_t slot, const void *key)
{
	const struct policies_pass *p = owner;
	return p->told.items[slot].hash == *(const uint64_t *)key;
}

static struct policy_set policy_set_of(const struct world *world)
{
	struct policy_set set;
	set.items = world_policies(world, &set.count);
	return set;
}

struct policies_pass *policies_pass_of(struct policies *policies)
{
	if (policies->pass == NULL) {
		struct policies_pass *made = xcalloc(1, sizeof *made);
		map_init(&made->met_index, met_same, made);
		map_init(&made->told_index, told_same, made);
		made->started_at = INT64_MIN / 2;
		policies->pass = made;
	}
	return policies->pass;
}

void policies_pass_index(struct policies_pass *p)
{
	for (uint32_t i = 0; i < p->met.count; i++) {
		map_put(&p->met_index, p->met.items[i], i);
	}
	for (uint32_t i = 0; i < p->told.count; i++) {
		map_put(&p->told_index, p->told.items[i].hash, i);
	}
}

static void pass_begin(struct policies *policies, struct policies_pass *p, int64_t now)
{
	p->running = true;
	p->started_at = now;
	p->at = 0;
	VEC_CLEAR(&p->met);
	map_clear(&p->met_index);
	VEC_CLEAR(&p->cells);
	for (uint32_t i = policy_set_of(policies->picture->world).count; i > 0; i--) {
		VEC_PUSH(&p->cells, (struct policy_tally){0});
	}
	policies->version = world_policy_version(policies->picture->world);
}

/* One workload counts once, however many pods it has. */
static bool first_of_workload(
	struct policies_pass *p, const struct pod *pod, const struct owner_top *top)
{
	uint64_t hash = hash_text(pod->ns);
	if (top->kind == NULL) {
		hash = hash_bytes(pod->name, strlen(pod->name), hash);
	} else {
		hash = hash_bytes(top->kind, strlen(top->kind), hash);
		hash = hash_bytes(top->name.p, top->name.n, hash);
	}
	if (map_find(&p->met_index, hash, &hash) != MAP_NONE) {
		return false;
	}
	VEC_PUSH(&p->met, hash);
	map_put(&p->met_index, hash, (uint32_t)p->met.count - 1);
	return true;
}

enum telling { TELL_NOT, TELL_AGAIN, TELL_FIRST };

/* What was told and does not show up is told again: the write may have failed. */
static enum telling telling(struct policies *policies, const struct pod *pod, enum reason reason)
{
	struct policies_pass *p = policies->pass;
	uint64_t hash = hash_text(pod->uid) + (uint64_t)reason;
	if (p->told.count >= TOLD_MAX) {
		VEC_CLEAR(&p->told);
		map_clear(&p->told_index);
	}
	uint32_t at = map_find(&p->told_index, hash, &hash);
	bool first = at == MAP_NONE;
	if (first) {
		struct told_pod made = {hash, policies->picture->time->now};
		VEC_PUSH(&p->told, made);
		at = (uint32_t)p->told.count - 1;
		map_put(&p->told_index, hash, at);
	}
	struct told_pod *told = &p->told.items[at];
	bool again = !first && policies->picture->time->now - told->at >= AGAIN_MS;
	told->at = again ? policies->picture->time->now : told->at;
	if (p->asked_at == 0) {
		p->asked_at = told->at;
	}
	return first ? TELL_FIRST : again ? TELL_AGAIN : TELL_NOT;
}

static struct action *tell(
	struct emitter *out, enum action_type type, const struct pod *pod, enum reason reason)
{
	struct action *a = emit_about(out, type, (struct about){pod->ns, pod->name, pod->uid});
	a->regarding_kind = "Pod";
	a->regarding_api_version = "v1";
	a->warning = true;
	a->reason = reason;
	return a;
}

/* The pod started whole because of what was written on it: an event and a condition say which line.
 */
static void tell_bad(struct policies *policies, struct emitter *out, const struct pod *pod,
	enum reason reason, const struct str *text)
{
	bool shown = text_equals(pod->placed.reason, reason_name(reason));
	if (shown || pod_is_terminal(pod)) {
		return;
	}
	enum telling how = telling(policies, pod, reason);
	if (how == TELL_FIRST) {
		tell(out, ACTION_EVENT, pod, reason)->message =
			arena_strdup(&out->plan->arena, str_text(text));
	}
	if (how != TELL_NOT) {
		tell(out, ACTION_CONDITION, pod, reason)->message =
			arena_strdup(&out->plan->arena, str_text(text));
	}
}

/* Somebody has put it right since. */
static void tell_good(struct policies *policies, struct emitter *out, const struct pod *pod)
{
	enum reason shown = reason_parse(pod->placed.reason);
	bool ours = pod->placed.type != NULL && !pod->placed.is_true &&
		    (shown == REASON_BAD_VALUE || shown == REASON_POLICY_NOT_FOUND);
	if (!ours || pod_is_terminal(pod) || telling(policies, pod, REASON_WHOLE) == TELL_NOT) {
		return;
	}
	CLEANUP(str_finish) struct str text = STR_INIT(NOTE_MAX);
	explain_put_right(&text);
	struct action *a = tell(out, ACTION_CONDITION, pod, REASON_WHOLE);
	a->is_true = true;
	a->message = arena_strdup(&out->plan->arena, str_text(&text));
}

/* C34: a share was asked for, and the nodes that it may use have none to give. */
static bool tell_unshared(struct policies *policies, struct emitter *out, const struct pod *pod,
	const struct ask *ask)
{
	const struct runtime_class *class = runtime_of(policies->picture->runtime);
	struct unfit_tally why;
	if (!ask_is_present(ask) || !pools_refuse(policies->pools, policies->picture->world, pod,
					    class != NULL ? &class->selector : NULL, &why)) {
		return false;
	}
	CLEANUP(str_finish) struct str text = STR_INIT(NOTE_MAX);
	explain(&text, REASON_NO_SHARE_NODE, &(struct explain_facts){.unfit = &why});
	tell_bad(policies, out, pod, REASON_NO_SHARE_NODE, &text);
	return true;
}

static void look_for_bad_notes(struct policies *policies, struct emitter *out,
	const struct pod *pod, const struct policy_choice *choice, const struct namespace *ns)
{
	CLEANUP(str_finish) struct str text = STR_INIT(NOTE_MAX);
	struct ask ask = ask_read(pod, ns);
	if (choice->reason == REASON_POLICY_NOT_FOUND) {
		explain(&text, choice->reason, &(struct explain_facts){.name = choice->missing});
		tell_bad(policies, out, pod, choice->reason, &text);
		return;
	}
	const struct bad_note *bad = ask.bad_count > 0	     ? &ask.bad[0]
				     : choice->bad_count > 0 ? &choice->bad[0]
							     : NULL;
	if (bad != NULL) {
		explain_bad_note(&text, bad->key, bad->value, bad->expected);
		tell_bad(policies, out, pod, REASON_BAD_VALUE, &text);
		return;
	}
	if (!tell_unshared(policies, out, pod, &ask)) {
		tell_good(policies, out, pod);
	}
}

static void visit(struct policies *policies, const struct world_pod *wp, struct emitter *out)
{
	struct policies_pass *p = policies->pass;
	struct pod pod;
	if (wp->gpu == NULL || wp->gpu->class == WORLD_CAPACITY || wp->gpu->class == WORLD_PROBE ||
		world_pod_terminal(wp) || !world_pod_unpack(wp, &p->arena, &pod)) {
		return;
	}
	const struct world_namespace *n = world_namespace_find(policies->picture->world, wp->ns);
	const struct namespace *ns = n != NULL && n->known ? &n->noun : NULL;
	struct policy_set set = policy_set_of(policies->picture->world);
	struct policy_subject who = policy_subject_of(&pod, ns);
	struct policy_choice choice = policy_choose(&set, &who);
	if (wp->gpu->class == WORLD_WHOLE || wp->gpu->class == WORLD_PENDING) {
		look_for_bad_notes(policies, out, &pod, &choice, ns);
	}
	if (first_of_workload(p, &pod, &who.owner)) {
		policy_tally_add(&set, &who, p->cells.items);
	}
}

static bool status_is_right(const struct policy *p, const struct policy_tally *t)
{
	return text_equals(p->status_ready_reason, "Ready") &&
	       p->status_observed_generation == p->generation && p->status_matched == t->matched &&
	       p->status_automated == t->automated && p->status_overlapping == t->overlapping;
}

static void pass_end(struct policies *policies, int64_t now, struct emitter *out)
{
	struct policies_pass *p = policies->pass;
	struct policy_set set = policy_set_of(policies->picture->world);
	p->running = false;
	for (uint32_t i = 0; i < set.count && i < p->cells.count; i++) {
		const struct policy *policy = set.items[i];
		if (status_is_right(policy, &p->cells.items[i])) {
			continue;
		}
		struct action *a = emit(out, ACTION_POLICY_STATUS);
		a->name = arena_strdup(&out->plan->arena, policy->name);
		a->uid = arena_strdup(&out->plan->arena, policy->uid);
		a->resource_version = arena_strdup(&out->plan->arena, policy->resource_version);
		a->generation = policy->generation;
		a->matched = p->cells.items[i].matched;
		a->automated = p->cells.items[i].automated;
		a->overlapping = p->cells.items[i].overlapping;
		a->is_true = true;
		a->accepted_ms = policy->status_accepted_ms;
		a->overlapping_ms = policy->status_overlapping == a->overlapping
					    ? policy->status_overlapping_ms
					    : 0;
		a->ready_ms = text_equals(policy->status_ready_reason, "Ready")
				      ? policy->status_ready_ms
				      : 0;
		a->message = "The policy is in force.";
		p->asked_at = now;
	}
	VEC_CLEAR(&p->met);
	map_clear(&p->met_index);
}

void policies_step(
	struct policies *policies, struct engine_now now, uint32_t budget, struct emitter *out)
{
	const struct picture *picture = policies->picture;
	struct policies_pass *p = policies_pass_of(policies);
	bool changed = policies->version != world_policy_version(picture->world);
	bool again = p->asked_at != 0 && now.mono_ms - p->asked_at >= AGAIN_MS;
	if (!p->running) {
		if (!changed && !again) {
			return;
		}
		if (now.mono_ms - p->started_at < PASS_EVERY_MS) {
			wake_by(picture->time, p->started_at + PASS_EVERY_MS);
			return;
		}
		p->asked_at = again ? 0 : p->asked_at;
		pass_begin(policies, p, now.mono_ms);
	}
	/* Cells belong to places in the set: another set, another pass. */
	if (p->cells.count != policy_set_of(picture->world).count) {
		pass_begin(policies, p, now.mono_ms);
	}
	uint32_t slots = (uint32_t)world_pod_slots(picture->world);
	for (uint32_t work = 0; p->at < slots && work < budget; p->at++) {
		const struct world_pod *wp = world_pod_at(picture->world, p->at);
		work += wp != NULL && wp->gpu != NULL ? 16 : 1;
		if (wp != NULL) {
			visit(policies, wp, out);
			arena_reset(&p->arena);
		}
	}
	if (p->at == slots) {
		pass_end(policies, now.mono_ms, out);
	}
}

bool policies_running(const struct policies *policies)
{
	return policies->pass != NULL && policies->pass->running;
}

void policies_finish(struct policies *policies)
{
	struct policies_pass *p = policies->pass;
	if (p == NULL) {
		return;
	}
	VEC_FINISH(&p->cells);
	VEC_FINISH(&p->met);
	VEC_FINISH(&p->told);
	map_finish(&p->met_index);
	map_finish(&p->told_index);
	arena_finish(&p->arena);
	free(p);
}
