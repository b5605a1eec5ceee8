/* Samples of one pod after the other, on a clock of its own. */
#ifndef HISTORY_BED_H
#define HISTORY_BED_H

#include "base/alloc.h"
#include "history/history.h"

#define START  1767225600000
#define MINUTE 60000LL
#define HOUR   (60 * MINUTE)

static const struct sizing real_time = SIZING_DEFAULT;

/* Each 15 s for so many minutes; compute in METERED_FULL, memory in MiB, -1 for none. */
static inline void use(struct history *h, struct history_feed *f, struct history_source source,
	int64_t *now, const int64_t of[3])
{
	for (int64_t i = 0; i < of[0] * 4; i++, *now += MINUTE / 4) {
		struct history_sample s = {source, *now, of[1], METERED_FULL,
			of[2] < 0 ? METERED_ABSENT : of[2] << 20};
		history_take(h, f, &s, *now);
	}
	history_settle(h, f, *now);
}
#define USE(minutes, compute, mib)                                                                 \
	use(h, &feed, source, &now, (const int64_t[]){(minutes), (compute), (mib)})

#endif
