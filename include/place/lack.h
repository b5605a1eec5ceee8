/* What is in the way on the GPUs that do not take a share. */
#ifndef PLACE_LACK_H
#define PLACE_LACK_H

#include "place/gpu_picture.h"

/* The GPU with most free memory among those on which nothing but memory is short, which is not
 * always the one with most free compute; PLACE_NOWHERE: there is none. */
uint32_t place_most_memory(const struct snapshot *s, const struct place_request *r);
/* Counts the GPUs that do not take the share, on nodes that suit the pod, by what is in the way. */
void place_count_lacks(
	const struct snapshot *s, const struct place_request *r, struct lack_tally *ret_tally);

#endif
