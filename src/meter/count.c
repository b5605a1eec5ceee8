/* Two counters, and the words for what may go wrong. */
#include "count.h"

#include "base/str.h"

void count_read(struct metric_registry *r, const char *source, const char *verdict)
{
	char labels[96];
	snprintf(labels, sizeof labels, "source=\"%s\",verdict=\"%s\"", source, verdict);
	metric_count(r, "aliquot_usage_reads_total",
		"Readings of use, by where it was read and what came of it.", labels, 1);
}

void count_figures(struct metric_registry *r, const char *source, const char *verdict, uint32_t n)
{
	char labels[96];
	if (n == 0) {
		return; /* what did not happen makes no series */
	}
	snprintf(labels, sizeof labels, "source=\"%s\",verdict=\"%s\"", source, verdict);
	metric_count(r, "aliquot_usage_figures_total",
		"Figures of pods that were read, and whether they were taken.", labels, n);
}

const char *count_verdict(const struct fault *f)
{
	static const char *const names[FAULT_FATAL + 1] = {[FAULT_DENIED] = "denied",
		[FAULT_LIMIT] = "too_large",
		[FAULT_INVALID] = "malformed"};
	return text_or(names[f->kind], "unreachable");
}
