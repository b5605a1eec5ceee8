/* What pods use: a fixed stream, for what becomes of figures is tested elsewhere. A workload that
 * is told 20 % of a GPU all the time is soon to have 30 %. */
#ifndef SIM_STEADY_USE_H
#define SIM_STEADY_USE_H
#include "control/control.h"

struct sim;
struct steady_use {
	struct sim *sim;	 /* borrowed, like the next */
	struct control *control; /* whose sizer is told */
	int64_t at;
};

extern const struct part steady_use_part;

#endif
