/* Is whoever is sent away for its memory over its share, by what an agent has seen not long before,
 * and is its GPU short of memory? Judged when it is decided, for a request may be late. */
#include "check_memory.h"

#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "model/names.h"
#include "model/plan.h"
#include "model/state.h"
#include "objects/trace.h"

/* What is older says nothing of now. */
#define FRESH_MS STATE_FRESH_MS
/* So long somebody may be over after it was seen to be, for it ends only well below. */
#define BEGAN_MS 600000
#define APART_MS 1000
/* A failure is a reason for a minute from when a controller has heard of it. */
#define STARVED_MS 180000
/* So long one that was asked to go counts as going whatever the watch shows. */
#define GOING_MS  10000
#define LATELY_MS 180000

void greed_finish(struct greed *g)
{
	VEC_FINISH(&g->looks);
	VEC_FINISH(&g->starved);
	VEC_FINISH(&g->sent);
}

/* Its own policy says so; they do not change. */
static bool policy_says_so(const struct sim *s, const struct pod *p)
{
	const char *name = pairs_get(&p->notes, NOTE_POLICY);
	const struct stored *o =
		name != NULL ? store_find(&s->store, RES_POLICIES, "", name) : NULL;
	const json_t *spec = o != NULL ? json_object_get(o->value, "spec") : NULL;
	return text_equals(json_string_value(json_object_get(
				   json_object_get(spec, "sharing"), "memoryOveruse")),
		"Evict");
}

/* Somebody else on that GPU ended for want of memory. */
static bool is_starved(const struct sim *s, const char *uuid, const char *uid)
{
	vec_for_each (const struct starved, f, &s->checker.greed.starved) {
		if (strcmp(f->uuid, uuid) == 0 && strcmp(f->uid, uid) != 0 &&
			sim_now(s) - f->at < STARVED_MS) {
			return true;
		}
	}
	return false;
}

static bool began_before(const struct sim *s, const struct greedy_look *l)
{
	vec_for_each (const struct greedy_look, other, &s->checker.greed.looks) {
		if (strcmp(other->uid, l->uid) == 0 && strcmp(other->uuid, l->uuid) == 0 &&
			other->at <= l->at - APART_MS && l->at - other->at < BEGAN_MS) {
			return true;
		}
	}
	return false;
}

/* Its memory is free when it has ended, whenever its object goes. */
static int64_t pod_ended_at(const struct sim *s, const char *uid)
{
	for (size_t i = s->memory.changes.count; i-- > 0;) {
		const struct happened *h = &s->memory.changes.items[i];
		if (h->before != NULL && strcmp(h->before->uid, uid) == 0 &&
			!pod_is_terminal(&h->before->pod) &&
			(h->after == NULL || pod_is_terminal(&h->after->pod))) {
			return h->at;
		}
	}
	return 0;
}

/* Memory must have been seen after this: when the last one that this process sent away from that
 * GPU had gone. */
static int64_t measured_after(const struct sim *s, int replica, const char *uuid, const char *uid)
{
	int64_t after = 0;
	vec_for_each (const struct sent_away, e, &s->checker.greed.sent) {
		if (e->replica != replica || e->incarnation != s->slots[replica].incarnation ||
			e->done_at == 0 || sim_now(s) - e->done_at >= GOING_MS ||
			strcmp(e->uid, uid) == 0 || !gpu_list_has(e->uuids, uuid)) {
			continue;
		}
		const struct stored *o = store_find_uid(&s->store, e->uid);
		int64_t since = o != NULL && !pod_is_terminal(&o->pod) ? INT64_MAX
								       : pod_ended_at(s, e->uid);
		after = since > after ? since : after;
	}
	return after;
}

/* NULL: it may be sent away; else what it lacks. */
static const char *objection(
	const struct sim *s, int replica, const struct stored *o, const char **ret_uuid)
{
	const char *why = "is within its share, as far as was seen lately";
	vec_for_each (const struct greedy_look, l, &s->checker.greed.looks) {
		if (strcmp(l->uid, o->uid) != 0 || sim_now(s) - l->at > FRESH_MS) {
			continue;
		}
		*ret_uuid = l->uuid;
		if (!began_before(s, l)) {
			why = "was over its share at one look only";
		} else if (!l->is_short && !is_starved(s, l->uuid, o->uid)) {
			why = "is over its share on a GPU that has memory";
		} else if (l->at < measured_after(s, replica, l->uuid, o->uid)) {
			why = "goes before memory was seen without the last one";
		} else {
			return NULL;
		}
	}
	return why;
}

static void prune(struct greed *g, int64_t now)
{
	size_t kept = 0;
	for (size_t i = 0; i < g->looks.count; i++) {
		if (now - g->looks.items[i].at < BEGAN_MS) {
			g->looks.items[kept++] = g->looks.items[i];
		}
	}
	g->looks.count = kept;
}

void memory_intended(struct sim *s, int replica, const struct action *a)
{
	const char *uuid = "?";
	const struct stored *o = a->uid != NULL ? store_find_uid(&s->store, a->uid) : NULL;
	if (a->type != ACTION_EVICT || a->reason != REASON_MEMORY_OVERUSE) {
		return;
	}
	prune(&s->checker.greed, sim_now(s));
	struct sent_away made = {
		.at = sim_now(s), .replica = replica, .incarnation = s->slots[replica].incarnation};
	snprintf(made.uid, sizeof made.uid, "%s", text_or(a->uid, ""));
	if (o != NULL) {
		snprintf(made.uuids, sizeof made.uuids, "%s",
			text_or(pairs_get(&o->pod.notes, NOTE_GPU_UUID), ""));
		const char *why = policy_says_so(s, &o->pod)
					  ? objection(s, replica, o, &uuid)
					  : "is under a policy that does not say so";
		if (why != NULL) {
			sim_fail(s, "C29", "r%d sends %s away for its memory on %s: it %s", replica,
				o->name, uuid, why);
		}
		s->report->overused++;
	}
	VEC_PUSH(&s->checker.greed.sent, made);
}

void memory_evicted(struct sim *s, int replica, const struct stored *o)
{
	vec_for_each (struct sent_away, e, &s->checker.greed.sent) {
		if (e->replica == replica && strcmp(e->uid, o->uid) == 0) {
			e->done_at = sim_now(s);
		}
	}
}

bool memory_excuses(const struct sim *s, const struct stored *o)
{
	vec_for_each (const struct sent_away, e, &s->checker.greed.sent) {
		if (strcmp(e->uid, o->uid) == 0 && sim_now(s) - e->at < LATELY_MS) {
			return true;
		}
	}
	return false;
}
