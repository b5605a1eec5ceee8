/* Judges what conditions say, one row a reason. A reason that has no row here is not judged. */
#include <stdio.h>
#include <string.h>

#include "check_nearest.h"
#include "check_quota.h"
#include "claim_first.h"
#include "claim_intent.h"
#include "claim_lack.h"
#include "claim_room.h"
#include "claim_text.h"
#include "delay.h"
#include "json/decode.h"
#include "model/names.h"
#include "model/plan.h"
#include "objects/facts.h"
#include "objects/machine_find.h"
#include "objects/request_path.h"
#include "objects/told.h"
#include "objects/trace.h"
#include "sharing_rules.h"

#define TELL_MS	    60000
#define INTENTS_MAX 4096
#define LATELY_MS   120000
#define FAILED_MS   900000

void claim_finish(struct sim *s)
{
	VEC_FINISH(&s->claims.intents);
	VEC_FINISH(&s->claims.chosen);
	VEC_FINISH(&s->claims.failures);
}

/* --- what controllers mean to do --- */

/* C23: at most one a minute a pod. */
static void check_rate(struct sim *s, const struct intent *made)
{
	vec_for_each (const struct intent, i, &s->claims.intents) {
		if (i->kind == ACTION_CONDITION && i->is_false && made->is_false &&
			i->replica == made->replica && i->term == made->term &&
			made->at - i->at < TELL_MS && strcmp(i->uid, made->uid) == 0) {
			sim_fail(s, "C23", "r%d tells %s twice within %lld ms why it waits",
				made->replica, made->name, (long long)(made->at - i->at));
		}
	}
}

static void note_failure(struct sim *s, const char *node)
{
	struct intent i = {.at = sim_now(s)};
	snprintf(i.name, sizeof i.name, "%s", text_or(node, ""));
	VEC_PUSH(&s->claims.failures, i);
}

/* What is given up before it held its GPU has failed, whenever its deletion is done. */
static void note_given_up(struct sim *s, const struct action *a)
{
	const struct stored *o = a->uid != NULL ? store_find_uid(&s->store, a->uid) : NULL;
	if (o != NULL && o->resource == RES_PODS && pod_is_capacity(&o->pod) &&
		o->pod.identity == NULL) {
		note_failure(s, text_empty(o->pod.node) ? claim_pin(&o->pod) : o->pod.node);
	}
}

void claim_intended(struct sim *s, int replica, const struct action *a)
{
	/* What is told of memory is not why it waits. */
	if (a->condition != NULL) {
		return;
	}
	struct intent made = {.at = sim_now(s),
		.moment = s->memory.told.count,
		.version = s->store.version,
		.replica = replica,
		.term = s->report->takeovers,
		.id = a->id,
		.kind = (int)a->type,
		.is_false = a->type == ACTION_CONDITION && !a->is_true};
	snprintf(made.uid, sizeof made.uid, "%s", text_or(a->uid, ""));
	snprintf(made.name, sizeof made.name, "%s", text_or(a->name, ""));
	snprintf(made.node, sizeof made.node, "%s", text_or(a->node, ""));
	if (a->type == ACTION_CONDITION) {
		check_rate(s, &made);
	}
	if (s->claims.intents.count >= INTENTS_MAX) {
		s->claims.intents.count /= 2;
		memmove(s->claims.intents.items, s->claims.intents.items + s->claims.intents.count,
			s->claims.intents.count * sizeof made);
	}
	VEC_PUSH(&s->claims.intents, made);
	if (a->type == ACTION_GRANT) {
		nearest_check(s, replica, a);
		quota_intended(s, replica, a);
	} else if (a->type == ACTION_DELETE_CAPACITY) {
		note_given_up(s, a);
	}
}

static const struct intent *last_intent(const struct sim *s, int replica, const char *name)
{
	for (size_t i = s->claims.intents.count; i-- > 0;) {
		const struct intent *made = &s->claims.intents.items[i];
		if (made->kind == ACTION_CONDITION && made->replica == replica &&
			strcmp(made->name, name) == 0) {
			return made;
		}
	}
	return NULL;
}

static bool shows(const struct claim *c, const struct intent *made)
{
	for (size_t i = 0; i < c->seen.count; i++) {
		if (strcmp(c->seen.items[i]->name, made->name) == 0) {
			return true;
		}
	}
	return false;
}

bool claim_opens_unseen(const struct claim *c, const char *node)
{
	vec_for_each (const struct intent, i, &c->sim->claims.intents) {
		if (i->kind == ACTION_CREATE_CAPACITY && i->replica == c->replica &&
			sim_now(c->sim) - i->at < LATELY_MS && !shows(c, i) &&
			(node == NULL || strcmp(i->node, node) == 0)) {
			return true;
		}
	}
	return false;
}

/* After a conflict an earlier attempt of the same may have landed. */
void claim_ended(struct sim *s, int replica, const struct action *a, const struct fault *fault)
{
	if (fault->kind == FAULT_NONE) {
		return;
	}
	s->claims.refused_at[replica] = sim_now(s);
	bool for_certain = !fault->unknown_outcome && fault->kind != FAULT_CONFLICT;
	for (size_t i = s->claims.intents.count; for_certain && i-- > 0;) {
		struct intent *made = &s->claims.intents.items[i];
		if (made->replica == replica && made->id == a->id && made->kind == (int)a->type) {
			made->not_done = true;
			return;
		}
	}
}

/* A capacity pod that is over, or that goes before it held its GPU: its node rests. So it does
 * where the scheduler goes on refusing one. */
void claim_committed(struct sim *s, const struct commit *c)
{
	const struct stored *o = c->after != NULL ? c->after : c->before;
	if (o->resource != RES_PODS || !pod_is_capacity(&o->pod)) {
		return;
	}
	bool over = pod_is_terminal(&o->pod), goes = c->after == NULL || o->pod.deleting_ms != 0;
	bool lost = o->pod.identity != NULL && !o->pod.holds;
	bool refused = o->pod.unschedulable && text_empty(o->pod.node);
	if (over || lost || refused || (goes && !o->pod.holds)) {
		note_failure(s, text_empty(o->pod.node) ? claim_pin(&o->pod) : o->pod.node);
	}
}

/* --- the rows: NULL, or what is wrong with the claim --- */

static const char *no_room(const struct claim *c)
{
	const struct stored *o = claim_fits(c);
	return o != NULL ? o->name : NULL;
}

/* In words; NULL: nowhere. */
static const char *it_fits(struct claim *c)
{
	const char *name = no_room(c);
	snprintf(c->why, sizeof c->why, "it fits %s", text_or(name, ""));
	return name != NULL ? c->why : NULL;
}

static bool lies_in(int64_t value, int64_t most_free, int64_t least_free)
{
	return value <= most_free && value >= least_free;
}

/* The number that is told of a GPU of that node, in thousandths or in MiB. */
static bool is_free_there(struct claim *c, const char *node, int64_t told, bool memory)
{
	for (size_t i = 0; i < c->seen.count; i++) {
		const struct stored *o = c->seen.items[i];
		if (o->resource != RES_PODS || !pod_is_capacity(&o->pod)) {
			continue;
		}
		const char *at = text_empty(o->pod.node) ? claim_pin(&o->pod) : o->pod.node;
		if (!text_equals(at, node)) {
			continue;
		}
		/* Nothing can be said of one that is not open: anything up to all of it. */
		if (!claim_is_open(o)) {
			return true;
		}
		int64_t milli, mib, whole = memory ? o->pod.identity->mem_mib : MODEL_GPU_MILLI;
		struct span used = memory ? claim_used_mib(c, o) : claim_used_milli(c, o);
		claim_ahead(c, o->pod.identity->mem_mib, &milli, &mib);
		/* Nothing is written to it while its creation is unanswered, nor sent: what was
		 * given meanwhile, to whomever, nobody sees. */
		if (claim_intends(c, ACTION_CREATE_CAPACITY, o->name, CLAIM_ANSWER_MS)) {
			claim_others(c, o->pod.identity->mem_mib, &milli, &mib);
		}
		int64_t least = whole - used.most - (memory ? mib : milli);
		if (lies_in(told, whole - used.least, least)) {
			return true;
		}
		snprintf(c->why, sizeof c->why, "%s has from %lld to %lld free", o->name,
			(long long)least, (long long)(whole - used.least));
	}
	/* Or of one that it has asked for and nobody has seen. */
	return claim_opens_unseen(c, node);
}

static const char *claim_is_short(struct claim *c)
{
	char node[64];
	struct amount_told best = {0}, want = {0};
	bool memory = strcmp(c->reason, "ShortMemory") == 0;
	if (no_room(c) != NULL) {
		return "it fits";
	}
	/* In a step that was cut short nobody is named. */
	if (!claim_best(c->message, &best, node, sizeof node)) {
		return NULL;
	}
	int64_t told = memory ? best.mib : best.milli;
	if (!is_free_there(c, node, told, memory)) {
		return c->why[0] != '\0' ? c->why : "no GPU is there";
	}
	bool wants = claim_wants(c->message, &want);
	int64_t asked = memory ? want.mib : want.milli;
	return wants && asked > 0 && told >= asked ? "so much is enough" : NULL;
}

static const char *claim_is_full(struct claim *c)
{
	return it_fits(c);
}

/* Some node must be unfit, or have too little once others are there. */
static const char *claim_is_unfit(struct claim *c)
{
	if (no_room(c) != NULL) {
		return "it fits";
	}
	return strstr(c->message, " node") == NULL ? "no node is told" : NULL;
}

static const char *is_larger(struct claim *c)
{
	for (size_t i = 0; i < c->seen.count; i++) {
		const struct stored *o = c->seen.items[i];
		struct need n;
		struct machine *m = o->resource == RES_NODES ? fleet_find(c->sim, o->name) : NULL;
		if (m != NULL && claim_selects(&c->pod->pod, &o->node) &&
			facts_need(&c->pod->pod, m->devices[0].mem_mib, &n) &&
			n.mem_mib <= m->devices[0].mem_mib && n.milli <= MODEL_GPU_MILLI) {
			return "a GPU is large enough";
		}
	}
	return NULL;
}

static const char *is_opening(struct claim *c)
{
	for (size_t i = 0; i < c->seen.count; i++) {
		const struct stored *o = c->seen.items[i];
		if (o->resource == RES_PODS && pod_is_capacity(&o->pod) && !claim_is_open(o)) {
			return NULL;
		}
	}
	return claim_intends(c, ACTION_CREATE_CAPACITY, NULL, LATELY_MS)
		       ? NULL
		       : "no capacity pod is opening";
}

/* A write to it or to a GPU is under way, or was not long ago. */
static const char *is_granting(struct claim *c)
{
	bool writes = claim_intends(c, ACTION_GRANT, NULL, LATELY_MS) ||
		      claim_intends(c, ACTION_PLACE, c->pod->name, LATELY_MS) ||
		      claim_awaits_watch(c, INT64_MAX);
	vec_for_each (const struct promise, made, &c->sim->checker.promises) {
		writes = writes || text_equals(made->tenant, c->pod->uid);
	}
	return writes ? NULL : "nobody gives it anything";
}

/* It counts from when it was asked for, not from when it came. */
static int64_t asked_at(const struct claim *c, const struct stored *o)
{
	vec_for_each (const struct intent, i, &c->sim->claims.intents) {
		if (i->kind == ACTION_CREATE_CAPACITY && i->at < o->born_ms &&
			strcmp(i->name, o->name) == 0) {
			return i->at;
		}
	}
	return o->born_ms;
}

static const char *has_failed(struct claim *c)
{
	for (size_t i = 0; i < c->seen.count; i++) {
		const struct stored *o = c->seen.items[i];
		const struct machine *m =
			o->resource == RES_NODES ? fleet_find(c->sim, o->name) : NULL;
		bool late = o->resource == RES_PODS && pod_is_capacity(&o->pod) &&
			    !claim_is_open(o) &&
			    sim_now(c->sim) - asked_at(c, o) >= c->sim->open_timeout_ms;
		if (late || (m != NULL && m->doubled) ||
			claim_failed_on(c->sim, o->name, FAILED_MS)) {
			return it_fits(c);
		}
	}
	return "no capacity pod has failed";
}

static const char *is_searching(struct claim *c)
{
	return claim_has_orphans(c) || claim_has_unbooked(c) ? NULL
							     : "no GPU has lost its capacity pod";
}

static const char *was_refused(struct claim *c)
{
	int64_t at = c->sim->claims.refused_at[c->replica];
	return at > 0 && sim_now(c->sim) - at < LATELY_MS ? NULL : "nothing was refused";
}

static const char *has_other_gate(struct claim *c)
{
	return c->pod->pod.gate_count > 1 ? NULL : "no other gate is there";
}

static const char *is_over_quota(struct claim *c)
{
	char name[64];
	int64_t allowed, taken;
	if (no_room(c) != NULL) {
		return "it fits";
	}
	if (!claim_quota(c->message, name, sizeof name, &allowed, &taken)) {
		return "no quota is told";
	}
	for (size_t i = 0; i < c->seen.count; i++) {
		const struct stored *o = c->seen.items[i];
		if (o->resource != RES_QUOTAS || strcmp(o->name, name) != 0) {
			continue;
		}
		struct quota_subject subject = quota_subject_of(&c->pod->pod);
		if (!quota_covers(&o->quota, &subject)) {
			return "it is not about this pod";
		}
		struct span used = claim_quota_used(c, &o->quota);
		return o->quota.hard_milli != allowed		 ? "it allows another amount"
		       : taken < used.least || taken > used.most ? "another amount is taken"
								 : NULL;
	}
	return "there is no such quota";
}

static const struct {
	const char *reason;
	const char *(*wrong)(struct claim *c);
} rows[] = {
	{"ShortGpus", claim_short_of_gpus},
	{"WholePodFirst", claim_keeps_first},
	{"Reserved", claim_keeps_first},
	{"GpuUnhealthy", claim_is_ill},
	{"MpsHeldOff", claim_is_ill},
	{"Exclusive", claim_is_exclusive},
	{"ShortCompute", claim_is_short},
	{"ShortMemory", claim_is_short},
	{"MaxTenants", claim_is_full},
	{"NoGpuNode", claim_is_full},
	{"NodeUnfit", claim_is_unfit},
	{"LargerThanAnyGpu", is_larger},
	{"WaitingForCapacity", is_opening},
	{"Granting", is_granting},
	{"CapacityFailed", has_failed},
	{"Reacquiring", is_searching},
	{"ApiRefused", was_refused},
	{"OtherGates", has_other_gate},
	{"Quota", is_over_quota},
};

/* --- what every sentence may say besides --- */

static const char *wants_something_else(const struct claim *c)
{
	struct amount_told told = {0}, asked = {0};
	const char *share = pairs_get(&c->pod->pod.notes, NOTE_SHARE);
	const char *memory = pairs_get(&c->pod->pod.notes, NOTE_MEMORY);
	if (!claim_wants(c->message, &told)) {
		return NULL;
	}
	int64_t bytes = 0;
	bool read = (share == NULL || facts_amount(view_of(share), &asked.milli)) &&
		    (memory == NULL || facts_amount(view_of(memory), &bytes));
	asked.mib = bytes / 1000 / (1 << 20);
	return read && told.milli == asked.milli && told.mib == asked.mib
		       ? NULL
		       : "it asks for something else";
}

/* By the nearest cause first, as the sentence counts them. */
static const char *miscounts(struct claim *c)
{
	int64_t others = 0, cordoned = 0, unready = 0;
	for (size_t i = 0; i < c->seen.count; i++) {
		const struct stored *o = c->seen.items[i];
		if (o->resource != RES_NODES) {
			continue;
		}
		bool selects = claim_selects(&c->pod->pod, &o->node);
		others += !selects;
		cordoned += selects && o->node.unschedulable;
		unready += selects && !o->node.unschedulable && !o->node.ready;
	}
	const struct {
		int64_t told, is;
	} counts[] = {
		{claim_nodes(
			 c->message, "does not match the node sel", "do not match the node sel"),
			others},
		{claim_nodes(c->message, "is cordoned", "are cordoned"), cordoned},
		{claim_nodes(c->message, "is not ready", "are not ready"), unready},
	};
	for (size_t i = 0; i < COUNT_OF(counts); i++) {
		if (counts[i].told >= 0 && counts[i].told != counts[i].is) {
			snprintf(c->why, sizeof c->why,
				"%lld nodes are told to be so, and %lld are",
				(long long)counts[i].told, (long long)counts[i].is);
			return c->why;
		}
	}
	return NULL;
}

/* --- judging --- */

static const char *wrong_in(struct claim *c, const char *uid)
{
	c->pod = claim_find(c, uid);
	bool group = c->pod != NULL && group_asked(&c->pod->pod) > 1;
	const char *why = c->pod != NULL ? "that is a reason which nobody judges" : NULL;
	for (size_t i = 0; c->pod != NULL && i < COUNT_OF(rows); i++) {
		if (strcmp(rows[i].reason, c->reason) == 0) {
			why = rows[i].wrong(c);
			break;
		}
	}
	return why != NULL || c->pod == NULL || group ? why : claim_miscounts_room(c);
}

static const char *wrong_at(struct claim *c, const char *uid, size_t moment)
{
	if (!past_picture(c->sim, c->replica, moment, &c->seen)) {
		return NULL;
	}
	const char *why = wrong_in(c, uid);
	VEC_FINISH(&c->seen);
	return why;
}

/* What does not depend on the step that found the reason is exact. */
static const char *wrong_words(struct claim *c, const char *uid, size_t moment)
{
	const char *why = NULL;
	if (!past_picture(c->sim, c->replica, moment, &c->seen)) {
		return NULL;
	}
	c->pod = claim_find(c, uid);
	if (c->pod != NULL) {
		why = wants_something_else(c);
		why = why != NULL ? why : miscounts(c);
		why = why != NULL ? why : claim_miscounts_gpus(c);
	}
	VEC_FINISH(&c->seen);
	return why;
}

/* What depends on nothing but the pod and the controller's own writes is so in any picture. */
static const char *wrong_alone(struct claim *c, const char *uid)
{
	c->pod = store_find_uid(&c->sim->store, uid);
	if (c->pod == NULL) {
		return NULL;
	}
	const char *why = wants_something_else(c);
	bool granting = strcmp(c->reason, "Granting") == 0;
	bool refused = strcmp(c->reason, "ApiRefused") == 0;
	return why != NULL ? why : granting ? is_granting(c) : refused ? was_refused(c) : NULL;
}

static void judge_reason(
	struct sim *s, int replica, const struct intent *made, const json_t *condition)
{
	struct claim c = {.sim = s,
		.replica = replica,
		.reason = text_or(json_string_value(json_object_get(condition, "reason")), ""),
		.message = text_or(json_string_value(json_object_get(condition, "message")), "")};
	/* Half a picture of newer objects beside older ones is none that can be made again. */
	const bool *partial = s->memory.partial[replica];
	bool half =
		partial[RES_PODS] || partial[RES_NODES] || partial[RES_QUOTAS] || s->weather.probed;
	const char *why =
		half ? wrong_alone(&c, made->uid) : wrong_words(&c, made->uid, made->moment);
	if (why == NULL && !half) {
		why = wrong_at(&c, made->uid, made->moment);
	}
	s->report->claims++;
	s->report->half_claims += half ? 1 : 0;
	if (why != NULL) {
		sim_fail(s, "claim", "r%d says of %s (%s): %s; but %s: %s", replica, made->name,
			made->uid, c.reason, why, c.message);
	}
}

void claim_sent(struct sim *s, int replica, const char *path, const char *body, size_t n)
{
	struct api_path p;
	json_t *value = NULL;
	if (!api_path_parse(path, &p) || strcmp(p.resource, "pods") != 0 ||
		strcmp(p.sub, "status") != 0 ||
		decode_parse(body, n, DECODE_PLAIN, &value, NULL) != 0) {
		return;
	}
	const json_t *list = json_object_get(json_object_get(value, "status"), "conditions");
	const json_t *condition = json_array_get(list, 0);
	const char *status = json_string_value(json_object_get(condition, "status"));
	const char *type = json_string_value(json_object_get(condition, "type"));
	const struct intent *made = last_intent(s, replica, p.name);
	if (made != NULL && text_equals(type, NAME_PLACED)) {
		delay_told(s, made->uid);
		if (text_equals(status, "False")) {
			judge_reason(s, replica, made, condition);
		}
	}
	json_decref(value);
}
