/* Readers that several kinds share: quantities, sets of pairs, selector terms, metadata. */
#ifndef CODEC_PARTS_H
#define CODEC_PARTS_H

#include <jansson.h>

#include "base/alloc.h"
#include "base/fault.h"
#include "codec/meta.h"
#include "json/decode.h"
#include "json/slice.h"
#include "model/labels.h"

/* What the watch itself reads of every kind (codec/meta.h); spliced into each kind's metadata. */
#define PARTS_META_KEEP                                                                            \
	SLICE_KEEP_MARKED("name", META_NAME), SLICE_KEEP_MARKED("namespace", META_NAMESPACE),      \
		SLICE_KEEP_MARKED("uid", META_UID),                                                \
		SLICE_KEEP_MARKED("resourceVersion", META_VERSION)
#define PARTS_BOOKMARK	    "k8s.io/initial-events-end"
#define PARTS_BOOKMARK_KEEP SLICE_KEEP(PARTS_BOOKMARK)

/* decode_reader: a quantity, text or whole number, to an int64_t in thousandths or in units. */
int parts_read_milli(
	const json_t *value, struct arena *arena, void *field, struct fault *ret_fault);
int parts_read_units(
	const json_t *value, struct arena *arena, void *field, struct fault *ret_fault);

/* Is it a quantity, and exactly a whole number? */
bool parts_is_whole(const json_t *value);

/* Can an object be called so? Nobody checks the names in references; one that no object has cannot
 * be asked for, and "..", a slash or ten thousand letters would be another request. */
#define PARTS_NAME_MAX 253
bool parts_is_name(const char *text);

/* The members of an object (NULL: none), all text, sorted by key. `prefixes` is NULL, or ends with
 * NULL and only keys that begin with one of them are taken. */
MUST_CHECK int parts_read_pairs(const json_t *object, const char *const *prefixes,
	struct arena *arena, struct pairs *ret_pairs, struct fault *ret_fault);
/* {KEY, operator, values}, where the member KEY goes by that name. */
MUST_CHECK int parts_read_term(const json_t *object, const char *key, struct arena *arena,
	struct term *ret_term, struct fault *ret_fault);
/* An array of {key, operator, values} (NULL: none). */
MUST_CHECK int parts_read_terms(
	const json_t *array, struct arena *arena, struct terms *ret_terms, struct fault *ret_fault);
/* An array of {matchExpressions, matchFields} (NULL: none). */
MUST_CHECK int parts_read_node_terms(const json_t *array, struct arena *arena,
	struct node_term **ret_terms, uint32_t *ret_count, struct fault *ret_fault);
/* A metav1.LabelSelector (NULL: absent). */
MUST_CHECK int parts_read_selector(const json_t *object, struct arena *arena,
	struct selector *ret_selector, struct fault *ret_fault);

/* A text of a fixed list to its position; anything else is FAULT_INVALID. */
MUST_CHECK int parts_read_word(const json_t *value, const char *const *words, size_t count,
	size_t *ret_position, struct fault *ret_fault);

/* A text of ours on an object, of the one version that there is so far: bounded, no key twice. The
 * root is the caller's to release. */
#define PARTS_TEXT_VERSION 1
MUST_CHECK int parts_read_text(
	const char *text, size_t limit, json_t **ret_root, struct fault *ret_fault);

#endif
