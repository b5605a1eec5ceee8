/* The numbers of a policy as bytes: each field comes back, and what no field can hold is refused.
 */
#include <criterion/criterion.h>

#include "base/alloc.h"
#include "pack_parts.h"

/* Filled with ones, so that a field that is left out shows as zero. */
Test(pack_sizing, every_field_comes_back)
{
	CLEANUP(str_finish) struct str bytes = STR_INIT(4096);
	CLEANUP(str_finish) struct str again = STR_INIT(4096);
	CLEANUP(arena_finish) struct arena arena = {0};
	struct sizing s;
	memset(&s, 1, sizeof s);
	s.preallocated = PREALLOCATED_SHRINK;
	pack_sizing(&bytes, &s);
	struct unpack u = {.p = bytes.p, .n = bytes.len, .arena = &arena};
	struct sizing got = unpack_sizing(&u);
	cr_assert_not(u.bad);
	cr_assert_eq(u.n, 0);
	pack_sizing(&again, &got);
	cr_assert_eq(bytes.len, again.len);
	size_t lost = 0;
	for (size_t i = 0; i < sizeof got; i++) {
		lost += ((const char *)&got)[i] != ((const char *)&s)[i];
	}
	/* Between a bool and what follows it there may be room: three bytes, or seven. */
	cr_assert_leq(lost, 7 + 3 + 3 + 4, "%zu bytes are lost", lost);
	cr_assert_eq(got.heal_compute.hold_s, s.heal_compute.hold_s);
	cr_assert_eq(got.keeps_running, s.keeps_running);
	cr_assert_eq(got.preallocated, s.preallocated);
}

Test(pack_sizing, what_no_field_holds_is_refused)
{
	CLEANUP(arena_finish) struct arena arena = {0};
	static const int64_t bad[] = {3, -1, INT32_MAX};
	for (size_t i = 0; i < COUNT_OF(bad); i++) {
		CLEANUP(str_finish) struct str bytes = STR_INIT(4096);
		struct sizing s = SIZING_DEFAULT;
		s.preallocated = (enum preallocated)bad[i];
		pack_sizing(&bytes, &s);
		struct unpack u = {.p = bytes.p, .n = bytes.len, .arena = &arena};
		unpack_sizing(&u);
		cr_expect(u.bad, "%lld", (long long)bad[i]);
	}
}
