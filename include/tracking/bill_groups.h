/* By whom costs are added up: namespaces, and the teams and models that labels of pods name. One
 * that no pod had in the bill that was counted last is forgotten, so that there is room for those
 * that come. */
#ifndef TRACKING_BILL_GROUPS_H
#define TRACKING_BILL_GROUPS_H

#include "base/map.h"
#include "base/vec.h"
#include "tracking/sizer_config.h"

#define BILL_NO_GROUP UINT32_MAX

enum bill_by { BILL_POD, BILL_WORKLOAD, BILL_NAMESPACE, BILL_TEAM, BILL_MODEL };

/* What something costs: of the last round, and of the one that is counted. */
struct bill_cost {
	int64_t cost, next;
};

/* Of one pod. */
struct bill_pod {
	struct bill_cost cost;
	uint32_t team, model; /* groups; BILL_NO_GROUP: it has no such label */
};

/* A namespace, or a label's value. */
struct bill_group {
	char *name;    /* owned; NULL: this place is free */
	uint8_t by;    /* enum bill_by */
	uint32_t turn; /* in which a pod had it last */
	uint32_t next; /* of a free one: as bill_groups.unused */
	struct bill_cost cost;
};

struct bill_groups {
	VEC_OF(struct bill_group) list;
	struct map by_name;
	uint32_t unused; /* the first free place and one; 0: there is none */
	uint32_t turn;	 /* each bill is one */
};

void bill_groups_init(struct bill_groups *g);
void bill_groups_finish(struct bill_groups *g);
/* BILL_NO_GROUP: it has no name, or there are too many. */
uint32_t bill_groups_at(struct bill_groups *g, enum bill_by by, const char *name);
/* A pod still has it. */
void bill_groups_keep(struct bill_groups *g, uint32_t at);
/* Those that no pod had in this turn: they pay nothing, and nobody knows their place. */
void bill_groups_forget(struct bill_groups *g);
/* By what labels a pod is counted. */
void bill_groups_label(struct bill_groups *g, const struct bill_config *config,
	const struct pairs *labels, struct bill_pod *ret);

#endif
