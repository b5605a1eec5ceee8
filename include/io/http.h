/* The HTTP client: `struct wire` on libcurl.
 *
 * Streams (watches) use HTTP/1.1 and a connection each; the other calls share one HTTP/2
 * connection, or a few of HTTP/1.1 where the server speaks nothing newer. HTTP_CALLS_MAX calls are
 * in flight, the rest wait in order; beyond HTTP_QUEUE_MAX a call is completed with FAULT_LIMIT,
 * and so are streams beyond HTTP_STREAMS_MAX. No proxy, no redirects; compression
 * (gzip) where a request says that it may be: the bytes are told as they were before, and what one
 * read of 2 KiB comes to is all that is kept of them.
 *
 * timeout_ms of a call covers the wait in the queue. For a stream it is the longest silence: every
 * byte starts it anew. limit_bytes 0 means HTTP_LIMIT_DEFAULT; a stream whose status is not 200 has
 * its body collected for the completion (64 KiB at most) and not given to on_data. A 200 is told as
 * soon as its head is there, with no bytes.
 *
 * A call whose content_type is application/grpc says that it takes trailers, and its answer has the
 * status in them.
 *
 * A call with `to` goes there instead of to the URL's host, whose name is still the one that is
 * verified: one client for many servers that share a name. One with `to_name` is not sent: only
 * the poller (io/poller.h) verifies each call's own name.
 *
 * Faults of an answer: FAULT_TRANSIENT for a refused or broken connection, a deadline, a body that
 * broke off; FAULT_DENIED where TLS does not verify; FAULT_LIMIT; FAULT_INVALID for a request that
 * cannot be sent. unknown_outcome is set for everything but GET once the request may have left.
 * libcurl itself sends a request again when a kept connection turns out dead before a byte of the
 * answer came: writes must be idempotent, as they must be after an unknown outcome anyway.
 *
 * Owner: whoever creates it destroys it, before the loop and not from inside a callback; what is
 * under way is then dropped without completion. */
#ifndef IO_HTTP_H
#define IO_HTTP_H

#include <stdbool.h>

#include "base/fault.h"
#include "io/loop.h"
#include "model/wire.h"

#define HTTP_CALLS_MAX	   64
#define HTTP_QUEUE_MAX	   4096
#define HTTP_STREAMS_MAX   64
#define HTTP_LIMIT_DEFAULT ((size_t)16 * 1024 * 1024)

/* All texts are copied. */
struct http_client_config {
	const char *base_url; /* https://host:port, optionally with a path in front of all others */
	const char *ca_pem;   /* NULL: the system's */
	const char *cert_pem; /* client certificate; NULL: none */
	const char *key_pem;  /* with cert_pem */
	bool insecure_skip_verify; /* only because a kubeconfig says so */
	const char
		*tls_server_name; /* the name to verify instead of the URL's host; NULL: the host */
	const char *user_agent;	  /* NULL: aliquot */
	int64_t connect_timeout_ms; /* 0: 10 s */
	/* A socket of this machine to connect to, whatever the URL's host; NULL: the URL's. */
	const char *unix_socket;
	/* Spoken from the first byte on, also without TLS, by each call on a connection of its own;
	 * not by streams. */
	bool http2;
	int connections; /* kept, in use or not; 0: HTTP_CALLS_MAX */
};

struct http_client;

/* NULL with FAULT_INVALID for a URL or PEM text that cannot be used. */
struct http_client *http_client_create(
	struct loop *l, const struct http_client_config *config, struct fault *ret_fault);
void http_client_destroy(struct http_client *c);
struct wire *http_client_wire(struct http_client *c); /* borrowed; lives as long as the client */

/* New address, authority or client certificate. What is under way ends on its old connection; all
 * that starts from now on, what waits in the queue included, uses the new. On failure nothing
 * changes. */
int http_client_retarget(
	struct http_client *c, const struct http_client_config *config, struct fault *ret_fault);

#endif
