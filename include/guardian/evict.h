/* The one way by which Aliquot takes a tenant down (I5): an Eviction, which a PodDisruptionBudget
 * may refuse. Nothing else in the engine ends a tenant, and nothing deletes one.
 *
 * Whoever has a cause calls evict_tenant in every step for as long as it lasts, says why, and does
 * not mind how often. Here it is decided whether the request leaves now: not while the webhook is
 * not reached (C3), for then what comes instead would start whole; where nobody knows, only whoever
 * cannot stay; not more than so many a minute in all; not two of one owner at a time, unless they
 * never ran; and not again soon where a budget or the API server has refused. The reason is written
 * down before: an event on the pod, in the same plan.
 *
 * What is evicted is not gone: its share counts until its departure says otherwise (C22).
 *
 * The engine owns all of it, and may lose it: what was evicted is being deleted, which the watch
 * shows, and what was refused is asked once more. Nothing here fails. */
#ifndef GUARDIAN_EVICT_H
#define GUARDIAN_EVICT_H

#include "base/clock.h"
#include "base/vec.h"
#include "guardian/jobs.h"
#include "ledger/keyed.h"
#include "ledger/nouns.h"
#include "model/reason.h"
#include "size/explain.h"

enum evict_state {
	EVICT_SENT,    /* the request leaves with this plan */
	EVICT_GOING,   /* it has left, or the pod is being deleted or over already */
	EVICT_HELD,    /* not now, for a reason that is not the pod's */
	EVICT_REFUSED, /* a budget or the API server said no: it rests, and is asked again */
};

struct evict_why {
	/* RECYCLED, NODE_LEAVES, PREEMPTED, CAPACITY_LOST or MEMORY_OVERUSE; its sentence is made
	 * of the facts */
	enum reason reason;
	struct explain_facts facts;
	bool as_judged; /* only in the version that the world has now */
};

/* A tenant that was to be evicted, by uid. */
struct eviction {
	char *uid;	    /* owned */
	char *owner;	    /* owned; uid of its controller; NULL: none */
	enum reason reason; /* for which it was asked last, and told; NONE: not yet */
	uint64_t flight;    /* 0: none under way */
	/* acknowledged, or nobody knows, and then a refusal if it is not seen by `retry_at` */
	bool evicted;
	bool told_refusal;
	bool by_budget;
	char *refusal; /* owned; what was answered last */
	int64_t retry_at;
	struct backoff backoff;
	int64_t asked_at; /* for the last time */
};

/* C21: a placed tenant that the scheduler does not bind, and since when. */
struct stuck {
	char *uid; /* owned */
	int64_t since;
	uint64_t seen;
};

/* An owner whose pods were recycled lately, in so many rounds: successors of those that were begin
 * another one. */
struct recycled {
	char *owner; /* owned; its uid */
	uint32_t rounds;
	int64_t round_at, last_at;
};

struct evictions {
	struct picture *picture; /* borrowed */
	struct {
		KEYED_FIELDS(struct eviction);
	} items;
	VEC_OF(int64_t) sent; /* when, in the last minute */
	VEC_OF(struct stuck) stuck;
	VEC_OF(struct recycled) recycled;
	struct jobs jobs;
	bool reached; /* C3: the API server reaches the webhook */
	bool unsure;  /* the same: nobody knows, for a policy refuses whoever would tell */
};

/* The pod is a tenant of the world. */
enum evict_state evict_tenant(struct evictions *evictions, const struct world_pod *p,
	const struct evict_why *why, struct emitter *out);
/* Would it be taken down if it were asked for? EVICT_SENT: now. REFUSED also where the budget of
 * its owner has just refused another pod. */
enum evict_state evict_look(
	struct evictions *evictions, const struct world_pod *p, enum reason reason);
/* A budget refused it, or another pod of its owner, when it was asked for last. Where several have
 * to go it is asked first, so that nobody else goes in vain. */
bool evict_is_doubtful(const struct evictions *evictions, const struct world_pod *p);
/* That pod, or another one of its owner, is being taken down. */
bool evicts(const struct evictions *evictions, const char *uid);

void eviction_settle(
	struct evictions *evictions, int64_t now, uint64_t id, const struct outcome *o);
void evictions_report(struct evictions *evictions, struct emitter *out); /* what was refused */
void evictions_init(struct evictions *evictions, struct picture *picture);
void eviction_add(struct evictions *evictions, struct eviction *v); /* takes what it holds */
void evictions_sweep(struct evictions *evictions);
void evictions_new_term(struct evictions *all);
void evictions_finish(struct evictions *all);

#endif
