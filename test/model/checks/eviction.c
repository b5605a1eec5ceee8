/* The eviction subresource, with disruption budgets as the API server applies them: what waits, is
 * over or is going already passes; of the rest of an app so many must be left. */
#include "eviction.h"

#include <stdio.h>
#include <string.h>

#include "objects/api_object.h"
#include "claims/budgets.h"
#include "check_evict.h"
#include "check_memory.h"
#include "json/decode.h"
#include "model/names.h"
#include "objects/patch.h"

#define GRACE_S 30

int app_of(const struct pod *p)
{
	const char *app = pairs_get(&p->labels, "app");
	return app != NULL && app[0] >= 'a' && app[0] < 'a' + SIM_APPS ? app[0] - 'a' : -1;
}

static int64_t healthy(const struct sim *s, int app)
{
	int64_t n = 0;
	for (size_t i = 0; i < s->store.items.count; i++) {
		const struct stored *o = s->store.items.items[i];
		n += o->resource == RES_PODS && app_of(&o->pod) == app &&
		     o->pod.phase == POD_RUNNING && o->pod.deleting_ms == 0;
	}
	return n;
}

bool evict_is_allowed(const struct sim *s, const struct pod *p)
{
	int app = app_of(p);
	/* The budget of capacity pods can never be met. */
	if (pod_is_capacity(p) && p->phase == POD_RUNNING &&
		text_equals(pairs_get(&p->labels, LABEL_IN_USE), IN_USE_HELD)) {
		return false;
	}
	bool ignored = app < 0 || p->phase != POD_RUNNING || p->deleting_ms != 0;
	return ignored || healthy(s, app) > s->budgets[app];
}

/* NULL: they hold. */
static const char *unmet(const json_t *body, const struct stored *o)
{
	char have[32];
	const char *uid = NULL, *version = NULL;
	snprintf(have, sizeof have, "%lld", (long long)o->version);
	if (decode_text(body, "deleteOptions.preconditions.uid", &uid, NULL) < 0 ||
		decode_text(body, "deleteOptions.preconditions.resourceVersion", &version, NULL) <
			0) {
		return "the preconditions are no texts";
	}
	if (!text_empty(uid) && strcmp(uid, o->uid) != 0) {
		return "the uid in the precondition differs";
	}
	bool same = text_empty(version) || strcmp(version, have) == 0;
	return same ? NULL : "the object has been modified";
}

/* Of others nobody asks for it. */
static struct stored *note_disruption(struct sim *s, struct stored *o, int actor)
{
	json_t *draft = store_draft(o);
	json_t *wrap = json_pack("{s:[o]}", "conditions",
		pod_condition_new("DisruptionTarget", true, "EvictionByEvictionAPI"));
	patch_conditions(json_object_get(draft, "status"), wrap);
	json_decref(wrap);
	return store_put(&s->store, RES_PODS, draft, actor);
}

void apiserver_evict(
	struct sim *s, int actor, struct stored *o, const json_t *body, struct api_answer *a)
{
	const char *why = unmet(body, o);
	if (why != NULL) {
		api_status(a, 409, "Conflict", why);
		return;
	}
	const char *forbidden = s->weather.rolled ? budgets_forbid(s, o, true) : NULL;
	if (forbidden != NULL || !evict_is_allowed(s, &o->pod)) {
		api_status(a, 429, "TooManyRequests",
			"Cannot evict pod as it would violate the pod's disruption budget.");
		s->report->refused++;
		return;
	}
	s->report->evicted += o->pod.deleting_ms == 0;
	a->status = 201;
	a->body = xstrdup("{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Success\"}");
	if (o->pod.deleting_ms == 0 && actor >= 0) {
		check_eviction(s, o);
		memory_evicted(s, actor, o);
	}
	s->evicting = true;
	if (pod_is_capacity(&o->pod)) {
		o = note_disruption(s, o, actor);
	}
	apiserver_delete_pod(s, o, o->pod.lingers ? CAPACITY_LINGER_S : GRACE_S, actor);
	s->evicting = false;
}
