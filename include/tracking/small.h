/* Amounts as they are kept of each pod: half as wide as elsewhere. What does not fit is as much as
 * does, which no GPU has. */
#ifndef TRACKING_SMALL_H
#define TRACKING_SMALL_H

#include "model/recommendation.h"

struct small_share {
	int32_t milli, mib;
};

static inline int32_t to_int32(int64_t value)
{
	return value > INT32_MAX ? INT32_MAX : value < INT32_MIN ? INT32_MIN : (int32_t)value;
}

static inline int32_t larger_int32(int64_t a, int64_t b)
{
	return to_int32(a > b ? a : b);
}

static inline struct small_share small_of(int64_t milli, int64_t mib)
{
	return (struct small_share){to_int32(milli), to_int32(mib)};
}

static inline void small_raise(struct small_share *s, int64_t milli, int64_t mib)
{
	*s = (struct small_share){larger_int32(s->milli, milli), larger_int32(s->mib, mib)};
}

static inline struct share share_widened(struct small_share s)
{
	return (struct share){s.milli, s.mib};
}

#endif
