/* A histogram that forgets. */
#include "levels.h"

#include <stdlib.h>

/* 2^(i/64), 16 bits after the point. Between two of them a line is off by less than 1 in 60000. */
static const uint32_t powers[65] = {65536, 66250, 66971, 67700, 68438, 69183, 69936, 70698, 71468,
	72246, 73032, 73828, 74632, 75444, 76266, 77096, 77936, 78785, 79642, 80510, 81386, 82273,
	83169, 84074, 84990, 85915, 86851, 87796, 88752, 89719, 90696, 91684, 92682, 93691, 94711,
	95743, 96785, 97839, 98905, 99982, 101070, 102171, 103283, 104408, 105545, 106694, 107856,
	109031, 110218, 111418, 112631, 113858, 115098, 116351, 117618, 118899, 120194, 121502,
	122825, 124163, 125515, 126882, 128263, 129660, 131072};

#define FORGOTTEN_AFTER 32 /* half lives, after which nothing of a 32 bit weight is left */

/* --- time --- */

static int64_t turn_ms(const struct levels *l)
{
	return (int64_t)l->window_s * 1000 / LEVELS_WINDOW;
}

static int32_t turn_at(const struct levels *l, int64_t at_ms)
{
	return (int32_t)(at_ms / turn_ms(l));
}

/* How many turns ago it was seen. */
static int32_t turns_since_seen(const struct levels *l, uint8_t seen, int32_t turn)
{
	return turn - l->turn + (uint8_t)((uint32_t)l->turn - seen);
}

/* --- those that were seen --- */

#define GROW	     4
#define BYTES_OF_ONE (sizeof(uint32_t) + 2)

static uint8_t *seen_in(const struct levels *l)
{
	return (uint8_t *)(l->weights + l->room);
}

static uint8_t *numbers_in(const struct levels *l)
{
	return seen_in(l) + l->room;
}

/* Where it is, or would be. */
static uint32_t level_index(const struct levels *l, uint32_t level)
{
	const uint8_t *numbers = numbers_in(l);
	uint32_t at = 0;
	while (at < l->count && numbers[at] < level) {
		at++;
	}
	return at;
}

static bool is_at(const struct levels *l, uint32_t at, uint32_t level)
{
	return at < l->count && numbers_in(l)[at] == level;
}

static void grow(struct levels *l)
{
	struct levels more = *l;
	more.room = (uint8_t)(l->room + GROW < LEVELS ? l->room + GROW : LEVELS);
	more.weights = xcalloc(more.room, BYTES_OF_ONE);
	if (l->count > 0) {
		memcpy(more.weights, l->weights, l->count * sizeof *l->weights);
		memcpy(seen_in(&more), seen_in(l), l->count);
		memcpy(numbers_in(&more), numbers_in(l), l->count);
	}
	free(l->weights);
	*l = more;
}

/* Made if need be, without any weight, seen in that turn. */
static uint32_t level_ensure(struct levels *l, uint32_t level, int32_t turn)
{
	uint32_t at = level_index(l, level);
	if (is_at(l, at, level)) {
		return at;
	}
	if (l->count == l->room) {
		grow(l);
	}
	size_t after = l->count - at;
	memmove(&l->weights[at + 1], &l->weights[at], after * sizeof *l->weights);
	memmove(&seen_in(l)[at + 1], &seen_in(l)[at], after);
	memmove(&numbers_in(l)[at + 1], &numbers_in(l)[at], after);
	l->count++;
	l->weights[at] = 0;
	seen_in(l)[at] = (uint8_t)turn;
	numbers_in(l)[at] = (uint8_t)level;
	return at;
}

/* What has no weight is not there. */
static void drop_empty(struct levels *l)
{
	uint8_t kept = 0, *seen = seen_in(l), *numbers = numbers_in(l);
	for (uint32_t i = 0; i < l->count; i++) {
		if (l->weights[i] > 0) {
			l->weights[kept] = l->weights[i];
			seen[kept] = seen[i];
			numbers[kept++] = numbers[i];
		}
	}
	l->count = kept;
}

uint32_t levels_weight(const struct levels *l, uint32_t level)
{
	uint32_t at = level_index(l, level);
	return is_at(l, at, level) ? l->weights[at] : 0;
}

size_t levels_bytes(const struct levels *l)
{
	return l->room * BYTES_OF_ONE;
}

/* --- forgetting --- */

/* The turns are counted in 8 bits, so whoever is out of the window has to go before they wrap. */
static void levels_expire(struct levels *l, int32_t turn)
{
	if (turn <= l->turn) {
		return;
	}
	for (uint32_t i = 0; i < l->count; i++) {
		if (turns_since_seen(l, seen_in(l)[i], turn) > LEVELS_WINDOW) {
			l->weights[i] = 0;
		}
	}
	drop_empty(l);
	l->turn = turn;
}

static void halve(struct levels *l)
{
	for (uint32_t i = 0; i < l->count; i++) {
		l->weights[i] /= 2;
	}
	drop_empty(l);
}

static void levels_advance_to(struct levels *l, int64_t at_ms)
{
	int64_t half_life = (int64_t)l->half_life_s * 1000;
	levels_expire(l, turn_at(l, at_ms));
	if (l->reference_ms == 0 || at_ms - l->reference_ms > FORGOTTEN_AFTER * half_life) {
		if (l->reference_ms != 0) {
			l->count = l->scale = 0; /* all is forgotten */
		}
		l->reference_ms = at_ms;
	}
	while (at_ms - l->reference_ms >= half_life) {
		if (l->scale > 0) {
			l->scale--;
		} else {
			halve(l);
		}
		l->reference_ms += half_life;
	}
}

/* --- weights --- */

/* Of a sample in the half life that begins with the reference, or before it: 1 at least. */
static uint32_t weigh(const struct levels *l, int64_t at_ms)
{
	int64_t half_life = (int64_t)l->half_life_s * 1000;
	int64_t since = at_ms - l->reference_ms;
	uint32_t shift = l->scale;
	while (since < 0 && shift < FORGOTTEN_AFTER) {
		since += half_life;
		shift++;
	}
	if (since < 0) {
		return 0;
	}
	int64_t position = since * 64, i = position / half_life;
	int64_t rest = position % half_life, step = (int64_t)powers[i + 1] - powers[i];
	uint64_t weight = (uint64_t)(powers[i] + step * rest / half_life) >> shift;
	return weight == 0 && shift == l->scale ? 1 : (uint32_t)weight;
}

/* So that each level could take all of it. */
static uint32_t scale_for_weight(struct levels *l, uint32_t weight)
{
	uint32_t most = 0;
	for (uint32_t i = 0; i < l->count; i++) {
		most = l->weights[i] > most ? l->weights[i] : most;
	}
	while (most >= LEVELS_FULL - weight) {
		halve(l);
		most /= 2;
		weight /= 2;
		l->scale = (uint8_t)(l->scale + (l->scale < LEVELS_SCALE_MAX));
	}
	return weight;
}

static void level_mark_seen(struct levels *l, uint32_t at, int32_t turn)
{
	uint8_t *seen = &seen_in(l)[at];
	if (turns_since_seen(l, *seen, l->turn) > l->turn - turn) {
		*seen = (uint8_t)turn;
	}
}

static void add_at(struct levels *l, uint32_t level, uint32_t weight, int32_t turn)
{
	if (weight == 0 && levels_weight(l, level) == 0) {
		return; /* it was seen too long ago to count */
	}
	uint32_t at = level_ensure(l, level, turn);
	level_mark_seen(l, at, turn);
	l->weights[at] += weight;
}

void levels_add(struct levels *l, uint32_t level, int64_t at_ms)
{
	int32_t turn = turn_at(l, at_ms);
	ENSURE(level < LEVELS);
	levels_advance_to(l, at_ms);
	if (l->turn - turn > LEVELS_WINDOW) {
		return; /* older than the window */
	}
	add_at(l, level, scale_for_weight(l, weigh(l, at_ms)), turn);
}

void levels_add_censored(struct levels *l, uint32_t level, int64_t at_ms)
{
	int32_t turn = turn_at(l, at_ms);
	ENSURE(level < LEVELS);
	levels_advance_to(l, at_ms);
	if (l->turn - turn > LEVELS_WINDOW) {
		return;
	}
	uint64_t weight = scale_for_weight(l, weigh(l, at_ms)), left = weight;
	uint64_t above = 0;
	for (uint32_t i = level_index(l, level); i < l->count; i++) {
		above += l->weights[i];
	}
	for (uint32_t i = level_index(l, level + 1); i < l->count; i++) {
		uint64_t part = weight * l->weights[i] / above;
		level_mark_seen(l, i, turn);
		l->weights[i] += (uint32_t)part;
		left -= part;
	}
	add_at(l, level, (uint32_t)left, turn);
}

/* --- reading --- */

static uint32_t weight_at(const struct levels *l, uint32_t at, int32_t turn)
{
	bool forgotten =
		turn > l->turn && turns_since_seen(l, seen_in(l)[at], turn) > LEVELS_WINDOW;
	return forgotten ? 0 : l->weights[at];
}

int32_t levels_percentile(const struct levels *l, int32_t percent, int64_t now_ms)
{
	int32_t turn = turn_at(l, now_ms);
	uint64_t total = 0, below = 0;
	for (uint32_t i = 0; i < l->count; i++) {
		total += weight_at(l, i, turn);
	}
	for (uint32_t i = 0; total > 0 && i < l->count; i++) {
		below += weight_at(l, i, turn);
		if (below > 0 && below * 100 >= total * (uint32_t)percent) {
			return (int32_t)numbers_in(l)[i];
		}
	}
	return -1;
}

/* --- another scale --- */

/* What was at two levels and is at one now was seen when the later of them was. */
static void level_merge(struct levels *l, uint32_t at, uint32_t from)
{
	uint8_t *seen = seen_in(l);
	bool later =
		turns_since_seen(l, seen[from], l->turn) < turns_since_seen(l, seen[at], l->turn);
	seen[at] = later ? seen[from] : seen[at];
	uint32_t room = LEVELS_FULL - 1 - l->weights[from];
	l->weights[at] =
		l->weights[at] < room ? l->weights[at] + l->weights[from] : LEVELS_FULL - 1;
	l->weights[from] = 0;
}

void levels_shrink(struct levels *l, int64_t from, int64_t to)
{
	uint32_t at = 0;
	ENSURE(from > 0 && to >= from && to <= INT64_MAX / (2 * LEVELS));
	for (uint32_t i = 0; i < l->count; i++) {
		uint8_t *numbers = numbers_in(l);
		uint8_t level = (uint8_t)(((numbers[i] + 1) * from + to - 1) / to - 1);
		if (i > 0 && numbers[at] == level) {
			level_merge(l, at, i);
			continue;
		}
		at = i;
		numbers[i] = level;
	}
	drop_empty(l);
}

/* --- the policy's times --- */

void levels_init(struct levels *l, uint32_t half_life_s, uint32_t window_s)
{
	memset(l, 0, sizeof *l);
	l->window_s = window_s;
	l->half_life_s = half_life_s < window_s ? half_life_s : window_s;
}

void levels_finish(struct levels *l)
{
	free(l->weights);
	l->weights = NULL;
	l->count = l->room = 0;
}

void levels_fit(struct levels *l, uint32_t half_life_s, uint32_t window_s, int64_t now_ms)
{
	levels_expire(l, turn_at(l, now_ms));
	const struct levels former = *l; /* its times alone */
	l->window_s = window_s;
	l->half_life_s = half_life_s < window_s ? half_life_s : window_s;
	l->turn = turn_at(l, now_ms);
	if (l->reference_ms != 0) {
		/* A new sample must weigh what it did just before. */
		int64_t since = now_ms > l->reference_ms ? now_ms - l->reference_ms : 0;
		l->reference_ms += since - since * l->half_life_s / former.half_life_s;
	}
	for (uint32_t i = 0; i < l->count; i++) {
		uint8_t *seen = &seen_in(l)[i];
		int64_t age = turns_since_seen(&former, *seen, former.turn) * turn_ms(&former) /
			      turn_ms(l);
		l->weights[i] = age > LEVELS_WINDOW ? 0 : l->weights[i];
		*seen = (uint8_t)((uint32_t)l->turn - (uint32_t)age);
	}
	drop_empty(l);
}

bool levels_is_after(const struct levels *l, int64_t ms)
{
	return l->reference_ms > ms || l->turn * turn_ms(l) > ms;
}

/* --- as bytes --- */

void levels_pack(const struct levels *l, struct str *out)
{
	pack_u64(out, l->half_life_s);
	pack_u64(out, l->window_s);
	pack_i64(out, l->turn);
	pack_i64(out, l->reference_ms);
	pack_u64(out, l->scale);
	for (uint32_t level = 0, at = 0; level < LEVELS; level++) {
		if (!is_at(l, at, level)) {
			pack_u64(out, 0);
			continue;
		}
		pack_u64(out, l->weights[at]);
		pack_u64(out, (uint64_t)turns_since_seen(l, seen_in(l)[at], l->turn));
		at++;
	}
}

uint64_t unpack_at_most(struct unpack *u, uint64_t most)
{
	uint64_t value = unpack_u64(u);
	u->bad |= value > most;
	return u->bad ? 0 : value;
}

void levels_unpack(struct levels *l, struct unpack *u)
{
	uint32_t half_life_s = (uint32_t)unpack_at_most(u, SIZING_WINDOW_MAX_S);
	uint32_t window_s = (uint32_t)unpack_at_most(u, SIZING_WINDOW_MAX_S);
	levels_init(l, half_life_s, window_s);
	int64_t turn = unpack_i64(u), reference = unpack_i64(u);
	l->scale = (uint8_t)unpack_at_most(u, LEVELS_SCALE_MAX);
	u->bad |= half_life_s < 60 || window_s < 3600 || half_life_s > window_s;
	u->bad |= turn < 0 || turn > INT32_MAX || reference < 0 || reference > LEVELS_TIME_MAX;
	if (u->bad) {
		return;
	}
	l->turn = (int32_t)turn;
	l->reference_ms = reference;
	u->bad |= reference >= (turn + 1) * turn_ms(l);
	for (uint32_t level = 0; level < LEVELS && !u->bad; level++) {
		uint32_t weight = (uint32_t)unpack_at_most(u, LEVELS_FULL - 1);
		if (weight > 0) {
			int32_t seen = (int32_t)(turn - (int64_t)unpack_at_most(u, LEVELS_WINDOW));
			uint32_t at = level_ensure(l, level, seen);
			l->weights[at] = weight;
		}
	}
}
