/* What the bytes of a list or a watch say. */
#ifndef KUBE_REFLECTOR_FEED_H
#define KUBE_REFLECTOR_FEED_H

#include "reflector_parts.h"

/* Prepares r->slice for the stage. */
void reflector_feed_start(struct reflector *r);
bool reflector_on_data(void *data, const char *p, size_t n);
/* The picture is complete as of `version`. */
void reflector_end_picture(struct reflector *r, const char *version);
void reflector_count(struct reflector *r, const char *name, const char *help, const char *reason);

#endif
