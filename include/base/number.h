/* The larger and the smaller of two numbers. */
#ifndef BASE_NUMBER_H
#define BASE_NUMBER_H

#include <stdint.h>

static inline int64_t larger_of(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static inline int64_t smaller_of(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* Up to the next multiple of the step; a step of 0 is none. */
static inline int64_t rounded_up(int64_t value, int64_t step)
{
	return step > 0 ? (value + step - 1) / step * step : value;
}

#endif
