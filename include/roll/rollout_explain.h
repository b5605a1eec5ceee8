/* Sentences about replacements. */
#ifndef ROLL_ROLLOUT_EXPLAIN_H
#define ROLL_ROLLOUT_EXPLAIN_H

#include "roll/roll.h"

const char *roll_why_name(enum roll_why why); /* one CamelCase word */
/* One sentence for a condition: what keeps it, who, and when it is tried again. In the arena. */
const char *roll_explain(const struct roll_ask *ask, const struct roll_verdict *v, struct arena *a);
/* "looked at again every minute" */
const char *roll_again(int64_t every_ms, struct arena *a);

#endif
