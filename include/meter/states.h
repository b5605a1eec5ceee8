/* Reads what agents tell of their nodes (docs/design/state.md): each node for which somebody asks,
 * every two seconds, and tells it as a change.
 *
 * One request a node at a time, STATES_IN_FLIGHT_MAX in all. What fails, cannot be read, is about
 * another node or older than what was told before is counted, said in the log once, and asked for
 * again after a pause that grows; it is never told as anything. Whoever hears nothing knows
 * nothing.
 *
 * Owner: whoever creates it destroys it before its wire; `tell` is never called from inside a call
 * of this header but states_want_end and states_step. */
#ifndef METER_STATES_H
#define METER_STATES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/metric.h"
#include "model/change.h"
#include "model/wire.h"

#define STATES_EVERY_MS	     2000
#define STATES_IN_FLIGHT_MAX 32
#define STATES_NODES_MAX     10000 /* more agents than that are not remembered */

struct states;
struct states_config {
	const struct clock *clock;	 /* borrowed */
	struct metric_registry *metrics; /* borrowed; NULL: nothing is counted */
	uint64_t seed;			 /* of the jitter */
	bool own_keys;	      /* who has none of its own is not believed, whatever its pod says */
	const char *agent_ns; /* where agents are; borrowed; NULL: where we are */
	bool (*tell)(void *data, const struct change *c);
	void *data;
};

struct states *states_create(const struct states_config *config);
void states_destroy(struct states *s);
/* NULL: nobody can be asked. What is under way on another wire is dropped. */
void states_use(struct states *s, struct wire *wire);

/* What the watch of pods says; whatever is no agent is no news. */
void states_observe(struct states *s, const struct change *c);

/* The nodes that are to be read, each time all of them: begin, one call a node, end. Of those that
 * are not named any more what was told is taken back. */
void states_want_begin(struct states *s);
void states_want(struct states *s, const char *node);
void states_want_end(struct states *s);

/* `reads`: whether to ask at all; only a leader decides. */
void states_step(struct states *s, int64_t now_mono_ms, bool reads);
int64_t states_deadline(const struct states *s, bool reads);

/* For pages: how many nodes are wanted, and how many of them have been read lately. */
void states_count(const struct states *s, uint32_t *ret_wanted, uint32_t *ret_known);

#endif
