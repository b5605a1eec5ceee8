/* Sentences about replacements. */
#ifndef ROLL_ROLLOUT_EXPLAIN_H
#define ROLL_ROLLOUT_EXPLAIN_H

#include "roll/roll.h"

/* One sentence for a condition: what keeps it, who, and when it is tried again. In the arena. */
const char *roll_explain(const struct roll_ask *ask, const struct roll_verdict *v, struct arena *a);
/* "looked at again every minute" */
const char *roll_again(int64_t every_ms, struct arena *a);

#endif
