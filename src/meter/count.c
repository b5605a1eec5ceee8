/* Two counters, and the words for what may go wrong. */
#include "count.h"

#include <stdio.h>

static void counter_add(struct metric_registry *r, const char *name, const char *help,
	const char *labels, uint32_t n)
{
	if (r != NULL && n > 0) {
		metric_add(metric_get(r, METRIC_COUNTER, name, help, labels), n);
	}
}

void count_read(struct metric_registry *r, const char *source, const char *verdict)
{
	char labels[96];
	snprintf(labels, sizeof labels, "source=\"%s\",verdict=\"%s\"", source, verdict);
	counter_add(r, "aliquot_usage_reads_total",
		"Readings of use, by where it was read and what came of it.", labels, 1);
}

void count_figures(struct metric_registry *r, const char *source, const char *verdict, uint32_t n)
{
	char labels[96];
	snprintf(labels, sizeof labels, "source=\"%s\",verdict=\"%s\"", source, verdict);
	counter_add(r, "aliquot_usage_figures_total",
		"Figures of pods that were read, and whether they were taken.", labels, n);
}

const char *count_verdict(const struct fault *f)
{
	switch (f->kind) {
	case FAULT_DENIED:
		return "denied";
	case FAULT_LIMIT:
		return "too_large";
	case FAULT_INVALID:
		return "malformed";
	case FAULT_NONE:
	case FAULT_TRANSIENT:
	case FAULT_CONFLICT:
	case FAULT_GONE:
	case FAULT_NOT_FOUND:
	case FAULT_FATAL:
		break;
	}
	return "unreachable";
}
