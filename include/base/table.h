/* Records by namespace and name, each a piece of memory of its own; and the marks by which those go
 * that nobody meets again, as after a relist (model/mirror.h). */
#ifndef BASE_TABLE_H
#define BASE_TABLE_H

#include "base/map.h"
#include "base/vec.h"

/* First in each record. */
struct table_row {
	const char *ns, *name; /* borrowed from the record */
	uint32_t at;	       /* its place */
	uint32_t mark;	       /* the table's when it was last met */
};

struct table {
	VEC_OF(struct table_row *) rows; /* owned; one that goes makes way for the last */
	struct map by_name;
	uint32_t mark;
	/* It is not in the table any more: ends it and frees it. */
	void (*drop)(void *data, struct table_row *row);
	void *data;
};

void table_init(struct table *t, void (*drop)(void *data, struct table_row *row), void *data);
void table_finish(struct table *t);
struct table_row *table_find(const struct table *t, const char *ns, const char *name);
void table_add(struct table *t, struct table_row *row); /* none has its name; it is met */
void table_remove(struct table *t, struct table_row *row);
/* Those go that were not met since the mark was raised. */
void table_sweep(struct table *t);

#endif
