/* A few zones by their names. */
#include "around/around.h"

#include "base/str.h"
#include "parts.h"

static struct around_zone *find(const struct around *a, const char *name)
{
	for (size_t i = 0; i < a->zones.count; i++) {
		if (text_equals(a->zones.items[i].name, name)) {
			return &a->zones.items[i];
		}
	}
	return NULL;
}

const struct zone *around_zone(const struct around *a, const char *name)
{
	const struct around_zone *z = find(a, name);
	return z != NULL ? &z->zone : NULL;
}

bool around_zone_set(struct around *a, const char *name, const struct zone *zone)
{
	struct around_zone *z = find(a, name);
	if (zone == NULL) {
		if (z != NULL) {
			VEC_REMOVE_SWAP(&a->zones, (size_t)(z - a->zones.items));
		}
		return true;
	}
	if (z != NULL) {
		z->zone = *zone;
		return true;
	}
	if (a->zones.count >= AROUND_ZONES_MAX || strlen(name) > ZONE_NAME_MAX) {
		return false;
	}
	struct around_zone fresh = {.zone = *zone};
	memcpy(fresh.name, name, strlen(name));
	VEC_PUSH(&a->zones, fresh);
	return true;
}
