/* Counting why nodes do not suit. */
#include "model/unfit.h"

#include "base/alloc.h"
#include "base/str.h"

void unfit_add(struct unfit_tally *t, enum unfit cause, const char *what)
{
	ENSURE(cause > UNFIT_NONE && cause < UNFIT_COUNT);
	struct unfit_count *c = &t->by[cause];
	t->nodes++;
	c->nodes++;
	if (what != NULL && c->what == NULL) {
		c->what = what;
		c->whats = 1;
	} else if (what != NULL && !text_equals(what, c->what)) {
		c->whats = 2;
	}
}
