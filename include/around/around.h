/* What else acts on a workload's pods, as the watches tell it: who changes the number of its
 * replicas, and which disruption budgets its pods have. Both may be absent: where the API server
 * has no such kind, or we have no right to see it, nothing is known, and that is not "none". And
 * the time zones in which policies have their windows. */
#ifndef AROUND_AROUND_H
#define AROUND_AROUND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"
#include "model/change.h"
#include "model/labels.h"
#include "base/zone.h"
#include "roll/roll.h"

#define AROUND_SCALERS_MAX 20000
#define AROUND_BUDGETS_MAX 20000
#define AROUND_TEXT_MAX	   16384      /* bytes of one */
#define AROUND_BYTES_MAX   (16 << 20) /* of all of them */

struct around;

struct around *around_create(void);
void around_destroy(struct around *a);

/* What a watch of KIND_SCALER, KIND_SCALED_OBJECT or KIND_BUDGET said. False: there are too many,
 * or it is too large to be kept. */
bool around_apply(struct around *a, const struct change *c);
/* Were all of this kind seen, and is the watch well? */
bool around_knows(const struct around *a, enum kind kind);

/* Borrowed until the next around_apply. `target` is the object that is scaled, which is not always
 * the workload: of a group's pods it is their owner. NULL: none is known. Who tells how many there
 * are (a HorizontalPodAutoscaler) comes before a ScaledObject. */
const struct scaler *around_scaler(const struct around *a, const struct workload_key *target);
/* One that scales on how much of its GPU a pod uses (U14); NULL: none is known. */
const struct scaler *around_gpu_scaler(
	const struct around *a, const struct workload_key *target, const char **ret_metric);

/* Of one pod. Not known: the API server will say. Of a pod with two budgets it evicts nothing,
 * whatever they allow: none is allowed then, and both are named. */
struct roll_budget around_budget(
	const struct around *a, const char *ns, const struct pairs *labels, struct arena *arena);

/* The time zones that policies name, as whoever may read files found them. */
#define AROUND_ZONES_MAX 64
/* NULL: not known. Borrowed until the next around_zone_set. */
const struct zone *around_zone(const struct around *a, const char *name);
/* NULL forgets it. False: there are too many. */
bool around_zone_set(struct around *a, const char *name, const struct zone *zone);

/* Of one kind of watch, for metrics. */
struct around_kind {
	uint32_t objects;
	bool known;	 /* as around_knows */
	uint64_t unkept; /* times that one was too large, or one too many; since the start */
};
struct around_kind around_of(const struct around *a, enum kind kind);

struct around_totals {
	uint32_t scalers, budgets;
	size_t bytes;
};
void around_sum(const struct around *a, struct around_totals *ret);

#endif
