/* The bill of one round while it is counted. */
#ifndef SIZER_BILL_STATE_H
#define SIZER_BILL_STATE_H

#include "right/cost.h"
#include "sizer/bills.h"
#include "supply/supply.h"
#include "tracking/tracking.h"

/* A pod of no workload that is known. */
struct bill_other {
	char uid[SIZER_UID_MAX + 1];
	struct bill_pod bill;
};
struct bill_others {
	VEC_FIELDS(struct bill_other);
};

/* A tenant on a GPU. */
struct bill_part {
	struct sized_pod *pod; /* borrowed; NULL: none that is known, but */
	uint32_t other;	       /* that one; UINT32_MAX: none */
	uint32_t group;	       /* of its namespace */
	uint32_t node;
	uint32_t next;		      /* of the same GPU; UINT32_MAX: none */
	int32_t milli, mib;	      /* has, */
	int32_t used_milli, used_mib; /* and uses */
};

struct bills {
	struct tracking *tracking; /* borrowed, like */
	struct supply *supply;	   /* this */
	VEC_OF(struct bill_part) parts;
	VEC_OF(int64_t) paid; /* by the pods of each node */
	struct bill_others others, next_others;
	uint32_t step; /* of those in bills.c */
	size_t at;     /* in what the step goes through */
	struct bill_totals totals, next;
};

void bills_finish(struct bills *b);
/* One slice; false: there is more. */
bool bills_step(struct bills *b, const struct world *w, int64_t now_ms, int64_t *budget);
/* "0.5 USD/h" */
const char *bill_text(const struct bill_config *config, struct arena *a, int64_t micro);

#endif
