/* The journal: everything that entered an engine, so that it can be decided again.
 *
 * The engine is a function of its seed, its configuration and what it is told. The journal keeps
 * exactly that, in the order in which it came, and of every step a hash of its plan, so that a
 * replay proves itself: the same inputs either give the same plans or the first step that differs
 * is named.
 *
 * A journal is a row of segments. A segment begins with a head (version, seed, configuration) and
 * the engine's whole state, so that replay can begin there; the rest is records. In memory there
 * are two segments of 4 MiB, the older of which is dropped when the newer is full: always the last
 * minutes, never more than 8 MiB. If the state alone would take more than half of a segment, the
 * segment is kept without it: it shows what happened, but replay cannot begin there. With a sink a
 * segment takes 64 MiB, always begins with the state, and goes out in pieces.
 *
 * A journal is private to one version of the program. Nothing here does I/O, and nothing here
 * fails: what the sink does with the bytes is its own business. docs/design/journal.md has the
 * format. */
#ifndef ENGINE_JOURNAL_H
#define ENGINE_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"
#include "base/str.h"
#include "engine/engine.h"

/* Where segments go. Called inside engine_observe, engine_step and engine_settle; must not call
 * back. */
struct journal_sink {
	void *data;
	/* What is written from now on belongs to segment `number`, counted from 1. */
	void (*begin)(void *data, uint32_t number);
	void (*write)(void *data, const void *p, size_t n); /* at most JOURNAL_PIECE_BYTES */
};

#define JOURNAL_PIECE_BYTES ((size_t)64 * 1024)
#define JOURNAL_RING_BYTES  ((size_t)8 * 1024 * 1024)
#define JOURNAL_FILE_BYTES  ((size_t)64 * 1024 * 1024)

struct journal_config {
	const char *version;		 /* of the program; copied */
	const struct journal_sink *sink; /* copied; NULL: in memory */
	size_t segment_bytes;		 /* 0: as above; tests make it small */
};

struct journal;

struct journal *journal_create(const struct journal_config *config);
void journal_destroy(struct journal *j); /* not while an engine still records into it */
/* What went to the sink is not all there: the segment after the one that is written does not
 * continue it, and replay begins anew there. */
void journal_skip(struct journal *j);
/* What waits for the sink goes out. Done after every step anyway. */
void journal_flush(struct journal *j);

/* In memory only: is there a segment from which replay can begin? */
bool journal_replayable(const struct journal *j);
/* Appends the segments in memory, oldest first: a journal file. */
void journal_dump(const struct journal *j, struct str *out);

/* What a replay found. */
struct journal_summary {
	uint32_t segments; /* whose head was read */
	uint32_t skipped;  /* of these: passed over, because nothing to begin from came before */
	uint32_t runs;	   /* how often it began anew: another process, or a gap */
	uint64_t records, changes, steps, settles, actions;
	int64_t first_mono_ms, last_mono_ms; /* of the steps */
	bool torn; /* the last record of a file is cut off, as after a crash; all before it was
		      replayed */
	bool diverged;
	uint64_t diverged_record; /* counted from 1 */
	int64_t diverged_mono_ms; /* of its step */
	char divergence[200];	  /* a sentence */
};

struct replay;

struct replay *replay_create(const char *version); /* borrowed */
void replay_destroy(struct replay *r);
/* Runs the records of one file (any number of whole segments) through the engine, up to its end or
 * the first plan that differs, which is told in the summary. Where one segment follows another,
 * also from file to file, the state that the replay has reached is compared with the one that was
 * recorded. Fails where the bytes are not a journal of this version or lack a record (FAULT_INVALID
 * says at which byte); the summary is filled up to there. Not called again after a failure. */
MUST_CHECK int replay_file(struct replay *r, struct view bytes, struct fault *ret_fault);
const struct journal_summary *replay_summary(const struct replay *r);

/* All of this for one file. */
MUST_CHECK int journal_replay(struct view bytes, const char *version,
	struct journal_summary *ret_summary, struct fault *ret_fault);

#endif
