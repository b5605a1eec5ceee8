/* Standard base64 (RFC 4648, padded), as the *-data members of a kubeconfig carry it. Blanks and
 * line breaks are skipped. */
#ifndef KUBE_BASE64_H
#define KUBE_BASE64_H

#include <stdbool.h>

#include "base/str.h"

/* Appends the decoded bytes; false if the text is not base64 or does not fit. */
bool base64_decode(struct view text, struct str *out);

#endif
