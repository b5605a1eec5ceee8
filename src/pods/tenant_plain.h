/* A tenant becomes the pod that a person wrote. */
#ifndef PODS_TENANT_PLAIN_H
#define PODS_TENANT_PLAIN_H

#include <jansson.h>
#include <stdbool.h>

struct tenant_marks {
	bool restored;	 /* `original` was followed */
	bool unreadable; /* there is one, and it makes no sense for this pod */
};

/* The pod as a person wrote it: a new reference to a value that shares every part that did not
 * change. Never fails: what has the wrong type is left for the decoder to complain about. */
json_t *tenant_plain(json_t *object, struct tenant_marks *ret_marks);
/* Is this an `original` that could be followed, as far as it can be told without its pod? */
bool tenant_original_reads(const char *text);

#endif
