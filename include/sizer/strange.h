/* Who has GPUs and is not recognized: pods of owners of unknown kinds, and pods without one. */
#ifndef SIZER_STRANGE_H
#define SIZER_STRANGE_H

#include <stddef.h>
#include <stdint.h>

struct sizer;

/* What has GPUs in the same round is told apart up to here. */
#define SIZER_STRANGE_MAX 32

struct strange_row {
	const char *group, *kind; /* borrowed until the next step; NULL: of all further kinds */
	int64_t milli;
};
/* Those that have any, in no order. */
size_t sizer_strange_rows(const struct sizer *s);
void sizer_strange_row(const struct sizer *s, size_t i, struct strange_row *ret);
/* Thousandths of a GPU that pods have which nobody controls. */
int64_t sizer_ownerless_milli(const struct sizer *s);

#endif
