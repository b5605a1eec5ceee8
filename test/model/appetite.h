/* GPU memory in the model: how much each tenant uses, which in some runs is more than its share,
 * what agents see of that, and whether evictions for it are just. A breach ends the run. */
#ifndef SIM_APPETITE_H
#define SIM_APPETITE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"

struct action;
struct machine;
struct sim;
struct stored;

#define SIM_GPUS_MOST 16 /* of one machine */

/* What an agent saw of memory. */
struct portion {
	char *uid; /* owned */
	int device;
	int64_t mib; /* -1: the driver did not tell */
};
struct portions {
	struct {
		VEC_FIELDS(struct portion);
	} uses;
	int64_t used_mib[SIM_GPUS_MOST];
	bool told; /* false: of an agent that tells no memory */
};
void portions_clear(struct portions *p);
void portions_finish(struct portions *p);
/* As it is now on that machine. */
void portions_take(struct sim *s, const struct machine *m, struct portions *ret);

struct greedy_look {
	char uid[40], uuid[96];
	int64_t at;
	bool is_short; /* the device, too */
};

struct starved {
	char uid[40], uuid[96];
	int64_t at;
};

struct sent_away {
	char uid[40], uuids[400];
	int64_t at;	 /* when it was decided */
	int64_t done_at; /* and accepted; 0: not yet */
	int replica, incarnation;
};

/* What the checker remembers of it. */
struct greed {
	struct {
		VEC_FIELDS(struct greedy_look);
	} looks; /* samples in which somebody was over its share */
	struct {
		VEC_FIELDS(struct starved);
	} starved; /* who ended because a GPU had no memory left */
	struct {
		VEC_FIELDS(struct sent_away);
	} sent;
};

void appetite_begin(struct sim *s);		 /* in runs that are about it */
void appetite_ask(struct sim *s, json_t *value); /* a tenant that is about to be made */
void appetite_spells(struct sim *s);		 /* somebody has no memory left */

#endif
