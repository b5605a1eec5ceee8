/* Actions and their pace. */
#ifndef SIZER_ACTIONS_H
#define SIZER_ACTIONS_H

#include "model/plan.h"
#include "sizer/sizer.h"

#define ACTIONS_TOKEN_MS   (1000 / SIZER_PER_SECOND)
#define ACTIONS_FIGURES_AT 500 /* of a second of the pace: the rest is for what cannot wait */
#define ACTIONS_ID_BIT	   (UINT64_C(1) << 63)

struct arena;
struct share;
struct sized;

/* The pace goes on. */
void write_fill(struct sizer *s, int64_t mono_ms);
/* May one be written now? It is counted. One that makes a GPURecommendation or gives it its first
 * status; any, where so much of the pace is left; one that can wait. */
bool write_may_first(struct sizer *s);
bool write_take_token(struct sizer *s, int64_t least);
bool write_may(struct sizer *s);
const char *say_share(struct arena *a, const struct share *s);
struct action *write_action(struct sizer *s, struct plan *plan, enum action_type type);
/* About its GPURecommendation. */
struct action *write_event(struct sizer *s, const struct sized *x, struct plan *plan);
int64_t write_next(const struct sizer *s); /* when the next one may be, monotonic */

#endif
