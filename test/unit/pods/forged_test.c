/* An `original` that nobody of ours wrote: what it may cost is bounded by the bytes that came. */
#include "pods/review.h"

#include <criterion/criterion.h>
#include <jansson.h>
#include <time.h>

#include "model/names.h"
#include "tenant.h"
#include "tenant_plain.h"

/* [[0,{"name":"h0"}],…] */
static json_t *cells(int count)
{
	json_t *list = json_array();
	for (int i = 0; i < count; i++) {
		char name[16];
		snprintf(name, sizeof name, "h%d", i);
		json_array_append_new(list, json_pack("[i, {s:s}]", 0, "name", name));
	}
	return list;
}

static json_t *original(void)
{
	return json_pack("{s:i, s:s, s:{s:s}}", "v", 1, "container", "main", "gpu", "limits", "1");
}

/* A pod of these containers that claims to be a copied tenant. Takes both over. */
static json_t *claims(json_t *containers, json_t *original)
{
	char *text = json_dumps(original, JSON_COMPACT);
	json_t *pod = json_pack("{s:{s:{s:s}}, s:{s:o}}", "metadata", "annotations", NOTE_ORIGINAL,
		text, "spec", "containers", containers);
	cr_assert_not_null(pod);
	free(text);
	json_decref(original);
	return pod;
}

static size_t variables(const json_t *pod)
{
	const json_t *list = json_object_get(json_object_get(pod, "spec"), "containers");
	size_t sum = 0;
	for (size_t i = 0; i < json_array_size(list); i++) {
		sum += json_array_size(json_object_get(json_array_get(list, i), "env"));
	}
	return sum;
}

/* Unchecked, 3 MB of containers called "a" and 60 KB of their environment became gigabytes. */
Test(forged, what_was_taken_from_a_container_is_put_back_once)
{
	json_t *containers = json_pack("[{s:s}]", "name", "main");
	for (int i = 0; i < 100; i++) {
		json_array_append_new(containers, json_pack("{s:s}", "name", "a"));
	}
	json_t *forged = original();
	json_object_set_new(forged, "others", json_pack("{s:o}", "a", cells(50)));
	json_t *pod = claims(containers, forged);
	struct tenant_marks marks = {0};
	json_t *plain = tenant_plain(pod, &marks);
	cr_assert(marks.restored);
	cr_expect_eq(variables(plain), 50, "%zu variables", variables(plain));
	json_decref(plain);
	json_decref(pod);
}

/* Unchecked, this kept the one thread of the controller for most of a minute. */
Test(forged, putting_back_takes_as_long_as_both_lists_are)
{
	json_t *env = json_array();
	for (int i = 0; i < 200000; i++) {
		json_array_append_new(env, json_pack("{s:s}", "name", "b"));
	}
	json_t *forged = original();
	json_object_set_new(forged, "env", cells(2500));
	json_t *pod = claims(json_pack("[{s:s, s:o}]", "name", "main", "env", env), forged);
	struct tenant_marks marks = {0};
	clock_t start = clock();
	json_t *plain = tenant_plain(pod, &marks);
	clock_t taken = clock() - start;
	cr_assert(marks.restored);
	cr_expect_eq(variables(plain), 202500);
	cr_expect_lt(taken, 3 * CLOCKS_PER_SEC, "%ld ms", (long)taken * 1000 / CLOCKS_PER_SEC);
	json_decref(plain);
	json_decref(pod);
}

/* Positions as we wrote them, ascending, between what stayed. */
Test(forged, an_honest_list_goes_back_to_its_places)
{
	json_t *env = json_pack("[{s:s},{s:s}]", "name", "x", "name", "y");
	json_t *forged = original();
	json_object_set_new(forged, "env",
		json_pack("[[i,{s:s}],[i,{s:s}],[i,{s:s}]]", 0, "name", "first", 2, "name", "third",
			9, "name", "last"));
	json_t *pod = claims(json_pack("[{s:s, s:o}]", "name", "main", "env", env), forged);
	struct tenant_marks marks = {0};
	json_t *plain = tenant_plain(pod, &marks);
	const json_t *list = json_object_get(json_object_get(plain, "spec"), "containers");
	const json_t *now = json_object_get(json_array_get(list, 0), "env");
	static const char *const names[] = {"first", "x", "third", "y", "last"};
	cr_assert_eq(json_array_size(now), 5);
	for (size_t i = 0; i < 5; i++) {
		cr_expect_str_eq(entry_name(json_array_get(now, i)), names[i]);
	}
	json_decref(plain);
	json_decref(pod);
}

static bool converts(size_t note_bytes)
{
	static const struct mutation m = {
		.container = "main", .milli = 250, .policy_applied = "p@1"};
	char *text = calloc(1, note_bytes + 1);
	memset(text, 'x', note_bytes);
	json_t *pod = json_pack("{s:{s:{s:s}}, s:{s:[{s:s, s:{s:{s:s}}}]}}", "metadata",
		"annotations", "note", text, "spec", "containers", "name", "main", "resources",
		"limits", NAME_GPU_RESOURCE, "1");
	json_t *tenant = tenant_convert(pod, &m);
	bool done = tenant != NULL;
	json_decref(tenant);
	json_decref(pod);
	free(text);
	return done;
}

/* The API server would refuse the tenant, or its grant, where it took the pod. */
Test(forged, a_pod_whose_annotations_are_full_stays_whole)
{
	cr_expect(converts(100));
	cr_expect(converts(250 << 10));
	cr_expect_not(converts(255 << 10));
	cr_expect_not(converts(256 << 10));
}
