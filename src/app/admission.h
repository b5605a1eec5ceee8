/* What admission sees of the world. */
#ifndef APP_ADMISSION_H
#define APP_ADMISSION_H

#include "controller.h"

struct hook_view admission_view(struct controller *c);
/* The same view for the sizer, which asks before it lets a pod go. */
struct sizer_admission admission_port(struct controller *c);

#endif
