/* What the files of the server share: server.c (listening, routes, drain), server_conn.c (one
 * connection), server_room.c (who goes when there is no room), server_pace.c (whose turn it is),
 * server_reply.c (from a request to the bytes of its answer, and what is measured about it). */
#ifndef IO_SERVER_INTERNAL_H
#define IO_SERVER_INTERNAL_H

#include <netinet/in.h>
#include <openssl/ssl.h>

#include "base/list.h"
#include "base/vec.h"
#include "io/http1.h"
#include "io/server.h"
#include "loop.h"

#define CONN_PIPELINE_MAX 16
/* A connection with this much unsent output is not read from. */
#define CONN_OUT_ENOUGH	  ((size_t)256 * 1024)
#define SERVER_SCRATCH	  ((size_t)32 * 1024)
#define SERVER_BODY_SMALL ((size_t)32 * 1024)
#define SERVER_CODES_MAX  24
#define SERVER_LATENCIES  65536

struct route {
	const char *method, *path;
	server_handler handler;
	void *data;
	bool probe; /* answered however much is held */
};

/* An address, and what it has here. */
struct source {
	struct source *prev, *next;
	struct in6_addr address; /* IPv4 mapped into it; zero: none */
	int conns, unproven;
	uint64_t turn;	  /* of the loop, in which it had */
	int64_t spent_us; /* so much of it */
};

/* One more than the last phase: its connections are counted by these. */
#define CONN_PHASES 6

struct code_count {
	int status;
	struct metric *count;
};

struct server {
	struct loop *loop;
	struct server_config config; /* with the defaults filled in */
	SSL_CTX *tls;		     /* owned; NULL: plain */
	char *client_ca;	     /* owned; NULL: clients need no certificate */
	int fd;			     /* listening; -1 once draining */
	int port;
	ev_io acceptor;
	struct loop_timer accept_again; /* after the process ran out of descriptors */
	VEC_OF(struct route) routes;
	struct {
		LIST_FIELDS(struct conn);
	} conns; /* owned */
	struct {
		LIST_FIELDS(struct source);
	} sources; /* owned; only those that have connections */
	int conn_count;
	int unproven; /* of those: never had an answer */
	int closed;   /* since memory was last given back */
	struct loop_timer give_back;
	uint64_t turn;		/* of the loop */
	struct source *running; /* borrowed: it has the loop now; NULL: nobody */
	int64_t running_us;	/* since then */
	struct {
		LIST_FIELDS(struct conn);
	} parked;			     /* borrowed: they wait for the next turn, */
	void (*run_waiting)(struct conn *c); /* and then are run by this */
	size_t held; /* bytes of bodies and of unsent answers, of all connections */
	bool leaving, draining;
	struct loop_timer drain_deadline;
	loop_fn drained;
	void *drained_data;
	char *scratch;		    /* what is being read, for all connections */
	struct server_reply reply;  /* its body is reused */
	struct metric *connections; /* NULL: no metrics */
	struct metric *seconds;
	struct metric *refused;
	struct metric *paced;
	struct metric *evicted[CONN_PHASES];
	struct metric *handshake_failures;
	struct code_count codes[SERVER_CODES_MAX];
	uint32_t *latencies; /* owned ring of microseconds */
	size_t latency_next, latency_count;
};

enum conn_phase {
	CONN_HANDSHAKE,
	CONN_IDLE,
	CONN_HEAD,
	CONN_BODY,
	CONN_WRITE,
	CONN_LINGER, /* everything is said; waits for the other side to hang up */
};
_Static_assert(CONN_LINGER == CONN_PHASES - 1, "one counter a phase");

/* An answer that is queued but not yet written out. */
struct pending {
	uint64_t end; /* position of its last byte in the connection's output */
	int64_t received_us;
};

struct conn {
	struct server *server;
	struct conn *prev, *next;
	struct source *source;	     /* borrowed from the server */
	bool parked;		     /* it waits for the next turn, */
	struct conn *before, *after; /* between these */
	int fd;
	SSL *ssl; /* owned; NULL: plain, or nothing came yet */
	ev_io io;
	struct loop_timer deadline;
	enum conn_phase phase;
	int64_t phase_us; /* when that began */
	struct http1 in;
	struct str left;    /* read but not yet parsed: pipelined requests beyond the bound */
	int64_t read_us;    /* when the bytes being parsed arrived */
	int64_t started_us; /* when the first byte of the current request did */
	uint64_t requests;  /* begun on this connection */
	uint64_t timed;	    /* the request that the deadline is about */
	struct str out;
	size_t out_sent;      /* bytes of out that are written */
	uint64_t out_written; /* bytes ever written */
	size_t held;	      /* its part of the server's */
	struct pending pending[CONN_PIPELINE_MAX];
	unsigned pending_first, pending_count;
	bool read_wants_write, write_wants_read; /* TLS turned the direction around */
	bool continue_sent;
	bool proven;  /* a request of it was answered as it wished */
	bool closing; /* no more requests; close once the output is written */
	bool peer_done;
	bool broken; /* TLS failed fatally: no shutdown */
};

#endif
