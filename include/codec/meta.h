/* The little that every object of the API has: who it is, and how far a watch has come. */
#ifndef CODEC_META_H
#define CODEC_META_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/alloc.h"
#include "base/fault.h"
#include "json/projection.h"

struct meta {
	const char *ns; /* text in the arena; "" where absent */
	const char *name;
	const char *uid;
	const char *resource_version;
	bool initial_events_end; /* the bookmark that ends a watch-list's initial events */
};

/* What a watch keeps of objects of that shape: with it, what it reads of every kind. */
const struct slice_keep *meta_projection(const struct shape *shape);

MUST_CHECK int meta_decode(const char *json, size_t n, struct arena *arena, struct meta *ret_meta,
	struct fault *ret_fault);

/* Who the object is that a splitter hands on, or could not (slice_marked): nothing is parsed for
 * it, and initial_events_end is not looked for. meta_projection() marks these members. False: no
 * name came before the end, or before the object was given up. */
enum meta_mark { META_NAME = 1, META_NAMESPACE, META_UID, META_VERSION };
MUST_CHECK bool meta_marked(const struct slice *slice, struct arena *arena, struct meta *ret_meta);

#endif
