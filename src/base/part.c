/* Walks over the rows. */
#include "base/part.h"

#include "base/alloc.h"
#include "base/clock.h"

void *parts_add(struct parts *p, const struct part *part, void *self)
{
	if (self == NULL) {
		return NULL;
	}
	ENSURE(p->count < PARTS_MAX);
	p->rows[p->count].part = part;
	p->rows[p->count++].self = self;
	return self;
}

void parts_step(const struct parts *p, const struct turn *turn)
{
	for (size_t i = 0; i < p->count; i++) {
		p->rows[i].part->step(p->rows[i].self, turn);
	}
}

int64_t parts_deadline(const struct parts *p, const struct turn *turn)
{
	int64_t at = TIME_NEVER;
	for (size_t i = 0; i < p->count; i++) {
		const struct part *part = p->rows[i].part;
		if (part->deadline != NULL) {
			at = time_min(at, part->deadline(p->rows[i].self, turn));
		}
	}
	return at;
}

void parts_finish(struct parts *p)
{
	while (p->count > 0) {
		p->count--;
		if (p->rows[p->count].part->destroy != NULL) {
			p->rows[p->count].part->destroy(p->rows[p->count].self);
		}
	}
}
