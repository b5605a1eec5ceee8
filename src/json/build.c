/* The JSON writer. */
#include "json/build.h"

#include "base/alloc.h"

struct build build_into(struct str *out)
{
	return (struct build){.out = out};
}

/* Commas, and the promise that an object's values have keys. */
static void before_value(struct build *b)
{
	if (b->keyed) {
		b->keyed = false;
		return;
	}
	if (b->depth == 0) {
		return;
	}
	uint32_t bit = UINT32_C(1) << (b->depth - 1);
	ENSURE((b->arrays & bit) != 0);
	if ((b->wrote & bit) != 0) {
		str_append_char(b->out, ',');
	}
	b->wrote |= bit;
}

static void open_value(struct build *b, bool is_array)
{
	before_value(b);
	ENSURE(b->depth < BUILD_DEPTH_MAX);
	uint32_t bit = UINT32_C(1) << b->depth;
	b->arrays = is_array ? b->arrays | bit : b->arrays & ~bit;
	b->wrote &= ~bit;
	b->depth++;
	str_append_char(b->out, is_array ? '[' : '{');
}

void build_begin_object(struct build *b)
{
	open_value(b, false);
}

void build_begin_array(struct build *b)
{
	open_value(b, true);
}

void build_end(struct build *b)
{
	ENSURE(b->depth > 0 && !b->keyed);
	b->depth--;
	str_append_char(b->out, (b->arrays >> b->depth & 1) != 0 ? ']' : '}');
}

void build_key_view(struct build *b, struct view key)
{
	ENSURE(b->depth > 0 && !b->keyed);
	uint32_t bit = UINT32_C(1) << (b->depth - 1);
	ENSURE((b->arrays & bit) == 0);
	if ((b->wrote & bit) != 0) {
		str_append_char(b->out, ',');
	}
	b->wrote |= bit;
	str_append_json(b->out, key.p, key.n);
	str_append_char(b->out, ':');
	b->keyed = true;
}

void build_key(struct build *b, const char *key)
{
	build_key_view(b, view_of(key));
}

void build_view(struct build *b, struct view text)
{
	before_value(b);
	str_append_json(b->out, text.p, text.n);
}

void build_text(struct build *b, const char *text)
{
	if (text == NULL) {
		build_null(b);
	} else {
		build_view(b, view_of(text));
	}
}

void build_i64(struct build *b, int64_t value)
{
	before_value(b);
	str_append_format(b->out, "%lld", (long long)value);
}

void build_bool(struct build *b, bool value)
{
	before_value(b);
	str_append_text(b->out, value ? "true" : "false");
}

void build_null(struct build *b)
{
	before_value(b);
	str_append_text(b->out, "null");
}

void build_raw(struct build *b, const char *json, size_t n)
{
	before_value(b);
	str_append(b->out, json, n);
}

void build_text_at(struct build *b, const char *key, const char *text)
{
	build_key(b, key);
	build_text(b, text);
}

void build_i64_at(struct build *b, const char *key, int64_t value)
{
	build_key(b, key);
	build_i64(b, value);
}

void build_bool_at(struct build *b, const char *key, bool value)
{
	build_key(b, key);
	build_bool(b, value);
}

void build_object_at(struct build *b, const char *key)
{
	build_key(b, key);
	build_begin_object(b);
}

void build_array_at(struct build *b, const char *key)
{
	build_key(b, key);
	build_begin_array(b);
}

bool build_ok(const struct build *b)
{
	return b->depth == 0 && !b->keyed && !b->out->overflow;
}
