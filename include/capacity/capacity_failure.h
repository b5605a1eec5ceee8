/* When a capacity pod counts as failed, and what is said of it. Nothing here fails. */
#ifndef CAPACITY_CAPACITY_FAILURE_H
#define CAPACITY_CAPACITY_FAILURE_H

#include "ledger/nouns.h"

/* The scheduler does not bind it, and it can go nowhere else. */
bool capacity_is_refused(const struct holder *h);
/* Failed, refused by the scheduler or the kubelet, silent for too long, or no longer holding what
 * it told. */
bool capacity_failed(struct picture *picture, const struct holder *h);
/* An event on the capacity pod, whose node rests already. The pod may be gone by the time somebody
 * reads it; events stay. */
void report_capacity_failed(
	const struct picture *picture, const struct holder *h, struct emitter *out);
/* Counts the GPUs that more than one capacity pod tells, and warns about each capacity pod once. */
void report_doubled_gpus(const struct picture *picture, struct emitter *out);

#endif
