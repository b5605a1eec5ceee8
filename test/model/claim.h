/* Why somebody waits, judged: what a condition says is worked out again from the objects as the
 * controller had been told of them when it decided to say so.
 *
 * A controller counts more than the objects show: what it has sent and not seen, what may run on
 * after its pod is gone, who comes first. So what is used of a GPU or a node is a span here, from
 * what is used for certain to what may be. A number must lie within its span; that nothing fits is
 * false where something fits even if all that may be used is used. */
#ifndef SIM_CLAIM_H
#define SIM_CLAIM_H

#include "object_history.h"

struct sim;
struct action;
struct parcel;
struct promise;

struct span {
	int64_t least, most;
};

/* A claim under examination. */
struct claim {
	struct sim *sim;
	int replica;
	const char *reason, *message;
	struct picture seen;
	const struct stored *pod; /* the one that waits, in that picture */
	char why[128];		  /* room for what is wrong */
};

/* What a controller decided to do, and when. */
struct intent {
	int64_t at;
	size_t moment;	 /* object_history.h */
	int64_t version; /* of the store then */
	int replica;
	uint64_t term; /* takeovers until then */
	uint64_t id;   /* of the action, in that process */
	int kind;      /* enum action_type */
	bool is_false; /* conditions */
	bool not_done; /* the answer said so for certain */
	char uid[40], name[64], node[64];
};

/* A share that a controller has decided to give, for as long as each of its writes to that capacity
 * pod says so again. */
struct chosen {
	int replica;
	size_t moment; /* of the first of them */
	int64_t at;    /* its time */
	bool again;
	char holder[64], uid[40];
};

struct claims {
	struct {
		VEC_FIELDS(struct chosen);
	} chosen;
	struct {
		VEC_FIELDS(struct intent);
	} intents;
	struct {
		VEC_FIELDS(struct intent); /* name: a node on which a capacity pod failed */
	} failures;
	int64_t leads_since;   /* the last time that anybody began to lead */
	int64_t refused_at[2]; /* by controller: when a write of it did not hold; 0: never */
};

/* --- claim.c --- */
void claim_finish(struct sim *s);
void claim_intended(struct sim *s, int replica, const struct action *a);
/* A request leaves; if it is a condition, it is judged. */
void claim_sent(struct sim *s, int replica, const char *path, const char *body, size_t n);
/* Its outcome, as the wire told it. */
void claim_ended(struct sim *s, int replica, const struct action *a, const struct fault *fault);
void claim_committed(struct sim *s, const struct commit *c);
bool claim_failed_on(const struct sim *s, const char *node, int64_t within_ms);
/* The last write to that capacity pod's ledger that this controller decided; NULL: none. */
const struct intent *claim_grant_of(const struct sim *s, int replica, const char *holder);
/* Has this controller meant to do that to the object of this name lately? NULL: to any. */
bool claim_intends(const struct claim *c, int kind, const char *name, int64_t within_ms);

/* Has it asked for a capacity pod on this node (NULL: any) that the picture does not show yet? */
bool claim_opens_unseen(const struct claim *c, const char *node);
/* Has it written to this one what the picture does not show? */
bool claim_grants_unseen(const struct claim *c, const struct stored *holder);
/* Has it written to any ledger what its watch has not shown it yet, however long ago? It gives
 * nothing before that (C21). What it has written before `since` counts. */
bool claim_awaits_watch(const struct claim *c, int64_t since);
/* The node that it must go to; NULL: none is named. */
const char *claim_pin(const struct pod *p);

/* --- claim_room.c --- */
bool claim_is_waiting(const struct stored *o);
const struct stored *claim_find(const struct claim *c, const char *uid);
/* Is this capacity pod open to grants, as far as the objects tell? */
bool claim_is_open(const struct stored *o);
/* Does its affinity allow that node? */
bool claim_selects(const struct pod *p, const struct node *n);
struct span claim_used_milli(const struct claim *c, const struct stored *holder);
struct span claim_used_mib(const struct claim *c, const struct stored *holder);
/* It was promised there, and nothing says that it is over; `holder` NULL: whatever its ledger says.
 */
bool claim_may_use(const struct claim *c, const struct promise *made, const struct stored *holder);
bool claim_comes_first(const struct claim *c, const struct stored *o);
/* What those who come first may take in this step. */
void claim_ahead(const struct claim *c, int64_t mem_mib, int64_t *ret_milli, int64_t *ret_mib);
/* The same of all others who wait. */
void claim_others(const struct claim *c, int64_t mem_mib, int64_t *ret_milli, int64_t *ret_mib);
/* Where it fits for certain; NULL: nowhere. */
const struct stored *claim_fits(const struct claim *c);
/* Has a GPU lost its capacity pod? */
bool claim_has_orphans(const struct claim *c);
/* Or has one that holds it again, and not yet in its books who runs on it? */
bool claim_has_unbooked(const struct claim *c);
/* The span of what is taken of a quota. */
struct span claim_quota_used(const struct claim *c, const struct quota *q);

bool claim_node_takes(const struct claim *c, const struct stored *node, int64_t opens);
bool claim_is_drained(const struct node *n); /* for an upgrade of its driver */
bool claim_may_come(const struct claim *c, const struct stored *o, const char *node);
int64_t claim_opened_unseen(const struct claim *c); /* capacity pods that it asked for lately */

/* --- claim_first.c: NULL, or what is wrong with the claim --- */
const char *claim_keeps_first(struct claim *c);
const char *claim_short_of_gpus(struct claim *c);
const char *claim_is_ill(struct claim *c);
const char *claim_miscounts_room(struct claim *c);
/* "node-1 has room on 2" */
bool claim_room_on(const char *message, char *node, size_t room, int64_t *ret_count);

/* --- claim_lack.c --- */
/* Where a capacity pod is, or must go; NULL: nowhere that was known. */
const struct stored *claim_node_of(const struct claim *c, const struct pod *holder);
const char *claim_miscounts_gpus(struct claim *c);
/* How many GPUs are told to be so; 0: none. */
int64_t claim_gpus(const char *message, const char *one, const char *many);
/* The rest of the sentence behind what is told of GPUs. */
const char *claim_past_gpus(const char *message);

/* --- claim_text.c --- */
struct amount_told {
	int64_t milli, mib; /* 0: not told */
};
bool claim_wants(const char *message, struct amount_told *ret_wanted);
/* "the best GPU has 0.5 GPU free on node-7" */
bool claim_best(const char *message, struct amount_told *ret_free, char *node, size_t room);
/* How many nodes are told to be so; -1: it is not told. */
int64_t claim_nodes(const char *message, const char *one, const char *many);
/* "quota-1 allows 2 GPU, 1.5 GPU of it taken" */
bool claim_quota(const char *message, char *name, size_t room, int64_t *ret_allowed_milli,
	int64_t *ret_taken_milli);

#endif
