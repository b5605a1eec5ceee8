/* The inside of explain.c, of which one file would be too many lines. */
#ifndef SIZE_EXPLAIN_PARTS_H
#define SIZE_EXPLAIN_PARTS_H

#include "size/explain.h"

/* Text from outside: cut, on one line. False: there is none. */
bool explain_text(struct str *out, const char *text);
/* explain_nodes.c. False: there is nothing to say. */
bool explain_nodes(struct str *out, const struct unfit_tally *t);
/* explain_lack.c. False: there is nothing to say. */
bool explain_lacks(struct str *out, enum reason reason, const struct lack_tally *t);

#endif
