/* The checker's part about tenants of several GPUs: what each was told, GPU by GPU, and that it is
 * all or nothing. A breach ends the run. */
#ifndef SIM_CHECK_GROUP_H
#define SIM_CHECK_GROUP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"
#include "objects/checker_parts.h"

struct pod;
struct sim;
struct stored;

void check_whole(struct sim *s, const struct stored *o); /* as asked, no GPU twice */
/* None is kept for long. Once a second; `replica` could see and write all of it, -1: nobody. */
void check_halves(struct sim *s, int replica);

#endif
