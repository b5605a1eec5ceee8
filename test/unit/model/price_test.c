/* Prices as people write them. */
#include "model/price.h"

#include <criterion/criterion.h>

Test(price, numbers)
{
	static const struct {
		const char *text;
		int64_t micro; /* -1: refused */
	} rows[] = {
		{"2", 2000000},
		{"2.00", 2000000},
		{"0.5", 500000},
		{"0.1578", 157800},
		{"0.12345678", 123456},
		{"0", 0},
		{"100000", INT64_C(100000000000)},
		{"100000.01", -1},
		{"1000000", -1},
		{"", -1},
		{".5", -1},
		{"5.", -1},
		{"-1", -1},
		{"+1", -1},
		{"1e3", -1},
		{"1,5", -1},
		{"1.2.3", -1},
		{" 1", -1},
		{"$2", -1},
	};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		int64_t micro = -1;
		bool read = price_parse(view_of(rows[i].text), &micro);
		cr_expect_eq(read, rows[i].micro >= 0, "%s", rows[i].text);
		cr_expect_eq(micro, rows[i].micro, "%s", rows[i].text);
	}
}

Test(price, a_list_finds_models_however_they_are_written)
{
	CLEANUP(arena_finish) struct arena arena = {0};
	struct prices p;
	struct fault f;
	cr_assert_eq(
		prices_parse(" NVIDIA-H100-80GB-HBM3=4.25, Tesla T4=0.35 ,*=1", &arena, &p, &f), 0);
	cr_expect_eq(p.count, 3);
	cr_expect_eq(prices_of(&p, "NVIDIA H100 80GB HBM3"), 4250000);
	cr_expect_eq(prices_of(&p, "tesla-t4"), 350000);
	cr_expect_eq(prices_of(&p, "Tesla-T40"), 1000000);
	cr_expect_eq(prices_of(&p, NULL), 1000000);
	cr_assert_eq(prices_parse("", &arena, &p, &f), 0);
	cr_expect_eq(prices_of(&p, "Tesla-T4"), PRICE_ABSENT);
}

Test(price, what_is_wrong_is_named)
{
	CLEANUP(arena_finish) struct arena arena = {0};
	static const char *const rows[] = {"T4", "=2", "T4=", "T4=two", "A100=1,T4=-1"};
	struct prices p;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct fault f = {0};
		cr_assert_eq(prices_parse(rows[i], &arena, &p, &f), -1, "%s", rows[i]);
		cr_expect_not_null(strstr(f.message, "write MODEL=2.00"), "%s", f.message);
	}
	CLEANUP(str_finish) struct str many = STR_INIT(8192);
	for (int i = 0; i < PRICES_MAX; i++) {
		str_append_format(&many, "M%d=1,", i);
	}
	struct fault f = {0};
	cr_expect_eq(prices_parse(str_text(&many), &arena, &p, &f), -1);
	cr_expect_eq(f.kind, FAULT_LIMIT);
}

Test(price, text)
{
	char text[PRICE_TEXT_MAX];
	cr_expect_str_eq(price_format(500000, text), "0.5");
	cr_expect_str_eq(price_format(2000000, text), "2");
	cr_expect_str_eq(price_format(0, text), "0");
	cr_expect_str_eq(price_format(1234567, text), "1.234567");
	cr_expect_str_eq(price_format(INT64_C(100000000000), text), "100000");
}
