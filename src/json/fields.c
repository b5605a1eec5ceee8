/* Tables of fields: structs out of JSON values, and back. */
#include "json/fields.h"

#include "base/clock.h"
#include "json/decode.h"

/* --- integers and flags --- */

int fields_in_range(const struct field *f, int64_t value, struct fault *ret_fault)
{
	return (f->min == 0 && f->max == 0) || (value >= f->min && value <= f->max)
		       ? 0
		       : fault_set(ret_fault, FAULT_INVALID, "%lld is not between %lld and %lld",
				 (long long)value, (long long)f->min, (long long)f->max);
}

/* Of so many bits: from -most - 1 to most. */
static int read_integer(
	const json_t *value, int64_t most, int64_t *ret_value, struct fault *ret_fault)
{
	if (!json_is_integer(value)) {
		return decode_mismatch(value, "integer", ret_fault);
	}
	int64_t whole = (int64_t)json_integer_value(value);
	if (whole < -most - 1 || whole > most) {
		return fault_set(
			ret_fault, FAULT_INVALID, "%lld is out of range", (long long)whole);
	}
	*ret_value = whole;
	return 0;
}

static int read_i32(const struct reading *r, const json_t *value, void *to)
{
	int64_t whole = 0;
	if (read_integer(value, INT32_MAX, &whole, r->fault) < 0) {
		return -1;
	}
	*(int32_t *)to = (int32_t)whole;
	return fields_in_range(r->field, whole, r->fault);
}

static void write_i32(struct build *b, const struct field *f, const void *from)
{
	(void)f;
	build_i64(b, *(const int32_t *)from);
}

static int read_i64(const struct reading *r, const json_t *value, void *to)
{
	int64_t *whole = to;
	return read_integer(value, INT64_MAX, whole, r->fault) < 0
		       ? -1
		       : fields_in_range(r->field, *whole, r->fault);
}

static void write_i64(struct build *b, const struct field *f, const void *from)
{
	(void)f;
	build_i64(b, *(const int64_t *)from);
}

static int read_flag(const struct reading *r, const json_t *value, void *to)
{
	if (!json_is_boolean(value)) {
		return decode_mismatch(value, "boolean", r->fault);
	}
	*(bool *)to = json_is_true(value);
	return 0;
}

static void write_flag(struct build *b, const struct field *f, const void *from)
{
	(void)f;
	build_bool(b, *(const bool *)from);
}

static int read_there(const struct reading *r, const json_t *value, void *to)
{
	(void)r;
	*(bool *)to = value != NULL;
	return 0;
}

const struct field_kind field_i32 = {
	.read = read_i32, .write = write_i32, .bytes = sizeof(int32_t)};
const struct field_kind field_i64 = {
	.read = read_i64, .write = write_i64, .bytes = sizeof(int64_t)};
const struct field_kind field_flag = {
	.read = read_flag, .write = write_flag, .bytes = sizeof(bool)};
const struct field_kind field_there = {.read = read_there, .lenient = true};

/* --- texts and times --- */

static int read_text(const struct reading *r, const json_t *value, void *to)
{
	if (!json_is_string(value)) {
		return decode_mismatch(value, "string", r->fault);
	}
	*(const char **)to =
		arena_strndup(r->arena, json_string_value(value), json_string_length(value));
	return 0;
}

static void write_text(struct build *b, const struct field *f, const void *from)
{
	const char *text = text_or(*(const char *const *)from, "");
	build_view(b, f->max > 0 ? text_cut(text, (size_t)f->max) : view_of(text));
}

static bool is_no_text(const struct field *f, const void *from)
{
	(void)f;
	return text_empty(*(const char *const *)from);
}

static int read_time(const struct reading *r, const json_t *value, void *to)
{
	if (!json_is_string(value)) {
		return decode_mismatch(value, "time", r->fault);
	}
	if (!time_parse(json_string_value(value), to)) {
		return fault_set(r->fault, FAULT_INVALID, "RFC 3339 time expected, \"%.40s\" found",
			json_string_value(value));
	}
	return 0;
}

static void write_time(struct build *b, const struct field *f, const void *from)
{
	char text[TIME_TEXT_MAX];
	(void)f;
	build_text(b, time_format(*(const int64_t *)from, text));
}

static bool is_no_time(const struct field *f, const void *from)
{
	(void)f;
	return *(const int64_t *)from <= 0;
}

static void write_micro(struct build *b, const struct field *f, const void *from)
{
	char text[TIME_TEXT_MAX];
	(void)f;
	build_text(b, time_format_micro(*(const int64_t *)from, text));
}

static int read_note(const struct reading *r, const json_t *value, void *to)
{
	return json_is_string(value) ? read_text(r, value, to) : 0;
}

static void write_constant(struct build *b, const struct field *f, const void *from)
{
	(void)from;
	build_text(b, f->words[0]);
}

const struct field_kind field_text = {
	.read = read_text, .write = write_text, .is_empty = is_no_text};
const struct field_kind field_note = {.read = read_note, .lenient = true};
const struct field_kind field_constant = {.write = write_constant};
const struct field_kind field_time = {
	.read = read_time, .write = write_time, .is_empty = is_no_time};
const struct field_kind field_micro = {
	.read = read_time, .write = write_micro, .is_empty = is_no_time};

/* --- words --- */

int fields_read_word(const json_t *value, const char *const *words, unsigned *ret_number,
	struct fault *ret_fault)
{
	if (!json_is_string(value)) {
		return decode_mismatch(value, "string", ret_fault);
	}
	for (unsigned i = 0; words[i] != NULL; i++) {
		if (strcmp(json_string_value(value), words[i]) == 0) {
			*ret_number = i;
			return 0;
		}
	}
	return fault_set(
		ret_fault, FAULT_INVALID, "\"%.60s\" is not known here", json_string_value(value));
}

static int read_word(const struct reading *r, const json_t *value, void *to)
{
	return fields_read_word(value, r->field->words, to, r->fault);
}

static void write_word(struct build *b, const struct field *f, const void *from)
{
	build_text(b, f->words[*(const unsigned *)from]);
}

static int read_choice(const struct reading *r, const json_t *value, void *to)
{
	unsigned number = 0;
	if (fields_read_word(value, r->field->words, &number, r->fault) < 0) {
		return -1;
	}
	*(bool *)to = number == 1;
	return 0;
}

static void write_choice(struct build *b, const struct field *f, const void *from)
{
	build_text(b, f->words[*(const bool *)from ? 1 : 0]);
}

static int read_name(const struct reading *r, const json_t *value, void *to)
{
	const char *text = json_string_value(value);
	for (unsigned i = 0; text != NULL && i <= (unsigned)r->field->max; i++) {
		if (text_equals(r->field->name(i), text)) {
			*(unsigned *)to = i;
		}
	}
	return 0;
}

static void write_name(struct build *b, const struct field *f, const void *from)
{
	build_text(b, f->name(*(const unsigned *)from));
}

static bool is_no_name(const struct field *f, const void *from)
{
	return f->name(*(const unsigned *)from) == NULL;
}

const struct field_kind field_name = {
	.read = read_name, .write = write_name, .is_empty = is_no_name};
const struct field_kind field_word = {.read = read_word, .write = write_word};
const struct field_kind field_choice = {.read = read_choice, .write = write_choice};

/* --- lists and objects --- */

/* The member that counts stands in the same struct as the list. */
static uint32_t *list_counter(const struct field *f, void *list)
{
	return (uint32_t *)(void *)((char *)list - f->at + f->count_at);
}

static uint32_t list_count(const struct field *f, const void *list)
{
	return *(const uint32_t *)(const void *)((const char *)list - f->at + f->count_at);
}

static bool is_no_list(const struct field *f, const void *from)
{
	return list_count(f, from) == 0;
}

static int read_texts(const struct reading *r, const json_t *value, void *to)
{
	if (!json_is_array(value)) {
		return decode_mismatch(value, "array", r->fault);
	}
	return decode_texts(value, r->arena, to, list_counter(r->field, to), r->fault);
}

static void write_texts(struct build *b, const struct field *f, const void *from)
{
	const char *const *texts = *(const char *const *const *)from;
	build_begin_array(b);
	for (uint32_t i = 0; i < list_count(f, from); i++) {
		build_text(b, texts[i]);
	}
	build_end(b);
}

static int check_count(const struct field *f, size_t count, struct fault *ret_fault)
{
	if (f->min > 0 && (count < (size_t)f->min || count > (size_t)f->max)) {
		return fault_set(ret_fault, FAULT_INVALID, "%s: not from %lld to %lld", f->path,
			(long long)f->min, (long long)f->max);
	}
	if (f->max > 0 && count > (size_t)f->max) {
		return fault_set(
			ret_fault, FAULT_INVALID, "%s: more than %lld", f->path, (long long)f->max);
	}
	return 0;
}

static void preset_noun(void *noun, const struct shape *shape)
{
	if (shape->defaults != NULL) {
		memcpy(noun, shape->defaults, shape->size);
	} else {
		memset(noun, 0, shape->size);
	}
}

struct list {
	const struct shape *inside;
	const char *called; /* by faults, before the number of an element */
	struct field_items found;
};

static int read_items(
	const json_t *array, struct list *l, struct arena *arena, struct fault *ret_fault)
{
	size_t count = json_array_size(array), size = l->inside->size;
	char *items = count > 0 ? arena_alloc(arena, size * count) : NULL;
	for (size_t i = 0; i < count; i++) {
		const json_t *object = json_array_get(array, i);
		preset_noun(items + i * size, l->inside);
		if (fields_read(object, l->inside, arena, items + i * size, ret_fault) < 0) {
			return fault_wrap(ret_fault, "%s[%zu]", l->called, i);
		}
	}
	l->found = (struct field_items){items, (uint32_t)count};
	return 0;
}

int fields_read_list(const json_t *array, const struct shape *inside, struct arena *arena,
	struct field_items *ret_items, struct fault *ret_fault)
{
	struct list list = {.inside = inside, .called = ""};
	int rc = read_items(array, &list, arena, ret_fault);
	*ret_items = list.found;
	return rc;
}

static int read_rows(const struct reading *r, const json_t *value, void *to)
{
	struct list list = {.inside = r->field->inside,
		.called = r->field->kind->names_path ? r->field->path : ""};
	if (!json_is_array(value)) {
		return decode_mismatch(value, "array", r->fault);
	}
	if (read_items(value, &list, r->arena, r->fault) < 0) {
		return -1;
	}
	*(void **)to = list.found.items;
	*list_counter(r->field, to) = list.found.count;
	return 0;
}

static int read_list(const struct reading *r, const json_t *value, void *to)
{
	if (!json_is_array(value)) {
		(void)decode_mismatch(value, "array", r->fault);
		return fault_wrap(r->fault, "%s", r->field->path);
	}
	return check_count(r->field, json_array_size(value), r->fault) < 0
		       ? -1
		       : read_rows(r, value, to);
}

static int read_each(const struct reading *r, const json_t *value, void *to)
{
	if (!json_is_array(value)) {
		(void)decode_mismatch(value, "array", r->fault);
		return fault_wrap(r->fault, "%s", r->field->path);
	}
	void *item = arena_alloc(r->arena, r->field->inside->size);
	for (size_t i = 0; i < json_array_size(value); i++) {
		const struct reading one = {json_array_get(value, i), r->field, r->arena, r->fault};
		if (json_is_null(one.object)) {
			continue;
		}
		preset_noun(item, r->field->inside);
		if (fields_read(one.object, r->field->inside, r->arena, item, r->fault) < 0 ||
			r->field->each(&one, item, to) < 0) {
			return fault_wrap(r->fault, "%s[%zu]", r->field->path, i);
		}
	}
	return 0;
}

static void write_list(struct build *b, const struct field *f, const void *from)
{
	const char *items = *(const char *const *)from;
	build_begin_array(b);
	for (uint32_t i = 0; i < list_count(f, from); i++) {
		build_begin_object(b);
		fields_write(b, f->inside, "", items + i * f->inside->size);
		build_end(b);
	}
	build_end(b);
}

static int read_object(const struct reading *r, const json_t *value, void *to)
{
	return fields_read(value, r->field->inside, r->arena, to, r->fault);
}

static int read_json(const struct reading *r, const json_t *value, void *to)
{
	if (!json_is_object(value)) {
		return decode_mismatch(value, "object", r->fault);
	}
	*(const json_t **)to = value;
	return 0;
}

static int read_map(const struct reading *r, const json_t *value, void *to)
{
	(void)to;
	return json_is_object(value) ? 0 : decode_mismatch(value, "object", r->fault);
}

static void write_object(struct build *b, const struct field *f, const void *from)
{
	build_begin_object(b);
	fields_write(b, f->inside, "", from);
	build_end(b);
}

const struct field_kind field_texts = {
	.read = read_texts, .write = write_texts, .is_empty = is_no_list};
const struct field_kind field_rows = {
	.read = read_rows, .write = write_list, .is_empty = is_no_list};
const struct field_kind field_list = {
	.read = read_list, .write = write_list, .is_empty = is_no_list, .names_path = true};
const struct field_kind field_each = {.read = read_each, .names_path = true};
const struct field_kind field_map = {.read = read_map};
const struct field_kind field_json = {.read = read_json};
const struct field_kind field_object = {.read = read_object, .write = write_object};

/* --- reading --- */

static int wrap_path(const struct field *f, struct fault *ret_fault)
{
	const char *slash = strchr(f->path, '/');
	return slash == NULL ? fault_wrap(ret_fault, "%s", f->path)
			     : fault_wrap(ret_fault, "%.*s.%s", (int)(slash - f->path), f->path,
				       slash + 1);
}

static int read_field(const struct reading *r, void *noun)
{
	const struct field *f = r->field;
	const json_t *value = NULL;
	if (f->kind == NULL || f->kind->read == NULL) {
		return 0;
	}
	if (f->kind->lenient) {
		value = decode_find(r->object, f->path);
	} else if (decode_member(r->object, f->path, &value, r->fault) < 0) {
		return -1;
	}
	if (value == NULL) {
		return f->required ? fault_set(r->fault, FAULT_INVALID, "%s: missing", f->path) : 0;
	}
	return f->kind->read(r, value, (char *)noun + f->at) == 0 ? 0
	       : f->kind->names_path				  ? -1
								  : wrap_path(f, r->fault);
}

int fields_read(const json_t *object, const struct shape *shape, struct arena *arena, void *noun,
	struct fault *ret_fault)
{
	struct reading r = {object, shape->fields, arena, ret_fault};
	if (!json_is_object(object)) {
		return decode_mismatch(object, "object", ret_fault);
	}
	for (; r.field < shape->fields + shape->count; r.field++) {
		if (read_field(&r, noun) < 0) {
			return -1;
		}
	}
	r.field = NULL;
	return shape->finish != NULL ? shape->finish(&r, noun) : 0;
}

/* NULL: nothing of it is known. */
static int wrap_name(const struct shape *shape, const char *noun, struct fault *ret_fault)
{
	if (shape->called == NULL) {
		return -1;
	}
	if (!shape->named || noun == NULL) {
		return fault_wrap(ret_fault, "%s", shape->called);
	}
	const char *const *name = (const void *)(noun + shape->name_at);
	const char *const *ns = (const void *)(noun + shape->ns_at);
	return shape->in_namespace
		       ? fault_wrap(ret_fault, "%s %.63s/%.63s", shape->called, text_or(*ns, ""),
				 text_or(*name, ""))
		       : fault_wrap(ret_fault, "%s %.63s", shape->called, text_or(*name, ""));
}

int fields_fill(const json_t *object, const struct shape *shape, struct arena *arena, void *noun,
	struct fault *ret_fault)
{
	void *found = arena_alloc(arena, shape->size);
	preset_noun(found, shape);
	if (fields_read(object, shape, arena, found, ret_fault) < 0) {
		return wrap_name(shape, found, ret_fault);
	}
	memcpy(noun, found, shape->given > 0 ? shape->given : shape->size);
	return 0;
}

int fields_decode(struct view json, const struct shape *shape, struct arena *arena, void *noun,
	struct fault *ret_fault)
{
	CLEANUP(decode_release) json_t *root = NULL;
	return decode_parse(json.p, json.n, shape->flags, &root, ret_fault) < 0
		       ? wrap_name(shape, NULL, ret_fault)
		       : fields_fill(root, shape, arena, noun, ret_fault);
}

/* --- writing --- */

/* How much of both paths is the same objects. */
static size_t shared_path(struct view a, struct view b)
{
	size_t shared = 0, n = 0;
	while (n < a.n && n < b.n && a.p[n] == b.p[n]) {
		shared = a.p[n] == '.' ? n : shared;
		n++;
	}
	bool whole = (n == a.n || a.p[n] == '.') && (n == b.n || b.p[n] == '.');
	return whole ? n : shared;
}

/* What of a path is behind a part of it that ends between two members; NULL: nothing. */
static struct view path_behind(struct view path, size_t n)
{
	n += n > 0 && n < path.n ? 1 : 0;
	return (struct view){n < path.n ? path.p + n : NULL, path.n - n};
}

/* From inside the objects of one path into those of another. */
static void move_to(struct build *b, struct view *open, struct view to)
{
	size_t shared = shared_path(*open, to);
	struct view leave = path_behind(*open, shared), enter = path_behind(to, shared), part;
	while (view_next(&leave, '.', &part)) {
		build_end(b);
	}
	while (view_next(&enter, '.', &part)) {
		build_key_view(b, part);
		build_begin_object(b);
	}
	*open = to;
}

static bool is_empty(const struct field *f, const void *from)
{
	static const char zeros[sizeof(int64_t)];
	const struct field_kind *kind = f->kind;
	return kind->is_empty != NULL ? kind->is_empty(f, from)
				      : kind->bytes > 0 && memcmp(from, zeros, kind->bytes) == 0;
}

void fields_write(struct build *b, const struct shape *shape, const char *below, const void *noun)
{
	struct view open = {"", 0};
	size_t skip = strlen(below);
	for (size_t i = 0; i < shape->count; i++) {
		const struct field *f = &shape->fields[i];
		const char *from = (const char *)noun + f->at;
		bool is_below =
			strncmp(f->path, below, skip) == 0 && (skip == 0 || f->path[skip] == '.');
		if (!is_below || f->kind == NULL || f->kind->write == NULL ||
			(f->when != NULL && !f->when(noun)) || (!f->always && is_empty(f, from))) {
			continue;
		}
		const char *path = f->path + skip + (skip > 0 ? 1 : 0);
		const char *slash = strchr(path, '/');
		const char *cut = slash != NULL ? slash : strrchr(path, '.');
		move_to(b, &open, (struct view){path, cut != NULL ? (size_t)(cut - path) : 0});
		build_key(b, cut != NULL ? cut + 1 : path);
		f->kind->write(b, f, from);
	}
	move_to(b, &open, (struct view){"", 0});
}

bool fields_encode(struct str *out, const struct shape *shape, const void *noun)
{
	struct build b = build_into(out);
	build_begin_object(&b);
	fields_write(&b, shape, "", noun);
	build_end(&b);
	return build_ok(&b);
}
