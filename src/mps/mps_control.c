/* The child ends, or its time does: whichever is first decides. Its end is told by a pidfd, since
 * an open pipe says nothing: what it left behind may hold it. */
#include "mps/mps_control.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "io/watch.h"
#include "mps/reply.h"

#define PIECE_BYTES   4096
#define KILL_GRACE_MS 1000
#define ENV_MAX	      1024

struct mps_call {
	struct loop *loop; /* borrowed */
	mps_call_fn fn;
	void *data;		   /* borrowed */
	struct loop_timer timer;   /* its deadline, then that of its death */
	struct watch *said, *ends; /* owned */
	pid_t pid;		   /* 0: none runs */
	int output, pidfd;	   /* owned; -1: none */
	int64_t timeout_ms;
	struct str reply;
	struct fault fault; /* of the start and of the deadline */
	bool killed;
	bool excess; /* it said more than we take */
};

static void mps_call_free(struct mps_call *c)
{
	loop_timer_stop(&c->timer);
	loop_defer_forget(c->loop, c);
	watch_destroy(c->said);
	watch_destroy(c->ends);
	cleanup_fd(&c->output);
	cleanup_fd(&c->pidfd);
	str_finish(&c->reply);
	free(c);
}

/* --- its end ---------------------------------------------------------------------------------- */

/* The callback is the last that the call does. */
static void call_complete(void *data)
{
	struct mps_call *c = data;
	mps_call_fn fn = c->fn;
	void *of = c->data;
	struct fault fault = c->fault;
	struct str reply = c->reply;

	c->reply = (struct str)STR_INIT(0);
	mps_call_free(c);
	fn(of, (struct view){str_text(&reply), reply.len},
		fault.kind != FAULT_NONE ? &fault : NULL);
	str_finish(&reply);
}

/* Takes what is there; false at the end of it. What is too much is read and dropped, so that the
 * child can end. */
static bool call_read(struct mps_call *c)
{
	char piece[PIECE_BYTES];

	for (;;) {
		ssize_t n = read(c->output, piece, sizeof piece);
		if (n > 0) {
			c->excess |= !str_append(&c->reply, piece, (size_t)n);
			if (c->excess) {
				return true; /* one piece a turn is enough for what nobody wants */
			}
		} else if (n == 0) {
			return false;
		} else if (errno != EINTR) {
			return errno == EAGAIN;
		}
	}
}

static void on_said(void *data, unsigned ready)
{
	struct mps_call *c = data;
	(void)ready;
	if (!call_read(c)) {
		watch_want(c->said, 0);
	}
}

static void status_judge(struct mps_call *c, int status)
{
	char quote[MPS_QUOTE_MAX + 1];
	struct view reply = {str_text(&c->reply), c->reply.len};

	if (c->fault.kind != FAULT_NONE) {
		return; /* its deadline was first */
	}
	if (WIFSIGNALED(status)) {
		(void)fault_set(&c->fault, FAULT_TRANSIENT,
			"the MPS control program was ended by signal %d", WTERMSIG(status));
	} else if (WEXITSTATUS(status) != 0) {
		(void)fault_set(&c->fault, FAULT_TRANSIENT,
			"the MPS control program ended with %d and said \"%s\"",
			WEXITSTATUS(status), mps_quote(reply, quote));
	} else if (c->excess) {
		(void)fault_set(&c->fault, FAULT_LIMIT,
			"the MPS control program said more than %d bytes", MPS_REPLY_BYTES_MAX);
	}
}

static void on_child_end(void *data, unsigned ready)
{
	struct mps_call *c = data;
	int status = 0;
	(void)ready;

	if (waitpid(c->pid, &status, WNOHANG) != c->pid) {
		return;
	}
	c->pid = 0;
	(void)call_read(c);
	status_judge(c, status);
	call_complete(c);
}

/* A child that does not even die, for it hangs in the driver, is left to itself. */
static void on_call_timeout(void *data)
{
	struct mps_call *c = data;

	if (c->killed) {
		call_complete(c);
		return;
	}
	(void)fault_set(&c->fault, FAULT_TRANSIENT, "the MPS daemon did not answer within %lld ms",
		(long long)c->timeout_ms);
	c->killed = true;
	(void)kill(c->pid, SIGKILL);
	loop_timer_start_ms(&c->timer, KILL_GRACE_MS);
}

void mps_call_cancel(struct mps_call *c)
{
	if (c == NULL) {
		return;
	}
	if (c->pid > 0) {
		struct pollfd end = {.fd = c->pidfd, .events = POLLIN};
		(void)kill(c->pid, SIGKILL);
		if (poll(&end, 1, KILL_GRACE_MS) > 0) {
			(void)waitpid(c->pid, NULL, WNOHANG);
		}
	}
	mps_call_free(c);
}

/* --- its beginning ---------------------------------------------------------------------------- */

struct spawning {
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attributes;
	char *env[ENV_MAX + 3]; /* the first two are ours */
	char *argv[16];
	char pipe_dir[4160], log_dir[4160];
	int input[2], output[2]; /* owned; -1: none */
};

static void spawning_finish(struct spawning *s)
{
	for (int i = 0; i < 2; i++) {
		cleanup_fd(&s->input[i]);
		cleanup_fd(&s->output[i]);
	}
	(void)posix_spawn_file_actions_destroy(&s->files);
	(void)posix_spawnattr_destroy(&s->attributes);
}

static void environment_make(struct spawning *s, const struct mps_command *command)
{
	extern char **environ;
	size_t n = 0;

	(void)snprintf(
		s->pipe_dir, sizeof s->pipe_dir, "CUDA_MPS_PIPE_DIRECTORY=%s", command->pipe_dir);
	s->env[n++] = s->pipe_dir;
	if (command->log_dir != NULL) {
		(void)snprintf(s->log_dir, sizeof s->log_dir, "CUDA_MPS_LOG_DIRECTORY=%s",
			command->log_dir);
		s->env[n++] = s->log_dir;
	}
	/* What the environment says of MPS and of visible devices is somebody else's idea. */
	for (char **pair = environ; *pair != NULL && n < COUNT_OF(s->env) - 1; pair++) {
		struct view v = view_of(*pair);
		if (!view_starts_with(v, "CUDA_MPS_") &&
			!view_starts_with(v, "CUDA_VISIBLE_DEVICES=")) {
			s->env[n++] = *pair;
		}
	}
	s->env[n] = NULL;
}

/* posix_spawn wants pointers to what it does not write to. */
static char *as_argument(const char *text)
{
	union {
		const char *given;
		char *taken;
	} both = {.given = text};
	return both.taken;
}

static void arguments_make(struct spawning *s, const struct mps_command *command)
{
	size_t n = 0;

	s->argv[n++] = as_argument(command->program);
	for (const char *const *arg = command->args; arg != NULL && *arg != NULL; arg++) {
		ENSURE(n < COUNT_OF(s->argv) - 1);
		s->argv[n++] = as_argument(*arg);
	}
	s->argv[n] = NULL;
}

/* The whole command fits into a pipe, so that nobody has to wait for who reads it. */
static bool input_open(struct spawning *s, const char *line)
{
	if (pipe2(s->input, O_CLOEXEC) != 0) {
		return false;
	}
	if (line != NULL) {
		char text[PIECE_BYTES];
		int n = snprintf(text, sizeof text, "%s\n", line);
		ENSURE(n > 0 && n < (int)sizeof text);
		if (write(s->input[1], text, (size_t)n) != n) {
			return false;
		}
	}
	cleanup_fd(&s->input[1]);
	return true;
}

static bool output_open(struct spawning *s, const char *path)
{
	if (path == NULL) {
		return pipe2(s->output, O_CLOEXEC) == 0 &&
		       fcntl(s->output[0], F_SETFL, O_NONBLOCK) == 0;
	}
	s->output[1] = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	s->output[0] = s->output[1] >= 0 ? open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW) : -1;
	return s->output[0] >= 0;
}

/* The child gets the usual signals, whatever we do with ours. */
static void signals_reset(struct spawning *s)
{
	sigset_t none, all;

	sigemptyset(&none);
	sigemptyset(&all);
	for (int signo = 1; signo < SIGRTMIN; signo++) {
		if (signo != SIGKILL && signo != SIGSTOP) {
			sigaddset(&all, signo);
		}
	}
	(void)posix_spawnattr_setsigmask(&s->attributes, &none);
	(void)posix_spawnattr_setsigdefault(&s->attributes, &all);
	(void)posix_spawnattr_setflags(
		&s->attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
}

static int call_spawn(struct mps_call *c, const struct mps_command *command)
{
	CLEANUP(spawning_finish)
	struct spawning s = {.input = {-1, -1}, .output = {-1, -1}};

	(void)posix_spawn_file_actions_init(&s.files);
	(void)posix_spawnattr_init(&s.attributes);
	environment_make(&s, command);
	arguments_make(&s, command);
	signals_reset(&s);
	if (!input_open(&s, command->line) || !output_open(&s, command->output_path)) {
		return fault_set(&c->fault, FAULT_FATAL, "open a pipe to %s: %s", command->program,
			strerror(errno));
	}
	(void)posix_spawn_file_actions_adddup2(&s.files, s.input[0], STDIN_FILENO);
	(void)posix_spawn_file_actions_adddup2(&s.files, s.output[1], STDOUT_FILENO);
	(void)posix_spawn_file_actions_adddup2(&s.files, s.output[1], STDERR_FILENO);
	int why = posix_spawnp(&c->pid, command->program, &s.files, &s.attributes, s.argv, s.env);
	if (why != 0) {
		c->pid = 0;
		return fault_set(&c->fault, why == ENOENT ? FAULT_NOT_FOUND : FAULT_FATAL,
			"start %s: %s", command->program, strerror(why));
	}
	c->output = s.output[0];
	s.output[0] = -1;
	return 0;
}

/* Without a pidfd nobody would be told of its end. */
static int call_watch(struct mps_call *c, bool pipe)
{
	c->pidfd = pidfd_open(c->pid, 0);
	if (c->pidfd < 0) {
		int why = errno;
		(void)kill(c->pid, SIGKILL);
		(void)waitpid(c->pid, NULL, 0);
		c->pid = 0;
		return fault_set(&c->fault, FAULT_FATAL, "open a pidfd: %s", strerror(why));
	}
	c->ends = watch_create(c->loop, c->pidfd, WATCH_READ, on_child_end, c);
	if (pipe) {
		c->said = watch_create(c->loop, c->output, WATCH_READ, on_said, c);
	}
	return 0;
}

struct mps_call *mps_call_start(
	struct loop *l, const struct mps_command *command, mps_call_fn fn, void *data)
{
	struct mps_call *c = xcalloc(1, sizeof *c);

	c->loop = l;
	c->fn = fn;
	c->data = data;
	c->output = c->pidfd = -1;
	c->timeout_ms = command->timeout_ms;
	c->reply = (struct str)STR_INIT(MPS_REPLY_BYTES_MAX);
	loop_timer_init(&c->timer, l, on_call_timeout, c);
	if (call_spawn(c, command) != 0 || call_watch(c, command->output_path == NULL) != 0) {
		loop_defer(l, call_complete, c);
	} else {
		loop_timer_start_ms(&c->timer, command->timeout_ms);
	}
	return c;
}
