/* Where requests go: a checked address, checked certificates, and the connections to it. */
#include "http_target.h"

#include "base/alloc.h"
#include "http.h"
#include "io/tls_pem.h"

#define CONNECT_MS 10000

static void curl_url_done(CURLU **slot)
{
	curl_url_cleanup(take_pointer(slot));
}

static void curl_text_done(char **slot)
{
	curl_free(take_pointer(slot));
}

struct address {
	char *scheme, *host, *port, *path;
};

static void address_finish(struct address *a)
{
	curl_text_done(&a->scheme);
	curl_text_done(&a->host);
	curl_text_done(&a->port);
	curl_text_done(&a->path);
}

static bool has_part(CURLU *url, CURLUPart part)
{
	char *text CLEANUP(curl_text_done) = NULL;
	return curl_url_get(url, part, &text, 0) == CURLUE_OK;
}

static int base_url_parse(const char *base_url, struct address *a, struct fault *f)
{
	CURLU *url CLEANUP(curl_url_done) = curl_url();
	ENSURE(url != NULL);
	if (base_url == NULL || curl_url_set(url, CURLUPART_URL, base_url, 0) != CURLUE_OK ||
		curl_url_get(url, CURLUPART_SCHEME, &a->scheme, 0) != CURLUE_OK ||
		curl_url_get(url, CURLUPART_HOST, &a->host, 0) != CURLUE_OK ||
		curl_url_get(url, CURLUPART_PORT, &a->port, CURLU_DEFAULT_PORT) != CURLUE_OK ||
		curl_url_get(url, CURLUPART_PATH, &a->path, 0) != CURLUE_OK) {
		return fault_set(f, FAULT_INVALID, "server address '%s' is not a URL",
			text_or(base_url, ""));
	}
	if (!text_equals(a->scheme, "https") && !text_equals(a->scheme, "http")) {
		return fault_set(f, FAULT_INVALID, "server address '%s' is neither http nor https",
			base_url);
	}
	/* The text itself may hold a password: it is not repeated. */
	if (has_part(url, CURLUPART_USER) || has_part(url, CURLUPART_PASSWORD) ||
		has_part(url, CURLUPART_QUERY) || has_part(url, CURLUPART_FRAGMENT)) {
		return fault_set(f, FAULT_INVALID,
			"the server address has a user, a query or a fragment, which is not "
			"supported");
	}
	return 0;
}

static bool is_url_host(const char *s)
{
	return !text_empty(s) && strlen(s) <= 253 &&
	       strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-") ==
		       strlen(s);
}

/* A name to verify that is not the host: libcurl takes the name from the URL, so the URL gets that
 * name and the connection goes to the real host. */
static int address_set(struct http_target *t, const struct http_client_config *config,
	const struct address *a, struct fault *f)
{
	struct str url CLEANUP(str_finish) = STR_INIT(4096);
	const char *name = config->tls_server_name;
	size_t path_n = strlen(a->path);
	if (name != NULL && !is_url_host(name)) {
		return fault_set(
			f, FAULT_INVALID, "the TLS server name '%s' is not a host name", name);
	}
	while (path_n > 0 && a->path[path_n - 1] == '/') {
		path_n--;
	}
	str_append_format(&url, "%s://%s:%s%.*s", a->scheme, name != NULL ? name : a->host, a->port,
		(int)path_n, a->path);
	if (url.overflow) {
		return fault_set(f, FAULT_INVALID, "the server address is too long");
	}
	t->base_url = str_take(&url);
	if (name != NULL) {
		str_append_format(&url, "%s:%s:%s:%s", name, a->port, a->host, a->port);
		t->connect_to = str_take(&url);
	}
	return 0;
}

static int certificates_check(const struct http_client_config *config, struct fault *f)
{
	size_t count;
	if (config->ca_pem != NULL && tls_count(config->ca_pem, &count, f) != 0) {
		return fault_wrap(f, "authority of the server");
	}
	if (config->cert_pem == NULL) {
		return 0;
	}
	struct tls_identity *identity = tls_identity_create(config->cert_pem, config->key_pem, f);
	if (identity == NULL) {
		return fault_wrap(f, "client certificate");
	}
	tls_identity_destroy(identity);
	return 0;
}

static void trust_describe(struct http_target *t)
{
	struct str text CLEANUP(str_finish) = STR_INIT(256);
	char name[TLS_NAME_TEXT_MAX];
	if (t->ca_pem != NULL) {
		str_append_format(
			&text, "the configured authority '%s'", tls_subject(t->ca_pem, name));
	} else {
		str_append_text(&text, "the authorities of this system");
	}
	t->trust = str_take(&text);
}

static void target_join(struct http_target *t, struct http_client *c)
{
	t->client = c;
	http_lane_init(&t->lanes[LANE_CALLS], t, true);
	http_lane_init(&t->lanes[LANE_STREAMS], t, false);
	t->next = c->targets;
	c->targets = t;
}

static void texts_free(struct http_target *t)
{
	free(t->base_url);
	free(t->connect_to);
	free(t->ca_pem);
	free(t->cert_pem);
	free(t->key_pem);
	free(t->user_agent);
	free(t->unix_socket);
	free(t->trust);
}

struct http_target *http_target_create(
	struct http_client *c, const struct http_client_config *config, struct fault *ret_fault)
{
	struct address a CLEANUP(address_finish) = {0};
	if (base_url_parse(config->base_url, &a, ret_fault) != 0 ||
		certificates_check(config, ret_fault) != 0) {
		return NULL;
	}
	struct http_target *t = xcalloc(1, sizeof *t);
	if (address_set(t, config, &a, ret_fault) != 0) {
		texts_free(t);
		free(t);
		return NULL;
	}
	t->ca_pem = xstrdup(config->ca_pem);
	t->cert_pem = xstrdup(config->cert_pem);
	t->key_pem = xstrdup(config->cert_pem != NULL ? config->key_pem : NULL);
	t->user_agent = xstrdup(text_or(config->user_agent, "aliquot"));
	t->unix_socket = xstrdup(config->unix_socket);
	t->http2 = config->http2;
	t->insecure = config->insecure_skip_verify;
	t->connect_timeout_ms =
		config->connect_timeout_ms > 0 ? config->connect_timeout_ms : CONNECT_MS;
	t->connections = config->connections > 0 ? config->connections : HTTP_CALLS_MAX;
	trust_describe(t);
	target_join(t, c);
	return t;
}

struct http_target *http_target_renew(const struct http_target *old)
{
	struct http_target *t = xcalloc(1, sizeof *t);
	t->base_url = xstrdup(old->base_url);
	t->connect_to = xstrdup(old->connect_to);
	t->ca_pem = xstrdup(old->ca_pem);
	t->cert_pem = xstrdup(old->cert_pem);
	t->key_pem = xstrdup(old->key_pem);
	t->user_agent = xstrdup(old->user_agent);
	t->unix_socket = xstrdup(old->unix_socket);
	t->trust = xstrdup(old->trust);
	t->http2 = old->http2;
	t->insecure = old->insecure;
	t->connect_timeout_ms = old->connect_timeout_ms;
	t->connections = old->connections;
	target_join(t, old->client);
	return t;
}

void http_target_destroy(struct http_target *t)
{
	struct http_target **at = &t->client->targets;
	while (*at != t) {
		at = &(*at)->next;
	}
	*at = t->next;
	for (int i = 0; i < LANE_COUNT; i++) {
		http_lane_finish(&t->lanes[i]);
	}
	texts_free(t);
	free(t);
}

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
	LIST_REMOVE(&s->lane->sockets, s, prev, next);
	free(s);
}

static struct http_socket *socket_add(struct http_lane *lane, curl_socket_t fd)
{
	struct http_socket *s = xcalloc(1, sizeof *s);
	s->lane = lane;
	LIST_PUSH(&lane->sockets, s, prev, next);
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
	while (lane->sockets.first != NULL) {
		socket_remove(lane->sockets.first);
	}
	loop_timer_stop(&lane->timer);
}
