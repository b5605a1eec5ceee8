/* The envelope of an admission request, and the answer. */
#include "pods/review.h"

#include "base/base64.h"

#include <jansson.h>
#include <string.h>

#include "pods/pod_decode.h"
#include "diff.h"
#include "json/build.h"
#include "json/decode.h"
#include "json/fields.h"
#include "model/names.h"
#include "tenant.h"
#include "tenant_debug.h"
#include "tenant_plain.h"
#include "trim.h"

#define UID_MAX	  256
#define PATCH_MAX (2u << 20)
#define NOTES	  "metadata.annotations/"
#define TEXT_KEEP (64u << 10) /* memory kept between two requests */

/* --- in --- */

static const struct field request_fields[] = {
	FIELD("uid", text, AT(review, uid), .required = true),
	FIELD("operation", text, AT(review, operation)),
	FIELD("namespace", text, AT(review, ns)),
	FIELD("userInfo.username", text, AT(review, user)),
	FIELD("dryRun", flag, AT(review, dry_run)),
};
static const struct shape request_shape = {SHAPE(review, request_fields)};

/* Why a container that is added is none of ours. What is asked is whether the pod is a tenant, and
 * only the old object says so: the API server has not yet taken the rest of the update away. */
static const char *refuse_debug(const json_t *request)
{
	const json_t *old = json_object_get(request, "oldObject");
	if (!json_is_object(old) || !json_is_object(json_object_get(request, "object"))) {
		return "no object";
	}
	return tenant_is(old) ? NULL : "not a tenant";
}

/* Why this request is none of ours; NULL: a pod is being created, or debugged. */
static const char *why_refused(const struct review *r, const json_t *request)
{
	if (r->debugged) {
		return refuse_debug(request);
	}
	if (!text_equals(r->operation, "CREATE")) {
		return "not a CREATE";
	}
	if (!text_equals(decode_find_text(request, "kind.kind"), "Pod") ||
		!text_empty(decode_find_text(request, "kind.group")) ||
		!text_equals(decode_find_text(request, "kind.version"), "v1") ||
		!text_empty(decode_find_text(request, "subResource"))) {
		return "not a v1 Pod";
	}
	return json_is_object(json_object_get(request, "object")) ? NULL : "no object";
}

/* What Argo CD, Flux, Helm, Fleet, Config Sync and kapp write on what they keep as it is declared.
 * app.kubernetes.io/instance, by which Argo CD 2 knows its own, is on most pods of anybody. */
static const char *declared_by(const json_t *object)
{
	static const struct {
		const char *in, *prefix;
	} marks[] = {
		{"metadata.annotations", "argocd.argoproj.io/"},
		{"metadata.labels", "argocd.argoproj.io/"},
		{"metadata.labels", "kustomize.toolkit.fluxcd.io/"},
		{"metadata.labels", "helm.toolkit.fluxcd.io/"},
		{"metadata.annotations", "meta.helm.sh/release-"},
		{"metadata.labels", "objectset.rio.cattle.io/"},
		{"metadata.annotations", "configmanagement.gke.io/"},
		{"metadata.annotations", "configsync.gke.io/"},
		{"metadata.labels", "kapp.k14s.io/"},
	};
	for (size_t i = 0; i < COUNT_OF(marks); i++) {
		json_t *pairs = (json_t *)decode_find(object, marks[i].in);
		const char *key;
		json_t *value;
		json_object_foreach(pairs, key, value)
		{
			if (view_starts_with(view_of(key), marks[i].prefix)) {
				return key;
			}
		}
	}
	return NULL;
}

static void decode_object_of(struct review *r)
{
	struct fault f = {0};
	struct tenant_marks marks = {0};
	r->plain = tenant_plain(r->object, &marks);
	r->restored = marks.restored;
	r->unreadable = marks.unreadable;
	/* Groups of Volcano are named by annotations, which struct pod does not carry. */
	r->group_note = decode_find(r->plain, NOTES "scheduling.k8s.io/group-name") != NULL ||
			decode_find(r->plain, NOTES "scheduling.volcano.sh/group-name") != NULL;
	r->declared = declared_by(r->plain);
	if (pod_review(r->plain, &r->arena, &r->pod, &f) < 0) {
		r->problem = arena_strdup(&r->arena, f.message);
		r->pod = (struct pod){0};
		return;
	}
	/* Only our own word makes a pod one that stands beside another: anyone else's is bare. */
	if (r->pod.beside && !text_equals(r->user, NAME_CONTROLLER_USER)) {
		r->pod.beside = false;
		r->pod.owner = (struct owner){NULL, NULL, NULL, NULL};
	}
	/* At CREATE the object need not repeat the namespace of the request. */
	if (text_empty(r->pod.ns)) {
		r->pod.ns = r->ns;
	}
}

/* Where the patch does not fit there is none, and the guard judges the container alone. */
static void debug_object_of(struct review *r, const json_t *old)
{
	r->gpu_in = decode_find_text(old, NOTES NOTE_CONTAINER);
	json_t *after = tenant_debug(r->object, old, &r->void_in);
	r->patch = (struct str)STR_INIT(PATCH_MAX);
	if (diff_write(r->object, after, &r->patch)) {
		r->tenant = after;
		return;
	}
	str_finish(&r->patch);
	json_decref(after);
	r->void_in = NULL;
}

/* What cannot be trimmed is parsed as it is: the parser finds the words for what is wrong with it.
 */
static int parse_trimmed(struct review *r, const char *body, size_t size, struct fault *ret_fault)
{
	r->text.limit = REVIEW_BODY_MAX;
	switch (trim_review(body, size, &r->text)) {
	case TRIM_TOO_LARGE:
		r->too_large = true;
		return fault_set(ret_fault, FAULT_LIMIT, "too large to be looked at");
	case TRIM_DONE:
		return decode_parse(
			str_text(&r->text), r->text.len, DECODE_UNIQUE, &r->root, ret_fault);
	case TRIM_BROKEN:
		break;
	}
	return decode_parse(body, size, DECODE_UNIQUE, &r->root, ret_fault);
}

static int decode_review(struct review *r, const char *body, size_t size, struct fault *ret_fault)
{
	if (parse_trimmed(r, body, size, ret_fault) < 0) {
		return -1;
	}
	json_t *request = json_object_get(r->root, "request");
	if (!json_is_object(request)) {
		return fault_set(ret_fault, FAULT_INVALID, "no request");
	}
	r->operation = r->ns = r->user = "";
	if (fields_read(request, &request_shape, &r->arena, r, ret_fault) < 0) {
		return fault_wrap(ret_fault, "request");
	}
	if (text_empty(r->uid) || strlen(r->uid) > UID_MAX) {
		return fault_set(ret_fault, FAULT_INVALID, "request.uid: no usable text");
	}
	r->debugged = text_equals(r->operation, "UPDATE") &&
		      text_equals(decode_find_text(request, "subResource"), "ephemeralcontainers");
	r->problem = why_refused(r, request);
	if (r->problem == NULL) {
		r->object = json_object_get(request, "object");
		if (r->debugged) {
			debug_object_of(r, json_object_get(request, "oldObject"));
		} else {
			decode_object_of(r);
		}
	}
	return 0;
}

int review_decode(struct review *r, const char *body, size_t size, struct fault *ret_fault)
{
	struct fault f = {0};
	if (decode_review(r, body, size, &f) == 0) {
		return 0;
	}
	struct view uid = trim_uid(body, size);
	if (uid.n == 0 || uid.n > UID_MAX) {
		*ret_fault = f;
		return -1;
	}
	r->uid = arena_strndup(&r->arena, uid.p, uid.n);
	r->problem = arena_strdup(&r->arena, f.message);
	r->malformed = !r->too_large;
	return 0;
}

void review_reset(struct review *r)
{
	struct arena arena = r->arena;
	struct str text = r->text;
	str_finish(&r->patch);
	json_decref(r->tenant);
	json_decref(r->plain);
	json_decref(r->root);
	arena_reset(&arena);
	str_reset(&text);
	str_trim_capacity(&text, TEXT_KEEP);
	*r = (struct review){.arena = arena, .text = text};
}

void review_finish(struct review *r)
{
	review_reset(r);
	arena_finish(&r->arena);
	str_finish(&r->text);
}

/* --- out --- */

bool review_apply(struct review *r, const struct mutation *m)
{
	ENSURE(r->problem == NULL && r->plain != NULL && r->tenant == NULL);
	json_t *tenant = tenant_convert(r->plain, m);
	if (tenant == NULL) {
		return false;
	}
	/* Whether the patch fits must be known before anybody is told that the pod was converted.
	 */
	r->patch = (struct str)STR_INIT(PATCH_MAX);
	if (!diff_write(r->object, tenant, &r->patch)) {
		str_finish(&r->patch);
		json_decref(tenant);
		return false;
	}
	r->tenant = tenant;
	return true;
}

static void write_coded(const struct str *patch, struct build *b)
{
	CLEANUP(str_finish) struct str coded = STR_INIT(PATCH_MAX / 3 * 4 + 4);
	if (strcmp(str_text(patch), "[]") == 0 ||
		!base64_encode(str_text(patch), patch->len, &coded)) {
		return;
	}
	build_text_at(b, "patchType", "JSONPatch");
	build_text_at(b, "patch", str_text(&coded));
}

/* What makes a plain pod plain again is small, and where it is not, none is better than half. */
static void write_patch(const struct review *r, struct build *b)
{
	if (r->tenant != NULL) {
		write_coded(&r->patch, b);
		return;
	}
	CLEANUP(str_finish) struct str patch = STR_INIT(PATCH_MAX);
	if (r->problem == NULL && r->plain != NULL && diff_write(r->object, r->plain, &patch)) {
		write_coded(&patch, b);
	}
}

static void write_notes(const struct review_notes *notes, struct build *b)
{
	if (notes->warning_count > 0) {
		build_array_at(b, "warnings");
		for (uint32_t i = 0; i < notes->warning_count; i++) {
			build_view(b, text_cut(notes->warnings[i], REVIEW_WARNING_MAX));
		}
		build_end(b);
	}
	if (notes->verdict != NULL) {
		build_object_at(b, "auditAnnotations");
		build_text_at(b, "verdict", notes->verdict);
		build_end(b);
	}
}

bool review_answer(const struct review *r, const struct review_notes *notes, struct str *out)
{
	struct build b = build_into(out);
	build_begin_object(&b);
	build_text_at(&b, "apiVersion", "admission.k8s.io/v1");
	build_text_at(&b, "kind", "AdmissionReview");
	build_object_at(&b, "response");
	build_text_at(&b, "uid", r->uid);
	build_bool_at(&b, "allowed", true);
	write_patch(r, &b);
	write_notes(notes, &b);
	build_end(&b);
	build_end(&b);
	return build_ok(&b);
}
