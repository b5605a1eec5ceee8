/* Writing JSON: compact text straight into a str, commas and escapes taken care of.
 *
 *     struct build b = build_into(&out);
 *     build_begin_object(&b);
 *     build_key(&b, "spec");
 *     ...
 *     build_end(&b);
 *
 * The str's limit is the limit; hitting it shows in out->overflow, which the caller looks at once
 * at the end (build_ok). Nesting errors are the programmer's and abort. */
#ifndef JSON_BUILD_H
#define JSON_BUILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

#define BUILD_DEPTH_MAX 32

struct build {
	struct str *out; /* borrowed */
	uint32_t depth;
	uint32_t arrays; /* one bit a level */
	uint32_t wrote;	 /* one bit a level: the next member needs a comma */
	bool keyed;	 /* a key was written, its value is due */
};

struct build build_into(struct str *out);
void build_begin_object(struct build *b);
void build_begin_array(struct build *b);
void build_end(struct build *b); /* of the innermost */
void build_key(struct build *b, const char *key);
void build_key_view(struct build *b, struct view key);
void build_text(struct build *b, const char *text); /* NULL is null */
void build_view(struct build *b, struct view text);
void build_i64(struct build *b, int64_t value);
void build_bool(struct build *b, bool value);
void build_null(struct build *b);
void build_raw(struct build *b, const char *json, size_t n); /* one value, trusted to be JSON */

/* key and value at once */
void build_text_at(struct build *b, const char *key, const char *text);
void build_i64_at(struct build *b, const char *key, int64_t value);
void build_bool_at(struct build *b, const char *key, bool value);
void build_object_at(struct build *b, const char *key); /* begins */
void build_array_at(struct build *b, const char *key);	/* begins */

/* Everything is closed and nothing was cut off. */
bool build_ok(const struct build *b);

#endif
