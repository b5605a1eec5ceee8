/* The webhook as it ships, less its server: whoever creates a pod gets the verdict of one of the
 * controllers that run, by what that one has been told. Where none answers the pod is taken as it
 * is (failurePolicy Ignore). */
#include "webhook.h"

#include <stdio.h>
#include <stdlib.h>

#include "pods/review.h"
#include "json/decode.h"
#include "model/names.h"
#include "replica.h"
#include "objects/sim_parts.h"
#include "size/admit.h"

#define TEXT_MAX 4096

/* --- the patch --- */

static void unescape_pointer(struct view part, char *key, size_t room)
{
	size_t n = 0;
	for (size_t i = 0; i < part.n && n + 1 < room; i++) {
		bool pair = part.p[i] == '~' && i + 1 < part.n;
		key[n++] = !pair ? part.p[i] : part.p[i + 1] == '1' ? '/' : '~';
		i += pair;
	}
	key[n] = '\0';
}

static void patch_at(json_t *parent, const char *key, bool adds, json_t *value)
{
	int64_t at = 0;
	if (json_is_object(parent)) {
		value == NULL ? json_object_del(parent, key)
			      : json_object_set_new(parent, key, json_deep_copy(value));
		return;
	}
	if (!parse_i64(view_of(key), 0, INT32_MAX, &at)) {
		at = (int64_t)json_array_size(parent);
	}
	if (value == NULL) {
		json_array_remove(parent, (size_t)at);
	} else if (adds) {
		json_array_insert_new(parent, (size_t)at, json_deep_copy(value));
	} else {
		json_array_set_new(parent, (size_t)at, json_deep_copy(value));
	}
}

static json_t *step_into(json_t *at, const char *key)
{
	int64_t i = 0;
	if (json_is_object(at)) {
		return json_object_get(at, key);
	}
	return parse_i64(view_of(key), 0, INT32_MAX, &i) ? json_array_get(at, (size_t)i) : NULL;
}

/* RFC 6902: "add", "replace" and "remove". */
static void patch_once(json_t *target, const json_t *op)
{
	const char *verb = json_string_value(json_object_get(op, "op"));
	struct view rest = view_of(json_string_value(json_object_get(op, "path"))), part;
	char key[256] = "";
	rest.p++;
	rest.n--;
	while (target != NULL && view_next(&rest, '/', &part)) {
		unescape_pointer(part, key, sizeof key);
		if (rest.n > 0) {
			target = step_into(target, key);
		}
	}
	ENSURE(target != NULL);
	patch_at(target, key, text_equals(verb, "add"),
		text_equals(verb, "remove") ? NULL : json_object_get(op, "value"));
}

static void patch_all(json_t *target, const char *text, size_t n)
{
	CLEANUP(decode_release) json_t *ops = NULL;
	size_t i;
	json_t *op;
	int result = decode_parse(text, n, DECODE_PLAIN, &ops, NULL);
	ENSURE(result == 0);
	json_array_foreach(ops, i, op)
	{
		patch_once(target, op);
	}
}

/* --- the verdict --- */

static void apply_advised(
	const struct replica *r, struct review *v, const struct workload *w, struct admit_input *in)
{
	const struct advised *x =
		w->key.name != NULL ? advice_find(replica_control(r)->advice, &w->key) : NULL;
	for (uint32_t i = 0; x != NULL && x->ready && i < x->container_count; i++) {
		const struct advised_container *c = &x->containers[i];
		if (text_equals(c->name, v->pod.gpu_container)) {
			in->recommendation =
				arena_printf(&v->arena, "%s@%lld", x->name, (long long)x->revision);
			in->target_milli = c->target.milli;
			in->target_mib = c->target.mib;
		}
	}
}

static void admit_pod_of(const struct replica *r, struct review *v, json_t *pod)
{
	struct workload workload;
	const struct world *w = engine_world(replica_control(r)->engine);
	const struct world_namespace *ns = world_namespace_find(w, v->pod.ns);
	struct admit_input in = {.pod = &v->pod,
		.ns = ns != NULL && ns->known ? &ns->noun : NULL,
		.count_max = 4,
		.workload = &workload};
	in.policies.items = world_policies(w, &in.policies.count);
	workload_of(replica_control(r)->groups, NULL, &v->pod, &v->arena, &workload);
	apply_advised(r, v, &workload, &in);
	struct admit_verdict verdict = admit_judge(&in);
	struct mutation m;
	if (!verdict.convert) {
		return;
	}
	admit_mutation(&in, &verdict, &v->arena, &m);
	if (review_apply(v, &m)) {
		patch_all(pod, str_text(&v->patch), v->patch.len);
	}
}

/* Any that runs; NULL: none does, or the way to them is broken. */
static const struct replica *who_answers(const struct sim *s, const char *name)
{
	const struct replica *found[SIM_REPLICAS];
	size_t n = 0;
	for (int i = 0; i < s->replicas && sim_now(s) >= s->works.away_until; i++) {
		const struct slot *slot = &s->slots[i];
		if (slot->replica != NULL && sim_now(s) >= slot->paused_until) {
			found[n++] = slot->replica;
		}
	}
	return n > 0 ? found[dice_key("webhook", name, s->config.seed) % n] : NULL;
}

bool webhook_answers(const struct sim *s)
{
	return who_answers(s, NULL) != NULL;
}

void webhook_admit(struct sim *s, int actor, bool dry, json_t *pod)
{
	json_t *meta = json_object_get(pod, "metadata");
	const char *ns = text_or(json_string_value(json_object_get(meta, "namespace")), "");
	const char *name = json_string_value(json_object_get(meta, "name"));
	const struct replica *r = who_answers(s, name);
	if (r == NULL || strcmp(ns, NAME_NAMESPACE) == 0) {
		return;
	}
	struct review v = {.root = NULL};
	json_t *review = json_pack(
		"{s:s, s:s, s:{s:s, s:s, s:s, s:b, s:{s:s}, s:{s:s, s:s, s:s}, s:O}}", "apiVersion",
		"admission.k8s.io/v1", "kind", "AdmissionReview", "request", "uid", "review",
		"operation", "CREATE", "namespace", ns, "dryRun", dry, "userInfo", "username",
		actor >= 0 ? NAME_CONTROLLER_USER : "system:somebody", "kind", "group", "",
		"version", "v1", "kind", "Pod", "object", pod);
	char *text = value_text(review);
	int result = review_decode(&v, text, strlen(text), NULL);
	ENSURE(result == 0);
	if (v.problem == NULL) {
		admit_pod_of(r, &v, pod);
	}
	review_finish(&v);
	free(text);
	json_decref(review);
}
