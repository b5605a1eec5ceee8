/* Prices split by shares. */
#include "right/cost.h"

#include "base/number.h"

#define FULL 1000000 /* parts are in millionths of a GPU */

static int64_t part_of(const struct cost_tenant *t, int64_t usable_mib)
{
	int64_t milli = larger_of(t->allocated.milli, t->used.milli);
	int64_t mib = larger_of(t->allocated.mib, t->used.mib);
	int64_t compute = milli * (FULL / 1000);
	int64_t memory = usable_mib > 0 ? mib * FULL / usable_mib : 0;
	int64_t part = larger_of(compute, memory);
	return part < FULL ? larger_of(part, 0) : FULL;
}

/* From the sums up to each tenant, so that what is rounded off does not add up. */
void cost_split(int64_t price, int64_t usable_mib, const struct cost_tenant *tenants,
	uint32_t count, int64_t *ret_costs)
{
	int64_t total = 0, sum = 0, paid = 0;
	for (uint32_t i = 0; i < count; i++) {
		total += part_of(&tenants[i], usable_mib);
	}
	int64_t whole = larger_of(total, FULL);
	for (uint32_t i = 0; i < count; i++) {
		sum += part_of(&tenants[i], usable_mib);
		int64_t up_to_here = price / whole * sum + price % whole * sum / whole;
		ret_costs[i] = up_to_here - paid;
		paid = up_to_here;
	}
}

bool cost_is_idle(const struct history_facts *facts, int64_t now_ms)
{
	bool heard = facts->last_ms > 0 && now_ms - facts->last_ms <= HISTORY_FRESH_MS;
	return heard && facts->quiet_minutes >= COST_IDLE_MINUTES;
}
