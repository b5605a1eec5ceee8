/* What C25 asks for, read from the API server's answers one after the other. Each is a list or an
 * object of another kind; together they are a struct surge_seen. Lists are split as they come, so a
 * namespace may have many objects. One table reads an element; what it says together with those
 * before it is code. */
#ifndef PODS_SURGE_OBJECTS_H
#define PODS_SURGE_OBJECTS_H

#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/fault.h"
#include "model/labels.h"
#include "model/surge.h"

/* In the order in which they are asked for: what comes later is judged by what came before. */
enum surge_source {
	SURGE_SET,
	SURGE_OWNER,
	SURGE_FRESH,
	SURGE_SOURCES_LOOK,		   /* so many of a LOOK */
	SURGE_CLAIMS = SURGE_SOURCES_LOOK, /* one after the other; only while there is no new pod */
	SURGE_PODS,
	SURGE_SETS,
	SURGE_REPLICATION_CONTROLLERS,
	SURGE_STATEFUL_SETS,
	SURGE_DAEMON_SETS,
	SURGE_JOBS,
	SURGE_SCALERS,
	SURGE_BUDGETS,
	SURGE_SOURCES
};

/* What is known so far. Text lives in the arena; the order is borrowed. */
struct surge_look {
	struct arena arena;
	const struct surge_order *order;
	int64_t wall_ms;
	struct surge_seen seen;
	const char *owner, *owner_uid; /* the Deployment; NULL: the ReplicaSet has none */
	const char *revision;	       /* of the ReplicaSet */
	struct pairs labels;	       /* of the new pod, or that it would have */
	struct pairs old_labels;       /* of the old one */
	const char **claims;	       /* PersistentVolumeClaims of the template */
	uint32_t claim_count, claim_at;
};

void surge_look_init(struct surge_look *l, const struct surge_order *order, int64_t wall_ms);
void surge_look_finish(struct surge_look *l);

/* Where the next one is. NULL resource: it need not be asked, or not again: what is taken of a
 * source may ask for more of it. A collection has no name. */
struct surge_where {
	const char *group_version, *resource, *name;
	const char *label_selector; /* NULL: none. In the arena */
};
struct surge_where surge_where_of(struct surge_look *l, enum surge_source source);
MUST_CHECK int surge_take(struct surge_look *l, enum surge_source source, const char *json,
	size_t n, struct fault *ret_fault);
/* It is not there: of objects that means something. */
void surge_take_none(struct surge_look *l, enum surge_source source);

#endif
