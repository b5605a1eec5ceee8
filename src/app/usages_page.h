/* GET /debug/usage: what is known of each pod, and how old it is. */
#ifndef APP_USAGES_PAGE_H
#define APP_USAGES_PAGE_H

#include "usages.h"

/* Everything that is known, as JSON. */
void usages_write(const struct usages *u, struct str *out);

#endif
