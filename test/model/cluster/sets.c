/* The controllers of Deployments, ReplicaSets and PodDisruptionBudgets, as Kubernetes has them as
 * far as it matters here. They look at everything a moment after something was written. */
#include "sets.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "objects/api_object.h"
#include "objects/dice.h"
#include "json/decode.h"
#include "model/names.h"
#include "objects/patch.h"
#include "objects/trace.h"
#include "webhook.h"
#include "work_health.h"
#include "claims/work_objects.h"

#define SOON_MS	      800
#define GRACE_S	      10
#define REVISION_NOTE "deployment.kubernetes.io/revision"

static bool set_selects(const struct stored *set, const struct stored *o)
{
	return work_selects(decode_find(set->value, "spec.selector.matchLabels"), o);
}

/* --- who goes first --- */

/* --- ReplicaSets --- */

/* Whom it selects and nobody controls; the reference that a pod made beside another has is turned.
 */
static bool adopt_one(struct sim *s, const struct stored *set)
{
	for (size_t i = 0; i < s->store.items.count; i++) {
		const struct stored *o = s->store.items.items[i];
		if (!work_is_active(o) || work_controller(o->value) != NULL ||
			!set_selects(set, o)) {
			continue;
		}
		json_t *draft = store_draft(o), *meta = json_object_get(draft, "metadata");
		bool beside = o->pod.beside;
		char uid[40];
		snprintf(uid, sizeof uid, "%s", o->uid);
		sim_trace(s, "ReplicaSet %s adopts %s", set->name, o->name);
		json_object_set_new(meta, "ownerReferences",
			json_pack("[{s:s, s:s, s:s, s:s, s:b, s:b}]", "apiVersion", "apps/v1",
				"kind", "ReplicaSet", "name", set->name, "uid", set->uid,
				"controller", 1, "blockOwnerDeletion", 1));
		work_put(s, o, draft);
		if (beside) {
			works_adopted(s, set->name, uid);
		}
		return true;
	}
	return false;
}

static void create_pod(struct sim *s, const struct stored *set)
{
	char name[96];
	json_t *pod = json_deep_copy(decode_find(set->value, "spec.template"));
	json_t *meta = json_object_get(pod, "metadata");
	snprintf(name, sizeof name, "%s-%04llu", set->name, (unsigned long long)++s->works.serial);
	json_object_set_new(pod, "apiVersion", json_string("v1"));
	json_object_set_new(pod, "kind", json_string("Pod"));
	json_object_set_new(meta, "name", json_string(name));
	json_object_set_new(meta, "namespace", json_string(set->ns));
	json_object_set_new(meta, "ownerReferences",
		json_pack("[{s:s, s:s, s:s, s:s, s:b}]", "apiVersion", "apps/v1", "kind",
			"ReplicaSet", "name", set->name, "uid", set->uid, "controller", 1));
	webhook_admit(s, ACTOR_CLUSTER, false, pod);
	json_object_set_new(json_object_get(pod, "spec"), "priority", json_integer(0));
	json_object_set_new(pod, "status", json_pack("{s:s}", "phase", "Pending"));
	struct stored *made = store_put(&s->store, RES_PODS, pod, ACTOR_CLUSTER);
	ENSURE(made != NULL);
}

struct tally {
	int64_t pods, ready;
};

static struct tally count_of(const struct sim *s, const struct stored *set)
{
	struct tally t = {0};
	for (size_t i = 0; i < s->store.items.count; i++) {
		const struct stored *o = s->store.items.items[i];
		t.pods += work_set_counts(set, o);
		t.ready += work_set_counts(set, o) && o->pod.ready;
	}
	return t;
}

static void write_set_status(struct sim *s, const struct stored *o, json_t *status)
{
	json_t *draft = store_draft(o);
	json_object_set_new(status, "observedGeneration",
		json_integer(work_number(o->value, "metadata.generation")));
	json_object_set_new(draft, "status", status);
	work_put(s, o, draft);
}

static void reconcile_set(struct sim *s, const char *name)
{
	const struct stored *set;
	while (adopt_one(s, store_find(&s->store, RES_SETS, WORKS_NS, name))) {
	}
	set = store_find(&s->store, RES_SETS, WORKS_NS, name);
	int64_t wanted = work_number(set->value, "spec.replicas");
	int64_t more = wanted - count_of(s, set).pods;
	for (int64_t i = 0; i < more; i++) {
		create_pod(s, set);
	}
	for (; more < 0; more++) {
		const struct stored *o = sets_victim(s, set, NULL, NULL);
		sim_trace(s, "ReplicaSet %s deletes %s, one too many", set->name, o->name);
		apiserver_delete_pod(s, (struct stored *)(uintptr_t)o, GRACE_S, ACTOR_CLUSTER);
	}
	struct tally t = count_of(s, set);
	write_set_status(s, set,
		json_pack("{s:I, s:I, s:I}", "replicas", (json_int_t)t.pods, "readyReplicas",
			(json_int_t)t.ready, "availableReplicas", (json_int_t)t.ready));
}

/* --- Deployments --- */

static int64_t revision_of(const struct stored *o)
{
	int64_t n = 0;
	const json_t *notes = decode_find(o->value, "metadata.annotations");
	const char *text = json_string_value(json_object_get(notes, REVISION_NOTE));
	return text != NULL && parse_i64(view_of(text), 0, INT32_MAX, &n) ? n : 0;
}

static void note_revision(struct sim *s, const struct stored *o, int64_t revision)
{
	char text[24];
	if (revision_of(o) == revision) {
		return;
	}
	json_t *draft = store_draft(o);
	snprintf(text, sizeof text, "%lld", (long long)revision);
	json_t *note = json_pack("{s:{s:{s:s}}}", "metadata", "annotations", REVISION_NOTE, text);
	patch_merge(draft, note);
	json_decref(note);
	work_put(s, o, draft);
}

static void scale_set(struct sim *s, const struct stored *set, int64_t replicas)
{
	if (work_number(set->value, "spec.replicas") == replicas) {
		return;
	}
	json_t *draft = store_draft(set);
	json_object_set_new(json_object_get(draft, "spec"), "replicas", json_integer(replicas));
	json_object_set_new(json_object_get(draft, "metadata"), "generation",
		json_integer(work_number(set->value, "metadata.generation") + 1));
	work_put(s, set, draft);
}

static void create_set(struct sim *s, const struct stored *d)
{
	char name[64], hash[32];
	snprintf(hash, sizeof hash, "%08llx",
		(unsigned long long)(dice_key("hash", work_version(d), (uint64_t)d->born) &
				     0xffffffff));
	snprintf(name, sizeof name, "%s-%s", d->name, hash);
	json_t *template = json_deep_copy(decode_find(d->value, "spec.template"));
	json_object_set_new(json_object_get(json_object_get(template, "metadata"), "labels"),
		LABEL_TEMPLATE_HASH, json_string(hash));
	json_t *set = json_pack("{s:s, s:s, s:{s:s, s:s, s:i, s:{}, s:[{s:s, s:s, s:s, s:s, s:b}]},"
				" s:{s:i, s:{s:{s:s, s:s}}, s:o}, s:{s:i}}",
		"apiVersion", "apps/v1", "kind", "ReplicaSet", "metadata", "name", name,
		"namespace", d->ns, "generation", 1, "annotations", "ownerReferences", "apiVersion",
		"apps/v1", "kind", "Deployment", "name", d->name, "uid", d->uid, "controller", 1,
		"spec", "replicas", 0, "selector", "matchLabels", LABEL_WORK, d->name,
		LABEL_TEMPLATE_HASH, hash, "template", template, "status", "replicas", 0);
	struct stored *made = store_put(&s->store, RES_SETS, set, ACTOR_CLUSTER);
	ENSURE(made != NULL);
}

struct rolling {
	int64_t wanted, spec, ready, last; /* of all ReplicaSets; the highest revision */
};

static struct rolling look_at_rollout(const struct sim *s, const struct stored *d)
{
	struct rolling r = {.wanted = work_number(d->value, "spec.replicas")};
	for (size_t i = 0; i < s->store.items.count; i++) {
		const struct stored *o = s->store.items.items[i];
		if (work_is_set_of(o, d)) {
			r.spec += work_number(o->value, "spec.replicas");
			r.ready += count_of(s, o).ready;
			r.last = revision_of(o) > r.last ? revision_of(o) : r.last;
		}
	}
	return r;
}

/* One of the older ones that has pods. */
static const struct stored *older(
	const struct sim *s, const struct stored *d, const struct stored *newest)
{
	for (size_t i = 0; i < s->store.items.count; i++) {
		const struct stored *o = s->store.items.items[i];
		if (work_is_set_of(o, d) && o != newest &&
			work_number(o->value, "spec.replicas") > 0) {
			return o;
		}
	}
	return NULL;
}

/* RollingUpdate, by one: with one pod more, or one fewer where it says so. */
static void roll(struct sim *s, const struct stored *d, const struct stored *newest)
{
	struct rolling r = look_at_rollout(s, d);
	const struct stored *old = older(s, d, newest);
	int64_t has = work_number(newest->value, "spec.replicas");
	bool surges = decode_find(d->value, "spec.strategy.surges") != NULL;
	if (old == NULL) {
		scale_set(s, newest, r.wanted);
	} else if (has < r.wanted && r.spec < r.wanted + (surges ? 1 : 0)) {
		scale_set(s, newest, has + 1);
	} else if (has > r.wanted) {
		scale_set(s, newest, r.wanted);
	} else {
		struct tally t = count_of(s, old);
		int64_t least = r.wanted - (surges ? 0 : 1);
		bool spare = t.pods > t.ready || r.ready > least;
		int64_t left = work_number(old->value, "spec.replicas");
		scale_set(s, old, spare ? left - 1 : left);
	}
}

static void tell_deployment(struct sim *s, const char *name)
{
	const struct stored *d = store_find(&s->store, RES_DEPLOYMENTS, WORKS_NS, name);
	const struct stored *newest = work_newest(s, d);
	struct tally all = {0}, updated = {0};
	for (size_t i = 0; i < s->store.items.count; i++) {
		const struct stored *o = s->store.items.items[i];
		if (work_is_set_of(o, d)) {
			struct tally t = count_of(s, o);
			all.pods += t.pods;
			all.ready += t.ready;
			updated = o == newest ? t : updated;
		}
	}
	write_set_status(s, d,
		json_pack("{s:I, s:I, s:I, s:I}", "replicas", (json_int_t)all.pods,
			"updatedReplicas", (json_int_t)updated.pods, "readyReplicas",
			(json_int_t)all.ready, "availableReplicas", (json_int_t)all.ready));
}

static void reconcile_deployment(struct sim *s, const char *name)
{
	const struct stored *d = store_find(&s->store, RES_DEPLOYMENTS, WORKS_NS, name);
	if (work_newest(s, d) == NULL) {
		create_set(s, d);
	}
	const struct stored *newest = work_newest(s, d);
	if (revision_of(newest) == 0 || revision_of(newest) < look_at_rollout(s, d).last) {
		note_revision(s, newest, look_at_rollout(s, d).last + 1);
		newest = work_newest(s, d);
	}
	note_revision(s, d, revision_of(newest));
	d = store_find(&s->store, RES_DEPLOYMENTS, WORKS_NS, name);
	roll(s, d, work_newest(s, d));
	tell_deployment(s, name);
}

/* --- budgets --- */

static void reconcile_budget(struct sim *s, const struct stored *b)
{
	const json_t *selector = decode_find(b->value, "spec.selector.matchLabels");
	int64_t wanted = work_number(b->value, "spec.minAvailable"), healthy = 0, expected = 0;
	for (size_t i = 0; i < s->store.items.count; i++) {
		const struct stored *o = s->store.items.items[i];
		bool one = o->resource == RES_PODS && !pod_is_terminal(&o->pod) &&
			   work_selects(selector, o);
		expected += one;
		healthy += one && o->pod.ready && o->pod.deleting_ms == 0;
	}
	write_set_status(s, b,
		json_pack("{s:I, s:I, s:I, s:I}", "currentHealthy", (json_int_t)healthy,
			"desiredHealthy", (json_int_t)wanted, "expectedPods", (json_int_t)expected,
			"disruptionsAllowed",
			(json_int_t)(healthy > wanted ? healthy - wanted : 0)));
}

/* --- turns --- */

/* One pass over one kind; what is written meanwhile is looked at in the next turn. */
static void reconcile_all(struct sim *s, enum resource resource)
{
	for (size_t i = 0; i < s->store.items.count; i++) {
		const struct stored *o = s->store.items.items[i];
		if (o->resource != resource) {
			continue;
		}
		CLEANUP(cleanup_free) char *name = xstrdup(o->name);
		if (resource == RES_DEPLOYMENTS) {
			reconcile_deployment(s, name);
		} else if (resource == RES_SETS) {
			reconcile_set(s, name);
		} else {
			reconcile_budget(s, o);
		}
	}
}

static void sets_turn(void *data, uint64_t arg)
{
	(void)arg;
	struct sim *s = data;
	s->works.soon = false;
	reconcile_all(s, RES_DEPLOYMENTS);
	reconcile_all(s, RES_SETS);
	reconcile_all(s, RES_BUDGETS);
}

void sets_soon(struct sim *s)
{
	if (s->works.soon || !s->weather.rolled) {
		return;
	}
	s->works.soon = true;
	struct dice back = dice_enter(s, dice_key("sets", NULL, (uint64_t)sim_now(s)));
	int64_t at = sim_now(s) + sim_between(s, 10, SOON_MS);
	agenda_add(
		&s->agenda, at > s->works.slow_until ? at : s->works.slow_until, sets_turn, s, 0);
	dice_leave(s, back);
}

void sets_committed(struct sim *s, const struct commit *c)
{
	const struct stored *o = c->after != NULL ? c->after : c->before;
	if (o->resource == RES_SETS || o->resource == RES_DEPLOYMENTS ||
		o->resource == RES_BUDGETS || (o->resource == RES_PODS && (work_of(o) != NULL))) {
		sets_soon(s);
	}
}
