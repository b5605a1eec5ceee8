/* Listening, routes, the certificate and the graceful end. */
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "server_conn.h"
#include "server_pace.h"
#include "server_reply.h"
#include "server_room.h"
#include "tls_pem.h"

/* Each may bring a handshake with it: a turn of the loop must not be one of strangers alone. */
#define ACCEPTS_MAX	8
#define ACCEPT_PAUSE_MS 100
#define BACKLOG		512

static int alpn_choose(SSL *ssl, const unsigned char **out, unsigned char *out_n,
	const unsigned char *in, unsigned in_n, void *data)
{
	static const unsigned char ours[] = "\x08http/1.1";
	(void)ssl;
	(void)data;
	for (unsigned i = 0; i + 1 < in_n; i += 1u + in[i]) {
		if (in[i] == ours[0] && i + 1u + in[i] <= in_n &&
			memcmp(in + i, ours, sizeof ours - 1) == 0) {
			*out = in + i + 1;
			*out_n = in[i];
			return SSL_TLSEXT_ERR_OK;
		}
	}
	return SSL_TLSEXT_ERR_ALERT_FATAL;
}

static int clients_require(SSL_CTX *ctx, const char *pem, struct fault *ret_fault)
{
	CLEANUP(tls_chain_cleanup)
	STACK_OF(X509) *authorities = tls_chain_parse(pem, "the authorities of clients", ret_fault);
	if (authorities == NULL) {
		return -1;
	}
	tls_store_add(SSL_CTX_get_cert_store(ctx), authorities);
	SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
	return 0;
}

static SSL_CTX *context_create(
	const struct tls_identity *identity, const char *client_ca, struct fault *ret_fault)
{
	ERR_clear_error();
	SSL_CTX *ctx = SSL_CTX_new(TLS_server_method());
	ENSURE(ctx != NULL);
	SSL_CTX_set_min_proto_version(ctx, TLS1_2_VERSION);
	SSL_CTX_set_options(ctx, SSL_OP_NO_RENEGOTIATION | SSL_OP_IGNORE_UNEXPECTED_EOF |
					 SSL_OP_NO_TICKET | SSL_OP_NO_COMPRESSION);
	SSL_CTX_set_mode(ctx, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
				      SSL_MODE_RELEASE_BUFFERS);
	/* A record's head and its body in one call. */
	SSL_CTX_set_read_ahead(ctx, 1);
	/* Connections live long; keeping sessions would only cost memory. */
	SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
	SSL_CTX_set_num_tickets(ctx, 0);
	SSL_CTX_set_alpn_select_cb(ctx, alpn_choose, NULL);
	if (SSL_CTX_use_cert_and_key(ctx, identity->leaf, identity->key, identity->chain, 1) != 1 ||
		SSL_CTX_check_private_key(ctx) != 1) {
		tls_fault(ret_fault, FAULT_INVALID, "the server's certificate");
		SSL_CTX_free(ctx);
		return NULL;
	}
	if (client_ca != NULL && clients_require(ctx, client_ca, ret_fault) < 0) {
		SSL_CTX_free(ctx);
		return NULL;
	}
	return ctx;
}

/* "host:port", "[v6]:port" or ":port". */
static int address_split(const char *listen_at, char host[128], char port[8], struct fault *f)
{
	const char *colon = listen_at != NULL ? strrchr(listen_at, ':') : NULL;
	int64_t number;
	if (colon == NULL || !parse_i64(view_of(colon + 1), 0, 65535, &number)) {
		return fault_set(f, FAULT_INVALID, "listen address '%s' is not host:port",
			text_or(listen_at, ""));
	}
	size_t n = (size_t)(colon - listen_at);
	const char *from = listen_at;
	if (n >= 2 && from[0] == '[' && from[n - 1] == ']') {
		from++;
		n -= 2;
	}
	if (n >= 128) {
		return fault_set(f, FAULT_INVALID, "listen address '%s' is too long", listen_at);
	}
	snprintf(host, 128, "%.*s", (int)n, from);
	snprintf(port, 8, "%d", (int)number);
	return 0;
}

static int socket_listen(const struct addrinfo *a)
{
	int yes = 1, no = 0;
	int fd = socket(a->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0) {
		return -1;
	}
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
	if (a->ai_family == AF_INET6) {
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof no);
	}
	if (bind(fd, a->ai_addr, a->ai_addrlen) != 0 || listen(fd, BACKLOG) != 0) {
		int error = errno;
		close(fd);
		errno = error;
		return -1;
	}
	return fd;
}

/* Only numeric addresses: a daemon must not wait for a name server to listen. An empty host is
 * every address: IPv6 with IPv4 mapped into it, or IPv4 alone where the kernel knows no IPv6. */
static int server_listen(struct server *s, struct fault *ret_fault)
{
	char host[128], port[8];
	struct addrinfo hints = {.ai_flags = AI_PASSIVE | AI_NUMERICHOST | AI_NUMERICSERV,
		.ai_socktype = SOCK_STREAM};
	struct addrinfo *list = NULL;
	if (address_split(s->config.listen, host, port, ret_fault) != 0) {
		return -1;
	}
	int rc = getaddrinfo(host[0] != '\0' ? host : "::", port, &hints, &list);
	if (rc != 0) {
		return fault_set(ret_fault, FAULT_INVALID, "listen address '%s': %s",
			s->config.listen, gai_strerror(rc));
	}
	s->fd = socket_listen(list);
	freeaddrinfo(list);
	if (s->fd < 0 && host[0] == '\0' && getaddrinfo("0.0.0.0", port, &hints, &list) == 0) {
		s->fd = socket_listen(list);
		freeaddrinfo(list);
	}
	if (s->fd < 0) {
		return fault_set(ret_fault, FAULT_FATAL, "listen on '%s': %s", s->config.listen,
			strerror(errno));
	}
	return 0;
}

static int bound_port(int fd)
{
	struct sockaddr_storage address;
	socklen_t n = sizeof address;
	if (getsockname(fd, (struct sockaddr *)&address, &n) != 0) {
		return 0;
	}
	if (address.ss_family == AF_INET6) {
		return ntohs(((struct sockaddr_in6 *)&address)->sin6_port);
	}
	return ntohs(((struct sockaddr_in *)&address)->sin_port);
}

/* One connection too many: a plain client is told, a TLS client cannot be without a handshake. */
static void refuse_conn(struct server *s, int fd)
{
	static const char text[] =
		"HTTP/1.1 503 Service Unavailable\r\nContent-Type: text/plain\r\n"
		"Content-Length: 25\r\nConnection: close\r\n\r\n"
		"503 too many connections\n";
	log_warn("connection refused", LOG_S("server", s->config.name),
		LOG_I("connections", s->conn_count));
	metric_add(s->refused, 1);
	if (s->tls == NULL) {
		send(fd, text, sizeof text - 1, MSG_NOSIGNAL | MSG_DONTWAIT);
	}
	close(fd);
}

static bool accept_error_is_passing(int error)
{
	return error == EINTR || error == ECONNABORTED || error == EPROTO || error == ENETDOWN ||
	       error == EHOSTDOWN || error == ENONET || error == EHOSTUNREACH ||
	       error == EOPNOTSUPP || error == ENETUNREACH || error == EPERM;
}

/* Without descriptors or memory the listener would fire for ever: give the others time to end. */
static void accept_pause(struct server *s)
{
	log_warn("accepting paused", LOG_S("server", s->config.name),
		LOG_S("reason", strerror(errno)));
	ev_io_stop(loop_ev(s->loop), &s->acceptor);
	loop_timer_start_ms(&s->accept_again, ACCEPT_PAUSE_MS);
}

static void accept_resume(void *data)
{
	struct server *s = data;
	if (s->fd >= 0) {
		ev_io_start(loop_ev(s->loop), &s->acceptor);
	}
}

static void on_accept(struct ev_loop *ev, ev_io *w, int events)
{
	struct server *s = w->data;
	int yes = 1;
	(void)ev;
	(void)events;
	/* A handler may have begun the drain meanwhile. */
	for (int i = 0; i < ACCEPTS_MAX && s->fd >= 0; i++) {
		int fd = accept4(s->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
		if (fd < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
			return;
		}
		if (fd < 0 && accept_error_is_passing(errno)) {
			continue;
		}
		if (fd < 0) {
			accept_pause(s);
			return;
		}
		struct source *from = room_for_one(s, fd);
		if (from == NULL) {
			refuse_conn(s, fd);
			continue;
		}
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
		setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &yes, sizeof yes);
		conn_open(s, fd, from);
	}
}

static void default_ms(int64_t *ms, int64_t otherwise)
{
	if (*ms <= 0) {
		*ms = otherwise;
	}
}

static void default_share(int *share, int all, int otherwise)
{
	if (*share <= 0) {
		*share = otherwise > 4 ? otherwise : 4;
	}
	*share = *share < all ? *share : all;
}

static void config_fill(struct server_config *c)
{
	if (c->body_limit == 0 || c->body_limit > HTTP1_BODY_MAX) {
		c->body_limit = HTTP1_BODY_MAX;
	}
	c->reply_limit = c->reply_limit > 0 ? c->reply_limit : (size_t)16 * 1024 * 1024;
	c->held_limit = c->held_limit > 0 ? c->held_limit : (size_t)24 * 1024 * 1024;
	c->connections_max = c->connections_max > 0 ? c->connections_max : 768;
	default_share(&c->unproven_max, c->connections_max, c->connections_max / 3);
	default_share(&c->source_max, c->connections_max, c->connections_max / 4 * 3);
	default_ms(&c->handshake_ms, 5000);
	default_ms(&c->head_ms, 5000);
	default_ms(&c->body_ms, 10000);
	default_ms(&c->idle_ms, 120000);
	default_ms(&c->first_ms, time_min(15000, c->idle_ms));
	default_ms(&c->write_ms, 10000);
}

static void drain_expire(void *data);
static void on_drain_turn(void *data);

struct server *server_create(
	struct loop *l, const struct server_config *config, struct fault *ret_fault)
{
	struct server *s = xcalloc(1, sizeof *s);
	s->loop = l;
	s->config = *config;
	s->fd = -1;
	config_fill(&s->config);
	s->reply.body.limit = s->config.reply_limit;
	if (config->tls != NULL) {
		s->client_ca = xstrdup(config->client_ca);
		s->tls = context_create(config->tls, s->client_ca, ret_fault);
	}
	if ((config->tls != NULL && s->tls == NULL) || server_listen(s, ret_fault) != 0) {
		server_destroy(s);
		return NULL;
	}
	s->port = bound_port(s->fd);
	s->config.tls = NULL;
	s->config.client_ca = NULL;
	s->config.listen = NULL;
	s->scratch = xmalloc(SERVER_SCRATCH);
	s->latencies = xcalloc(SERVER_LATENCIES, sizeof *s->latencies);
	reply_metrics_init(s);
	loop_timer_init(&s->accept_again, l, accept_resume, s);
	loop_timer_init(&s->drain_deadline, l, drain_expire, s);
	room_init(s);
	pace_init(s, conn_run);
	ev_io_init(&s->acceptor, on_accept, s->fd, EV_READ);
	s->acceptor.data = s;
	ev_io_start(loop_ev(l), &s->acceptor);
	return s;
}

static void stop_accepting(struct server *s)
{
	if (s->fd < 0) {
		return;
	}
	ev_io_stop(loop_ev(s->loop), &s->acceptor);
	loop_timer_stop(&s->accept_again);
	close(s->fd);
	s->fd = -1;
}

static void close_all(struct server *s)
{
	while (s->conns.first != NULL) {
		conn_close(s->conns.first);
	}
}

void server_destroy(struct server *s)
{
	if (s == NULL) {
		return;
	}
	close_all(s);
	room_finish(s);
	pace_finish(s);
	stop_accepting(s);
	loop_timer_stop(&s->drain_deadline);
	loop_off_turn(s->loop, on_drain_turn, s);
	loop_defer_forget(s->loop, s);
	SSL_CTX_free(s->tls);
	VEC_FINISH(&s->routes);
	str_finish(&s->reply.body);
	free(s->client_ca);
	free(s->scratch);
	free(s->latencies);
	free(s);
}

int server_port(const struct server *s)
{
	return s->port;
}

int server_connections(const struct server *s)
{
	return s->conn_count;
}

void server_route(
	struct server *s, const char *method, const char *path, server_handler handler, void *data)
{
	VEC_PUSH(&s->routes, ((struct route){method, path, handler, data, false}));
}

void server_route_probe(
	struct server *s, const char *method, const char *path, server_handler handler, void *data)
{
	VEC_PUSH(&s->routes, ((struct route){method, path, handler, data, true}));
}

int server_set_tls(struct server *s, const struct tls_identity *identity, struct fault *ret_fault)
{
	if (s->tls == NULL) {
		return fault_set(ret_fault, FAULT_INVALID, "this server speaks plain HTTP");
	}
	SSL_CTX *ctx = context_create(identity, s->client_ca, ret_fault);
	if (ctx == NULL) {
		return -1;
	}
	SSL_CTX_free(s->tls); /* live connections hold their own reference */
	s->tls = ctx;
	return 0;
}

/* Looked at once a turn while draining: connections end in many places, and none of them should
 * have to know. */
static void on_drain_turn(void *data)
{
	struct server *s = data;
	if (s->conn_count > 0) {
		return;
	}
	loop_off_turn(s->loop, on_drain_turn, s);
	loop_timer_stop(&s->drain_deadline);
	loop_fn done = s->drained;
	s->drained = NULL;
	if (done != NULL) {
		done(s->drained_data);
	}
}

static void drain_expire(void *data)
{
	struct server *s = data;
	log_warn("drain took too long", LOG_S("server", s->config.name),
		LOG_I("connections", s->conn_count));
	close_all(s);
}

/* An idle connection is asked once more: what the client sent before it could know is still
 * answered. */
static void begin_drain(void *data)
{
	struct server *s = data;
	for (struct conn *c = s->conns.first, *next; c != NULL; c = next) {
		next = c->next;
		if (conn_is_idle(c)) {
			conn_run(c);
		}
	}
	for (struct conn *c = s->conns.first, *next; c != NULL; c = next) {
		next = c->next;
		if (conn_is_idle(c)) {
			conn_close(c);
		}
	}
}

void server_leave(struct server *s)
{
	s->leaving = true;
}

void server_drain(struct server *s, int64_t deadline_ms, loop_fn done, void *data)
{
	s->drained = done;
	s->drained_data = data;
	if (s->draining) {
		return;
	}
	s->draining = true;
	stop_accepting(s);
	loop_timer_start_ms(&s->drain_deadline, deadline_ms);
	loop_on_turn(s->loop, on_drain_turn, s);
	loop_defer(s->loop, begin_drain, s);
}

static int compare_u32(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	return (x > y) - (x < y);
}

int64_t server_latency(const struct server *s, int percentile)
{
	if (s->latency_count == 0) {
		return -1;
	}
	uint32_t *sorted CLEANUP(cleanup_free) =
		xmemdup(s->latencies, s->latency_count * sizeof *s->latencies);
	size_t rank = (s->latency_count * (size_t)percentile + 99) / 100;
	qsort(sorted, s->latency_count, sizeof *sorted, compare_u32);
	return sorted[rank > 0 ? rank - 1 : 0];
}

void server_latency_reset(struct server *s)
{
	s->latency_count = s->latency_next = 0;
}
