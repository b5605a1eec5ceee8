/* What a splitter keeps of an object, by the table of its fields (json/fields.h). */
#ifndef JSON_PROJECTION_H
#define JSON_PROJECTION_H

#include "json/fields.h"
#include "json/slice.h"

/* The paths of all rows, first those of `base` (NULL: none). Of a list or an object what its own
 * table has is kept, of a map its `keys`, of anything else all. Made at the first call for that
 * shape, and kept. */
const struct slice_keep *fields_projection(const struct shape *base, const struct shape *shape);

#endif
