/* A histogram that forgets. */
#include "levels.h"

#include <string.h>

#include "base/alloc.h"

/* 2^(i/64), 16 bits after the point. Between two of them a line is off by less than 1 in 60000. */
static const uint32_t powers[65] = {
	65536,
	66250,
	66971,
	67700,
	68438,
	69183,
	69936,
	70698,
	71468,
	72246,
	73032,
	73828,
	74632,
	75444,
	76266,
	77096,
	77936,
	78785,
	79642,
	80510,
	81386,
	82273,
	83169,
	84074,
	84990,
	85915,
	86851,
	87796,
	88752,
	89719,
	90696,
	91684,
	92682,
	93691,
	94711,
	95743,
	96785,
	97839,
	98905,
	99982,
	101070,
	102171,
	103283,
	104408,
	105545,
	106694,
	107856,
	109031,
	110218,
	111418,
	112631,
	113858,
	115098,
	116351,
	117618,
	118899,
	120194,
	121502,
	122825,
	124163,
	125515,
	126882,
	128263,
	129660,
	131072,
};

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
static int32_t age_of(const struct levels *l, uint32_t level, int32_t turn)
{
	return turn - l->turn + (uint8_t)((uint32_t)l->turn - l->seen[level]);
}

static void forget_all(struct levels *l)
{
	memset(l->weights, 0, sizeof l->weights);
	l->scale = 0;
	l->reference_ms = 0;
}

/* The turns are counted in 8 bits, so whoever is out of the window has to go before they wrap. */
static void forget_old(struct levels *l, int32_t turn)
{
	if (turn <= l->turn) {
		return;
	}
	for (uint32_t i = 0; i < LEVELS; i++) {
		if (age_of(l, i, turn) > LEVELS_WINDOW) {
			l->weights[i] = 0;
		}
	}
	l->turn = turn;
}

static void halve(struct levels *l)
{
	for (uint32_t i = 0; i < LEVELS; i++) {
		l->weights[i] /= 2;
	}
}

static void advance(struct levels *l, int64_t at_ms)
{
	int64_t half_life = (int64_t)l->half_life_s * 1000;
	forget_old(l, turn_at(l, at_ms));
	if (l->reference_ms == 0 || at_ms - l->reference_ms > FORGOTTEN_AFTER * half_life) {
		if (l->reference_ms != 0) {
			forget_all(l);
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
static uint32_t make_room(struct levels *l, uint32_t weight)
{
	uint32_t most = 0;
	for (uint32_t i = 0; i < LEVELS; i++) {
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

static void mark(struct levels *l, uint32_t level, int64_t at_ms)
{
	int32_t turn = turn_at(l, at_ms);
	bool later = l->weights[level] == 0 || age_of(l, level, l->turn) > l->turn - turn;
	if (later && l->turn - turn <= LEVELS_WINDOW) {
		l->seen[level] = (uint8_t)turn;
	}
}

void levels_add(struct levels *l, uint32_t level, int64_t at_ms)
{
	ENSURE(level < LEVELS);
	advance(l, at_ms);
	if (l->turn - turn_at(l, at_ms) > LEVELS_WINDOW) {
		return; /* older than the window */
	}
	mark(l, level, at_ms);
	l->weights[level] += make_room(l, weigh(l, at_ms));
}

static uint64_t weight_from(const struct levels *l, uint32_t level)
{
	uint64_t sum = 0;
	for (uint32_t i = level; i < LEVELS; i++) {
		sum += l->weights[i];
	}
	return sum;
}

void levels_add_censored(struct levels *l, uint32_t level, int64_t at_ms)
{
	ENSURE(level < LEVELS);
	advance(l, at_ms);
	if (l->turn - turn_at(l, at_ms) > LEVELS_WINDOW) {
		return;
	}
	uint64_t weight = make_room(l, weigh(l, at_ms)), left = weight;
	uint64_t above = weight_from(l, level);
	for (uint32_t i = level + 1; i < LEVELS; i++) {
		if (l->weights[i] > 0) {
			uint64_t part = weight * l->weights[i] / above;
			mark(l, i, at_ms);
			l->weights[i] += (uint32_t)part;
			left -= part;
		}
	}
	mark(l, level, at_ms);
	l->weights[level] += (uint32_t)left;
}

/* --- reading --- */

static uint32_t weight_at(const struct levels *l, uint32_t level, int32_t turn)
{
	bool forgotten = turn > l->turn && age_of(l, level, turn) > LEVELS_WINDOW;
	return forgotten ? 0 : l->weights[level];
}

int32_t levels_percentile(const struct levels *l, int32_t percent, int64_t now_ms)
{
	int32_t turn = turn_at(l, now_ms);
	uint64_t total = 0, below = 0;
	for (uint32_t i = 0; i < LEVELS; i++) {
		total += weight_at(l, i, turn);
	}
	for (uint32_t i = 0; total > 0 && i < LEVELS; i++) {
		below += weight_at(l, i, turn);
		if (below > 0 && below * 100 >= total * (uint32_t)percent) {
			return (int32_t)i;
		}
	}
	return -1;
}

/* --- the policy's times --- */

void levels_init(struct levels *l, uint32_t half_life_s, uint32_t window_s)
{
	memset(l, 0, sizeof *l);
	l->window_s = window_s;
	l->half_life_s = half_life_s < window_s ? half_life_s : window_s;
}

void levels_fit(struct levels *l, uint32_t half_life_s, uint32_t window_s, int64_t now_ms)
{
	forget_old(l, turn_at(l, now_ms));
	struct levels former = *l;
	l->window_s = window_s;
	l->half_life_s = half_life_s < window_s ? half_life_s : window_s;
	l->turn = turn_at(l, now_ms);
	if (l->reference_ms != 0) {
		/* A new sample must weigh what it did just before. */
		int64_t since = now_ms > l->reference_ms ? now_ms - l->reference_ms : 0;
		l->reference_ms += since - since * l->half_life_s / former.half_life_s;
	}
	for (uint32_t i = 0; i < LEVELS; i++) {
		int64_t age = age_of(&former, i, former.turn) * turn_ms(&former) / turn_ms(l);
		l->weights[i] = age > LEVELS_WINDOW ? 0 : l->weights[i];
		l->seen[i] = (uint8_t)((uint32_t)l->turn - (uint32_t)age);
	}
}

/* --- as bytes --- */

void levels_pack(const struct levels *l, struct str *out)
{
	pack_u64(out, l->half_life_s);
	pack_u64(out, l->window_s);
	pack_i64(out, l->turn);
	pack_i64(out, l->reference_ms);
	pack_u64(out, l->scale);
	for (uint32_t i = 0; i < LEVELS; i++) {
		pack_u64(out, l->weights[i]);
		if (l->weights[i] > 0) {
			pack_u64(out, (uint64_t)age_of(l, i, l->turn));
		}
	}
}

static uint64_t unpack_most(struct unpack *u, uint64_t most)
{
	uint64_t value = unpack_u64(u);
	u->bad |= value > most;
	return u->bad ? 0 : value;
}

void levels_unpack(struct levels *l, struct unpack *u)
{
	uint32_t half_life_s = (uint32_t)unpack_most(u, SIZING_WINDOW_MAX_S);
	uint32_t window_s = (uint32_t)unpack_most(u, SIZING_WINDOW_MAX_S);
	levels_init(l, half_life_s, window_s);
	int64_t turn = unpack_i64(u), reference = unpack_i64(u);
	l->scale = (uint8_t)unpack_most(u, LEVELS_SCALE_MAX);
	u->bad |= half_life_s < 60 || window_s < 3600 || half_life_s > window_s;
	u->bad |= turn < 0 || turn > INT32_MAX || reference < 0 || reference > LEVELS_TIME_MAX;
	if (u->bad) {
		return;
	}
	l->turn = (int32_t)turn;
	l->reference_ms = reference;
	u->bad |= reference >= (turn + 1) * turn_ms(l);
	for (uint32_t i = 0; i < LEVELS; i++) {
		l->weights[i] = (uint32_t)unpack_most(u, LEVELS_FULL - 1);
		if (l->weights[i] > 0) {
			l->seen[i] = (uint8_t)((uint64_t)turn - unpack_most(u, LEVELS_WINDOW));
		}
	}
}
