/* What the two halves of reading for a surge share. */
#ifndef CODEC_SURGE_PARTS_H
#define CODEC_SURGE_PARTS_H

#include "codec/surge_objects.h"
#include "json/slice.h"
#include "parts.h"

/* The text of a member whose key may have dots, of what is at the path (NULL: of the object). */
const char *surge_text_at(const json_t *object, const char *path, const char *key);
/* Since when; 0: it is not. */
int64_t surge_ready_ms(const json_t *pod, struct arena *arena);

/* Who it is that speaks against it. */
void surge_blame(struct surge_look *l, const char *kind, const char *name);

/* --- surge_list.c --- */
const struct slice_keep *surge_item_projection(enum surge_source source);
MUST_CHECK int surge_take_item(struct surge_look *l, enum surge_source source, const json_t *item,
	struct fault *ret_fault);
/* May its ReplicaSet delete this one instead of the old one, once it has both? */
void surge_take_cost(struct surge_look *l, const json_t *pod);

#endif
