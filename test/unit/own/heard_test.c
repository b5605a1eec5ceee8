/* What a leader has heard of devices, as the Lease keeps it. */
#include <criterion/criterion.h>

#include "own/heard.h"
#include "codec/lease.h"

static const struct heard full = {"GPU-1", "node-1", "XID 79", "agent-boot", "node-boot", "today"};

Test(heard, what_is_written_is_read)
{
	CLEANUP(arena_finish) struct arena arena = {0};
	CLEANUP(str_finish) struct str text = STR_INIT(HEARD_TEXT_MAX);
	struct heard list[2] = {full, {"GPU-2", "node-2", NULL, "b", NULL, NULL}};
	struct heard back[HEARD_MAX];
	size_t count = 0;
	struct fault f = {0};
	heard_write(&text, list, 2);
	cr_assert_eq(heard_decode(str_text(&text), &arena, back, &count, &f), 0, "%s", f.message);
	cr_assert_eq(count, 2);
	cr_expect_str_eq(back[0].uuid, "GPU-1");
	cr_expect_str_eq(back[0].node, "node-1");
	cr_expect_str_eq(back[0].why, "XID 79");
	cr_expect_str_eq(back[0].by, "agent-boot");
	cr_expect_str_eq(back[0].boot, "node-boot");
	cr_expect_str_eq(back[0].reset, "today");
	cr_expect_str_eq(back[1].uuid, "GPU-2");
	cr_expect_null(back[1].why);
	cr_expect_null(back[1].boot);
	cr_expect_null(back[1].reset);
}

Test(heard, of_nothing_there_is_no_text)
{
	CLEANUP(str_finish) struct str text = STR_INIT(HEARD_TEXT_MAX);
	heard_write(&text, &full, 0);
	cr_expect_eq(text.len, 0);
}

/* The largest there can be is cut to what may be kept, and is still read. */
Test(heard, it_is_bounded)
{
	CLEANUP(arena_finish) struct arena arena = {0};
	CLEANUP(str_finish) struct str text = STR_INIT(HEARD_TEXT_MAX);
	char part[254], why[2000];
	memset(part, 'n', sizeof part - 1);
	part[sizeof part - 1] = '\0';
	for (size_t i = 0; i + 2 < sizeof why; i += 2) {
		memcpy(why + i, "\xc3\xa4", 3); /* of two bytes each */
	}
	struct heard list[HEARD_MAX], back[HEARD_MAX];
	for (size_t i = 0; i < HEARD_MAX; i++) {
		list[i] = (struct heard){part, part, why, part, part, part};
	}
	size_t count = 0;
	struct fault f = {0};
	heard_write(&text, list, HEARD_MAX);
	cr_expect_lt(text.len, HEARD_TEXT_MAX);
	cr_assert_eq(heard_decode(str_text(&text), &arena, back, &count, &f), 0, "%s", f.message);
	cr_expect_gt(count, 8);
	cr_expect_lt(count, HEARD_MAX);
	cr_expect_eq(strlen(back[0].why), 100);
	/* As they are, all of them fit. */
	str_reset(&text);
	for (size_t i = 0; i < HEARD_MAX; i++) {
		list[i] = (struct heard){"GPU-8c1f3c2e-1b1e-4d9c-9d5b-0a4f6f1d2c3b",
			"node-with-a-name", "XID 79: GPU has fallen off the bus",
			"5d4c1f3c-1b1e-4d9c-9d5b-0a4f6f1d2c3b",
			"7e4c1f3c-1b1e-4d9c-9d5b-0a4f6f1d2c3b", NULL};
	}
	heard_write(&text, list, HEARD_MAX);
	cr_assert_eq(heard_decode(str_text(&text), &arena, back, &count, &f), 0, "%s", f.message);
	cr_expect_eq(count, HEARD_MAX, "%zu bytes", text.len);
}

Test(heard, what_is_not_understood_is_not_believed)
{
	static const char *const bad[] = {
		"{\"v\":2,\"events\":[]}",
		"{\"events\":[]}",
		"{\"v\":1,\"events\":{}}",
		"{\"v\":1,\"events\":[{\"uuid\":\"g\",\"node\":\"n\"}]}",
		"{\"v\":1,\"events\":[{\"uuid\":\"\",\"node\":\"n\",\"agent\":\"a\"}]}",
		"{\"v\":1,\"events\":[1]}",
		"[]",
		"no",
	};
	for (size_t i = 0; i < COUNT_OF(bad); i++) {
		CLEANUP(arena_finish) struct arena arena = {0};
		struct heard back[HEARD_MAX];
		size_t count = 7;
		struct fault f = {0};
		cr_expect_eq(heard_decode(bad[i], &arena, back, &count, &f), -1, "%s", bad[i]);
		cr_expect_eq(count, 7);
		cr_expect_eq(f.kind, FAULT_INVALID);
	}
	CLEANUP(arena_finish) struct arena arena = {0};
	CLEANUP(str_finish) struct str many = STR_INIT(1 << 16);
	struct heard back[HEARD_MAX];
	size_t count = 0;
	struct fault f = {0};
	str_append_text(&many, "{\"v\":1,\"events\":[");
	for (int i = 0; i <= HEARD_MAX; i++) {
		str_append_format(&many, "%s{\"uuid\":\"g%d\",\"node\":\"n\",\"agent\":\"a\"}",
			i > 0 ? "," : "", i);
	}
	str_append_text(&many, "]}");
	cr_expect_eq(heard_decode(str_text(&many), &arena, back, &count, &f), -1);
	cr_expect_eq(f.kind, FAULT_LIMIT);
}

Test(heard, the_lease_has_it_in_an_annotation)
{
	CLEANUP(arena_finish) struct arena arena = {0};
	struct lease l;
	struct fault f = {0};
	const char *with = "{\"metadata\":{\"name\":\"l\",\"annotations\":{\"aliquot.dev/heard\":"
			   "\"text\"}},\"spec\":{}}";
	const char *without = "{\"metadata\":{\"name\":\"l\"},\"spec\":{}}";
	cr_assert_eq(lease_decode(with, strlen(with), &arena, &l, &f), 0);
	cr_expect_str_eq(l.heard, "text");
	cr_assert_eq(lease_decode(without, strlen(without), &arena, &l, &f), 0);
	cr_expect_null(l.heard);
}
