/* The one strict parser for amounts: Kubernetes quantities and decimal shares, integers only.
 *
 * Accepted: digits with an optional fraction and an optional suffix (n u m k M G T P E, Ki Mi Gi Ti
 * Pi Ei, or a decimal exponent e3/E3); one leading '+' or '-' as Kubernetes allows. Not accepted:
 * blanks, NaN, Inf, hex, underscores, commas, empty text, more than 64 characters. What does not
 * fit int64 is out of range. */
#ifndef MODEL_QUANTITY_H
#define MODEL_QUANTITY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/fault.h"
#include "base/str.h"

/* The value times 1000, rounded up as Kubernetes does ("1500m" -> 1500, "0.25" -> 250, "2" ->
 * 2000). */
MUST_CHECK int quantity_milli(struct view text, int64_t *ret_milli, struct fault *ret_fault);
/* The value as whole units, rounded up ("8Gi" -> 8589934592). */
MUST_CHECK int quantity_units(struct view text, int64_t *ret_units, struct fault *ret_fault);

/* Is it a whole number exactly, as the API server wants it of devices ("1000m" is, "500m" is not)?
 */
bool quantity_is_whole(struct view text);

/* A person's share: a quantity from 1m to 1 with no finer grain than 1m ("0.0005" is refused, not
 * rounded). */
MUST_CHECK int share_parse(struct view text, int64_t *ret_milli, struct fault *ret_fault);
/* A person's memory: a quantity of at least 1Mi, at most 1Pi, floored to MiB. */
MUST_CHECK int memory_parse(struct view text, int64_t *ret_mib, struct fault *ret_fault);
/* A device count 1..MODEL_GPU_COUNT_MAX, plain digits. */
MUST_CHECK int count_parse(struct view text, int64_t *ret_count, struct fault *ret_fault);

/* Canonical forms: 250 -> "0.25", 1000 -> "1", 5 -> "0.005"; 8192 -> "8Gi", 300 -> "300Mi". */
#define QUANTITY_TEXT_MAX 24
const char *share_format(int64_t milli, char buffer[QUANTITY_TEXT_MAX]);
const char *memory_format(int64_t mib, char buffer[QUANTITY_TEXT_MAX]);

#endif
