/* Directories are opened, then looked at and changed by descriptor: what a name means may change
 * between two looks. */
#include "mps/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/str.h"

#define LEFT_MAX    4096 /* files that a tenant may have put into pipe/ */
#define PID_LARGEST 4194304
#define SHM_LOCK    "shm.lock"
#define PID_FILE    "nvidia-cuda-mps-control.pid"

static int path_fault(struct fault *ret_fault, const char *verb, const char *path)
{
	int why = errno;
	enum fault_kind kind = why == EACCES || why == EPERM ? FAULT_DENIED : FAULT_FATAL;
	return fault_set(ret_fault, kind, "%s %s: %s", verb, path, strerror(why));
}

static bool is_uuid(const char *uuid)
{
	struct view rest = view_of(uuid);
	bool good = view_starts_with(rest, "GPU-") && rest.n < 96;
	for (size_t i = 0; good && i < rest.n; i++) {
		char c = rest.p[i];
		good = c == '-' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
		       (c >= 'A' && c <= 'Z');
	}
	return good;
}

int mps_folder_name(
	struct mps_folder *f, const char *root, const char *uuid, struct fault *ret_fault)
{
	if (!is_uuid(uuid)) {
		return fault_set(ret_fault, FAULT_INVALID,
			"\"%.40s\" is not the UUID of a whole GPU, GPU- and letters, digits and "
			"'-'",
			text_or(uuid, ""));
	}
	if (root[0] != '/' || strlen(root) >= MPS_ROOT_MAX) {
		return fault_set(ret_fault, FAULT_LIMIT,
			"the MPS root \"%.40s\" is not an absolute path of less than %d bytes",
			root, MPS_ROOT_MAX);
	}
	(void)snprintf(f->root, sizeof f->root, "%s", root);
	(void)snprintf(f->base, sizeof f->base, "%s/%s", root, uuid);
	(void)snprintf(f->pipe, sizeof f->pipe, "%s/%s/pipe", root, uuid);
	(void)snprintf(f->log, sizeof f->log, "%s/%s/log", root, uuid);
	(void)snprintf(f->ready, sizeof f->ready, "%s/%s/ready", root, uuid);
	(void)snprintf(f->lock, sizeof f->lock, "%s/%s/lock", root, uuid);
	return 0;
}

/* --- directories ------------------------------------------------------------------------------ */

static int directory_open(const char *path, int *fd, struct stat *at, struct fault *ret_fault)
{
	*fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (*fd < 0 || fstat(*fd, at) != 0) {
		return path_fault(ret_fault, "open the directory", path);
	}
	if (at->st_uid != geteuid()) {
		return fault_set(ret_fault, FAULT_DENIED,
			"%s belongs to uid %u, not to us: somebody else made it; remove it", path,
			(unsigned)at->st_uid);
	}
	return 0;
}

/* A tenant that is root can give pipe/ away, and it is on the node for longer than the tenant. What
 * is above it is ours alone, so that it can be taken back. */
static int directory_take_back(const char *path, struct fault *ret_fault)
{
	CLEANUP(cleanup_fd) int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat at;
	if (fd < 0 && errno == ENOENT) {
		return 0;
	}
	if (fd < 0 || fstat(fd, &at) != 0 ||
		(at.st_uid != geteuid() && fchown(fd, geteuid(), getegid()) != 0)) {
		return path_fault(ret_fault, "take back the directory", path);
	}
	return 0;
}

/* The kubelet makes what it mounts a part of with a mode of its own, if it comes first. */
static int directory_make(const char *path, struct fault *ret_fault)
{
	CLEANUP(cleanup_fd) int fd = -1;
	struct stat at;
	if (mkdir(path, 0755) != 0 && errno != EEXIST) {
		return path_fault(ret_fault, "make the directory", path);
	}
	if (directory_open(path, &fd, &at, ret_fault) != 0) {
		return -1;
	}
	if ((at.st_mode & 07777) != 0755 && fchmod(fd, 0755) != 0) {
		return path_fault(ret_fault, "set the mode of", path);
	}
	return 0;
}

/* Above the root nothing is ours to change. */
static void warn_of_closed_parents(const char *root)
{
	char path[MPS_ROOT_MAX];
	(void)snprintf(path, sizeof path, "%s", root);
	for (char *slash = strrchr(path, '/'); slash != NULL && slash > path;
		slash = strrchr(path, '/')) {
		struct stat at;
		*slash = '\0';
		if (stat(path, &at) == 0 && (at.st_mode & 01) == 0) {
			log_warn("found a directory that other users cannot traverse",
				LOG_S("path", path));
		}
	}
}

int mps_folder_lock(const struct mps_folder *f, int *ret_fd, struct fault *ret_fault)
{
	if (directory_make(f->root, ret_fault) != 0 || directory_make(f->base, ret_fault) != 0) {
		return -1;
	}
	CLEANUP(cleanup_fd) int fd = open(f->lock, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0) {
		return path_fault(ret_fault, "open", f->lock);
	}
	if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
		return errno != EWOULDBLOCK ? path_fault(ret_fault, "lock", f->lock)
					    : fault_set(ret_fault, FAULT_CONFLICT,
						      "another process keeps the MPS daemon in %s: "
						      "a GPU has one",
						      f->base);
	}
	*ret_fd = fd;
	fd = -1;
	return 0;
}

int mps_folder_prepare(const struct mps_folder *f, struct fault *ret_fault)
{
	warn_of_closed_parents(f->root);
	if (directory_make(f->root, ret_fault) != 0 || directory_make(f->base, ret_fault) != 0 ||
		directory_take_back(f->pipe, ret_fault) != 0 ||
		directory_make(f->pipe, ret_fault) != 0) {
		return -1;
	}
	return directory_make(f->log, ret_fault);
}

int mps_folder_check(const struct mps_folder *f, struct fault *ret_fault)
{
	CLEANUP(cleanup_fd) int fd = -1;
	struct stat at;
	if (directory_open(f->pipe, &fd, &at, ret_fault) != 0) {
		return -1;
	}
	return (at.st_mode & 022) == 0 ? 0
				       : fault_set(ret_fault, FAULT_DENIED,
						 "%s can be written to by others (mode %o)",
						 f->pipe, (unsigned)at.st_mode & 07777);
}

static void cleanup_listing(DIR **listing)
{
	if (*listing != NULL) {
		(void)closedir(*listing);
	}
}

/* What is being emptied. A tenant may have made directories in directories: they are brought to the
 * top one by one, so that no depth is too deep and nothing is followed. */
struct sweep {
	int top; /* borrowed */
	int left, moved;
};

static int folder_empty(struct sweep *s, int folder);

/* A name that is taken already is somebody's idea. */
static int directory_raise(struct sweep *s, int folder, const char *name)
{
	char top[32];
	int tries = 0, result;
	do {
		(void)snprintf(top, sizeof top, ".swept-%d", s->moved++);
		result = renameat(folder, name, s->top, top);
	} while (result != 0 && (errno == ENOTEMPTY || errno == EEXIST || errno == ENOTDIR) &&
		 ++tries < LEFT_MAX);
	return result;
}

/* A directory that is not empty gives its own directories to the top, and goes. */
static int directory_remove(struct sweep *s, int folder, const char *name)
{
	if (unlinkat(folder, name, AT_REMOVEDIR) == 0) {
		return 0;
	}
	if (errno != ENOTEMPTY && errno != EEXIST) {
		return -1;
	}
	if (folder != s->top) {
		return directory_raise(s, folder, name);
	}
	CLEANUP(cleanup_fd)
	int fd = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return fd >= 0 && folder_empty(s, fd) == 0 ? unlinkat(folder, name, AT_REMOVEDIR) : -1;
}

static int entry_remove(struct sweep *s, int folder, const char *name)
{
	if (++s->left > LEFT_MAX) {
		errno = EMFILE;
		return -1;
	}
	if (unlinkat(folder, name, 0) == 0 || errno == ENOENT) {
		return 0;
	}
	return errno == EISDIR ? directory_remove(s, folder, name) : -1;
}

/* What comes to the top meanwhile may be missed by a listing under way. */
static int folder_empty(struct sweep *s, int folder)
{
	int before = s->moved, again = dup(folder);
	CLEANUP(cleanup_listing) DIR *listing = again >= 0 ? fdopendir(again) : NULL;
	const struct dirent *e;
	if (listing == NULL) {
		return -1;
	}
	rewinddir(listing); /* a copy of a descriptor shares its place */
	for (errno = 0; (e = readdir(listing)) != NULL; errno = 0) {
		bool self = text_equals(e->d_name, ".") || text_equals(e->d_name, "..");
		if (!self && entry_remove(s, folder, e->d_name) != 0) {
			return -1;
		}
	}
	if (errno != 0) {
		return -1;
	}
	return folder != s->top || s->moved == before ? 0 : 1;
}

static int folder_sweep(int folder, const char *path, struct fault *ret_fault)
{
	struct sweep s = {.top = folder};
	int result;
	do {
		result = folder_empty(&s, folder);
	} while (result > 0);
	if (result == 0) {
		return 0;
	}
	return s.left > LEFT_MAX
		       ? fault_set(ret_fault, FAULT_LIMIT,
				 "%s holds more than %d files: somebody fills it", path, LEFT_MAX)
		       : path_fault(ret_fault, "empty", path);
}

int mps_folder_clear(const struct mps_folder *f, struct fault *ret_fault)
{
	CLEANUP(cleanup_fd) int fd = -1;
	struct stat at;
	if (directory_open(f->pipe, &fd, &at, ret_fault) != 0) {
		return -1;
	}
	return folder_sweep(fd, f->pipe, ret_fault);
}

/* --- shared memory ---------------------------------------------------------------------------- */

int mps_folder_share_shm(const struct mps_folder *f, int *ret_lock, struct fault *ret_fault)
{
	char path[MPS_PATH_MAX];
	(void)snprintf(path, sizeof path, "%s/" SHM_LOCK, f->root);
	CLEANUP(cleanup_fd) int fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0 || flock(fd, LOCK_SH | LOCK_NB) != 0) {
		return path_fault(ret_fault, "share", path);
	}
	*ret_lock = fd;
	fd = -1;
	return 0;
}

int mps_folder_empty_shm(int lock, const char *shm, struct fault *ret_fault)
{
	CLEANUP(cleanup_fd) int fd = -1;
	if (flock(lock, LOCK_EX | LOCK_NB) != 0) {
		return errno == EWOULDBLOCK ? 0 : path_fault(ret_fault, "lock", SHM_LOCK);
	}
	fd = open(shm, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return fd < 0 ? path_fault(ret_fault, "open the directory", shm)
		      : folder_sweep(fd, shm, ret_fault);
}

/* --- files ------------------------------------------------------------------------------------ */

pid_t mps_folder_pid(const struct mps_folder *f)
{
	char path[MPS_PATH_MAX + 64], text[32];
	struct stat at;
	int64_t pid;
	(void)snprintf(path, sizeof path, "%s/" PID_FILE, f->pipe);
	/* A pipe in its place must not make us wait. */
	CLEANUP(cleanup_fd) int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &at) != 0 || !S_ISREG(at.st_mode)) {
		return 0;
	}
	ssize_t n = read(fd, text, sizeof text);
	struct view told = view_trim((struct view){text, n > 0 ? (size_t)n : 0});
	return parse_i64(told, 2, PID_LARGEST, &pid) ? (pid_t)pid : 0;
}

int mps_folder_set_ready(const struct mps_folder *f, struct fault *ret_fault)
{
	CLEANUP(cleanup_fd)
	int fd = open(f->ready, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0644);
	if (fd < 0 || futimens(fd, NULL) != 0) {
		return path_fault(ret_fault, "write", f->ready);
	}
	return 0;
}

void mps_folder_clear_ready(const struct mps_folder *f)
{
	(void)unlink(f->ready);
}

bool mps_folder_is_ready(const struct mps_folder *f, int64_t wall_ms)
{
	struct stat at;
	if (lstat(f->ready, &at) != 0 || !S_ISREG(at.st_mode)) {
		return false;
	}
	int64_t touched_ms = (int64_t)at.st_mtim.tv_sec * 1000 + at.st_mtim.tv_nsec / 1000000;
	return wall_ms - touched_ms < MPS_READY_OLD_MS;
}
