/* Readers that several kinds share: quantities, sets of pairs, selector terms, metadata. */
#ifndef CODEC_PARTS_H
#define CODEC_PARTS_H

#include <jansson.h>

#include "base/alloc.h"
#include "base/fault.h"
#include "codec/condition.h"
#include "codec/meta.h"
#include "json/decode.h"
#include "json/fields.h"
#include "model/labels.h"
#include "model/pod.h"

/* Kinds of fields. */
extern const struct field_kind field_milli;  /* int64_t: a quantity, text or whole number, */
extern const struct field_kind field_units;  /* in thousandths or in units; read only */
extern const struct field_kind field_memory; /* int64_t: MiB, as text */
extern const struct field_kind field_pairs;  /* struct pairs, those of `keys`; read only */
/* const char *: the text that is there as base64; NULL, which is written as null: there is none, or
 * it is empty, has a NUL or more bytes than `max`. It may be a private key: what it passes through
 * is wiped. */
extern const struct field_kind field_base64;
extern const struct field_kind field_selector; /* struct selector; read only */

/* A quantity, text or whole number, in thousandths or in units. */
int parts_read_milli(const json_t *value, int64_t *ret_milli, struct fault *ret_fault);
int parts_read_units(const json_t *value, int64_t *ret_units, struct fault *ret_fault);

/* Is it a quantity, and exactly a whole number? */
bool parts_is_whole(const json_t *value);

/* Can an object be called so? Nobody checks the names in references; one that no object has cannot
 * be asked for, and "..", a slash or ten thousand letters would be another request. */
#define PARTS_NAME_MAX 253
bool parts_is_name(const char *text);

/* The members of an object (NULL: none), all text, sorted by key: those of `keys`, as of struct
 * field. */
MUST_CHECK int parts_read_pairs(const json_t *object, const char *const *keys, struct arena *arena,
	struct pairs *ret_pairs, struct fault *ret_fault);
/* struct term as {scopeName, operator, values}; struct node_term. */
extern const struct shape parts_scope_shape, parts_node_term_shape;
/* struct owner as one of metadata.ownerReferences */
extern const struct shape parts_owner_shape;
/* metadata.ownerReferences with that one */
void parts_write_owner(struct build *b, const struct owner *owner);
/* A metav1.LabelSelector (NULL: absent). */
MUST_CHECK int parts_read_selector(const json_t *object, struct arena *arena,
	struct selector *ret_selector, struct fault *ret_fault);

/* A text of ours on an object, of the one version that there is so far: bounded, no key twice. What
 * it says has the shape. */
#define PARTS_TEXT_VERSION 1
MUST_CHECK int parts_read_text(const char *text, const struct shape *shape, struct arena *arena,
	void *noun, struct fault *ret_fault);
/* Appends it; `by` names the write, NULL: nothing does. False if it did not fit. */
bool parts_write_text(struct str *out, const struct shape *shape, const void *noun, const char *by);

#endif
