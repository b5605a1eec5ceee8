/* A path as it is, or by its directory. */
#include "io/local.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/str.h"

static int by_directory(struct local_address *a, const char *path, struct fault *ret_fault)
{
	const char *name = strrchr(path, '/');
	char *directory CLEANUP(cleanup_free) = NULL;
	if (name == NULL || name == path) {
		return fault_set(
			ret_fault, FAULT_INVALID, "%.120s: a socket cannot have that path", path);
	}
	directory = xstrndup(path, (size_t)(name - path));
	int fd = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0) {
		return fault_set(
			ret_fault, FAULT_NOT_FOUND, "open %s: %s", directory, strerror(errno));
	}
	int n = snprintf(
		a->at.sun_path, sizeof a->at.sun_path, "/proc/self/fd/%d/%s", fd, name + 1);
	if (name[1] == '\0' || n >= (int)sizeof a->at.sun_path) {
		(void)close(fd);
		return fault_set(
			ret_fault, FAULT_INVALID, "%s: a socket cannot have that name", path);
	}
	a->directory = fd;
	return 0;
}

int local_address_init(struct local_address *a, const char *path, struct fault *ret_fault)
{
	*a = (struct local_address){.at.sun_family = AF_UNIX, .directory = -1};
	size_t n = strlen(path);
	if (n == 0) {
		return fault_set(ret_fault, FAULT_INVALID, "a socket without a path");
	}
	if (n >= sizeof a->at.sun_path) {
		return by_directory(a, path, ret_fault);
	}
	memcpy(a->at.sun_path, path, n + 1);
	return 0;
}

void local_address_finish(struct local_address *a)
{
	cleanup_fd(&a->directory);
}
