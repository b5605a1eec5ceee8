/* Connecting to a local socket and writing a line to it do not wait; only the answer does. */
#include "relay_client.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/alloc.h"
#include "io/watch.h"
#include "mps/relay.h"
#include "mps/reply.h"

#define ANSWER_MAX (MPS_REPLY_BYTES_MAX + 64)

struct mps_ask {
	struct loop *loop; /* borrowed */
	mps_call_fn fn;
	void *data; /* borrowed */
	struct loop_timer timer;
	struct watch *watch; /* owned */
	int fd;		     /* owned; -1: none */
	int64_t timeout_ms;
	struct str answer;
	struct fault fault;
};

static void ask_free(struct mps_ask *a)
{
	loop_timer_stop(&a->timer);
	loop_defer_forget(a->loop, a);
	watch_destroy(a->watch);
	cleanup_fd(&a->fd);
	str_finish(&a->answer);
	free(a);
}

void mps_ask_cancel(struct mps_ask *a)
{
	if (a != NULL) {
		ask_free(a);
	}
}

/* --- its end ---------------------------------------------------------------------------------- */

/* What follows the first line; the sentence of a failure is a stranger's in part. */
static struct view answer_judge(struct mps_ask *a)
{
	struct view rest = {str_text(&a->answer), a->answer.len}, word = VIEW("");
	char quote[MPS_QUOTE_MAX + 1];
	bool told = rest.n > 0 && view_next(&rest, '\n', &word);
	if (a->fault.kind != FAULT_NONE || (told && view_equals(word, "ok"))) {
		return rest;
	}
	if (told && view_equals(word, "failed")) {
		int n = rest.n < FAULT_MESSAGE_MAX - 1 ? (int)rest.n : FAULT_MESSAGE_MAX - 1;
		(void)fault_set(&a->fault, FAULT_TRANSIENT, "%.*s", n, rest.p);
	} else {
		(void)fault_set(&a->fault, FAULT_INVALID,
			"who keeps the MPS daemon was to say ok or failed, but said \"%s\"",
			mps_quote(word, quote));
	}
	return VIEW("");
}

/* The callback is the last that it does. */
static void ask_complete(void *data)
{
	struct mps_ask *a = data;
	mps_call_fn fn = a->fn;
	void *of = a->data;
	struct view rest = answer_judge(a);
	struct fault fault = a->fault;
	struct str answer = a->answer;

	a->answer = (struct str)STR_INIT(0);
	ask_free(a);
	fn(of, rest, fault.kind != FAULT_NONE ? &fault : NULL);
	str_finish(&answer);
}

static void on_relay_answer(void *data, unsigned ready)
{
	struct mps_ask *a = data;
	char piece[4096];
	ssize_t n = recv(a->fd, piece, sizeof piece, MSG_DONTWAIT);
	(void)ready;
	if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
		return;
	}
	if (n > 0 && str_append(&a->answer, piece, (size_t)n)) {
		return;
	}
	if (n > 0) {
		(void)fault_set(&a->fault, FAULT_LIMIT,
			"who keeps the MPS daemon said more than %d bytes", ANSWER_MAX);
	} else if (n < 0) {
		(void)fault_set(&a->fault, FAULT_TRANSIENT,
			"read from who keeps the MPS daemon: %s", strerror(errno));
	}
	ask_complete(a);
}

static void on_relay_timeout(void *data)
{
	struct mps_ask *a = data;
	(void)fault_set(&a->fault, FAULT_TRANSIENT,
		"who keeps the MPS daemon did not answer within %lld ms", (long long)a->timeout_ms);
	ask_complete(a);
}

/* --- its beginning ---------------------------------------------------------------------------- */

static int connect_fault(struct mps_ask *a, const char *folder, int why)
{
	enum fault_kind kind = why == ENOENT		       ? FAULT_NOT_FOUND
			       : why == EACCES || why == EPERM ? FAULT_DENIED
							       : FAULT_TRANSIENT;
	return fault_set(
		&a->fault, kind, "connect to %s/" MPS_RELAY_NAME ": %s", folder, strerror(why));
}

/* By the directory's descriptor: a socket's name is 107 bytes at most, and a root may be long. */
static int ask_connect(struct mps_ask *a, const char *folder)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	int base = open(folder, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (base < 0) {
		return connect_fault(a, folder, errno);
	}
	(void)snprintf(at.sun_path, sizeof at.sun_path, "/proc/self/fd/%d/" MPS_RELAY_NAME, base);
	a->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	int done = a->fd >= 0 ? connect(a->fd, (const struct sockaddr *)&at, sizeof at) : -1;
	int why = errno;
	(void)close(base);
	return done == 0 ? 0 : connect_fault(a, folder, why);
}

static int ask_send(struct mps_ask *a, const char *line)
{
	char text[MPS_RELAY_LINE_MAX];
	int n = snprintf(text, sizeof text, "%s\n", line);
	ENSURE(n > 0 && n < (int)sizeof text);
	if (send(a->fd, text, (size_t)n, MSG_NOSIGNAL | MSG_DONTWAIT) == n) {
		return 0;
	}
	return fault_set(&a->fault, FAULT_TRANSIENT, "write to who keeps the MPS daemon: %s",
		strerror(errno));
}

struct mps_ask *mps_ask_start(
	struct loop *l, const struct mps_asked *what, mps_call_fn fn, void *data)
{
	struct mps_ask *a = xcalloc(1, sizeof *a);
	a->loop = l;
	a->fn = fn;
	a->data = data;
	a->fd = -1;
	a->timeout_ms = what->timeout_ms;
	a->answer = (struct str)STR_INIT(ANSWER_MAX);
	loop_timer_init(&a->timer, l, on_relay_timeout, a);
	if (ask_connect(a, what->folder) != 0 || ask_send(a, what->line) != 0) {
		loop_defer(l, ask_complete, a);
	} else {
		a->watch = watch_create(l, a->fd, WATCH_READ, on_relay_answer, a);
		loop_timer_start_ms(&a->timer, what->timeout_ms);
	}
	return a;
}
