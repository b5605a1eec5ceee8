/* Other shares for tenants that run: somebody who sizes them says so to whoever leads, and again to
 * whoever leads then; nobody else remembers it. */
#ifndef SIM_WISH_H
#define SIM_WISH_H
#include "people.h"

/* Somebody wants other shares for tenants that run */
void wish_start(struct sim *s);

#endif
