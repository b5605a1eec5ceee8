/* What the report keeps, and its files share. */
#ifndef REPORT_PARTS_H
#define REPORT_PARTS_H

#include "base/alloc.h"
#include "base/vec.h"
#include "owner/groups.h"
#include "owner/podgroups.h"
#include "owner/strangers.h"
#include "report/report.h"
#include "world/world.h"

/* A pod that is told of. Texts are of the arena of its list. */
struct row {
	const char *ns, *name, *reason, *message;
	int64_t since_ms; /* 0: not known */
	int64_t milli;	  /* of GPUs that it has */
	const char *home; /* of an agent: its namespace; static */
};

struct rows {
	VEC_FIELDS(struct row);
	uint32_t total; /* of all, those that are not kept too */
};

/* How often, and one of them. */
struct cause {
	const char *reason, *ns, *kind, *name, *message;
	uint32_t count;
};

struct causes {
	VEC_FIELDS(struct cause);
};

struct works {
	uint32_t total, automated, shown, applied, healing;
	int64_t saved_milli;
	struct causes unready, blocked;
};

struct gpus {
	uint32_t nodes, tenants;
	int64_t gpus, whole, held, empty; /* held: by capacity pods; empty: without a tenant */
	int64_t milli;			  /* of tenants */
};

struct report {
	struct world *world;	      /* owned */
	struct groups *groups;	      /* owned */
	struct podgroups *pod_groups; /* owned; of namespaces that may be listed */
	struct arena parts_arena, pods_arena, works_arena, owners_arena, scratch;
	struct report_parts parts;
	struct rows waiting, whole;
	struct rows unready; /* agents; their namespace is the node */
	uint32_t agents;
	struct rows strange; /* their reason is the kind, "" of nobody's */
	struct strangers strangers;
	struct works works;
	bool works_known, pods_known, nodes_known, looked;
	const char *pods_limit, *works_limit; /* NULL: all namespaces */
	VEC_OF(const char *) gaps;
};

#endif
