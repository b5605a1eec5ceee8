/* What is asked of the API server once and then now and then. */
#ifndef APP_ERRANDS_H
#define APP_ERRANDS_H

#include "controller.h"

extern const struct part errands_part; /* of a controller */

#endif
