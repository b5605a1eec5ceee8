/* The text of /metrics: names, labels, order of labels and units of dcgm-exporter, and what agents
 * tell of themselves (docs/metrics.md).
 *
 * Of every device there are lines without a pod, always. Beside them, for a pod that uses or was
 * granted the device, lines with container, namespace and pod. What is not known has no line; a
 * figure that was not measured so says `attribution="estimated"` and by `source` what it rests on.
 */
#ifndef NODE_METRICS_TEXT_H
#define NODE_METRICS_TEXT_H

#include <stdbool.h>

#include "base/metric.h"
#include "base/str.h"
#include "gpu/sample.h"
#include "node/attribute.h"

#define METRICS_BYTES_MAX ((size_t)8 << 20)

struct exposition_options {
	const char *node;    /* NODE_NAME: the value of Hostname */
	bool small_hostname; /* the label is `hostname`, as in dcgm-exporter after 4.5.3 */
	bool pod_uid;	     /* one label more on the lines of pods */
};

/* Appends METRICS_BYTES_MAX at most. Where that or `out`'s limit is too little the lines of pods
 * are left out, and aliquot_agent_pods_left_out says so; false, and nothing is appended, if not
 * even the rest fits.
 */
bool exposition_write(struct str *out, const struct gpu_sample *sample, const struct usage *usage,
	const struct exposition_options *options);
/* Once for each sample: what only rises goes to the counters of the agent's registry, which is
 * written beside this text and shares no name with it. */
void exposition_count(struct metric_registry *registry, const struct gpu_sample *sample,
	const struct usage *usage);

#endif
