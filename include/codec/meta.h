/* The little that every object of the API has: who it is, and how far a watch has come. */
#ifndef CODEC_META_H
#define CODEC_META_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/alloc.h"
#include "base/fault.h"

struct meta {
	const char *ns; /* text in the arena; "" where absent */
	const char *name;
	const char *uid;
	const char *resource_version;
	bool initial_events_end; /* the bookmark that ends a watch-list's initial events */
};

MUST_CHECK int meta_decode(const char *json, size_t n, struct arena *arena, struct meta *ret_meta,
	struct fault *ret_fault);

/* Of the beginning of an object: what a splitter kept of one until it was too large. API servers
 * write the metadata before anything that grows. */
MUST_CHECK int meta_decode_beginning(const char *json, size_t n, struct arena *arena,
	struct meta *ret_meta, struct fault *ret_fault);

#endif
