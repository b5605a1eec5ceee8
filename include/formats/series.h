/* The name and the labels of one series, as the Prometheus formats tell them. All borrowed. */
#ifndef FORMATS_SERIES_H
#define FORMATS_SERIES_H

#include <stdint.h>
#include <string.h>

struct series_label {
	const char *name;
	const char *value; /* unescaped */
};

struct series {
	const char *name; /* "": a query took it away */
	const struct series_label *labels;
	uint32_t label_count;
};

/* NULL if it has no such label. */
static inline const char *series_label(const struct series *s, const char *name)
{
	for (uint32_t i = 0; i < s->label_count; i++) {
		if (strcmp(s->labels[i].name, name) == 0) {
			return s->labels[i].value;
		}
	}
	return NULL;
}

#endif
