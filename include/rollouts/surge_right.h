/* May a pod be made beside another one (C24)? */
#ifndef ROLLOUTS_SURGE_RIGHT_H
#define ROLLOUTS_SURGE_RIGHT_H

/* UNKNOWN until it is told: then none is. */
enum sizer_surge { SIZER_SURGE_UNKNOWN, SIZER_SURGE_FORBIDDEN, SIZER_SURGE_ALLOWED };

#endif
