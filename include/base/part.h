/* The parts of a program's loop, as rows of a table. In every turn each takes its step, in the
 * order in which they were added; the next turn is due when the first of them wants it; they are
 * destroyed in the opposite order. A part is stepped, waited for and destroyed by being in the
 * table, and by nothing else that could be forgotten. */
#ifndef BASE_PART_H
#define BASE_PART_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PARTS_MAX 32

struct turn {
	int64_t now; /* monotonic */
	bool leads;  /* this process may decide and write */
};

struct part {
	void (*step)(void *self, const struct turn *turn);
	/* Monotonic; when it wants the next turn. NULL: never */
	int64_t (*deadline)(const void *self, const struct turn *turn);
	void (*destroy)(void *self); /* NULL: `self` is borrowed; else the table owns it */
};

struct parts {
	struct {
		const struct part *part; /* borrowed; constant */
		void *self;
	} rows[PARTS_MAX];
	size_t count;
};

/* Returns `self`; NULL: there is no such part. */
void *parts_add(struct parts *p, const struct part *part, void *self);
void parts_step(const struct parts *p, const struct turn *turn);
int64_t parts_deadline(const struct parts *p, const struct turn *turn);
void parts_finish(struct parts *p);

#endif
