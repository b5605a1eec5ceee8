/* Tenants of several GPUs: all or nothing, each GPU once, all on one node. */
#include <stdio.h>
#include <string.h>

#include "check_group.h"
#include "model/names.h"
#include "model/plan.h"
#include "objects/facts.h"
#include "objects/machine_find.h"
#include "objects/told.h"
#include "objects/trace.h"

#define HALF_LOOK_MS 1000
#define HALF_MS	     120000
#define LANDS_MS     180000

/* By its own words: what the codec makes of them is what it was granted. */
static void check_asked(struct sim *s, const struct stored *o, const char *uuid)
{
	struct need asked = {0};
	int64_t milli = 0, mib = 0;
	const struct device *d = fleet_device(s, uuid);
	const char *told_milli = pairs_get(&o->pod.notes, NOTE_COMPUTE_MILLI);
	const char *told_mib = pairs_get(&o->pod.notes, NOTE_MEMORY_MIB);
	bool read = d != NULL && facts_need(&o->pod, d->mem_mib, &asked) &&
		    parse_i64(view_of(text_or(told_milli, "")), 0, INT64_MAX, &milli) &&
		    parse_i64(view_of(text_or(told_mib, "")), 0, INT64_MAX, &mib);
	if (!read || milli != asked.milli || mib != asked.mem_mib) {
		sim_fail(s, "asked", "%s/%s asks for %lld milli, %lld MiB of %s and is told %s, %s",
			o->ns, o->name, (long long)asked.milli, (long long)asked.mem_mib, uuid,
			text_or(told_milli, "none"), text_or(told_mib, "none"));
	}
}

void check_whole(struct sim *s, const struct stored *o)
{
	struct told_gpu t = told_gpus(&o->pod);
	int64_t count = 0;
	while (told_gpu_next(&t)) {
		count++;
		check_asked(s, o, t.uuid);
		for (struct told_gpu later = t; told_gpu_next(&later);) {
			if (strcmp(later.uuid, t.uuid) == 0) {
				sim_fail(s, "group", "%s/%s was told %s twice", o->ns, o->name,
					t.uuid);
			}
		}
	}
	if (count != group_asked(&o->pod)) {
		sim_fail(s, "group", "%s/%s asks for %lld GPUs and was told %lld", o->ns, o->name,
			(long long)group_asked(&o->pod), (long long)count);
	}
}

static struct half *half_of(struct sim *s, const char *uid)
{
	vec_for_each (struct half, h, &s->checker.halves) {
		if (strcmp(h->uid, uid) == 0) {
			return h;
		}
	}
	struct half made = {.version = s->store.version};
	snprintf(made.uid, sizeof made.uid, "%s", uid);
	VEC_PUSH(&s->checker.halves, made);
	return &s->checker.halves.items[s->checker.halves.count - 1];
}

/* A placement that was sent may land yet, on just these GPUs. */
static bool placement_may_land(const struct sim *s, const char *uid)
{
	vec_for_each (const struct intent, i, &s->claims.intents) {
		if (i->kind == ACTION_PLACE && sim_now(s) - i->at < LANDS_MS &&
			strcmp(i->uid, uid) == 0) {
			return true;
		}
	}
	return false;
}

/* A leader has 30 s to complete it or give it back, and some time for writes that are lost. Each
 * leader begins to count; what counts are seconds in which it could see and write. */
static void look_at_group(struct sim *s, const struct stored *o, int replica)
{
	struct half *h = half_of(s, o->uid);
	bool knows = replica >= 0 &&
		     past_version(s, replica, RES_PODS, s->memory.told.count) >= h->version;
	h->seen = sim_now(s);
	if (h->term != s->report->takeovers || placement_may_land(s, o->uid)) {
		h->term = s->report->takeovers;
		h->kept_ms = 0;
	}
	h->kept_ms += knows ? HALF_LOOK_MS : 0;
	if (h->kept_ms % 10000 == 0) {
		sim_trace(s, "%s (%s) keeps some of its GPUs for %lld s", o->name, o->uid,
			(long long)h->kept_ms / 1000);
	}
	if (h->kept_ms > HALF_MS) {
		sim_fail(s, "group", "%s/%s waits and keeps some of its GPUs for %lld s", o->ns,
			o->name, (long long)h->kept_ms / 1000);
	}
}

void check_halves(struct sim *s, int replica)
{
	for (size_t i = 0; i < s->store.items.count; i++) {
		const struct stored *o = s->store.items.items[i];
		bool pod = o->resource == RES_PODS && group_asked(&o->pod) > 1;
		if (pod && group_is_partial(s, o)) {
			look_at_group(s, o, replica);
		}
	}
	for (size_t i = s->checker.halves.count; i-- > 0;) {
		if (s->checker.halves.items[i].seen != sim_now(s)) {
			VEC_REMOVE_SWAP(&s->checker.halves, i);
		}
	}
}
