/* One table per object, one row per field: the member of the JSON at a path is this member of a
 * struct, as this kind of value. Three things follow from a table: how the object is read, how it
 * is written, and what a splitter keeps of it.
 *
 *     static const struct field lease_fields[] = {
 *             FIELD("metadata.name", text, AT(lease, name), .required = true),
 *             FIELD("spec.renewTime", time, AT(lease, renew_ms)),
 *     };
 *     static const struct shape lease_shape = {SHAPE(lease, lease_fields), .called = "lease"};
 *
 * Unknown members are ignored, null counts as absent, an absent member leaves the field as it was,
 * and a member of another type is FAULT_INVALID naming path and types ("spec.nodeName: string
 * expected, integer found"). Text is copied into the caller's arena.
 *
 * What is computed of several members, bounded over many elements or has a grammar of its own is no
 * row: it stands in `finish`, or in a kind beside the table. */
#ifndef JSON_FIELDS_H
#define JSON_FIELDS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/fault.h"
#include "base/str.h"
#include "json/build.h"

struct field;
struct shape;

/* What is being read. */
struct reading {
	const json_t *object;	   /* whose table it is */
	const struct field *field; /* the row; NULL behind all rows */
	struct arena *arena;
	struct fault *fault; /* takes what is wrong; may be NULL */
};

/* How one kind of value stands in JSON and in a struct. An object that needs a kind of its own has
 * one beside its table. */
struct field_kind {
	/* One value, never null, into the member `to`. NULL: it is never read. */
	int (*read)(const struct reading *r, const json_t *value, void *to);
	/* The member `from`, as one value. NULL: it is never written. */
	void (*write)(struct build *b, const struct field *f, const void *from);
	/* A member that says nothing is left out: what this says, or zeros of so many bytes.
	 * Neither: there is none that does. */
	bool (*is_empty)(const struct field *f, const void *from);
	size_t bytes;
	/* It has no faults: what cannot be read is not there, nor what stands in its way. */
	bool lenient;
	/* Its faults name the path already. */
	bool names_path;
};

struct field {
	/* Members joined by '.', from the object; behind a '/' one more whose name may have dots:
	 * "metadata.annotations/example.com/name". */
	const char *path;
	const struct field_kind *kind; /* NULL: it is kept for whoever reads it by hand */
	size_t at;		       /* offsetof */
	bool required;		       /* reading: it must be there */
	bool always;		       /* writing: also where it says nothing */
	bool unwatched;		       /* splitting: it is not kept */
	int64_t min, max;	       /* integers: both 0 for any; lists: their elements; texts: */
				       /* so many bytes are written, 0 for all */
	size_t count_at;	       /* lists: offsetof the uint32_t that counts */
	const struct shape *inside;    /* lists and objects: what an element is */
	/* Of a list whose elements are not kept: takes one of them, which is the object that is
	 * read, into the struct. */
	int (*each)(const struct reading *r, const void *item, void *noun);
	const char *const *words;	 /* words: by number, NULL ends */
	const char *(*name)(unsigned n); /* names: of each number up to `max` */
	/* Maps: the keys that are read, NULL ends; one that ends with a '*' is each that begins
	 * so. NULL: all. */
	const char *const *keys;
	uint32_t bytes; /* splitting: as `most` of struct slice_keep */
	uint8_t mark;	/* and as its `mark` */
	/* Writing: whether this struct has it at all; NULL: it has. */
	bool (*when)(const void *noun);
};

#define FIELD(name, what, ...)                                                                     \
	{                                                                                          \
		.path = name, .kind = &field_##what, __VA_ARGS__                                   \
	}
#define FIELD_KEPT(name)                                                                           \
	{                                                                                          \
		.path = name                                                                       \
	}
#define AT(type, member)       .at = offsetof(struct type, member)
#define COUNT_AT(type, member) .count_at = offsetof(struct type, member)
#define WORDS(...)	       ((const char *const[]){__VA_ARGS__, NULL})
#define WORDS_NONE	       ((const char *const[]){NULL})

/* A whole struct. */
struct shape {
	const struct field *fields;
	size_t count;
	size_t size;
	size_t given;	      /* the caller gets so much of it, its beginning; 0: all */
	const void *defaults; /* what it is before anything is read; NULL: zeros */
	/* What of it no table can say: after the rows, FAULT_INVALID as they. May be NULL. */
	int (*finish)(const struct reading *r, void *noun);

	/* Objects of an API: what faults call it, and the texts by which they name it. */
	const char *called;
	bool named, in_namespace;
	size_t name_at, ns_at;
	unsigned flags; /* of decode_parse */
	size_t limit;	/* bytes of its text; 0: those of decode_parse */
};

#define SHAPE(type, list) .fields = list, .count = COUNT_OF(list), .size = sizeof(struct type)
#define SHAPE_NAME(word, type, name)                                                               \
	.called = word, .named = true, .name_at = offsetof(struct type, name)
#define SHAPE_NAMES(word, type, ns, name)                                                          \
	SHAPE_NAME(word, type, name), .in_namespace = true, .ns_at = offsetof(struct type, ns)

extern const struct field_kind field_text;  /* const char *, in the arena */
extern const struct field_kind field_flag;  /* bool */
extern const struct field_kind field_i32;   /* int32_t */
extern const struct field_kind field_i64;   /* int64_t */
extern const struct field_kind field_time;  /* int64_t: RFC 3339 to milliseconds since 1970 */
extern const struct field_kind field_micro; /* the same; written with six digits behind the point */
extern const struct field_kind
	field_note; /* const char *: what is no text is not there; read only */
extern const struct field_kind field_constant; /* the one of `words`; written only */
extern const struct field_kind field_word;     /* an enum: its number in `words` */
extern const struct field_kind field_name;   /* an enum: by its `name`; one unknown is not there */
extern const struct field_kind field_choice; /* bool: the second of two `words` */
extern const struct field_kind field_there;  /* bool: whether it is there; read only */
extern const struct field_kind field_texts;  /* const char **, and its count */
extern const struct field_kind field_list; /* structs as `inside`, and their count; "path[0]: …" */
extern const struct field_kind field_rows;   /* the same, where faults say "path: [0]: …" */
extern const struct field_kind field_each;   /* `each` takes structs as `inside`; read only */
extern const struct field_kind field_map;    /* nothing: it is an object, or a fault; read only */
extern const struct field_kind field_json;   /* const json_t *, borrowed: an object; read only */
extern const struct field_kind field_object; /* a struct as `inside` */

/* Over what is in *noun. It may be partly filled on failure. */
MUST_CHECK int fields_read(const json_t *object, const struct shape *shape, struct arena *arena,
	void *noun, struct fault *ret_fault);
/* The same over the defaults; *noun is written only where all could be read, and faults begin with
 * what the object is called. */
MUST_CHECK int fields_fill(const json_t *object, const struct shape *shape, struct arena *arena,
	void *noun, struct fault *ret_fault);
struct field_items {
	void *items;
	uint32_t count;
};
/* The elements of an array, as `inside`; faults name one by its number: "[0]: …". */
MUST_CHECK int fields_read_list(const json_t *array, const struct shape *inside,
	struct arena *arena, struct field_items *ret_items, struct fault *ret_fault);
/* A whole object from its bytes. */
MUST_CHECK int fields_decode(struct view json, const struct shape *shape, struct arena *arena,
	void *noun, struct fault *ret_fault);

/* FAULT_INVALID: it is not between the field's `min` and `max`. */
MUST_CHECK int fields_in_range(const struct field *f, int64_t value, struct fault *ret_fault);
/* A text of a list of words (NULL ends) to its number; anything else is FAULT_INVALID. */
MUST_CHECK int fields_read_word(const json_t *value, const char *const *words, unsigned *ret_number,
	struct fault *ret_fault);

/* The members below a path ("": all) into the object that is open, in the order of the rows. */
void fields_write(struct build *b, const struct shape *shape, const char *below, const void *noun);

/* Appends the whole object; false if it did not fit. */
bool fields_encode(struct str *out, const struct shape *shape, const void *noun);

#endif
