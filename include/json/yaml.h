/* YAML read into the same values as JSON, remembering where each stood, for kubeconfig and
 * configuration.
 *
 * One document. Plain null, ~, true, false and whole decimal numbers are typed, everything else is
 * text; what is quoted is always text. Refused with a position, FAULT_INVALID: anchors, aliases,
 * tags other than !!str, keys that are not text, a key twice, a second document. FAULT_LIMIT: more
 * than DOC_BYTES_MAX or DOC_DEPTH_MAX. Messages read "kubeconfig:12:3: mapping expected". */
#ifndef JSON_YAML_H
#define JSON_YAML_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/fault.h"
#include "base/vec.h"

#define DOC_BYTES_MAX ((size_t)1 << 20)
#define DOC_DEPTH_MAX 32

struct doc_place {
	const json_t *parent; /* borrowed; NULL for the root */
	const char *key;      /* in the arena; NULL for an element */
	size_t index;
	uint32_t line, column; /* from 1 */
};

/* A zeroed struct is an empty document. */
struct doc {
	json_t *root;	  /* owned; NULL when the text was empty */
	const char *name; /* in the arena */
	struct arena arena;
	VEC_OF(struct doc_place) places;
};

/* `name` is how messages call the text: a file's name. *ret_doc is filled only on success. */
MUST_CHECK int doc_parse(
	const char *text, size_t n, const char *name, struct doc *ret_doc, struct fault *ret_fault);
void doc_finish(struct doc *d);

/* Sets FAULT_INVALID "name:line:column: …" for the member `key` of an object, or the object itself
 * when the member is not there (parent NULL: the document). Returns -1. */
int doc_fault(const struct doc *d, const json_t *parent, const char *key, struct fault *ret_fault,
	const char *format, ...) PRINTF(5, 6);
/* The same for an element of an array. */
int doc_fault_item(const struct doc *d, const json_t *array, size_t index, struct fault *ret_fault,
	const char *format, ...) PRINTF(5, 6);

#endif
