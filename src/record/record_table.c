/* The walks over the rows of a table. */
#include "record/record_table.h"

#include <stdlib.h>

#include "base/map.h"
#include "base/vec.h"

static const struct record_row text_rows[] = {
	{.name = "text", .size = sizeof(char *), .kind = ROW_TEXT, .needed = true}};
const struct record_table text_table = RECORD_TABLE(const char *, text_rows);

static const struct record_row owned_text_rows[] = {
	{.name = "text", .size = sizeof(char *), .kind = ROW_OWNED, .needed = true}};
const struct record_table owned_text_table = RECORD_TABLE(char *, owned_text_rows);

static const struct record_row i64_rows[] = {
	{.name = "i64", .size = sizeof(int64_t), .kind = ROW_SIGNED}};
const struct record_table i64_table = RECORD_TABLE(int64_t, i64_rows);

static const struct record_row u64_rows[] = {
	{.name = "u64", .size = sizeof(uint64_t), .kind = ROW_NUMBER}};
const struct record_table u64_table = RECORD_TABLE(uint64_t, u64_rows);

/* What VEC_FIELDS declares, of anything. */
struct any_vec {
	VEC_FIELDS(char);
};

/* Several records of one table. */
struct several {
	const char *items;
	size_t count;
};

static void *pointer_at(const void *at)
{
	void *p;
	memcpy(&p, at, sizeof p);
	return p;
}

static void pointer_put(void *at, const void *p)
{
	memcpy(at, &p, sizeof p);
}

static struct several several_of(const struct record_row *r, const char *record)
{
	const char *at = record + r->at;
	if (r->kind == ROW_LIST) {
		uint32_t count;
		memcpy(&count, record + r->count_at, sizeof count);
		return (struct several){pointer_at(at), count};
	}
	if (r->kind == ROW_VEC) {
		struct any_vec vec;
		memcpy(&vec, at, sizeof vec);
		return (struct several){vec.items, vec.count};
	}
	if (r->kind == ROW_POINTER) {
		return (struct several){pointer_at(at), pointer_at(at) != NULL ? 1 : 0};
	}
	return (struct several){at, r->of != NULL ? r->size / r->of->size : 0};
}

/* One of 64 bits without a sign comes with one. */
static int64_t number_at(const struct record_row *r, const void *at)
{
	if (r->size == sizeof(int64_t)) {
		return *(const int64_t *)at;
	}
	if (r->size == sizeof(int32_t)) {
		return r->kind == ROW_SIGNED ? (int64_t) * (const int32_t *)at
					     : (int64_t) * (const uint32_t *)at;
	}
	return *(const uint8_t *)at;
}

/* False: the member holds no such number, or its row does not allow it. */
static bool number_put(const struct record_row *r, void *at, int64_t value)
{
	if (r->most > 0 && (value < 0 || value > r->most)) {
		return false;
	}
	if (r->size == sizeof(int64_t)) {
		*(int64_t *)at = value;
	} else if (r->size == sizeof(int32_t)) {
		*(uint32_t *)at = (uint32_t)value;
	} else {
		*(uint8_t *)at = (uint8_t)value;
	}
	return number_at(r, at) == value;
}

/* Of all rows from here on that are yes or no, so that one number has them. */
static uint64_t flags_from(
	const struct record_row **row, const struct record_row *end, const char *record)
{
	uint64_t flags = 0;
	for (unsigned bit = 0; *row < end && (*row)->kind == ROW_BOOL; (*row)++, bit++) {
		flags |= (uint64_t) * (const bool *)(record + (*row)->at) << bit;
	}
	return flags;
}

/* --- pack --- */

/* What becomes of the members: bytes, how many there would be, or one number. */
struct sink {
	struct str *out; /* NULL: no bytes */
	size_t size;
	bool hashes;
	uint64_t hash;
};

static void members_put(struct sink *s, const struct record_table *t, const char *record);

static uint64_t hash_number(uint64_t number, uint64_t before)
{
	return hash_bytes(&number, sizeof number, before);
}

static void put_number(struct sink *s, uint64_t value)
{
	if (s->out != NULL) {
		pack_u64(s->out, value);
	} else if (s->hashes) {
		s->hash = hash_number(value, s->hash);
	} else {
		s->size += pack_u64_size(value);
	}
}

static void put_signed(struct sink *s, int64_t value)
{
	if (s->out != NULL) {
		pack_i64(s->out, value);
	} else if (s->hashes) {
		s->hash = hash_number((uint64_t)value, s->hash);
	} else {
		s->size += pack_i64_size(value);
	}
}

static void put_text(struct sink *s, const char *text)
{
	if (s->out != NULL) {
		pack_text(s->out, text);
	} else if (s->hashes) {
		/* The NUL too, so that no text runs into the next; none is another than "". */
		s->hash = text != NULL ? hash_bytes(text, strlen(text) + 1, s->hash)
				       : hash_number(0, s->hash);
	} else {
		s->size += pack_text_size(text);
	}
}

/* What is below a row: one record, or several, each as its own table says. */
static void put_below(struct sink *s, const struct record_row *r, const char *record)
{
	struct several all = several_of(r, record);
	if (r->kind == ROW_LIST || r->kind == ROW_VEC) {
		put_number(s, all.count);
	} else if (r->kind == ROW_POINTER) {
		if (r->needed) {
			ENSURE(all.count > 0);
		} else {
			put_number(s, all.count);
		}
	}
	for (size_t i = 0; i < all.count; i++) {
		members_put(s, r->of, all.items + i * r->of->size);
	}
}

static void row_put(struct sink *s, const struct record_row *r, const char *record)
{
	const char *at = record + r->at;
	switch (r->kind) {
	case ROW_TEXT:
	case ROW_OWNED:
		put_text(s, pointer_at(at));
		return;
	case ROW_CHARS:
		put_text(s, at);
		return;
	case ROW_SIGNED:
		put_signed(s, number_at(r, at));
		return;
	case ROW_BOOL:
	case ROW_NUMBER:
		put_number(s, (uint64_t)number_at(r, at));
		return;
	case ROW_PART:
	case ROW_ARRAY:
	case ROW_POINTER:
	case ROW_LIST:
	case ROW_VEC:
		put_below(s, r, record);
		return;
	case ROW_ASIDE:
		return;
	}
}

static void members_put(struct sink *s, const struct record_table *t, const char *record)
{
	const struct record_row *end = t->rows + t->row_count;
	for (const struct record_row *r = t->rows; r < end;) {
		if (r->kind == ROW_BOOL) {
			put_number(s, flags_from(&r, end, record));
		} else {
			row_put(s, r++, record);
		}
	}
}

void record_pack(struct str *out, const struct record_table *t, const void *record)
{
	struct sink s = {.out = out};
	members_put(&s, t, record);
}

size_t record_size(const struct record_table *t, const void *record)
{
	struct sink s = {.out = NULL};
	members_put(&s, t, record);
	return s.size;
}

uint64_t record_hash(const struct record_table *t, const void *record, uint64_t before)
{
	struct sink s = {.hashes = true, .hash = before};
	members_put(&s, t, record);
	return s.hash;
}

/* --- unpack --- */

static void members_unpack(struct unpack *u, const struct record_table *t, char *record);

static const struct record_row *unpack_flags(
	struct unpack *u, const struct record_row *r, const struct record_row *end, char *record)
{
	uint64_t flags = unpack_u64(u);
	for (; r < end && r->kind == ROW_BOOL; r++, flags >>= 1) {
		*(bool *)(record + r->at) = flags & 1;
	}
	u->bad |= flags != 0;
	return r;
}

static void unpack_chars(struct unpack *u, const struct record_row *r, char *at)
{
	struct view text = unpack_text_view(u);
	u->bad |= text.n >= r->size;
	if (!u->bad && text.n > 0) {
		memcpy(at, text.p, text.n);
		at[text.n] = '\0';
	}
}

static void unpack_list(struct unpack *u, const struct record_row *r, char *record)
{
	uint32_t count = unpack_count(u);
	u->bad |= r->most > 0 && count > r->most;
	if (u->bad || count == 0) {
		return;
	}
	char *items = arena_alloc(u->arena, (size_t)count * r->of->size);
	for (uint32_t i = 0; i < count && !u->bad; i++) {
		members_unpack(u, r->of, items + (size_t)i * r->of->size);
	}
	pointer_put(record + r->at, items);
	memcpy(record + r->count_at, &count, sizeof count);
}

/* It grows with what is read, not with what its count says. One that has something was read before.
 */
static void unpack_vec(struct unpack *u, const struct record_row *r, char *record)
{
	struct any_vec all;
	size_t size = r->of->size;
	memcpy(&all, record + r->at, sizeof all);
	u->bad |= all.count > 0;
	for (uint32_t n = unpack_count(u); n > 0 && !u->bad; n--) {
		if (all.count == all.room) {
			all.items = vec_grow(all.items, &all.room, all.count + 1, size);
		}
		char *item = memset(all.items + all.count++ * size, 0, size);
		members_unpack(u, r->of, item);
	}
	memcpy(record + r->at, &all, sizeof all);
}

/* What is below a row, but for a vec. */
static void unpack_below(struct unpack *u, const struct record_row *r, char *record)
{
	if (r->kind == ROW_POINTER && (r->needed || unpack_u64(u) != 0)) {
		char *one = arena_alloc(u->arena, r->of->size);
		members_unpack(u, r->of, one);
		pointer_put(record + r->at, one);
	}
	for (size_t i = 0; r->kind != ROW_POINTER && i < r->size / r->of->size; i++) {
		members_unpack(u, r->of, record + r->at + i * r->of->size);
	}
}

static void row_unpack(struct unpack *u, const struct record_row *r, char *record)
{
	char *at = record + r->at;
	switch (r->kind) {
	case ROW_TEXT:
		pointer_put(at, unpack_text(u));
		u->bad |= r->needed && pointer_at(at) == NULL;
		return;
	case ROW_OWNED: {
		struct view text = unpack_text_view(u);
		free(pointer_at(at));
		pointer_put(at, text.p != NULL ? xstrndup(text.p, text.n) : NULL);
		u->bad |= r->needed && text.p == NULL;
		return;
	}
	case ROW_CHARS:
		unpack_chars(u, r, at);
		return;
	case ROW_SIGNED:
		u->bad |= !number_put(r, at, unpack_i64(u));
		return;
	case ROW_BOOL:
	case ROW_NUMBER:
		u->bad |= !number_put(r, at, (int64_t)unpack_u64(u));
		return;
	case ROW_LIST:
		unpack_list(u, r, record);
		return;
	case ROW_VEC:
		unpack_vec(u, r, record);
		return;
	case ROW_PART:
	case ROW_ARRAY:
	case ROW_POINTER:
		unpack_below(u, r, record);
		return;
	case ROW_ASIDE:
		return;
	}
}

static void members_unpack(struct unpack *u, const struct record_table *t, char *record)
{
	const struct record_row *end = t->rows + t->row_count;
	for (const struct record_row *r = t->rows; r < end && !u->bad;) {
		if (r->kind == ROW_BOOL) {
			r = unpack_flags(u, r, end, record);
		} else {
			row_unpack(u, r++, record);
		}
	}
}

bool record_unpack(struct unpack *u, const struct record_table *t, void *record)
{
	members_unpack(u, t, record);
	if (u->bad) {
		record_finish(t, record);
	}
	return !u->bad;
}

/* --- copy --- */

static void row_copy(struct arena *arena, const struct record_row *r, const char *from, char *to)
{
	struct several all = several_of(r, from);
	char *items = to + r->at;
	if (r->kind == ROW_OWNED || r->kind == ROW_VEC) {
		BUG("what is owned has no copies");
	}
	if (r->kind == ROW_TEXT) {
		pointer_put(to + r->at, arena_strdup(arena, pointer_at(from + r->at)));
	} else if (r->kind == ROW_POINTER || r->kind == ROW_LIST) {
		items = all.count > 0 ? arena_alloc(arena, all.count * r->of->size) : NULL;
		pointer_put(to + r->at, items);
	}
	for (size_t i = 0; r->of != NULL && i < all.count; i++) {
		record_copy(arena, r->of, all.items + i * r->of->size, items + i * r->of->size);
	}
}

void record_copy(struct arena *arena, const struct record_table *t, const void *from, void *ret)
{
	memmove(ret, from, t->size);
	for (uint32_t i = 0; i < t->row_count; i++) {
		row_copy(arena, &t->rows[i], from, ret);
	}
}

void *record_clone(struct arena *arena, const struct record_table *t, const void *from)
{
	void *made = from != NULL ? arena_alloc(arena, t->size) : NULL;
	if (made != NULL) {
		record_copy(arena, t, from, made);
	}
	return made;
}

/* --- compare, release --- */

static bool row_equals(const struct record_row *r, const char *a, const char *b)
{
	struct several x = several_of(r, a), y = several_of(r, b);
	bool same = x.count == y.count;
	if (r->kind == ROW_TEXT || r->kind == ROW_OWNED) {
		return text_equals(pointer_at(a + r->at), pointer_at(b + r->at));
	}
	if (r->kind == ROW_CHARS) {
		return strcmp(a + r->at, b + r->at) == 0;
	}
	if (r->of == NULL) {
		return r->kind == ROW_ASIDE || number_at(r, a + r->at) == number_at(r, b + r->at);
	}
	for (size_t i = 0; same && i < x.count; i++) {
		same = record_equals(r->of, x.items + i * r->of->size, y.items + i * r->of->size);
	}
	return same;
}

bool record_equals(const struct record_table *t, const void *a, const void *b)
{
	bool same = true;
	for (uint32_t i = 0; same && i < t->row_count; i++) {
		same = row_equals(&t->rows[i], a, b);
	}
	return same;
}

void record_finish(const struct record_table *t, void *record)
{
	for (uint32_t i = 0; i < t->row_count; i++) {
		const struct record_row *r = &t->rows[i];
		char *at = (char *)record + r->at;
		if (r->kind == ROW_OWNED) {
			free(pointer_at(at));
			pointer_put(at, NULL);
		} else if (r->kind == ROW_PART || r->kind == ROW_ARRAY || r->kind == ROW_VEC) {
			struct several all = several_of(r, record);
			for (size_t k = 0; k < all.count; k++) {
				record_finish(
					r->of, (char *)(uintptr_t)all.items + k * r->of->size);
			}
		}
		if (r->kind == ROW_VEC) {
			vec_free(pointer_at(at));
			memset(at, 0, sizeof(struct any_vec));
		}
	}
}

/* --- the format --- */

uint64_t record_format(const struct record_table *t, uint64_t before)
{
	uint64_t h = hash_bytes(t->name, strlen(t->name), before);
	for (uint32_t i = 0; i < t->row_count; i++) {
		const struct record_row *r = &t->rows[i];
		if (r->kind == ROW_ASIDE) {
			continue;
		}
		h = hash_bytes(r->name, strlen(r->name), h);
		h = hash_number((uint64_t)r->kind << 1 | (r->needed ? 1 : 0), h);
		h = hash_number((uint64_t)r->most, h);
		h = r->of != NULL ? record_format(r->of, h) : hash_number(r->size, h);
	}
	return h;
}
