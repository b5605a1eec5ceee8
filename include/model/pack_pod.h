/* Pods as bytes. */
#ifndef MODEL_PACK_POD_H
#define MODEL_PACK_POD_H

#include <stdbool.h>

#include "model/pod.h"

struct str;
struct unpack;

/* All but the admission-only fields. */
void pod_pack(struct str *out, const struct pod *pod);
bool pod_unpack(struct unpack *u, struct pod *ret_pod);

#endif
