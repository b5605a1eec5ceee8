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
	uint32_t nodes, whole_pods, tenants;
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
	struct {
		VEC_FIELDS(const char *);
	} gaps;
};

/* agent_rows.c */
void report_agent(struct report *r, const struct pod *pod);
void agents_clear(struct report *r);

/* pod_rows.c */
void report_pod(struct report *r, const struct pod *pod);
void rows_clear(struct rows *rows);
void rows_add(struct rows *rows, struct arena *a, const struct row *row);

/* workload_rows.c */
void report_work(struct report *r, const struct recommendation *of);
void works_clear(struct works *w);
void works_end(struct works *w); /* all are counted */
struct gpus report_gpus(const struct report *r);
void sum_add(int64_t *sum, int64_t more);	 /* INT64_MAX at most */
int64_t gpus_used_percent(const struct gpus *g); /* of all, 0 of none */
int64_t gpus_idle(const struct gpus *g);
/* How many bytes of `text` are at most `most`, and whole characters. */
size_t report_cut(const char *text, size_t most);
/* "Kind.group", as those of a row of strange pods are told apart, each cut. */
const char *report_kind(struct arena *a, const char *kind, const char *group);
/* Is its holder the leader still? After 20 s without a word nobody leads (C2). */
bool report_leads(const struct report_parts *p, int64_t now_ms);
/* What the leader says of its canary; of who leads no more it is not known. */
const char *report_refused_by(const struct report_parts *p, int64_t now_ms);
/* "webhook ok", and what else there is to say of it. */
const char *report_webhook_text(const struct report_parts *p);

#endif
