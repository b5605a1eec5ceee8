/* The samples of one source. */
#include "track.h"

#include <stdlib.h>

#define LEVEL		 (METERED_FULL / LEVELS)
#define CENSORED_PERCENT 95

void track_init(struct track *t, const struct history *h)
{
	*t = (struct track){.serial = h->serial};
	levels_init(&t->compute, h->half_life_s, h->window_s);
	hours_init(&t->hours, h->window_s);
}

void track_finish(struct track *t)
{
	free(t->basis);
	t->basis = NULL;
	levels_finish(&t->compute);
	hours_finish(&t->hours);
}

struct history_source track_source(const struct track *t)
{
	return (struct history_source){(enum metered_source)t->source, t->estimated, t->basis};
}

static struct track *track_place(struct history *h)
{
	if (h->count < HISTORY_SOURCES) {
		h->tracks = xreallocarray(h->tracks, h->count + 1u, sizeof *h->tracks);
		return &h->tracks[h->count++];
	}
	uint32_t at = h->lead == 0 ? 1 : 0;
	for (uint32_t i = 0; i < h->count; i++) {
		if (i != h->lead && h->tracks[i].last_ms < h->tracks[at].last_ms) {
			at = i;
		}
	}
	track_finish(&h->tracks[at]);
	return &h->tracks[at];
}

void track_name(struct track *t, const char *basis)
{
	size_t n = strnlen(text_or(basis, ""), METERED_BASIS_MAX);
	free(t->basis);
	t->basis = NULL;
	if (n > 0) {
		t->basis = xcalloc(n + 1, 1);
		memcpy(t->basis, basis, n);
	}
}

struct track *track_touch(struct history *h, const struct history_source *source)
{
	for (uint32_t i = 0; i < h->count; i++) {
		const char *basis = text_or(h->tracks[i].basis, "");
		if (h->tracks[i].source == source->source &&
			h->tracks[i].estimated == source->estimated &&
			strncmp(basis, text_or(source->basis, ""), METERED_BASIS_MAX) == 0) {
			return &h->tracks[i];
		}
	}
	struct track *t = track_place(h);
	h->serial = h->serial < UINT16_MAX ? (uint16_t)(h->serial + 1) : 1;
	track_init(t, h);
	t->source = (uint8_t)source->source;
	t->estimated = source->estimated;
	track_name(t, source->basis);
	return t;
}

int64_t track_minutes(const struct track *t, int64_t now_ms)
{
	int64_t compute = 0, memory = 0;
	hours_observed(&t->hours, now_ms, &compute, &memory);
	return compute < memory ? compute : memory;
}

/* Feeds of the one that it replaces see by the serial that they are of a former one. */
static void track_replace(struct history *h, struct track *t, struct track *from)
{
	track_finish(t);
	*t = *from;
	h->serial = h->serial < UINT16_MAX ? (uint16_t)(h->serial + 1) : 1;
	t->serial = h->serial;
	from->hours.cells = NULL;
	from->compute.weights = NULL;
	from->basis = NULL;
}

bool track_adopt(struct history *h, struct track *from, int64_t now_ms)
{
	struct history_source source = track_source(from);
	if (track_minutes(from, now_ms) == 0) {
		return false;
	}
	struct track *t = track_touch(h, &source);
	if (track_minutes(t, now_ms) >= track_minutes(from, now_ms)) {
		return false;
	}
	track_replace(h, t, from);
	return true;
}

void track_merge(struct history *h, struct track *from, int64_t now_ms)
{
	struct history_source source = track_source(from);
	struct track *t = track_touch(h, &source);
	if (track_minutes(t, now_ms) < track_minutes(from, now_ms)) {
		struct track since = *t;
		*t = (struct track){.basis = NULL};
		track_replace(h, t, from);
		*from = since; /* and goes with the other one */
		t->recent = since.last_ms > t->last_ms ? since.recent : t->recent;
	}
	hours_merge(&t->hours, &from->hours);
	t->samples += t->samples < UINT32_MAX - from->samples ? from->samples : 0;
	bool older = from->first_ms > 0 && (t->first_ms == 0 || from->first_ms < t->first_ms);
	t->first_ms = older ? from->first_ms : t->first_ms;
	t->last_ms = from->last_ms > t->last_ms ? from->last_ms : t->last_ms;
	if (from->active > t->active) {
		t->active = from->active;
		t->hours.quiet = from->hours.quiet;
	}
}

struct track *track_find(const struct history *h, uint16_t serial)
{
	for (uint32_t i = 0; i < h->count; i++) {
		if (h->tracks[i].serial == serial) {
			return &h->tracks[i];
		}
	}
	return NULL;
}

/* Below the first level nothing is done but staying alive. */
static bool note_activity(struct track *t, const struct history *h, int64_t compute, int32_t minute)
{
	uint32_t above = h->active_above > 0 ? h->active_above : 1;
	if (compute > (int64_t)above * LEVEL) {
		t->active = minute > t->active ? minute : t->active;
		t->hours.quiet = 0;
		return false;
	}
	if (minute > t->recent.last && t->hours.quiet < UINT16_MAX) {
		t->hours.quiet++;
	}
	return true;
}

void track_add_minute(
	struct track *t, const struct history *h, int64_t compute, int64_t wall, int32_t minute)
{
	int64_t at_ms = (int64_t)minute * MINUTE_MS;
	uint32_t level = (uint32_t)(compute / LEVEL), cap = (uint32_t)((wall - 1) / LEVEL);
	level = level < LEVELS ? level : LEVELS - 1;
	bool idle = note_activity(t, h, compute, minute);
	recent_add(&t->recent, compute, minute);
	if (idle && h->active_above > 0) {
		return;
	}
	hours_add_compute(&t->hours, at_ms);
	/* Whoever is held by a wall needs at least what the wall lets through. One that is further
	 * above than meters are off is not held. */
	if (compute * 100 >= wall * CENSORED_PERCENT && compute * CENSORED_PERCENT <= wall * 100) {
		levels_add_censored(&t->compute, level > cap ? level : cap, at_ms);
	} else {
		levels_add(&t->compute, level, at_ms);
	}
}
