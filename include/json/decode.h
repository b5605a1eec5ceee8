/* Reading JSON: bytes to jansson values under limits, and members of values by their paths; values
 * become plain structs by table (json/fields.h). A jansson value never outlives its decoder. */
#ifndef JSON_DECODE_H
#define JSON_DECODE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/fault.h"
#include "base/str.h"

#define DECODE_DEPTH_MAX 64
#define DECODE_BYTES_MAX ((size_t)7 << 20)
/* A byte of JSON can become a hundred of memory: `{}` takes 230. So values are counted, an object
 * or an array as four and a comma as one, which bounds what one text takes to about 25 MB. The
 * largest object that a person would write has a tenth of that. */
#define DECODE_COST_MAX	      262144u
#define DECODE_COST_CONTAINER 4u

/* Once, in main, before anything else of this header: jansson's values come from a pool of ours. */
void decode_setup(void);

enum decode_flags {
	DECODE_PLAIN = 0,
	DECODE_UNIQUE = 1, /* a key twice in an object is FAULT_INVALID; else the last wins */
	/* U+0000, which no text of ours can hold, is read as U+FFFD; else it is FAULT_INVALID. For
	 * what is only looked at: one such character in a message of somebody else (what a
	 * container left as its last words, say) must not hide a pod that holds a GPU. */
	DECODE_MEND = 2,
};
/* The value of a whole text, FAULT_INVALID naming line and column, FAULT_LIMIT over
 * DECODE_BYTES_MAX, DECODE_DEPTH_MAX or DECODE_COST_MAX. *ret_root is owned by the caller:
 * CLEANUP(decode_release).
 */
MUST_CHECK int decode_parse(
	const char *p, size_t n, unsigned flags, json_t **ret_root, struct fault *ret_fault);
static inline void decode_release(json_t **root)
{
	json_decref(*root);
	*root = NULL;
}

/* The member at a path (see struct field in json/fields.h); *ret_value is NULL if absent or null.
 * FAULT_INVALID: something on the way is no object. Borrowed. */
MUST_CHECK int decode_member(
	const json_t *object, const char *path, const json_t **ret_value, struct fault *ret_fault);
/* The same, checked to be of a type. */
MUST_CHECK int decode_array(
	const json_t *object, const char *path, const json_t **ret_value, struct fault *ret_fault);
MUST_CHECK int decode_object(
	const json_t *object, const char *path, const json_t **ret_value, struct fault *ret_fault);
/* *ret_text is borrowed from the value; NULL if absent. */
MUST_CHECK int decode_text(
	const json_t *object, const char *path, const char **ret_text, struct fault *ret_fault);
/* An array of strings copied into the arena. */
MUST_CHECK int decode_texts(const json_t *array, struct arena *arena, const char ***ret_items,
	uint32_t *ret_count, struct fault *ret_fault);
/* Whatever is there, unchecked; NULL if absent or null. */
const json_t *decode_find(const json_t *object, const char *path);
/* NULL also if it is no text. Borrowed. */
const char *decode_find_text(const json_t *object, const char *path);

/* "string expected, integer found". Returns -1. */
int decode_mismatch(const json_t *value, const char *expected, struct fault *ret_fault);

#endif
