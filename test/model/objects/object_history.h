/* What was, for the checker: every change of the last minutes, and what each controller had been
 * told at any moment, so that it can look at the objects as a controller saw them when it spoke. */
#ifndef SIM_OBJECT_HISTORY_H
#define SIM_OBJECT_HISTORY_H
#include "base/vec.h"
#include "list_pages.h"
#include "store.h"

struct sim;

/* A change that can be undone. */
struct happened {
	int64_t at, version;
	struct stored *before, *after; /* owned references; NULL: none */
};

/* How far one controller had been told of one kind of object, from `at` on. */
struct told {
	int64_t at, version;
	int replica;
	enum resource resource;
};

struct memory {
	struct {
		VEC_FIELDS(struct happened);
	} changes;
	struct {
		VEC_FIELDS(struct told);
	} told;
	/* It was told the beginning of a whole picture, and not its end. */
	bool partial[2][RES_COUNT];
	/* When it last got one: what went before is missing there, and nothing says how. */
	int64_t pictured_at[2][RES_COUNT];
	struct listings listings;
};

/* The objects as one controller knew them. */
struct picture {
	VEC_FIELDS(const struct stored *); /* borrowed from the store and its past */
};

void past_end(struct sim *s);
void past_note(struct sim *s, const struct commit *c);
void past_told(struct sim *s, int replica, enum resource resource, int64_t version);
/* A process begins without having been told anything. */
void past_forget(struct sim *s, int replica);
/* A moment is how much had been told to anybody: `memory.told.count` of then. */
/* How far this one had been told at that moment; 0: not at all. */
int64_t past_version(const struct sim *s, int replica, enum resource resource, size_t moment);
/* As this controller had been told at that moment; false: it was not told everything yet, or it is
 * too long ago. */
bool past_picture(const struct sim *s, int replica, size_t moment, struct picture *ret_picture);

#endif
