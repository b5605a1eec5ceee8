/* What one review may cost: whoever may create pods, or reaches the port, decides what is in it,
 * and everybody waits for the one loop meanwhile. */
#include "hook/hook.h"

#include <criterion/criterion.h>
#include <jansson.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "model/names.h"

/* What a review makes that is looked at: a value of JSON is one or two of these. What it then takes
 * follows from that: nothing on the way is looked at more often than a few times. */
static size_t made;

static void *make_counted(size_t size)
{
	made++;
	return malloc(size);
}

static const struct namespace team = {.name = "team"};

static void say_place(void *data, struct admit_input *in)
{
	(void)data;
	in->ns = text_equals(in->pod->ns, team.name) ? &team : NULL;
}

static const struct groups *get_groups(void *data)
{
	(void)data;
	return NULL;
}

static const struct advised *get_advice(void *data, const struct workload_key *workload)
{
	(void)data;
	(void)workload;
	return NULL;
}

static bool is_unshared(void *data, const struct pod *pod, const struct pairs *runtime,
	struct unfit_tally *ret_tally)
{
	(void)data;
	(void)pod;
	(void)runtime;
	(void)ret_tally;
	return false;
}

static enum reason may_convert(void *data, const char *ns)
{
	(void)data;
	(void)ns;
	return REASON_NONE;
}

struct bed {
	struct metric_registry *metrics;
	struct hook *hook;
	struct str body, out;
};

static void bed_init(struct bed *b)
{
	*b = (struct bed){.metrics = metric_registry_create(),
		.body = STR_INIT(8 << 20),
		.out = STR_INIT(8 << 20)};
	struct hook_config config = {.view = {.place_of = say_place,
					     .groups = get_groups,
					     .recommendation = get_advice,
					     .unshared = is_unshared,
					     .may_convert = may_convert},
		.metrics = b->metrics,
		.runtime_class = "nvidia",
		.notes_names = true};
	json_set_alloc_funcs(make_counted, free);
	b->hook = hook_create(&config);
}

static void bed_finish(struct bed *b)
{
	hook_destroy(b->hook);
	metric_registry_destroy(b->metrics);
	str_finish(&b->body);
	str_finish(&b->out);
}

/* `one`, so many times, each # a number; behind `before`, if there is more than none of them. */
static void repeat(struct str *text, const char *before, const char *one, int n)
{
	str_append_text(text, n > 0 ? before : "");
	for (int i = 0; i < n; i++) {
		str_append_text(text, i > 0 ? "," : "");
		for (const char *c = one; *c != '\0'; c++) {
			if (*c == '#') {
				str_append_format(text, "%d", i);
			} else {
				str_append_char(text, *c);
			}
		}
	}
}

struct shape {
	const char *name;
	int labels, notes, containers, variables, others, arguments, tolerations;
};

static void write_pod(struct str *t, const struct shape *s)
{
	str_append_text(t,
		"{\"request\":{\"uid\":\"u-1\",\"kind\":{\"group\":\"\",\"version\":\"v1\","
		"\"kind\":\"Pod\"},\"operation\":\"CREATE\",\"namespace\":\"team\",\"dryRun\":true,"
		"\"object\":{\"metadata\":{\"labels\":{");
	repeat(t, "", "\"l#\":\"v\"", s->labels);
	str_append_text(t, "},\"annotations\":{\"aliquot.dev/gpu-fraction\":\"0.25\"");
	repeat(t, ",", "\"n#\":\"v\"", s->notes);
	str_append_text(t, "}},\"spec\":{\"tolerations\":[");
	repeat(t, "", "{\"key\":\"k#\",\"operator\":\"Exists\"}", s->tolerations);
	str_append_text(t, "],\"containers\":[{\"name\":\"main\",\"args\":[");
	repeat(t, "", "\"--a#\"", s->arguments);
	str_append_text(t, "],\"env\":[");
	repeat(t, "", "{\"name\":\"CUDA_VISIBLE_DEVICES\",\"value\":\"#\"}", s->variables);
	str_append_text(t, "],\"resources\":{\"limits\":{\"nvidia.com/gpu\":\"1\"}}}");
	repeat(t, ",", "{\"name\":\"c#\"}", s->containers);
	str_append_text(t, s->others > 0 ? ",{\"name\":\"x\",\"env\":[" : "");
	repeat(t, "", "{\"name\":\"NVIDIA_VISIBLE_DEVICES\",\"value\":\"all\"}", s->others);
	str_append_text(t, s->others > 0 ? "]}]}}}}" : "]}}}}");
	cr_assert_not(t->overflow);
}

/* How many values it made; the answer is in b->out. */
static size_t cost_of(struct bed *b, const struct shape *s)
{
	str_reset(&b->body);
	str_reset(&b->out);
	write_pod(&b->body, s);
	made = 0;
	cr_assert_eq(hook_admit(b->hook, str_text(&b->body), b->body.len, &b->out), 200);
	return made;
}

static bool says(struct bed *b, const char *text)
{
	return strstr(str_text(&b->out), text) != NULL;
}

Test(hook_large, too_large_a_pod_is_left_whole_before_anything_is_parsed)
{
	static const struct shape shapes[] = {
		{"labels", .labels = 160000},
		{"a few labels too many", .labels = 1025},
		{"annotations", .notes = 40000},
		{"containers", .containers = 128},
		{"variables", .variables = 1025},
		{"arguments", .arguments = 1025},
		{"tolerations", .tolerations = 52000},
		{"all together", .labels = 1000, .notes = 1000, .arguments = 1000,
			.variables = 900},
	};
	CLEANUP(bed_finish) struct bed b;
	bed_init(&b);
	for (size_t i = 0; i < COUNT_OF(shapes); i++) {
		cr_expect_eq(cost_of(&b, &shapes[i]), 0, "%s", shapes[i].name);
		cr_expect(says(&b, "\"uid\":\"u-1\",\"allowed\":true"), "%s", shapes[i].name);
		cr_expect(says(&b, "\"verdict\":\"TooLarge\""), "%s", str_text(&b.out));
		cr_expect(says(&b, "is too large"), "its author is told");
		cr_expect_not(says(&b, "\"patch\""));
	}
	cr_expect_eq(metric_value(metric_get(b.metrics, METRIC_COUNTER, "aliquot_admission_total",
			     "", "verdict=\"whole\",reason=\"TooLarge\"")),
		COUNT_OF(shapes));
}

/* What is just small enough makes a few tens of thousands of values, whatever it consists of. */
Test(hook_large, what_is_looked_at_costs_a_bounded_number_of_values)
{
	static const struct shape shapes[] = {
		{"labels", .labels = 1024},
		{"annotations", .notes = 1023},
		{"containers", .containers = 127},
		{"variables", .variables = 1024},
		{"another's variables", .others = 1024},
		{"both", .variables = 600, .others = 600},
		{"arguments", .arguments = 1024},
		{"tolerations", .tolerations = 128},
		{"all", .labels = 1000, .notes = 1000, .arguments = 1000, .variables = 500,
			.others = 200, .containers = 50},
	};
	CLEANUP(bed_finish) struct bed b;
	bed_init(&b);
	for (size_t i = 0; i < COUNT_OF(shapes); i++) {
		size_t cost = cost_of(&b, &shapes[i]);
		cr_expect(cost > 0 && cost < 30000, "%s: %zu", shapes[i].name, cost);
		cr_expect(b.out.len < (512 << 10), "%s: %zu bytes", shapes[i].name, b.out.len);
	}
}

/* A webhook that does not answer is one that failed; whose request it was says even what is broken.
 */
Test(hook_large, what_cannot_be_parsed_is_answered_by_its_uid)
{
	static const char *const bodies[] = {
		"{\"request\":{\"uid\":\"u-1\",",
		"{\"request\":{\"uid\":\"u-1\",\"uid\":\"u-2\"}}",
		"{\"request\":{\"uid\":\"u-1\",\"dryRun\":\"yes\"}}",
		"{\"request\":{\"uid\":\"u-1\",\"object\":{\"a\":\"\\u0000\"}}}",
	};
	CLEANUP(bed_finish) struct bed b;
	bed_init(&b);
	for (size_t i = 0; i < COUNT_OF(bodies); i++) {
		str_reset(&b.out);
		cr_expect_eq(hook_admit(b.hook, bodies[i], strlen(bodies[i]), &b.out), 200);
		cr_expect(says(&b, "\"uid\":\"u-1\",\"allowed\":true"), "%s", str_text(&b.out));
		cr_expect_not(says(&b, "\"patch\""));
	}
	cr_expect_eq(metric_value(metric_get(b.metrics, METRIC_COUNTER, "aliquot_admission_total",
			     "", "verdict=\"ignored\",reason=\"Malformed\"")),
		COUNT_OF(bodies));
}
