/* Local time from a list of shifts. */
#include "base/zone.h"

#include "base/str.h"

/* Zones never shift twice within so long of each other. */
#define NEAR_S 86400

static bool is_name_character(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_' || c == '-' || c == '+';
}

bool zone_name_is_safe(const char *name)
{
	struct view rest = view_of(name);
	struct view part;
	if (text_empty(name) || rest.n > ZONE_NAME_MAX || name[rest.n - 1] == '/') {
		return false;
	}
	while (view_next(&rest, '/', &part)) {
		if (part.n == 0) {
			return false;
		}
		for (size_t i = 0; i < part.n; i++) {
			if (!is_name_character(part.p[i])) {
				return false;
			}
		}
	}
	return true;
}

bool zone_offset(const struct zone *z, int64_t at_s, int32_t *ret_offset_s)
{
	if (at_s < z->from_s || at_s >= z->until_s) {
		return false;
	}
	int32_t offset = z->offset_s;
	for (uint32_t i = 0; i < z->shift_count && z->shifts[i].at_s <= at_s; i++) {
		offset = z->shifts[i].offset_s;
	}
	*ret_offset_s = offset;
	return true;
}

/* As `local_s` would be at that offset, if that offset holds then. */
static bool offset_holds(const struct zone *z, int64_t local_s, int32_t offset)
{
	int32_t then;
	return zone_offset(z, local_s - offset, &then) && then == offset;
}

bool zone_moment(const struct zone *z, int64_t local_s, int64_t *ret_at_s)
{
	int32_t before;
	int32_t after;
	if (!zone_offset(z, local_s - NEAR_S, &before) ||
		!zone_offset(z, local_s + NEAR_S, &after)) {
		return false;
	}
	if (!offset_holds(z, local_s, before) && offset_holds(z, local_s, after)) {
		*ret_at_s = local_s - after;
	} else {
		*ret_at_s = local_s - before;
	}
	return true;
}
