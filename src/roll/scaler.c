/* Horizontal scaling beside ours. */
#include "roll/scaler.h"

#include <stddef.h>

#include "base/str.h"

static char ascii_lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool has_word(const char *text, const char *word)
{
	for (; *text != '\0'; text++) {
		size_t n = 0;
		while (word[n] != '\0' && ascii_lower(text[n]) == word[n]) {
			n++;
		}
		if (word[n] == '\0') {
			return true;
		}
	}
	return false;
}

const char *scaler_gpu_metric(const struct scaler *s)
{
	static const char *const words[] = {"gpu", "dcgm", "sm_"};
	for (uint32_t i = 0; s != NULL && i < s->metric_count; i++) {
		for (size_t k = 0; k < COUNT_OF(words); k++) {
			if (has_word(text_or(s->metrics[i], ""), words[k])) {
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
