/* What is squeezed comes back, whatever it was; and bytes that were not made so are refused. */
#include <criterion/criterion.h>

#include "base/alloc.h"
#include "base/rand.h"
#include "base/squeeze.h"

static const struct view words[] = {
	{"pod-template-hash app.kubernetes.io/name ReplicaSet", 51}, {"web-5d8f7c6b9-abcde", 19}};

static struct str squeezed_of(const char *p, size_t n)
{
	struct str out = STR_INIT(1 << 20);
	squeeze((struct view){p, n}, words, COUNT_OF(words), &out);
	cr_assert_not(out.overflow);
	return out;
}

static void comes_back(const char *p, size_t n)
{
	CLEANUP(str_finish) struct str out = squeezed_of(p, n);
	struct view made = {str_text(&out), out.len};
	cr_assert_leq(out.len, n + 4);
	cr_assert_eq(squeezed_size(made), n);
	char *back = xmalloc(n + 1);
	cr_assert(unsqueeze(made, words, COUNT_OF(words), back));
	cr_assert_eq(memcmp(back, p, n), 0);
	free(back);
}

Test(squeeze, what_is_squeezed_comes_back)
{
	comes_back("", 0);
	comes_back("a", 1);
	comes_back("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", 68);
	comes_back("ReplicaSet", 10);
	struct rng rng;
	rng_seed(&rng, 7);
	for (int i = 0; i < 3000; i++) {
		char bytes[700];
		size_t n = rng_below(&rng, sizeof bytes);
		uint64_t kinds = 1 + rng_below(&rng, 255);
		for (size_t k = 0; k < n; k++) {
			bytes[k] = (char)rng_below(&rng, kinds);
		}
		comes_back(bytes, n);
	}
}

Test(squeeze, what_is_too_large_is_kept_as_it_is)
{
	size_t n = SQUEEZE_MAX;
	char *large = xcalloc(n, 1);
	comes_back(large, n);
	CLEANUP(str_finish) struct str out = squeezed_of(large, n);
	cr_expect_gt(out.len, n);
	comes_back(large, n - 70);
	free(large);
}

Test(squeeze, what_repeats_becomes_small)
{
	const char *text = "ReplicaSet web-5d8f7c6b9 pod-template-hash 5d8f7c6b9 "
			   "app.kubernetes.io/name web-5d8f7c6b9";
	CLEANUP(str_finish) struct str out = squeezed_of(text, strlen(text));
	cr_expect_lt(out.len, strlen(text) / 2, "%zu of %zu", out.len, strlen(text));
}

/* They come from nobody but us; what is read out of bounds would be found by the sanitizers. */
Test(squeeze, other_bytes_are_refused_or_read_within_bounds)
{
	struct rng rng;
	rng_seed(&rng, 11);
	const char *text = "ReplicaSet web-5d8f7c6b9 pod-template-hash 5d8f7c6b9";
	int refused = 0;
	for (int i = 0; i < 20000; i++) {
		CLEANUP(str_finish) struct str out = squeezed_of(text, strlen(text));
		size_t n = rng_below(&rng, out.len + 1);
		char *bytes = xmemdup(str_text(&out), out.len + 1);
		bytes[rng_below(&rng, out.len)] = (char)rng_below(&rng, 256);
		struct view broken = {bytes, i % 2 == 0 ? n : out.len};
		size_t size = squeezed_size(broken);
		char *back = xmalloc((size < 4096 ? size : 0) + 1);
		refused += size >= 4096 || !unsqueeze(broken, words, COUNT_OF(words), back);
		free(back);
		free(bytes);
	}
	cr_expect_gt(refused, 5000);
}

Test(squeeze, a_uuid_takes_its_bytes)
{
	const char *text = "4f9f1892-9642-4d7d-8c82-481c7bd61ca1";
	CLEANUP(str_finish) struct str out = squeezed_of(text, strlen(text));
	cr_expect_eq(out.len, 1 + 3 + 16, "%zu", out.len);
	comes_back(text, strlen(text));
	/* Once more it is what stands before. */
	const char *twice = "uid 4f9f1892-9642-4d7d-8c82-481c7bd61ca1 of "
			    "4f9f1892-9642-4d7d-8c82-481c7bd61ca1.";
	CLEANUP(str_finish) struct str again = squeezed_of(twice, strlen(twice));
	cr_expect_leq(again.len, 1 + (1 + 4) + 19 + (1 + 4) + 3 + (1 + 1), "%zu", again.len);
	comes_back(twice, strlen(twice));
}

Test(squeeze, what_is_nearly_a_uuid_comes_back_as_it_was)
{
	const char *uuid = "4f9f1892-9642-4d7d-8c82-481c7bd61ca1";
	for (size_t i = 0; i < strlen(uuid); i++) {
		for (const char *c = "-0Ffg/:`@"; *c != '\0'; c++) {
			char other[37];
			memcpy(other, uuid, sizeof other);
			other[i] = *c;
			comes_back(other, strlen(other));
			comes_back(other, i);
		}
	}
}

Test(squeeze, half_a_uuid_is_refused)
{
	const char *text = "4f9f1892-9642-4d7d-8c82-481c7bd61ca1";
	CLEANUP(str_finish) struct str out = squeezed_of(text, strlen(text));
	char back[64];
	for (size_t n = 1; n < out.len; n++) {
		CLEANUP(cleanup_free) char *cut = xmemdup(str_text(&out), n);
		cr_expect_not(unsqueeze((struct view){cut, n}, words, COUNT_OF(words), back));
	}
	/* One more than there is room for. */
	CLEANUP(cleanup_free) char *less = xmemdup(str_text(&out), out.len);
	less[0] = 35;
	cr_expect_not(unsqueeze((struct view){less, out.len}, words, COUNT_OF(words), back));
}
