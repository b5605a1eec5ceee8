/* Prices of GPUs, as a person writes them: millionths of a currency's unit for an hour of one GPU.
 */
#ifndef MODEL_PRICE_H
#define MODEL_PRICE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/fault.h"
#include "base/str.h"

#define PRICE_UNIT   INT64_C(1000000)		    /* one of the currency's unit */
#define PRICE_MAX    (INT64_C(100000) * PRICE_UNIT) /* of one GPU for an hour */
#define PRICES_MAX   64
#define PRICE_ABSENT (-1)

struct price {
	const char *model; /* "*": of all others */
	int64_t micro;
};

struct prices {
	struct price *items; /* from the arena */
	uint32_t count;
};

/* A decimal number, as "2.00": no sign, no exponent, at most six digits behind the point count. */
bool price_parse(struct view text, int64_t *ret_micro);
/* "MODEL=PRICE,…"; empty: none. What is wrong is said with what to write. */
MUST_CHECK int prices_parse(
	const char *text, struct arena *arena, struct prices *ret, struct fault *ret_fault);
/* Of a model as the driver, a node's label or a person writes it: letters in any case, blanks as
 * dashes. PRICE_ABSENT: nobody said. */
int64_t prices_of(const struct prices *p, const char *model);

#define PRICE_TEXT_MAX 32
const char *price_format(int64_t micro, char buffer[PRICE_TEXT_MAX]); /* "0.5" */

#endif
