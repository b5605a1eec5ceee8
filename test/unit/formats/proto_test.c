/* Protocol buffers, field by field. */
#include "proto.h"

#include <criterion/criterion.h>

#include "proto_lines.h"

static struct view bytes(const char *p, size_t n)
{
	return (struct view){p, n};
}
#define BYTES(literal) bytes(literal, sizeof(literal) - 1)

Test(proto, reads_each_kind)
{
	struct view rest = BYTES("\x08\x96\x01\x12\x02hi\x19"
				 "12345678"
				 "\x25"
				 "1234");
	struct proto_field f;
	cr_assert_eq(proto_next(&rest, &f), 1);
	cr_assert(f.number == 1 && f.kind == PROTO_NUMBER && f.value == 150);
	cr_assert_eq(proto_next(&rest, &f), 1);
	cr_assert(f.number == 2 && f.kind == PROTO_BYTES && view_equals(f.bytes, "hi"));
	cr_assert_eq(proto_next(&rest, &f), 1);
	cr_assert(f.number == 3 && f.kind == PROTO_EIGHT && view_equals(f.bytes, "12345678"));
	cr_assert_eq(proto_next(&rest, &f), 1);
	cr_assert(f.number == 4 && f.kind == PROTO_FOUR && view_equals(f.bytes, "1234"));
	cr_assert_eq(proto_next(&rest, &f), 0);
}

Test(proto, the_largest_number)
{
	struct view rest = BYTES("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01");
	struct proto_field f;
	cr_assert_eq(proto_next(&rest, &f), 1);
	cr_assert_eq(f.value, UINT64_MAX);
}

Test(proto, what_is_no_field)
{
	const struct view bad[] = {
		BYTES("\x08"),	     /* no value */
		BYTES("\x08\x80"),   /* half of one */
		BYTES("\x12\x03hi"), /* longer than what is there */
		BYTES("\x12\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01hi"),
		BYTES("\x19"
		      "1234567"),
		BYTES("\x25"
		      "123"),
		BYTES("\x02\x00"),		   /* field 0 */
		BYTES("\x0b"),			   /* a group */
		BYTES("\x0e\x00"),		   /* a kind that there is not */
		BYTES("\x80\x80\x80\x80\x10\x00"), /* a field beyond the last */
		BYTES("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02"), /* more than 64 bits */
		BYTES("\x08\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01"),
	};
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct view rest = bad[i];
		struct proto_field f = {.number = 77};
		cr_assert_eq(proto_next(&rest, &f), -1, "%zu", i);
		cr_assert(rest.p == bad[i].p && f.number == 77, "%zu: nothing is taken", i);
	}
}

Test(proto, finds_by_number_and_passes_over_others)
{
	struct view rest = BYTES("\x0a\x01x\x18\x05\x12\x01y\x12\x01z"), found;
	cr_assert_eq(proto_find(&rest, 2, &found), 1);
	cr_assert(view_equals(found, "y"));
	cr_assert_eq(proto_find(&rest, 2, &found), 1);
	cr_assert(view_equals(found, "z"));
	cr_assert_eq(proto_find(&rest, 2, &found), 0);
	rest = BYTES("\x10\x05");
	cr_assert_eq(proto_find(&rest, 2, &found), -1, "a number where bytes belong");
}
