/* GPUs that a workload was taken away from, because its neighbours there left it too little: its
 * next pods come to others, for a while and if any takes them. A hint, and no ban: where nothing
 * else is to be had they may come back.
 *
 * And nodes that the scheduler refused after a pod of the workload was pinned there (C36). What it
 * refused for nobody here judges, so the next pod would be refused as well: that is a ban, for a
 * while.
 *
 * Both are remembered by this process alone, for one term. Nothing here fails. */
#ifndef DEMAND_SHUN_H
#define DEMAND_SHUN_H

#include "base/vec.h"
#include "ledger/nouns.h"

struct change;

/* One comes with each pod that is moved, and few are (docs/design/rolling.md#a-move), or that is
 * recycled; of more the one that would end first makes way. */
#define SHUNS_MAX 256

struct shun {
	uint64_t workload; /* company_workload's */
	char *what;	   /* owned; a GPU's UUID, or */
	bool is_node;	   /* a node's name */
	int64_t until;
};

struct shuns {
	struct picture *picture; /* borrowed, as are these */
	const struct companies *companies;
	struct {
		VEC_FIELDS(struct shun);
	} items;
	/* of the look that is made: places in the snapshot */
	struct {
		VEC_FIELDS(uint32_t);
	} hidden;
};

void shuns_finish(struct shuns *all); /* it is empty then, and may be used on */
/* CHANGE_SHUN */
void shun_wanted(struct shuns *shuns, const struct change *c);
/* Takes them out of the picture for that waiter; true: there were any, and shuns_show is to be
 * called. */
bool shuns_hide(struct shuns *all, const struct waiter *w);
void shuns_show(struct shuns *shuns);
/* The scheduler has refused the node to that pod, which a controller makes anew. */
void shun_refused(struct shuns *shuns, const struct pod *pod, const char *node, int64_t for_ms);

#endif
