/* GPUs that a workload was taken away from, because its neighbours there left it too little: its
 * next pods come to others, for a while and if any takes them. A hint, and no ban: where nothing
 * else is to be had they may come back. Remembered by this process alone, for one term. Nothing
 * here fails. */
#ifndef ENGINE_SHUN_H
#define ENGINE_SHUN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"

struct change;
struct engine;
struct waiter;

struct shun {
	uint64_t workload; /* company_workload's */
	char *uuid;	   /* owned */
	int64_t until;
};

struct shuns {
	struct {
		VEC_FIELDS(struct shun);
	} items;
	/* of the look that is made: places in the snapshot */
	struct {
		VEC_FIELDS(uint32_t);
	} hidden;
};

void shuns_clear(struct shuns *all);
void shuns_finish(struct shuns *all);
/* CHANGE_SHUN */
void shun_wanted(struct engine *e, const struct change *c);
/* Takes them out of the picture for that waiter; true: there were any, and shuns_show is to be
 * called. */
bool shuns_hide(struct engine *e, const struct waiter *w);
void shuns_show(struct engine *e);

#endif
