/* Recording: framing, segments, and when the next one begins. */
#include "journal.h"

#include <stdlib.h>

#include "journal_state.h"
#include "journal_tables.h"

/* A record of a step takes less. Room for it is made before the step, because a segment that began
 * between the step and its record would hold the step twice. */
#define STEP_ROOM 128
/* What one object adds to a state, at least: to see early that a state will not fit. */
#define POD_BYTES 64

struct journal {
	char *version;		     /* owned */
	const struct engine *engine; /* borrowed; who records here, from journal_begin on */
	bool has_sink;
	struct journal_sink sink;
	size_t segment_bytes;
	size_t state_max; /* of one state; 0: any */
	struct str scratch;
	uint32_t number;	 /* of the segment that is written */
	size_t used;		 /* of it */
	uint64_t records;	 /* in it */
	uint64_t records_before; /* in the one before */
	bool whole;		 /* it began with the state */
	bool too_large;		 /* the state that is being written does not fit */
	uint64_t state_hash;
	/* in memory: two segments, [number % 2] is written */
	char *half[2]; /* owned, made when first used */
	size_t half_used[2];
	bool half_whole[2];
	/* to the sink: what has not gone out yet */
	struct str pending;
};

struct journal *journal_create(const struct journal_config *config)
{
	struct journal *j = xcalloc(1, sizeof *j);
	j->version = xstrdup(config->version);
	j->has_sink = config->sink != NULL;
	if (j->has_sink) {
		j->sink = *config->sink;
	}
	j->segment_bytes = config->segment_bytes > 0 ? config->segment_bytes
			   : j->has_sink	     ? JOURNAL_FILE_BYTES
						     : JOURNAL_RING_BYTES / 2;
	j->state_max = j->has_sink ? 0 : j->segment_bytes / 2;
	j->scratch = (struct str)STR_INIT(RECORD_MAX);
	j->pending = (struct str)STR_INIT(JOURNAL_PIECE_BYTES);
	return j;
}

void journal_destroy(struct journal *j)
{
	if (j == NULL) {
		return;
	}
	journal_flush(j);
	free(j->half[0]);
	free(j->half[1]);
	str_finish(&j->scratch);
	str_finish(&j->pending);
	free(j->version);
	free(j);
}

void journal_flush(struct journal *j)
{
	if (j->has_sink && j->pending.len > 0) {
		j->sink.write(j->sink.data, str_text(&j->pending), j->pending.len);
		str_reset(&j->pending);
	}
}

void journal_skip(struct journal *j)
{
	j->number++;
}

static void put_pending(struct journal *j, const char *p, size_t n)
{
	while (n > 0) {
		size_t room = JOURNAL_PIECE_BYTES - j->pending.len;
		size_t part = n < room ? n : room;
		str_append(&j->pending, p, part);
		p += part;
		n -= part;
		if (j->pending.len == JOURNAL_PIECE_BYTES) {
			journal_flush(j);
		}
	}
}

static void put_bytes(struct journal *j, const char *p, size_t n)
{
	j->used += n;
	if (j->has_sink) {
		put_pending(j, p, n);
		return;
	}
	unsigned at = j->number % 2;
	memcpy(j->half[at] + j->half_used[at], p, n);
	j->half_used[at] += n;
}

static void little(char *out, uint32_t value)
{
	for (int i = 0; i < 4; i++) {
		out[i] = (char)(value >> (8 * i) & 0xff);
	}
}

/* `record` begins with its type. The caller has made room. */
static void put_record(struct journal *j, const struct str *record)
{
	char frame[RECORD_FRAME];
	little(frame, (uint32_t)record->len);
	little(frame + 4, record_sum(str_text(record), record->len));
	j->records++;
	put_bytes(j, frame, sizeof frame);
	put_bytes(j, str_text(record), record->len);
}

/* Begins a record in the scratch space. */
static struct str *record_of(struct journal *j, enum record type)
{
	str_reset(&j->scratch);
	str_append_char(&j->scratch, (char)type);
	return &j->scratch;
}

static void put_head(struct journal *j)
{
	struct str *r = record_of(j, RECORD_HEAD);
	const struct journal_head head = {.number = j->number,
		.whole = j->whole,
		.records_before = j->records_before,
		.seed = j->engine->seed,
		.config = j->engine->cfg};
	pack_text(r, JOURNAL_WORD);
	pack_u64(r, journal_format());
	pack_text(r, j->version);
	record_pack(r, &journal_head_table, &head);
	put_record(j, r);
}

static void put_state_record(void *data, const struct str *record)
{
	struct journal *j = data;
	if (j->state_max > 0 && j->used + RECORD_FRAME + record->len > j->state_max) {
		j->too_large = true;
	}
	if (j->too_large) {
		return;
	}
	put_record(j, record);
	j->state_hash = state_hash(record, j->state_hash);
}

static void segment_open(struct journal *j, bool whole)
{
	unsigned at = j->number % 2;
	j->used = 0;
	j->records = 0;
	j->whole = whole;
	if (j->has_sink) {
		return;
	}
	if (j->half[at] == NULL) {
		j->half[at] = xmalloc(j->segment_bytes);
	}
	j->half_used[at] = 0;
	j->half_whole[at] = whole;
}

/* The next segment, from the engine's state as it is now. */
static void segment_begin(struct journal *j)
{
	size_t least = world_pod_count(j->engine->world) * POD_BYTES;
	bool fits = j->state_max == 0 || least <= j->state_max;
	journal_flush(j);
	j->number++;
	j->records_before = j->records;
	if (j->has_sink) {
		j->sink.begin(j->sink.data, j->number);
	}
	segment_open(j, fits);
	put_head(j);
	if (!fits) {
		return;
	}
	j->too_large = false;
	j->state_hash = 0;
	state_save(j->engine, &j->scratch, put_state_record, j);
	if (j->too_large) {
		segment_open(j, false);
		put_head(j);
		return;
	}
	struct str *r = record_of(j, RECORD_READY);
	pack_u64(r, j->state_hash);
	put_record(j, r);
	if (j->has_sink) {
		/* A segment is as long as its records; its state comes on top. */
		j->used = 0;
	}
}

void journal_begin(struct journal *j, const struct engine *e)
{
	j->engine = e;
	segment_begin(j);
}

/* A record of n bytes is about to be written: is there room in this segment? */
static bool lacks_room(const struct journal *j, size_t n)
{
	return j->used + RECORD_FRAME + n > j->segment_bytes;
}

/* Begins another segment where n bytes do not fit. False: they fit nowhere, and the record is lost.
 */
static bool make_room(struct journal *j, size_t n)
{
	if (lacks_room(j, n)) {
		segment_begin(j);
	}
	if (j->has_sink || !lacks_room(j, n)) {
		return true;
	}
	/* One enormous object after a large state: the state has to go. */
	segment_open(j, false);
	put_head(j);
	if (!lacks_room(j, n)) {
		return true;
	}
	/* What follows does not continue what was before; the gap in the numbers says so. */
	j->number += 2;
	segment_open(j, false);
	put_head(j);
	return false;
}

/* Of a pod that has nothing to do with GPUs only what the world keeps: most pods of a cluster. */
static void pack_change(struct str *out, const struct change *c)
{
	if (c->type != CHANGE_SET || c->kind != KIND_POD || world_keeps_noun(c->pod)) {
		change_pack(out, c);
		return;
	}
	struct pod kept = {.ns = c->pod->ns,
		.name = c->pod->name,
		.uid = c->pod->uid,
		.node = c->pod->node,
		.cpu_milli = c->pod->cpu_milli,
		.mem_bytes = c->pod->mem_bytes,
		.phase = c->pod->phase,
		.deleting_ms = c->pod->deleting_ms};
	struct change less = {.type = CHANGE_SET, .kind = KIND_POD, .pod = &kept};
	change_pack(out, &less);
}

void journal_change(struct journal *j, const struct change *c)
{
	struct str *r = record_of(j, RECORD_CHANGE);
	pack_change(r, c);
	ENSURE(!r->overflow);
	if (lacks_room(j, r->len)) {
		/* Beginning a segment needs the scratch space. */
		if (!make_room(j, r->len)) {
			return;
		}
		r = record_of(j, RECORD_CHANGE);
		pack_change(r, c);
	}
	put_record(j, r);
	str_trim_capacity(r, JOURNAL_PIECE_BYTES);
}

void journal_before_step(struct journal *j)
{
	bool fits = make_room(j, STEP_ROOM);
	ENSURE(fits);
}

void journal_step(
	struct journal *j, struct engine_now now, uint32_t budget, const struct plan *plan)
{
	/* An input that is missing need not change a plan: counting tells of it all the same. */
	const struct journal_step step = {.now = now,
		.budget = budget,
		.records = j->records,
		.actions = plan->actions.count,
		.hash = plan_hash(plan)};
	struct str *r = record_of(j, RECORD_STEP);
	record_pack(r, &journal_step_table, &step);
	ENSURE(r->len <= STEP_ROOM);
	put_record(j, r);
	journal_flush(j);
}

static void pack_outcome(
	struct str *r, struct engine_now now, uint64_t action_id, const struct outcome *o)
{
	struct journal_outcome told = {.now = now, .action_id = action_id, .outcome = *o};
	if (o->fault.kind == FAULT_NONE) {
		told.outcome.fault = (struct fault){0};
	}
	record_pack(r, &journal_outcome_table, &told);
}

void journal_settle(
	struct journal *j, struct engine_now now, uint64_t action_id, const struct outcome *o)
{
	struct str *r = record_of(j, RECORD_SETTLE);
	pack_outcome(r, now, action_id, o);
	ENSURE(!r->overflow);
	if (lacks_room(j, r->len)) {
		if (!make_room(j, r->len)) {
			return;
		}
		r = record_of(j, RECORD_SETTLE);
		pack_outcome(r, now, action_id, o);
	}
	put_record(j, r);
}

uint64_t plan_hash(const struct plan *plan)
{
	uint64_t hash = plan->unfinished ? 1 : 2;
	for (size_t i = 0; i < plan->actions.count; i++) {
		hash = record_hash(&action_table, &plan->actions.items[i], hash);
	}
	return hash;
}

bool journal_replayable(const struct journal *j)
{
	return (j->half_used[0] > 0 && j->half_whole[0]) ||
	       (j->half_used[1] > 0 && j->half_whole[1]);
}

void journal_dump(const struct journal *j, struct str *out)
{
	unsigned newer = j->number % 2;
	for (unsigned i = 0; i < 2; i++) {
		unsigned at = i == 0 ? 1 - newer : newer;
		if (j->half_used[at] > 0) {
			str_append(out, j->half[at], j->half_used[at]);
		}
	}
}
