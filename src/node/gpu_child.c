/* Between fork and exec only what a signal handler may call is called. */
#include "gpu_child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define EXIT_NO_PROGRAM 127
#define NAME_MAX_BYTES	4096

static void signals_default(void)
{
	struct sigaction plain = {.sa_handler = SIG_DFL};
	sigset_t none;
	for (int signo = 1; signo < NSIG; signo++) {
		(void)sigaction(signo, &plain, NULL);
	}
	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
}

NORETURN static void become(int fd, pid_t parent, const char *program, char *const *argv)
{
	/* A driver that crashes leaves no core: it would be the agent's whole memory limit. */
	struct rlimit no_core = {0};
	signals_default();
	(void)setrlimit(RLIMIT_CORE, &no_core);
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* What the driver's library prints must not get among our answers. */
	if (getppid() == parent && dup2(fd, STDIN_FILENO) == STDIN_FILENO &&
		dup2(STDERR_FILENO, STDOUT_FILENO) == STDOUT_FILENO &&
		close_range(STDERR_FILENO + 1, ~0u, 0) == 0) {
		(void)execv(program, argv);
	}
	_exit(EXIT_NO_PROGRAM);
}

int gpu_child_start(
	struct gpu_child *child, const char *program, const char *library, struct fault *ret_fault)
{
	char option[NAME_MAX_BYTES];
	char name[] = "aliquot", command[] = "agent-probe";
	char *const argv[] = {name, command, option, NULL};
	int ends[2];
	if (snprintf(option, sizeof option, "--nvml-library=%s", library) >= (int)sizeof option) {
		return fault_set(
			ret_fault, FAULT_INVALID, "the name of NVML's library is too long");
	}
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
		return fault_set(ret_fault, FAULT_TRANSIENT,
			"cannot make a socket to the process that asks the driver: %s",
			strerror(errno));
	}
	pid_t parent = getpid(), pid = fork();
	if (pid == 0) {
		become(ends[1], parent, program, argv);
	}
	int why = errno;
	(void)close(ends[1]);
	if (pid < 0) {
		(void)close(ends[0]);
		return fault_set(ret_fault, FAULT_TRANSIENT,
			"cannot start the process that asks the driver: %s", strerror(why));
	}
	(void)fcntl(ends[0], F_SETFL, O_NONBLOCK);
	*child = (struct gpu_child){.pid = pid, .fd = ends[0]};
	return 0;
}

void gpu_child_kill(struct gpu_child *child)
{
	cleanup_fd(&child->fd);
	if (child->pid > 0) {
		(void)kill(child->pid, SIGKILL);
	}
}

bool gpu_child_reap(struct gpu_child *child, int *ret_status)
{
	int status = 0;
	pid_t got = waitpid(child->pid, &status, WNOHANG);
	if (got == 0 || (got < 0 && errno == EINTR)) {
		return false;
	}
	child->pid = 0;
	*ret_status = status;
	return true;
}

void gpu_child_explain(int status, char *ret_text, size_t size)
{
	if (WIFSIGNALED(status)) {
		(void)snprintf(ret_text, size, "was ended by signal %d (%s)", WTERMSIG(status),
			strsignal(WTERMSIG(status)));
	} else if (WEXITSTATUS(status) == EXIT_NO_PROGRAM) {
		(void)snprintf(ret_text, size, "could not be started");
	} else {
		(void)snprintf(
			ret_text, size, "ended by itself with status %d", WEXITSTATUS(status));
	}
}
