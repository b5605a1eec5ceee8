/* Events of devices, and back. */
#include "own/heard.h"

#include "codec/parts.h"

/* Of each part. A name of a node is the longest that is one; a sentence is cut. */
#define PART_MAX 253
#define WHY_MAX	 100

static bool is_part(const char *text, bool required)
{
	size_t n = text != NULL ? strlen(text) : 0;
	return n <= PART_MAX && (n > 0 || !required);
}

static int check_event(const struct reading *r, void *noun)
{
	const struct heard *h = noun;
	if (!is_part(h->uuid, true) || !is_part(h->node, true) || !is_part(h->by, true) ||
		!is_part(h->boot, false) || !is_part(h->reset, false) || !is_part(h->why, false)) {
		return fault_set(r->fault, FAULT_INVALID, "a part is empty or too long");
	}
	return 0;
}

static const struct field heard_fields[] = {
	FIELD("uuid", text, AT(heard, uuid), .required = true),
	FIELD("node", text, AT(heard, node), .required = true),
	FIELD("agent", text, AT(heard, by), .required = true),
	FIELD("boot", text, AT(heard, boot)),
	FIELD("reset", text, AT(heard, reset)),
	FIELD("why", text, AT(heard, why), .max = WHY_MAX),
};
static const struct shape heard_shape = {SHAPE(heard, heard_fields), .finish = check_event};

struct events {
	struct heard *items;
	uint32_t count;
};

static const struct field events_fields[] = {
	FIELD("events", list, AT(events, items), COUNT_AT(events, count), .always = true,
		.inside = &heard_shape),
};
static const struct shape events_shape = {
	SHAPE(events, events_fields), .called = "events", .limit = HEARD_TEXT_MAX};

void heard_write(struct str *out, const struct heard *list, size_t count)
{
	for (; count > 0; count--) {
		CLEANUP(str_finish) struct str text = STR_INIT(HEARD_TEXT_MAX - 1);
		const struct events events = {(struct heard *)(uintptr_t)list, (uint32_t)count};
		if (parts_write_text(&text, &events_shape, &events, NULL)) {
			str_append(out, str_text(&text), text.len);
			return;
		}
	}
}

int heard_decode(const char *text, struct arena *arena, struct heard *ret_list, size_t *ret_count,
	struct fault *ret_fault)
{
	struct events events;
	if (parts_read_text(text, &events_shape, arena, &events, ret_fault) < 0) {
		return -1;
	}
	if (events.count > HEARD_MAX) {
		return fault_set(ret_fault, FAULT_LIMIT, "more than %d events", HEARD_MAX);
	}
	for (uint32_t i = 0; i < events.count; i++) {
		ret_list[i] = events.items[i];
	}
	*ret_count = events.count;
	return 0;
}
