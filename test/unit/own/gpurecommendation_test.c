/* GPURecommendations: the status as people and the next controller read it, and back. */
#include "own/gpurecommendation.h"

#include <criterion/criterion.h>
#include <jansson.h>

#include "../codec/data.h"

#define DAY_MS INT64_C(86400000)
#define NOW_MS INT64_C(1795392000000)

static struct recommended_container containers[] = {
	{.name = "server",
		.original = {1000, 81920},
		.allocated = {300, 7168},
		.allocated_pods = 1,
		.target = {400, 10240},
		.uncapped = {650, 93184},
		.lower = {150, 6144},
		.upper = {500, 12288},
		.usage = {true, true, 12, 21, 6144, NOW_MS - 15000},
		.capped_by = CAPPED_BY_DEVICE},
	{.name = "side", .usage = {.memory_known = true}},
};

static struct recommendation full(void)
{
	struct recommendation r = {
		.name = "deployment-llm",
		.uid = "",
		.resource_version = "",
		.generation = 1,
		.target = {"team", "apps", "Deployment", "llm"},
		.observed_generation = 1,
		.revision = 17,
		.policy = {"realtime", 3, "Selector"},
		.type = WORKLOAD_INFERENCE_REAL_TIME,
		.containers = containers,
		.container_count = 2,
		.history = {NOW_MS - 7 * DAY_MS, 40320, 100},
		.pods = {3, 2, 1},
		.healing = {HEALING_MEMORY, 2, NOW_MS - 60000, NOW_MS + DAY_MS},
		.saves = true,
		.saved_milli = 2100,
		.last_update = {UPDATE_SUCCEEDED, NOW_MS - 120000, "TargetChanged"},
	};
	r.conditions[RECOMMENDATION_READY] = (struct recommended_condition){
		CONDITION_TRUE, "Ready", "The target is applied.", NOW_MS};
	r.conditions[RECOMMENDATION_HISTORY_SUFFICIENT] =
		(struct recommended_condition){CONDITION_TRUE, "Sufficient", "", NOW_MS};
	r.conditions[RECOMMENDATION_UPDATE_BLOCKED] = (struct recommended_condition){
		CONDITION_UNKNOWN, "Window", "Next at 22:00.", NOW_MS - 1000};
	r.conditions[RECOMMENDATION_IDLE] = (struct recommended_condition){
		CONDITION_FALSE, "Busy", "It was used \"today\".", NOW_MS};
	return r;
}

static void equals_golden(struct str *json, const char *file)
{
	CLEANUP(str_finish) struct str golden = data_read(__FILE__, file);
	json_error_t error;
	json_t *value = json_loads(str_text(json), 0, &error);
	cr_assert_not_null(value, "%s in %s", error.text, str_text(json));
	char *text = json_dumps(value, JSON_INDENT(2) | JSON_PRESERVE_ORDER);
	cr_assert(golden.len > 0 && strlen(text) == golden.len - 1 &&
			  strncmp(text, str_text(&golden), golden.len - 1) == 0,
		"%s is not\n%s", file, text);
	free(text);
	json_decref(value);
}

Test(recommendation, the_status_that_people_read)
{
	CLEANUP(str_finish) struct str json = STR_INIT(65536);
	struct recommendation r = full();
	struct build b = build_into(&json);
	recommendation_write_status(&b, &r);
	cr_assert(build_ok(&b));
	equals_golden(&json, "recommendation_status.json");
}

Test(recommendation, nothing_known_is_nothing_said)
{
	CLEANUP(str_finish) struct str json = STR_INIT(65536);
	struct recommendation r = {.name = "deployment-new"};
	struct build b = build_into(&json);
	recommendation_write_status(&b, &r);
	cr_assert(build_ok(&b));
	equals_golden(&json, "recommendation_status_empty.json");
}

Test(recommendation, a_new_object_names_its_workload)
{
	CLEANUP(str_finish) struct str json = STR_INIT(65536);
	struct recommendation r = full();
	struct owner owner = {"apps/v1", "Deployment", "llm", "u-1"};
	struct build b = build_into(&json);
	recommendation_write_new(&b, &r, &owner);
	cr_assert(build_ok(&b));
	equals_golden(&json, "recommendation_new.json");
}

static int read_back(const char *status, struct arena *a, struct recommendation *r, struct fault *f)
{
	const char *json = arena_printf(a,
		"{\"metadata\":{\"name\":\"deployment-llm\",\"namespace\":\"team\","
		"\"generation\":1},\"spec\":{\"targetRef\":{\"group\":\"apps\",\"kind\":"
		"\"Deployment\",\"name\":\"llm\"}},\"status\":%s}",
		status);
	return fields_decode(view_of(json), &recommendation_shape, a, r, f);
}

static void expect_same_status(const struct recommendation *a, const struct recommendation *b)
{
	CLEANUP(str_finish) struct str x = STR_INIT(65536), y = STR_INIT(65536);
	struct build p = build_into(&x), q = build_into(&y);
	recommendation_write_status(&p, a);
	recommendation_write_status(&q, b);
	cr_assert_str_eq(str_text(&x), str_text(&y));
}

Test(recommendation, r11_what_was_written_is_read_back)
{
	CLEANUP(str_finish) struct str json = STR_INIT(65536);
	CLEANUP(arena_finish) struct arena a = {0};
	struct recommendation r = full(), got;
	struct fault f = {0};
	struct build b = build_into(&json);
	recommendation_write_status(&b, &r);
	cr_assert_eq(read_back(str_text(&json), &a, &got, &f), 0, "%s", f.message);
	expect_same_status(&r, &got);
	cr_assert(workload_key_equals(&r.target, &got.target));
	cr_assert_str_eq(got.name, r.name);
	cr_assert_eq(got.generation, 1);
	/* and what is empty */
	struct recommendation none = {.target = r.target};
	str_reset(&json);
	b = build_into(&json);
	recommendation_write_status(&b, &none);
	cr_assert_eq(read_back(str_text(&json), &a, &got, &f), 0, "%s", f.message);
	expect_same_status(&none, &got);
	cr_assert_eq(read_back("null", &a, &got, &f), 0, "%s", f.message);
	expect_same_status(&none, &got);
}

/* Of a version that is not ours. */
Test(recommendation, unknown_words_are_not_there)
{
	CLEANUP(arena_finish) struct arena a = {0};
	struct recommendation got;
	struct fault f = {0};
	cr_assert_eq(
		read_back("{\"workloadType\":\"Rendering\",\"healing\":{\"kind\":\"DiskPressure\"},"
			  "\"containers\":[{\"name\":\"x\",\"cappedBy\":\"Moon\"}],\"conditions\":["
			  "{\"type\":\"Tired\",\"status\":\"True\"}]}",
			&a, &got, &f),
		0, "%s", f.message);
	cr_assert_eq(got.type, WORKLOAD_UNKNOWN);
	cr_assert_eq(got.healing.kind, HEALING_NONE);
	cr_assert_eq(got.containers[0].capped_by, CAPPED_BY_NONE);
}

static void refused(const char *status, const char *message)
{
	CLEANUP(arena_finish) struct arena a = {0};
	struct recommendation got;
	struct fault f = {0};
	cr_assert_eq(read_back(status, &a, &got, &f), -1, "%s", status);
	cr_assert_not_null(strstr(f.message, message), "%s", f.message);
}

Test(recommendation, what_cannot_be_meant_is_refused_by_its_place)
{
	refused("{\"containers\":[{\"target\":{\"computePercent\":30}}]}",
		"gpurecommendation team/deployment-llm: status.containers[0]: name");
	refused("{\"containers\":[{\"name\":\"x\",\"target\":{\"computePercent\":-1}}]}",
		"target.computePercent: -1 is not between 0 and");
	refused("{\"containers\":[{\"name\":\"x\",\"target\":{\"memory\":7}}]}",
		"target.memory: quantity expected");
	refused("{\"revision\":\"17\"}", "status.revision: integer expected");
}

/* A condition's message has a limit, and is not cut within a character. */
Test(recommendation, long_messages_are_cut)
{
	CLEANUP(str_finish) struct str json = STR_INIT(65536);
	CLEANUP(arena_finish) struct arena a = {0};
	char message[3000];
	for (size_t i = 0; i + 2 < sizeof message; i += 2) {
		message[i] = '\xc3';
		message[i + 1] = '\xa4';
	}
	message[1] = '\xa4';
	message[sizeof message - 2] = '\0';
	struct recommendation r = full(), got;
	struct fault f = {0};
	r.conditions[RECOMMENDATION_READY].message = message;
	struct build b = build_into(&json);
	recommendation_write_status(&b, &r);
	cr_assert_eq(read_back(str_text(&json), &a, &got, &f), 0, "%s", f.message);
	size_t n = strlen(got.conditions[RECOMMENDATION_READY].message);
	cr_assert(n <= RECOMMENDATION_MESSAGE_MAX && n > RECOMMENDATION_MESSAGE_MAX - 4);
	cr_assert_null(strstr(str_text(&json), "\xef\xbf\xbd"));
}
