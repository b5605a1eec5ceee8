/* How old what is known of the pods may be when a gate is taken off (C21). Nothing here fails. */
#ifndef ENGINE_VIEW_H
#define ENGINE_VIEW_H

#include <stdbool.h>

struct book;

/* Some write that was acknowledged has not been shown for too long: nobody is told anything. */
bool view_lags(struct book *book);

#endif
