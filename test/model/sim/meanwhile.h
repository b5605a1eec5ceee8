/* What people do just while a write is on its way. */
#ifndef SIM_MEANWHILE_H
#define SIM_MEANWHILE_H
#include "people.h"

/* What people do while a write is late, or lingers */
void meanwhile_late(struct sim *s, const struct api_request *r);
void meanwhile_lingers(struct sim *s, const char *path);

#endif
