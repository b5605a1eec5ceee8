/* The wire: requests in order, their deadlines, and each one's end, once. */
#include "poller.h"

#include "base/alloc.h"
#include "io/tls_pem.h"
#include "poller_conn.h"
#include "poller_tls.h"

#define PATH_MAX_BYTES	  2048
#define RETRY_AFTER_MAX_S (24 * 60 * 60)

static void poller_list_push(struct poller_calls *list, struct poller_call *call)
{
	LIST_PUSH(list, call, prev, next);
	list->count++;
}

static void poller_list_remove(struct poller_calls *list, struct poller_call *call)
{
	LIST_REMOVE(list, call, prev, next);
	list->count--;
}

static struct poller_calls *list_of(struct poller_call *call)
{
	return &call->poller->calls[call->state];
}

static void call_move(struct poller_call *call, enum poller_call_state state)
{
	poller_list_remove(list_of(call), call);
	call->state = state;
	poller_list_push(list_of(call), call);
}

static void poller_call_free(struct poller_call *call)
{
	poller_list_remove(list_of(call), call);
	loop_timer_stop(&call->guard);
	if (call->conn != NULL) {
		call->conn->call = NULL;
		poller_conn_close(call->conn);
	}
	http1_finish(&call->in);
	str_finish(&call->partial);
	str_finish(&call->out);
	free(call->path);
	free(call->accept);
	free(call->to);
	free(call->key);
	free(call);
}

static void poller_pump(void *data);

static void poller_pump_later(struct poller *p)
{
	if (!p->pumping) {
		p->pumping = true;
		loop_defer(p->loop, poller_pump, p);
	}
}

void poller_call_end(struct poller_call *call)
{
	int64_t seconds;
	if (parse_i64(http1_header(&call->in, "retry-after"), 1, RETRY_AFTER_MAX_S, &seconds)) {
		call->answer.retry_after_ms = call->answer.fault.retry_after_ms = seconds * 1000;
	}
	loop_timer_stop(&call->guard);
	str_finish(&call->partial);
	str_finish(&call->out);
	call_move(call, POLLER_DONE);
	poller_pump_later(call->poller);
}

static void poller_call_start(struct poller_call *call)
{
	if (poller_conn_start(call, &call->answer.fault) != 0) {
		poller_call_end(call);
	}
}

void poller_call_again(struct poller_call *call)
{
	call->again = true;
	str_finish(&call->partial);
	str_finish(&call->out);
	call->partial.limit = call->out.limit = 2 * POLLER_SCRATCH;
	poller_call_start(call);
}

/* Callbacks may send and cancel: the list is looked at anew each time. The call is in none of the
 * poller's lists while its owner is told. */
static void poller_deliver(struct poller *p)
{
	struct poller_calls *done = &p->calls[POLLER_DONE];
	while (done->first != NULL) {
		struct poller_call *call = done->first;
		poller_list_remove(done, call);
		call->answer.body = str_text(&call->in.body);
		call->answer.body_size = call->in.body.len;
		call->events->on_done(call->data, &call->answer);
		poller_list_push(done, call);
		poller_call_free(call);
	}
}

/* Deferred, so never inside a caller. */
static void poller_pump(void *data)
{
	struct poller *p = data;
	p->pumping = false;
	poller_deliver(p);
	struct poller_calls *queued = &p->calls[POLLER_QUEUED];
	while (queued->first != NULL && p->calls[POLLER_RUNNING].count < POLLER_CALLS_MAX) {
		struct poller_call *call = queued->first;
		call_move(call, POLLER_RUNNING);
		poller_call_start(call);
	}
}

static void on_poll_timeout(void *data)
{
	struct poller_call *call = data;
	fault_set(&call->answer.fault, FAULT_TRANSIENT, "%s: no complete answer within %lld ms",
		call->path, (long long)call->timeout_ms);
	if (call->conn != NULL) {
		call->conn->call = NULL;
		poller_conn_close(TAKE(call->conn));
	}
	poller_call_end(call);
}

/* --- what may be asked --- */

static bool is_plain_text(const char *s, size_t most)
{
	size_t n = strnlen(s, most + 1);
	for (size_t i = 0; i < n; i++) {
		if (s[i] <= ' ' || s[i] >= 0x7f) {
			return false;
		}
	}
	return n > 0 && n <= most;
}

static bool is_server_name(const char *s)
{
	return strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-") ==
	       strlen(s);
}

static int poll_request_check(const struct poller *p, const struct wire_request *r, struct fault *f)
{
	const char *name = text_or(r->to_name, p->name);
	if (r->method != WIRE_GET || r->content_type != NULL || r->bearer != NULL || r->stream) {
		return fault_set(f, FAULT_INVALID, "only plain GETs are sent here");
	}
	if (r->path == NULL || r->path[0] != '/' || !is_plain_text(r->path, PATH_MAX_BYTES)) {
		return fault_set(f, FAULT_INVALID, "a request path that cannot be sent");
	}
	if (r->to == NULL || !is_plain_text(r->to, 128)) {
		return fault_set(f, FAULT_INVALID, "an address that cannot be called");
	}
	if (!is_plain_text(name, 253) || !is_server_name(name)) {
		return fault_set(f, FAULT_INVALID, "a name that cannot be verified");
	}
	if (r->accept != NULL && !is_plain_text(r->accept, 256)) {
		return fault_set(f, FAULT_INVALID, "a header that cannot be sent");
	}
	if (p->calls[POLLER_QUEUED].count >= POLLER_QUEUE_MAX) {
		return fault_set(
			f, FAULT_LIMIT, "more than %d requests are waiting", POLLER_QUEUE_MAX);
	}
	return 0;
}

static void call_fill(struct poller_call *call, const struct wire_request *r)
{
	struct str key CLEANUP(str_finish) = STR_INIT(512);
	call->path = xstrdup(r->path);
	call->accept = xstrdup(text_or(r->accept, "application/json"));
	call->to = xstrdup(r->to);
	str_append_format(&key, "%s %s", r->to, text_or(r->to_name, call->poller->name));
	call->key = str_take(&key);
	call->name = call->key + strlen(r->to) + 1;
	call->timeout_ms = r->timeout_ms;
	if (r->limit_bytes > 0 && r->limit_bytes < call->limit) {
		call->limit = r->limit_bytes;
	}
}

static uint64_t poller_send(struct wire *w, const struct wire_request *request,
	const struct wire_events *events, void *data)
{
	struct poller *p = CONTAINER_OF(w, struct poller, wire);
	struct poller_call *call = xcalloc(1, sizeof *call);
	call->poller = p;
	call->id = ++p->last_id;
	call->events = events;
	call->data = data;
	call->limit = HTTP1_BODY_MAX;
	call->partial.limit = call->out.limit = 2 * POLLER_SCRATCH;
	loop_timer_init(&call->guard, p->loop, on_poll_timeout, call);
	if (poll_request_check(p, request, &call->answer.fault) != 0) {
		call->state = POLLER_DONE;
	} else {
		call_fill(call, request);
	}
	http1_init_answer(&call->in, call->limit);
	poller_list_push(list_of(call), call);
	if (call->state == POLLER_QUEUED && call->timeout_ms > 0) {
		loop_timer_start_ms(&call->guard, call->timeout_ms);
	}
	poller_pump_later(p);
	return call->id;
}

static void poller_cancel(struct wire *w, uint64_t id)
{
	struct poller *p = CONTAINER_OF(w, struct poller, wire);
	for (size_t i = 0; i < COUNT_OF(p->calls); i++) {
		for (struct poller_call *call = p->calls[i].first; call != NULL;
			call = call->next) {
			if (call->id == id) {
				poller_call_free(call);
				poller_pump_later(p);
				return;
			}
		}
	}
}

static const struct wire_impl poller_impl = {.send = poller_send, .cancel = poller_cancel};

/* --- its life --- */

int poller_trust(struct poller *p, const char *ca_pem, struct fault *ret_fault)
{
	char name[TLS_NAME_TEXT_MAX];
	struct str text CLEANUP(str_finish) = STR_INIT(256);
	SSL_CTX *tls = poller_tls_create(ca_pem, ret_fault);
	if (tls == NULL) {
		return -1;
	}
	str_append_format(&text, "the configured authority '%s'", tls_subject(ca_pem, name));
	free(p->trust_text);
	p->trust_text = str_take(&text);
	SSL_CTX_free(p->tls);
	p->tls = tls;
	p->trust++;
	poller_idle_close_all(p);
	return 0;
}

struct poller *poller_create(
	struct loop *l, const struct poller_config *config, struct fault *ret_fault)
{
	struct poller *p = xcalloc(1, sizeof *p);
	p->wire.impl = &poller_impl;
	p->loop = l;
	p->name = xstrdup(config->name);
	p->user_agent = xstrdup(text_or(config->user_agent, "aliquot"));
	p->connections_max = config->connections > 0 ? config->connections : POLLER_CALLS_MAX;
	p->scratch = xmalloc(POLLER_SCRATCH);
	p->cipher = record_cipher_create();
	poller_idle_init(p);
	loop_on_turn(l, poller_tls_turn, p);
	if (poller_trust(p, config->ca_pem, ret_fault) != 0) {
		poller_destroy(p);
		return NULL;
	}
	return p;
}

void poller_destroy(struct poller *p)
{
	if (p == NULL) {
		return;
	}
	for (size_t i = 0; i < COUNT_OF(p->calls); i++) {
		while (p->calls[i].first != NULL) {
			poller_call_free(p->calls[i].first);
		}
	}
	poller_idle_close_all(p);
	loop_timer_stop(&p->idle_timer);
	loop_off_turn(p->loop, poller_tls_turn, p);
	loop_defer_forget(p->loop, p);
	map_finish(&p->idle_by_key);
	VEC_FINISH(&p->conns);
	EVP_CIPHER_CTX_free(p->cipher);
	SSL_CTX_free(p->tls);
	free(p->scratch);
	free(p->name);
	free(p->user_agent);
	free(p->trust_text);
	free(p);
}

struct wire *poller_wire(struct poller *p)
{
	return &p->wire;
}

void poller_count(const struct poller *p, int *ret_connections, uint64_t *ret_handshakes)
{
	*ret_connections = (int)p->conns.count;
	*ret_handshakes = p->handshakes;
}
