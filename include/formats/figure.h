/* Numbers as the Prometheus formats write them, "0.4375", "1.2e+06", "NaN", "+Inf", read without
 * floating point and without a locale.
 *
 * A figure is a number only if it says so. What is not a number, not finite or too large to hold is
 * a state of its own, so that it can never be taken for zero. */
#ifndef FORMATS_FIGURE_H
#define FORMATS_FIGURE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

#define FIGURE_ONE 1000000

enum figure_state {
	FIGURE_ABSENT,
	FIGURE_NUMBER,
	FIGURE_NAN,
	FIGURE_INFINITE,
	FIGURE_HUGE, /* beyond nine million million */
};

struct figure {
	enum figure_state state;
	int64_t micro; /* in millionths, what is smaller cut off; only of FIGURE_NUMBER */
};

/* False: not a number at all; hexadecimal and what a C library would add are not. */
MUST_CHECK bool figure_parse(struct view text, struct figure *ret_figure);
static inline bool figure_is_number(struct figure f)
{
	return f.state == FIGURE_NUMBER;
}

#endif
