/* One record a name that some policy has. */
#include "time_zones.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/vec.h"
#include "formats/zone_file.h"
#include "model/names.h"

#define LOOK_MS	   5000
#define AGAIN_MS   300000   /* one that was not found */
#define REFRESH_MS 86400000 /* one that was */
#define PAST_S	   (INT64_C(14) * 86400)
#define FUTURE_S   (INT64_C(2) * 366 * 86400)
#define PATH_BYTES 512

struct record {
	char name[ZONE_NAME_MAX + 1];
	uint64_t seen, read; /* the looks in which a policy had it, and it was read, last */
	int64_t next_at;
	bool known;
	struct fault fault;
};

struct zones {
	const char *folder; /* borrowed, like the next four */
	const struct clock *clock;
	const struct world *world;
	struct around *around;
	struct events *events;
	VEC_OF(struct record) records;
	uint64_t look;
	int64_t look_at;
};

struct zones *zones_create(const char *folder, const struct clock *clock, const struct world *world,
	struct around *around, struct events *events)
{
	struct zones *z = xcalloc(1, sizeof *z);
	*z = (struct zones){.folder = folder,
		.clock = clock,
		.world = world,
		.around = around,
		.events = events};
	return z;
}

static void zones_destroy(void *self)
{
	struct zones *z = self;
	VEC_FINISH(&z->records);
	free(z);
}

/* --- one file --- */

static void close_zone_file(const int *fd)
{
	if (*fd >= 0) {
		close(*fd);
	}
}

static int read_zone_file(
	const char *path, char *buffer, size_t room, size_t *ret_n, struct fault *f)
{
	struct stat info;
	CLEANUP(close_zone_file) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0 || fstat(fd, &info) != 0) {
		return fault_set(f, errno == ENOENT ? FAULT_NOT_FOUND : FAULT_DENIED, "%s: %s",
			path, strerror(errno));
	}
	if (!S_ISREG(info.st_mode)) {
		return fault_set(f, FAULT_INVALID, "%s is not a regular file", path);
	}
	for (*ret_n = 0; *ret_n < room;) {
		ssize_t n = read(fd, buffer + *ret_n, room - *ret_n);
		if (n == 0) {
			return 0;
		}
		if (n < 0 && errno != EINTR) {
			return fault_set(f, FAULT_TRANSIENT, "%s: %s", path, strerror(errno));
		}
		*ret_n += n > 0 ? (size_t)n : 0;
	}
	return fault_set(f, FAULT_LIMIT, "%s: more than %d bytes", path, ZONE_FILE_MAX);
}

int zones_read(const char *folder, const char *name, int64_t now_s, struct zone *ret_zone,
	struct fault *ret_fault)
{
	const struct zone_span span = {now_s - PAST_S, now_s + FUTURE_S};
	char path[PATH_BYTES];
	size_t n = 0;
	if (text_equals(name, "UTC")) {
		*ret_zone = (struct zone){.from_s = span.from_s, .until_s = span.until_s};
		return 0;
	}
	if (!zone_name_is_safe(name)) {
		return fault_set(ret_fault, FAULT_INVALID, "no name of a zone");
	}
	if ((size_t)snprintf(path, sizeof path, "%s/%s", folder, name) >= sizeof path) {
		return fault_set(ret_fault, FAULT_LIMIT, "the folder's path is too long");
	}
	CLEANUP(cleanup_free) char *bytes = xmalloc(ZONE_FILE_MAX + 1);
	if (read_zone_file(path, bytes, ZONE_FILE_MAX + 1, &n, ret_fault) < 0) {
		return -1;
	}
	return zone_decode(bytes, n, &span, ret_zone, ret_fault) < 0
		       ? fault_wrap(ret_fault, "%s", path)
		       : 0;
}

/* --- those that policies name --- */

static struct record *zone_record(struct zones *z, const char *name)
{
	for (size_t i = 0; i < z->records.count; i++) {
		if (text_equals(z->records.items[i].name, name)) {
			return &z->records.items[i];
		}
	}
	if (z->records.count >= AROUND_ZONES_MAX || strlen(name) > ZONE_NAME_MAX) {
		return NULL;
	}
	struct record fresh = {.next_at = INT64_MIN};
	memcpy(fresh.name, name, strlen(name));
	VEC_PUSH(&z->records, fresh);
	return &z->records.items[z->records.count - 1];
}

static void warn_of_zone(
	const struct zones *z, const struct policy *p, const char *name, const char *why)
{
	CLEANUP(str_finish) struct str note = STR_INIT(EVENTS_NOTE_MAX);
	str_append_format(&note,
		"The time zone %.64s of a window in spec.update is not known here, so that window "
		"never opens (%.300s). Write an IANA name as in Europe/Berlin; the controller's "
		"image needs the zone files (tzdata).",
		name, why);
	struct event_note event = {.api_version = NAME_GROUP "/" NAME_VERSION,
		.kind = "GPUPolicy",
		.ns = "",
		.name = p->name,
		.uid = p->uid,
		.reason = "TimeZoneUnknown",
		.note = str_text(&note),
		.warning = true};
	(void)events_emit(z->events, &event);
}

static void look_at_window(struct zones *z, const struct policy *p, const char *name, bool tells)
{
	int64_t now = clock_mono(z->clock);
	struct record *r = zone_record(z, name);
	if (r == NULL) {
		return;
	}
	r->seen = z->look;
	if (now >= r->next_at) {
		struct zone zone;
		r->fault = (struct fault){0};
		r->read = z->look;
		r->known = zones_read(z->folder, r->name, clock_policy(z->clock) / 1000, &zone,
				   &r->fault) == 0;
		(void)around_zone_set(z->around, r->name, r->known ? &zone : NULL);
		r->next_at = now + (r->known ? REFRESH_MS : AGAIN_MS);
		if (!r->known) {
			log_warn("a time zone of a policy is not known", LOG_S("zone", r->name),
				LOG_F(&r->fault));
		}
	}
	if (tells && r->read == z->look && !r->known) {
		warn_of_zone(z, p, name, r->fault.message);
	}
}

static void zones_step(void *self, const struct turn *turn)
{
	struct zones *z = self;
	uint32_t count = 0;
	if (turn->now < z->look_at) {
		return;
	}
	z->look_at = turn->now + LOOK_MS;
	z->look++;
	const struct policy *const *policies = world_policies(z->world, &count);
	for (uint32_t i = 0; i < count; i++) {
		const struct rollout *r = &policies[i]->rollout;
		for (uint32_t k = 0; k < r->window_count; k++) {
			look_at_window(z, policies[i], r->windows[k].time_zone, turn->leads);
		}
	}
	for (size_t i = z->records.count; i-- > 0;) {
		struct record *r = &z->records.items[i];
		if (r->seen != z->look) {
			(void)around_zone_set(z->around, r->name, NULL);
			VEC_REMOVE_SWAP(&z->records, i);
		}
	}
}

static int64_t zones_deadline(const void *self, const struct turn *turn)
{
	const struct zones *z = self;
	(void)turn;
	return z->look_at;
}

const struct part zones_part = {zones_step, zones_deadline, zones_destroy};
