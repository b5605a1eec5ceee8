/* Who may share a GPU with whom, from the objects alone: what their policies say, and their owners.
 * The policies of a run are there from its beginning and do not change, so what is said of somebody
 * who waits can be worked out again. */
#include "sharing_rules.h"

#include <stdio.h>
#include <string.h>

#include "claim_intent.h"
#include "claim_room.h"
#include "objects/dice.h"
#include "isolation_rules.h"
#include "model/names.h"
#include "objects/trace.h"

static const char *const rules[] = {"AnyWorkload", "SameWorkload", "Dedicated"};
static const char *const names[] = {"anybody", "together", "alone"};

void company_begin(struct sim *s)
{
	for (int i = 0; i < COMPANY_RULES && s->weather.exclusive > 0; i++) {
		store_put(&s->store, RES_POLICIES,
			json_pack("{s:s, s:s, s:{s:s}, s:{s:{s:s}}}", "apiVersion",
				"aliquot.dev/v1alpha1", "kind", "GPUPolicy", "metadata", "name",
				names[i], "spec", "sharing", "exclusivity", rules[i]),
			ACTOR_PERSON);
	}
}

void company_ask(struct sim *s, json_t *value)
{
	json_t *meta = json_object_get(value, "metadata");
	const char *name = json_string_value(json_object_get(meta, "name"));
	struct dice back = dice_enter(s, dice_next(s, "company", name, 0));
	if (sim_chance(s, s->weather.exclusive)) {
		const char *policy = names[sim_between(s, 0, COMPANY_RULES - 1)];
		json_object_set_new(
			json_object_get(meta, "annotations"), NOTE_POLICY, json_string(policy));
	}
	dice_leave(s, back);
}

enum company_rule company_rule_of(const struct sim *s, const struct pod *p)
{
	const char *name = pairs_get(&p->notes, NOTE_POLICY);
	const struct stored *o =
		name != NULL ? store_find(&s->store, RES_POLICIES, "", name) : NULL;
	const json_t *spec = o != NULL ? json_object_get(o->value, "spec") : NULL;
	const char *rule =
		json_string_value(json_object_get(json_object_get(spec, "sharing"), "exclusivity"));
	for (int i = 0; i < COMPANY_RULES; i++) {
		if (text_equals(rule, rules[i])) {
			return (enum company_rule)i;
		}
	}
	return COMPANY_ANY;
}

/* A pod without an owner is a workload by itself. */
static bool same_workload(const struct pod *a, const struct pod *b)
{
	return text_equals(a->uid, b->uid) ||
	       (!text_empty(a->owner.kind) && text_equals(a->owner.kind, b->owner.kind) &&
		       text_equals(a->owner.name, b->owner.name) && text_equals(a->ns, b->ns));
}

bool company_agrees(const struct sim *s, const struct pod *a, const struct pod *b)
{
	enum company_rule rule = company_rule_of(s, a);
	if (rule != company_rule_of(s, b) || !modes_agree(a, b)) {
		return false;
	}
	return rule == COMPANY_ANY ||
	       (rule == COMPANY_SAME ? same_workload(a, b) : text_equals(a->uid, b->uid));
}

bool company_welcomes(const struct sim *s, const struct stored *holder, const struct pod *p)
{
	if (!modes_agree(&holder->pod, p)) {
		return false;
	}
	for (size_t i = 0; i < s->store.items.count; i++) {
		const struct stored *o = s->store.items.items[i];
		if (o->resource == RES_PODS && !pod_is_terminal(&o->pod) &&
			gpu_list_has(pairs_get(&o->pod.notes, NOTE_GPU_UUID),
				holder->pod.identity->uuid) &&
			!company_agrees(s, &o->pod, p)) {
			return false;
		}
	}
	return true;
}

/* Those in one ledger who live; of others nobody knows what they wanted. */
void company_check(struct sim *s, const struct stored *holder)
{
	const struct stored *first = NULL;
	const struct ledger *l = &holder->pod.ledger;
	for (uint32_t i = 0; i < l->count; i++) {
		const struct stored *o = store_find_uid(&s->store, l->items[i].uid);
		bool lives = o != NULL && o->resource == RES_PODS && !pod_is_terminal(&o->pod);
		if (lives && first != NULL && !company_agrees(s, &first->pod, &o->pod)) {
			sim_fail(s, "company",
				"%s promises a GPU to %s and to %s, whose policies say otherwise",
				holder->name, first->name, o->name);
			return;
		}
		first = lives && first == NULL ? o : first;
	}
}

/* --- claims --- */

/* Nothing is known of one who is gone: it minds nobody. */
static bool bars(const struct claim *c, const char *uid)
{
	const struct stored *o = claim_find(c, uid);
	return o != NULL ? !company_agrees(c->sim, &o->pod, &c->pod->pod)
			 : company_rule_of(c->sim, &c->pod->pod) != COMPANY_ANY;
}

bool company_may_bar(const struct claim *c, const struct stored *holder)
{
	if (!modes_agree(&holder->pod, &c->pod->pod)) {
		return true;
	}
	vec_for_each (const struct promise, made, &c->sim->checker.promises) {
		if (text_equals(made->uuid, holder->pod.identity->uuid) &&
			!text_equals(made->tenant, c->pod->uid) && claim_may_use(c, made, holder) &&
			bars(c, made->tenant)) {
			return true;
		}
	}
	for (size_t i = 0; i < c->seen.count; i++) {
		const struct stored *o = c->seen.items[i];
		if (claim_comes_first(c, o) && bars(c, o->uid)) {
			return true;
		}
	}
	return false;
}

static bool is_such(const struct claim *c, const struct stored *o, enum company_rule rule)
{
	enum company_rule other = o != NULL ? company_rule_of(c->sim, &o->pod) : COMPANY_ANY;
	bool agrees = o != NULL ? company_agrees(c->sim, &o->pod, &c->pod->pod)
				: company_rule_of(c->sim, &c->pod->pod) == COMPANY_ANY;
	return other == rule && !agrees;
}

/* Has it given somebody a share of a GPU there that nobody sees yet? */
static bool gives_unseen(const struct claim *c, const char *node)
{
	for (size_t i = 0; i < c->seen.count; i++) {
		const struct stored *o = c->seen.items[i];
		if (o->resource == RES_PODS && pod_is_capacity(&o->pod) &&
			text_equals(o->pod.node, node) && claim_grants_unseen(c, o)) {
			return true;
		}
	}
	return false;
}

/* Somebody under that rule is on a GPU of that node or on its way there, and is no company for it.
 */
static bool rule_is_there(const struct claim *c, const char *node, enum company_rule rule)
{
	vec_for_each (const struct promise, made, &c->sim->checker.promises) {
		if (text_equals(made->node, node) && !text_equals(made->tenant, c->pod->uid) &&
			claim_may_use(c, made, NULL) &&
			is_such(c, claim_find(c, made->tenant), rule)) {
			return true;
		}
	}
	/* What is decided in the step is not written yet, what was sent is not seen yet. */
	bool gives = gives_unseen(c, node);
	for (size_t i = 0; i < c->seen.count; i++) {
		const struct stored *o = c->seen.items[i];
		bool may_have_it = claim_comes_first(c, o) || (gives && claim_is_waiting(o));
		if (may_have_it && is_such(c, o, rule)) {
			return true;
		}
	}
	return false;
}

/* "with exclusivity Dedicated", after that point of the sentence; false: it is not told. */
static bool rule_told(const char *message, const char *after, enum company_rule *ret)
{
	static const char with[] = "with exclusivity ";
	const char *at = strstr(message, after);
	at = at != NULL ? at + strlen(after) : NULL;
	if (at == NULL || strncmp(at, with, strlen(with)) != 0) {
		return false;
	}
	at += strlen(with);
	for (int i = 0; i < COMPANY_RULES; i++) {
		if (strncmp(at, rules[i], strlen(rules[i])) == 0) {
			*ret = (enum company_rule)i;
			return true;
		}
	}
	return false;
}

static bool node_told(const char *message, char *node, size_t room)
{
	static const char first[] = ", the first on ";
	const char *at = strstr(message, first);
	if (at != NULL) {
		at += strlen(first);
		snprintf(node, room, "%.*s", (int)strcspn(at, ",; "), at);
	}
	return at != NULL;
}

const char *claim_is_exclusive(struct claim *c)
{
	char node[64];
	enum company_rule own, theirs;
	if (claim_fits(c) != NULL) {
		return "it fits";
	}
	if (strstr(c->message, " with isolation ") != NULL) {
		return modes_claim(c);
	}
	/* In a step that was cut short nobody is named. */
	if (!rule_told(c->message, " have tenants ", &theirs) ||
		!node_told(c->message, node, sizeof node)) {
		return NULL;
	}
	const char *end = strstr(c->message, ", the GPUs with room");
	const char *with = strstr(c->message, " with exclusivity ");
	if (end == NULL || with == NULL || with >= end || !rule_told(with, " ", &own) ||
		own != company_rule_of(c->sim, &c->pod->pod)) {
		return "its policy says something else";
	}
	if (!rule_is_there(c, node, theirs)) {
		snprintf(c->why, sizeof c->why, "nobody on %s minds it with exclusivity %s", node,
			rules[theirs]);
		return c->why;
	}
	return NULL;
}
