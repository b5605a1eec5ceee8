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

#endif
