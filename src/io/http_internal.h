/* What the files of the HTTP client share: http.c (the wire: queue, cancelling, completion),
 * http_call.c (one transfer: options, callbacks, what its end means), http_lane.c (libcurl's multi
 * handle on libev).
 *
 * libcurl must not be told to add or remove a transfer from inside its own callbacks. So nothing
 * here does: send and cancel only note what is wanted, and pump of http.c, deferred to the end of
 * the loop's turn, does it. */
#ifndef IO_HTTP_INTERNAL_H
#define IO_HTTP_INTERNAL_H

#include <curl/curl.h>

#include "base/str.h"
#include "io/http.h"
#include "io/local.h"
#include "loop_ev.h"

struct http_target;

/* One multi handle: its connections and its timer. */
struct http_lane {
	struct http_target *target;
	CURLM *multi; /* owned */
	struct loop_timer timer;
	struct http_socket *sockets; /* owned list; libcurl tells when each begins and ends */
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
	struct http_call *first, *last;
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

/* http_lane.c */
void http_lane_init(struct http_lane *lane, struct http_target *t, bool multiplex);
void http_lane_finish(struct http_lane *lane);
/* Lets libcurl look at its clock, then collects what has ended. */
void http_lane_kick(struct http_lane *lane);

/* http_target.c */
struct http_target *http_target_create(
	struct http_client *c, const struct http_client_config *config, struct fault *ret_fault);
/* The same place with fresh connections. */
struct http_target *http_target_renew(const struct http_target *old);
void http_target_destroy(struct http_target *t);

/* http_call.c */
struct http_call *http_call_create(struct http_client *c, const struct wire_request *request);
int http_call_check(const struct wire_request *request, struct fault *ret_fault);
/* Makes the easy handle. The caller adds it to the lane. */
void http_call_prepare(struct http_call *call, struct http_target *t);
/* Fills in the answer from the ended transfer. */
void http_call_conclude(struct http_call *call, CURLcode rc);
/* Frees what libcurl needed. The handle must have been removed from its lane. */
void http_call_release(struct http_call *call);
void http_call_destroy(struct http_call *call);

/* http.c */
void http_call_ended(struct http_call *call, CURLcode rc); /* from the drain of a lane */
void http_deliver(struct http_client *c);
/* May these bytes of a stream be taken in this turn of the loop? */
bool http_turn_takes(struct http_client *c, size_t n);

#endif
