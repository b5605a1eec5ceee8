/* What a run is asked for, and what it reports. */
#ifndef SIM_RUN_PARTS_H
#define SIM_RUN_PARTS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "model/change.h"
#include "model/plan.h"
#include "model/wire.h"

struct sim_scenario;

struct sim_hooks {
	/* A write about to leave; `body` may be changed in place. NULL: untouched. */
	void (*request)(const struct wire_request *request, json_t *body);
	/* A change about to be observed, passed on (or not) by `tell`. NULL: passed on. */
	void (*change)(
		struct change *c, void (*tell)(void *data, const struct change *c), void *data);
	/* An outcome about to be settled; `storage` may hold a pod that it names. */
	void (*outcome)(const struct action *a, struct outcome *o, struct pod *storage);
	/* Whoever leads forgets all that it assumes when a new picture is complete. */
	bool forgets_at_relist;
	/* Of the cluster, not of a controller: a GPU is given out when the deletion of its pod
	 * begins, where no other is free. */
	bool devices_free_early;
	int64_t patience_ms;	/* until one that is passed over reserves; 0: as the run has it */
	int64_t partial_ms;	/* how long a grant is kept that is not whole; 0: as shipped */
	int64_t late_quotas_ms; /* so long whoever leads anew goes by no quota */
	/* An agent that does not answer passes for one that lists nobody. */
	bool silence_is_nobody;
	bool assumes_env;    /* nothing is tried before a GPU is named by its UUID */
	bool keeps_leading;  /* the loss of the Lease is never told, nor asked for before a write */
	bool budgets_hidden; /* of the API server: whoever lists budgets finds none */
	bool lease_alone;    /* the term stands on the Lease, and nowhere else */
};

/* One trouble that happened. */
struct sim_entry {
	uint64_t id;
	int64_t at_ms;
	const char *kind; /* static text */
	char what[160];	  /* for people */
};

struct sim_log {
	VEC_FIELDS(struct sim_entry);
};

/* The troubles that may happen, ids in rising order. */
struct sim_only {
	const uint64_t *ids; /* borrowed */
	size_t count;
};

struct sim_config {
	uint64_t seed;
	const struct sim_scenario *scenario; /* borrowed; NULL: none */
	const struct sim_only *only;	     /* borrowed; NULL: all that the seed draws */
	struct sim_log *log;	       /* borrowed; what happened is appended; NULL: not told */
	bool probed;		       /* machines differ in how they give GPUs (C26) */
	bool rolled;		       /* Deployments are rightsized, in each run, */
	bool plain;		       /* or in none */
	bool crowded;		       /* it is about one that is passed over (C17) */
	bool small;		       /* no machine has more than four GPUs, and crowds are rare */
	bool trace;		       /* every request, answer and change on stdout */
	const struct sim_hooks *hooks; /* borrowed; NULL: none */
	int64_t trouble_ms, calm_ms;   /* 0: drawn by the seed */
};

#define SIM_MESSAGE_MAX 2048

struct sim_report {
	bool failed;
	const char *rule;		/* static text: which invariant */
	char message[SIM_MESSAGE_MAX];	/* the objects */
	int64_t at_ms;			/* virtual, since the beginning */
	uint64_t steps, writes, faults; /* agenda items, changes of objects, faults dealt out */
	uint64_t placed, tenants, crashes, takeovers;
	uint64_t evicted, refused; /* tenants, and those that a budget held */
	uint64_t overused;	   /* decided, for memory over a share */
	uint64_t left;		   /* processes that outlived their pod */
	uint64_t quotas;	   /* shares that were given where a quota is */
	uint64_t overtakings;	   /* shares given while one who came first lacked room, judged */
	uint64_t gates;		   /* taken by a controller, and judged */
	uint64_t claims;	   /* of why somebody waits, recomputed */
	uint64_t half_claims;	   /* of these: only what no picture is needed for */
	uint64_t fenced;	   /* placements of a term that was over, refused */
	uint64_t rolled;	   /* pods that were evicted for their share */
	uint64_t surged, adopted;  /* pods made beside others, and those that took their place */
	uint64_t returned;	   /* given back, while they waited for a share */
	uint64_t lost_races;	   /* adopted, and the ReplicaSet took another one */
	uint64_t digest;	   /* of every object as it was written */
};

#endif
