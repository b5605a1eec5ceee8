/* Processes by their files in /proc: two small ones for whoever is new, one for whoever is known.
 */
#include "node/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/str.h"
#include "base/vec.h"

#define STAT_BYTES_MAX	1024
#define STARTTIME_AFTER 19 /* fields between the name and it; proc(5) counts it as the 22nd */

struct known {
	uint32_t pid;
	int64_t start; /* in ticks since the machine was started */
	struct cgroup_name name;
};

struct procs {
	char *root;		    /* owned */
	char *text;		    /* owned: CGROUP_BYTES_MAX */
	VEC_OF(struct known) known; /* by pid: who was in a pod the last time */
	VEC_OF(uint32_t) gone;	    /* by pid: who was not there */
	int64_t ticks_per_s;
	bool host_pid_missing;
};

/* --- files ------------------------------------------------------------------------------------ */

/* Bytes read, at most `room`; -1 and errno. */
static ssize_t read_proc_file(
	const struct procs *p, uint32_t pid, const char *name, char *to, size_t room)
{
	char path[4096];
	if (snprintf(path, sizeof path, "%s/%u/%s", p->root, pid, name) >= (int)sizeof path) {
		errno = ENAMETOOLONG;
		return -1;
	}
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	size_t done = 0;
	ssize_t n = fd < 0 ? -1 : 1;
	while (n > 0 && done < room) {
		do {
			n = read(fd, to + done, room - done);
		} while (n < 0 && errno == EINTR);
		done += n > 0 ? (size_t)n : 0;
	}
	int why = errno;
	cleanup_fd(&fd);
	errno = why;
	return n < 0 ? -1 : (ssize_t)done;
}

static enum place_kind place_of_errno(int why)
{
	return why == ENOENT || why == ESRCH ? PLACE_GONE : PLACE_UNREAD;
}

/* A process chooses its own name, brackets and blanks included: fields count from the last one. */
static bool parse_start(const char *text, size_t n, int64_t *ret_start)
{
	const char *bracket = memrchr(text, ')', n);
	if (bracket == NULL) {
		return false;
	}
	struct view rest = {bracket + 1, n - (size_t)(bracket + 1 - text)}, field;
	rest = view_trim(rest);
	for (int i = 0; i < STARTTIME_AFTER; i++) {
		if (!view_next(&rest, ' ', &field)) {
			return false;
		}
	}
	return view_next(&rest, ' ', &field) && parse_i64(field, 0, INT64_MAX / 1000, ret_start);
}

/* PLACE_POD means that there is such a process. */
static enum place_kind read_start_ticks(const struct procs *p, uint32_t pid, int64_t *ret_start)
{
	char text[STAT_BYTES_MAX];
	ssize_t n = read_proc_file(p, pid, "stat", text, sizeof text);
	if (n < 0) {
		return place_of_errno(errno);
	}
	return parse_start(text, (size_t)n, ret_start) ? PLACE_POD : PLACE_UNREAD;
}

static enum place_kind read_cgroup(const struct procs *p, uint32_t pid, struct cgroup_name *ret)
{
	ssize_t n = read_proc_file(p, pid, "cgroup", p->text, CGROUP_BYTES_MAX);
	if (n < 0) {
		return place_of_errno(errno);
	}
	return cgroup_find(p->text, (size_t)n, ret) ? PLACE_POD : PLACE_HOST;
}

/* --- one process ------------------------------------------------------------------------------ */

static int compare_leading_pid(const void *a, const void *b)
{
	/* Whatever is compared begins with its PID. */
	const uint32_t *x = a, *y = b;
	return *x < *y ? -1 : *x > *y;
}

static enum place_kind look_anew(
	const struct procs *p, uint32_t pid, int64_t start, struct cgroup_name *ret_name)
{
	int64_t again = -1;
	enum place_kind kind = read_cgroup(p, pid, ret_name);
	if (kind == PLACE_GONE || kind == PLACE_UNREAD) {
		return kind;
	}
	/* The two files must be one process's. */
	enum place_kind still = read_start_ticks(p, pid, &again);
	return still != PLACE_POD ? still : again != start ? PLACE_GONE : kind;
}

static enum place_kind look_at_process(
	const struct procs *p, uint32_t pid, int64_t began_ms, struct known *ret_known)
{
	enum place_kind kind = read_start_ticks(p, pid, &ret_known->start);
	if (kind != PLACE_POD) {
		return kind;
	}
	if (ret_known->start * 1000 / p->ticks_per_s > began_ms) {
		return PLACE_GONE;
	}
	const struct known *known = p->known.count == 0
					    ? NULL
					    : bsearch(&pid, p->known.items, p->known.count,
						      sizeof *p->known.items, compare_leading_pid);
	if (known != NULL && known->start == ret_known->start) {
		ret_known->name = known->name;
		return PLACE_POD;
	}
	return look_anew(p, pid, ret_known->start, &ret_known->name);
}

/* --- all of them ------------------------------------------------------------------------------ */

static uint32_t collect_pids(
	const struct gpu_sample *sample, struct arena *arena, uint32_t **ret_pids)
{
	size_t total = 0, count = 0;
	for (uint32_t d = 0; d < sample->device_count; d++) {
		total += sample->devices[d].process_count;
	}
	uint32_t *pids = ARENA_ARRAY(arena, uint32_t, total + 1);
	for (uint32_t d = 0; d < sample->device_count; d++) {
		for (uint32_t i = 0; i < sample->devices[d].process_count; i++) {
			pids[count++] = sample->devices[d].processes[i].pid;
		}
	}
	qsort(pids, count, sizeof *pids, compare_leading_pid);
	size_t kept = 0;
	for (size_t i = 0; i < count; i++) {
		if (i == 0 || pids[i] != pids[i - 1]) {
			pids[kept++] = pids[i];
		}
	}
	*ret_pids = pids;
	return kept < PLACES_MAX ? (uint32_t)kept : PLACES_MAX;
}

/* One that has gone is named once; one that cannot be seen from here again and again. */
static void judge_namespace(struct procs *p, const struct places *places)
{
	bool again = false;
	/* Where none is named, none is hidden. */
	if (places->count == 0 || places->gone < places->count) {
		p->host_pid_missing = false;
	}
	for (uint32_t i = 0; i < places->count && places->gone == places->count; i++) {
		again = again || (p->gone.count > 0 && bsearch(&places->items[i].pid, p->gone.items,
							       p->gone.count, sizeof *p->gone.items,
							       compare_leading_pid) != NULL);
	}
	p->host_pid_missing = p->host_pid_missing || again;
}

bool procs_ask(struct procs *p, uint32_t pid, struct cgroup_name *ret_name)
{
	return read_cgroup(p, pid, ret_name) == PLACE_POD;
}

void procs_look(struct procs *p, const struct gpu_sample *sample, int64_t began_ms,
	struct arena *arena, struct places *ret_places)
{
	uint32_t *pids;
	struct places places = {.count = collect_pids(sample, arena, &pids)};
	struct known *pods = ARENA_ARRAY(arena, struct known, places.count + 1);
	size_t pod_count = 0;
	places.items = ARENA_ARRAY(arena, struct place, places.count + 1);
	for (uint32_t i = 0; i < places.count; i++) {
		struct place *place = &places.items[i];
		struct known found = {.pid = pids[i]};
		place->pid = pids[i];
		place->kind = look_at_process(p, pids[i], began_ms, &found);
		places.gone += place->kind == PLACE_GONE;
		/* A process outside of all pods may be on its way into one. */
		if (place->kind == PLACE_POD) {
			place->name = found.name;
			pods[pod_count++] = found;
		}
	}
	judge_namespace(p, &places);
	VEC_CLEAR(&p->gone);
	for (uint32_t i = 0; i < places.count; i++) {
		if (places.items[i].kind == PLACE_GONE) {
			VEC_PUSH(&p->gone, places.items[i].pid);
		}
	}
	VEC_CLEAR(&p->known);
	VEC_RESERVE(&p->known, pod_count);
	for (size_t i = 0; i < pod_count; i++) {
		VEC_PUSH(&p->known, pods[i]);
	}
	places.host_pid_missing = p->host_pid_missing;
	*ret_places = places;
}

const struct place *places_find(const struct places *p, uint32_t pid)
{
	return p->count == 0
		       ? NULL
		       : bsearch(&pid, p->items, p->count, sizeof *p->items, compare_leading_pid);
}

struct procs *procs_create(const char *root)
{
	struct procs *p = xcalloc(1, sizeof *p);
	long ticks = sysconf(_SC_CLK_TCK);
	p->root = xstrdup(root);
	p->text = xmalloc(CGROUP_BYTES_MAX);
	p->ticks_per_s = ticks > 0 ? ticks : 100;
	return p;
}

void procs_destroy(struct procs *p)
{
	if (p == NULL) {
		return;
	}
	free(p->root);
	free(p->text);
	VEC_FINISH(&p->known);
	VEC_FINISH(&p->gone);
	free(p);
}
