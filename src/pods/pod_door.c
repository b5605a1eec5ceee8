/* Where a pod answers: its address, the ports of its containers that have the names we know, and
 * what its prometheus.io annotations say. */
#include "pod_door.h"

#include "model/names.h"
#include "json/decode.h"

#define SCRAPE_NOTE  "prometheus.io/scrape"
#define SCHEME_NOTE  "prometheus.io/scheme"
#define PORT_NOTE    "prometheus.io/port"
#define PATH_NOTE    "prometheus.io/path"
#define PATH_MAX_LEN 256

static int64_t port_of(const json_t *container, const char *wanted)
{
	const json_t *ports = decode_find(container, "ports");
	for (size_t i = 0; i < json_array_size(ports); i++) {
		const json_t *port = json_array_get(ports, i);
		const char *name = json_string_value(json_object_get(port, "name"));
		int64_t number = json_integer_value(json_object_get(port, "containerPort"));
		if (text_equals(name, wanted) && number >= 1 && number <= 65535) {
			return number;
		}
	}
	return 0;
}

static int64_t named_port(const json_t *spec, const char *wanted)
{
	const json_t *containers = decode_find(spec, "containers");
	int64_t port = 0;
	for (size_t i = 0; i < json_array_size(containers) && port == 0; i++) {
		port = port_of(json_array_get(containers, i), wanted);
	}
	return port;
}

/* An address of a pod in brackets where it has colons, as a URL wants it. */
static const char *address_of(const json_t *status, struct arena *arena)
{
	const char *ip = json_string_value(decode_find(status, "podIP"));
	if (text_empty(ip) || strlen(ip) > 64 ||
		strspn(ip, "0123456789abcdefABCDEF.:") != strlen(ip)) {
		return NULL;
	}
	return strchr(ip, ':') != NULL ? arena_printf(arena, "[%s]", ip) : arena_strdup(arena, ip);
}

static bool is_path(const char *path)
{
	size_t n = strlen(path);
	for (size_t i = 0; i < n; i++) {
		if (path[i] <= ' ' || path[i] > '~' || path[i] == '#') {
			return false;
		}
	}
	return path[0] == '/' && n <= PATH_MAX_LEN;
}

/* A person's words: what cannot be meant is as if it were not there. */
static void read_scrape(const json_t *notes, struct arena *arena, struct pod *pod)
{
	const char *scheme = json_string_value(json_object_get(notes, SCHEME_NOTE));
	const char *port = json_string_value(json_object_get(notes, PORT_NOTE));
	const char *path = json_string_value(json_object_get(notes, PATH_NOTE));
	int64_t number = pod->metrics_port;
	bool wanted = text_equals(json_string_value(json_object_get(notes, SCRAPE_NOTE)), "true");
	if (!wanted || (scheme != NULL && strcmp(scheme, "http") != 0) ||
		(port != NULL && !parse_i64(view_of(port), 1, 65535, &number)) ||
		(path != NULL && !is_path(path))) {
		return;
	}
	pod->scrape_port = number;
	pod->scrape_path = arena_strdup(arena, path);
}

void pod_door_decode(const json_t *root, struct arena *arena, struct pod *pod)
{
	const json_t *spec = json_object_get(root, "spec");
	pod->address = address_of(json_object_get(root, "status"), arena);
	if (pod->address == NULL) {
		return;
	}
	pod->on_node_network = json_is_true(json_object_get(spec, "hostNetwork"));
	pod->metrics_port = named_port(spec, NAME_METRICS_PORT);
	read_scrape(decode_find(root, "metadata.annotations"), arena, pod);
	if (pod_is_agent(pod, NULL)) {
		pod->port = named_port(spec, NAME_AGENT_PORT);
	}
}
