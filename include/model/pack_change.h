/* Changes as bytes. */
#ifndef MODEL_PACK_CHANGE_H
#define MODEL_PACK_CHANGE_H

#include <stdbool.h>

#include "model/change.h"

struct str;
struct unpack;

void runtime_pack(struct str *out, const struct runtime_class *runtime); /* NULL survives */
const struct runtime_class *runtime_unpack(struct unpack *u);

void change_pack(struct str *out, const struct change *change);
/* The nouns live in the arena of `u`. */
bool change_unpack(struct unpack *u, struct change *ret_change);

#endif
