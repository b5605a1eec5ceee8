/* Horizontal scaling beside ours. */
#include "roll/scaler.h"

#include "base/str.h"

const char *scaler_gpu_metric(const struct scaler *s)
{
	static const char *const words[] = {"gpu", "dcgm", "sm_"};
	for (uint32_t i = 0; s != NULL && i < s->metric_count; i++) {
		for (size_t k = 0; k < COUNT_OF(words); k++) {
			if (strcasestr(text_or(s->metrics[i], ""), words[k]) != NULL) {
				return s->metrics[i];
			}
		}
	}
	return NULL;
}

int64_t scaler_frozen_until(const struct scaler *s, int64_t now_ms)
{
	if (s == NULL) {
		return 0;
	}
	if (s->current != s->desired) {
		return INT64_MAX;
	}
	int64_t until = s->scaled_ms + SCALER_QUIET_MS;
	return s->scaled_ms != 0 && now_ms < until ? until : 0;
}
