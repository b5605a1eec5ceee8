/* Replay: the records of a journal through a new engine, with every plan compared. */
#include "journal_state.h"

#include <stdio.h>
#include <stdlib.h>

#include "journal.h"
#include "journal_tables.h"

struct replay {
	struct journal_summary sum;
	const char *version; /* borrowed */
	struct engine *e;    /* owned; NULL until there is a segment to begin from */
	uint32_t number;     /* of the segment that is read */
	uint64_t seed;	     /* which tells one run from another */
	uint64_t records;    /* of this segment, before the one that is read */
	bool cut;	     /* what follows does not go on from here: a torn end */
	bool loading;	     /* the state is being read */
	bool comparing;	     /* the engine is already there: the state is only compared */
	uint64_t state_hash; /* of the records of the state so far, or of our own */
	struct plan plan;
	struct str scratch;
	struct arena arena; /* of one record */
};

static uint32_t from_little(const char *p)
{
	uint32_t value = 0;
	for (int i = 3; i >= 0; i--) {
		value = value << 8 | (unsigned char)p[i];
	}
	return value;
}

static void diverge(struct replay *r, int64_t mono_ms, const char *sentence)
{
	r->sum.diverged = true;
	r->sum.diverged_record = r->sum.records;
	r->sum.diverged_mono_ms = mono_ms;
	snprintf(r->sum.divergence, sizeof r->sum.divergence, "%s", sentence);
}

static void hash_state(void *data, const struct str *record)
{
	uint64_t *hash = data;
	*hash = state_hash(record, *hash);
}

/* A missing record need not change what is decided, so they are counted. */
static int count_records(const struct replay *r, uint64_t written, struct fault *f)
{
	if (written == r->records) {
		return 0;
	}
	return fault_set(f, FAULT_INVALID,
		"records are missing: %llu of this segment were written before this one, %llu are "
		"here",
		(unsigned long long)written, (unsigned long long)r->records);
}

static int read_head(
	struct unpack *u, const char *version, struct journal_head *ret, struct fault *f)
{
	if (!text_equals(unpack_text(u), JOURNAL_WORD)) {
		return fault_set(f, FAULT_INVALID, "not a journal that this program knows");
	}
	uint64_t format = unpack_u64(u);
	const char *writer = text_or(unpack_text(u), "?");
	if (u->bad || !text_equals(writer, version)) {
		return fault_set(f, FAULT_INVALID,
			"written by version %.40s, this is %.40s: replay it with the one that "
			"wrote it",
			writer, version);
	}
	if (format != journal_format()) {
		return fault_set(f, FAULT_INVALID,
			"written in another format than this program reads (number %llx, here "
			"%llx): replay it with the build that wrote it",
			(unsigned long long)format, (unsigned long long)journal_format());
	}
	*ret = (struct journal_head){0};
	CLEANUP(arena_finish) struct arena arena = {.block_bytes = 1024};
	struct inject_rules rules;
	if (!record_unpack(u, &journal_head_table, ret) ||
		inject_rules_parse(ret->config.injection, &arena, &rules, f) < 0) {
		return fault_set(f, FAULT_INVALID, "its head is damaged");
	}
	return 0;
}

/* Either the next segment of the same run, which only is a chance to compare, or a new beginning.
 */
static int on_head(struct replay *r, struct unpack *u, struct fault *f)
{
	struct journal_head h;
	if (read_head(u, r->version, &h, f) < 0) {
		return -1;
	}
	bool follows = r->e != NULL && !r->cut && !r->loading && !r->comparing &&
		       h.number == r->number + 1 && h.seed == r->seed;
	if (follows && count_records(r, h.records_before, f) < 0) {
		return -1;
	}
	r->seed = h.seed;
	r->number = h.number;
	r->records = 0;
	r->sum.segments++;
	r->cut = r->loading = r->comparing = false;
	r->state_hash = 0;
	if (follows) {
		r->comparing = h.whole;
		if (h.whole) {
			state_save(r->e, &r->scratch, hash_state, &r->state_hash);
		}
		return 0;
	}
	engine_destroy(r->e);
	r->e = NULL;
	if (!h.whole) {
		r->sum.skipped++;
		return 0;
	}
	r->e = engine_create(&h.config, h.seed);
	r->loading = true;
	r->sum.runs++;
	return 0;
}

static int on_state(struct replay *r, struct view record, struct unpack *u, struct fault *f)
{
	if (r->comparing || r->e == NULL) {
		return 0;
	}
	if (!r->loading || !state_load(r->e, (enum record)record.p[0], u)) {
		return fault_set(f, FAULT_INVALID, "a record of the state cannot be read");
	}
	r->state_hash = hash_bytes(record.p, record.n, r->state_hash);
	return 0;
}

static int on_ready(struct replay *r, struct unpack *u, struct fault *f)
{
	uint64_t recorded = unpack_u64(u);
	if (r->e == NULL) {
		return 0;
	}
	if (r->comparing && recorded != r->state_hash) {
		diverge(r, r->sum.last_mono_ms,
			"the state that was reached is not the one that was recorded");
	} else if (r->loading && recorded != r->state_hash) {
		return fault_set(f, FAULT_INVALID, "the recorded state is not complete");
	}
	r->loading = r->comparing = false;
	return 0;
}

static int on_change(struct replay *r, struct unpack *u, struct fault *f)
{
	struct change c;
	if (!change_unpack(u, &c) || !change_is_sound(&c)) {
		return fault_set(f, FAULT_INVALID, "a change cannot be read");
	}
	r->sum.changes++;
	if (!engine_observe(r->e, &c)) {
		return fault_set(f, FAULT_INVALID, "a change is too large");
	}
	return 0;
}

static int on_step(struct replay *r, struct unpack *u, struct fault *f)
{
	struct journal_step step = {0};
	if (!record_unpack(u, &journal_step_table, &step)) {
		return fault_set(f, FAULT_INVALID, "a step cannot be read");
	}
	if (count_records(r, step.records, f) < 0) {
		return -1;
	}
	engine_step(r->e, step.now, step.budget, &r->plan);
	r->sum.first_mono_ms = r->sum.steps == 0 ? step.now.mono_ms : r->sum.first_mono_ms;
	r->sum.last_mono_ms = step.now.mono_ms;
	r->sum.steps++;
	r->sum.actions += r->plan.actions.count;
	if (plan_hash(&r->plan) != step.hash) {
		char sentence[120];
		snprintf(sentence, sizeof sentence,
			"the plan differs: %llu actions were recorded, replay decides %zu",
			(unsigned long long)step.actions, r->plan.actions.count);
		diverge(r, step.now.mono_ms, sentence);
	}
	return 0;
}

static int on_settle(struct replay *r, struct unpack *u, struct fault *f)
{
	struct journal_outcome told = {0};
	if (!record_unpack(u, &journal_outcome_table, &told)) {
		return fault_set(f, FAULT_INVALID, "an outcome cannot be read");
	}
	r->sum.settles++;
	engine_settle(r->e, told.now, told.action_id, &told.outcome);
	return 0;
}

static int on_record(struct replay *r, struct view record, struct fault *f)
{
	struct unpack u = {.p = record.p + 1, .n = record.n - 1, .arena = &r->arena};
	enum record type = (enum record)(unsigned char)record.p[0];
	arena_reset(&r->arena);
	if (type == RECORD_HEAD) {
		return on_head(r, &u, f);
	}
	if (r->sum.segments == 0) {
		return fault_set(f, FAULT_INVALID, "it does not begin with a head");
	}
	if (type == RECORD_READY) {
		return on_ready(r, &u, f);
	}
	bool is_input = type == RECORD_CHANGE || type == RECORD_STEP || type == RECORD_SETTLE;
	if (!is_input) {
		return on_state(r, record, &u, f);
	}
	if (r->e == NULL) {
		return 0;
	}
	if (r->loading || r->comparing) {
		return fault_set(f, FAULT_INVALID, "the recorded state is not complete");
	}
	return type == RECORD_CHANGE ? on_change(r, &u, f)
	       : type == RECORD_STEP ? on_step(r, &u, f)
				     : on_settle(r, &u, f);
}

static int read_records(struct replay *r, struct view bytes, struct fault *f)
{
	size_t at = 0;
	while (at < bytes.n && !r->sum.diverged) {
		size_t left = bytes.n - at;
		size_t n = left >= RECORD_FRAME ? from_little(bytes.p + at) : 0;
		if (left < RECORD_FRAME || (n <= RECORD_MAX && left - RECORD_FRAME < n)) {
			r->sum.torn = r->cut = true;
			return 0;
		}
		struct view record = {bytes.p + at + RECORD_FRAME, n};
		if (n == 0 || n > RECORD_MAX ||
			from_little(bytes.p + at + 4) != record_sum(record.p, record.n)) {
			return fault_set(f, FAULT_INVALID, "byte %zu: a damaged record", at);
		}
		r->sum.records++;
		if (on_record(r, record, f) < 0) {
			return fault_wrap(f, "byte %zu", at);
		}
		r->records++;
		at += RECORD_FRAME + n;
	}
	return 0;
}

struct replay *replay_create(const char *version)
{
	struct replay *r = xcalloc(1, sizeof *r);
	r->version = version;
	r->scratch = (struct str)STR_INIT(RECORD_MAX);
	return r;
}

void replay_destroy(struct replay *r)
{
	if (r == NULL) {
		return;
	}
	engine_destroy(r->e);
	plan_finish(&r->plan);
	str_finish(&r->scratch);
	arena_finish(&r->arena);
	free(r);
}

const struct journal_summary *replay_summary(const struct replay *r)
{
	return &r->sum;
}

int replay_file(struct replay *r, struct view bytes, struct fault *ret_fault)
{
	return read_records(r, bytes, ret_fault);
}

int journal_replay(struct view bytes, const char *version, struct journal_summary *ret_summary,
	struct fault *ret_fault)
{
	struct replay *r = replay_create(version);
	int rc = read_records(r, bytes, ret_fault);
	*ret_summary = r->sum;
	replay_destroy(r);
	return rc;
}
