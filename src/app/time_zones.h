/* The time zones that policies name, read from the folder of zone files when one is named first and
 * once a day after that. One that is not there is told as an event of the policy. */
#ifndef APP_TIME_ZONES_H
#define APP_TIME_ZONES_H

#include "around/around.h"
#include "base/clock.h"
#include "base/part.h"
#include "kube/events.h"
#include "world/world.h"

struct zones;

/* All borrowed. What is found goes to `around`. */
struct zones *zones_create(const char *folder, const struct clock *clock, const struct world *world,
	struct around *around, struct events *events);
/* Only a leader tells. */
extern const struct part zones_part;

/* One zone around that time; UTC needs no file. FAULT_INVALID: a name that is none, or a file that
 * is none. */
MUST_CHECK int zones_read(const char *folder, const char *name, int64_t now_s,
	struct zone *ret_zone, struct fault *ret_fault);

#endif
