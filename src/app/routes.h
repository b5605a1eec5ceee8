/* What is served: the admission route, health, metrics, and with --debug a look inside. */
#ifndef APP_ROUTES_H
#define APP_ROUTES_H

#include "controller.h"

void routes_add_pages(struct controller *c);
void routes_add_webhook(struct controller *c);

#endif
