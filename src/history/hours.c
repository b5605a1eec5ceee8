/* Peaks of memory by the hour. A cell is 20 bits of MiB, 6 of the minutes in which memory was told
 * and 6 of those in which compute was. */
#include "hours.h"

#include <stdlib.h>

#include "history/history.h"

#define MIB_BITS     12
#define MEMORY_BITS  6
#define MINUTES_MASK 63u
#define RISE_MIB     64
#define RISE_PERCENT 1

static uint16_t cells_for(uint32_t window_s)
{
	return (uint16_t)((window_s + 3599) / 3600 + 1);
}

void hours_init(struct hours *h, uint32_t window_s)
{
	*h = (struct hours){.count = cells_for(window_s)};
	h->cells = xcalloc(h->count, sizeof *h->cells);
}

void hours_finish(struct hours *h)
{
	free(h->cells);
	h->cells = NULL;
}

static uint32_t *cell_at(const struct hours *h, int32_t hour)
{
	return &h->cells[(uint32_t)hour % h->count];
}

void hours_fit(struct hours *h, uint32_t window_s)
{
	struct hours former = *h;
	if (cells_for(window_s) == h->count) {
		return;
	}
	h->count = cells_for(window_s);
	h->cells = xcalloc(h->count, sizeof *h->cells);
	uint16_t kept = h->count < former.count ? h->count : former.count;
	for (int32_t hour = h->last; hour > h->last - kept && hour > 0; hour--) {
		*cell_at(h, hour) = *cell_at(&former, hour);
	}
	hours_finish(&former);
}

/* --- adding --- */

static void hours_roll_to(struct hours *h, int32_t hour)
{
	if (hour <= h->last) {
		return;
	}
	int32_t from = hour - h->last >= h->count ? hour - h->count + 1 : h->last + 1;
	for (int32_t i = from; i <= hour; i++) {
		*cell_at(h, i) = 0;
	}
	h->last = hour;
}

static void minutes_roll_to(struct hours *h, int32_t minute)
{
	int32_t by = minute - h->minute;
	if (by <= 0) {
		return;
	}
	h->compute_bits = by < 64 ? h->compute_bits << by : 0;
	h->memory_bits = by < 64 ? h->memory_bits << by : 0;
	h->minute = minute;
}

/* Is this minute one more than the hour has? Of what is told more than an hour late nobody knows
 * whether it was counted: it makes one minute, so that its hour is no gap. */
static bool note_minute(struct hours *h, uint64_t *bits, int64_t at_ms, uint32_t minutes)
{
	int32_t minute = (int32_t)(at_ms / MINUTE_MS);
	minutes_roll_to(h, minute);
	int32_t back = h->minute - minute;
	if (back >= 64) {
		return minutes == 0;
	}
	uint64_t bit = (uint64_t)1 << back;
	bool found = (*bits & bit) != 0;
	*bits |= bit;
	return !found && minutes < 60;
}

static uint32_t *hour_cell(struct hours *h, int64_t at_ms)
{
	int32_t hour = (int32_t)(at_ms / HOUR_MS);
	hours_roll_to(h, hour);
	return h->last - hour < h->count ? cell_at(h, hour) : NULL;
}

void hours_add_memory(struct hours *h, int64_t mib, int64_t at_ms)
{
	uint32_t *cell = hour_cell(h, at_ms);
	if (cell == NULL) {
		return;
	}
	uint32_t most = mib < HISTORY_MIB_MAX ? (uint32_t)mib : HISTORY_MIB_MAX;
	if (most > *cell >> MIB_BITS) {
		*cell = most << MIB_BITS | (*cell & ((1u << MIB_BITS) - 1));
	}
	uint32_t minutes = *cell >> MEMORY_BITS & MINUTES_MASK;
	if (note_minute(h, &h->memory_bits, at_ms, minutes)) {
		*cell += 1u << MEMORY_BITS;
	}
}

void hours_add_compute(struct hours *h, int64_t at_ms)
{
	uint32_t *cell = hour_cell(h, at_ms);
	if (cell != NULL && note_minute(h, &h->compute_bits, at_ms, *cell & MINUTES_MASK)) {
		*cell += 1;
	}
}

void hours_merge(struct hours *h, const struct hours *other)
{
	hours_roll_to(h, other->last);
	for (int32_t i = other->last; i > other->last - other->count && i > 0; i--) {
		uint32_t *cell = h->last - i < h->count ? cell_at(h, i) : NULL,
			 from = *cell_at(other, i);
		if (cell == NULL || (from >> MEMORY_BITS & MINUTES_MASK) == 0) {
			continue;
		}
		uint32_t mib =
			from >> MIB_BITS > *cell >> MIB_BITS ? from >> MIB_BITS : *cell >> MIB_BITS;
		uint32_t minutes = (from >> MEMORY_BITS & MINUTES_MASK) +
				   (*cell >> MEMORY_BITS & MINUTES_MASK);
		minutes = minutes < 60 ? minutes : 60;
		*cell = mib << MIB_BITS | minutes << MEMORY_BITS | (*cell & MINUTES_MASK);
	}
	minutes_roll_to(h, other->minute);
}

/* --- reading --- */

/* The first hour that is looked at. */
static int32_t first_hour(const struct hours *h, uint32_t hours, int64_t now_ms)
{
	int32_t now = (int32_t)(now_ms / HOUR_MS), oldest = h->last - h->count + 1;
	int32_t first = now - (int32_t)hours;
	first = first < oldest ? oldest : first;
	return first > 0 ? first : 1;
}

int64_t hours_peak(const struct hours *h, uint32_t hours, int64_t now_ms)
{
	int64_t peak = -1;
	for (int32_t i = first_hour(h, hours, now_ms); i <= h->last; i++) {
		uint32_t cell = *cell_at(h, i);
		int64_t mib = cell >> MIB_BITS;
		if ((cell >> MEMORY_BITS & MINUTES_MASK) > 0 && mib > peak) {
			peak = mib;
		}
	}
	return peak;
}

void hours_observed(
	const struct hours *h, int64_t now_ms, int64_t *ret_compute, int64_t *ret_memory)
{
	*ret_compute = *ret_memory = 0;
	for (int32_t i = first_hour(h, h->count - 1u, now_ms); i <= h->last; i++) {
		*ret_compute += *cell_at(h, i) & MINUTES_MASK;
		*ret_memory += *cell_at(h, i) >> MEMORY_BITS & MINUTES_MASK;
	}
}

/* What rises by less is rounding. */
static bool rises(int64_t from, int64_t to)
{
	return from > 0 && to > from + RISE_MIB && to * 100 > from * (100 + RISE_PERCENT);
}

int32_t hours_rising(const struct hours *h, int64_t now_ms)
{
	int32_t count = 0, now = (int32_t)(now_ms / HOUR_MS);
	if (h->last < now - 1) {
		return 0;
	}
	/* The hour that is not over may be one in which the rise is still to come. */
	int32_t to = h->last;
	if (to == now && !rises(*cell_at(h, to - 1) >> MIB_BITS, *cell_at(h, to) >> MIB_BITS)) {
		to--;
	}
	while (count < h->count - 2 &&
		rises(*cell_at(h, to - 1) >> MIB_BITS, *cell_at(h, to) >> MIB_BITS)) {
		count++;
		to--;
	}
	return count;
}

/* --- as bytes --- */

void hours_pack(const struct hours *h, struct str *out)
{
	pack_i64(out, h->last);
	pack_i64(out, h->minute);
	pack_u64(out, h->quiet);
	pack_u64(out, h->compute_bits);
	pack_u64(out, h->memory_bits);
	for (int32_t i = 0; i < h->count; i++) {
		pack_u64(out, h->last < h->count ? 0 : *cell_at(h, h->last - i));
	}
}

void hours_unpack(struct hours *h, uint32_t window_s, struct unpack *u)
{
	hours_init(h, window_s);
	int64_t last = unpack_i64(u), minute = unpack_i64(u);
	uint64_t quiet = unpack_u64(u);
	u->bad |= quiet > UINT16_MAX || last < 0 || last > INT32_MAX / 60 || minute < 0 ||
		  minute > INT32_MAX;
	u->bad |= minute / 60 > last || (last > 0 && last < h->count);
	if (u->bad) {
		return;
	}
	h->last = (int32_t)last;
	h->minute = (int32_t)minute;
	h->quiet = (uint16_t)quiet;
	h->compute_bits = unpack_u64(u);
	h->memory_bits = unpack_u64(u);
	for (int32_t i = 0; i < h->count; i++) {
		uint64_t cell = unpack_u64(u);
		u->bad |= cell > UINT32_MAX || (cell & MINUTES_MASK) > 60 ||
			  (cell >> MEMORY_BITS & MINUTES_MASK) > 60 || (cell != 0 && h->last == 0);
		if (h->last > 0 && !u->bad) {
			*cell_at(h, h->last - i) = (uint32_t)cell;
		}
	}
}
