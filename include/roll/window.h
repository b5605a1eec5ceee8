/* When a policy lets running pods be replaced for a saving. */
#ifndef ROLL_WINDOW_H
#define ROLL_WINDOW_H

#include "model/rollout.h"
#include "base/zone.h"

struct window_answer {
	bool open;
	const char *bad_zone; /* borrowed from the policy: this zone is not known, and no other
				 window is open; NULL: all are */
	int64_t next_ms;      /* when the next one opens; 0: open, or nobody knows */
};

/* `zones`: of each window, NULL where it is not known. A policy without windows is always open. */
struct window_answer window_judge(
	const struct rollout *rollout, const struct zone *const *zones, int64_t now_ms);

#endif
