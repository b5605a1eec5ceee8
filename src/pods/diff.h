/* The difference of two JSON values as a JSON patch (RFC 6902): what turns one into the other. */
#ifndef PODS_DIFF_H
#define PODS_DIFF_H

#include <jansson.h>
#include <stdbool.h>

#include "base/str.h"

/* Appends the array of operations, "[]" if both are equal. Parts that are the very same value are
 * not looked into, so that two trees that share most of themselves are compared quickly. */
bool diff_write(const json_t *before, const json_t *after, struct str *out);
/* Appends a value as compact JSON. */
bool diff_write_value(const json_t *value, struct str *out);

#endif
