/* The bill of one round while it is counted. */
#ifndef SIZER_BILL_PARTS_H
#define SIZER_BILL_PARTS_H

#include "base/map.h"
#include "base/vec.h"
#include "right/cost.h"
#include "sizer/bills.h"
#include "sizer/sizer.h"

struct pod;
struct sized_pod;

/* What something costs: of the last round, and of the one that is counted. */
struct bill_cost {
	int64_t cost, next;
};

/* Of one pod. */
struct bill_pod {
	struct bill_cost cost;
	uint32_t team, model; /* groups; UINT32_MAX: it has no such label */
};

/* A pod of no workload that is known. */
struct bill_other {
	char uid[SIZER_UID_MAX + 1];
	struct bill_pod bill;
};
struct bill_others {
	VEC_FIELDS(struct bill_other);
};

/* A namespace, or a label's value. */
struct bill_group {
	char *name;    /* owned; NULL: this place is free */
	uint8_t by;    /* enum bill_by */
	uint32_t turn; /* in which a pod had it last */
	uint32_t next; /* of a free one: as bills.unused */
	struct bill_cost cost;
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
	struct {
		VEC_FIELDS(struct bill_group);
	} groups;
	struct map by_name;
	uint32_t unused; /* the first free place and one; 0: there is none */
	uint32_t turn;	 /* each bill is one */
	struct {
		VEC_FIELDS(struct bill_part);
	} parts;
	struct {
		VEC_FIELDS(int64_t);
	} paid; /* by the pods of each node */
	struct bill_others others, next_others;
	uint32_t step;
	struct bill_totals totals, next;
};

#endif
