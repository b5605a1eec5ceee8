/* The webhook as it ships, less its server: whoever creates a pod gets the verdict of one of the
 * controllers that run, by what that one has been told. */
#ifndef SIM_WEBHOOK_H
#define SIM_WEBHOOK_H
#include "works.h"

/* The pod is changed in place, as the webhook would. */
void webhook_admit(struct sim *s, int actor, bool dry, json_t *pod);
bool webhook_answers(const struct sim *s);

#endif
