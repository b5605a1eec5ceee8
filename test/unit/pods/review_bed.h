/* A pod's way through the webhook, patch and all, for tests of what it does there. */
#ifndef TEST_UNIT_CODEC_REVIEW_BED_H
#define TEST_UNIT_CODEC_REVIEW_BED_H

#include "pods/review.h"

#include "json_patch.h"

#include "base/cleanup.h"
#include "model/names.h"

static json_t *parse(const char *text)
{
	json_error_t error;
	json_t *value = json_loads(text, 0, &error);
	cr_assert_not_null(value, "%s: %s", error.text, text);
	return value;
}

/* The text of an AdmissionReview that creates this pod. */
static char *request_of(const json_t *pod)
{
	json_t *copy = json_deep_copy(pod);
	json_t *root = json_pack(
		"{s:s, s:s, s:{s:s, s:{s:s, s:s, s:s}, s:s, s:s, s:{s:s}, s:b, s:o, s:n}}",
		"apiVersion", "admission.k8s.io/v1", "kind", "AdmissionReview", "request", "uid",
		"705ab4f5", "kind", "group", "", "version", "v1", "kind", "Pod", "operation",
		"CREATE", "namespace", "team", "userInfo", "username", "jane", "dryRun", 0,
		"object", copy, "oldObject");
	cr_assert_not_null(root);
	char *text = json_dumps(root, JSON_COMPACT);
	json_decref(root);
	return text;
}

static json_t *decode_base64(const char *text)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	CLEANUP(str_finish) struct str out = STR_INIT(1000000);
	uint32_t bits = 0;
	int have = 0;
	cr_assert_eq(strlen(text) % 4, 0);
	for (; *text != '\0' && *text != '='; text++) {
		const char *digit = strchr(digits, *text);
		cr_assert_not_null(digit);
		bits = bits << 6 | (uint32_t)(digit - digits);
		have += 6;
		if (have >= 8) {
			have -= 8;
			str_append_char(&out, (char)(bits >> have & 255));
		}
	}
	return parse(str_text(&out));
}

struct result {
	json_t *patch; /* [] if there was none */
	json_t *pod;   /* as the API server has it afterwards */
	bool restored, unreadable;
};

static void result_finish(struct result *r)
{
	json_decref(r->patch);
	json_decref(r->pod);
}

/* One pass through the webhook; m NULL: left whole. */
static struct result pass(const json_t *pod, const struct mutation *m)
{
	char *body = request_of(pod);
	struct review r = {0};
	struct fault f = {0};
	cr_assert_eq(review_decode(&r, body, strlen(body), &f), 0, "%s", f.message);
	cr_assert_null(r.problem, "%s", r.problem);
	cr_assert(m == NULL || review_apply(&r, m));
	CLEANUP(str_finish) struct str out = STR_INIT(1000000);
	struct review_notes notes = {0};
	cr_assert(review_answer(&r, &notes, &out));
	json_t *answer = parse(str_text(&out));
	json_t *response = json_object_get(answer, "response");
	cr_assert_str_eq(json_string_value(json_object_get(response, "uid")), "705ab4f5");
	cr_assert(json_is_true(json_object_get(response, "allowed")));
	const char *coded = json_string_value(json_object_get(response, "patch"));
	cr_assert_eq(coded != NULL, json_object_get(response, "patchType") != NULL);
	struct result result = {.restored = r.restored, .unreadable = r.unreadable};
	result.patch = coded != NULL ? decode_base64(coded) : json_array();
	result.pod = patched(pod, result.patch);
	json_decref(answer);
	review_finish(&r);
	free(body);
	return result;
}

static void same(const json_t *have, const json_t *want, const char *what)
{
	char *a = json_dumps(have, JSON_COMPACT | JSON_SORT_KEYS);
	char *b = json_dumps(want, JSON_COMPACT | JSON_SORT_KEYS);
	cr_assert_str_eq(a, b, "%s", what);
	free(a);
	free(b);
}

static const json_t *container_of(const json_t *pod, const char *list, size_t i)
{
	return json_array_get(json_object_get(json_object_get(pod, "spec"), list), i);
}

/* What has no meaning: an empty map or list says the same as none. */
static json_t *without_empties(const json_t *value)
{
	json_t *out;
	if (json_is_array(value)) {
		out = json_array();
		for (size_t i = 0; i < json_array_size(value); i++) {
			json_array_append_new(out, without_empties(json_array_get(value, i)));
		}
		return out;
	}
	if (!json_is_object(value)) {
		return json_deep_copy(value);
	}
	out = json_object();
	const char *key;
	json_t *member;
	json_object_foreach((json_t *)value, key, member)
	{
		json_t *copy = without_empties(member);
		bool empty = (json_is_array(copy) && json_array_size(copy) == 0) ||
			     (json_is_object(copy) && json_object_size(copy) == 0);
		if (!empty) {
			json_object_set(out, key, copy);
		}
		json_decref(copy);
	}
	return out;
}

static void same_meaning(const json_t *have, const json_t *want, const char *what)
{
	json_t *a = without_empties(have), *b = without_empties(want);
	same(a, b, what);
	json_decref(a);
	json_decref(b);
}

#endif
