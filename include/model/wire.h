/* The port through which requests to the API server leave and answers come. io implements it on
 * libcurl, the simulator on its model; kube, meter and act speak nothing else.
 *
 * Rules: send() copies what it keeps. Completion comes exactly once, never from inside send(),
 * never after cancel(). For a stream the body comes in pieces through on_data and the completion
 * has no body. Callbacks may call send() and cancel() freely: an implementation that cannot (curl)
 * defers. */
#ifndef MODEL_WIRE_H
#define MODEL_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"

/* The path of a request that nobody can write down: it is answered like any other, by
 * FAULT_INVALID. */
#define WIRE_NO_PATH ""

enum wire_method { WIRE_GET, WIRE_POST, WIRE_PUT, WIRE_PATCH, WIRE_DELETE };
const char *wire_method_name(enum wire_method method);

struct wire_request {
	enum wire_method method;
	const char *path;    /* with query, begins with '/' */
	const char *to;	     /* "address:port" to connect to; NULL: where all others go */
	const char *to_name; /* with `to`: whom its certificate must name; NULL: as all others */
	const char *content_type; /* NULL: no body */
	const char *accept;	  /* NULL: application/json */
	const char *bearer;	  /* NULL: none */
	const char *body;
	size_t body_size;
	int64_t timeout_ms; /* of the whole request; for a stream the guard against a dead peer */
	size_t limit_bytes; /* largest answer accepted; for a stream ignored */
	bool stream;
	bool zipped; /* the answer may come compressed, and is told as it was before */
};

struct wire_answer {
	int status; /* HTTP status; 0 if there was none */
	int64_t retry_after_ms;
	const char *body; /* borrowed; NUL-terminated; empty for a stream with status 200 */
	size_t body_size;
	/* What a gRPC server said at the end of its answer; NULL: it said nothing. Borrowed. */
	const char *rpc_status, *rpc_message;
	/* FAULT_NONE if an answer came, whatever its status. FAULT_TRANSIENT: the connection or a
	 * deadline; FAULT_LIMIT: the answer was too large; FAULT_DENIED: TLS did not verify. */
	struct fault fault;
};

struct wire_events {
	/* stream only; status is the HTTP status; false ends the stream (completion still comes).
	 * n is 0 when the server has accepted it with 200 and said nothing yet, where the
	 * implementation can tell. */
	bool (*on_data)(void *data, int status, const char *p, size_t n);
	void (*on_done)(void *data, const struct wire_answer *answer);
};

struct wire;
struct wire_impl {
	uint64_t (*send)(struct wire *w, const struct wire_request *request,
		const struct wire_events *events, void *data); /* never 0 */
	void (*cancel)(struct wire *w, uint64_t id);	       /* unknown ids are fine */
};

struct wire {
	const struct wire_impl *impl;
};

static inline uint64_t wire_send(struct wire *w, const struct wire_request *request,
	const struct wire_events *events, void *data)
{
	return w->impl->send(w, request, events, data);
}
static inline void wire_cancel(struct wire *w, uint64_t id)
{
	if (id != 0) {
		w->impl->cancel(w, id);
	}
}

#endif
