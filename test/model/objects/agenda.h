/* What happens when: a heap of things to do by virtual time, first come first served at one
 * instant. Nothing is ever taken off it: what is no longer wanted must notice that by itself. */
#ifndef SIM_AGENDA_H
#define SIM_AGENDA_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"

typedef void (*agenda_run)(void *data, uint64_t arg);

struct agenda_item {
	int64_t at;
	uint64_t order;
	agenda_run run;
	void *data; /* borrowed */
	uint64_t arg;
};

struct agenda {
	struct {
		VEC_FIELDS(struct agenda_item);
	} heap;
	int64_t now;
	uint64_t order; /* of the next item */
	uint64_t done;
};

void agenda_add(struct agenda *a, int64_t at, agenda_run run, void *data, uint64_t arg);
/* Moves the clock to the next item and runs it; false: nothing is due by `until`. */
bool agenda_step(struct agenda *a, int64_t until);
void agenda_finish(struct agenda *a);

#endif
