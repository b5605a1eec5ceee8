/* Looks through /proc. The pidfd is opened before the look, so that the process which was looked at
 * is the one that gets the signal. */
#include "leftover.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/pidfd.h>
#include <unistd.h>

#include "base/str.h"

#define NAME	  "nvidia-cuda-mps"
#define VARIABLE  "CUDA_MPS_PIPE_DIRECTORY="
#define ENV_BYTES 65536

static bool proc_read(pid_t pid, const char *file, struct str *text)
{
	char path[64];
	(void)snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, file);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		return false;
	}
	str_reset(text);
	for (;;) {
		char piece[4096];
		ssize_t n = read(fd, piece, sizeof piece);
		if (n <= 0 || !str_append(text, piece, (size_t)n)) {
			break;
		}
	}
	(void)close(fd);
	return text->len > 0;
}

static bool works_in(struct view environment, const char *pipe_dir)
{
	struct view pair;
	while (view_next(&environment, '\0', &pair)) {
		if (view_starts_with(pair, VARIABLE)) {
			size_t skip = sizeof VARIABLE - 1;
			return view_equals((struct view){pair.p + skip, pair.n - skip}, pipe_dir);
		}
	}
	return false;
}

static bool is_of(pid_t pid, const char *pipe_dir, struct str *text)
{
	return proc_read(pid, "comm", text) &&
	       view_starts_with((struct view){text->p, text->len}, NAME) &&
	       proc_read(pid, "environ", text) &&
	       works_in((struct view){text->p, text->len}, pipe_dir);
}

int leftover_open(pid_t pid, const char *pipe_dir)
{
	CLEANUP(str_finish) struct str text = STR_INIT(ENV_BYTES);
	int fd = pid > 1 ? pidfd_open(pid, 0) : -1;
	if (fd >= 0 && !is_of(pid, pipe_dir, &text)) {
		(void)close(fd);
		fd = -1;
	}
	return fd;
}

int leftover_signal(const char *pipe_dir, int signo)
{
	DIR *processes = opendir("/proc");
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
