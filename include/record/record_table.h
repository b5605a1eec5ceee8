/* One table per struct, one row per member: from it a record is packed, unpacked, copied, compared
 * and released, and from all tables that it uses a journal has the number of its format. A member
 * that nobody packs has a row too, which says so: a test compares the rows of each table with the
 * bytes of its struct, so that a new member is noticed.
 *
 * Members that are yes or no and stand beside each other in a table are one number. Every number
 * has its bounds from its type, and closer ones where the row says so: what is unpacked is within
 * them, or nothing was unpacked. Tables do not contain themselves, so nothing nests without end. */
#ifndef RECORD_RECORD_TABLE_H
#define RECORD_RECORD_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/str.h"
#include "record/pack.h"

enum row_kind {
	ROW_BOOL,
	ROW_SIGNED,  /* int32_t, int64_t */
	ROW_NUMBER,  /* the same without a sign, uint8_t, an enum */
	ROW_TEXT,    /* const char *: borrowed, or of an arena */
	ROW_OWNED,   /* char *: owned by the record */
	ROW_CHARS,   /* char[N], with a NUL */
	ROW_PART,    /* a struct inside */
	ROW_ARRAY,   /* N of them */
	ROW_POINTER, /* a pointer to one: borrowed, or of an arena */
	ROW_LIST,    /* a pointer to several, with a uint32_t count: the same */
	ROW_VEC,     /* VEC_FIELDS: owned by the record */
	ROW_ASIDE,   /* not packed */
};

struct record_row {
	const char *name;	       /* of the member */
	const struct record_table *of; /* PART, ARRAY, POINTER, LIST, VEC: what each is */
	int64_t most;	   /* numbers: from 0 to this; LIST: so many at most. 0: whatever fits */
	uint32_t at, size; /* of the member */
	uint32_t count_at; /* LIST: of its count */
	enum row_kind kind;
	bool needed; /* TEXT, OWNED, POINTER: NULL cannot be */
};

struct record_table {
	const char *name; /* of the struct */
	const struct record_row *rows;
	uint32_t row_count, size;
};

#define RECORD_TABLE(type, its_rows)                                                               \
	{                                                                                          \
		.name = #type, .rows = (its_rows), .row_count = COUNT_OF(its_rows),                \
		.size = sizeof(type)                                                               \
	}

/* A number, a yes or no, or a text, as its member is declared. */
#define ROW_KIND_OF(member)                                                                        \
	_Generic(&(member), bool *: ROW_BOOL, int32_t *: ROW_SIGNED, int64_t *: ROW_SIGNED,        \
		uint8_t *: ROW_NUMBER, uint32_t *: ROW_NUMBER, uint64_t *: ROW_NUMBER,             \
		const char **: ROW_TEXT, char **: ROW_OWNED)
#define ROW_MEMBER(type, member) (((type *)0)->member)
#define ROW_OF(type, member, its_kind, ...)                                                        \
	{                                                                                          \
		.name = #member, .at = offsetof(type, member),                                     \
		.size = sizeof ROW_MEMBER(type, member), .kind = (its_kind), __VA_ARGS__           \
	}
#define MEMBER(type, member) ROW_OF(type, member, ROW_KIND_OF(ROW_MEMBER(type, member)), )
#define UPTO(type, member, max)                                                                    \
	ROW_OF(type, member, ROW_KIND_OF(ROW_MEMBER(type, member)), .most = (max))
/* An enum of so many values. */
#define ENUM(type, member, count) UPTO(type, member, (int64_t)(count)-1)
/* A text that must be there. */
#define NAME(type, member)                                                                         \
	ROW_OF(type, member, ROW_KIND_OF(ROW_MEMBER(type, member)), .needed = true)
#define CHARS(type, member)	   ROW_OF(type, member, ROW_CHARS, )
#define PART(type, member, its)	   ROW_OF(type, member, ROW_PART, .of = &(its))
#define ARRAY(type, member, its)   ROW_OF(type, member, ROW_ARRAY, .of = &(its))
#define POINTER(type, member, its) ROW_OF(type, member, ROW_POINTER, .of = &(its))
#define HELD(type, member, its)	   ROW_OF(type, member, ROW_POINTER, .of = &(its), .needed = true)
#define LIST_UPTO(type, member, count, its, max)                                                   \
	ROW_OF(type, member, ROW_LIST, .count_at = offsetof(type, count), .of = &(its),            \
		.most = (max))
#define LIST(type, member, count, its) LIST_UPTO(type, member, count, its, 0)
/* `member` is a struct of items and count, or of VEC_FIELDS. */
#define LISTED(type, member, its) LIST(type, member.items, member.count, its)
#define VEC(type, member, its)                                                                     \
	ROW_OF(type, member.items, ROW_VEC, .count_at = offsetof(type, member.count), .of = &(its))
#define ASIDE(type, member) ROW_OF(type, member, ROW_ASIDE, )

/* Single values, for lists of them. */
extern const struct record_table text_table;	   /* const char *, never NULL */
extern const struct record_table owned_text_table; /* char *, the same */
extern const struct record_table i64_table;
extern const struct record_table u64_table;

void record_pack(struct str *out, const struct record_table *t, const void *record);
size_t record_size(const struct record_table *t, const void *record); /* when packed */
/* The same for records whose bytes are the same. */
uint64_t record_hash(const struct record_table *t, const void *record, uint64_t before);
/* Into a record that is zeroed, or has its former values where nothing is packed. Lists, and texts
 * that are not owned, are of the arena of `u`. False: it cannot be; nothing owned is left then. */
MUST_CHECK bool record_unpack(struct unpack *u, const struct record_table *t, void *record);
/* Everything below it, in the arena; what is not packed is copied as it is. Owned members have no
 * copies. */
void record_copy(struct arena *arena, const struct record_table *t, const void *from, void *ret);
/* The same of a new one; NULL survives. */
void *record_clone(struct arena *arena, const struct record_table *t, const void *from);
/* By what is packed. */
bool record_equals(const struct record_table *t, const void *a, const void *b);
/* What it owns goes, and is NULL or empty then. */
void record_finish(const struct record_table *t, void *record);
/* A number that is another one for tables that say something else. */
uint64_t record_format(const struct record_table *t, uint64_t before);

#endif
