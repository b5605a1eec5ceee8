/* By its name, which manifests/controller.yaml gives it. */
#include "lookup/own_image.h"

#include "base/str.h"

#define CONTAINER "controller"

const char *own_image(const json_t *containers)
{
	const json_t *found = NULL;
	for (size_t i = 0; i < json_array_size(containers); i++) {
		const json_t *one = json_array_get(containers, i);
		if (text_equals(json_string_value(json_object_get(one, "name")), CONTAINER)) {
			found = one;
		}
	}
	if (found == NULL && json_array_size(containers) == 1) {
		found = json_array_get(containers, 0);
	}
	return json_string_value(json_object_get(found, "image"));
}
