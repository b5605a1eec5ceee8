/* The splitter: a resumable byte machine that cuts a streamed answer of the API server into
 * objects.
 *
 * A LIST (one document, the elements of its `items`) and a WATCH (one {"type":…,"object":{…}} after
 * another) come in pieces of any size; whatever the pieces, the same objects come out, one at a
 * time, each copied byte for byte through a projection, so that what nobody reads never reaches the
 * JSON parser. Memory is bounded by the largest projected object, not by the list.
 *
 * The caller owns the struct and the events; the slice owns its buffers. An object that exceeds a
 * limit is skipped and reported through on_oversize; the stream goes on. Only bytes that are not
 * JSON at all end it (FAULT_INVALID). */
#ifndef JSON_SLICE_H
#define JSON_SLICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"
#include "base/str.h"

#define SLICE_OBJECT_MAX ((size_t)3 << 20) /* projected bytes of one object */
/* Bytes of one watch line or list element as it came. The API server keeps 1.5 MiB of an object, in
 * a form in which a character takes one byte; here it may take six. */
#define SLICE_RAW_MAX	 ((uint64_t)16 << 20)
#define SLICE_DEPTH_MAX	 64 /* deeper objects are skipped like oversized ones */
#define SLICE_FRAMES_MAX 24 /* levels that a projection can look into */

/* Bytes of a member of a projected object (metadata, spec, status) from which on the bounded lists
 * in it take nothing more. */
#define SLICE_LISTS_MAX ((size_t)256 << 10)

/* A projection is a constant tree of what is kept. Of an object only the members that are listed
 * survive; `inside` says what survives of the member's value (NULL: all of it). Arrays are
 * transparent: `inside` applies to each element. A key that is spelled with escapes is listed
 * only by the empty prefix. A list of members ends with SLICE_END.
 *
 * What somebody may make as long as he likes can be bounded. A value that is kept whole is left out
 * if it is longer than `most` bytes. Of an array or a map further elements are left out once it has
 * taken so many: of a map those that only a prefix lists, and those that only the empty prefix
 * lists from half of it on. An object of which anything was left out so has a member more at its
 * end, SLICE_CUT: true. */
struct slice_keep {
	const char *key;
	size_t key_size;
	bool prefix;
	uint8_t mark;  /* where the value stands is remembered, see slice_marked; 0: it is not */
	uint32_t most; /* 0: unbounded */
	const struct slice_keep *inside; /* borrowed, constant */
};
#define SLICE_MARKS 4
#define SLICE_CUT   "cut"
/* clang-format off */
#define SLICE_KEEP(name)               {name, sizeof(name) - 1, false, 0, 0, NULL}
#define SLICE_KEEP_MARKED(name, mark)  {name, sizeof(name) - 1, false, mark, 0, NULL}
#define SLICE_KEEP_MOST(name, most)    {name, sizeof(name) - 1, false, 0, most, NULL}
#define SLICE_KEEP_IN(name, in)        {name, sizeof(name) - 1, false, 0, 0, in}
#define SLICE_KEEP_SOME(name, in, most) {name, sizeof(name) - 1, false, 0, most, in}
#define SLICE_KEEP_PREFIX(name)        {name, sizeof(name) - 1, true, 0, 0, NULL} /* "" is every key */
#define SLICE_END                      {NULL, 0, false, 0, 0, NULL}
/* clang-format on */

struct slice_events {
	/* One object. `type` is the watch event's type ("ADDED"…), empty for a list. `json` is
	 * NUL-terminated and dies with the call. False stops the stream: later bytes are ignored.
	 * Must not push into or finish the slice. */
	bool (*on_object)(void *data, struct view type, const char *json, size_t n);
	/* An object was skipped: too large or too deep. May be NULL. */
	void (*on_oversize)(void *data);
};

enum slice_form { SLICE_LIST, SLICE_WATCH };

struct slice_frame {
	const struct slice_keep *keep; /* borrowed; of an array: what its elements keep */
	uint8_t role;
	bool is_array;
	bool wrote;    /* a member was copied: the next one needs a comma */
	uint32_t most; /* bytes that its elements may take; 0: unbounded */
	size_t from;   /* where it begins in `out` */
};

/* A value that is copied whole, in `out`. */
struct slice_value {
	size_t before; /* the length of `out` before its comma and key */
	size_t from;   /* and before itself */
	bool wrote;    /* whether a member was there before it */
	uint32_t most;
	uint8_t mark;
};

struct slice_span {
	size_t at, n; /* n 0: there is none */
};

struct slice {
	enum slice_form form;
	const struct slice_keep *keep;	   /* borrowed; NULL keeps all */
	const struct slice_events *events; /* borrowed */
	void *data;

	uint8_t state;
	bool escaped;	  /* the byte before was a backslash, inside a string */
	bool key_escaped; /* the key that was read has escapes */
	bool stopped;
	bool broken;	 /* not JSON: nothing more is taken */
	bool in_object;	 /* inside an object that will be emitted */
	bool refused;	 /* that object exceeds a limit */
	bool has_object; /* watch: the event's object was read */
	bool cut;	 /* something was left out of that object for its length */
	uint32_t frames; /* in use */
	struct slice_frame frame[SLICE_FRAMES_MAX];
	const struct slice_keep *listed; /* as what the key that was read is; NULL: it is not */
	struct slice_value value;	 /* in progress */
	size_t part_from;		 /* where the object's own member in progress begins */
	struct slice_span marks[SLICE_MARKS]; /* of the object in progress */
	struct str *sink;		      /* where the value in progress goes; NULL: nowhere */
	uint32_t raw_depth; /* brackets open inside a value copied or skipped whole */
	uint64_t raw_kinds; /* one bit each: 1 is '[' */

	uint64_t taken;	 /* bytes of the whole stream before this push */
	uint64_t opened; /* where the object in progress began */
	struct str out;	 /* the object in progress */
	struct str key;
	struct str type; /* watch: the event's type, quotes included */
	struct str head; /* list: the projected metadata */
};

/* What a list said about itself. */
#define SLICE_VERSION_MAX  128
#define SLICE_CONTINUE_MAX 8192
struct slice_list {
	char version[SLICE_VERSION_MAX];
	char more[SLICE_CONTINUE_MAX]; /* metadata.continue, "" if this was the last page */
};

/* The struct points into itself: it must not be moved after this. */
void slice_init(struct slice *s, enum slice_form form, const struct slice_keep *keep,
	const struct slice_events *events, void *data);
void slice_finish(struct slice *s);
/* Forgets the stream and keeps form, projection and memory: ready for the next answer. */
void slice_reset(struct slice *s);
/* FAULT_INVALID: these bytes are not the JSON that was asked for; the slice takes no more. */
MUST_CHECK int slice_push(struct slice *s, const char *p, size_t n, struct fault *ret_fault);
/* During on_object and on_oversize: the JSON of the value with this mark, empty where there was
 * none (yet). */
struct view slice_marked(const struct slice *s, uint8_t mark);
/* The stream is over. FAULT_TRANSIENT: in the middle of a document (a list without its closing
 * brace, half a watch line). A watch may end between two events, a list only after its end. */
MUST_CHECK int slice_end(const struct slice *s, struct fault *ret_fault);
/* After slice_end of a list. FAULT_INVALID: it had no resourceVersion. */
MUST_CHECK int slice_list_version(
	const struct slice *s, struct slice_list *ret_list, struct fault *ret_fault);

#endif
