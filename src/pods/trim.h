/* What the webhook never looks at leaves a request before it is parsed: managedFields, volumes and
 * the like are half of a pod's bytes and more than half of the time that parsing takes. Array
 * elements all stay, so that the indexes of a patch are those of the object as the API server has
 * it. */
#ifndef PODS_TRIM_H
#define PODS_TRIM_H

#include <stddef.h>

#include "base/str.h"

/* What one review may cost: nothing that a person writes comes near. Beyond, the pod is left whole
 * before anything is parsed, and the rest of the bytes are not even looked at. */
#define TRIM_BYTES_MAX ((size_t)1 << 20) /* as they come */
#define TRIM_COST_MAX  8192u		 /* of what is kept, counted as DECODE_COST_MAX is */
#define TRIM_WIDTH_MAX 1024u		 /* members of one object, elements of one array */
#define TRIM_LIST_MAX  128u		 /* of metadata or spec: containers, tolerations, owners */

enum trim {
	TRIM_DONE,
	TRIM_BROKEN,	/* not JSON that could be followed to its end within DECODE_DEPTH_MAX
			   levels, or out is full: out is of no use */
	TRIM_TOO_LARGE, /* so is it then */
};

/* Appends the trimmed text of an AdmissionReview. What comes out of malformed bytes is malformed
 * too, or what was malformed is gone. */
enum trim trim_review(const char *p, size_t n, struct str *out);

/* The text of request.uid, found without parsing, for an answer about a review that is not parsed.
 * Empty: there is none among the first bytes, where API servers write it. */
struct view trim_uid(const char *p, size_t n);

#endif
