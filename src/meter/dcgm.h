/* One series of dcgm-exporter, or of an agent, which tells the same, as a measurement of a pod.
 *
 * Pods are named by `namespace`, `pod` and `container`, by `exported_…` where a Prometheus put its
 * own labels in front, or by `pod_namespace`, `pod_name` and `container_name` as long ago. What
 * stands behind `exported_…` was written by whoever was scraped, which may be anybody: it is
 * believed only where the asker said who may be meant. Series of a MIG instance (`GPU_I_ID`) are
 * not read: their percent is of something else. */
#ifndef METER_DCGM_H
#define METER_DCGM_H

#include "formats/figure.h"
#include "formats/series.h"
#include "model/metered.h"

#define DCGM_COMPUTE "DCGM_FI_DEV_GPU_UTIL"
#define DCGM_MEMORY  "DCGM_FI_DEV_FB_USED"

enum dcgm_verdict {
	DCGM_OTHER, /* another series, or of no pod */
	DCGM_ODD,   /* not a number, out of range, names that cannot be or are not believed */
	DCGM_TAKEN,
};

/* Texts are borrowed from the series; `source` and `at_ms` are left alone. `name` is what it would
 * be called; a query may have taken it from the series. `exported`: names behind it are believed.
 */
enum dcgm_verdict dcgm_read(const char *name, const struct series *s, struct figure value,
	bool exported, struct metered *ret_metered);

#endif
