/* From a request to the bytes of its answer, and what is measured about it. */
#include "server_reply.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "server_room.h"

/* The head of an answer: far more than we ever write. */
#define KEEP_REPLY_BYTES ((size_t)64 * 1024)

static const char *status_text(int status)
{
	static const struct {
		int status;
		const char *text;
	} table[] = {
		{200, "OK"},
		{201, "Created"},
		{202, "Accepted"},
		{204, "No Content"},
		{400, "Bad Request"},
		{401, "Unauthorized"},
		{403, "Forbidden"},
		{404, "Not Found"},
		{405, "Method Not Allowed"},
		{408, "Request Timeout"},
		{409, "Conflict"},
		{413, "Content Too Large"},
		{415, "Unsupported Media Type"},
		{417, "Expectation Failed"},
		{422, "Unprocessable Content"},
		{429, "Too Many Requests"},
		{431, "Request Header Fields Too Large"},
		{500, "Internal Server Error"},
		{501, "Not Implemented"},
		{503, "Service Unavailable"},
		{505, "HTTP Version Not Supported"},
	};
	for (size_t i = 0; i < COUNT_OF(table); i++) {
		if (table[i].status == status) {
			return table[i].text;
		}
	}
	return "Unnamed";
}

static struct metric *metric_of(
	struct server *s, enum metric_type type, const char *name, const char *help)
{
	struct str labels CLEANUP(str_finish) = STR_INIT(256);
	metric_label(&labels, "server", text_or(s->config.name, "http"));
	return metric_get(s->config.metrics, type, name, help, str_text(&labels));
}

static struct metric *counter_by(
	struct server *s, const char *name, const char *help, const char *key, const char *value)
{
	struct str labels CLEANUP(str_finish) = STR_INIT(256);
	metric_label(&labels, "server", text_or(s->config.name, "http"));
	metric_label(&labels, key, value);
	return metric_get(s->config.metrics, METRIC_COUNTER, name, help, str_text(&labels));
}

void reply_metrics_init(struct server *s)
{
	static const char *const phases[CONN_PHASES] = {
		"handshake", "idle", "head", "body", "reply", "end"};
	s->connections = metric_of(
		s, METRIC_GAUGE, "aliquot_http_server_connections", "Connections that are open.");
	s->seconds = metric_of(s, METRIC_HISTOGRAM, "aliquot_http_server_seconds",
		"From the arrival of a request's first byte to the answer's last byte "
		"written.");
	s->refused = metric_of(s, METRIC_COUNTER, "aliquot_http_server_refused_total",
		"Connections refused because too many were open.");
	s->paced = metric_of(s, METRIC_COUNTER, "aliquot_http_server_paced_total",
		"Times that a connection waited for others because its address had had its part.");
	s->handshake_failures =
		metric_of(s, METRIC_COUNTER, "aliquot_http_server_handshake_failures_total",
			"TLS handshakes that failed or took too long.");
	for (int i = 0; i < CONN_PHASES; i++) {
		s->evicted[i] = counter_by(s, "aliquot_http_server_evicted_total",
			"Connections closed because others needed their room, by what they were "
			"at.",
			"phase", phases[i]);
	}
}

static void count_status(struct server *s, int status)
{
	struct code_count *c = s->codes;
	while (c < s->codes + SERVER_CODES_MAX && c->count != NULL && c->status != status) {
		c++;
	}
	if (c == s->codes + SERVER_CODES_MAX) {
		return;
	}
	if (c->count == NULL) {
		char code[16];
		snprintf(code, sizeof code, "%d", status);
		c->status = status;
		c->count = counter_by(s, "aliquot_http_server_requests_total", "Requests answered.",
			"code", code);
	}
	metric_add(c->count, 1);
}

static void head_write(struct conn *c, const struct server_reply *r, const char *allow)
{
	str_append_format(&c->out, "HTTP/1.1 %d %s\r\n", r->status, status_text(r->status));
	str_append_format(&c->out, "Content-Type: %s\r\n", r->content_type);
	/* 204 has no body, and must not speak of one. */
	if (r->status != 204) {
		str_append_format(&c->out, "Content-Length: %zu\r\n", r->body.len);
	}
	if (allow != NULL) {
		str_append_format(&c->out, "Allow: %s\r\n", allow);
	}
	if (c->closing) {
		str_append_text(&c->out, "Connection: close\r\n");
	} else if (c->in.old) {
		str_append_text(&c->out, "Connection: keep-alive\r\n");
	}
	str_append_text(&c->out, "\r\n");
}

static void reply_send(struct conn *c, const struct server_reply *r, const char *allow)
{
	ENSURE(c->pending_count < CONN_PIPELINE_MAX);
	if (c->out_sent > 0) {
		c->out.len -= c->out_sent;
		memmove(c->out.p, c->out.p + c->out_sent, c->out.len);
		c->out_sent = 0;
	}
	head_write(c, r, allow);
	if (r->status != 204 && !view_equals(c->in.method, "HEAD")) {
		str_append(&c->out, str_text(&r->body), r->body.len);
	}
	/* The room for one reply beside what may be waiting is reserved by the limits. */
	ENSURE(!c->out.overflow);
	unsigned slot = (c->pending_first + c->pending_count++) % CONN_PIPELINE_MAX;
	c->pending[slot] = (struct pending){c->out_written + c->out.len, c->started_us};
	count_status(c->server, r->status);
}

static struct server_reply *reply_begin(struct server *s)
{
	struct server_reply *r = &s->reply;
	str_reset(&r->body);
	str_trim_capacity(&r->body, KEEP_REPLY_BYTES);
	r->status = 200;
	r->content_type = "text/plain; charset=utf-8";
	return r;
}

static void reply_own(struct server_reply *r, int status, const char *text)
{
	str_reset(&r->body);
	r->status = status;
	r->content_type = "text/plain; charset=utf-8";
	str_append_format(&r->body, "%d %s\n", status, text);
}

void reply_refusal(struct conn *c, int status, const char *text)
{
	struct server_reply *r = reply_begin(c->server);
	c->closing = true;
	reply_own(r, status, text);
	reply_send(c, r, NULL);
}

/* NULL: the reply is written already. *ret_allow is what a 405 says. */
static const struct route *route_find(
	struct server *s, const struct http1 *in, struct server_reply *r, const char **ret_allow)
{
	const struct route *other = NULL;
	for (size_t i = 0; i < s->routes.count; i++) {
		const struct route *route = &s->routes.items[i];
		if (!view_equals(in->path, route->path)) {
			continue;
		}
		if (view_equals(in->method, route->method) ||
			(view_equals(in->method, "HEAD") && text_equals(route->method, "GET"))) {
			return route;
		}
		other = route;
	}
	if (other == NULL) {
		reply_own(r, 404, "there is nothing at this path");
		return NULL;
	}
	*ret_allow = other->method;
	reply_own(r, 405, "this path does not take this method");
	return NULL;
}

void reply_to_request(struct conn *c)
{
	struct server *s = c->server;
	/* First: whoever goes is answered too. */
	bool room = s->held <= s->config.held_limit + c->held || room_for_bytes(c);
	struct server_reply *r = reply_begin(s);
	const char *allow = NULL;
	const struct route *route = route_find(s, &c->in, r, &allow);
	if (route != NULL && !route->probe && !room) {
		reply_own(r, 503, "too many answers are waiting to be taken");
	} else if (route != NULL) {
		const struct server_request request = {
			.method = c->in.method,
			.path = c->in.path,
			.query = c->in.query,
			.content_type = c->in.content_type,
			.body = {str_text(&c->in.body), c->in.body.len},
			.received_us = c->started_us,
		};
		route->handler(route->data, &request, r);
	}
	/* Only now: the handler may have begun the drain. */
	c->closing = !c->in.keep_alive || s->leaving || s->draining;
	if (r->body.overflow) {
		log_error("reply too large", LOG_S("path", route != NULL ? route->path : ""),
			LOG_I("limit", s->config.reply_limit));
		reply_own(r, 500, "the answer is too large");
	}
	if (route != NULL && r->status < 400) {
		room_prove(c);
	}
	reply_send(c, r, allow);
}

void reply_measure(struct conn *c)
{
	struct server *s = c->server;
	int64_t now = 0;
	while (c->pending_count > 0 && c->pending[c->pending_first].end <= c->out_written) {
		now = now != 0 ? now : clock_mono_us();
		int64_t us = now - c->pending[c->pending_first].received_us;
		c->pending_first = (c->pending_first + 1) % CONN_PIPELINE_MAX;
		c->pending_count--;
		metric_observe_us(s->seconds, us);
		s->latencies[s->latency_next] = us < UINT32_MAX ? (uint32_t)us : UINT32_MAX;
		s->latency_next = (s->latency_next + 1) % SERVER_LATENCIES;
		s->latency_count += s->latency_count < SERVER_LATENCIES;
	}
}
