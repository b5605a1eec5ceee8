/* The entry point of every unit test. Criterion isolates each test in a worker that leaves by _exit, so a
 * leak is looked for at the end of each test, inside the worker. */
#include <criterion/criterion.h>
#include <criterion/hooks.h>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/lsan_interface.h>
#endif

ReportHook(POST_TEST)(struct criterion_test_stats *stats)
{
	(void)stats;
}

TestSuite(all);

int main(int argc, char **argv)
{
	struct criterion_test_set *tests = criterion_initialize();
	int result = 0;
	if (criterion_handle_args(argc, argv, true)) {
		result = !criterion_run_all_tests(tests);
	}
	criterion_finalize(tests);
	return result;
}
