/* What vLLM, SGLang and Triton tell of themselves, by the names of their series. */
#ifndef METER_GAUGES_H
#define METER_GAUGES_H

#include "base/str.h"
#include "formats/figure.h"
#include "formats/series.h"
#include "model/metered.h"

enum gauges_verdict { GAUGES_OTHER, GAUGES_ODD, GAUGES_TAKEN };

/* One series more of one pod: counts of several models are added, of pools the fullest counts; and
 * where the sizes of several are told, that of none is known. */
enum gauges_verdict gauges_take(
	struct app_gauges *g, const char *name, const struct series *s, struct figure value);
/* All names that are read, with '|' between. */
void gauges_write_names(struct str *out);

#endif
