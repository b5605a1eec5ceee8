/* Read a piece at a time: a log that grows faster than that is noise, and is skipped. */
#include "daemon_log.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/str.h"
#include "mps/reply.h"

#define PIECE_BYTES 65536
#define LARGE_BYTES (16 * 1024 * 1024)
#define NEVER	    (-1)

static int log_open(const char *folder, const char *name, int flags, int64_t *ret_size)
{
	char path[1024];
	struct stat at;
	(void)snprintf(path, sizeof path, "%s/%s", folder, name);
	int fd = open(path, flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd >= 0 && (fstat(fd, &at) != 0 || !S_ISREG(at.st_mode))) {
		cleanup_fd(&fd);
	}
	*ret_size = fd >= 0 ? (int64_t)at.st_size : 0;
	return fd;
}

void daemon_log_begin(struct daemon_log *log, const char *folder)
{
	*log = (struct daemon_log){.at = 0};
	for (int i = 0; i < DAEMON_LOG_FAILURES; i++) {
		log->failed_ms[i] = NEVER;
	}
	CLEANUP(cleanup_fd) int fd = log_open(folder, "control.log", O_RDONLY, &log->at);
}

/* Whole lines only; the rest is read again. */
static void lines_read(struct daemon_log *log, struct view text, int64_t now_ms)
{
	for (;;) {
		const char *end = text.n > 0 ? memchr(text.p, '\n', text.n) : NULL;
		if (end == NULL) {
			return;
		}
		size_t n = (size_t)(end - text.p);
		if (mps_log_tells_failure((struct view){text.p, n})) {
			log->failed_ms[log->failures++ % DAEMON_LOG_FAILURES] = now_ms;
		}
		log->at += (int64_t)n + 1;
		text = (struct view){end + 1, text.n - n - 1};
	}
}

int daemon_log_poll(struct daemon_log *log, const char *folder, int64_t now_ms)
{
	char piece[PIECE_BYTES];
	int64_t size = 0;
	int count = 0;
	CLEANUP(cleanup_fd) int fd = log_open(folder, "control.log", O_RDONLY, &size);
	if (fd >= 0) {
		if (size < log->at) {
			log->at = 0; /* begun anew */
		} else if (size - log->at > PIECE_BYTES) {
			log->at = size - PIECE_BYTES;
		}
		ssize_t n = pread(fd, piece, sizeof piece, (off_t)log->at);
		lines_read(log, (struct view){piece, n > 0 ? (size_t)n : 0}, now_ms);
	}
	daemon_log_trim(folder);
	for (int i = 0; i < DAEMON_LOG_FAILURES; i++) {
		count += log->failed_ms[i] != NEVER &&
			 now_ms - log->failed_ms[i] < DAEMON_LOG_MINUTE_MS;
	}
	return count;
}

void daemon_log_trim(const char *folder)
{
	static const char *const names[] = {"control.log", "server.log"};
	for (size_t i = 0; i < COUNT_OF(names); i++) {
		int64_t size;
		CLEANUP(cleanup_fd) int fd = log_open(folder, names[i], O_WRONLY, &size);
		if (size > LARGE_BYTES) {
			(void)!ftruncate(fd, 0);
		}
	}
}
