/* A visit has two ends, and between them a buffer each way. */
#include "kubelet_relay.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/log.h"
#include "base/vec.h"
#include "io/local.h"
#include "io/watch.h"

#define VISIT_MS 30000
/* After the visitor has said its last: what hangs behind it must not stay. */
#define LINGER_MS   3000
#define BACKLOG	    RELAY_VISITS_MAX
#define BUFFER_SIZE ((size_t)16 * 1024)

/* What came in at one end and has not gone out at the other. */
struct end {
	struct visit *visit; /* borrowed */
	struct end *other;
	int fd;		     /* owned */
	struct watch *watch; /* owned */
	size_t from, to;     /* of the buffer */
	bool ended;	     /* nothing more comes in here */
	char buffer[BUFFER_SIZE];
};

struct visit {
	struct relay *relay; /* borrowed */
	struct end ends[2];
	struct loop_timer timer;
};

struct relay {
	struct relay_config c;
	char *listen, *to; /* owned */
	int fd;		   /* owned; -1: none */
	bool bound;
	bool away;		       /* the other side could not be reached, and that was said */
	struct watch *watch;	       /* owned */
	VEC_OF(struct visit *) visits; /* owned */
};

/* --- a visit ---------------------------------------------------------------------------------- */

static void connection_destroy(struct visit *v)
{
	loop_timer_stop(&v->timer);
	for (int i = 0; i < 2; i++) {
		watch_destroy(v->ends[i].watch);
		(void)close(v->ends[i].fd);
	}
	free(v);
}

static void connection_end(void *data)
{
	struct visit *v = data;
	struct relay *r = v->relay;
	for (size_t i = 0; i < r->visits.count; i++) {
		if (r->visits.items[i] == v) {
			VEC_REMOVE_SWAP(&r->visits, i);
			break;
		}
	}
	connection_destroy(v);
}

/* False: this end is broken. */
static bool end_receive(struct end *e)
{
	if (e->ended || e->to > e->from) {
		return true;
	}
	ssize_t n = recv(e->fd, e->buffer, sizeof e->buffer, MSG_DONTWAIT);
	if (n < 0) {
		return errno == EAGAIN || errno == EINTR;
	}
	e->from = 0;
	e->to = (size_t)n;
	e->ended = n == 0;
	if (e->ended) {
		(void)shutdown(e->other->fd, SHUT_WR);
		if (e == &e->visit->ends[0]) {
			loop_timer_start_ms(&e->visit->timer, LINGER_MS);
		}
	}
	return true;
}

static bool end_send(struct end *e)
{
	while (e->to > e->from) {
		ssize_t n = send(e->other->fd, e->buffer + e->from, e->to - e->from,
			MSG_NOSIGNAL | MSG_DONTWAIT);
		if (n < 0) {
			return errno == EAGAIN || errno == EINTR;
		}
		e->from += (size_t)n;
	}
	return true;
}

static void end_watch(struct end *e)
{
	bool room = !e->ended && e->to == e->from, due = e->other->to > e->other->from;
	watch_want(e->watch, (room ? WATCH_READ : 0) | (due ? WATCH_WRITE : 0));
}

static void on_end_ready(void *data, unsigned ready)
{
	struct end *e = data;
	struct visit *v = e->visit;
	bool well = true;
	(void)ready;
	for (int i = 0; i < 2 && well; i++) {
		well = end_receive(&v->ends[i]) && end_send(&v->ends[i]);
	}
	if (!well || (v->ends[0].ended && v->ends[1].ended)) {
		connection_end(v);
		return;
	}
	end_watch(&v->ends[0]);
	end_watch(&v->ends[1]);
}

static void visit_begin(struct relay *r, int fd, int other)
{
	struct visit *v = xcalloc(1, sizeof *v);
	int fds[] = {fd, other};
	v->relay = r;
	for (int i = 0; i < 2; i++) {
		struct end *e = &v->ends[i];
		e->visit = v;
		e->other = &v->ends[1 - i];
		e->fd = fds[i];
		e->watch = watch_create(r->c.loop, e->fd, WATCH_READ, on_end_ready, e);
	}
	loop_timer_init(&v->timer, r->c.loop, connection_end, v);
	loop_timer_start_ms(&v->timer, r->c.visit_ms > 0 ? r->c.visit_ms : VISIT_MS);
	VEC_PUSH(&r->visits, v);
}

/* --- the door --------------------------------------------------------------------------------- */

/* At once or not at all: a queue that is full is refused, as by a socket that does not block. */
static int relay_connect(struct relay *r, struct fault *ret_fault)
{
	struct local_address a;
	if (local_address_init(&a, r->to, ret_fault) < 0) {
		return -1;
	}
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0 || connect(fd, (const struct sockaddr *)&a.at, sizeof a.at) != 0) {
		(void)fault_set(
			ret_fault, FAULT_TRANSIENT, "connect to %s: %s", r->to, strerror(errno));
		cleanup_fd(&fd);
	}
	local_address_finish(&a);
	return fd;
}

static void on_connection(void *data, unsigned ready)
{
	struct relay *r = data;
	struct fault f;
	int fd = accept4(r->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	(void)ready;
	if (fd < 0) {
		return;
	}
	int other = r->visits.count < RELAY_VISITS_MAX ? relay_connect(r, &f) : -2;
	if (other >= 0) {
		visit_begin(r, fd, other);
	} else {
		(void)close(fd);
	}
	if (other == -1 && !r->away) {
		log_warn("cannot relay", LOG_F(&f));
	} else if (other >= 0 && r->away) {
		log_info("relaying again");
	}
	r->away = other == -1 || (r->away && other == -2);
}

static int door_open(struct relay *r, struct fault *ret_fault)
{
	struct local_address a;
	if (local_address_init(&a, r->listen, ret_fault) < 0) {
		return -1;
	}
	/* What a process before this one has left. */
	bool clear = unlink(a.at.sun_path) == 0 || errno == ENOENT;
	r->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	r->bound = clear && r->fd >= 0 &&
		   bind(r->fd, (const struct sockaddr *)&a.at, sizeof a.at) == 0;
	if (!r->bound || chmod(a.at.sun_path, 0660) != 0 || listen(r->fd, BACKLOG) != 0) {
		(void)fault_set(ret_fault, FAULT_FATAL, "open %s: %s", r->listen, strerror(errno));
		local_address_finish(&a);
		return -1;
	}
	local_address_finish(&a);
	return 0;
}

struct relay *relay_create(const struct relay_config *config, struct fault *ret_fault)
{
	struct relay *r = xcalloc(1, sizeof *r);
	r->c = *config;
	r->listen = xstrdup(config->listen);
	r->to = xstrdup(config->to);
	r->fd = -1;
	if (door_open(r, ret_fault) < 0) {
		relay_destroy(r);
		return NULL;
	}
	r->watch = watch_create(r->c.loop, r->fd, WATCH_READ, on_connection, r);
	return r;
}

void relay_destroy(struct relay *r)
{
	if (r == NULL) {
		return;
	}
	vec_for_each (struct visit *, v, &r->visits) {
		connection_destroy(*v);
	}
	VEC_FINISH(&r->visits);
	watch_destroy(r->watch);
	if (r->bound) {
		(void)unlink(r->listen);
	}
	cleanup_fd(&r->fd);
	free(r->listen);
	free(r->to);
	free(r);
}
