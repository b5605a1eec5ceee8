/* Looks through /proc. The pidfd is opened before the look, so that the process which was looked at
 * is the one that gets the signal. */
#include "leftover.h"

#include <dirent.h>
#include <sys/pidfd.h>
#include <unistd.h>

#include "base/str.h"
#include "proc.h"

#define PROC "/proc"
#define NAME "nvidia-cuda-mps"

static bool is_of(pid_t pid, const char *pipe_dir, struct str *text)
{
	if (!proc_text(PROC, pid, "comm", text) ||
		!view_starts_with((struct view){text->p, text->len}, NAME) ||
		!proc_text(PROC, pid, "environ", text)) {
		return false;
	}
	struct view environment = {text->p, text->len};
	return view_equals(proc_variable(environment, "CUDA_MPS_PIPE_DIRECTORY"), pipe_dir);
}

int leftover_open(pid_t pid, const char *pipe_dir)
{
	CLEANUP(str_finish) struct str text = STR_INIT(PROC_BYTES_MAX);
	int fd = pid > 1 ? pidfd_open(pid, 0) : -1;
	if (fd >= 0 && !is_of(pid, pipe_dir, &text)) {
		(void)close(fd);
		fd = -1;
	}
	return fd;
}

int leftover_signal(const char *pipe_dir, int signo)
{
	DIR *processes = opendir(PROC);
	int count = 0;
	if (processes == NULL) {
		return 0;
	}
	for (struct dirent *e = readdir(processes); e != NULL; e = readdir(processes)) {
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
	(void)closedir(processes);
	return count;
}
