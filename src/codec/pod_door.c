/* Where an agent answers: the pod's address, and the port of its container that has the name. */
#include "model/names.h"
#include "pod_parts.h"

static int64_t port_of(const json_t *container)
{
	const json_t *ports = decode_find(container, "ports");
	for (size_t i = 0; i < json_array_size(ports); i++) {
		const json_t *port = json_array_get(ports, i);
		const char *name = json_string_value(decode_find(port, "name"));
		if (text_equals(name, NAME_AGENT_PORT)) {
			return json_integer_value(decode_find(port, "containerPort"));
		}
	}
	return 0;
}

/* An address of a pod in brackets where it has colons, as a URL wants it. */
static const char *address_of(const json_t *status, struct arena *arena)
{
	const char *ip = json_string_value(decode_find(status, "podIP"));
	if (text_empty(ip) || strlen(ip) > 64 ||
		strspn(ip, "0123456789abcdefABCDEF.:") != strlen(ip)) {
		return NULL;
	}
	return arena_printf(arena, strchr(ip, ':') != NULL ? "[%s]" : "%s", ip);
}

void pod_agent_decode(
	const json_t *spec, const json_t *status, struct arena *arena, struct pod *pod)
{
	const json_t *containers = decode_find(spec, "containers");
	int64_t port = 0;
	for (size_t i = 0; i < json_array_size(containers) && port == 0; i++) {
		port = port_of(json_array_get(containers, i));
	}
	if (port >= 1 && port <= 65535) {
		pod->port = port;
		pod->address = address_of(status, arena);
	}
}
