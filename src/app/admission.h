/* What admission sees of the world. */
#ifndef APP_ADMISSION_H
#define APP_ADMISSION_H

#include "parts.h"

struct hook_view admission_view(struct controller *c);
/* The same for who asks before a pod goes. */
struct sizer_admission admission_port(struct controller *c);

#endif
