/* Pods as large as an API server takes them: what is kept of them has bounds, whoever wrote them.
 */
#include <criterion/criterion.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "codec/meta.h"
#include "pods/pod_decode.h"
#include "json/slice.h"
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

/* A pod that keeps off pods with a label of that value, so many times. */
static json_t *keeping_off(int count, const char *value)
{
	json_t *terms = json_array();
	for (int i = 0; i < count; i++) {
		json_array_append_new(terms, json_pack("{s:s, s:{s:{s:s}}}", "topologyKey", "zone",
						     "labelSelector", "matchLabels", "app", value));
	}
	return json_pack("{s:{s:s, s:s}, s:{s:[{s:s}], s:{s:{s:o}}}}", "metadata", "namespace",
		"team", "name", "p", "spec", "schedulingGates", "name", NAME_GATE, "affinity",
		"podAntiAffinity", "requiredDuringSchedulingIgnoredDuringExecution", terms);
}

/* C36: what is left out is told, so that nobody takes the pod for one that is judged. */
Test(bounds, rules_about_neighbours_beyond_their_bound_count_as_not_judged)
{
	CLEANUP(cleanup_free) char *value = letters(4000);
	CLEANUP(read_finish) struct read few = {0};
	cr_assert_eq(read_pod(&few, keeping_off(2, value)), 0, "%s", few.fault.message);
	cr_expect_eq(few.pod.neighbour_count, 2);
	cr_expect_not(few.pod.has_pod_affinity);
	CLEANUP(read_finish) struct read many = {0};
	cr_assert_eq(read_pod(&many, keeping_off(3, value)), 0, "%s", many.fault.message);
	cr_expect_eq(many.pod.neighbour_count, 2);
	cr_expect(many.pod.has_pod_affinity);
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

/* --- what is too long is cut off before it is parsed --- */

static bool take_pod(void *data, struct view type, const char *json, size_t n)
{
	struct read *r = data;
	(void)type;
	cr_expect_lt(n, 4 * SLICE_LISTS_MAX);
	cr_expect_eq(pod_decode(json, n, &r->arena, &r->pod, &r->fault), 0, "%s", r->fault.message);
	return true;
}

/* Through the splitter, as a watch does: a pod of 2 CPUs and a GPU on node n1, with more in its
 * metadata and, where an API server writes it, in its spec. */
static void watch_long(struct read *r, const char *spec, const char *meta)
{
	static const struct slice_events events = {.on_object = take_pod};
	CLEANUP(str_finish) struct str text = STR_INIT(SLICE_RAW_MAX);
	struct slice s;
	str_append_format(&text,
		"{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"namespace\":\"team\",\"name\":"
		"\"p\",\"uid\":\"u\",%s\"labels\":{\"" LABEL_TENANT "\":\"true\"}},"
		"\"spec\":{\"initContainers\":[{\"name\":\"i\",\"resources\":{\"requests\":{"
		"\"cpu\":\"2\"},\"limits\":{\"nvidia.com/gpu\":\"1\"}}}],%s\"nodeName\":\"n1\"},"
		"\"status\":{\"phase\":\"Running\"}}}",
		meta, spec);
	cr_assert_not(text.overflow);
	slice_init(&s, SLICE_WATCH, meta_projection(&pod_shape), &events, r);
	cr_assert_eq(slice_push(&s, str_text(&text), text.len, &r->fault), 0);
	slice_finish(&s);
}

static void expect_known(const struct pod *p)
{
	cr_expect_str_eq(p->name, "p");
	cr_expect_str_eq(p->uid, "u");
	cr_expect_str_eq(p->node, "n1");
	cr_expect_eq(p->phase, POD_RUNNING);
	cr_expect_eq(p->cpu_milli, 2000);
	cr_expect_eq(p->gpus, 1);
	cr_expect(p->too_complex);
	cr_expect(p->cut);
}

/* BEFORE, COUNT times MEMBER with commas between them, AFTER. */
static char *repeat(const char *before, const char *member, int count, const char *after)
{
	struct str text = STR_INIT(SLICE_RAW_MAX);
	str_append_text(&text, before);
	for (int i = 0; i < count; i++) {
		str_append_format(&text, "%s%s", i > 0 ? "," : "", member);
	}
	str_append_text(&text, after);
	cr_assert_not(text.overflow);
	return str_take(&text);
}

Test(bounds, a_pod_with_a_list_without_end_uses_what_it_uses)
{
	static const struct {
		const char *before, *member, *after;
	} rows[] = {
		{"\"tolerations\":[", "{\"key\":\"a\"}", "],"},
		{"\"containers\":[", "{\"name\":\"a\",\"image\":\"b\"}", "],"},
		{"\"volumes\":[",
			"{\"name\":\"a\",\"persistentVolumeClaim\":{\"claimName\":\"a\"}}", "],"},
		{"\"schedulingGates\":[", "{\"name\":\"a\"}", "],"},
		{"\"nodeSelector\":{", "\"a\":\"b\"", "},"},
		{"\"topologySpreadConstraints\":[", "{\"topologyKey\":\"a\"}", "],"},
		{"\"affinity\":{\"podAntiAffinity\":{"
		 "\"requiredDuringSchedulingIgnoredDuringExecution\":[",
			"{\"topologyKey\":\"a\"}", "]}},"},
		{"\"affinity\":{\"nodeAffinity\":{"
		 "\"requiredDuringSchedulingIgnoredDuringExecution\":{\"nodeSelectorTerms\":[",
			"{\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"Exists\"}]}",
			"]}}},"},
		{"\"containers\":[{\"name\":\"a\",\"ports\":[", "{\"containerPort\":1}", "]}],"},
		{"\"containers\":[{\"name\":\"a\",\"resources\":{\"requests\":{", "\"a\":\"1\"",
			"}}}],"},
	};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		CLEANUP(read_finish) struct read r = {0};
		CLEANUP(cleanup_free)
		char *spec = repeat(rows[i].before, rows[i].member, 52000, rows[i].after);
		watch_long(&r, spec, "");
		expect_known(&r.pod);
		cr_expect(pod_is_tenant(&r.pod), "%s", rows[i].before);
	}
}

Test(bounds, what_a_tenant_is_by_is_kept_beside_labels_and_annotations_without_end)
{
	CLEANUP(read_finish) struct read r = {0};
	CLEANUP(cleanup_free)
	char *labels = repeat("\"labels\":{", "\"aliquot.dev/0\":\"a\"", 20000,
		",\"" LABEL_TENANT "\":\"true\"},");
	CLEANUP(cleanup_free)
	char *notes = repeat("\"annotations\":{", "\"aliquot.dev/0\":\"a\"", 20000,
		",\"" NOTE_GPU_UUID "\":\"GPU-1\"},");
	CLEANUP(str_finish) struct str meta = STR_INIT(SLICE_RAW_MAX);
	/* The labels of the bed come after these, and both are one object to a reader. */
	str_append_format(&meta, "%s%s", notes, labels);
	watch_long(&r, "", str_text(&meta));
	expect_known(&r.pod);
	cr_expect(pod_is_tenant(&r.pod));
	cr_expect_str_eq(pairs_get(&r.pod.notes, NOTE_GPU_UUID), "GPU-1");
}

/* An API server takes 256 KiB of annotations. What stands after a long one, and in the spec, is
 * read as if it was not there. */
Test(bounds, a_long_annotation_hides_nothing)
{
	CLEANUP(read_finish) struct read r = {0};
	CLEANUP(cleanup_free) char *count = letters(250000);
	CLEANUP(str_finish) struct str meta = STR_INIT(SLICE_RAW_MAX);
	CLEANUP(str_finish) struct str spec = STR_INIT(4096);
	str_append_format(&meta,
		"\"annotations\":{\"" NOTE_GPU_COUNT "\":\"%s\",\"" NOTE_GPU_FRACTION
		"\":\"0.5\",\"" NOTE_ORIGINAL "\":\"{}\"},",
		count);
	str_append_text(&spec, "\"tolerations\":[{\"key\":\"a\"}],");
	watch_long(&r, str_text(&spec), str_text(&meta));
	cr_expect_str_eq(pairs_get(&r.pod.notes, NOTE_GPU_FRACTION), "0.5");
	cr_expect_str_eq(pairs_get(&r.pod.notes, NOTE_ORIGINAL), "{}");
	cr_expect_eq(r.pod.toleration_count, 1);
	cr_expect_eq(r.pod.cpu_milli, 2000);
	cr_expect_not(r.pod.cut);
}

/* Two lists of half a megabyte each, of which the second has to do with less. */
Test(bounds, all_lists_of_a_pod_together_are_bounded)
{
	CLEANUP(read_finish) struct read r = {0};
	CLEANUP(cleanup_free)
	char *lists[] = {
		repeat("\"containers\":[", "{\"name\":\"a\",\"image\":\"b\"}", 20000, "],"),
		repeat("\"tolerations\":[", "{\"key\":\"a\"}", 40000, "],"),
		repeat("\"volumes\":[", "{\"name\":\"a\"}", 40000, "],"),
		repeat("\"schedulingGates\":[", "{\"name\":\"a\"}", 40000, "],"),
	};
	CLEANUP(str_finish) struct str spec = STR_INIT(SLICE_RAW_MAX);
	for (size_t i = 0; i < COUNT_OF(lists); i++) {
		str_append_text(&spec, lists[i]);
	}
	watch_long(&r, str_text(&spec), "");
	expect_known(&r.pod);
	for (size_t i = 1; i < COUNT_OF(lists); i++) {
		free(lists[i]);
	}
}

static bool take_marks(void *data, struct view type, const char *json, size_t n)
{
	(void)type;
	(void)json;
	(void)n;
	str_append_text(data, "object");
	return true;
}

Test(bounds, who_an_object_is_is_known_without_parsing_it)
{
	static const struct slice_events events = {.on_object = take_marks};
	CLEANUP(arena_finish) struct arena arena = {0};
	CLEANUP(str_finish) struct str seen = STR_INIT(64);
	const char *json =
		"{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"n\",\"labels\":{"
		"\"name\":\"no\"},\"ownerReferences\":[{\"name\":\"no\",\"uid\":\"no\"}],"
		"\"namespace\":\"s\",\"uid\":\"u\",\"resourceVersion\":\"7\"},\"spec\":{";
	struct meta meta;
	struct slice s;
	slice_init(&s, SLICE_WATCH, meta_projection(&pod_shape), &events, &seen);
	cr_assert_eq(slice_push(&s, json, strlen(json), NULL), 0);
	cr_assert(meta_marked(&s, &arena, &meta));
	cr_expect_str_eq(meta.name, "n");
	cr_expect_str_eq(meta.ns, "s");
	cr_expect_str_eq(meta.uid, "u");
	cr_expect_str_eq(meta.resource_version, "7");
	const char *next = "}}}{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"labels\":{}";
	cr_assert_eq(slice_push(&s, next, strlen(next), NULL), 0);
	cr_expect_str_eq(str_text(&seen), "object");
	cr_expect_not(meta_marked(&s, &arena, &meta), "of the object before");
	slice_finish(&s);
}
