/* Three things that are asked of the API server once and then now and then: the uid of the
 * ConfigMap that owns capacity pods (C9), whether the runtime class `nvidia` exists, or what the
 * one asks for that the configuration names (C5), and our own image. */
#ifndef APP_ERRANDS_H
#define APP_ERRANDS_H

#include "controller.h"

extern const struct part errands_part; /* of a controller */

#endif
