/* Files of /proc have no size to ask for: they are read to their end. */
#include "proc_file.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

bool proc_text(const char *root, pid_t pid, const char *file, struct str *text)
{
	char path[1024], piece[4096];
	ssize_t n;
	(void)snprintf(path, sizeof path, "%s/%d/%s", root, (int)pid, file);
	str_reset(text);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		return false;
	}
	do {
		n = read(fd, piece, sizeof piece);
	} while ((n > 0 && str_append(text, piece, (size_t)n)) || (n < 0 && errno == EINTR));
	(void)close(fd);
	return text->len > 0;
}

struct view proc_variable(struct view environment, const char *name)
{
	struct view rest = environment, pair;
	size_t n = strlen(name);
	while (rest.n > 0 && view_next(&rest, '\0', &pair)) {
		if (pair.n > n && memcmp(pair.p, name, n) == 0 && pair.p[n] == '=') {
			return (struct view){pair.p + n + 1, pair.n - n - 1};
		}
	}
	return VIEW("");
}
