/* What a Prometheus kept of workloads of which nothing is known, handed to the sizer: some hours of
 * one of them at a time. */
#ifndef CONTROL_PASTS_H
#define CONTROL_PASTS_H

#include "base/clock.h"
#include "meter/prometheus.h"
#include "sizer/sizer.h"

struct pasts;

/* All borrowed; `prometheus` NULL: nothing is ever asked. */
struct pasts *pasts_create(
	struct prometheus *prometheus, struct sizer *sizer, const struct clock *clock);
void pasts_destroy(struct pasts *p);
void pasts_step(struct pasts *p, int64_t now_mono_ms);
/* Who does not lead any more asks nothing. */
void pasts_end(struct pasts *p);
int64_t pasts_deadline(const struct pasts *p);

#endif
