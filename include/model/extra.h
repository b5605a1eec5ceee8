/* What a pod takes of its node beside CPU, memory, a slot and GPUs: amounts of named resources
 * (ephemeral storage, huge pages, extended resources) and ports of the node.
 *
 * Most pods take nothing of the kind, and those that do are replicas of few templates. So it also
 * has a text form, the same for the same needs, of which one copy serves all replicas:
 *     1 example.com/fpga
 *     :8080 TCP 10.0.0.1
 * one line each, the address left out where the port is taken on all of them. */
#ifndef MODEL_EXTRA_H
#define MODEL_EXTRA_H

#include <stdbool.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/str.h"

struct amount {
	const char *name;
	int64_t value;
};

struct amounts {
	struct amount *items; /* borrowed from the arena, in the order in which they came */
	uint32_t count;
};

struct host_port {
	int32_t port;
	const char *protocol;
	const char *address; /* "": every address of the node */
};

struct host_ports {
	struct host_port *items;
	uint32_t count;
};

struct extra {
	struct amounts amounts; /* none is 0 */
	struct host_ports ports;
};

#define EXTRA_AMOUNTS_MAX 32
#define EXTRA_PORTS_MAX	  128
#define EXTRA_TEXT_MAX	  (64u << 10)

static inline bool extra_is_empty(const struct extra *x)
{
	return x->amounts.count == 0 && x->ports.count == 0;
}
int64_t amounts_get(const struct amounts *a, const char *name); /* 0 if absent */
/* Would the two ports be in each other's way on one node? */
bool host_port_conflicts(const struct host_port *a, const struct host_port *b);
/* May a name, a protocol or an address stand in the text? No blanks, not empty, of bounded length.
 */
bool extra_word_is_sound(const char *word);

/* Appends the text form; words that are not sound are left out. */
void extra_write(struct str *out, const struct extra *x);
/* `text` was made by extra_write; NULL is nothing. */
struct extra extra_read(const char *text, struct arena *arena);

#endif
