/* Checkpoints are listed once, when somebody begins to lead, and handed to the sizer. */
#ifndef CONTROL_RECALL_H
#define CONTROL_RECALL_H

#include "kube/client.h"
#include "sizer/sizer.h"

struct recall;

/* Both borrowed. All GPURecommendations must be known. */
struct recall *recall_create(struct kube *kube, struct sizer *sizer);
void recall_destroy(struct recall *r);
/* True: all of them were read, or the server refuses for minutes to show any. Until then it goes on
 * trying, more and more seldom. */
bool recall_step(struct recall *r, int64_t now_mono_ms);
/* Reading the checkpoints takes so long that workloads must be looked at without them. */
bool recall_is_late(const struct recall *r, int64_t now_mono_ms);
int64_t recall_deadline(const struct recall *r);

#endif
