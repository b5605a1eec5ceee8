/* The entry point of every unit test: Criterion's own, spelled out so that every test binary has
 * one. Criterion runs each test in a worker of its own, so that a crash is one failed test and not
 * the end of the run. */
#include <criterion/criterion.h>
#include <criterion/internal/ordered-set.h>

/* What hangs is one failed test too. The time is for a test that gives way to all else on the
 * machine. All have the same: where tests side by side have several, Criterion 2.4 loses clocks and
 * what they hold. */
#define TEST_S 600

/* Criterion compares texts with libgit2, which reads every certificate that the machine trusts as
 * it starts, in the worker of each test: more than what most tests compute, and several times that
 * under a sanitizer. Mbed TLS, which nobody here uses, finds none. */
int mbedtls_x509_crt_parse_file(void *chain, const char *path);
int mbedtls_x509_crt_parse_file(void *chain, const char *path)
{
	(void)chain;
	(void)path;
	return 0;
}

static void bound(struct criterion_test_set *all)
{
	for (struct criterion_ordered_set_node *n = all->suites->first; n != NULL; n = n->next) {
		struct criterion_suite_set *suite = (struct criterion_suite_set *)(n + 1);
		for (struct criterion_ordered_set_node *t = suite->tests->first; t != NULL;
			t = t->next) {
			((struct criterion_test *)(t + 1))->data->timeout = TEST_S;
		}
	}
}

int main(int argc, char **argv)
{
	struct criterion_test_set *tests = criterion_initialize();
	int result = 0;
	bound(tests);
	if (criterion_handle_args(argc, argv, true)) {
		result = !criterion_run_all_tests(tests);
	}
	criterion_finalize(tests);
	return result;
}
