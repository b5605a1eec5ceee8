/* What of the engine's memory is in a journal: a table for each struct (record/record_table.h). The
 * rest of a struct is of one step, follows from something else, or is borrowed. */
#ifndef ENGINE_JOURNAL_TABLES_H
#define ENGINE_JOURNAL_TABLES_H

#include "engine/engine.h"
#include "record/tables.h"
#include "state.h"

/* The head of a segment. Before it stand, in every format, a word that names journals, the number
 * of the format and the version of the program. */
struct journal_head {
	uint32_t number;
	bool whole;
	uint64_t records_before; /* in the segment before */
	uint64_t seed;
	struct engine_config config;
};

struct journal_step {
	struct engine_now now;
	uint32_t budget;
	uint64_t records;	/* before it in its segment */
	uint64_t actions, hash; /* of its plan */
};

struct journal_outcome {
	struct engine_now now;
	uint64_t action_id;
	struct outcome outcome;
};

/* A pod that may have been looked at never, and whether it is what the world has now. Versions of
 * the world are numbers of this process. */
struct journal_seen {
	bool current;
	bool learnt;	       /* of a capacity pod: its grace, of what was seen */
	const struct pod *pod; /* NULL: never */
};

/* Is what was decided, and what policies hold, as of the world's present version? */
struct journal_versions {
	bool decided, policies;
};

extern const struct record_table journal_head_table, journal_step_table, journal_outcome_table;
extern const struct record_table journal_seen_table, journal_versions_table;
/* After their keys. */
extern const struct record_table waiter_table, holder_table, whole_table;
extern const struct record_table node_memo_table, absence_table, startup_table, ailment_table;
extern const struct record_table eviction_table, orphan_table, resize_table, avoidance_table;
extern const struct record_table scale_rest_table, standin_table, inject_memo_table;
extern const struct record_table policies_pass_table, engine_table;

#endif
