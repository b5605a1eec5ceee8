/* The inside of explain.c, of which one file would be too many lines. */
#ifndef SIZE_EXPLAIN_PARTS_H
#define SIZE_EXPLAIN_PARTS_H

#include "size/explain.h"

/* explain_lack.c. False: there is nothing to say. */
bool explain_lacks(struct str *out, enum reason reason, const struct lack_tally *t);

#endif
