/* The agents of nodes where tenants run, read over TLS: their certificate must come from our
 * authority and name the node that is asked about, or, for one without a key of its own, what all
 * of those share (docs/design/certificates.md); no token is sent to them. Without an authority
 * nobody is asked. */
#ifndef APP_AGENT_STATES_H
#define APP_AGENT_STATES_H

#include "base/part.h"
#include "certificates/certs.h"
#include "io/loop.h"
#include "meter/states.h"

struct agents;

/* All borrowed. `states`: who reads them; it ends before. */
struct agents *agents_create(struct loop *loop, const struct certs *certs, struct states *states);
extern const struct part agents_part;
/* For pages. */
struct agents_counts {
	uint32_t wanted, known; /* nodes; known: heard lately */
	int connections;	/* that are open */
	uint64_t handshakes;	/* ever made */
};
void agents_count(const struct agents *a, struct agents_counts *ret);

#endif
