/* What a leader has heard of devices, as text in an annotation of its Lease, for whoever follows:
 * JSON with a version. Text that is read lives in the arena. */
#ifndef OWN_HEARD_H
#define OWN_HEARD_H

#include <stddef.h>

#include "base/alloc.h"
#include "base/fault.h"
#include "base/str.h"
#include "model/heard.h"

/* Of the text; what does not fit is left out, from the end on. */
#define HEARD_TEXT_MAX ((size_t)16 << 10)

/* Nothing at all where there are none. */
void heard_write(struct str *out, const struct heard *list, size_t count);
/* FAULT_INVALID: it is malformed, or of another version; FAULT_LIMIT: too much. Nothing is
 * believed of it then. `ret_list` has room for HEARD_MAX. */
MUST_CHECK int heard_decode(const char *text, struct arena *arena, struct heard *ret_list,
	size_t *ret_count, struct fault *ret_fault);

#endif
