/* Pods as large as an API server takes them: what is kept of them has bounds, whoever wrote them.
 */
#include <criterion/criterion.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "codec/meta.h"
#include "codec/pod_decode.h"
#include "codec/volume.h"
#include "model/names.h"

struct read {
	struct arena arena;
	struct pod pod;
	struct fault fault;
};

static void read_finish(struct read *r)
{
	arena_finish(&r->arena);
}

/* Takes the object over. */
static int read_pod(struct read *r, json_t *object)
{
	CLEANUP(cleanup_free) char *text = json_dumps(object, JSON_COMPACT);
	cr_assert_not_null(text);
	json_decref(object);
	return pod_decode(text, strlen(text), &r->arena, &r->pod, &r->fault);
}

/* Owned by the caller. */
static char *letters(size_t n)
{
	char *text = calloc(n + 1, 1);
	cr_assert_not_null(text);
	memset(text, 'a', n);
	return text;
}

static json_t *claims(const char *name)
{
	return json_pack("{s:{s:s, s:s}, s:{s:[{s:s}], s:[{s:s, s:{s:s}}]}}", "metadata",
		"namespace", "team", "name", "p", "spec", "schedulingGates", "name",
		"aliquot.dev/gpu", "volumes", "name", "v", "persistentVolumeClaim", "claimName",
		name);
}

Test(bounds, a_claim_that_no_object_is_called_is_not_kept)
{
	CLEANUP(cleanup_free) char *longest = letters(253);
	CLEANUP(cleanup_free) char *longer = letters(4050);
	const char *const bad[] = {longer, "..", "a/b", ""};
	for (size_t i = 0; i < COUNT_OF(bad); i++) {
		CLEANUP(read_finish) struct read r = {0};
		cr_assert_eq(read_pod(&r, claims(bad[i])), 0, "%s", r.fault.message);
		cr_expect_eq(r.pod.claim_count, 0, "%zu", i);
		cr_expect(r.pod.has_volumes_claimed);
		cr_expect(r.pod.too_complex, "it has no node, and is not placed as if it had none");
	}
	CLEANUP(read_finish) struct read r = {0};
	cr_assert_eq(read_pod(&r, claims(longest)), 0, "%s", r.fault.message);
	cr_expect_eq(r.pod.claim_count, 1);
	cr_expect_not(r.pod.too_complex);
}

static json_t *owned(const char *kind, const char *name)
{
	return json_pack("{s:{s:s, s:s, s:[{s:s, s:s, s:s, s:s, s:b}]}}", "metadata", "namespace",
		"team", "name", "p", "ownerReferences", "apiVersion", "batch/v1", "kind", kind,
		"name", name, "uid", "u", "controller", 1);
}

Test(bounds, an_owner_that_no_object_is_called_owns_nothing)
{
	CLEANUP(cleanup_free) char *longest = letters(253);
	CLEANUP(cleanup_free) char *longer = letters(4050);
	json_t *const bad[] = {owned("Job", longer), owned("Job", ".."), owned(longer, "job")};
	for (size_t i = 0; i < COUNT_OF(bad); i++) {
		CLEANUP(read_finish) struct read r = {0};
		cr_assert_eq(read_pod(&r, bad[i]), 0, "%s", r.fault.message);
		cr_expect_null(r.pod.owner.name, "%zu", i);
		cr_expect_null(r.pod.owner.kind, "%zu", i);
	}
	CLEANUP(read_finish) struct read r = {0};
	cr_assert_eq(read_pod(&r, owned("Job", longest)), 0, "%s", r.fault.message);
	cr_expect_str_eq(r.pod.owner.name, longest);
}

/* {"k0000":"v",…}; the last key is one of ours. */
static json_t *pairs(int count, const char *key, const char *value)
{
	json_t *all = json_object();
	for (int i = 0; i < count; i++) {
		char name[16];
		snprintf(name, sizeof name, "k%04d", i);
		json_object_set_new(all, name, json_string("v"));
	}
	json_object_set_new(all, key, json_string(value));
	return all;
}

static json_t *labelled(json_t *labels, json_t *notes)
{
	return json_pack("{s:{s:s, s:s, s:o, s:o}}", "metadata", "namespace", "team", "name", "p",
		"labels", labels, "annotations", notes);
}

Test(bounds, labels_beyond_their_bound_are_left_out_but_for_ours)
{
	CLEANUP(read_finish) struct read few = {0};
	cr_assert_eq(read_pod(&few, labelled(pairs(1000, LABEL_TENANT, "true"), json_object())), 0);
	cr_expect_eq(few.pod.labels.count, 1001);
	cr_expect_not(few.pod.cut);
	CLEANUP(read_finish) struct read many = {0};
	cr_assert_eq(
		read_pod(&many, labelled(pairs(5000, LABEL_TENANT, "true"), json_object())), 0);
	cr_expect_lt(many.pod.labels.count, 2000);
	cr_expect(pod_is_tenant(&many.pod), "it comes last by its key, and is kept");
	cr_expect(many.pod.cut);
	cr_expect(many.pod.too_complex);
}

Test(bounds, a_long_annotation_is_cut_between_two_characters)
{
	CLEANUP(cleanup_free) char *text = letters(1023);
	CLEANUP(str_finish) struct str long_text = STR_INIT(4096);
	str_append_format(&long_text, "%s\xc3\xbc\xc3\xbc", text);
	CLEANUP(read_finish) struct read r = {0};
	cr_assert_eq(
		read_pod(&r, labelled(json_object(), pairs(0, NOTE_MODE, str_text(&long_text)))), 0,
		"%s", r.fault.message);
	cr_expect_str_eq(pairs_get(&r.pod.notes, NOTE_MODE), text);
}

Test(bounds, values_of_rules_count_by_their_length)
{
	CLEANUP(cleanup_free) char *value = letters(40000);
	json_t *spec = json_pack("{s:[{s:s}], s:[{s:s, s:s}]}", "schedulingGates", "name",
		NAME_GATE, "tolerations", "key", "k", "value", value);
	CLEANUP(read_finish) struct read r = {0};
	cr_assert_eq(read_pod(&r, json_pack("{s:{s:s, s:s}, s:o}", "metadata", "namespace", "team",
					  "name", "p", "spec", spec)),
		0, "%s", r.fault.message);
	cr_expect_eq(r.pod.toleration_count, 0);
	cr_expect(r.pod.too_complex);
	cr_expect(pod_has_gate(&r.pod, NAME_GATE));
}

/* A pod of 2 CPUs and a GPU on node n1, with a list of COUNT members in its spec. */
static int read_long(struct read *r, const char *list, const char *member, int count)
{
	CLEANUP(str_finish) struct str text = STR_INIT(SLICE_OBJECT_MAX);
	str_append_format(&text,
		"{\"metadata\":{\"namespace\":\"team\",\"name\":\"p\",\"uid\":\"u\",\"labels\":{"
		"\"" LABEL_TENANT "\":\"true\"}},\"status\":{\"phase\":\"Running\"},\"spec\":{"
		"\"nodeName\":\"n1\",\"%s\":[",
		list);
	for (int i = 0; i < count; i++) {
		str_append_format(&text, "%s%s", i > 0 ? "," : "", member);
	}
	str_append_text(&text, "],\"initContainers\":[{\"name\":\"i\",\"resources\":{\"requests\":{"
			       "\"cpu\":\"2\"},\"limits\":{\"nvidia.com/gpu\":\"1\"}}}]}}");
	cr_assert_not(text.overflow);
	return pod_decode(str_text(&text), text.len, &r->arena, &r->pod, &r->fault);
}

static void expect_known(const struct pod *p)
{
	cr_expect_str_eq(p->name, "p");
	cr_expect_str_eq(p->uid, "u");
	cr_expect_str_eq(p->node, "n1");
	cr_expect_eq(p->phase, POD_RUNNING);
	cr_expect(pod_is_tenant(p));
	cr_expect(p->too_complex);
	cr_expect(p->cut);
}

Test(bounds, a_pod_that_says_more_than_is_parsed_uses_what_it_uses)
{
	CLEANUP(read_finish) struct read r = {0};
	cr_assert_eq(
		read_long(&r, "tolerations", "{\"key\":\"a\"}", 52000), 0, "%s", r.fault.message);
	expect_known(&r.pod);
	cr_expect_eq(r.pod.cpu_milli, 2000);
	cr_expect_eq(r.pod.gpus, 1);
	CLEANUP(read_finish) struct read more = {0};
	cr_assert_eq(read_long(&more, "containers", "{\"name\":\"a\",\"image\":\"b\"}", 52000), 0,
		"%s", more.fault.message);
	expect_known(&more.pod);
}

Test(bounds, what_says_more_than_is_parsed_has_its_name)
{
	CLEANUP(str_finish) struct str text = STR_INIT(SLICE_OBJECT_MAX);
	CLEANUP(arena_finish) struct arena arena = {0};
	struct meta meta;
	struct fault fault;
	str_append_text(&text, "{\"list\":[0");
	for (int i = 0; i < 200000; i++) {
		str_append_text(&text, ",{}");
	}
	str_append_text(&text, "],\"metadata\":{\"name\":\"n\",\"resourceVersion\":\"7\"}}");
	cr_assert_eq(meta_decode(str_text(&text), text.len, &arena, &meta, &fault), 0, "%s",
		fault.message);
	cr_expect_str_eq(meta.name, "n");
	cr_expect_str_eq(meta.resource_version, "7");
}
