/* What was tried and what was seen: both ways, every way to be wrong, and on the pods that carry
 * them. */
#include "own/injection_text.h"

#include <criterion/criterion.h>
#include <stdio.h>

#include "codec/objects.h"
#include "pods/pod_decode.h"
#include "model/names.h"

#define CLAIM                                                                                      \
	"{\"v\":1,\"form\":\"cdi\",\"node\":\"n\",\"uuid\":\"GPU-a\",\"driver\":\"570\","          \
	"\"boot\":\"b\",\"runtime\":\"containerd://2.0\",\"class\":\"nvidia\"}"

Test(injection, claims_both_ways)
{
	struct arena arena = {0};
	struct inject_claim c;
	struct fault f = {0};
	struct str out = STR_INIT(INJECTION_TEXT_MAX);
	cr_assert_eq(inject_claim_decode(CLAIM, &arena, &c, &f), 0, "%s", f.message);
	cr_expect_eq(c.form, INJECT_CDI);
	cr_expect_str_eq(c.uuid, "GPU-a");
	cr_assert(inject_claim_write(&out, &c));
	cr_expect_str_eq(out.p, CLAIM);
	str_finish(&out);
	arena_finish(&arena);
}

#define CLASSES(list)                                                                              \
	"{\"v\":1,\"form\":\"env\",\"node\":\"n\",\"uuid\":\"u\",\"driver\":\"\","                 \
	"\"boot\":\"\",\"runtime\":\"\",\"class\":\"\",\"classes\":" list "}"
#define CLASS(name) "{\"class\":\"" name "\",\"form\":\"nri\"}"
#define EIGHT                                                                                      \
	CLASS("a")                                                                                 \
	"," CLASS("b") "," CLASS("c") "," CLASS("d") "," CLASS("e") "," CLASS("f") "," CLASS(      \
		"g") "," CLASS("")

Test(injection, classes_beside_both_ways)
{
	CLEANUP(arena_finish) struct arena arena = {0};
	CLEANUP(str_finish) struct str out = STR_INIT(INJECTION_TEXT_MAX);
	struct inject_claim c;
	struct fault f = {0};
	cr_assert_eq(
		inject_claim_decode(CLASSES("[" EIGHT "]"), &arena, &c, &f), 0, "%s", f.message);
	cr_assert_eq(c.other_count, INJECT_CLASSES_MAX);
	cr_expect_str_eq(c.others[1].class, "b");
	cr_expect_str_eq(c.others[7].class, "");
	cr_expect_eq(c.others[7].form, INJECT_NRI);
	cr_assert(inject_claim_write(&out, &c));
	cr_expect_str_eq(out.p, CLASSES("[" EIGHT "]"));
}

/* As long as names may be, it has room: a claim that could not be written would hold back all
 * grants. */
Test(injection, the_longest_claim_has_room)
{
	CLEANUP(str_finish) struct str out = STR_INIT(INJECTION_TEXT_MAX);
	char longest[254];
	struct inject_class others[INJECT_CLASSES_MAX];
	memset(longest, 'x', sizeof longest - 1);
	longest[sizeof longest - 1] = '\0';
	for (int i = 0; i < INJECT_CLASSES_MAX; i++) {
		others[i] = (struct inject_class){longest, INJECT_NRI};
	}
	struct inject_claim c = {
		INJECT_NRI, longest, longest, longest, longest, longest, longest, others, 8};
	cr_expect(inject_claim_write(&out, &c));
}

Test(injection, claims_that_are_none)
{
	char uuid[300], text[400];
	memset(uuid, 'a', sizeof uuid);
	uuid[sizeof uuid - 1] = '\0';
	snprintf(text, sizeof text, "{\"v\":1,\"form\":\"env\",\"node\":\"n\",\"uuid\":\"%s\"}",
		uuid);
	const char *const bad[] = {NULL, "", "{}", "[]", "env", text,
		"{\"v\":2,\"form\":\"env\",\"node\":\"n\",\"uuid\":\"u\"}",
		"{\"v\":1,\"form\":\"ENV\",\"node\":\"n\",\"uuid\":\"u\"}",
		"{\"v\":1,\"form\":\"env\",\"node\":\"\",\"uuid\":\"u\"}",
		"{\"v\":1,\"form\":\"env\",\"node\":\"n\",\"uuid\":\"\"}",
		"{\"v\":1,\"form\":\"env\",\"node\":\"n\"}",
		"{\"v\":1,\"form\":\"env\",\"form\":\"cdi\",\"node\":\"n\",\"uuid\":\"u\"}",
		"{\"v\":1,\"form\":\"env\",\"node\":\"n\",\"uuid\":\"u\",\"boot\":7}",
		CLASSES("{}"), CLASSES("[7]"), CLASSES("[{\"class\":\"a\"}]"),
		CLASSES("[{\"class\":\"a\",\"form\":\"none\"}]"),
		CLASSES("[" EIGHT "," CLASS("i") "]")};
	for (size_t i = 0; i < COUNT_OF(bad); i++) {
		CLEANUP(arena_finish) struct arena arena = {0};
		struct inject_claim c = {.form = INJECT_NRI};
		struct fault f = {0};
		cr_expect_eq(inject_claim_decode(bad[i], &arena, &c, &f), -1, "%zu", i);
		cr_expect_eq(f.kind, FAULT_INVALID);
		cr_expect_eq(c.form, INJECT_NRI, "untouched on failure");
	}
}

Test(injection, sights)
{
	CLEANUP(arena_finish) struct arena arena = {0};
	struct inject_sight s;
	struct fault f = {0};
	struct str out = STR_INIT(INJECTION_TEXT_MAX);
	cr_assert_eq(
		inject_sight_decode("{\"v\":1,\"devices\":1,\"uuid\":\"GPU-a\"}", &arena, &s, &f),
		0);
	cr_expect(s.devices == 1 && strcmp(s.uuid, "GPU-a") == 0);
	cr_assert(inject_sight_write(&out, &s));
	cr_expect_str_eq(out.p, "{\"v\":1,\"devices\":1,\"uuid\":\"GPU-a\"}");
	str_finish(&out);
	const char *const bad[] = {NULL, "", "{}", "{\"v\":1}", "{\"v\":1,\"devices\":-1}",
		"{\"v\":1,\"devices\":100000}", "{\"v\":1,\"devices\":\"1\"}", "NoGPU: none",
		"{\"v\":3,\"devices\":1}"};
	for (size_t i = 0; i < COUNT_OF(bad); i++) {
		cr_expect_eq(inject_sight_decode(bad[i], &arena, &s, &f), -1, "%zu", i);
	}
}

#define POD(ns, label, status)                                                                     \
	"{\"metadata\":{\"namespace\":\"" ns                                                       \
	"\",\"name\":\"p\",\"uid\":\"u\",\"labels\":{\"" label                                     \
	"\":\"true\"},\"annotations\":{\"aliquot.dev/injection\":\"{\\\"v\\\":1,\\\"form\\\":"     \
	"\\\"env\\\",\\\"node\\\":\\\"n\\\",\\\"uuid\\\":\\\"GPU-a\\\"}\"}},\"spec\":{},"          \
	"\"status\":{" status "}}"
#define SAW(code, name)                                                                            \
	"\"phase\":\"Succeeded\",\"containerStatuses\":[{\"name\":\"" name                         \
	"\",\"state\":{\"terminated\":{\"exitCode\":" code                                         \
	",\"message\":\"{\\\"v\\\":1,\\\"devices\\\":1,\\\"uuid\\\":\\\"GPU-a\\\"}\"}}}]"

static struct pod decoded(struct arena *arena, const char *text)
{
	struct pod pod;
	struct fault f = {0};
	cr_assert_eq(pod_decode(text, strlen(text), arena, &pod, &f), 0, "%s", f.message);
	return pod;
}

Test(injection, what_a_probe_says_is_read_from_it_alone)
{
	CLEANUP(arena_finish) struct arena a = {0};
	struct pod p = decoded(&a, POD("aliquot-system", "aliquot.dev/probe", SAW("0", "probe")));
	cr_assert_not_null(p.claim);
	cr_expect_str_eq(p.claim->uuid, "GPU-a");
	cr_assert_not_null(p.sight);
	cr_expect(p.sight->devices == 1 && strcmp(p.sight->uuid, "GPU-a") == 0);
	cr_expect(pod_is_probe(&p));
	p = decoded(&a, POD("aliquot-system", "aliquot.dev/probe", SAW("1", "probe")));
	cr_expect_null(p.sight, "it failed");
	p = decoded(&a, POD("aliquot-system", "aliquot.dev/probe", SAW("0", "other")));
	cr_expect_null(p.sight, "a container that somebody has added");
	p = decoded(&a, POD("team", "aliquot.dev/probe", SAW("0", "probe")));
	cr_expect(p.claim == NULL && p.sight == NULL && !pod_is_probe(&p), "elsewhere");
	p = decoded(&a, POD("aliquot-system", "aliquot.dev/capacity", SAW("0", "probe")));
	cr_expect(p.claim != NULL && p.sight == NULL && !pod_is_probe(&p));
	p = decoded(&a, POD("aliquot-system", "aliquot.dev/tenant", ""));
	cr_expect_null(p.claim);
}

Test(injection, a_node_tells_what_a_proof_is_about)
{
	CLEANUP(arena_finish) struct arena a = {0};
	CLEANUP(str_finish) struct str text = STR_INIT(4096);
	struct node n;
	const char *both = "{\"metadata\":{\"name\":\"n\"},\"status\":{\"nodeInfo\":{\"bootID\":"
			   "\"b-1\",\"containerRuntimeVersion\":\"containerd://2.0\"}}}";
	cr_assert_eq(fields_decode(view_of(both), &node_shape, &a, &n, NULL), 0);
	cr_expect_str_eq(n.boot, "b-1");
	cr_expect_str_eq(n.runtime, "containerd://2.0");
	str_append_text(
		&text, "{\"metadata\":{\"name\":\"n\"},\"status\":{\"nodeInfo\":{\"bootID\":\"");
	for (int i = 0; i < 254; i++) {
		str_append_char(&text, 'b');
	}
	str_append_text(&text, "\"}}}");
	cr_assert_eq(
		fields_decode((struct view){str_text(&text), text.len}, &node_shape, &a, &n, NULL),
		0);
	cr_expect_null(n.boot, "longer than a claim could hold");
	cr_expect_null(n.runtime);
}
