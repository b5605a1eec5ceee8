/* Where a pod answers, as the watch tells it. */
#include <criterion/criterion.h>
#include <stdio.h>

#include "pods/pod_decode.h"
#include "model/names.h"

#define RUNNING(notes, spec)                                                                       \
	"{\"metadata\":{\"namespace\":\"a\",\"name\":\"p\",\"annotations\":{" notes                \
	"}},\"spec\":{" spec "\"containers\":[{\"name\":\"c\",\"ports\":["                         \
	"{\"name\":\"http\",\"containerPort\":80},"                                                \
	"{\"name\":\"metrics\",\"containerPort\":9400}]}]},\"status\":{\"podIP\":\"10.0.0.7\"}}"

static struct pod decode(const char *json, struct arena *arena)
{
	struct pod p = {0};
	struct fault f = {0};
	cr_assert_eq(pod_decode(json, strlen(json), arena, &p, &f), 0, "%s", f.message);
	return p;
}

Test(door, address_and_named_port)
{
	CLEANUP(arena_finish) struct arena arena = {0};
	struct pod p = decode(RUNNING("", ""), &arena);
	cr_expect_str_eq(p.address, "10.0.0.7");
	cr_expect(p.metrics_port == 9400 && p.scrape_port == 0 && !p.on_node_network);
	cr_expect_eq(p.port, 0, "the port of state is an agent's");
	cr_expect(decode(RUNNING("", "\"hostNetwork\":true,"), &arena).on_node_network);
	p = decode("{\"metadata\":{\"namespace\":\"a\",\"name\":\"p\"},\"status\":{}}", &arena);
	cr_expect_null(p.address);
}

Test(door, an_agents_two_ports)
{
	CLEANUP(arena_finish) struct arena arena = {0};
	struct pod p =
		decode("{\"metadata\":{\"namespace\":\"" NAME_NAMESPACE
		       "\",\"name\":\"g\",\"labels\":{\"" LABEL_AGENT "\":\"true\"}},"
		       "\"spec\":{\"containers\":[{\"name\":\"x\"},{\"name\":\"c\",\"ports\":["
		       "{\"name\":\"metrics\",\"containerPort\":9400},"
		       "{\"name\":\"state\",\"containerPort\":10251}]}]},"
		       "\"status\":{\"podIP\":\"fd00::1\"}}",
			&arena);
	cr_expect_str_eq(p.address, "[fd00::1]");
	cr_expect(p.port == 10251 && p.metrics_port == 9400);
}

#define SCRAPE "\"prometheus.io/scrape\":\"true\""

Test(door, what_annotations_ask_for)
{
	CLEANUP(arena_finish) struct arena arena = {0};
	struct pod p = decode(RUNNING(SCRAPE, ""), &arena);
	cr_expect(p.scrape_port == 9400 && p.scrape_path == NULL);
	p = decode(RUNNING(SCRAPE ",\"prometheus.io/port\":\"8000\","
				  "\"prometheus.io/path\":\"/m?a=b\","
				  "\"prometheus.io/scheme\":\"http\"",
			   ""),
		&arena);
	cr_expect_eq(p.scrape_port, 8000);
	cr_expect_str_eq(p.scrape_path, "/m?a=b");
}

Test(door, what_cannot_be_meant_is_not_there)
{
	static const char *const rows[] = {
		RUNNING("\"prometheus.io/port\":\"8000\"", ""),
		RUNNING("\"prometheus.io/scrape\":\"yes\"", ""),
		RUNNING(SCRAPE ",\"prometheus.io/port\":\"http\"", ""),
		RUNNING(SCRAPE ",\"prometheus.io/port\":\"0\"", ""),
		RUNNING(SCRAPE ",\"prometheus.io/port\":\"65536\"", ""),
		RUNNING(SCRAPE ",\"prometheus.io/path\":\"metrics\"", ""),
		RUNNING(SCRAPE ",\"prometheus.io/path\":\"/a b\"", ""),
		RUNNING(SCRAPE ",\"prometheus.io/path\":\"/a\\r\\nb\"", ""),
		RUNNING(SCRAPE ",\"prometheus.io/scheme\":\"https\"", ""),
	};
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		CLEANUP(arena_finish) struct arena arena = {0};
		struct pod p = decode(rows[i], &arena);
		cr_expect(p.scrape_port == 0 && p.scrape_path == NULL, "row %zu", i);
	}
}
