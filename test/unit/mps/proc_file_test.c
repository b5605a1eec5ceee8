/* Files of a process, and a variable in an environment. */
#include "proc_file.h"

#include "harness.h"

Test(proc, variables)
{
	static const char environment[] = "AB=1\0A=2\0A=3\0EMPTY=\0NOTHING\0=x";
	const struct view v = {environment, sizeof environment - 1};
	cr_expect(view_equals(proc_variable(v, "A"), "2"), "the first counts");
	cr_expect(view_equals(proc_variable(v, "AB"), "1"));
	cr_expect(view_equals(proc_variable(v, "EMPTY"), ""));
	cr_expect(view_equals(proc_variable(v, "NOTHING"), ""));
	cr_expect(view_equals(proc_variable(v, "B"), ""));
	cr_expect(view_equals(proc_variable((struct view){NULL, 0}, "A"), ""));
}

Test(proc, text_is_read_to_its_end_or_limit)
{
	CLEANUP(str_finish) struct str s = STR_INIT(PROC_BYTES_MAX);
	CLEANUP(str_finish) struct str tiny = STR_INIT(2);
	cr_assert(proc_text("/proc", getpid(), "comm", &s));
	cr_expect_eq(s.p[s.len - 1], '\n');
	cr_expect_not(proc_text("/proc", getpid(), "comm", &tiny), "more than it takes");
	cr_expect_not(proc_text("/proc", getpid(), "no-such", &s));
	cr_expect_not(proc_text("/proc", 0, "comm", &s));
	cr_expect_eq(s.len, 0);
}
