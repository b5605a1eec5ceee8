/* What one container of one workload used over time, all replicas of it together.
 *
 * Of compute: how often each level was seen, a sample weighing half as much after each half life,
 * and a level that was not seen for a whole window not at all; and the last minutes one by one. Of
 * memory: the highest of each hour, for exactly the window. Beside them how many minutes were
 * observed. A minute in which nothing was told is a gap: it is not a zero, and it does not count as
 * observed. docs/design/sizing.md has the arithmetic and its errors.
 *
 * Figures of two sources are never in one histogram or one row of hours. Each source has its own,
 * and one of them leads: it is asked for compute. Another one takes the lead only once it knows
 * enough by itself, so that a change of source alone moves nothing. The peak of memory is the
 * highest that any source told, for a share that is too small ends a process.
 *
 * Time is policy time in ms. Nothing here fails but unpacking; what cannot be is not taken. */
#ifndef HISTORY_HISTORY_H
#define HISTORY_HISTORY_H

#include "base/fault.h"
#include "base/str.h"
#include "model/metered.h"
#include "model/recommendation.h"
#include "model/sizing.h"

/* Older than this is stale. */
#define HISTORY_FRESH_MS 300000
/* Of which the growth of the last minutes is judged, and how many of them must have been seen. */
#define HISTORY_RECENT	   15
#define HISTORY_RECENT_MIN 8
#define HISTORY_SOURCES	   4
#define HISTORY_MIB_MAX	   ((1 << 20) - 1) /* more than a TiB on one device is taken as this */
/* Read are all from 1, which had no run_ms, to this one. The one before knew no pool
 * (history/pool.h) and is written where there is none, so that whoever goes back to a program that
 * knows no other loses nothing more. */
#define HISTORY_VERSION	      3
#define HISTORY_VERSION_PLAIN 2
#define HISTORY_BYTES_MAX     ((size_t)32 << 10)

/* Opaque: made and unmade here. */
struct history;

struct history *history_create(void);
void history_destroy(struct history *h);
/* Follows the policy's window and half life; before the first sample, and whenever the policy may
 * have changed: nothing happens where they are the same. A shorter window drops hours, a longer one
 * begins with a gap. */
void history_fit(struct history *h, const struct sizing *s, int64_t now_ms);
/* What it takes in memory, allocations included. */
size_t history_bytes(const struct history *h);

/* --- what is told --- */

/* Who told it, and on what it rests. Two that differ in anything are two sources. */
struct history_source {
	enum metered_source source;
	bool estimated;
	const char *basis; /* borrowed; NULL: not told */
};

struct history_sample {
	struct history_source source;
	int64_t at_ms;	   /* of the figure */
	int64_t compute;   /* of METERED_FULL; or METERED_ABSENT. More than all is all */
	int64_t wall;	   /* what an enforced limit holds it to; METERED_FULL where none is */
	int64_t mem_bytes; /* or METERED_ABSENT */
};

/* What is remembered of one container of one pod between two of its samples. It is the caller's,
 * one for each; all zero is a new one. It is lost at a restart, which costs that pod's minute. */
struct history_feed {
	int64_t last_ms;
	int32_t minute;
	uint32_t sum, wall;
	uint16_t count;
	uint16_t serial; /* of the source's own history */
};

/* One figure of one pod. Its memory counts at once, its compute when its minute is over, as the
 * mean of the minute. False: it is not taken, because it is not newer than the pod's last one (the
 * same was scraped again), is told for a time after `now`, or tells nothing. */
bool history_take(
	struct history *h, struct history_feed *f, const struct history_sample *s, int64_t now_ms);
/* Closes the pod's minute if it is over; once in a while, and before reading. */
void history_settle(struct history *h, struct history_feed *f, int64_t now_ms);
/* The same when the pod is gone: its minute is over. */
void history_leave(struct history *h, struct history_feed *f);
/* Takes over what another history knows by sources that this one does not know, or knows less of:
 * a past that was read elsewhere. Both have the same window and half life, or nothing is taken. The
 * other one is used up. False: nothing was taken. */
bool history_adopt(struct history *h, struct history *past, int64_t now_ms);
/* What was known before `h` began, as its checkpoint says: it knew more, and what was told since is
 * added to it as far as it can be. Of a source that both know the better known one stays, with the
 * peaks of memory of both. The other one is used up; whatever is not settled (history_leave) before
 * is lost. */
void history_merge(struct history *h, struct history *before, int64_t now_ms);
/* A run of a Job or the like: a pod that was made then and has ended. One of which nothing can have
 * been measured does not count. `known`: it was seen running by whoever has this history, else it
 * may have been counted before that was read, and counts only if it is younger than all that were.
 * False: it does not count. */
bool history_add_run(struct history *h, int64_t created_ms, bool known);

/* --- what is known --- */

enum history_state {
	HISTORY_NONE,	  /* nothing was ever told */
	HISTORY_LEARNING, /* too little was observed, or too little by the source that is heard */
	HISTORY_SUFFICIENT,
	HISTORY_STALE, /* enough was, but nothing is heard any more */
};

struct history_facts {
	enum history_state state;
	struct history_source source; /* the one that leads; borrowed */
	int64_t first_ms, last_ms;    /* of any sample by any source; 0: none */
	int64_t samples;	      /* of all sources */
	int64_t compute_minutes,
		mem_minutes;	  /* observed within the window, by the leading source */
	int32_t coverage_percent; /* of the window, by the rarer of the two */
	int32_t runs;		  /* that ended */
	int64_t active_ms; /* the last minute above sizing.active_above_percent, or 1 %; 0: none */
	int32_t quiet_minutes; /* observed since then, by the leading source */
};

/* Chooses who leads, then tells. Enough is: the minutes observed within the window, of compute and
 * of memory each, come to the policy's required time, or as many runs ended as it requires (if it
 * requires any) and those minutes come to one run of the required length. `running`: pods of it
 * run, so that silence is a sign; without pods nothing is stale. */
struct history_facts history_judge(
	struct history *h, const struct sizing *s, int64_t now_ms, bool running);

/* The level below which so many percent of the weight are, in whole percent of one GPU, 1..100: the
 * end of the bucket, so at most 1 too much and never too little. -1: nothing is known. */
int32_t history_compute(const struct history *h, int32_t percentile, int64_t now_ms);
/* The median of the last minutes in the same units; -1: fewer than HISTORY_RECENT_MIN are known.
 * `percentile`: of the policy, which decides what counts in a minute of several replicas. */
int32_t history_recent(const struct history *h, int32_t percentile, int64_t now_ms);
/* The highest within the window, in MiB (rounded up), by any source; -1: nothing is known. */
int64_t history_peak(const struct history *h, int64_t now_ms);
/* The highest of this hour and the one before. */
int64_t history_used(const struct history *h, int64_t now_ms);
/* For how many hours in a row the peak has been rising up to now, by more than 1 % and more than
 * 64 MiB each, as the leading source told it; a gap ends it. */
int32_t history_rising(const struct history *h, int64_t now_ms);

/* What those who decide (right/) remember of a container. It is kept here because it must outlive a
 * restart as the samples do; all zero at first. */
struct history_lower {
	int64_t since_ms; /* a smaller share has been enough since then; 0: it is not */
	int64_t high;	  /* the most that was asked for since */
};
struct history_kept {
	uint8_t memory_class;		      /* enum memory_class, right/prealloc.h */
	struct history_lower compute, memory; /* milli-GPU and MiB, right/hold.h */
	int64_t told_ms;		      /* the last look on which something was heard */
	struct share held; /* put in force then, what healing added apart; 0: nothing yet */
};
struct history_kept *history_kept(struct history *h);

#endif
