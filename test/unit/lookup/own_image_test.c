/* Capacity pods run our own image, and must not run that of a sidecar that somebody injected. */
#include "lookup/own_image.h"

#include <criterion/criterion.h>

#include "base/cleanup.h"
#include "base/str.h"

Test(own_image, is_that_of_the_container_by_its_name)
{
	static const struct {
		const char *containers, *image;
	} cases[] = {
		{"[{\"name\":\"istio-proxy\",\"image\":\"p\"},{\"name\":\"controller\",\"image\":"
		 "\"a\"}]",
			"a"},
		{"[{\"name\":\"controller\",\"image\":\"a\"},{\"name\":\"x\",\"image\":\"p\"}]",
			"a"},
		{"[{\"name\":\"renamed\",\"image\":\"a\"}]", "a"},
		{"[{\"name\":\"one\",\"image\":\"a\"},{\"name\":\"two\",\"image\":\"b\"}]", NULL},
		{"[{\"name\":\"controller\"}]", NULL},
		{"[{\"name\":\"controller\",\"image\":7}]", NULL},
		{"[3,{}]", NULL},
		{"[]", NULL},
		{"{}", NULL},
	};
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		json_t *containers = json_loads(cases[i].containers, 0, NULL);
		cr_assert_not_null(containers);
		const char *found = own_image(containers);
		cr_assert(text_equals(found, cases[i].image), "%s: %s", cases[i].containers,
			found != NULL ? found : "none");
		json_decref(containers);
	}
	cr_assert_null(own_image(NULL));
}
