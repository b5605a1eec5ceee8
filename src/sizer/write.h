/* Actions of the sizer: objects, their status, events, checkpoints. */
#ifndef SIZER_WRITE_H
#define SIZER_WRITE_H

#include "model/plan.h"
#include "sizer/sizer.h"

struct decision;
struct sized;

/* --- write.c: actions --- */
/* False: it has to wait for its turn. */
bool write_workload(struct sizer *s, struct sized *x, const struct decision *d,
	struct sizer_now now, struct plan *plan);
void write_fill(struct sizer *s, int64_t mono_ms);
/* Its GPURecommendation goes; false: as above. */
bool write_delete(struct sizer *s, struct sized *x, struct sizer_now now, struct plan *plan);
bool write_may(struct sizer *s); /* one that can wait; it is counted */
const char *say_share(struct arena *a, const struct share *s);
struct action *write_action(struct sizer *s, struct plan *plan, enum action_type type);
/* About its GPURecommendation. */
struct action *write_event(struct sizer *s, const struct sized *x, struct plan *plan);
int64_t write_next(const struct sizer *s); /* when the next one may be, monotonic */

/* --- usage_checkpoints.c: checkpoints --- */
void save_step(struct sizer *s, struct sizer_now now, struct plan *plan);
void save_tell(struct sizer *s, struct sized *x, struct plan *plan);
bool save_settle(struct sizer *s, struct sizer_now now, uint64_t id, const struct outcome *o);

#endif
