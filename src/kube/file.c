/* Reading a small file whole. */
#include "kube/file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/str.h"

static int read_all(int fd, const char *path, struct str *text, struct fault *ret_fault)
{
	for (;;) {
		char piece[4096];
		ssize_t n = read(fd, piece, sizeof piece);
		if (n < 0 && errno == EINTR) {
			continue;
		}
		if (n < 0) {
			return fault_set(
				ret_fault, FAULT_TRANSIENT, "read %s: %s", path, strerror(errno));
		}
		if (n == 0) {
			return 0;
		}
		if (!str_append(text, piece, (size_t)n)) {
			return fault_set(ret_fault, FAULT_LIMIT, "%s is larger than %zu bytes",
				path, text->limit);
		}
	}
}

int file_read(const char *path, size_t limit, char **ret_text, struct fault *ret_fault)
{
	CLEANUP(cleanup_fd) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0) {
		return fault_set(ret_fault, errno == ENOENT ? FAULT_NOT_FOUND : FAULT_DENIED,
			"open %s: %s", path, strerror(errno));
	}
	struct stat info;
	if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
		return fault_set(ret_fault, FAULT_INVALID, "%s is not a regular file", path);
	}
	CLEANUP(str_finish) struct str text = STR_INIT(limit);
	if (read_all(fd, path, &text, ret_fault) != 0) {
		return -1;
	}
	if (memchr(str_text(&text), '\0', text.len) != NULL) {
		return fault_set(ret_fault, FAULT_INVALID, "%s contains a NUL byte", path);
	}
	*ret_text = str_take(&text);
	return 0;
}
