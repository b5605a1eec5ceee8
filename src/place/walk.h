/* The walks, which need no index. */
#ifndef PLACE_WALK_H
#define PLACE_WALK_H

#include "place/gpu_picture.h"

struct place_verdict walk_best_fit(const struct snapshot *s, const struct place_request *r);
struct place_verdict walk_open(const struct snapshot *s, const struct place_request *r);

#endif
