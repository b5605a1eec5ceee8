/* Conditions about healing. */
#ifndef SIZER_HEALING_STATUS_H
#define SIZER_HEALING_STATUS_H

#include "status_sentences.h"

void say_healing(const struct status *s);

#endif
