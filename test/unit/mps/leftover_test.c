/* Which processes are MPS's and ours, told by name and by environment. */
#include "leftover.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "harness.h"

TestSuite(leftover, .init = folder_make, .fini = folder_drop, .timeout = 20);

/* A sleeper under a name and with a pipe directory, both as a program sees them in /proc. */
static pid_t sleeper(const char *name, const char *pipe_dir)
{
	char path[512], variable[512];
	(void)snprintf(path, sizeof path, "%s", in_folder(name));
	(void)snprintf(variable, sizeof variable, "CUDA_MPS_PIPE_DIRECTORY=%s", pipe_dir);
	(void)symlink("/bin/sleep", path);
	pid_t pid = fork();
	if (pid == 0) {
		char *const argv[] = {path, (char[]){"60"}, NULL};
		char *const env[] = {(char[]){"A=b"}, variable, NULL};
		(void)execve(path, argv, env);
		_exit(1);
	}
	return pid;
}

static void end(pid_t pid, int expected)
{
	int status = 0;
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_expect_eq(WTERMSIG(status), expected);
}

/* The name in /proc appears with exec. */
static void await(pid_t pid, const char *pipe_dir)
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

Test(leftover, is_told_by_name_and_directory)
{
	pid_t ours = sleeper("nvidia-cuda-mps-control", folder);
	pid_t server = sleeper("nvidia-cuda-mps-server", folder);
	pid_t elsewhere = sleeper("nvidia-cuda-mps-control", "/elsewhere");
	pid_t tenant = sleeper("python", folder);
	await(ours, folder);
	await(server, folder);
	await(elsewhere, "/elsewhere");
	cr_expect_eq(leftover_signal(folder, 0), 2);
	cr_expect_eq(leftover_open(tenant, folder), -1);
	cr_expect_eq(leftover_open(0, folder), -1);
	cr_expect_eq(leftover_signal(folder, SIGKILL), 2);
	end(ours, SIGKILL);
	end(server, SIGKILL);
	cr_expect_eq(leftover_signal(folder, 0), 0);
	cr_expect_eq(kill(elsewhere, SIGTERM), 0);
	cr_expect_eq(kill(tenant, SIGTERM), 0);
	end(elsewhere, SIGTERM);
	end(tenant, SIGTERM);
}
