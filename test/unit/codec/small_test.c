/* The small kinds: metadata, namespaces, limit ranges, leases, events. */
#include <criterion/criterion.h>

#include "codec/event.h"
#include "codec/lease.h"
#include "codec/objects.h"
#include "codec/meta.h"
#include "codec/runtimeclass.h"

Test(meta, who_and_how_far)
{
	static const struct {
		const char *json;
		bool end;
	} rows[] = {
		{"{\"metadata\":{\"resourceVersion\":\"9\",\"annotations\":{\"k8s.io/"
		 "initial-events-end\":\"true\"}}}",
			true},
		{"{\"metadata\":{\"resourceVersion\":\"9\",\"annotations\":{\"k8s.io/"
		 "initial-events-end\":\"false\"}}}",
			false},
		{"{\"metadata\":{\"resourceVersion\":\"9\",\"annotations\":null}}", false},
	};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct arena arena = {0};
		struct meta m;
		struct fault f = {0};
		cr_assert_eq(meta_decode(rows[i].json, strlen(rows[i].json), &arena, &m, &f), 0,
			"%s", f.message);
		cr_assert_str_eq(m.resource_version, "9");
		cr_assert_str_eq(m.name, "");
		cr_assert_eq(m.initial_events_end, rows[i].end);
		arena_finish(&arena);
	}
	struct arena arena = {0};
	struct meta m;
	struct fault f = {0};
	cr_assert_eq(meta_decode("{}", 2, &arena, &m, &f), -1);
	cr_assert_str_eq(f.message, "metadata: missing");
	arena_finish(&arena);
}

Test(namespace, labels_defaults_and_the_end)
{
	const char *json =
		"{\"metadata\":{\"name\":\"ml\",\"labels\":{\"team\":\"ml\"},\"annotations\":"
		"{\"aliquot.dev/"
		"default-mode\":\"Automate\",\"x\":\"y\"}},\"status\":{\"phase\":\"Active\"}}";
	struct arena arena = {0};
	struct namespace ns;
	struct fault f = {0};
	cr_assert_eq(fields_decode(view_of(json), &namespace_shape, &arena, &ns, &f), 0, "%s",
		f.message);
	cr_assert_str_eq(ns.name, "ml");
	cr_assert_str_eq(pairs_get(&ns.labels, "team"), "ml");
	cr_assert_eq(ns.notes.count, 1);
	cr_assert_not(ns.terminating);
	json = "{\"metadata\":{\"name\":\"x\"},\"status\":{\"phase\":\"Terminating\"}}";
	cr_assert_eq(fields_decode(view_of(json), &namespace_shape, &arena, &ns, &f), 0);
	cr_assert(ns.terminating);
	json = "{\"metadata\":{\"name\":\"x\",\"labels\":[]}}";
	cr_assert_eq(fields_decode(view_of(json), &namespace_shape, &arena, &ns, &f), -1);
	cr_assert_str_eq(f.message, "namespace x: metadata.labels: object expected, array found");
	arena_finish(&arena);
}

Test(limit_range, only_what_would_touch_a_pod_without_gpus)
{
	static const struct {
		const char *limits;
		bool gpus;
	} rows[] = {
		{"[{\"type\":\"Container\",\"min\":{\"cpu\":\"1\"}}]", false},
		{"[{\"type\":\"Pod\",\"max\":{\"nvidia.com/gpu\":\"1\"}}]", true},
		{"[{\"max\":{\"cpu\":\"1\"}}]", false},
		{"[{\"min\":{\"nvidia.com/gpu\":\"1\"}}]", true},
		{"[{},{\"default\":{\"nvidia.com/gpu\":\"1\"}}]", true},
		{"[{\"maxLimitRequestRatio\":{\"nvidia.com/gpu\":\"1\"}}]", true},
		{"null", false},
	};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct arena arena = {0};
		struct limit_range r;
		struct fault f = {0};
		char *json = arena_printf(&arena,
			"{\"metadata\":{\"namespace\":\"n\",\"name\":\"l\"},\"spec\":{\"limits\":%"
			"s}}",
			rows[i].limits);
		cr_assert_eq(fields_decode(view_of(json), &limit_range_shape, &arena, &r, &f), 0,
			"%s", f.message);
		cr_assert_eq(r.limits_gpus, rows[i].gpus, "row %zu", i);
		cr_assert_str_eq(r.ns, "n");
		arena_finish(&arena);
	}
}

Test(lease, both_ways)
{
	const char *text = "{\"apiVersion\":\"coordination.k8s.io/"
			   "v1\",\"kind\":\"Lease\",\"metadata\":{\"name\":\"l\","
			   "\"namespace\":\"n\",\"uid\":\"u\",\"resourceVersion\":\"5\"},\"spec\":{"
			   "\"holderIdentity\":\"a_1\","
			   "\"leaseDurationSeconds\":12,\"leaseTransitions\":3,\"acquireTime\":"
			   "\"2026-11-21T10:00:00.250000Z\","
			   "\"renewTime\":\"2026-11-21T10:00:08.001000Z\"}}";
	struct arena arena = {0};
	struct lease l;
	struct fault f = {0};
	struct str out = STR_INIT(4096);
	cr_assert_eq(lease_decode(text, strlen(text), &arena, &l, &f), 0, "%s", f.message);
	cr_assert_str_eq(l.holder, "a_1");
	cr_assert_eq(l.duration_s, 12);
	cr_assert_eq(l.transitions, 3);
	cr_assert_eq(l.renew_ms - l.acquire_ms, 7751);
	cr_assert(lease_write(&out, &l));
	cr_assert_str_eq(out.p, text);
	str_finish(&out);
	arena_finish(&arena);
}

Test(lease, nobody_holds_a_new_one)
{
	const char *text = "{\"metadata\":{\"name\":\"l\"},\"spec\":{\"holderIdentity\":null}}";
	struct arena arena = {0};
	struct lease l;
	struct fault f = {0};
	struct str out = STR_INIT(4096);
	cr_assert_eq(lease_decode(text, strlen(text), &arena, &l, &f), 0, "%s", f.message);
	cr_assert_str_eq(l.holder, "");
	cr_assert_eq(l.renew_ms, 0);
	l.ns = "n";
	l.duration_s = 12;
	cr_assert(lease_write(&out, &l));
	cr_assert_str_eq(out.p, "{\"apiVersion\":\"coordination.k8s.io/"
				"v1\",\"kind\":\"Lease\",\"metadata\":{\"name\":\"l\","
				"\"namespace\":\"n\"},\"spec\":{\"holderIdentity\":\"\","
				"\"leaseDurationSeconds\":12,"
				"\"leaseTransitions\":0}}");
	text = "{\"metadata\":{\"name\":\"l\"},\"spec\":{\"renewTime\":12}}";
	cr_assert_eq(lease_decode(text, strlen(text), &arena, &l, &f), -1);
	cr_assert_str_eq(f.message, "lease: spec.renewTime: time expected, integer found");
	str_finish(&out);
	arena_finish(&arena);
}

Test(event, as_it_is_posted)
{
	struct event e = {.ns = "ml",
		.name = "p.1",
		.reason = "Placed",
		.note = "on \"x\"",
		.action = "Place",
		.time_ms = 1795255200007,
		.controller = "aliquot.dev/controller",
		.instance = "c-0",
		.regarding = {"v1", "Pod", "ml", "p", "u", NULL},
		.series_count = 2,
		.series_last_ms = 1795255201000};
	struct str out = STR_INIT(4096);
	cr_assert(event_write(&out, &e));
	cr_assert_str_eq(out.p,
		"{\"apiVersion\":\"events.k8s.io/"
		"v1\",\"kind\":\"Event\",\"metadata\":{\"name\":\"p.1\","
		"\"namespace\":\"ml\"},\"eventTime\":\"2026-11-21T10:00:00.007000Z\",\"type\":"
		"\"Normal\","
		"\"reason\":\"Placed\",\"action\":\"Place\",\"note\":\"on \\\"x\\\"\","
		"\"reportingController\":\"aliquot.dev/controller\",\"reportingInstance\":\"c-0\","
		"\"regarding\":{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"name\":\"p\","
		"\"namespace\":\"ml\",\"uid\":\"u\"},"
		"\"series\":{\"count\":2,\"lastObservedTime\":\"2026-11-21T10:00:01.000000Z\"}}");
	str_reset(&out);
	cr_assert(event_write_series(&out, 5, 1795255201000));
	cr_assert_str_eq(out.p,
		"{\"series\":{\"count\":5,\"lastObservedTime\":\"2026-11-21T10:00:01.000000Z\"}}");
	str_finish(&out);
}

Test(event, a_long_note_is_cut_between_characters)
{
	char note[EVENT_NOTE_MAX + 10];
	struct event e = {
		.name = "e", .note = note, .regarding = {.kind = "GPUPolicy"}, .warning = true};
	struct str out = STR_INIT(8192);
	memset(note, 'x', sizeof note);
	memcpy(note + EVENT_NOTE_MAX - 1, "\xc3\xa9", 2);
	note[sizeof note - 1] = '\0';
	cr_assert(event_write(&out, &e));
	cr_assert_not_null(strstr(out.p, "xx\",\"reportingController\""), "no half character");
	cr_assert_null(strstr(out.p, "\xef\xbf\xbd"));
	cr_assert_not_null(strstr(out.p, "\"namespace\":\"default\""));
	cr_assert_not_null(strstr(out.p, "\"type\":\"Warning\""));
	str_finish(&out);
}

static int decode_class(const char *json, struct runtime_class *r, struct arena *arena)
{
	struct fault f = {0};
	return runtime_decode(json, strlen(json), arena, r, &f);
}

Test(runtime, c5_what_it_costs_and_where_it_goes)
{
	struct arena arena = {0};
	struct runtime_class r = {0};
	cr_assert_eq(
		decode_class("{\"handler\":\"x\",\"overhead\":{\"podFixed\":{\"cpu\":\"250m\","
			     "\"memory\":\"1Mi\"}},\"scheduling\":{\"nodeSelector\":{\"b\":\"2\","
			     "\"a\":\"1\"}}}",
			&r, &arena),
		0);
	cr_expect_eq(r.cpu_milli, 250);
	cr_expect_eq(r.mem_bytes, 1 << 20);
	cr_assert_eq(r.selector.count, 2);
	cr_expect_str_eq(r.selector.items[0].key, "a");
	cr_assert_eq(decode_class("{\"handler\":\"x\"}", &r, &arena), 0);
	cr_expect_eq(r.cpu_milli + r.mem_bytes + r.selector.count, 0);
	cr_assert_eq(decode_class("{\"overhead\":{\"podFixed\":{\"cpu\":\"-1\",\"memory\":"
				  "\"8E\"}}}",
			     &r, &arena),
		0);
	cr_expect_eq(r.cpu_milli, 0);
	cr_expect_eq(r.mem_bytes, RUNTIME_AMOUNT_MAX);
	cr_expect_eq(decode_class("{\"scheduling\":{\"nodeSelector\":7}}", &r, &arena), -1);
	cr_expect_eq(decode_class("{\"overhead\":{\"podFixed\":{\"cpu\":{}}}}", &r, &arena), -1);
	arena_finish(&arena);
}
