/* Standard base64 (RFC 4648, padded), as Secrets, patches and kubeconfigs carry it. Decoding skips
 * blanks and line breaks. */
#ifndef BASE_BASE64_H
#define BASE_BASE64_H

#include <stdbool.h>

#include "base/str.h"

/* Appends the text; false if it does not fit. */
bool base64_encode(const char *p, size_t n, struct str *out);
/* Appends the decoded bytes; false if the text is not base64 or does not fit. */
bool base64_decode(struct view text, struct str *out);

#endif
