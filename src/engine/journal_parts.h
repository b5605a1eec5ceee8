/* The inside of the journal, shared by its files and by the engine's three doors. */
#ifndef ENGINE_JOURNAL_PARTS_H
#define ENGINE_JOURNAL_PARTS_H

#include "engine/journal.h"
#include "record/change.h"
#include "record/tables.h"
#include "state.h"

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
	RECORD_TURN = 'b',
	RECORD_EVICTION = 'v',
	RECORD_ORPHAN = 'o',
	RECORD_AILMENT = 'i',
	RECORD_SCALE = 'u',
	RECORD_STANDIN = 's',
	RECORD_RUNTIME = 'r',
	RECORD_RESIZE = 't',
	RECORD_SHUN = 'k',
	RECORD_INJECTION = 'j',
	RECORD_PASS = 'p',
	RECORD_ENGINE = 'e',
	RECORD_READY = 'z', /* the state is complete; carries its hash */
};

/* Before each record: the bytes of what follows and a checksum over them, both little endian. */
#define RECORD_FRAME 8
/* An object takes at most 3 MiB as JSON and packs into less. */
#define RECORD_MAX ((size_t)4 << 20)
/* Raised whenever a byte that is packed means something else. */
#define JOURNAL_FORMAT 77

static inline uint32_t record_sum(const void *p, size_t n)
{
	uint64_t h = hash_bytes(p, n, 0);
	return (uint32_t)(h ^ (h >> 32));
}

static inline uint64_t record_hash(const struct str *record, uint64_t before)
{
	return hash_bytes(str_text(record), record->len, before);
}

/* journal.c, called by the engine */
void journal_begin(struct journal *j, struct engine *e);
void journal_change(struct journal *j, struct engine *e, const struct change *c);
void journal_before_step(struct journal *j, struct engine *e);
void journal_step(
	struct journal *j, struct engine_now now, uint32_t budget, const struct plan *plan);
void journal_settle(struct journal *j, struct engine *e, struct engine_now now, uint64_t action_id,
	const struct outcome *o);

/* journal_plan.c: everything in a plan as one number */
uint64_t plan_hash(const struct plan *plan, struct str *scratch);

/* journal_state.c: the engine's whole state as records */
typedef void (*state_put)(void *data, const struct str *record);
void state_save(struct engine *e, struct str *scratch, state_put put, void *data);
/* One such record, after its type, into an engine that is new but for the records before. False: it
 * cannot mean anything. What `u` unpacks is copied. */
bool state_load(struct engine *e, enum record type, struct unpack *u);
/* journal_evict.c: the same of evictions */
void evictions_save(struct engine *e, struct str *scratch, state_put put, void *data);
bool eviction_load(struct engine *e, struct unpack *u);
/* journal_orphan.c: a part of it */
void orphan_pack(struct str *out, const struct orphan *o);
bool orphan_unpack(struct orphans *orphans, struct unpack *u);
/* journal_lasting.c */
bool memo_unpack(struct book *book, struct unpack *u);
bool absence_unpack(struct book *book, struct unpack *u);
bool turn_unpack(struct turns *turns, struct unpack *u);
/* journal_health.c */
void ailment_pack(struct str *out, const struct ailment *a);
bool ailment_unpack(struct ailments *ailments, struct unpack *u);
/* journal_scale.c: all that it knows how to load */
void scale_save(const struct scale *scale, struct str *scratch, state_put put, void *data);
/* journal_inject.c */
void inject_save(const struct injecting *inject, struct str *scratch, state_put put, void *data);
bool inject_memo_unpack(struct injecting *inject, struct unpack *u);
/* journal_resize.c */
void resizes_save(const struct resizes *resizes, struct str *scratch, state_put put, void *data);
bool resize_unpack(struct resizes *resizes, struct unpack *u);
/* shun.c */
void shuns_save(const struct shuns *shuns, struct str *scratch, state_put put, void *data);
bool shun_unpack(struct shuns *shuns, struct unpack *u);
void group_pack(struct str *out, const struct group *g);
void group_unpack(struct unpack *u, struct group *g);
void backoff_pack(struct str *out, const struct backoff *b);
struct backoff backoff_unpack(struct unpack *u);

#endif
