/* Those who wait, and all that is asked when one of them is given a share: with whom it may share a
 * GPU, which nodes it must keep off, what its quota leaves, what is kept for others, how its node
 * gives GPUs. Each of these owns its state; what a step gives to those who wait is owned here. */
#ifndef SCHEDULING_SCHEDULING_H
#define SCHEDULING_SCHEDULING_H

#include "base/vec.h"
#include "ledger/nouns.h"
#include "ledger/picture.h"

struct openings;
struct resizes;
struct startup_order;

struct scheduling {
	struct picture *picture; /* borrowed, as are all of these */
	struct ranked *ranked;
	struct companies *companies;
	struct needs *needs;
	struct quotas *quotas;
	struct wholes *wholes;
	struct gpu_avoidances *avoidances;
	struct startup_order *startup_order;
	struct resizes *resizes;
	struct injecting *inject;
	struct scale *scale;
	const struct openings *openings;
	uint32_t budget;	      /* units of work of this step */
	uint32_t resume;	      /* ranks handled by an unfinished step */
	VEC_OF(struct chosen) chosen; /* in this step */
};

#endif
