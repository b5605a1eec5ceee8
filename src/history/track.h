/* What one source told of a container. */
#ifndef HISTORY_TRACK_H
#define HISTORY_TRACK_H

#include "history/history.h"
#include "hours.h"
#include "levels.h"
#include "pool_parts.h"
#include "recent.h"

struct track {
	uint16_t serial; /* 1 and up: it tells this track from a later one in its place */
	uint8_t source;
	bool estimated;
	uint32_t samples;
	char *basis; /* owned; NULL: not told */
	int64_t first_ms, last_ms;
	struct levels compute;
	struct recent recent;
	int32_t active; /* the last minute in which the GPU was active; 0: none */
	struct hours hours;
};

struct history {
	struct track *tracks; /* owned */
	struct pool *pool;    /* owned; NULL: nothing was told */
	uint32_t window_s, half_life_s, active_above;
	uint16_t serial;
	uint8_t count, lead;
	int32_t runs;
	int64_t run_ms;	 /* when the youngest pod was made whose run was counted; 0: none was */
	int64_t base_ms; /* the same for the runs that a checkpoint told */
	struct history_kept kept;
};

struct history_source track_source(const struct track *t);
/* The track of this source, made if need be. Where there are too many, the track that has been
 * silent the longest goes, but never the one that leads. */
struct track *track_touch(struct history *h, const struct history_source *source);
struct track *track_find(const struct history *h, uint16_t serial); /* NULL: gone */
/* A track of another history, whose hours go with it; `now_ms`: by which both are compared. */
bool track_adopt(struct history *h, struct track *from, int64_t now_ms);
/* The same, and what the one that goes knows of memory stays. */
void track_merge(struct history *h, struct track *from, int64_t now_ms);
/* Sets on what the figures rest, cut to METERED_BASIS_MAX; NULL or empty: not told. */
void track_name(struct track *t, const char *basis);
/* Minutes in which both compute and memory were observed. */
int64_t track_minutes(const struct track *t, int64_t now_ms);
void track_init(struct track *t, const struct history *h);
void track_finish(struct track *t);
/* A minute of one replica; `wall` as in history_sample. */
void track_add_minute(
	struct track *t, const struct history *h, int64_t compute, int64_t wall, int32_t minute);

#endif
