/* Named amounts and ports of a node, and their text form. */
#include "model/extra.h"

#define WORD_MAX 320 /* a qualified name: a domain of 253, a slash, a name of 63 */

int64_t amounts_get(const struct amounts *a, const char *name)
{
	for (uint32_t i = 0; i < a->count; i++) {
		if (text_equals(a->items[i].name, name)) {
			return a->items[i].value;
		}
	}
	return 0;
}

bool host_port_conflicts(const struct host_port *a, const struct host_port *b)
{
	return a->port == b->port && text_equals(a->protocol, b->protocol) &&
	       (text_empty(a->address) || text_empty(b->address) ||
		       text_equals(a->address, b->address));
}

bool extra_word_is_sound(const char *word)
{
	size_t n = 0;
	for (; word != NULL && word[n] != '\0'; n++) {
		if ((unsigned char)word[n] <= ' ' || n == WORD_MAX) {
			return false;
		}
	}
	return n > 0;
}

void extra_write(struct str *out, const struct extra *x)
{
	for (uint32_t i = 0; i < x->amounts.count; i++) {
		const struct amount *a = &x->amounts.items[i];
		if (a->value > 0 && extra_word_is_sound(a->name)) {
			str_append_format(out, "%lld %s\n", (long long)a->value, a->name);
		}
	}
	for (uint32_t i = 0; i < x->ports.count; i++) {
		const struct host_port *p = &x->ports.items[i];
		if (extra_word_is_sound(p->protocol)) {
			bool one = extra_word_is_sound(p->address);
			str_append_format(out, ":%d %s%s%s\n", (int)p->port, p->protocol,
				one ? " " : "", one ? p->address : "");
		}
	}
}

static void extra_amount_read(struct extra *x, struct view line, struct arena *arena)
{
	struct view number;
	struct amount a = {0};
	if (view_next(&line, ' ', &number) && parse_i64(number, 1, INT64_MAX, &a.value)) {
		a.name = arena_strndup(arena, line.p, line.n);
		x->amounts.items[x->amounts.count++] = a;
	}
}

static void extra_port_read(struct extra *x, struct view line, struct arena *arena)
{
	struct view number, protocol;
	int64_t port = 0;
	line.p++;
	line.n--;
	if (!view_next(&line, ' ', &number) || !parse_i64(number, 1, UINT16_MAX, &port) ||
		!view_next(&line, ' ', &protocol)) {
		return;
	}
	x->ports.items[x->ports.count++] = (struct host_port){.port = (int32_t)port,
		.protocol = arena_strndup(arena, protocol.p, protocol.n),
		.address = arena_strndup(arena, line.p, line.n)};
}

struct extra extra_read(const char *text, struct arena *arena)
{
	struct extra x = {0};
	struct view rest = view_of(text_or(text, "")), line;
	size_t lines = 0;
	for (size_t i = 0; i < rest.n; i++) {
		lines += rest.p[i] == '\n' ? 1 : 0;
	}
	if (lines == 0) {
		return x;
	}
	x.amounts.items = ARENA_ARRAY(arena, struct amount, lines);
	x.ports.items = ARENA_ARRAY(arena, struct host_port, lines);
	while (view_next(&rest, '\n', &line)) {
		if (line.n > 0 && line.p[0] == ':') {
			extra_port_read(&x, line, arena);
		} else {
			extra_amount_read(&x, line, arena);
		}
	}
	return x;
}
