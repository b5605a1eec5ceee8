/* What a GPURecommendation should say. */
#ifndef SIZER_RECOMMENDATION_STATUS_H
#define SIZER_RECOMMENDATION_STATUS_H

#include "status_sentences.h"

void say_recommendation(const struct sized_workload *x, const struct decision *d, struct arena *a,
	struct recommendation *r);
void say_condition(const struct sized_workload *x, struct recommendation *r,
	enum recommendation_condition type, enum condition_status status, struct say_sentence say);
/* Of what is written; `urgent`: without figures that change all the time. */
uint64_t say_digest(const struct recommendation *r, bool urgent);

#endif
