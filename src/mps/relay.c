/* A visit reads one line, asks, writes the answer and ends. */
#include "mps/relay.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/log.h"
#include "base/vec.h"
#include "io/watch.h"
#include "mps/mps_control.h"
#include "mps/folder.h"
#include "mps/question.h"
#include "mps/reply.h"
#include "proc_file.h"

#define VISITS_MAX 16
#define BACKLOG	   16
#define LINE_MS	   2000 /* for the line, and again for the answer to be taken */
#define ANSWER_MAX (MPS_REPLY_BYTES_MAX + 64)

struct visit {
	struct mps_relay *relay; /* borrowed */
	int fd;			 /* owned */
	struct watch *watch;	 /* owned */
	struct loop_timer timer;
	struct mps_call *call; /* owned; NULL: none under way */
	struct str line, answer;
	size_t sent;
};

struct mps_relay {
	struct mps_relay_options o;
	struct mps_folder folder;
	int base, fd;		       /* owned: the directory and the socket; -1: none */
	struct watch *watch;	       /* owned */
	VEC_OF(struct visit *) visits; /* owned */
	struct str environment;
};

/* --- a visit's end ---------------------------------------------------------------------------- */

static void visitor_destroy(struct visit *v)
{
	mps_call_cancel(v->call);
	loop_timer_stop(&v->timer);
	watch_destroy(v->watch);
	(void)close(v->fd);
	str_finish(&v->line);
	str_finish(&v->answer);
	free(v);
}

static void visitor_end(void *data)
{
	struct visit *v = data;
	struct mps_relay *r = v->relay;
	for (size_t i = 0; i < r->visits.count; i++) {
		if (r->visits.items[i] == v) {
			VEC_REMOVE_SWAP(&r->visits, i);
			break;
		}
	}
	visitor_destroy(v);
}

/* Who does not take its answer in time does not get it. */
static void visit_send(struct visit *v)
{
	while (v->sent < v->answer.len) {
		ssize_t n = send(v->fd, v->answer.p + v->sent, v->answer.len - v->sent,
			MSG_NOSIGNAL | MSG_DONTWAIT);
		if (n > 0) {
			v->sent += (size_t)n;
		} else if (errno == EAGAIN) {
			watch_want(v->watch, WATCH_WRITE);
			return;
		} else if (errno != EINTR) {
			break;
		}
	}
	visitor_end(v);
}

static void visit_answer(struct visit *v, struct view reply, const struct fault *fault)
{
	(void)str_append_text(&v->answer, fault == NULL ? "ok\n" : "failed\n");
	(void)(fault == NULL ? str_append(&v->answer, reply.p, reply.n)
			     : str_append_text(&v->answer, fault->message));
	loop_timer_start_ms(&v->timer, LINE_MS);
	visit_send(v);
}

/* --- its question ----------------------------------------------------------------------------- */

static void relay_on_reply(void *data, struct view reply, const struct fault *fault)
{
	struct visit *v = data;
	v->call = NULL; /* it is gone when its callback returns */
	visit_answer(v, reply, fault);
}

static void ask_daemon(struct visit *v, const struct mps_question *q)
{
	const struct mps_relay *r = v->relay;
	CLEANUP(str_finish) struct str line = STR_INIT(MPS_RELAY_LINE_MAX);
	struct fault fault;
	/* A tenant that is root can give the directory away. */
	if (mps_folder_check(&r->folder, &fault) != 0) {
		visit_answer(v, VIEW(""), &fault);
		return;
	}
	mps_question_write(q, &line);
	loop_timer_stop(&v->timer); /* the call has a deadline of its own */
	watch_want(v->watch, 0);
	v->call = mps_call_start(r->o.loop,
		&(struct mps_command){.program = r->o.program,
			.pipe_dir = r->folder.pipe,
			.line = str_text(&line),
			.timeout_ms = r->o.timeout_ms},
		relay_on_reply, v);
}

static void append_limit(struct str *text, struct view environment, const char *name)
{
	struct view value = proc_variable(environment, name);
	char quote[MPS_QUOTE_MAX + 1];
	(void)str_append_format(text, " %s", value.n > 0 ? mps_quote(value, quote) : "-");
}

/* A process that cannot be read is left out: that is not the same as one without limits. */
static void tell_limits(struct visit *v, const struct mps_question *q)
{
	struct mps_relay *r = v->relay;
	CLEANUP(str_finish) struct str text = STR_INIT(MPS_REPLY_BYTES_MAX);
	for (uint32_t i = 0; i < q->count; i++) {
		int32_t pid = q->numbers[i];
		if (proc_text(r->o.proc_root, (pid_t)pid, "environ", &r->environment)) {
			struct view all = {r->environment.p, r->environment.len};
			(void)str_append_format(&text, "%d", pid);
			append_limit(&text, all, "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE");
			append_limit(&text, all, "CUDA_MPS_PINNED_DEVICE_MEM_LIMIT");
			(void)str_append_char(&text, '\n');
		}
	}
	visit_answer(v, (struct view){str_text(&text), text.len}, NULL);
}

static void visit_ask(struct visit *v, struct view line)
{
	struct mps_question q;
	struct fault fault;
	if (mps_question_parse(line, &q, &fault) != 0) {
		visit_answer(v, VIEW(""), &fault);
	} else if (q.kind == MPS_ASK_LIMITS) {
		tell_limits(v, &q);
	} else {
		ask_daemon(v, &q);
	}
}

static void on_visitor(void *data, unsigned ready)
{
	struct visit *v = data;
	char piece[MPS_RELAY_LINE_MAX];
	(void)ready;
	if (v->answer.len > 0) {
		visit_send(v);
		return;
	}
	ssize_t n = recv(v->fd, piece, sizeof piece, MSG_DONTWAIT);
	if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
		return;
	}
	if (n <= 0 || !str_append(&v->line, piece, (size_t)n)) {
		visitor_end(v);
		return;
	}
	const char *end = memchr(v->line.p, '\n', v->line.len);
	if (end != NULL) {
		visit_ask(v, (struct view){v->line.p, (size_t)(end - v->line.p)});
	}
}

static void relay_on_connection(void *data, unsigned ready)
{
	struct mps_relay *r = data;
	int fd = accept4(r->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	(void)ready;
	if (fd < 0) {
		return;
	}
	if (r->visits.count == VISITS_MAX) {
		(void)close(fd);
		return;
	}
	struct visit *v = xcalloc(1, sizeof *v);
	v->relay = r;
	v->fd = fd;
	v->line = (struct str)STR_INIT(MPS_RELAY_LINE_MAX);
	v->answer = (struct str)STR_INIT(ANSWER_MAX);
	v->watch = watch_create(r->o.loop, fd, WATCH_READ, on_visitor, v);
	loop_timer_init(&v->timer, r->o.loop, visitor_end, v);
	loop_timer_start_ms(&v->timer, LINE_MS);
	VEC_PUSH(&r->visits, v);
}

/* --- the socket ------------------------------------------------------------------------------- */

/* By the directory's descriptor: a socket's name is 107 bytes at most, and a root may be long. */
static int relay_socket_open(struct mps_relay *r, struct fault *ret_fault)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	r->base = open(r->folder.base, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	r->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	(void)snprintf(
		at.sun_path, sizeof at.sun_path, "/proc/self/fd/%d/" MPS_RELAY_NAME, r->base);
	if (r->base < 0 || r->fd < 0 ||
		(unlinkat(r->base, MPS_RELAY_NAME, 0) != 0 && errno != ENOENT) ||
		bind(r->fd, (const struct sockaddr *)&at, sizeof at) != 0 ||
		fchmodat(r->base, MPS_RELAY_NAME, 0660, 0) != 0 || listen(r->fd, BACKLOG) != 0) {
		return fault_set(ret_fault, FAULT_FATAL, "open %s/" MPS_RELAY_NAME ": %s",
			r->folder.base, strerror(errno));
	}
	/* Who is not root serves whoever has the same uid. */
	if (fchownat(r->base, MPS_RELAY_NAME, (uid_t)-1, MPS_RELAY_GROUP, AT_SYMLINK_NOFOLLOW) !=
		0) {
		log_warn("could not give the agents a way to the MPS daemon",
			LOG_S("path", r->folder.base), LOG_S("why", strerror(errno)));
	}
	return 0;
}

int mps_relay_create(const struct mps_relay_options *options, struct mps_relay **ret_relay,
	struct fault *ret_fault)
{
	struct mps_relay *r = xcalloc(1, sizeof *r);
	r->o = *options;
	r->base = r->fd = -1;
	r->environment = (struct str)STR_INIT(PROC_BYTES_MAX);
	if (mps_folder_name(&r->folder, options->root, options->uuid, ret_fault) != 0 ||
		relay_socket_open(r, ret_fault) != 0) {
		mps_relay_destroy(r);
		return -1;
	}
	r->watch = watch_create(r->o.loop, r->fd, WATCH_READ, relay_on_connection, r);
	*ret_relay = r;
	return 0;
}

void mps_relay_destroy(struct mps_relay *r)
{
	if (r == NULL) {
		return;
	}
	vec_for_each (struct visit *, v, &r->visits) {
		visitor_destroy(*v);
	}
	VEC_FINISH(&r->visits);
	watch_destroy(r->watch);
	if (r->watch != NULL) {
		(void)unlinkat(r->base, MPS_RELAY_NAME, 0);
	}
	cleanup_fd(&r->fd);
	cleanup_fd(&r->base);
	str_finish(&r->environment);
	free(r);
}
