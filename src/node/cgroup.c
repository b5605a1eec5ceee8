/* Paths of cgroups: kubelets name a pod in one part of a path, runtimes a container in the next. */
#include "node/cgroup.h"

#include "base/str.h"

#define UID_BYTES	36
#define HASH_BYTES	32
#define CONTAINER_BYTES 64

static bool is_hex(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

static size_t hex_run(const char *p, size_t n)
{
	size_t run = 0;
	while (run < n && is_hex(p[run])) {
		run++;
	}
	return run;
}

static bool uid_at(const char *p, size_t n)
{
	if (n < UID_BYTES) {
		return false;
	}
	for (size_t i = 0; i < UID_BYTES; i++) {
		bool dash = i == 8 || i == 13 || i == 18 || i == 23;
		/* systemd keeps '-' for itself. */
		if (dash ? p[i] != '-' && p[i] != '_' : !is_hex(p[i])) {
			return false;
		}
	}
	return true;
}

/* Bytes of the uid or hash that `p` begins with and that nothing goes on after; 0: none. */
static size_t pod_name_at(const char *p, size_t n)
{
	size_t length = uid_at(p, n) ? UID_BYTES : hex_run(p, n) == HASH_BYTES ? HASH_BYTES : 0;
	bool ends = length == n || p[length] == '.' || p[length] == ':';
	return length > 0 && ends ? length : 0;
}

static void copy_pod(char *to, const char *from, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		to[i] = from[i];
		if (from[i] == '_') {
			to[i] = '-';
		}
	}
	to[n] = '\0';
}

/* "pod" and a name, at the beginning of a part or after a dash. ret_rest is what follows in it. */
static bool find_pod(struct view part, struct cgroup_name *name, struct view *ret_rest)
{
	for (size_t i = 0; i + 3 < part.n; i++) {
		if ((i > 0 && part.p[i - 1] != '-') || memcmp(part.p + i, "pod", 3) != 0) {
			continue;
		}
		size_t at = i + 3, length = pod_name_at(part.p + at, part.n - at);
		if (length > 0) {
			copy_pod(name->pod, part.p + at, length);
			*ret_rest = (struct view){part.p + at + length, part.n - at - length};
			return true;
		}
	}
	return false;
}

static bool find_container_id(struct view part, struct cgroup_name *name)
{
	for (size_t i = 0; i < part.n;) {
		size_t run = hex_run(part.p + i, part.n - i);
		if (run == CONTAINER_BYTES) {
			memcpy(name->container, part.p + i, CONTAINER_BYTES);
			name->container[CONTAINER_BYTES] = '\0';
			return true;
		}
		i += run + 1;
	}
	return false;
}

static bool name_of_path(struct view path, struct cgroup_name *ret_name)
{
	struct cgroup_name name = {{0}, {0}};
	struct view part, rest;
	while (view_next(&path, '/', &part)) {
		if (!find_pod(part, &name, &rest)) {
			continue;
		}
		/* Drivers that do not match make one part of both. */
		if (!find_container_id(rest, &name) && view_next(&path, '/', &part)) {
			(void)find_container_id(part, &name);
		}
		*ret_name = name;
		return true;
	}
	return false;
}

/* "hierarchy:controllers:path"; a path may have colons of its own. */
static bool path_of_line(struct view line, struct view *ret_path)
{
	struct view number, controllers;
	int64_t hierarchy;
	if (!view_next(&line, ':', &number) || !view_next(&line, ':', &controllers) ||
		!parse_i64(number, 0, INT32_MAX, &hierarchy) || line.n == 0 || line.p[0] != '/') {
		return false;
	}
	*ret_path = line;
	return true;
}

/* What one more hierarchy says. False: it contradicts. */
static bool merge_cgroup_name(struct cgroup_name *all, const struct cgroup_name *one)
{
	if (all->pod[0] == '\0') {
		*all = *one;
		return true;
	}
	if (!text_equals(all->pod, one->pod)) {
		return false;
	}
	if (all->container[0] == '\0') {
		memcpy(all->container, one->container, sizeof all->container);
	}
	return one->container[0] == '\0' || text_equals(all->container, one->container);
}

bool cgroup_find(const char *text, size_t n, struct cgroup_name *ret_name)
{
	struct cgroup_name all = {{0}, {0}}, one;
	size_t limit = n < CGROUP_BYTES_MAX ? n : CGROUP_BYTES_MAX;
	for (size_t at = 0; at < limit;) {
		const char *end = memchr(text + at, '\n', limit - at);
		if (end == NULL) {
			break;
		}
		struct view line = {text + at, (size_t)(end - (text + at))}, path;
		at += line.n + 1;
		if (path_of_line(line, &path) && name_of_path(path, &one) &&
			!merge_cgroup_name(&all, &one)) {
			return false;
		}
	}
	if (all.pod[0] == '\0') {
		return false;
	}
	*ret_name = all;
	return true;
}
