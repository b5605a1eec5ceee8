/* The highest memory of each hour, and how many of its minutes were observed: a ring as long as the
 * window, and the hour that is not over beside it. An hour in which nothing was told has no peak.
 */
#ifndef HISTORY_HOURS_H
#define HISTORY_HOURS_H

#include "record/pack.h"

#define HOUR_MS	  3600000
#define MINUTE_MS 60000

struct hours {
	uint32_t *cells; /* owned; MiB, minutes of memory, minutes of compute */
	uint16_t count;
	uint16_t quiet; /* observed minutes since one in which the GPU did anything */
	int32_t last;	/* the last hour, since 1970; 0: nothing was told */
	/* which of the last 64 minutes were observed, the lowest bit is `minute` */
	int32_t minute;
	uint64_t compute_bits, memory_bits;
};

void hours_init(struct hours *h, uint32_t window_s);
void hours_finish(struct hours *h);
void hours_fit(struct hours *h, uint32_t window_s); /* the latest hours stay */
/* A minute counts once, however many sources tell it. */
void hours_add_memory(struct hours *h, int64_t mib, int64_t at_ms);
void hours_add_compute(struct hours *h, int64_t at_ms);
/* Takes the peaks of both, and adds the other's minutes in which memory was told. */
void hours_merge(struct hours *h, const struct hours *other);
/* The peak of the last so many hours and the one that is not over; -1: nothing is known. */
int64_t hours_peak(const struct hours *h, uint32_t hours, int64_t now_ms);
int32_t hours_rising(const struct hours *h, int64_t now_ms);
void hours_observed(
	const struct hours *h, int64_t now_ms, int64_t *ret_compute, int64_t *ret_memory);

void hours_pack(const struct hours *h, struct str *out);
void hours_unpack(struct hours *h, uint32_t window_s, struct unpack *u);

#endif
