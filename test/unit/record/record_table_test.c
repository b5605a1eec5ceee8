/* The walks over a table, with a struct that has a row of each kind. */
#include "record/record_table.h"

#include "base/vec.h"
#include "../covers.h"

struct inner {
	const char *text;
	uint8_t small;
};

static const struct record_row inner_rows[] = {
	NAME(struct inner, text), UPTO(struct inner, small, 200)};
static const struct record_table inner_table = RECORD_TABLE(struct inner, inner_rows);

struct owner_of_text {
	char *text;
};

static const struct record_row owner_rows[] = {NAME(struct owner_of_text, text)};
static const struct record_table owner_table = RECORD_TABLE(struct owner_of_text, owner_rows);

struct all_kinds {
	bool first, second, apart;
	int32_t narrow;
	uint32_t natural;
	int64_t wide;
	uint64_t hash;
	enum { RED, GREEN, BLUE } colour;
	const char *text;
	char name[8];
	struct inner part, parts[2];
	const struct inner *pointer;
	struct inner *list;
	uint32_t list_count;
	int scratch;
};

static const struct record_row all_rows[] = {MEMBER(struct all_kinds, first),
	MEMBER(struct all_kinds, second), MEMBER(struct all_kinds, narrow),
	MEMBER(struct all_kinds, apart), MEMBER(struct all_kinds, natural),
	MEMBER(struct all_kinds, wide), MEMBER(struct all_kinds, hash),
	ENUM(struct all_kinds, colour, BLUE + 1), MEMBER(struct all_kinds, text),
	CHARS(struct all_kinds, name), PART(struct all_kinds, part, inner_table),
	ARRAY(struct all_kinds, parts, inner_table),
	POINTER(struct all_kinds, pointer, inner_table),
	LIST_UPTO(struct all_kinds, list, list_count, inner_table, 3),
	ASIDE(struct all_kinds, scratch)};
static const struct record_table all_table = RECORD_TABLE(struct all_kinds, all_rows);

struct owned_kinds {
	char *text;
	struct {
		VEC_FIELDS(struct owner_of_text);
	} texts;
	struct {
		VEC_FIELDS(int64_t);
	} numbers;
};

static const struct record_row owned_rows[] = {MEMBER(struct owned_kinds, text),
	VEC(struct owned_kinds, texts, owner_table), VEC(struct owned_kinds, numbers, i64_table)};
static const struct record_table owned_table = RECORD_TABLE(struct owned_kinds, owned_rows);

static const struct inner inner = {"inner", 7};

static struct all_kinds full(void)
{
	static struct inner list[] = {{"a", 1}, {"b", 200}};
	return (struct all_kinds){.second = true,
		.apart = true,
		.narrow = INT32_MIN,
		.natural = UINT32_MAX,
		.wide = INT64_MIN,
		.hash = UINT64_MAX,
		.colour = BLUE,
		.text = "",
		.name = "seven77",
		.part = inner,
		.parts = {inner, {"other", 0}},
		.pointer = &inner,
		.list = list,
		.list_count = 2,
		.scratch = 9};
}

static bool round_trip(const struct all_kinds *from, struct arena *arena, struct all_kinds *ret)
{
	CLEANUP(str_finish) struct str out = STR_INIT(4096);
	record_pack(&out, &all_table, from);
	cr_assert_eq(record_size(&all_table, from), out.len);
	struct unpack u = {.p = out.p, .n = out.len, .arena = arena};
	*ret = (struct all_kinds){0};
	return record_unpack(&u, &all_table, ret) && u.n == 0;
}

Test(record_table, every_kind_comes_back)
{
	CLEANUP(arena_finish) struct arena arena = {0};
	const struct all_kinds a = full();
	struct all_kinds back;
	EXPECT_COVERS(inner_table, struct inner);
	EXPECT_COVERS(all_table, struct all_kinds);
	EXPECT_COVERS(owned_table, struct owned_kinds);
	cr_assert(round_trip(&a, &arena, &back));
	cr_expect(record_equals(&all_table, &a, &back));
	cr_expect_eq(back.narrow, INT32_MIN);
	cr_expect_eq(back.wide, INT64_MIN);
	cr_expect_eq(back.hash, UINT64_MAX);
	cr_expect(!back.first && back.second && back.apart);
	cr_expect_eq(back.colour, BLUE);
	cr_expect_str_eq(back.text, "");
	cr_expect_str_eq(back.name, "seven77");
	cr_expect_str_eq(back.parts[1].text, "other");
	cr_expect_eq(back.pointer->small, 7);
	cr_expect_eq(back.list[1].small, 200);
	cr_expect_eq(back.scratch, 0, "it is not packed");
	cr_expect_eq(record_hash(&all_table, &a, 1), record_hash(&all_table, &back, 1));
	cr_expect_neq(record_hash(&all_table, &a, 1), record_hash(&all_table, &a, 2));
	back.text = NULL;
	cr_expect_neq(record_hash(&all_table, &a, 1), record_hash(&all_table, &back, 1));
	back.text = "";
	back.scratch = 9;
	back.pointer = NULL;
	back.list_count = 0;
	cr_expect_not(record_equals(&all_table, &a, &back));
	cr_assert(round_trip(&back, &arena, &back));
	cr_expect_null(back.pointer);
	cr_expect_null(back.list);
}

Test(record_table, what_no_member_holds_is_refused)
{
	CLEANUP(arena_finish) struct arena arena = {0};
	struct inner long_list[4] = {{"a", 1}, {"a", 1}, {"a", 1}, {"a", 1}};
	struct all_kinds cases[5], back;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		cases[i] = full();
	}
	cases[0].list = long_list;
	cases[0].list_count = 4;
	cases[1].part.text = NULL;
	cases[2].parts[0].small = 201;
	*(int *)&cases[3].colour = BLUE + 1;
	*(int *)&cases[4].colour = -1;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		cr_expect_not(round_trip(&cases[i], &arena, &back), "%zu", i);
	}
	/* a flag that there is none for, a number and a text that are too large for their members
	 */
	const struct view bytes[] = {VIEW("\x04"), VIEW("\x02\x80\x80\x80\x80\x20"),
		VIEW("\x02\x00\x01\x00\x00\x00\x00\x00\x09"
		     "12345678")};
	for (size_t i = 0; i < COUNT_OF(bytes); i++) {
		struct unpack u = {.p = bytes[i].p, .n = bytes[i].n, .arena = &arena};
		cr_expect_not(record_unpack(&u, &all_table, &back), "%zu", i);
	}
}

Test(record_table, bytes_that_are_cut_are_refused)
{
	CLEANUP(str_finish) struct str out = STR_INIT(4096);
	const struct all_kinds a = full();
	record_pack(&out, &all_table, &a);
	for (size_t n = 0; n < out.len; n++) {
		CLEANUP(arena_finish) struct arena arena = {0};
		CLEANUP(cleanup_free) char *cut = xmemdup(out.p, n);
		struct unpack u = {.p = cut, .n = n, .arena = &arena};
		struct all_kinds back = {0};
		cr_expect_not(record_unpack(&u, &all_table, &back), "%zu", n);
	}
}

Test(record_table, a_copy_has_nothing_in_common)
{
	CLEANUP(arena_finish) struct arena arena = {0};
	const struct all_kinds a = full();
	struct all_kinds *copy = record_clone(&arena, &all_table, &a);
	cr_assert(record_equals(&all_table, copy, &a));
	cr_expect_eq(copy->scratch, 9, "copied as it is");
	cr_expect(copy->text != a.text && copy->list != a.list && copy->pointer != a.pointer);
	cr_expect(copy->list[0].text != a.list[0].text && copy->parts[1].text != a.parts[1].text);
	/* Onto itself, out of the arena that it was in. */
	struct arena other = {0};
	struct all_kinds moved = *copy;
	record_copy(&other, &all_table, &moved, &moved);
	arena_finish(&arena);
	cr_expect(record_equals(&all_table, &moved, &a));
	arena_finish(&other);
}

/* What was half unpacked leaves nothing behind: the sanitizer would tell. */
Test(record_table, what_is_owned_is_released)
{
	CLEANUP(str_finish) struct str out = STR_INIT(4096);
	struct owned_kinds a = {.text = xstrdup("t")};
	for (int i = 0; i < 5; i++) {
		struct owner_of_text text = {xstrdup("text")};
		VEC_PUSH(&a.texts, text);
		VEC_PUSH(&a.numbers, (int64_t)i);
	}
	record_pack(&out, &owned_table, &a);
	for (size_t n = 0; n <= out.len; n++) {
		struct unpack u = {.p = out.p, .n = n};
		struct owned_kinds back = {0};
		bool whole = record_unpack(&u, &owned_table, &back);
		cr_expect_eq(whole, n == out.len);
		cr_expect_eq(whole && record_equals(&owned_table, &a, &back), whole);
		cr_expect_eq(back.texts.count, whole ? 5 : 0);
		record_finish(&owned_table, &back);
		cr_expect(back.text == NULL && back.texts.items == NULL && back.numbers.room == 0);
	}
	record_finish(&owned_table, &a);
}

Test(record_table, another_table_is_another_format)
{
	uint64_t before = record_format(&all_table, 1);
	struct record_row rows[COUNT_OF(all_rows)];
	struct record_table table = all_table;
	table.rows = rows;
	cr_expect_neq(record_format(&all_table, 2), before);
	for (size_t i = 0; i < COUNT_OF(all_rows); i++) {
		memcpy(rows, all_rows, sizeof rows);
		cr_assert_eq(record_format(&table, 1), before);
		struct record_row changed[] = {rows[i], rows[i], rows[i], rows[i]};
		changed[0].name = "another";
		changed[1].most++;
		changed[2].needed = !changed[2].needed;
		changed[3].kind = ROW_OWNED;
		for (size_t k = 0; k < COUNT_OF(changed); k++) {
			rows[i] = changed[k];
			bool counts = all_rows[i].kind != ROW_ASIDE || k == 3;
			cr_expect_eq(record_format(&table, 1) != before, counts, "%zu %zu", i, k);
		}
	}
}
