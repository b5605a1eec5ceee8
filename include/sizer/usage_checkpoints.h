/* Checkpoints: what was measured, read at the start and written now and then. */
#ifndef SIZER_USAGE_CHECKPOINTS_H
#define SIZER_USAGE_CHECKPOINTS_H

#include "sizer/sizer.h"

struct write_pace;

struct outcome;
struct plan;
struct sized_workload;

/* Checkpoints are not all read yet: what they say may be more than what is known. Until they are
 * none is written, and nothing becomes smaller; whoever runs short still gets more. */
void sizer_wait(struct sizer *s, bool waits);
/* What was measured before is forgotten: somebody else may have measured since. For whoever begins
 * to lead, before the checkpoints are read. */
void sizer_forget(struct sizer *s);

const char *sizer_recall_name(enum sizer_recall r);
/* One checkpoint, after all GPURecommendations are known; what was measured meanwhile is added to
 * it. */
enum sizer_recall sizer_recall(struct sizer *s, const struct checkpoint *from, int64_t now_ms);

/* The process is about to end: the next steps write whatever is not in a checkpoint yet, at no
 * pace. */
void sizer_end(struct sizer *s);
bool sizer_ended(const struct sizer *s, struct sizer_now now);

/* For the other files of the sizer. */
void save_step(struct sizer *s, struct sizer_now now, struct plan *plan);
void emit_refused_checkpoints(struct write_pace *pace, struct sized_workload *x, struct plan *plan);
bool save_settle(struct sizer *s, struct sizer_now now, uint64_t id, const struct outcome *o);

#endif
