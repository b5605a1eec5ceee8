/* What the checker remembers, and what its files ask of each other. The run owns it. */
#ifndef SIM_CHECK_H
#define SIM_CHECK_H

#include <stdbool.h>
#include <stdint.h>

#include "appetite.h"
#include "base/str.h"
#include "base/vec.h"
#include "check_group.h"
#include "facts.h"
#include "model/wire.h"
#include "store.h"

#define SIM_RANKS 3 /* priorities of tenants, from 0; whole pods may have this one, too */

struct action;
struct sim;
struct weather;

/* --- check.c, check_end.c --- */
struct promise {
	char holder[64], holder_uid[40], uuid[96], node[64], tenant[40];
	int64_t milli, mem_mib;
	int64_t gone_at; /* when the tenant's object went; 0: it is there */
	bool over;	 /* and it had ended before */
};
/* What still runs although its pod is gone. */
struct left {
	char tenant[40];
	char holder[40], uuid[96], node[64]; /* uid of the capacity pod that had it in its books */
	int64_t milli, mem_mib, until;
};
/* A pod that asks for whole GPUs and that the scheduler has found no node for. */
struct pending {
	char uid[40];
	int64_t known_at, first_at;	      /* since when no tenant that waits ranks before it */
	int64_t known_version, first_version; /* of the store, then */
};
/* For how long something has lacked room, while a leader could see and write. */
struct lacked {
	int64_t since, lacked_ms;
	int64_t reserved_at; /* since when nobody after it may come there; 0: not yet */
};
/* A tenant that has lacked room on the only node that could hold it, or wherever it could go. */
struct passed_over {
	char uid[40], node[64];
	uint64_t term;
	int replica;	     /* whose seconds are counted */
	int64_t leads_since; /* of the term in which that was seen */
	struct lacked only, wide;
};
/* A GPU that its capacity pod let go, the last time. */
struct lost_gpu {
	char uuid[96];
	int64_t at;
};
struct checker {
	struct greed greed;
	struct {
		VEC_FIELDS(struct lost_gpu);
	} lost;
	struct {
		VEC_FIELDS(struct half); /* tenants that were granted some of their GPUs */
	} halves;
	struct {
		VEC_FIELDS(struct pending);
	} pending;
	struct {
		VEC_FIELDS(struct passed_over);
	} passed;
	struct {
		VEC_FIELDS(struct left);
	} left;
	struct {
		VEC_FIELDS(struct promise); /* every entry of every ledger that ever was */
	} promises;
	bool nearest;		       /* check_nearest.c judges this run */
	int64_t waited[SIM_RANKS + 1]; /* when one of this priority last waited; 0: never */
};
void check_finish(struct sim *s);
/* check_evict.c */
void check_note_waiting(struct sim *s, const struct stored *o);
void check_note_lost(struct sim *s, const struct commit *c);
void check_eviction(struct sim *s, const struct stored *o); /* a controller's, about to be done */
void left_note(struct sim *s, const struct stored *o);	    /* a tenant's object goes */
/* What of it runs on a node now; NULL when there are no more of them. */
const struct left *left_on(struct sim *s, const char *node, size_t *at);
/* Adds what is used so on a GPU; true if there is any. */
bool left_sum(struct sim *s, const char *uuid, int64_t *milli, int64_t *mem_mib);
/* Whatever is there now: some GPU is large enough for the tenant, on a node that it may use. */
bool check_could_ever_fit(struct sim *s, const struct pod *p);
bool check_ledger_lives(const struct sim *s, const struct stored *capacity);
/* check_fair.c */
int64_t fair_blind_ms(const struct weather *w);
bool fair_is_pending(const struct stored *o);
bool fair_is_before(const struct pod *a, const struct pod *b);
void fair_note(struct sim *s); /* something was written */
void fair_check_opening(struct sim *s, const struct stored *capacity, int replica);
void fair_check_placing(struct sim *s, const struct stored *tenant, const char *node);
/* It waits although it fits these nodes: do others wait for them, and does it say so? */
bool fair_excuses(
	const struct sim *s, const struct pod *p, const struct node *const *nodes, uint32_t count);

bool fair_has_orphan(const struct sim *s, const char *node);
/* check_overtake.c: once a second; `replica` could see and write all of it, -1: nobody */
void overtake_look(struct sim *s, int replica);
void overtake_check(struct sim *s, const struct stored *t, const char *node);
void overtake_finish(struct sim *s);
/* check_nearest.c */
void nearest_begin(struct sim *s);
bool nearest_lacks(struct sim *s, const struct stored *t, int replica);
void nearest_check(struct sim *s, int replica, const struct action *a); /* a ledger is sent */

void check_commit(struct sim *s, const struct commit *c);
/* --- check_sent.c: a request, and what is on its way of it */
void check_send(struct sim *s, int replica, const struct wire_request *r);
void check_sent(struct sim *s, int replica, const struct wire_request *r, const char *body);
bool check_settled(struct sim *s, struct str *why); /* everything that can happen has happened */

/* --- check_gate.c --- */
void gate_check_placing(struct sim *s, const struct commit *c);
void gate_check_ledger(struct sim *s, const struct commit *c); /* a controller's, changed */

/* --- check_quota.c --- */
void check_quotas(struct sim *s, const struct commit *c);
void quota_intended(struct sim *s, int replica, const struct action *a); /* a ledger is sent */
int64_t quota_shown(const struct pod *p); /* of what a tenant was told, on all of its GPUs */
/* What of it is taken now, whole GPUs of pods that were made by that version among it. */
int64_t quota_used(const struct sim *s, const struct quota *q, int64_t born_by);
/* May this pod be given so much now? */
bool quota_allows(const struct sim *s, const struct stored *o, int64_t milli);

/* --- delay.c --- */
struct delay {
	char uid[40];
	uint64_t term;
	int64_t waited_ms; /* while somebody could have told it why; below 0: it was told */
};
void delay_start(struct sim *s);
void delay_finish(struct sim *s);
void delay_told(struct sim *s, const char *uid);

#endif
