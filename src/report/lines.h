/* Text for a terminal: wrapped at words, and free of what a terminal would obey. */
#ifndef REPORT_LINES_H
#define REPORT_LINES_H

#include "base/str.h"

/* `head`, and `text` from column `first` on; further lines begin at column `indent`. `head` is
 * ours: it is shorter than that, and harmless. */
void lines_put(struct str *out, const char *head, size_t first, size_t indent, const char *text);

#endif
