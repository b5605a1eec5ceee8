/* What a Prometheus kept of the time before us: asked for once, for a workload of which nothing is
 * known and no checkpoint was read, for as long as its policy looks back.
 *
 *     next    whose, and of which hours; one workload at a time, the oldest hours first
 *     take    what was told of them, in any order
 *     span    all of these hours was told: they count now; next tells how to go on
 *     drop    it cannot be told, or not for certain: nothing of it is used
 *
 * It becomes a source of its own (history/history.h) and is never added to what others tell. A
 * minute that was not told is a gap. */
#ifndef SIZER_PAST_H
#define SIZER_PAST_H

#include "model/metered.h"
#include "sizer/sizer.h"

struct decision;
struct sized_workload;

#define SIZER_PAST_STEP_MS  60000	      /* a minute is what a history counts */
#define SIZER_PAST_SPAN_MS  (6 * 3600 * 1000) /* of one ask */
#define SIZER_PAST_POINTS   65536	      /* in one; what takes more is not used */
#define SIZER_PAST_PODS_MAX 1024	      /* bytes of the expression */

struct sizer_past {
	const char *ns, *object; /* of its GPURecommendation */
	const char *pods;	 /* a regular expression (RE2) for their names */
	int64_t from_ms, to_ms;
};

/* Borrowed until the next call of this header. False: nobody's past is wanted now. While a span
 * was not ended by sizer_past_span or sizer_past_drop the same is returned. */
bool sizer_past_next(const struct sizer *s, struct sizer_past *ret);
void sizer_past_take(struct sizer *s, const struct metered *points, size_t count);
enum sizer_past_verdict {
	SIZER_PAST_GOES_ON,
	SIZER_PAST_TAKEN,    /* that was the last one, and the workload has a past now */
	SIZER_PAST_TOO_MUCH, /* it is dropped */
};
enum sizer_past_verdict sizer_past_span(struct sizer *s, int64_t now_ms);
void sizer_past_drop(struct sizer *s);

/* For the other files of the sizer. Of a workload of which nothing is known; one at a time. */
void past_want(struct sizer *s, struct sized_workload *x, const struct decision *d);

#endif
