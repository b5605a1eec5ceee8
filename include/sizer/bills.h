/* Who pays for the GPUs. Each GPU's price is split among the pods that have it, by the larger of
 * what each has and what it uses; what nobody has is idle. All of it together is the price of all
 * GPUs that nodes offer, to the last millionth. Counted once a round; what is asked is of the last
 * one that ended. */
#ifndef SIZER_BILLS_H
#define SIZER_BILLS_H

#include "tracking/bill_groups.h"

struct sizer;
struct world;

/* For an hour, in millionths; GPUs without a price cost nothing. */
struct bill_totals {
	int64_t all;		 /* of the GPUs that nodes offer */
	int64_t pods;		 /* of those, what pods pay: the rest is */
	int64_t idle_held;	 /* of shared GPUs what nobody has, */
	int64_t idle_free;	 /* and GPUs that nobody holds */
	int64_t saved;		 /* what tenants would pay more with the GPUs of their templates */
	int64_t freed;		 /* of that the GPUs that others can have: less idle_held. Below 0
				    while a GPU is held for nobody */
	int64_t wasted;		 /* what idle workloads pay */
	uint32_t gpus, unpriced; /* that nodes offer; those without a price */
	uint32_t idle_workloads;
};
void sizer_bill(const struct sizer *s, struct bill_totals *ret);

struct bill_row {
	const char *ns, *kind, *name; /* borrowed; NULL: it has none */
	int64_t cost;
};
/* i < sizer_bill_rows; false: there is nothing there. */
size_t sizer_bill_rows(const struct sizer *s, enum bill_by by);
bool sizer_bill_row(const struct sizer *s, const struct world *w, enum bill_by by, size_t i,
	struct bill_row *ret);
/* The same without looking for the pod, which may be gone since the bill was made. */
int64_t sizer_bill_cost(const struct sizer *s, enum bill_by by, size_t i);

#endif
