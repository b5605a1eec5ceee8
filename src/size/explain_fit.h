/* Why nodes do not suit a pod, and what GPUs lack. */
#ifndef SIZE_EXPLAIN_FIT_H
#define SIZE_EXPLAIN_FIT_H

#include "model/reason.h"

struct lack_tally;
struct str;
struct unfit_tally;

/* False: there is nothing to say. */
bool explain_nodes(struct str *out, const struct unfit_tally *t);
/* False: there is nothing to say. */
bool explain_lacks(struct str *out, enum reason reason, const struct lack_tally *t);

#endif
