/* The wire: what was asked for, in order; what ended, once. */
#include "io/http.h"
#include "http.h"

#include "base/alloc.h"
#include "http_call.h"
#include "http_target.h"

#define HEARTBEAT_MS 1000
static void http_list_push(struct call_list *list, struct http_call *call)
{
	LIST_PUSH(list, call, prev, next);
	list->count++;
}

static void http_list_remove(struct call_list *list, struct http_call *call)
{
	LIST_REMOVE(list, call, prev, next);
	list->count--;
}

static struct http_call *list_find(const struct call_list *list, uint64_t id)
{
	for (struct http_call *call = list->first; call != NULL; call = call->next) {
		if (call->id == id) {
			return call;
		}
	}
	return NULL;
}

static void queue_remove(struct http_client *c, struct http_call *call)
{
	c->queued_streams -= call->stream;
	http_list_remove(&c->queued, call);
}

static void http_pump(void *data);

static void http_pump_later(struct http_client *c)
{
	if (!c->pumping) {
		c->pumping = true;
		loop_defer(c->loop, http_pump, c);
	}
}

/* Takes a running call off its lane. Not from inside libcurl. */
static void call_detach(struct http_call *call)
{
	struct http_client *c = call->client;
	struct http_lane *lane = &call->target->lanes[call->stream ? LANE_STREAMS : LANE_CALLS];
	curl_multi_remove_handle(lane->multi, call->easy);
	http_call_release(call);
	call->target->calls--;
	call->target = NULL;
	loop_timer_stop(&call->guard);
	http_list_remove(&c->running, call);
	c->running_calls -= !call->stream;
	c->running_streams -= call->stream;
	c->paused_calls -= call->paused;
	call->paused = false;
	/* There is room for the next, and perhaps an old target to free. */
	http_pump_later(c);
}

static void call_done(struct http_call *call)
{
	call->state = CALL_DONE;
	http_list_push(&call->client->done, call);
}

void http_call_ended(struct http_call *call, CURLcode rc)
{
	if (!call->cancelled) {
		http_call_conclude(call, rc);
	}
	call_detach(call);
	if (call->cancelled) {
		http_call_destroy(call);
		return;
	}
	call_done(call);
}

/* From the loop only. Callbacks may send and cancel: the list is looked at anew each time. */
void http_deliver(struct http_client *c)
{
	while (c->done.first != NULL) {
		struct http_call *call = c->done.first;
		http_list_remove(&c->done, call);
		call->answer.body = str_text(&call->answer_body);
		call->answer.body_size = call->answer_body.len;
		call->events->on_done(call->data, &call->answer);
		http_call_destroy(call);
	}
}

static void target_replace(struct http_client *c, struct http_target *t)
{
	c->target = t;
	http_pump_later(c);
}

static void on_http_timeout(void *data)
{
	struct http_call *call = data;
	struct http_client *c = call->client;
	bool unknown = call->sent && call->method != WIRE_GET;
	if (call->state == CALL_RUNNING) {
		http_call_conclude(call, CURLE_OPERATION_TIMEDOUT);
		/* The call may be on a connection that is dead without a word, and the others would
		 * follow it there: what starts from now on gets new ones. Not for one of many
		 * servers. */
		if (!call->stream && call->to == NULL && call->target == c->target) {
			target_replace(c, http_target_renew(c->target));
		}
		call_detach(call);
	} else {
		queue_remove(c, call);
	}
	fault_set(&call->answer.fault, FAULT_TRANSIENT, "%s: %s within %lld ms", call->path,
		call->stream ? "nothing was heard" : "no complete answer",
		(long long)call->timeout_ms);
	call->answer.fault.unknown_outcome = unknown;
	call_done(call);
	http_deliver(c);
}

static void http_call_begin(struct http_call *call)
{
	struct http_client *c = call->client;
	struct http_target *t = c->target;
	queue_remove(c, call);
	http_list_push(&c->running, call);
	call->state = CALL_RUNNING;
	c->running_calls += !call->stream;
	c->running_streams += call->stream;
	t->calls++;
	http_call_prepare(call, t);
	CURLMcode rc = curl_multi_add_handle(
		t->lanes[call->stream ? LANE_STREAMS : LANE_CALLS].multi, call->easy);
	if (rc != CURLM_OK) {
		BUG("adding a transfer: %s", curl_multi_strerror(rc));
	}
}

static void start_queued(struct http_client *c)
{
	bool started = false;
	for (struct http_call *call = c->queued.first, *next; call != NULL; call = next) {
		next = call->next;
		if (c->running_calls >= HTTP_CALLS_MAX && c->queued_streams == 0) {
			break;
		}
		if (call->stream || c->running_calls < HTTP_CALLS_MAX) {
			http_call_begin(call);
			started = true;
		}
	}
	if (!started) {
		return;
	}
	if (!loop_timer_active(&c->heartbeat)) {
		loop_timer_repeat_ms(&c->heartbeat, HEARTBEAT_MS);
	}
	struct http_target *t = c->target;
	http_lane_kick(&t->lanes[LANE_CALLS]);
	http_lane_kick(&t->lanes[LANE_STREAMS]);
}

static void drop_cancelled(struct http_client *c)
{
	for (struct http_call *call = c->running.first, *next; call != NULL; call = next) {
		next = call->next;
		if (call->cancelled) {
			call_detach(call);
			http_call_destroy(call);
		}
	}
}

static void free_old_targets(struct http_client *c)
{
	for (struct http_target *t = c->targets, *next; t != NULL; t = next) {
		next = t->next;
		if (t != c->target && t->calls == 0) {
			http_target_destroy(t);
		}
	}
}

/* Deferred, so never inside libcurl and never inside a caller. */
static void http_pump(void *data)
{
	struct http_client *c = data;
	c->pumping = false;
	drop_cancelled(c);
	free_old_targets(c);
	start_queued(c);
	http_deliver(c);
}

/* A belt: libcurl has had bugs that lost a timer. */
static void on_heartbeat(void *data)
{
	struct http_client *c = data;
	if (c->running.count == 0) {
		loop_timer_stop(&c->heartbeat);
		return;
	}
	for (struct http_target *t = c->targets; t != NULL; t = t->next) {
		http_lane_kick(&t->lanes[LANE_CALLS]);
		http_lane_kick(&t->lanes[LANE_STREAMS]);
	}
}

static void call_resume(struct http_client *c, struct http_call *call)
{
	call->paused = false;
	c->paused_calls--;
	/* To the end, so that each stream has its turn. */
	http_list_remove(&c->running, call);
	http_list_push(&c->running, call);
	CURLcode rc = curl_easy_pause(call->easy, CURLPAUSE_CONT);
	if (rc != CURLE_OK) {
		http_call_ended(call, rc);
	}
}

/* Once a turn: what was held back comes in now and counts for the turn that follows, before which
 * everybody else is heard. */
static void on_http_turn(void *data)
{
	struct http_client *c = data;
	int most = c->running.count;
	if (c->paused_calls == 0) {
		return;
	}
	c->turn = loop_turns(c->loop) + 1;
	c->turn_left = TURN_BYTES;
	for (struct http_call *call = c->running.first, *next; most-- > 0; call = next) {
		next = call->next;
		if (call->paused && c->turn_left > 0) {
			call_resume(c, call);
		}
	}
	http_deliver(c);
	if (c->paused_calls > 0) {
		loop_wake_at(c->loop, 0);
	}
}

static int admission_check(struct http_client *c, const struct wire_request *r, struct fault *f)
{
	if (http_call_check(r, f) != 0) {
		return -1;
	}
	if (r->stream && c->running_streams + c->queued_streams >= HTTP_STREAMS_MAX) {
		return fault_set(f, FAULT_LIMIT, "more than %d streams at once", HTTP_STREAMS_MAX);
	}
	if (c->queued.count >= HTTP_QUEUE_MAX) {
		return fault_set(
			f, FAULT_LIMIT, "more than %d requests are waiting", HTTP_QUEUE_MAX);
	}
	return 0;
}

static uint64_t client_send(struct wire *w, const struct wire_request *request,
	const struct wire_events *events, void *data)
{
	struct http_client *c = CONTAINER_OF(w, struct http_client, wire);
	struct http_call *call;
	struct fault f = {0};
	if (admission_check(c, request, &f) != 0) {
		call = http_call_create(c, &(struct wire_request){.path = "/"});
		fault_copy(&call->answer.fault, &f);
		call_done(call);
	} else {
		call = http_call_create(c, request);
		c->queued_streams += call->stream;
		http_list_push(&c->queued, call);
	}
	call->id = ++c->last_id;
	call->events = events;
	call->data = data;
	loop_timer_init(&call->guard, c->loop, on_http_timeout, call);
	if (call->state == CALL_QUEUED && call->timeout_ms > 0) {
		loop_timer_start_ms(&call->guard, call->timeout_ms);
	}
	http_pump_later(c);
	return call->id;
}

static void client_cancel(struct wire *w, uint64_t id)
{
	struct http_client *c = CONTAINER_OF(w, struct http_client, wire);
	struct http_call *call;
	if ((call = list_find(&c->running, id)) != NULL) {
		/* We may be inside libcurl, even inside this very call. */
		call->cancelled = true;
		loop_timer_stop(&call->guard);
		http_pump_later(c);
	} else if ((call = list_find(&c->queued, id)) != NULL) {
		queue_remove(c, call);
		http_call_destroy(call);
	} else if ((call = list_find(&c->done, id)) != NULL) {
		http_list_remove(&c->done, call);
		http_call_destroy(call);
	}
}

static const struct wire_impl client_impl = {.send = client_send, .cancel = client_cancel};

struct http_client *http_client_create(
	struct loop *l, const struct http_client_config *config, struct fault *ret_fault)
{
	struct http_client *c = xcalloc(1, sizeof *c);
	ENSURE(curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK);
	c->wire.impl = &client_impl;
	c->loop = l;
	loop_timer_init(&c->heartbeat, l, on_heartbeat, c);
	loop_on_turn(l, on_http_turn, c);
	c->target = http_target_create(c, config, ret_fault);
	if (c->target == NULL) {
		http_client_destroy(c);
		return NULL;
	}
	return c;
}

void http_client_destroy(struct http_client *c)
{
	if (c == NULL) {
		return;
	}
	while (c->running.first != NULL) {
		struct http_call *call = c->running.first;
		call_detach(call);
		http_call_destroy(call);
	}
	struct call_list *lists[] = {&c->queued, &c->done};
	for (size_t i = 0; i < COUNT_OF(lists); i++) {
		while (lists[i]->first != NULL) {
			struct http_call *call = lists[i]->first;
			http_list_remove(lists[i], call);
			http_call_destroy(call);
		}
	}
	while (c->targets != NULL) {
		http_target_destroy(c->targets);
	}
	loop_timer_stop(&c->heartbeat);
	loop_off_turn(c->loop, on_http_turn, c);
	loop_defer_forget(c->loop, c);
	curl_global_cleanup();
	free(c);
}

struct wire *http_client_wire(struct http_client *c)
{
	return &c->wire;
}

int http_client_retarget(
	struct http_client *c, const struct http_client_config *config, struct fault *ret_fault)
{
	struct http_target *t = http_target_create(c, config, ret_fault);
	if (t == NULL) {
		return -1;
	}
	target_replace(c, t);
	return 0;
}
