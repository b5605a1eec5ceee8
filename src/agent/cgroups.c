/* Walks the tree of cgroups for directories of pods. */
#include "cgroups.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/str.h"

#define DEPTH_MAX  6
#define PATH_BYTES 4096

struct walk {
	struct arena *arena;	 /* borrowed */
	struct cgroup_pods *out; /* the same */
	struct str path;	 /* below the root, as a process would have it */
};

static int fault_from_errno(struct fault *ret_fault, const char *path)
{
	int why = errno;
	return fault_set(ret_fault, why == EACCES || why == EPERM ? FAULT_DENIED : FAULT_FATAL,
		"%s: %s", path, strerror(why));
}

/* What kubelets put above the directories of pods: kubepods.slice,
 * kubelet-kubepods-burstable.slice, kubepods/besteffort. A directory that somebody else made is not
 * looked into. */
static bool leads_to_pods(const char *name)
{
	return strstr(name, "kube") != NULL || strcmp(name, "burstable") == 0 ||
	       strcmp(name, "besteffort") == 0;
}

/* 1: it is a pod's, and noted. */
static int note_pod(struct walk *w, struct fault *ret_fault)
{
	CLEANUP(str_finish) struct str line = STR_INIT(PATH_BYTES + 8);
	struct cgroup_name name;
	str_append_format(&line, "0::%s\n", str_text(&w->path));
	if (!cgroup_find(str_text(&line), line.len, &name)) {
		return 0;
	}
	if (cgroups_have(w->out, name.pod)) {
		return 1;
	}
	if (w->out->count == CGROUPS_PODS_MAX) {
		return fault_set(
			ret_fault, FAULT_LIMIT, "more than %d pods on one node", CGROUPS_PODS_MAX);
	}
	w->out->names[w->out->count++] = arena_strdup(w->arena, name.pod);
	return 1;
}

static int walk_into(struct walk *w, int parent, const char *name, int depth, struct fault *f);

/* Some file systems do not tell what an entry is. */
static bool is_directory(int parent, const struct dirent *entry)
{
	struct stat about;
	if (entry->d_type != DT_UNKNOWN) {
		return entry->d_type == DT_DIR;
	}
	return fstatat(parent, entry->d_name, &about, AT_SYMLINK_NOFOLLOW) == 0 &&
	       S_ISDIR(about.st_mode);
}

static int take_entry(
	struct walk *w, int parent, const struct dirent *entry, int depth, struct fault *ret_fault)
{
	size_t before = w->path.len;
	if (entry->d_name[0] == '.' || !is_directory(parent, entry)) {
		return 0;
	}
	if (!str_append_format(&w->path, "/%s", entry->d_name)) {
		return fault_set(
			ret_fault, FAULT_LIMIT, "a path of more than %d bytes", PATH_BYTES);
	}
	int result = note_pod(w, ret_fault);
	if (result == 0 && depth < DEPTH_MAX && leads_to_pods(entry->d_name)) {
		result = walk_into(w, parent, entry->d_name, depth + 1, ret_fault);
	}
	w->path.len = before;
	w->path.p[before] = '\0';
	return result < 0 ? -1 : 0;
}

static int walk_into(
	struct walk *w, int parent, const char *name, int depth, struct fault *ret_fault)
{
	int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	if (dir == NULL) {
		/* Between being named and being opened it may have gone. */
		bool gone = fd < 0 && errno == ENOENT && depth > 0;
		int result =
			gone ? 0
			     : fault_from_errno(ret_fault, depth > 0 ? str_text(&w->path) : name);
		cleanup_fd(&fd);
		return result;
	}
	int result = 0;
	const struct dirent *e;
	/* A list that breaks off must not pass for a whole one. */
	for (errno = 0; result == 0 && (e = readdir(dir)) != NULL; errno = 0) {
		result = take_entry(w, fd, e, depth, ret_fault);
	}
	if (result == 0 && errno != 0) {
		result = fault_from_errno(ret_fault, str_text(&w->path));
	}
	(void)closedir(dir);
	return result;
}

/* The one hierarchy of cgroup v2 has its files at the root; else there is one of v1 for each
 * controller, and a kubelet uses all of them. */
static const char *hierarchy_name(int root)
{
	static const char *const names[] = {"systemd", "memory", "pids", "cpu,cpuacct", "cpu"};
	if (faccessat(root, "cgroup.controllers", F_OK, 0) == 0) {
		return ".";
	}
	for (size_t i = 0; i < COUNT_OF(names); i++) {
		if (faccessat(root, names[i], F_OK, 0) == 0) {
			return names[i];
		}
	}
	return ".";
}

int cgroups_scan(const char *root, struct arena *arena, struct cgroup_pods *ret_pods,
	struct fault *ret_fault)
{
	struct cgroup_pods pods = {.names = ARENA_ARRAY(arena, const char *, CGROUPS_PODS_MAX)};
	struct walk w = {.arena = arena, .out = &pods, .path = STR_INIT(PATH_BYTES)};
	int fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0) {
		return fault_from_errno(ret_fault, root);
	}
	str_append_text(&w.path, "");
	int result = walk_into(&w, fd, hierarchy_name(fd), 0, ret_fault);
	(void)close(fd);
	str_finish(&w.path);
	if (result < 0) {
		return fault_wrap(ret_fault, "%s", root);
	}
	if (pods.count == 0) {
		return fault_set(ret_fault, FAULT_NOT_FOUND,
			"no pod's cgroup is below %s: is it the host's?", root);
	}
	*ret_pods = pods;
	return 0;
}

bool cgroups_have(const struct cgroup_pods *pods, const char *name)
{
	for (uint32_t i = 0; i < pods->count; i++) {
		if (strcmp(pods->names[i], name) == 0) {
			return true;
		}
	}
	return false;
}
