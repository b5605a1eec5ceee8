/* How machines give a container a GPU by its name (C26), in the runs that are about it: some honour
 * one form, some several, some none. The kubelet runs probes and tells what they see; the checker
 * lets no tenant be granted or told anything that its machine does not honour. */
#include "prober.h"

#include <stdio.h>
#include <string.h>

#include "own/injection_text.h"
#include "objects/dice.h"
#include "objects/machine_find.h"
#include "model/names.h"
#include "objects/trace.h"

#define ALL_FORMS ((1u << INJECT_FORMS) - 1)
#define BOXED	  "boxed"
#define BIT(form) (1u << (uint32_t)(form))

void prober_draw(struct sim *s, struct machine *m)
{
	static const uint32_t kinds[] = {BIT(INJECT_ENV) | BIT(INJECT_CDI), BIT(INJECT_ENV),
		BIT(INJECT_CDI), BIT(INJECT_NRI), BIT(INJECT_CDI) | BIT(INJECT_NRI), 0};
	struct dice back = dice_enter(s, dice_key("injection", m->name, 0));
	m->forms =
		s->weather.probed ? kinds[sim_between(s, 0, COUNT_OF(kinds) - 1)] : BIT(INJECT_ENV);
	m->shows_all = s->weather.probed && sim_chance(s, 150);
	m->boxed_forms =
		s->weather.probed ? kinds[sim_between(s, 0, COUNT_OF(kinds) - 1)] : BIT(INJECT_ENV);
	dice_leave(s, back);
}

/* Some tenants have a RuntimeClass of their own, for which machines differ once more. */
void prober_ask(struct sim *s, json_t *value)
{
	json_t *spec = json_object_get(value, "spec");
	const char *name =
		json_string_value(json_object_get(json_object_get(value, "metadata"), "name"));
	struct dice back = dice_enter(s, dice_next(s, "class", name, 0));
	if (s->weather.probed && sim_chance(s, 300)) {
		json_object_set_new(spec, "runtimeClassName", json_string(BOXED));
	}
	dice_leave(s, back);
}

/* Under the first name that a probe would have there: it is one of a person, and no probe. */
void prober_place_stranger(struct sim *s, const struct machine *m)
{
	char name[64];
	struct dice back = dice_enter(s, dice_key("stranger", m->name, 0));
	bool comes = s->weather.probed && sim_chance(s, 150);
	dice_leave(s, back);
	unsigned long long hash = (unsigned long long)hash_text(m->name) & 0xffffffffffffull;
	snprintf(name, sizeof name, "probe-%012llx-env", hash);
	if (comes) {
		store_put(&s->store, RES_PODS,
			json_pack("{s:s, s:s, s:{s:s, s:s}, s:{s:s, s:[{s:s}]}, s:{s:s}}",
				"apiVersion", "v1", "kind", "Pod", "metadata", "name", name,
				"namespace", NAME_NAMESPACE, "spec", "nodeName", m->name,
				"containers", "name", "main", "status", "phase", "Running"),
			ACTOR_PERSON);
	}
}

/* Another runtime, that honours whatever anybody may ask of it. */
void prober_repair(struct sim *s, struct machine *m)
{
	struct stored *o = m->gone ? NULL : store_find(&s->store, RES_NODES, "", m->name);
	if (!s->weather.probed || o == NULL) {
		return;
	}
	m->forms = m->boxed_forms = ALL_FORMS;
	m->shows_all = false;
	json_t *draft = store_draft(o);
	json_object_set_new(json_object_get(draft, "status"), "nodeInfo",
		json_pack("{s:s, s:s}", "bootID", "boot", "containerRuntimeVersion", "repaired"));
	store_put(&s->store, RES_NODES, draft, ACTOR_CLUSTER);
}

/* --- what a container is told, and what the machine makes of it --- */

static const char *member(const json_t *pod, const char *key, const char *name)
{
	const json_t *all = json_object_get(json_object_get(pod, "metadata"), key);
	return json_string_value(json_object_get(all, name));
}

/* INJECT_FORMS: none of them. The annotation is that of `container`. */
static enum inject_form form_shown(
	const char *value, const char *note, const char *uuids, struct str *scratch)
{
	for (int i = 0; i < INJECT_FORMS; i++) {
		enum inject_form form = (enum inject_form)i;
		str_reset(scratch);
		inject_write_value(scratch, form, uuids);
		bool same = text_equals(str_text(scratch), value);
		str_reset(scratch);
		bool noted = inject_write_note(scratch, form, uuids);
		if (same && (!noted || text_equals(str_text(scratch), note))) {
			return form;
		}
	}
	return INJECT_FORMS;
}

static bool honours(const struct machine *m, const char *class, enum inject_form form)
{
	uint32_t forms = text_equals(class, BOXED) ? m->boxed_forms : m->forms;
	return form < INJECT_FORMS && (forms & BIT(form)) != 0;
}

static const json_t *variable(const json_t *pod, const char *name)
{
	const json_t *containers = json_object_get(json_object_get(pod, "spec"), "containers");
	const json_t *env = json_object_get(json_array_get(containers, 0), "env");
	for (size_t i = 0; i < json_array_size(env); i++) {
		const json_t *entry = json_array_get(env, i);
		if (text_equals(json_string_value(json_object_get(entry, "name")), name)) {
			return json_object_get(entry, "value");
		}
	}
	return NULL;
}

static struct inject_sight sight_of(const struct machine *m, const struct stored *o)
{
	CLEANUP(str_finish) struct str scratch = STR_INIT(INJECTION_TEXT_MAX);
	struct inject_sight sight = {.uuid = ""};
	const char *value = json_string_value(variable(o->value, "NVIDIA_VISIBLE_DEVICES"));
	const char *note = member(o->value, "annotations", NAME_CDI_PREFIX PROBE_CONTAINER);
	const char *uuid = o->pod.claim != NULL ? o->pod.claim->uuid : "";
	if (honours(m, o->pod.runtime_class, form_shown(value, note, uuid, &scratch))) {
		sight = (struct inject_sight){.devices = 1, .uuid = uuid};
	} else if (m->shows_all) {
		sight.devices = m->device_count;
		sight.uuid = m->device_count == 1 ? "GPU-of-the-image" : "";
	}
	return sight;
}

/* Its machine is short of something, or a pod that counts for more has come. */
static bool is_sent_off(struct sim *s, struct stored *o)
{
	struct dice back = dice_enter(s, dice_next(s, "probe", o->name, 0));
	bool falls = dice_falls(s, "probe sent off", s->weather.kubelet_refusal);
	bool killed = sim_chance(s, 500);
	dice_leave(s, back);
	if (!falls) {
		return false;
	}
	dice_say(s, "the kubelet sends %s off", o->name);
	s->report->faults++;
	json_t *draft = store_draft(o);
	json_t *status = json_object_get(draft, "status");
	json_object_set_new(status, "phase", json_string("Failed"));
	json_object_set_new(status, "reason", json_string(killed ? "Evicted" : "OutOfpods"));
	if (killed) {
		json_object_set_new(status, "containerStatuses",
			json_pack("[{s:s, s:b, s:i, s:{s:{s:i, s:s}}}]", "name", PROBE_CONTAINER,
				"ready", 0, "restartCount", 0, "state", "terminated", "exitCode",
				137, "reason", "Error"));
	}
	store_put(&s->store, RES_PODS, draft, ACTOR_KUBELET);
	return true;
}

void prober_run(struct sim *s, struct stored *o, const struct machine *m)
{
	CLEANUP(str_finish) struct str text = STR_INIT(INJECTION_TEXT_MAX);
	if (is_sent_off(s, o)) {
		return;
	}
	struct inject_sight sight = sight_of(m, o);
	bool fits = inject_sight_write(&text, &sight);
	ENSURE(fits);
	json_t *draft = store_draft(o);
	json_t *status = json_object_get(draft, "status");
	json_object_set_new(status, "phase", json_string("Succeeded"));
	json_object_set_new(status, "containerStatuses",
		json_pack("[{s:s, s:b, s:i, s:{s:{s:i, s:s, s:s}}}]", "name", PROBE_CONTAINER,
			"ready", 0, "restartCount", 0, "state", "terminated", "exitCode", 0,
			"reason", "Completed", "message", str_text(&text)));
	store_put(&s->store, RES_PODS, draft, ACTOR_KUBELET);
}

/* --- the checker --- */

static const struct inject_class *other_class(const struct inject_claim *claim, const char *class)
{
	for (uint32_t i = 0; i < claim->other_count; i++) {
		if (text_equals(claim->others[i].class, class)) {
			return &claim->others[i];
		}
	}
	return NULL;
}

/* Whoever comes newly and waits has a proof of its own class there. */
static void check_proof(
	struct sim *s, const struct commit *c, const struct machine *m, const struct grant *g)
{
	const struct stored *tenant = store_find_uid(&s->store, g->uid);
	const struct inject_claim *claim = c->after->pod.claim;
	bool waits = tenant != NULL && pod_has_gate(&tenant->pod, NAME_GATE);
	for (uint32_t i = 0; c->before != NULL && i < c->before->pod.ledger.count; i++) {
		waits = waits && strcmp(c->before->pod.ledger.items[i].uid, g->uid) != 0;
	}
	const char *class = waits ? text_or(tenant->pod.runtime_class, "") : "";
	if (!waits || text_equals(class, claim->class)) {
		return;
	}
	const struct inject_class *other = other_class(claim, class);
	if (other == NULL || !honours(m, class, other->form)) {
		sim_fail(s, "C26", "%s grants to %s on %s, of which nothing is proven for %s",
			c->after->name, tenant->name, m->name, *class != '\0' ? class : "no class");
	}
}

/* A ledger with somebody in it stands on a proof that is so. */
void prober_check_ledger(struct sim *s, const struct commit *c)
{
	const struct stored *o = c->after;
	uint32_t had = c->before != NULL ? c->before->pod.ledger.count : 0;
	const struct inject_claim *claim = o->pod.claim;
	const struct machine *m = fleet_find(s, o->pod.node);
	if (!s->weather.probed || c->actor < 0 || o->pod.ledger.count <= had || m == NULL) {
		return;
	}
	if (claim == NULL) {
		sim_fail(s, "C26", "%s grants on %s, of which nothing is proven", o->name, m->name);
	} else if (!text_equals(claim->node, m->name) || !honours(m, claim->class, claim->form)) {
		sim_fail(s, "C26", "%s grants on %s by a proof of %s on %s, which is not so",
			o->name, m->name, inject_form_name(claim->form), claim->node);
	}
	for (uint32_t i = 0; claim != NULL && i < o->pod.ledger.count; i++) {
		check_proof(s, c, m, &o->pod.ledger.items[i]);
	}
}

bool prober_check_told(struct sim *s, const struct stored *o, const char *uuids, const char *node)
{
	CLEANUP(str_finish) struct str scratch = STR_INIT(8192);
	const struct machine *m = fleet_find(s, node);
	enum inject_form form = form_shown(member(o->value, "annotations", NOTE_VISIBLE_DEVICES),
		member(o->value, "annotations", NAME_CDI_PREFIX "main"), uuids, &scratch);
	if (form == INJECT_FORMS) {
		sim_fail(s, "I3", "%s/%s: gpu-uuid and visible-devices differ", o->ns, o->name);
		return false;
	}
	if (m != NULL && !honours(m, o->pod.runtime_class, form)) {
		sim_fail(s, "C26", "%s/%s is told its GPU by %s, which %s does not honour for %s",
			o->ns, o->name, inject_form_name(form), m->name,
			text_or(o->pod.runtime_class, "no class"));
		return false;
	}
	return true;
}

/* False: one is left whose capacity pod is gone. */
bool prober_settled(struct sim *s, const struct stored *o, struct str *why)
{
	bool left = pod_is_probe(&o->pod) && o->pod.deleting_ms == 0 &&
		    store_find_uid(&s->store, text_or(o->pod.owner.uid, "")) == NULL;
	if (left) {
		str_append_format(why, "%s stays without its capacity pod", o->name);
	}
	return !left;
}
