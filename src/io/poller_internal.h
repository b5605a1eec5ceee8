/* What the files of the poller share: poller.c (the wire: queue, deadlines, completion),
 * poller_conn.c (connections: those that wait, and one of them connecting, asking, hearing) and
 * poller_tls.c (the handshake and what is kept of it).
 *
 * Nobody's callback is called from inside here but by poller_deliver, deferred to the end of a
 * turn of the loop: a connection never changes under the feet of the function that works on it. */
#ifndef IO_POLLER_INTERNAL_H
#define IO_POLLER_INTERNAL_H

#include <openssl/ssl.h>

#include "base/list.h"
#include "base/map.h"
#include "base/vec.h"
#include "io/http1.h"
#include "io/poller.h"
#include "loop.h"
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
	LIST_FIELDS(struct poller_call);
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
	struct poller_calls calls[POLLER_DONE + 1]; /* by their state */
	VEC_OF(struct poller_conn *) conns;	    /* owned */
	struct map idle_by_key;			    /* slots in conns */
	struct {
		LIST_FIELDS(struct poller_conn);
	} idle, steps; /* borrowed: those that wait; those whose handshake can go on */
	struct loop_timer idle_timer;
	char *scratch; /* owned */
	uint64_t last_id, handshakes;
	bool pumping;
};

#endif
