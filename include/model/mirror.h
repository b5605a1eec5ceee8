/* What a table makes of a watch, beside the objects that it tells: marks what is known when a
 * relist begins, and at its end drops what was not met again. */
#ifndef MODEL_MIRROR_H
#define MODEL_MIRROR_H

#include "base/str.h"
#include "base/table.h"
#include "model/change.h"

/* Whatever is no CHANGE_SET, which is its owner's. Something that could not be read stays as it is
 * known; without a name it may be any. */
static inline void mirror_follow(struct table *t, const struct change *c)
{
	struct table_row *row = c->name != NULL ? table_find(t, text_or(c->ns, ""), c->name) : NULL;
	if (c->type == CHANGE_GONE && row != NULL) {
		table_remove(t, row);
	} else if (c->type == CHANGE_KEEP && row != NULL) {
		row->mark = t->mark;
	} else if (c->type == CHANGE_KEEP && c->name == NULL) {
		for (size_t i = 0; i < t->rows.count; i++) {
			t->rows.items[i]->mark = t->mark;
		}
	} else if (c->type == CHANGE_RELIST_BEGIN) {
		t->mark++;
	} else if (c->type == CHANGE_RELIST_END && !c->no_sweep) {
		table_sweep(t);
	}
}

#endif
