/* Where the journal of this process goes: files of a directory, or the last minutes in memory.
 *
 * In a directory every segment is a file aliquot-TIME-NUMBER.journal, whose names sort as they were
 * written; of them the newest `files` are kept, those of earlier processes included, so a directory
 * belongs to one process at a time. A segment that is complete is synced to the disk. Where the
 * disk fails this is logged once, the file is left as it is, and a new one is tried every minute:
 * nothing here ever stops the controller. */
#ifndef APP_RECORDER_H
#define APP_RECORDER_H

#include "base/clock.h"
#include "base/part.h"
#include "base/str.h"
#include "engine/engine.h"

struct recorder_config {
	const char *dir; /* NULL or empty: in memory */
	int64_t files;
	int64_t memory_mib;   /* in memory only; 0: nothing is recorded */
	size_t segment_bytes; /* 0: of the journal; tests make it small */
};

struct recorder;

/* The engine records from now on and is borrowed; it is destroyed before the recorder. NULL where
 * nothing is to be recorded. */
struct recorder *recorder_create(
	const struct recorder_config *config, const struct clock *clock, struct engine *e);
void recorder_destroy(struct recorder *r); /* NULL is fine, here and below */
extern const struct part recorder_part;
/* The journal in memory, as a file of it would be. False: there is none. */
bool recorder_dump(const struct recorder *r, struct str *out);

#endif
