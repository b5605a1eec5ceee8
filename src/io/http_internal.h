/* What the files of the HTTP client share: http.c (the wire: queue, cancelling, completion),
 * http_call.c (one transfer: options, callbacks, what its end means), http_target.c (where it goes:
 * libcurl's multi handles on libev).
 *
 * libcurl must not be told to add or remove a transfer from inside its own callbacks. So nothing
 * here does: send and cancel only note what is wanted, and http_pump of http.c, deferred to the end
 * of the loop's turn, does it. */
#ifndef IO_HTTP_INTERNAL_H
#define IO_HTTP_INTERNAL_H

#include <curl/curl.h>

#include "base/list.h"
#include "base/str.h"
#include "io/http.h"
#include "io/local.h"
#include "loop.h"

struct http_target;

/* What streams bring in one turn of the loop, and a little more: one or two tenths of a millisecond
 * of work. libcurl would go on for as long as the socket has something, and who waits for an answer
 * of ours would wait with it. */
#define TURN_BYTES 8192

/* One multi handle: its connections and its timer. */
struct http_lane {
	struct http_target *target;
	CURLM *multi; /* owned */
	struct loop_timer timer;
	struct {
		LIST_FIELDS(struct http_socket);
	} sockets; /* owned; libcurl tells when each begins and ends */
};

enum { LANE_CALLS, LANE_STREAMS, LANE_COUNT };

/* Where requests go and with which certificates. Replaced as a whole, and freed with the last call
 * on it: its connections are then closed, and none of them is ever used by what came after. */
struct http_target {
	struct http_client *client;
	struct http_target *next;
	int calls; /* running on it */
	struct http_lane lanes[LANE_COUNT];
	/* owned texts */
	char *base_url, *connect_to, *ca_pem, *cert_pem, *key_pem, *user_agent;
	char *unix_socket; /* NULL: TCP */
	char *trust;	   /* what a person calls the authority */
	bool http2;
	bool insecure;
	int64_t connect_timeout_ms;
	long connections; /* kept, in use or not */
};

enum http_call_state { CALL_QUEUED, CALL_RUNNING, CALL_DONE };

struct http_call {
	struct http_client *client;
	struct http_call *prev, *next;
	enum http_call_state state;
	uint64_t id;
	struct http_target *target; /* while running */
	CURL *easy;		    /* owned, while running */
	struct curl_slist *headers, *connect_to;
	enum wire_method method;
	bool stream, zipped, has_body;
	char *path, *to, *body, *content_type, *accept, *bearer; /* owned */
	size_t body_size;
	int64_t timeout_ms;
	struct loop_timer guard;
	struct str answer_body;
	struct wire_answer answer;
	const struct wire_events *events;
	void *data;
	struct local_address socket;
	char *rpc_status, *rpc_message; /* owned */
	bool cancelled, stopped, too_large, sent;
	bool paused; /* libcurl holds back what came, until a later turn */
	char error[CURL_ERROR_SIZE];
};

struct call_list {
	LIST_FIELDS(struct http_call);
	int count;
};

struct http_client {
	struct wire wire; /* first, so that the wire is the client */
	struct loop *loop;
	struct call_list queued, running, done;
	int running_calls, running_streams, queued_streams;
	struct http_target *target;  /* the current one */
	struct http_target *targets; /* all of them */
	uint64_t last_id;
	bool pumping;
	struct loop_timer heartbeat;
	uint64_t turn;	   /* the turn of the loop that turn_left is about */
	int64_t turn_left; /* bytes that streams may still bring in it */
	int paused_calls;
};

#endif
