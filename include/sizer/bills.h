/* Who pays for the GPUs. Each GPU's price is split among the pods that have it, by the larger of
 * what each has and what it uses; what nobody has is idle. All of it together is the price of all
 * GPUs that nodes offer, to the last millionth. Counted once a round; what is asked is of the last
 * one that ended. */
#ifndef SIZER_BILLS_H
#define SIZER_BILLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/price.h"

struct sizer;
struct world;
struct arena;
struct bill_pod;
struct bills;
struct pod;

struct bill_config {
	const struct prices *prices;	      /* borrowed, like all here; NULL: none */
	const char *currency;		      /* NULL: not told */
	const char *price_label;	      /* of a node, before its model's; NULL: none */
	const char *team_label, *model_label; /* of pods; NULL: none */
};

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

enum bill_by { BILL_POD, BILL_WORKLOAD, BILL_NAMESPACE, BILL_TEAM, BILL_MODEL };
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

/* For the other files of the sizer. */
void bills_init(struct bills *b);
void bills_finish(struct bills *b);
/* By what labels a pod is counted. */
void bills_label(struct sizer *s, struct bill_pod *ret, const struct pod *noun);
/* One slice; false: there is more. */
bool bills_step(struct sizer *s, const struct world *w, int64_t now_ms, int64_t *budget);
/* "0.5 USD/h" */
const char *bills_text(const struct sizer *s, struct arena *a, int64_t micro);

#endif
