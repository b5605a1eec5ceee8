/* The inside of the journal: records, and what the engine's three doors tell it. */
#ifndef ENGINE_JOURNAL_INSIDE_H
#define ENGINE_JOURNAL_INSIDE_H

#include "base/map.h"
#include "engine/journal.h"
#include "record/change.h"

/* The first byte of a record. Those in small letters are the state with which a segment begins. */
enum record {
	RECORD_HEAD = 'H',
	RECORD_CHANGE = 'C',
	RECORD_STEP = 'S',
	RECORD_SETTLE = 'O',
	RECORD_WORLD = 'w',
	RECORD_WAITER = 'q',
	RECORD_HOLDER = 'h',
	RECORD_WHOLE = 'g',
	RECORD_NODE = 'n',
	RECORD_ABSENCE = 'a',
	RECORD_STARTUP = 'b',
	RECORD_EVICTION = 'v',
	RECORD_ORPHAN = 'o',
	RECORD_AILMENT = 'i',
	RECORD_SCALE = 'u',
	RECORD_STANDIN = 's',
	RECORD_RESIZE = 't',
	RECORD_AVOIDANCE = 'k',
	RECORD_INJECTION = 'j',
	RECORD_PASS = 'p',
	RECORD_ENGINE = 'e',
	RECORD_READY = 'z', /* the state is complete; carries its hash */
};

/* The first text of a head, in every format. */
#define JOURNAL_WORD "aliquot-journal"
/* Before each record: the bytes of what follows and a checksum over them, both little endian. */
#define RECORD_FRAME 8
/* An object takes at most 3 MiB as JSON and packs into less. */
#define RECORD_MAX ((size_t)4 << 20)

static inline uint32_t record_sum(const void *p, size_t n)
{
	uint64_t h = hash_bytes(p, n, 0);
	return (uint32_t)(h ^ (h >> 32));
}

static inline uint64_t state_hash(const struct str *record, uint64_t before)
{
	return hash_bytes(str_text(record), record->len, before);
}

/* Records this engine from now on, beginning with its state. */
void journal_begin(struct journal *j, const struct engine *e);
void journal_change(struct journal *j, const struct change *c);
void journal_before_step(struct journal *j);
void journal_step(
	struct journal *j, struct engine_now now, uint32_t budget, const struct plan *plan);
void journal_settle(
	struct journal *j, struct engine_now now, uint64_t action_id, const struct outcome *o);
/* Everything in a plan as one number: every field of every action, in order. */
uint64_t plan_hash(const struct plan *plan);

#endif
