/* A time zone as a list of moments at which its offset from UTC changes. Nobody asks the C library,
 * whose zones are a variable of the whole process: formats/zone_file.h makes one of a zone file's
 * bytes, and the core reads what it is given. */
#ifndef BASE_ZONE_H
#define BASE_ZONE_H

#include <stdbool.h>
#include <stdint.h>

#define ZONE_NAME_MAX	64
#define ZONE_SHIFTS_MAX 256
#define ZONE_OFFSET_MAX 93600 /* 26 hours, in seconds: what RFC 8536 allows */

struct zone_shift {
	int64_t at_s;	  /* since 1970, UTC */
	int32_t offset_s; /* of local time, east positive, from then on */
};

struct zone {
	int64_t from_s, until_s; /* what is before or after is not known */
	int32_t offset_s;	 /* before the first shift */
	uint32_t shift_count;
	struct zone_shift shifts[ZONE_SHIFTS_MAX]; /* rising */
};

/* A name that can only lie in the folder of zones: an IANA name's characters, no part of it empty
 * or a dot. */
bool zone_name_is_safe(const char *name);

/* False: not known so early or so late. */
bool zone_offset(const struct zone *z, int64_t at_s, int32_t *ret_offset_s);

/* The moment of a local time, given as the seconds since 1970 that UTC would have at that reading.
 * One that comes twice is the first of the two; one that is skipped is as much later as is skipped.
 */
bool zone_moment(const struct zone *z, int64_t local_s, int64_t *ret_at_s);

#endif
