/* One TLS server that is many agents: as our own server, without what nobody asks of it here. */
#include "agents_played.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/str.h"
#include "own/state.h"

#define DEVICES	 8
#define PODS	 20
#define EVENTS	 64
#define MIB_EACH 4000

struct peer {
	int fd;
	SSL *ssl;
	int agent;
	char in[2048];
	size_t n;
};

struct stage {
	struct played *told;
	SSL_CTX *tls;
	int epoll, listener, agents;
	int64_t *sequences; /* owned */
};

static SSL_CTX *context(const struct tls_pair *leaf)
{
	SSL_CTX *tls = SSL_CTX_new(TLS_server_method());
	BIO *cert = BIO_new_mem_buf(leaf->cert_pem, -1), *key = BIO_new_mem_buf(leaf->key_pem, -1);
	X509 *x = PEM_read_bio_X509(cert, NULL, NULL, NULL);
	EVP_PKEY *k = PEM_read_bio_PrivateKey(key, NULL, NULL, NULL);

	ENSURE(SSL_CTX_use_certificate(tls, x) == 1 && SSL_CTX_use_PrivateKey(tls, k) == 1);
	SSL_CTX_set_options(tls, SSL_OP_NO_TICKET);
	SSL_CTX_set_num_tickets(tls, 0);
	SSL_CTX_set_session_cache_mode(tls, SSL_SESS_CACHE_OFF);
	SSL_CTX_set_mode(tls, SSL_MODE_RELEASE_BUFFERS);
	X509_free(x);
	EVP_PKEY_free(k);
	BIO_free(cert);
	BIO_free(key);
	return tls;
}

static void peer_close(struct stage *s, struct peer *p)
{
	atomic_fetch_sub(&s->told->connections, 1);
	SSL_free(p->ssl);
	close(p->fd);
	free(p);
}

/* A full node: as many devices and tenants as one has, and what each uses. */
static void state_tell(struct stage *s, int agent, struct str *body)
{
	static char uuids[DEVICES][48], uids[PODS][48], node[32];
	struct device_state devices[DEVICES] = {0};
	const char *pods[PODS];
	struct pod_use uses[PODS];

	played_node(agent, node);
	for (int i = 0; i < DEVICES; i++) {
		snprintf(uuids[i], sizeof uuids[i], "GPU-%08x-0000-0000-0000-%012x", agent, i);
		devices[i] = (struct device_state){
			.uuid = uuids[i], .total_mib = 81559, .used_mib = 3 * MIB_EACH};
	}
	for (int i = 0; i < PODS; i++) {
		snprintf(uids[i], sizeof uids[i], "%08x-0000-0000-0000-%012x", agent, i);
		pods[i] = uids[i];
		uses[i] = (struct pod_use){.uid = uids[i],
			.uuid = uuids[i % DEVICES],
			.mem_mib = MIB_EACH + i,
			.processes = 2};
	}
	struct node_state state = {.node = node,
		.boot = "6f0c6f0c-0000-0000-0000-000000000000",
		.sequence = ++s->sequences[agent],
		.seen_ms = -100,
		.devices = devices,
		.device_count = DEVICES,
		.pods = pods,
		.pod_count = PODS,
		.uses = uses,
		.use_count = PODS};
	ENSURE(state_write(body, &state, clock_wall(&clock_system)));
}

static void answer(struct stage *s, struct peer *p)
{
	struct str body CLEANUP(str_finish) = STR_INIT(STATE_BYTES_MAX);
	struct str all CLEANUP(str_finish) = STR_INIT(STATE_BYTES_MAX + 1024);

	state_tell(s, p->agent, &body);
	str_append_format(&all,
		"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %zu\r\n\r\n",
		body.len);
	str_append(&all, body.p, body.len);
	atomic_fetch_add(&s->told->questions, 1);
	ENSURE(SSL_write(p->ssl, all.p, (int)all.len) == (int)all.len);
}

/* False: it has gone. */
static bool peer_run(struct stage *s, struct peer *p)
{
	ERR_clear_error();
	if (!SSL_is_init_finished(p->ssl)) {
		int rc = SSL_do_handshake(p->ssl);
		if (rc != 1) {
			return SSL_get_error(p->ssl, rc) == SSL_ERROR_WANT_READ;
		}
		atomic_fetch_add(&s->told->handshakes, 1);
	}
	int n = SSL_read(p->ssl, p->in + p->n, (int)(sizeof p->in - 1 - p->n));
	if (n <= 0) {
		return SSL_get_error(p->ssl, n) == SSL_ERROR_WANT_READ;
	}
	p->n += (size_t)n;
	p->in[p->n] = '\0';
	if (strstr(p->in, "\r\n\r\n") != NULL) {
		p->n = 0;
		answer(s, p);
	}
	return p->n < sizeof p->in - 1;
}

static void peer_accept(struct stage *s)
{
	struct sockaddr_in at;
	socklen_t size = sizeof at;
	int yes = 1, fd = accept4(s->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

	if (fd < 0) {
		return;
	}
	ENSURE(getsockname(fd, (struct sockaddr *)&at, &size) == 0);
	uint32_t address = ntohl(at.sin_addr.s_addr);
	int agent = (int)(address >> 8 & 0xff) * 250 + (int)(address & 0xff) - 1;
	ENSURE(agent >= 0 && agent < s->agents);
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
	struct peer *p = xcalloc(1, sizeof *p);
	*p = (struct peer){.fd = fd, .ssl = SSL_new(s->tls), .agent = agent};
	SSL_set_fd(p->ssl, fd);
	SSL_set_accept_state(p->ssl);
	atomic_fetch_add(&s->told->connections, 1);
	struct epoll_event e = {.events = EPOLLIN, .data.ptr = p};
	ENSURE(epoll_ctl(s->epoll, EPOLL_CTL_ADD, fd, &e) == 0);
}

static void listen_everywhere(struct stage *s)
{
	struct sockaddr_in at = {.sin_family = AF_INET};
	socklen_t size = sizeof at;
	struct epoll_event e = {.events = EPOLLIN};

	s->epoll = epoll_create1(EPOLL_CLOEXEC);
	s->listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	ENSURE(bind(s->listener, (struct sockaddr *)&at, size) == 0);
	ENSURE(listen(s->listener, 1024) == 0);
	ENSURE(getsockname(s->listener, (struct sockaddr *)&at, &size) == 0);
	ENSURE(epoll_ctl(s->epoll, EPOLL_CTL_ADD, s->listener, &e) == 0);
	atomic_store(&s->told->port, ntohs(at.sin_port));
}

_Noreturn void played_serve(struct played *told, const struct tls_pair *leaf, int agents)
{
	struct stage s = {.told = told, .tls = context(leaf), .agents = agents};
	struct epoll_event events[EVENTS];

	s.sequences = xcalloc((size_t)agents, sizeof *s.sequences);
	listen_everywhere(&s);
	for (;;) {
		int n = epoll_wait(s.epoll, events, EVENTS, -1);
		for (int i = 0; i < n; i++) {
			struct peer *p = events[i].data.ptr;
			if (p == NULL) {
				peer_accept(&s);
			} else if (!peer_run(&s, p)) {
				peer_close(&s, p);
			}
		}
	}
}
