/* Numbers of the Prometheus formats: exact, without a locale, and never zero for want of a number.
 */
#include "formats/figure.h"

#include <criterion/criterion.h>

struct row {
	const char *text;
	enum figure_state state;
	int64_t micro;
};

Test(figure, what_is_read)
{
	static const struct row rows[] = {
		{"0", FIGURE_NUMBER, 0},
		{"37", FIGURE_NUMBER, 37000000},
		{"+37", FIGURE_NUMBER, 37000000},
		{"-1.5", FIGURE_NUMBER, -1500000},
		{".5", FIGURE_NUMBER, 500000},
		{"5.", FIGURE_NUMBER, 5000000},
		{"0.4375", FIGURE_NUMBER, 437500},
		{"1.2e+06", FIGURE_NUMBER, 1200000000000},
		{"1E3", FIGURE_NUMBER, 1000000000},
		{"8.128902e-03", FIGURE_NUMBER, 8128},
		{"0.0000009", FIGURE_NUMBER, 0},
		{"0.2800000000000000266453525910", FIGURE_NUMBER, 280000},
		{"123456789012345678901234567890e-24", FIGURE_NUMBER, 123456789012},
		{"0e9999", FIGURE_NUMBER, 0},
		{"1e-99999999", FIGURE_NUMBER, 0},
		{"9223372036854", FIGURE_NUMBER, 9223372036854000000},
		{"9223372036855", FIGURE_HUGE, 0},
		{"9223372036854775794", FIGURE_HUGE, 0}, /* what DCGM writes for "blank" */
		{"1e99999999", FIGURE_HUGE, 0},
		{"NaN", FIGURE_NAN, 0},
		{"nan", FIGURE_NAN, 0},
		{"+Inf", FIGURE_INFINITE, 0},
		{"-Inf", FIGURE_INFINITE, 0},
		{"infinity", FIGURE_INFINITE, 0},
	};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct figure f = {0};
		cr_assert(figure_parse(view_of(rows[i].text), &f), "%s", rows[i].text);
		cr_expect_eq(f.state, rows[i].state, "%s", rows[i].text);
		cr_expect_eq(f.micro, rows[i].micro, "%s: %lld", rows[i].text, (long long)f.micro);
	}
}

Test(figure, what_is_refused)
{
	static const char *const rows[] = {"", "-", "+", ".", "e5", "1e", "1e+", "0x10", "0x1p3",
		"1,5", "1_000", "1 ", " 1", "--1", "1.2.3", "1e5.0", "in", "infinit", "nano",
		"+nan", "1f", "true", "\xc2\xb9"};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct figure f = {.state = FIGURE_HUGE, .micro = 7};
		cr_expect_not(figure_parse(view_of(rows[i]), &f), "%s", rows[i]);
		cr_expect(f.state == FIGURE_HUGE && f.micro == 7, "%s: left as it was", rows[i]);
	}
}
