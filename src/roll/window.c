/* Windows are on people's clocks: a day and a time of day somewhere. */
#include "roll/window.h"

#include <stddef.h>

#define DAY_S	  86400
#define MINUTE_S  60
#define WEEK_DAYS 7
/* 1970-01-01 was a Thursday; bit 0 is Monday. */
#define EPOCH_WEEKDAY 3

static int64_t floor_div(int64_t a, int64_t b)
{
	return a / b - (a % b < 0 ? 1 : 0);
}

/* One window; false: its zone does not know that time. */
static bool judge_one(const struct rollout_window *w, const struct zone *z, int64_t now_s,
	struct window_answer *ret)
{
	int32_t offset;
	if (!zone_offset(z, now_s, &offset)) {
		return false;
	}
	int64_t today = floor_div(now_s + offset, DAY_S);
	for (int64_t day = today - 1; day <= today + WEEK_DAYS; day++) {
		int64_t from_s, until_s, weekday = (day + EPOCH_WEEKDAY) % WEEK_DAYS;
		weekday += weekday < 0 ? WEEK_DAYS : 0;
		if ((w->days >> weekday & 1) == 0) {
			continue;
		}
		/* The window as it starts on that day of local time. */
		int64_t end_day = w->end_min <= w->start_min ? day + 1 : day;
		if (!zone_moment(z, day * DAY_S + w->start_min * MINUTE_S, &from_s) ||
			!zone_moment(z, end_day * DAY_S + w->end_min * MINUTE_S, &until_s)) {
			return false;
		}
		if (now_s >= from_s && now_s < until_s) {
			ret->open = true;
			return true;
		}
		if (from_s > now_s) {
			int64_t at_ms = from_s * 1000;
			ret->next_ms =
				ret->next_ms == 0 || at_ms < ret->next_ms ? at_ms : ret->next_ms;
			return true;
		}
	}
	return true;
}

struct window_answer window_judge(
	const struct rollout *rollout, const struct zone *const *zones, int64_t now_ms)
{
	struct window_answer answer = {.open = rollout->window_count == 0};
	int64_t now_s = floor_div(now_ms, 1000);
	for (uint32_t i = 0; i < rollout->window_count && !answer.open; i++) {
		const struct zone *zone = zones != NULL ? zones[i] : NULL;
		if (zone == NULL || !judge_one(&rollout->windows[i], zone, now_s, &answer)) {
			answer.bad_zone = rollout->windows[i].time_zone;
		}
	}
	if (answer.open) {
		return (struct window_answer){.open = true};
	}
	return answer;
}
