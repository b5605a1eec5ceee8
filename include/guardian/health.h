/* What agents tell, as decisions use it: a GPU that is not healthy gets no new tenants (C10), and a
 * pod that an agent does not list any more holds no share (C22). What is older than STATE_FRESH_MS,
 * or was never told, is unknown: it fences nothing, frees nothing, and ends no fence.
 *
 * An event is told once, to the agent that listens: that an agent which was started since calls the
 * device healthy ends no fence (docs/design/state.md).
 *
 * The engine owns the ailments; they may be lost, and are then learnt from the next state,
 * as far as its agent knows of them. Nothing here fails. */
#ifndef GUARDIAN_HEALTH_H
#define GUARDIAN_HEALTH_H

#include "base/vec.h"
#include "ledger/nouns.h"

struct heard;

/* A device that was told not to be healthy, and not long enough the contrary since. */
struct ailment {
	char *uuid, *node, *why; /* owned */
	int64_t last_at;	 /* when it was last told, or somebody last held the device */
	int64_t well_since;	 /* told healthy ever since; -1: not healthy, or unknown */
	/* Of an event: the agent's boot that heard it, and the node's then; NULL: not of one, or
	 * not known. owned */
	char *heard_by, *node_boot, *node_reset;
	bool ill;  /* that is what is told now, as of the last look */
	bool told; /* to those whom it concerns */
};

struct ailments {
	struct picture *picture; /* borrowed */
	VEC_FIELDS(struct ailment);
};

void health_look(struct ailments *ailments); /* at all states, once a step, before holders */
/* It is, or was a while ago: it gets no new tenants. */
bool health_is_bad(struct ailments *ailments, const struct holder *h);
bool health_is_ill(const struct ailments *ailments, const struct holder *h); /* so it is told now */
/* An ailment of the node ends only if its agent goes on telling. */
bool health_wants_state(const struct ailments *ailments, const char *node);
/* `uid` was not on the node of this world's index at some time after `since`; an agent said so that
 * knows the device. */
bool health_shows_gone(
	const struct world *world, uint32_t node, const char *uuid, const char *uid, int64_t since);
void health_report(struct ailments *ailments, struct orphans *orphans, struct emitter *out);
/* A warning to those who run on that GPU and to the capacity pod that holds it. False: there is
 * nobody. */
struct gpu_at {
	const char *uuid, *node;
};
bool gpu_tell(const struct picture *picture, const struct gpu_at *gpu, const char *reason,
	const char *text, struct emitter *out);
void health_forget(struct ailments *ailments); /* all of it */
/* An event that a former leader remembers. What is known of the device already counts. */
void health_remember(struct ailments *ailments, const struct heard *h);
/* Events that are not over. */
size_t health_heard(const struct ailments *ailments, struct heard *ret_list, size_t room);
/* What is fenced on the node, for metrics. */
uint32_t health_count(const struct ailments *ailments, const char *node);

#endif
