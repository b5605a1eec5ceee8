/* Applying the difference of two values to the first gives the second. */
#include "diff.h"
#include "json_patch.h"

#include "base/cleanup.h"
#include "base/rand.h"

static json_t *parse(const char *text)
{
	json_t *value = json_loads(text, JSON_DECODE_ANY, NULL);
	cr_assert_not_null(value, "%s", text);
	return value;
}

static void differs(const char *before, const char *after, const char *expected)
{
	json_t *a = parse(before), *b = parse(after);
	CLEANUP(str_finish) struct str out = STR_INIT(100000);
	cr_assert(diff_write(a, b, &out));
	cr_assert_str_eq(str_text(&out), expected);
	json_decref(a);
	json_decref(b);
}

Test(diff, says_only_what_changed)
{
	differs("{\"a\":1}", "{\"a\":1}", "[]");
	differs("{\"a\":1}", "{\"a\":2}", "[{\"op\":\"replace\",\"path\":\"/a\",\"value\":2}]");
	differs("{\"a\":1}", "{}", "[{\"op\":\"remove\",\"path\":\"/a\"}]");
	differs("{}", "{\"m\":{\"a/b~c\":\"x\"}}",
		"[{\"op\":\"add\",\"path\":\"/m\",\"value\":{\"a/b~c\":\"x\"}}]");
	differs("{\"m\":{}}", "{\"m\":{\"a/b~c\":\"x\"}}",
		"[{\"op\":\"add\",\"path\":\"/m/a~1b~0c\",\"value\":\"x\"}]");
	differs("{\"l\":[1,2,3]}", "{\"l\":[1,3]}", "[{\"op\":\"remove\",\"path\":\"/l/1\"}]");
	differs("{\"l\":[1,3]}", "{\"l\":[1,2,3]}",
		"[{\"op\":\"add\",\"path\":\"/l/1\",\"value\":2}]");
	differs("{\"l\":[{\"n\":\"a\",\"v\":1},2]}", "{\"l\":[{\"n\":\"a\",\"v\":2},2,3]}",
		"[{\"op\":\"replace\",\"path\":\"/l/0/v\",\"value\":2},"
		"{\"op\":\"add\",\"path\":\"/l/2\",\"value\":3}]");
	differs("{\"a\":[1]}", "{\"a\":{\"b\":1}}",
		"[{\"op\":\"replace\",\"path\":\"/a\",\"value\":{\"b\":1}}]");
}

static json_t *make(struct rng *r, int depth)
{
	static const char *const keys[] = {"a", "b/c", "d~e", "f", "", "~1"};
	uint64_t kind = rng_below(r, depth > 0 ? 5 : 3);
	json_t *value;
	switch (kind) {
	case 0:
		return json_integer((json_int_t)rng_below(r, 3));
	case 1:
		return json_string(keys[rng_below(r, 6)]);
	case 2:
		return rng_below(r, 2) == 0 ? json_true() : json_null();
	case 3:
		value = json_array();
		for (uint64_t n = rng_below(r, 5); n > 0; n--) {
			json_array_append_new(value, make(r, depth - 1));
		}
		return value;
	default:
		value = json_object();
		for (uint64_t n = rng_below(r, 5); n > 0; n--) {
			json_object_set_new(value, keys[rng_below(r, 6)], make(r, depth - 1));
		}
		return value;
	}
}

Test(diff, applied_to_the_first_gives_the_second)
{
	struct rng r;
	rng_seed(&r, 42);
	for (int i = 0; i < 3000; i++) {
		json_t *a = json_pack("{s:o}", "x", make(&r, 4));
		json_t *b = json_pack("{s:o}", "x", make(&r, 4));
		CLEANUP(str_finish) struct str out = STR_INIT(1000000);
		cr_assert(diff_write(a, b, &out));
		json_t *patch = parse(str_text(&out));
		json_t *c = patched(a, patch);
		cr_assert(json_equal(b, c), "round %d: %s", i, str_text(&out));
		json_decref(a);
		json_decref(b);
		json_decref(c);
		json_decref(patch);
	}
}

Test(diff, that_does_not_fit_is_no_diff)
{
	json_t *a = parse("{}"), *b = parse("{\"a\":\"0123456789012345678901234567890123456789\"}");
	CLEANUP(str_finish) struct str out = STR_INIT(60);
	cr_assert_not(diff_write(a, b, &out));
	json_decref(a);
	json_decref(b);
}

/* 64 removals one by one at the most: the API server copies the array for each of them. */
Test(diff, an_array_that_shrinks_much_is_replaced)
{
	for (int left = 0; left <= 1; left++) {
		json_t *a = json_pack("{s:[]}", "x"), *b = json_pack("{s:[]}", "x");
		for (int i = 0; i < 100 + 64 + left; i++) {
			json_array_append_new(json_object_get(a, "x"), json_integer(i));
		}
		for (int i = 0; i < 100; i++) {
			json_array_append_new(json_object_get(b, "x"), json_integer(-i - 1));
		}
		CLEANUP(str_finish) struct str out = STR_INIT(100000);
		cr_assert(diff_write(a, b, &out));
		json_t *patch = parse(str_text(&out));
		json_t *c = patched(a, patch);
		cr_expect(json_equal(b, c));
		cr_expect_eq(json_array_size(patch), left == 0 ? 164 : 1);
		json_decref(a);
		json_decref(b);
		json_decref(c);
		json_decref(patch);
	}
}
