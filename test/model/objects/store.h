/* The modelled API server's memory: objects as values, one counter of versions, and the history
 * that watches read until it is compacted. A value is never changed in place: a change is a copy,
 * so that history may share. Pods, nodes and quotas are kept read beside their
 * value, by facts.c. */
#ifndef SIM_STORE_H
#define SIM_STORE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "agenda.h"
#include "base/alloc.h"
#include "base/vec.h"
#include "model/node.h"
#include "model/pod.h"
#include "model/quota.h"

enum resource {
	RES_PODS,
	RES_NODES,
	RES_NAMESPACES,
	RES_LIMIT_RANGES,
	RES_QUOTAS,
	RES_POLICIES,
	RES_LEASES,
	/* only where Deployments are rightsized */
	RES_SETS,
	RES_DEPLOYMENTS,
	RES_BUDGETS,
	RES_SCALERS,
	RES_RECOMMENDATIONS,
	RES_COUNT,
};

/* Who wrote: a controller by its number, or one of these. */
enum actor { ACTOR_SCHEDULER = -1, ACTOR_KUBELET = -2, ACTOR_PERSON = -3, ACTOR_CLUSTER = -4 };

struct stored {
	int refs; /* the store's and those of who keeps what was */
	enum resource resource;
	char *ns, *name, *uid; /* owned */
	json_t *value;	       /* owned reference */
	int64_t version;
	struct arena arena;    /* of `pod`, `node` or `quota` */
	struct pod pod;	       /* RES_PODS */
	struct node node;      /* RES_NODES */
	struct quota quota;    /* RES_QUOTAS */
	int64_t born, born_ms; /* version and time of its creation */
};

enum past_type { PAST_ADDED, PAST_MODIFIED, PAST_DELETED };

struct past {
	int64_t version;
	enum resource resource;
	enum past_type type;
	uint64_t about; /* a number for the object's name */
	char *text;	/* owned: the object */
	size_t size;
};

/* One change, told once it happened. `before` and `after` as they apply; borrowed for the call. */
struct commit {
	int actor;
	enum past_type type;
	const struct stored *before, *after;
};

struct store {
	struct {
		VEC_FIELDS(struct stored *); /* owned, oldest first */
	} items;
	struct {
		VEC_FIELDS(struct past);
	} past;
	int64_t compacted; /* versions up to this one are no longer told */
	int64_t version;
	uint64_t serial; /* of the next uid */
	uint64_t digest;
	uint64_t commits;
	const struct agenda *agenda; /* borrowed: the time */
	void (*on_commit)(void *data, const struct commit *c);
	void *data;
};

void store_init(struct store *s, const struct agenda *agenda,
	void (*on_commit)(void *data, const struct commit *c), void *data);
void store_finish(struct store *s);
struct stored *stored_keep(const struct stored *o); /* NULL stays NULL */
void stored_drop(struct stored *o);
struct stored *store_find(
	const struct store *s, enum resource resource, const char *ns, const char *name);
struct stored *store_find_uid(const struct store *s, const char *uid);
/* Creates or replaces; `value` is stolen. Gives new objects their uid and version. NULL: the object
 * cannot mean anything (an amount that is none). A change that changes nothing is none.
 */
struct stored *store_put(struct store *s, enum resource resource, json_t *value, int actor);
void store_remove(struct store *s, struct stored *o, int actor);
/* A deep copy to be changed and put back. */
json_t *store_draft(const struct stored *o);
/* Compact JSON, owned by the caller. */
char *value_text(const json_t *value);
void store_compact(struct store *s);
/* The API server's wall clock, which does not jump. */
int64_t store_wall(const struct store *s);
const char *resource_name(enum resource resource);

static inline bool stored_is_pod(const struct stored *o)
{
	return o->resource == RES_PODS;
}

#endif
