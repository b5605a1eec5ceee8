/* Calls and streams: what goes out, and what an answer means. */
#include "kube/client.h"

#include "base/alloc.h"
#include "codec/status.h"

#define ERROR_BODY_MAX (64 * 1024)

struct call {
	struct call *next; /* owned by the list */
	struct kube *kube; /* borrowed */
	uint64_t id;	   /* the wire's */
	enum wire_method method;
	bool is_stream;
	bool refused; /* a stream's answer is not 200: its bytes are a Status */
	int64_t began_ms;
	kube_done done;
	struct kube_stream_events stream;
	void *data;
	struct str error_body;
};

struct kube {
	struct wire *wire;		 /* borrowed */
	struct kube_cred *cred;		 /* borrowed */
	const struct clock *clock;	 /* borrowed */
	struct metric_registry *metrics; /* borrowed; may be NULL */
	struct call *calls;		 /* owned, newest first */
};

struct kube *kube_create(struct wire *wire, struct kube_cred *cred, const struct clock *clock,
	struct metric_registry *metrics)
{
	struct kube *k = xcalloc(1, sizeof *k);
	k->wire = wire;
	k->cred = cred;
	k->clock = clock;
	k->metrics = metrics;
	return k;
}

static void call_destroy(struct call *c)
{
	str_finish(&c->error_body);
	free(c);
}

static void call_unlink(struct call *c)
{
	struct call **slot = &c->kube->calls;
	while (*slot != c) {
		slot = &(*slot)->next;
	}
	*slot = c->next;
}

void kube_destroy(struct kube *k)
{
	if (k == NULL) {
		return;
	}
	while (k->calls != NULL) {
		struct call *c = k->calls;
		wire_cancel(k->wire, c->id);
		call_unlink(c);
		call_destroy(c);
	}
	free(k);
}

void kube_fault_of(const struct wire_answer *answer, bool is_write, struct fault *ret_fault)
{
	*ret_fault = (struct fault){0};
	if (answer->fault.kind != FAULT_NONE) {
		/* Whether a write may have left is what only the wire can know. */
		*ret_fault = answer->fault;
		ret_fault->status = answer->status;
		return;
	}
	if (answer->status >= 200 && answer->status < 300) {
		return;
	}
	status_decode(text_or(answer->body, ""), answer->body_size, answer->status, ret_fault);
	ret_fault->status = answer->status;
	if (answer->retry_after_ms > ret_fault->retry_after_ms) {
		ret_fault->retry_after_ms = answer->retry_after_ms;
	}
	/* A server or a proxy that gave up half-way does not say how far the write had come. */
	ret_fault->unknown_outcome = is_write && answer->status >= 500;
}

static void count_call(struct kube *k, const struct call *c, int status)
{
	CLEANUP(str_finish) struct str labels = STR_INIT(128);
	char code[8];
	snprintf(code, sizeof code, "%d", status);
	metric_label(&labels, "verb", c->is_stream ? "WATCH" : wire_method_name(c->method));
	metric_label(&labels, "code", code);
	metric_count(k->metrics, "aliquot_api_requests_total",
		"Requests to the API server that ended, by verb and HTTP status (0: no answer).",
		str_text(&labels), 1);
	if (!c->is_stream) {
		metric_observe_us(
			metric_get(k->metrics, METRIC_HISTOGRAM, "aliquot_api_request_seconds",
				"Time from sending a request to the API server to its answer.",
				NULL),
			(clock_mono(k->clock) - c->began_ms) * 1000);
	}
}

static void on_done(void *data, const struct wire_answer *wire_answer)
{
	struct call *c = data;
	struct kube *k = c->kube;
	struct wire_answer whole = *wire_answer;
	if (c->error_body.len > 0 && whole.body_size == 0) {
		whole.body = str_text(&c->error_body);
		whole.body_size = c->error_body.len;
	}
	struct kube_answer answer = {
		.status = whole.status,
		.body = text_or(whole.body, ""),
		.body_size = whole.body_size,
	};
	kube_fault_of(&whole, c->method != WIRE_GET, &answer.fault);
	count_call(k, c, whole.status);
	if (whole.status == 401) {
		kube_cred_refused(k->cred, c->began_ms);
	}
	call_unlink(c);
	if (c->is_stream) {
		c->stream.on_done(c->data, &answer);
	} else {
		c->done(c->data, &answer);
	}
	call_destroy(c);
}

static bool on_data(void *data, int status, const char *p, size_t n)
{
	struct call *c = data;
	if (status == 200) {
		return c->stream.on_data(c->data, p, n);
	}
	if (c->error_body.limit == 0) {
		c->error_body = (struct str)STR_INIT(ERROR_BODY_MAX);
	}
	/* More than a Status needs is of no use. */
	return str_append(&c->error_body, p, n);
}

static const struct wire_events wire_events = {.on_data = on_data, .on_done = on_done};

static uint64_t call_send(struct kube *k, struct call *c, struct wire_request *request)
{
	c->kube = k;
	c->method = request->method;
	c->is_stream = request->stream;
	c->began_ms = clock_mono(k->clock);
	c->next = k->calls;
	k->calls = c;
	request->bearer = kube_cred_bearer(k->cred);
	c->id = wire_send(k->wire, request, &wire_events, c);
	ENSURE(c->id != 0);
	return c->id;
}

uint64_t kube_call(struct kube *k, const struct kube_request *request, kube_done done, void *data)
{
	struct call *c = xcalloc(1, sizeof *c);
	c->done = done;
	c->data = data;
	struct wire_request out = {
		.method = request->method,
		.path = request->path,
		.accept = request->accept,
		.content_type = request->content_type,
		.body = request->body,
		.body_size = request->body_size,
		.timeout_ms = request->timeout_ms > 0 ? request->timeout_ms : KUBE_TIMEOUT_MS,
		.limit_bytes = request->limit_bytes > 0 ? request->limit_bytes : KUBE_ANSWER_MAX,
	};
	return call_send(k, c, &out);
}

uint64_t kube_stream(struct kube *k, const char *path, int64_t guard_ms,
	const struct kube_stream_events *events, void *data)
{
	struct call *c = xcalloc(1, sizeof *c);
	c->stream = *events;
	c->data = data;
	struct wire_request out = {.method = WIRE_GET,
		.path = path,
		.timeout_ms = guard_ms,
		.stream = true,
		.zipped = events->zipped};
	return call_send(k, c, &out);
}

void kube_cancel(struct kube *k, uint64_t id)
{
	for (struct call *c = k->calls; id != 0 && c != NULL; c = c->next) {
		if (c->id == id) {
			wire_cancel(k->wire, id);
			call_unlink(c);
			call_destroy(c);
			return;
		}
	}
}

const struct clock *kube_clock(const struct kube *k)
{
	return k->clock;
}

struct metric_registry *kube_metrics(const struct kube *k)
{
	return k->metrics;
}

/* Names come out of objects: one that makes the path too long is answered by FAULT_INVALID, as
 * whatever else cannot be sent, and by the same way, so that nobody is answered before its time. */
static const char *path_or_none(const struct str *text)
{
	return text->overflow ? WIRE_NO_PATH : str_text(text);
}

uint64_t kube_get(struct kube *k, const struct kube_path *path, kube_done done, void *data)
{
	CLEANUP(str_finish) struct str text = STR_INIT(KUBE_PATH_MAX);
	kube_path_append(&text, path);
	struct kube_request request = {.method = WIRE_GET, .path = path_or_none(&text)};
	return kube_call(k, &request, done, data);
}

uint64_t kube_put(struct kube *k, const struct kube_write *write, kube_done done, void *data)
{
	CLEANUP(str_finish) struct str text = STR_INIT(KUBE_PATH_MAX);
	kube_path_append(&text, &write->path);
	if (write->method == WIRE_DELETE) {
		/* A delete has no field manager; its options are in the body. */
		ENSURE(write->options == 0);
	} else {
		kube_write_query_append(&text, write->options);
	}
	struct kube_request request = {
		.method = write->method,
		.path = path_or_none(&text),
		.content_type = write->content_type,
		.body = write->body,
		.body_size = write->body_size,
		.timeout_ms = write->timeout_ms,
	};
	return kube_call(k, &request, done, data);
}
