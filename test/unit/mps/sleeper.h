/* Processes that look like a daemon's. */
#ifndef TEST_MPS_SLEEPER_H
#define TEST_MPS_SLEEPER_H

#include <signal.h>
#include <sys/wait.h>

#include "harness.h"
#include "leftover.h"

/* A program with that pipe directory; `argument` may be NULL. */
static UNUSED pid_t start(char *path, char *argument, const char *pipe_dir)
{
	char variable[1024], plain[] = "A=b";
	(void)snprintf(variable, sizeof variable, "CUDA_MPS_PIPE_DIRECTORY=%s", pipe_dir);
	pid_t pid = fork();
	if (pid == 0) {
		char *const argv[] = {path, argument, NULL};
		char *const env[] = {plain, variable, NULL};
		int pipes[2];
		if (pipe(pipes) == 0) {
			(void)dup2(pipes[0], STDIN_FILENO);
		}
		(void)execve(path, argv, env);
		_exit(1);
	}
	return pid;
}

/* A sleeper under a name and with a pipe directory, both as a program sees them in /proc. */
static UNUSED pid_t sleeper(const char *name, const char *pipe_dir)
{
	char path[512], seconds[] = "60";
	(void)snprintf(path, sizeof path, "%s", in_folder(name));
	(void)symlink("/bin/sleep", path);
	return start(path, seconds, pipe_dir);
}

static UNUSED void end(pid_t pid, int expected)
{
	int status = 0;
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_expect_eq(WTERMSIG(status), expected);
}

/* The name in /proc appears with exec. */
static UNUSED void await(pid_t pid, const char *pipe_dir)
{
	for (int i = 0; i < 1000; i++) {
		int fd = leftover_open(pid, pipe_dir);
		if (fd >= 0) {
			(void)close(fd);
			return;
		}
		(void)usleep(5000);
	}
	cr_assert_fail("it is not seen");
}

#endif
