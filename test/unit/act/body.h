/* What a request's body says, for tests of it. */
#ifndef TEST_UNIT_ACT_BODY_H
#define TEST_UNIT_ACT_BODY_H

#include <jansson.h>

#include "fixture.h"

#define POD_ANSWER                                                                                 \
	"{\"kind\":\"Pod\",\"metadata\":{\"namespace\":\"n\",\"name\":\"p\",\"uid\":\"u\","        \
	"\"resourceVersion\":\"99\"},\"spec\":{},\"status\":{}}"

static inline void expect_json(const char *found, const char *wanted)
{
	json_t *a = json_loads(found, JSON_DECODE_ANY, NULL);
	json_t *b = json_loads(wanted, JSON_DECODE_ANY, NULL);
	cr_assert_not_null(a, "not JSON: %s", found);
	cr_assert_not_null(b, "not JSON: %s", wanted);
	cr_expect(json_equal(a, b), "found\n%s\nwanted\n%s", found, wanted);
	json_decref(a);
	json_decref(b);
}

static inline json_t *spec_of(const struct fixture *f, json_t **root)
{
	*root = json_loads(fake_last(f->wire)->body, 0, NULL);
	cr_assert_not_null(*root);
	return json_object_get(*root, "spec");
}

#endif
