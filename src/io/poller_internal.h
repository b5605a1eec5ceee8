/* What the files of the poller share: poller.c (the wire: queue, deadlines, completion),
 * poller_conn.c (one connection: connecting, asking, hearing), poller_idle.c (those that wait) and
 * poller_tls.c (the handshake and what is kept of it).
 *
 * Nobody's callback is called from inside here but by deliver of poller.c, deferred to the end of a
 * turn of the loop: a connection never changes under the feet of the function that works on it. */
#ifndef IO_POLLER_INTERNAL_H
#define IO_POLLER_INTERNAL_H

#include <openssl/ssl.h>

#include "base/map.h"
#include "base/vec.h"
#include "io/http1.h"
#include "io/poller.h"
#include "loop_ev.h"
#include "record.h"

/* What a connection may send, while nobody asks (unused tickets, an end) and beside twice the limit
 * of an answer, which comes in records and perhaps in chunks: whoever pads without end is hung up
 * on. */
#define POLLER_IDLE_BYTES  4096
#define POLLER_EXTRA_BYTES ((uint32_t)1024 * 1024)
/* What is read in one go. */
#define POLLER_SCRATCH ((size_t)32 * 1024)

enum poller_call_state { POLLER_QUEUED, POLLER_RUNNING, POLLER_DONE };

struct poller_call {
	struct poller *poller;
	struct poller_call *prev, *next;
	enum poller_call_state state;
	uint64_t id;
	struct poller_conn *conn; /* while running */
	char *path, *accept, *to,
		*key;	  /* owned; key: the address and the name, what a connection is for */
	const char *name; /* in key */
	size_t limit;
	int64_t timeout_ms;
	struct loop_timer guard;
	bool again; /* it was sent on a kept connection that was dead */
	/* while running */
	struct http1 in;
	struct str partial; /* of a record that is not whole yet */
	struct str out;	    /* what is not sent yet */
	struct wire_answer answer;
	const struct wire_events *events;
	void *data;
};

struct poller_calls {
	struct poller_call *first, *last;
	int count;
};

enum poller_phase { POLLER_CONNECT, POLLER_HANDSHAKE, POLLER_SEND, POLLER_HEAR, POLLER_IDLE };

/* There are thousands of these, and nearly all of them wait: what only a request needs is in its
 * call. */
struct poller_conn {
	struct poller *poller;
	/* Of those that are idle, the ones that were used last at the end; or of those whose
	 * handshake can go on, in order. */
	struct poller_conn *prev, *next;
	struct poller_call *call; /* borrowed; NULL: idle */
	char *key;		  /* owned */
	SSL *ssl;		  /* owned; until the handshake is over */
	int64_t born_ms, idle_ms;
	struct record_way out, in;
	ev_io io; /* its descriptor, too */
	uint32_t slot;
	uint32_t allowed; /* bytes that it may still send */
	uint32_t trust;	  /* which authority it was verified by */
	uint8_t phase;
	uint8_t ways; /* which of its two are known */
	bool kept;    /* it has answered before */
	bool steps;   /* its handshake can go on: it is among those */
};

struct poller {
	struct wire wire; /* first, so that the wire is the poller */
	struct loop *loop;
	SSL_CTX *tls; /* owned */
	EVP_CIPHER_CTX *cipher;
	char *name, *user_agent, *trust_text; /* owned */
	uint32_t trust;
	int connections_max;
	struct poller_calls queued, running, done;
	struct {
		VEC_FIELDS(struct poller_conn *); /* owned */
	} conns;
	struct map idle_by_key; /* slots in conns */
	struct poller_conn *idle_first, *idle_last;
	struct poller_conn *step_first, *step_last;
	struct loop_timer idle_timer;
	char *scratch; /* owned */
	uint64_t last_id, handshakes;
	bool pumping;
};

/* poller.c */
/* The call has ended: its answer or its fault is there. */
void poller_call_end(struct poller_call *call);
/* The connection under it was dead: it goes on a new one. */
void poller_call_again(struct poller_call *call);

/* poller_conn.c */
/* Begins the call on a kept connection or a new one. -1: not even that can begin. */
int poller_conn_start(struct poller_call *call, struct fault *ret_fault);
/* Closes it without a word to the call, which has none any more. */
void poller_conn_close(struct poller_conn *c);
/* May what comes or goes happen now? Only these events are waited for. */
void poller_conn_watch(struct poller_conn *c, int events);
/* The handshake is over, and the ways are known. */
void poller_conn_ready(struct poller_conn *c);
/* It is no more; the call gets the fault, or another try. */
void poller_conn_fail(struct poller_conn *c, enum fault_kind kind, const char *why);

/* poller_idle.c */
void poller_idle_init(struct poller *p);
/* One that waits for this; it waits no longer. NULL: none. */
struct poller_conn *poller_idle_take(struct poller *p, const char *key);
/* It has nothing to do. It is kept, or closed where it is of no further use. */
void poller_idle_put(struct poller_conn *c);
void poller_idle_leave(struct poller_conn *c);
/* Room for one more: the one goes that was used last. */
void poller_idle_shed(struct poller *p);
void poller_idle_close_all(struct poller *p);
void poller_conns_add(struct poller *p, struct poller_conn *c);
void poller_conns_remove(struct poller_conn *c);

/* poller_tls.c */
SSL_CTX *poller_tls_create(const char *ca_pem, struct fault *ret_fault);
/* Its handshake can go on: it will, in its turn. */
void poller_tls_later(struct poller_conn *c);
void poller_tls_leave(struct poller_conn *c);
/* Once in a turn of the loop: one step of one handshake. */
void poller_tls_turn(void *data);

#endif
