/* Which of a pod's containers is ours: what injects sidecars may put its own before it. */
#ifndef LOOKUP_OWN_IMAGE_H
#define LOOKUP_OWN_IMAGE_H

#include <jansson.h>

/* Of a list of containers: the image of the one called `controller`, or of the only one. Borrowed;
 * NULL: there is none, or it has none. */
const char *own_image(const json_t *containers);

#endif
