/* The last minutes one by one, for what cannot wait for a percentile. Of each minute the highest
 * of the replicas and their mean. */
#ifndef HISTORY_RECENT_H
#define HISTORY_RECENT_H

#include "history/history.h"
#include "record/pack.h"

struct recent {
	int32_t last; /* minute since 1970; 0: none */
	struct recent_minute {
		uint16_t count; /* of replicas; 0: a gap */
		uint16_t high;	/* hundredths of a percent */
		uint32_t sum;
	} minutes[HISTORY_RECENT];
};

void recent_add(struct recent *r, int64_t compute, int32_t minute);
/* The median of those seen in the last HISTORY_RECENT full minutes, in METERED_FULL; -1: too few. A
 * minute stands for its highest replica where one replica alone is more than what the percentile
 * leaves out, else for their mean: one of a hundred does not size them all. */
int64_t recent_median(const struct recent *r, int32_t percentile, int64_t now_ms);

void recent_pack(const struct recent *r, struct str *out);
void recent_unpack(struct recent *r, struct unpack *u);

#endif
