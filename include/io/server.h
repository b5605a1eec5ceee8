/* The HTTP and HTTPS server: keep-alive, pipelined requests answered in order, HTTP/1.1 only.
 *
 * Handlers are synchronous: they fill the reply and return. Every size and every wait is bounded;
 * the server itself answers 400, 404, 405, 408, 413, 417, 431, 501, 503 and 505 with one line of
 * text. A connection lives until an idle deadline or until another needs its place, a refused
 * request, a broken promise or a drain. Who reaches the port cannot keep others out: when there is
 * no room, a connection that was never answered goes first, of the address that has most of them,
 * the oldest (server_room.c). Owner: whoever creates it destroys it, before the loop and
 * not from inside a handler. Creating fails with FAULT_INVALID (an address or identity that cannot
 * be used) or FAULT_FATAL (the port is taken). */
#ifndef IO_SERVER_H
#define IO_SERVER_H

#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"
#include "base/metric.h"
#include "base/str.h"
#include "io/loop.h"
#include "io/tls_pem.h"

struct server;

struct server_config {
	const char *name;   /* label of the metrics, e.g. "admission"; static text */
	const char *listen; /* "127.0.0.1:0", "[::1]:8080", ":10250" (all addresses) */
	const struct tls_identity
		*tls;	       /* NULL: plain HTTP; not kept, may be destroyed afterwards */
	const char *client_ca; /* PEM; who shows no certificate of one of these authorities gets no
				  further than the handshake; not kept. NULL: everybody does */
	struct metric_registry *metrics; /* borrowed; NULL: none */
	size_t body_limit;		 /* 0: 7 MiB */
	size_t reply_limit;		 /* 0: 16 MiB; a longer reply becomes a 500 */
	size_t held_limit;    /* bodies and unsent answers of all connections; above it the one that
				 has taken longest goes, and who is that itself gets a 503; 0:
				 24 MiB */
	int connections_max;  /* 0: 768 */
	int unproven_max;     /* of those, the ones that never had an answer; 0: a third */
	int source_max;	      /* of one address; 0: three quarters */
	int64_t handshake_ms; /* 0: 5 s */
	int64_t head_ms;      /* from a request's first byte to its headers' end; 0: 5 s */
	int64_t body_ms;      /* 0: 10 s */
	int64_t first_ms;     /* for the first request to begin; 0: 15 s, at most idle_ms */
	int64_t idle_ms;      /* longer than the API server keeps its own; 0: 120 s */
	int64_t write_ms;     /* for the client to take a reply; 0: 10 s */
};

struct server_request {
	struct view method, path, query;
	struct view content_type;
	struct view body;
	int64_t received_us; /* monotonic: the turn that read its first byte */
};

struct server_reply {
	int status;		  /* 200 before the handler runs */
	const char *content_type; /* static text; text/plain before the handler runs */
	struct str body;	  /* empty before the handler runs */
};

typedef void (*server_handler)(
	void *data, const struct server_request *request, struct server_reply *reply);

struct server *server_create(
	struct loop *l, const struct server_config *config, struct fault *ret_fault);
void server_destroy(struct server *s); /* closes everything at once */
int server_port(const struct server *s);
/* Exact path; method and path are static texts. */
void server_route(
	struct server *s, const char *method, const char *path, server_handler handler, void *data);

/* A route for probes: its answer is small, and is given however much other connections hold. */
void server_route_probe(
	struct server *s, const char *method, const char *path, server_handler handler, void *data);

/* Connections accepted from now on use the new identity; the others keep theirs. The authorities of
 * clients stay those of the beginning. Fails and changes
 * nothing if the server is plain or the identity cannot be used. */
int server_set_tls(struct server *s, const struct tls_identity *identity, struct fault *ret_fault);

/* Every answer from now on ends its connection, so that clients go elsewhere; who comes all the
 * same is answered. For the time in which they have not heard yet that this server is going. */
void server_leave(struct server *s);

/* Graceful end: stops accepting, closes idle connections, answers what has begun with `Connection:
 * close`, and after deadline_ms closes the rest. Then done(data), from the loop, once. */
void server_drain(struct server *s, int64_t deadline_ms, loop_fn done, void *data);

int server_connections(const struct server *s);
/* Exact percentile (0..100) in microseconds of the last 65536 requests, from the turn that read the
 * first byte to the last byte written into the socket; -1 if there were none. For benches: it sorts
 * a copy. */
int64_t server_latency(const struct server *s, int percentile);
void server_latency_reset(struct server *s);

#endif
