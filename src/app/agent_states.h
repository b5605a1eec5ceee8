/* The agents of nodes where tenants run, read over TLS: their certificate must come from our
 * authority and name the node that is asked about, or, for one without a key of its own, what all
 * of those share (docs/design/certificates.md); no token is sent to them. Without an authority
 * nobody is asked. */
#ifndef APP_AGENT_STATES_H
#define APP_AGENT_STATES_H

#include "base/metric.h"
#include "certs.h"
#include "engine/engine.h"
#include "io/loop.h"
#include "model/change.h"

struct agents;
struct agents_config {
	struct loop *loop; /* all borrowed */
	const struct clock *clock;
	struct metric_registry *metrics;
	const struct certs *certs;
	const struct engine *engine; /* `tell` must end up in it */
	bool own_keys;		     /* who has none of its own is not believed */
	const char *agent_ns;	     /* where they are; borrowed */
	bool (*tell)(void *data, const struct change *c);
	void *data;
};

struct agents *agents_create(const struct agents_config *config);
void agents_destroy(struct agents *a);
/* Of pods, what the watch says: where agents are. */
void agents_observe(struct agents *a, const struct change *c);
/* `reads`: whether to ask at all; only a leader decides. */
void agents_step(struct agents *a, int64_t now_mono_ms, bool reads);
int64_t agents_deadline(const struct agents *a, bool reads);
/* For pages. */
struct agents_counts {
	uint32_t wanted, known; /* nodes; known: heard lately */
	int connections;	/* that are open */
	uint64_t handshakes;	/* ever made */
};
void agents_count(const struct agents *a, struct agents_counts *ret);

#endif
