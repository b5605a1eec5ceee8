/* Small texts and packed bytes made smaller, where there are tens of thousands of one kind. What is
 * repeated, in the bytes themselves or in a dictionary that both sides have, is written as where it
 * stood before, and a UUID as its 16 bytes. Made for a few hundred bytes each: nothing is kept
 * between two calls.
 *
 * Both sides give the same dictionary, in the same parts. */
#ifndef BASE_SQUEEZE_H
#define BASE_SQUEEZE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

/* Dictionary and bytes together; what is larger is kept as it is. */
#define SQUEEZE_MAX 32768

/* Appends it to `out`, at most 4 bytes longer than it was. */
void squeeze(struct view plain, const struct view *dictionary, size_t parts, struct str *out);
/* How long it was; 0 also where it is none. */
size_t squeezed_size(struct view squeezed);
/* `ret` has room for squeezed_size. False: these bytes were not made so. */
bool unsqueeze(struct view squeezed, const struct view *dictionary, size_t parts, char *ret);

#endif
