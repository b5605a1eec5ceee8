/* What the pods on a GPU cost, and what is wasted. Prices are in millionths of a currency's unit
 * for an hour; whatever is split adds up to the price again, to the last millionth. Pure. */
#ifndef RIGHT_COST_H
#define RIGHT_COST_H

#include "history/history.h"
#include "model/recommendation.h"

/* Observed minutes without activity after which a workload is idle. */
#define COST_IDLE_MINUTES 180

struct cost_tenant {
	struct share allocated;
	struct share used; /* 0: not known, or nothing */
};

/* A tenant's part is the larger of what it has and what it uses (C6), of compute or of memory,
 * whichever is more of the GPU: what nobody else can have, it pays. What nobody has is idle. Where
 * the parts are more than the GPU, each pays in proportion and nothing is idle. */
void cost_split(int64_t price, int64_t usable_mib, const struct cost_tenant *tenants,
	uint32_t count, int64_t *ret_costs);

/* It did nothing for long enough, which was observed and is so now. A silence is not idleness. */
bool cost_is_idle(const struct history_facts *facts, int64_t now_ms);

#endif
