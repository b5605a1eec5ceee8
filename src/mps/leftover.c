/* Looks through /proc. The pidfd is opened before the look, so that the process which was looked at
 * is the one that gets the signal. */
#include "leftover.h"

#include <dirent.h>
#include <errno.h>
#include <sys/pidfd.h>
#include <unistd.h>

#include "base/str.h"
#include "proc_file.h"

#define PROC   "/proc"
#define NAME   "nvidia-cuda-mps"
#define SERVER "mps-server"

static bool is_daemon_of_folder(pid_t pid, const char *pipe_dir, struct str *text)
{
	if (!proc_text(PROC, pid, "comm", text) ||
		!view_starts_with((struct view){text->p, text->len}, NAME) ||
		!proc_text(PROC, pid, "cmdline", text)) {
		return false;
	}
	/* A daemon was given `-d`, its servers have a name of their own. A control program that was
	 * given nothing asks a question, and is gone in a moment. */
	struct view rest = {text->p, text->len}, program;
	if (view_next(&rest, '\0', &program) && rest.n == 0 &&
		memmem(program.p, program.n, SERVER, sizeof SERVER - 1) == NULL) {
		return false;
	}
	if (!proc_text(PROC, pid, "environ", text)) {
		return false;
	}
	struct view environment = {text->p, text->len};
	return view_equals(proc_variable(environment, "CUDA_MPS_PIPE_DIRECTORY"), pipe_dir);
}

int leftover_open(pid_t pid, const char *pipe_dir)
{
	CLEANUP(str_finish) struct str text = STR_INIT(PROC_BYTES_MAX);
	int fd = pid > 1 ? pidfd_open(pid, 0) : -1;
	if (fd >= 0 && !is_daemon_of_folder(pid, pipe_dir, &text)) {
		cleanup_fd(&fd);
	}
	return fd;
}

int leftover_signal(const char *pipe_dir, int signo)
{
	DIR *processes = opendir(PROC);
	const struct dirent *e;
	int count = 0;
	if (processes == NULL) {
		return -1;
	}
	/* A list that breaks off must not pass for a whole one. */
	for (errno = 0; (e = readdir(processes)) != NULL; errno = 0) {
		int64_t pid;
		if (!parse_i64(view_of(e->d_name), 2, INT32_MAX, &pid)) {
			continue;
		}
		int fd = leftover_open((pid_t)pid, pipe_dir);
		if (fd >= 0) {
			count++;
			(void)pidfd_send_signal(fd, signo, NULL, 0);
			(void)close(fd);
		}
	}
	bool whole = errno == 0;
	(void)closedir(processes);
	return whole ? count : -1;
}
