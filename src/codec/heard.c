/* Events of devices, and back. */
#include "codec/heard.h"

#include "json/build.h"
#include "json/decode.h"

#define VERSION 1
/* Of each part. A name of a node is the longest that is one; a sentence is cut. */
#define PART_MAX 253
#define WHY_MAX	 100

static void put(struct build *b, const char *key, const char *text)
{
	if (text != NULL) {
		build_text_at(b, key, text);
	}
}

static void put_why(struct build *b, const char *why)
{
	char cut[WHY_MAX + 1];
	if (why == NULL) {
		return;
	}
	size_t n = strlen(why);
	/* not in the middle of a character */
	for (n = n < WHY_MAX ? n : WHY_MAX; n > 0 && ((unsigned char)why[n] & 0xC0) == 0x80;) {
		n--;
	}
	memcpy(cut, why, n);
	cut[n] = '\0';
	build_text_at(b, "why", cut);
}

static bool write_all(struct str *out, const struct heard *list, size_t count)
{
	struct build b = build_into(out);
	build_begin_object(&b);
	build_i64_at(&b, "v", VERSION);
	build_array_at(&b, "events");
	for (size_t i = 0; i < count; i++) {
		build_begin_object(&b);
		put(&b, "uuid", list[i].uuid);
		put(&b, "node", list[i].node);
		put(&b, "agent", list[i].by);
		put(&b, "boot", list[i].boot);
		put(&b, "reset", list[i].reset);
		put_why(&b, list[i].why);
		build_end(&b);
	}
	build_end(&b);
	build_end(&b);
	return build_ok(&b);
}

void heard_write(struct str *out, const struct heard *list, size_t count)
{
	for (; count > 0; count--) {
		CLEANUP(str_finish) struct str text = STR_INIT(HEARD_TEXT_MAX - 1);
		if (write_all(&text, list, count)) {
			str_append(out, str_text(&text), text.len);
			return;
		}
	}
}

static const struct decode_field fields[] = {
	{"uuid", DECODE_TEXT, true, offsetof(struct heard, uuid), NULL},
	{"node", DECODE_TEXT, true, offsetof(struct heard, node), NULL},
	{"agent", DECODE_TEXT, true, offsetof(struct heard, by), NULL},
	{"boot", DECODE_TEXT, false, offsetof(struct heard, boot), NULL},
	{"reset", DECODE_TEXT, false, offsetof(struct heard, reset), NULL},
	{"why", DECODE_TEXT, false, offsetof(struct heard, why), NULL},
};

static bool is_part(const char *text, bool required)
{
	size_t n = text != NULL ? strlen(text) : 0;
	return n <= PART_MAX && (n > 0 || !required);
}

static int read_one(
	const json_t *value, struct arena *arena, struct heard *ret, struct fault *ret_fault)
{
	*ret = (struct heard){.uuid = NULL};
	if (decode_fields(value, fields, COUNT_OF(fields), arena, ret, ret_fault) < 0) {
		return -1;
	}
	if (!is_part(ret->uuid, true) || !is_part(ret->node, true) || !is_part(ret->by, true) ||
		!is_part(ret->boot, false) || !is_part(ret->reset, false) ||
		!is_part(ret->why, false)) {
		return fault_set(ret_fault, FAULT_INVALID, "a part is empty or too long");
	}
	return 0;
}

int heard_decode(const char *text, struct arena *arena, struct heard *ret_list, size_t *ret_count,
	struct fault *ret_fault)
{
	CLEANUP(decode_release) json_t *root = NULL;
	const json_t *events = NULL;
	size_t n = strlen(text);
	if (n > HEARD_TEXT_MAX) {
		return fault_set(ret_fault, FAULT_LIMIT, "more than %zu bytes", HEARD_TEXT_MAX);
	}
	if (decode_parse(text, n, DECODE_UNIQUE, &root, ret_fault) < 0) {
		return -1;
	}
	const json_t *version = decode_find(root, "v");
	if (!json_is_integer(version) || json_integer_value(version) != VERSION) {
		return fault_set(ret_fault, FAULT_INVALID, "of a version that is not known");
	}
	if (decode_array(root, "events", &events, ret_fault) < 0) {
		return -1;
	}
	size_t count = events != NULL ? json_array_size(events) : 0;
	if (count > HEARD_MAX) {
		return fault_set(ret_fault, FAULT_LIMIT, "more than %d events", HEARD_MAX);
	}
	for (size_t i = 0; i < count; i++) {
		if (read_one(json_array_get(events, i), arena, &ret_list[i], ret_fault) < 0) {
			return fault_wrap(ret_fault, "events[%zu]", i);
		}
	}
	*ret_count = count;
	return 0;
}
