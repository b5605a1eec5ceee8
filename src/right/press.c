/* Minutes as bits. */
#include "right/press.h"

#define MINUTE_MS	  60000
#define SATURATED_PERCENT 80 /* of the minutes */
#define THROTTLED	  (METERED_GAUGE_FULL / 5)
#define CROWDED_PERCENT	  98
#define BEGINNING	  3 /* minutes */

static void press_advance_to(struct press *p, int32_t minute)
{
	int32_t by = minute - p->minute;
	if (by <= 0) {
		return;
	}
	uint32_t keep = by < 32 ? UINT32_MAX : 0;
	uint32_t steps = by < 32 ? (uint32_t)by : 0;
	p->full = (p->full & keep) << steps;
	p->told = (uint16_t)((p->told & keep) << steps);
	p->waits = (uint16_t)((p->waits & keep) << steps);
	p->crowded = (uint16_t)((p->crowded & keep) << steps);
	p->minute = minute;
}

static uint32_t with(uint32_t bits, uint32_t bit, bool yes)
{
	return yes ? bits | bit : bits & ~bit;
}

void press_take(struct press *p, const struct press_look *look)
{
	int32_t minute = (int32_t)(look->at_ms / MINUTE_MS);
	press_advance_to(p, minute);
	int32_t back = p->minute - minute;
	if (look->compute < 0 || look->share <= 0 || back >= 32) {
		return;
	}
	uint32_t bit = 1u << back;
	bool full = look->compute * 100 >= look->share * PRESS_FULL_PERCENT;
	bool crowded = look->device * 100 >= (int64_t)METERED_FULL * CROWDED_PERCENT;
	bool told = look->throttled >= 0 || look->waiting >= 0;
	bool waits = look->throttled >= THROTTLED || look->waiting > 0;
	p->full = with(p->full, bit, full);
	p->crowded = (uint16_t)with(p->crowded, bit, crowded);
	/* What came once within the minute stays. */
	p->told = (uint16_t)(p->told | (told ? bit : 0));
	p->waits = (uint16_t)(p->waits | (waits ? bit : 0));
}

static bool is_most(uint32_t bits, uint32_t minutes)
{
	return (uint32_t)__builtin_popcount(bits) * 100 >= minutes * SATURATED_PERCENT;
}

enum press_verdict press_judge(const struct press *p, int64_t now_ms)
{
	struct press at = *p;
	/* The minute that is not over is left out. */
	press_advance_to(&at, (int32_t)(now_ms / MINUTE_MS));
	uint32_t ten = ((1u << PRESS_MINUTES) - 1) << 1;
	uint32_t long_while = ((1u << PRESS_MINUTES_LONG) - 1) << 1;
	/* It lasts for so long if it was so at the beginning, too. */
	uint32_t beginning = long_while & ~(long_while >> BEGINNING);
	bool full = is_most(at.full & ten, PRESS_MINUTES);
	bool lasts = is_most(at.full & long_while, PRESS_MINUTES_LONG) && (at.full & beginning);
	bool waits = (at.waits & ten) != 0, told = (at.told & ten) != 0;
	if (full && (waits || (!told && lasts))) {
		return PRESS_MORE;
	}
	return !full && is_most(at.crowded & ten, PRESS_MINUTES) ? PRESS_CONTENTION : PRESS_NONE;
}

bool press_counts(uint32_t pressed, uint32_t replicas, int32_t percentile)
{
	return pressed > 0 &&
	       (uint64_t)pressed * 100 > (uint64_t)replicas * (uint32_t)(100 - percentile);
}
