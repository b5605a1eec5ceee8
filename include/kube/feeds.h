/* The watches: reflectors on one side, changes for the engine on the other. The controller and the
 * simulation read the cluster through the same ones. Six must be there; ResourceSlices,
 * GPURecommendations, GPUWorkloadGroups, HorizontalPodAutoscalers, ScaledObjects and
 * PodDisruptionBudgets are watched where the API server has them. */
#ifndef KUBE_FEEDS_H
#define KUBE_FEEDS_H

#include <stdbool.h>
#include <stdint.h>

#include "kube/client.h"
#include "model/change.h"

struct feeds;

/* `seed` is of the jitter. */
struct feeds *feeds_create(struct kube *kube, uint64_t seed,
	bool (*on_change)(void *data, const struct change *c), void *data);
void feeds_destroy(struct feeds *f);
void feeds_step(struct feeds *f, int64_t now_mono_ms);
int64_t feeds_deadline(const struct feeds *f);
/* Of each kind that need not be there all is known, or that it is not to be seen. */
bool feeds_settled(const struct feeds *f);
/* Of a kind that must be there: all that is older was told. "": not yet. Borrowed until the next
 * step. */
const char *feeds_version(const struct feeds *f, enum kind kind);
void feeds_relist(struct feeds *f); /* all of them, from the beginning */

#endif
