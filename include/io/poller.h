/* A client for many servers that are asked small things again and again: `struct wire` for GETs, on
 * connections that are kept for as long as they are used and cost half a KiB each while they wait.
 *
 * TLS 1.3 alone, HTTP/1.1 alone, one request at a time on a connection. A request names the
 * numeric address that it goes `to` ("10.0.0.1:443", "[fd00::1]:443"); the certificate must come
 * from the authority and have the name `to_name`, or the one of the configuration. No proxy, no
 * redirects, no resumption, no client certificate. POLLER_CALLS_MAX requests are in flight, the
 * rest wait in order; beyond POLLER_QUEUE_MAX they end with FAULT_LIMIT. The loop has at most one
 * step of a handshake in each of its turns, so that whoever else waits there is heard in between.
 *
 * timeout_ms covers the wait in the queue and the connecting. A request on a kept connection that
 * turns out dead before anything of the answer came is sent once more, on a new one. A connection
 * that nobody used for POLLER_IDLE_MS is closed; so is one that is POLLER_AGE_MS old, or
 * half of it, so that certificates are verified now and then.
 *
 * Faults: FAULT_TRANSIENT for a refused or broken connection, a deadline, an answer that makes no
 * sense; FAULT_DENIED where the certificate does not verify; FAULT_LIMIT for an answer beyond
 * limit_bytes; FAULT_INVALID for a request that cannot be sent, anything but a plain GET included.
 *
 * Owner: whoever creates it destroys it, before the loop and not from inside a callback; what is
 * under way is then dropped without completion. */
#ifndef IO_POLLER_H
#define IO_POLLER_H

#include "base/fault.h"
#include "io/loop.h"
#include "model/wire.h"

#define POLLER_CALLS_MAX 64
#define POLLER_QUEUE_MAX 4096
#define POLLER_IDLE_MS	 60000
#define POLLER_AGE_MS	 3600000

/* All texts are copied. */
struct poller_config {
	const char *ca_pem;
	const char *name;	/* to verify where a request names none */
	const char *user_agent; /* NULL: aliquot */
	int connections;	/* kept, in use or not; 0: POLLER_CALLS_MAX */
};

struct poller;

/* NULL with FAULT_INVALID for an authority that cannot be used. */
struct poller *poller_create(
	struct loop *l, const struct poller_config *config, struct fault *ret_fault);
void poller_destroy(struct poller *p);
struct wire *poller_wire(struct poller *p); /* borrowed; lives as long as the poller */

/* Another authority: what begins from now on is verified by it, on new connections. On failure
 * nothing changes. */
int poller_trust(struct poller *p, const char *ca_pem, struct fault *ret_fault);

/* How many connections there are, and how many handshakes there were. */
void poller_count(const struct poller *p, int *ret_connections, uint64_t *ret_handshakes);

#endif
