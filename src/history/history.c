/* One container's past: what is told, who leads, what is known. */
#include "history/history.h"

#include <stdlib.h>

#include "base/number.h"
#include "track.h"

#define AHEAD_MS 30000 /* clocks of nodes differ */
#define FEED_MAX 40000

struct history *history_create(void)
{
	static const struct sizing sizing = SIZING_DEFAULT;
	struct history *h = xcalloc(1, sizeof *h);
	history_fit(h, &sizing, 0);
	return h;
}

void history_destroy(struct history *h)
{
	if (h == NULL) {
		return;
	}
	for (uint32_t i = 0; i < h->count; i++) {
		track_finish(&h->tracks[i]);
	}
	free(h->tracks);
	pool_destroy(h->pool);
	free(h);
}

void history_fit(struct history *h, const struct sizing *s, int64_t now_ms)
{
	uint32_t window_s = (uint32_t)s->window_s, half_life_s = (uint32_t)s->half_life_s;
	h->active_above = (uint32_t)s->active_above_percent;
	if (window_s == h->window_s && half_life_s == h->half_life_s) {
		return;
	}
	h->window_s = window_s;
	h->half_life_s = half_life_s;
	for (uint32_t i = 0; i < h->count; i++) {
		levels_fit(&h->tracks[i].compute, half_life_s, window_s, now_ms);
		hours_fit(&h->tracks[i].hours, window_s);
	}
	if (h->pool != NULL) {
		levels_fit(&h->pool->use, half_life_s, window_s, now_ms);
	}
}

static int64_t heard_ms(const struct history *h)
{
	int64_t last_ms = 0;
	for (uint32_t i = 0; i < h->count; i++) {
		last_ms = larger_of(last_ms, h->tracks[i].last_ms);
	}
	return last_ms;
}

size_t history_bytes(const struct history *h)
{
	size_t bytes = sizeof *h + (h->pool != NULL ? pool_bytes(h->pool) : 0);
	for (uint32_t i = 0; i < h->count; i++) {
		const struct hours *hours = &h->tracks[i].hours;
		const char *basis = h->tracks[i].basis;
		bytes += sizeof h->tracks[i] + hours->count * sizeof *hours->cells;
		bytes += levels_bytes(&h->tracks[i].compute);
		bytes += basis != NULL ? strlen(basis) + 1 : 0;
	}
	return bytes;
}

struct history_kept *history_kept(struct history *h)
{
	return &h->kept;
}

/* --- what is told --- */

void history_leave(struct history *h, struct history_feed *f)
{
	struct track *t = f->count > 0 ? track_find(h, f->serial) : NULL;
	if (t != NULL) {
		track_add_minute(t, h, f->sum / f->count, f->wall, f->minute);
	}
	f->sum = 0;
	f->count = 0;
}

bool history_take(
	struct history *h, struct history_feed *f, const struct history_sample *s, int64_t now_ms)
{
	int32_t minute = (int32_t)(s->at_ms / MINUTE_MS);
	bool can_be = s->at_ms <= now_ms + AHEAD_MS && s->at_ms > EARLIEST_MS &&
		      s->at_ms > now_ms - (int64_t)h->window_s * 1000 &&
		      (s->compute >= 0 || s->mem_bytes >= 0);
	if (s->at_ms <= f->last_ms || !can_be) {
		return false;
	}
	struct track *t = track_touch(h, &s->source);
	if (minute != f->minute || t->serial != f->serial) {
		history_leave(h, f);
	}
	f->last_ms = s->at_ms;
	f->minute = minute;
	f->serial = t->serial;
	t->samples += t->samples < UINT32_MAX;
	t->first_ms = t->first_ms == 0 || s->at_ms < t->first_ms ? s->at_ms : t->first_ms;
	t->last_ms = larger_of(t->last_ms, s->at_ms);
	if (s->compute >= 0 && f->count < FEED_MAX) {
		f->sum += (uint32_t)smaller_of(s->compute, METERED_FULL);
		f->count++;
	}
	if (s->compute >= 0) {
		bool walled = s->wall > 0 && s->wall < METERED_FULL;
		f->wall = walled ? (uint32_t)s->wall : METERED_FULL;
	}
	if (s->mem_bytes >= 0) {
		hours_add_memory(&t->hours, (s->mem_bytes + (1 << 20) - 1) >> 20, s->at_ms);
	}
	return true;
}

void history_settle(struct history *h, struct history_feed *f, int64_t now_ms)
{
	if (now_ms / MINUTE_MS > f->minute) {
		history_leave(h, f);
	}
}

bool history_adopt(struct history *h, struct history *past, int64_t now_ms)
{
	bool taken = false,
	     fits = h->window_s == past->window_s && h->half_life_s == past->half_life_s;
	for (uint32_t i = 0; i < past->count && fits; i++) {
		taken = track_adopt(h, &past->tracks[i], now_ms) || taken;
	}
	history_destroy(past);
	return taken;
}

void history_merge(struct history *h, struct history *before, int64_t now_ms)
{
	const struct sizing fits = {.window_s = h->window_s,
		.half_life_s = h->half_life_s,
		.active_above_percent = (int32_t)h->active_above};
	history_fit(before, &fits, now_ms);
	for (uint32_t i = 0; i < before->count; i++) {
		track_merge(h, &before->tracks[i], now_ms);
	}
	if (before->pool != NULL) {
		pool_destroy(h->pool);
		h->pool = before->pool;
		before->pool = NULL;
	}
	/* Some may have been counted twice: one too few does less harm than one too many. */
	h->runs = before->runs > h->runs ? before->runs : h->runs;
	h->run_ms = larger_of(h->run_ms, before->run_ms);
	h->base_ms = larger_of(h->base_ms, before->base_ms);
	/* What was decided since then is newer, and what is known of its class is worth keeping. */
	const struct history_kept since = h->kept;
	h->kept = before->kept;
	h->kept.held = since.held.milli > 0 ? since.held : before->kept.held;
	if (h->kept.memory_class == 0) {
		h->kept.memory_class = since.memory_class;
	}
	history_destroy(before);
}

/* Who was read from a checkpoint may have counted any that is not younger: one too few does less
 * harm than one too many. */
bool history_add_run(struct history *h, int64_t created_ms, bool known)
{
	if (heard_ms(h) < created_ms || (!known && created_ms <= h->base_ms)) {
		return false;
	}
	h->runs += h->runs < INT32_MAX;
	h->run_ms = larger_of(h->run_ms, created_ms);
	return true;
}

/* --- who leads --- */

static bool is_enough(
	const struct history *h, const struct track *t, const struct sizing *s, int64_t now_ms)
{
	int64_t seen_s = track_minutes(t, now_ms) * 60;
	if (s->required_runs > 0 && h->runs >= s->required_runs && seen_s >= s->required_run_s) {
		return true;
	}
	return (s->required_runs == 0 || s->required_s > 0) && seen_s >= s->required_s;
}

static bool track_is_fresh(const struct track *t, int64_t now_ms)
{
	return now_ms - t->last_ms <= HISTORY_FRESH_MS;
}

static int32_t source_rank(const struct track *t)
{
	return t->source * 2 + (t->estimated ? 1 : 0);
}

/* Another one takes the lead if it knows enough and the leader does not; or it is heard, and the
 * leader is the worse source, or has been silent for as long as it takes to know enough. While
 * neither knows enough nothing is done by either, and the one shown is the one that is heard. */
static bool takes_lead(
	const struct history *h, const struct track *t, const struct sizing *s, int64_t now_ms)
{
	const struct track *lead = &h->tracks[h->lead];
	bool silent = !track_is_fresh(lead, now_ms);
	if (!track_is_fresh(t, now_ms)) {
		return is_enough(h, t, s, now_ms) && !is_enough(h, lead, s, now_ms);
	}
	if (!is_enough(h, lead, s, now_ms)) {
		return is_enough(h, t, s, now_ms) ||
		       (silent && track_minutes(t, now_ms) > track_minutes(lead, now_ms));
	}
	bool long_silent = silent && now_ms - lead->last_ms >= s->required_s * 1000;
	return is_enough(h, t, s, now_ms) && (long_silent || source_rank(t) < source_rank(lead));
}

/* --- what is known --- */

static enum history_state history_state_at(
	const struct history *h, const struct sizing *s, int64_t now_ms, bool running)
{
	const struct track *lead = &h->tracks[h->lead];
	if (running && now_ms - heard_ms(h) > HISTORY_FRESH_MS) {
		return HISTORY_STALE;
	}
	bool led = !running || track_is_fresh(lead, now_ms);
	return led && is_enough(h, lead, s, now_ms) ? HISTORY_SUFFICIENT : HISTORY_LEARNING;
}

struct history_facts history_judge(
	struct history *h, const struct sizing *s, int64_t now_ms, bool running)
{
	struct history_facts f = {.state = HISTORY_NONE, .runs = h->runs};
	if (h->count == 0) {
		return f;
	}
	for (uint32_t i = 0; i < h->count; i++) {
		if (i != h->lead && takes_lead(h, &h->tracks[i], s, now_ms)) {
			h->lead = (uint8_t)i;
		}
	}
	const struct track *lead = &h->tracks[h->lead];
	f.first_ms = lead->first_ms;
	for (uint32_t i = 0; i < h->count; i++) {
		const struct track *t = &h->tracks[i];
		f.first_ms = smaller_of(f.first_ms, t->first_ms);
		f.last_ms = larger_of(f.last_ms, t->last_ms);
		f.active_ms = larger_of(f.active_ms, (int64_t)t->active * MINUTE_MS);
		f.samples += t->samples;
	}
	hours_observed(&lead->hours, now_ms, &f.compute_minutes, &f.mem_minutes);
	int64_t rarer = smaller_of(f.compute_minutes, f.mem_minutes);
	f.coverage_percent = (int32_t)smaller_of(rarer * 60 * 100 / h->window_s, 100);
	f.quiet_minutes = lead->hours.quiet;
	f.source = track_source(lead);
	f.state = history_state_at(h, s, now_ms, running);
	return f;
}

int32_t history_compute(const struct history *h, int32_t percentile, int64_t now_ms)
{
	int32_t level = -1;
	if (h->count > 0) {
		level = levels_percentile(&h->tracks[h->lead].compute, percentile, now_ms);
	}
	return level < 0 ? -1 : level + 1;
}

int32_t history_recent(const struct history *h, int32_t percentile, int64_t now_ms)
{
	int64_t compute = -1;
	if (h->count > 0) {
		compute = recent_median(&h->tracks[h->lead].recent, percentile, now_ms);
	}
	int64_t level = compute / (METERED_FULL / LEVELS);
	return compute < 0 ? -1 : (int32_t)(level < LEVELS ? level + 1 : LEVELS);
}

static int64_t peak_of(const struct history *h, uint32_t hours, int64_t now_ms)
{
	int64_t peak = -1;
	for (uint32_t i = 0; i < h->count; i++) {
		peak = larger_of(peak, hours_peak(&h->tracks[i].hours, hours, now_ms));
	}
	return peak;
}

int64_t history_peak(const struct history *h, int64_t now_ms)
{
	return peak_of(h, (h->window_s + 3599) / 3600, now_ms);
}

int64_t history_used(const struct history *h, int64_t now_ms)
{
	return peak_of(h, 1, now_ms);
}

int32_t history_rising(const struct history *h, int64_t now_ms)
{
	return h->count > 0 ? hours_rising(&h->tracks[h->lead].hours, now_ms) : 0;
}
