/* Segments as files: named, written, synced, and the oldest removed. */
#include "recorder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "engine/journal.h"

#define RETRY_MS 60000
/* The disk is asked to begin writing this early, so that the sync at the end has little to wait
 * for. */
#define PUSH_BYTES ((off_t)1 << 20)
#define NAME_BEGIN "aliquot-"
#define NAME_END   ".journal"

struct recorder {
	struct journal *journal;   /* owned */
	struct engine *engine;	   /* borrowed */
	const struct clock *clock; /* borrowed */
	char *dir;		   /* owned; NULL: in memory */
	int64_t files;
	int dir_fd, fd; /* -1: closed */
	off_t written, pushed;
	bool broken; /* nothing is written until the next try */
	bool told;   /* that it is broken, since a segment was last completed */
	int64_t retry_at;
};

static void break_off(struct recorder *r, const char *what)
{
	if (!r->told) {
		log_error("the journal cannot be written; the controller goes on without it",
			LOG_S("directory", r->dir), LOG_S("what", what),
			LOG_S("error", strerror(errno)));
	}
	if (r->fd >= 0) {
		close(r->fd);
	}
	r->fd = -1;
	r->told = r->broken = true;
	r->retry_at = clock_mono(r->clock) + RETRY_MS;
}

static void segment_end(struct recorder *r)
{
	if (r->fd < 0) {
		return;
	}
	int fd = r->fd;
	r->fd = -1;
	bool synced = fdatasync(fd) == 0;
	if (close(fd) < 0 || !synced) {
		break_off(r, "sync");
		return;
	}
	if (r->told) {
		log_info("the journal is written again", LOG_S("directory", r->dir));
	}
	r->told = false;
}

static int is_segment_entry(const struct dirent *entry)
{
	return fnmatch(NAME_BEGIN "*" NAME_END, entry->d_name, 0) == 0;
}

static bool open_directory(struct recorder *r)
{
	if (r->dir_fd >= 0) {
		return true;
	}
	if (mkdir(r->dir, 0700) < 0 && errno != EEXIST) {
		return false;
	}
	r->dir_fd = open(r->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return r->dir_fd >= 0;
}

static void segment_open(void *data, uint32_t number)
{
	struct recorder *r = data;
	char name[96], time[32];
	int64_t wall_ms = clock_wall(r->clock);
	time_t seconds = (time_t)(wall_ms / 1000);
	struct tm tm;
	segment_end(r);
	/* A journal that is broken begins anew in recorder_step, where the journal is told of the
	 * gap. */
	if (r->broken) {
		return;
	}
	if (!open_directory(r)) {
		break_off(r, "open the directory");
		return;
	}
	/* Of the oldest so many go that there is room for one more. */
	struct dirent **entries = NULL;
	int n = scandir(r->dir, &entries, is_segment_entry, alphasort);
	for (int i = 0; i < n; i++) {
		if (n - i >= r->files) {
			unlinkat(r->dir_fd, entries[i]->d_name, 0);
		}
		free(entries[i]);
	}
	free(entries);
	gmtime_r(&seconds, &tm);
	strftime(time, sizeof time, "%Y%m%dT%H%M%S", &tm);
	snprintf(name, sizeof name, NAME_BEGIN "%s.%03dZ-%06u" NAME_END, time,
		(int)(wall_ms % 1000), number);
	r->fd = openat(r->dir_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (r->fd < 0 || fsync(r->dir_fd) < 0) {
		break_off(r, "create a file");
		return;
	}
	r->written = r->pushed = 0;
}

static void segment_write(void *data, const void *p, size_t n)
{
	struct recorder *r = data;
	const char *at = p;
	while (r->fd >= 0 && n > 0) {
		ssize_t took = write(r->fd, at, n);
		if (took < 0 && errno == EINTR) {
			continue;
		}
		if (took < 0) {
			break_off(r, "write");
			return;
		}
		at += took;
		n -= (size_t)took;
		r->written += took;
	}
	if (r->fd >= 0 && r->written - r->pushed >= PUSH_BYTES) {
		/* A hint only: where it cannot be taken, the sync at the end does all. */
		(void)sync_file_range(
			r->fd, r->pushed, r->written - r->pushed, SYNC_FILE_RANGE_WRITE);
		r->pushed = r->written;
	}
}

struct recorder *recorder_create(
	const struct recorder_config *config, const struct clock *clock, struct engine *e)
{
	bool in_memory = text_empty(config->dir);
	if (in_memory && config->memory_mib == 0) {
		return NULL;
	}
	struct recorder *r = xcalloc(1, sizeof *r);
	struct journal_sink sink = {r, segment_open, segment_write};
	struct journal_config jc = {.version = ALIQUOT_VERSION,
		.sink = in_memory ? NULL : &sink,
		.segment_bytes = config->segment_bytes};
	if (in_memory && jc.segment_bytes == 0) {
		jc.segment_bytes = (size_t)config->memory_mib << 19; /* two halves */
	}
	r->engine = e;
	r->clock = clock;
	r->dir = in_memory ? NULL : xstrdup(config->dir);
	r->files = config->files;
	r->dir_fd = r->fd = -1;
	r->journal = journal_create(&jc);
	engine_record(e, r->journal);
	return r;
}

void recorder_destroy(struct recorder *r)
{
	if (r == NULL) {
		return;
	}
	journal_destroy(r->journal);
	segment_end(r);
	if (r->dir_fd >= 0) {
		close(r->dir_fd);
	}
	free(r->dir);
	free(r);
}

static void recorder_step(void *self, const struct turn *turn)
{
	struct recorder *r = self;
	if (!r->broken || turn->now < r->retry_at) {
		return;
	}
	r->broken = false;
	journal_skip(r->journal);
	engine_record(r->engine, r->journal);
}

const struct part recorder_part = {recorder_step, NULL, NULL};

bool recorder_dump(const struct recorder *r, struct str *out)
{
	if (r == NULL || r->dir != NULL) {
		return false;
	}
	journal_dump(r->journal, out);
	return true;
}
