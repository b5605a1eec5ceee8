/* Which of two versions of one object is the newer one. NULL: no version is known. */
#ifndef LEDGER_RESOURCE_VERSION_H
#define LEDGER_RESOURCE_VERSION_H

#include <stdbool.h>

/* `have` is `wanted`, or newer. */
bool version_reached(const char *have, const char *wanted);
/* Both are numbers, and the first is the larger one. */
bool version_after(const char *have, const char *from);
/* `have` is another one than `from`, and not known to be older. */
bool version_passed(const char *have, const char *from);

#endif
