/* What a policy says of sizes and of replacing pods, as bytes of a journal. */
#ifndef MODEL_PACK_POLICY_H
#define MODEL_PACK_POLICY_H

#include "model/rollout.h"
#include "model/sizing.h"

struct str;
struct unpack;

void pack_sizing(struct str *out, const struct sizing *s);
struct sizing unpack_sizing(struct unpack *u);
void pack_rollout(struct str *out, const struct rollout *r);
struct rollout unpack_rollout(struct unpack *u);

#endif
