/* libcurl's multi interface on libev: curl_multi_socket_action. */
#include "base/alloc.h"
#include "http_internal.h"

struct http_socket {
	struct http_lane *lane;
	struct http_socket *prev, *next;
	ev_io io;
};

/* The only place where results are read: the event of one socket may end the transfer of another.
 */
static void lane_drain(struct http_lane *lane)
{
	struct http_client *c = lane->target->client;
	CURLMsg *message;
	int left;

	while ((message = curl_multi_info_read(lane->multi, &left)) != NULL) {
		struct http_call *call = NULL;
		CURLcode rc = message->data.result;
		if (message->msg != CURLMSG_DONE) {
			continue;
		}
		curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, (char **)&call);
		http_call_ended(call, rc);
	}
	http_deliver(c);
}

void http_lane_kick(struct http_lane *lane)
{
	int running;

	curl_multi_socket_action(lane->multi, CURL_SOCKET_TIMEOUT, 0, &running);
	lane_drain(lane);
}

static void on_lane_timer(void *data)
{
	http_lane_kick(data);
}

static void on_socket(struct ev_loop *ev, ev_io *w, int events)
{
	struct http_socket *s = w->data;
	struct http_lane *lane = s->lane;
	int mask = (events & EV_READ ? CURL_CSELECT_IN : 0) |
		   (events & EV_WRITE ? CURL_CSELECT_OUT : 0);
	int running;
	(void)ev;

	/* s may be gone after this. */
	curl_multi_socket_action(lane->multi, w->fd, mask, &running);
	lane_drain(lane);
}

static int timer_wanted(CURLM *multi, long timeout_ms, void *data)
{
	struct http_lane *lane = data;
	(void)multi;

	if (timeout_ms < 0) {
		loop_timer_stop(&lane->timer);
	} else {
		loop_timer_start_ms(&lane->timer, timeout_ms);
	}
	return 0;
}

static void socket_remove(struct http_socket *s)
{
	ev_io_stop(loop_ev(s->lane->target->client->loop), &s->io);
	if (s->prev != NULL) {
		s->prev->next = s->next;
	} else {
		s->lane->sockets = s->next;
	}
	if (s->next != NULL) {
		s->next->prev = s->prev;
	}
	free(s);
}

static struct http_socket *socket_add(struct http_lane *lane, curl_socket_t fd)
{
	struct http_socket *s = xcalloc(1, sizeof *s);

	s->lane = lane;
	s->next = lane->sockets;
	if (s->next != NULL) {
		s->next->prev = s;
	}
	lane->sockets = s;
	ev_init(&s->io, on_socket);
	s->io.data = s;
	curl_multi_assign(lane->multi, fd, s);
	return s;
}

static int socket_wanted(CURL *easy, curl_socket_t fd, int what, void *data, void *socket_data)
{
	struct http_lane *lane = data;
	struct http_socket *s = socket_data;
	struct ev_loop *ev = loop_ev(lane->target->client->loop);
	(void)easy;

	if (what == CURL_POLL_REMOVE) {
		if (s != NULL) {
			socket_remove(s);
			curl_multi_assign(lane->multi, fd, NULL);
		}
		return 0;
	}
	if (s == NULL) {
		s = socket_add(lane, fd);
	}
	/* Set anew even for the same number: epoll forgets closed descriptors without a word. */
	ev_io_stop(ev, &s->io);
	ev_io_set(&s->io, fd,
		(what & CURL_POLL_IN ? EV_READ : 0) | (what & CURL_POLL_OUT ? EV_WRITE : 0));
	ev_io_start(ev, &s->io);
	return 0;
}

void http_lane_init(struct http_lane *lane, struct http_target *t, bool multiplex)
{
	lane->target = t;
	lane->multi = curl_multi_init();
	ENSURE(lane->multi != NULL);
	loop_timer_init(&lane->timer, t->client->loop, on_lane_timer, lane);
	curl_multi_setopt(lane->multi, CURLMOPT_SOCKETFUNCTION, socket_wanted);
	curl_multi_setopt(lane->multi, CURLMOPT_SOCKETDATA, lane);
	curl_multi_setopt(lane->multi, CURLMOPT_TIMERFUNCTION, timer_wanted);
	curl_multi_setopt(lane->multi, CURLMOPT_TIMERDATA, lane);
	curl_multi_setopt(lane->multi, CURLMOPT_PIPELINING,
		multiplex ? (long)CURLPIPE_MULTIPLEX : (long)CURLPIPE_NOTHING);
	/* Few are used where the server speaks HTTP/2; fewer than there are calls would mean a
	 * handshake a call where it does not. */
	curl_multi_setopt(lane->multi, CURLMOPT_MAXCONNECTS, t->connections);
}

void http_lane_finish(struct http_lane *lane)
{
	curl_multi_cleanup(lane->multi);
	lane->multi = NULL;
	/* libcurl does not speak of every socket that it closes here. */
	while (lane->sockets != NULL) {
		socket_remove(lane->sockets);
	}
	loop_timer_stop(&lane->timer);
}
