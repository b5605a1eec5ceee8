/* What an application says of itself: whatever that is, what is taken of it is within its limits,
 * and the labels that say how large its pool is are counts or nothing. */
#include <stdint.h>
#include <string.h>

#include "base/alloc.h"
#include "formats/exposition.h"
#include "gauges.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int on_sample(void *data, const struct exposition_sample *s, struct fault *f)
{
	struct app_gauges *g = data, before = *g;
	(void)f;
	enum gauges_verdict verdict = gauges_take(g, s->series.name, &s->series, s->value);
	ENSURE(verdict == GAUGES_TAKEN || memcmp(&before, g, sizeof before) == 0);
	ENSURE(verdict != GAUGES_TAKEN || g->engine != APP_NONE);
	return 0;
}

static void check(const struct app_gauges *g)
{
	const int64_t absent = METERED_ABSENT;
	ENSURE(g->kv_used >= absent && g->kv_used <= METERED_GAUGE_FULL);
	ENSURE(g->waiting >= absent && g->running >= absent && g->preemptions >= absent);
	ENSURE(g->pool_units == absent || g->pool_units > 0);
	ENSURE(g->pool_bytes == absent ||
		(g->pool_bytes > 0 && g->pool_bytes <= METERED_MEMORY_MAX));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct app_gauges g;
	struct fault fault = {0};
	memset(&g, 0, sizeof g);
	g = app_gauges_none();
	struct exposition *e = exposition_create(on_sample, &g);
	bool whole = exposition_feed(e, (const char *)data, size, &fault) == 0 &&
		     exposition_end(e, &fault) == 0;
	ENSURE(whole || fault.kind != FAULT_NONE);
	exposition_destroy(e);
	check(&g);
	return 0;
}
