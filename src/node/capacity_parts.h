/* What the commands of the capacity pod have in common. */
#ifndef NODE_CAPACITY_PARTS_H
#define NODE_CAPACITY_PARTS_H

#include <stdbool.h>

#include "base/str.h"
#include "node/capacity.h"

void capacity_block_signals(void);
/* Sleeps; true if we were asked to stop. */
bool capacity_stopped_within(int64_t ms);
/* The last word; NULL: nobody wants it. */
MUST_CHECK int termination_write(const char *path, const struct str *text, struct fault *ret_fault);
void termination_explain(const struct capacity_options *o, const struct fault *why);

#endif
