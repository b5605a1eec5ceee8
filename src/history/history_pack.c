/* A history as bytes of a checkpoint, and back. What is read may have been written by anybody who
 * may write a checkpoint: nothing is believed that could not have been written here. */
#include "history/history_pack.h"

#include "base/alloc.h"
#include "history/history.h"
#include "record/record_table.h"
#include "track.h"

/* A leader's clock may be behind that of the one before. */
#define AHEAD_MS 600000

static const struct record_row lower_rows[] = {
	UPTO(struct history_lower, since_ms, LEVELS_TIME_MAX),
	UPTO(struct history_lower, high, METERED_MEMORY_MAX),
};
static const struct record_table lower_table = RECORD_TABLE(struct history_lower, lower_rows);

static const struct record_row kept_rows[] = {
	MEMBER(struct history_kept, memory_class),
	PART(struct history_kept, compute, lower_table),
	PART(struct history_kept, memory, lower_table),
	UPTO(struct history_kept, told_ms, LEVELS_TIME_MAX),
	ROW_OF(struct history_kept, held.milli, ROW_NUMBER, .most = 1000),
	ROW_OF(struct history_kept, held.mib, ROW_NUMBER, .most = METERED_MEMORY_MAX),
};
static const struct record_table kept_table = RECORD_TABLE(struct history_kept, kept_rows);

static void pack_track(struct str *out, const struct track *t)
{
	pack_u64(out, t->source);
	pack_u64(out, t->estimated);
	pack_text(out, text_or(t->basis, ""));
	pack_u64(out, t->samples);
	pack_i64(out, t->first_ms);
	pack_i64(out, t->last_ms);
	pack_u64(out, (uint64_t)t->active);
	levels_pack(&t->compute, out);
	recent_pack(&t->recent, out);
	hours_pack(&t->hours, out);
}

bool history_pack(const struct history *h, struct str *out)
{
	pack_u64(out, h->pool != NULL ? HISTORY_VERSION : HISTORY_VERSION_PLAIN);
	pack_u64(out, h->window_s);
	pack_u64(out, h->half_life_s);
	pack_u64(out, (uint64_t)h->runs);
	pack_i64(out, h->run_ms);
	record_pack(out, &kept_table, &h->kept);
	pack_u64(out, h->count);
	pack_u64(out, h->lead);
	for (uint32_t i = 0; i < h->count; i++) {
		pack_track(out, &h->tracks[i]);
	}
	pack_u64(out, h->pool != NULL);
	if (h->pool != NULL) {
		pool_pack(h->pool, out);
	}
	return !out->overflow;
}

/* --- reading --- */

static int64_t unpack_time(struct unpack *u)
{
	int64_t ms = unpack_i64(u);
	u->bad |= ms < 0 || ms > LEVELS_TIME_MAX;
	return u->bad ? 0 : ms;
}

static void unpack_track(struct unpack *u, const struct history *h, struct track *t)
{
	*t = (struct track){.serial = h->serial};
	t->source = (uint8_t)unpack_at_most(u, METERED_SOURCES - 1);
	t->estimated = unpack_at_most(u, 1) != 0;
	const char *basis = unpack_text(u);
	u->bad |= basis == NULL || strlen(basis) > METERED_BASIS_MAX;
	track_name(t, u->bad ? NULL : basis);
	t->samples = (uint32_t)unpack_at_most(u, UINT32_MAX);
	t->first_ms = unpack_time(u);
	t->last_ms = unpack_time(u);
	t->active = (int32_t)unpack_at_most(u, INT32_MAX);
	u->bad |= t->first_ms > t->last_ms;
	levels_unpack(&t->compute, u);
	recent_unpack(&t->recent, u);
	hours_unpack(&t->hours, h->window_s, u);
	u->bad |= t->compute.window_s != h->window_s;
}

static bool has_twin(const struct history *h, const struct track *t)
{
	for (const struct track *other = h->tracks; other < t; other++) {
		if (other->source == t->source && other->estimated == t->estimated &&
			text_equals(other->basis, t->basis)) {
			return true;
		}
	}
	return false;
}

static void unpack_tracks(struct unpack *u, struct history *h)
{
	uint32_t count = (uint32_t)unpack_at_most(u, HISTORY_SOURCES);
	h->lead = (uint8_t)unpack_at_most(u, count > 0 ? count - 1 : 0);
	if (!u->bad && count > 0) {
		h->tracks = xcalloc(count, sizeof *h->tracks);
	}
	for (uint32_t i = 0; i < count && !u->bad; i++) {
		h->count++;
		h->serial++;
		unpack_track(u, h, &h->tracks[i]);
		u->bad |= has_twin(h, &h->tracks[i]);
	}
}

static void unpack_history(struct unpack *u, struct history *h, uint64_t version)
{
	h->window_s = (uint32_t)unpack_at_most(u, SIZING_WINDOW_MAX_S);
	h->half_life_s = (uint32_t)unpack_at_most(u, SIZING_WINDOW_MAX_S);
	h->runs = (int32_t)unpack_at_most(u, INT32_MAX);
	h->run_ms = h->base_ms = version > 1 ? unpack_time(u) : 0;
	u->bad |= h->window_s < 3600 || h->half_life_s < 60;
	u->bad |= !record_unpack(u, &kept_table, &h->kept);
	if (!u->bad) {
		unpack_tracks(u, h);
	}
	bool pooled = unpack_at_most(u, 1) == 1;
	if (pooled && version <= HISTORY_VERSION_PLAIN) {
		/* How full a pool was, in parts of one of unknown size: that says nothing. */
		struct levels former;
		levels_unpack(&former, u);
		levels_finish(&former);
	} else if (pooled) {
		h->pool = pool_create(h->half_life_s, h->window_s);
		pool_unpack(h->pool, u);
		u->bad |= h->pool->use.window_s != h->window_s;
	}
}

/* What is told for a time to come would be fresh until then. */
static bool is_after(const struct history *h, int64_t ms)
{
	bool after = h->pool != NULL && pool_is_after(h->pool, ms);
	for (uint32_t i = 0; i < h->count; i++) {
		const struct track *t = &h->tracks[i];
		after |= t->last_ms > ms || t->active > ms / MINUTE_MS ||
			 t->recent.last > ms / MINUTE_MS;
		after |= t->hours.last > ms / HOUR_MS || levels_is_after(&t->compute, ms);
	}
	return after || h->run_ms > ms || h->kept.told_ms > ms || h->kept.compute.since_ms > ms ||
	       h->kept.memory.since_ms > ms;
}

int history_unpack(struct view bytes, int64_t now_ms, struct history **ret, struct fault *ret_fault)
{
	CLEANUP(arena_finish) struct arena arena = {0};
	struct unpack u = {.p = bytes.p, .n = bytes.n, .arena = &arena};
	if (bytes.n > HISTORY_BYTES_MAX) {
		return fault_set(ret_fault, FAULT_INVALID, "history: %zu bytes, at most %zu",
			bytes.n, HISTORY_BYTES_MAX);
	}
	uint64_t version = unpack_u64(&u);
	if (u.bad || version < 1 || version > HISTORY_VERSION) {
		return fault_set(ret_fault, FAULT_INVALID,
			"history: version %llu, this program reads %d", (unsigned long long)version,
			HISTORY_VERSION);
	}
	struct history *h = xcalloc(1, sizeof *h);
	unpack_history(&u, h, version);
	if (!u.bad && is_after(h, now_ms + AHEAD_MS)) {
		history_destroy(h);
		return fault_set(ret_fault, FAULT_INVALID, "history: of a time to come");
	}
	if (u.bad || u.n > 0) {
		history_destroy(h);
		return fault_set(ret_fault, FAULT_INVALID, "history: %s",
			u.bad ? "cut short, or no such values" : "bytes follow it");
	}
	*ret = h;
	return 0;
}
