/* The entry point of every unit test: Criterion's own, spelled out so that every test binary has
 * one. Criterion runs each test in a worker of its own, so that a crash is one failed test and not
 * the end of the run. */
#include <criterion/criterion.h>

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
