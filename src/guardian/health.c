/* A device is fenced from the moment in which its agent tells that it is not healthy until it was
 * told healthy for a while without a gap. */
#include "guardian/health.h"

#include <stdlib.h>

#include "guardian/orphan.h"
#include "ledger/ledger.h"
#include "model/names.h"
#include "size/explain.h"
#include "world/node_states.h"

/* So long it must be told healthy: an error that comes back every few seconds is one error. */
#define WELL_FOR_MS 30000
/* Of a device that nobody holds and nobody speaks of any more nothing is remembered after this, but
 * for an event: as long as the device may be there, nobody else remembers that. */
#define FORGET_MS 600000
/* A kubelet that was just told of a pod may be about to begin it; what its node shows a moment
 * after the pod was seen to be gone holds for good. */
#define SETTLE_MS 1000

static bool is_fresh(const struct ailments *ailments, const struct node_state *s)
{
	return s != NULL && ailments->picture->time->now - s->seen_ms <= STATE_FRESH_MS;
}

/* What an agent says of a device is of its own node's. */
static struct ailment *ailment_find(
	const struct ailments *ailments, const char *uuid, const char *node)
{
	vec_for_each (struct ailment, a, ailments) {
		if (strcmp(a->uuid, uuid) == 0 && text_equals(a->node, node)) {
			return a;
		}
	}
	return NULL;
}

/* A device that is lost does not come back without a reset, and who heard of an event knows when it
 * is over. */
static void event_note(struct ailment *a, const struct node_state *s, enum ill_cause cause,
	const struct node *node)
{
	if (cause == ILL_HEARD) {
		text_set(&a->heard_by, s->boot);
		text_set(&a->node_boot, node->boot);
		text_set(&a->node_reset, node->gpus_reset);
	} else if (cause == ILL_LOST || text_equals(a->heard_by, s->boot)) {
		text_set(&a->heard_by, NULL);
	}
}

/* Of an event the word of an agent that was started since is worth nothing, unless the node or its
 * GPUs were started anew, too. */
static bool event_lasts(
	const struct ailment *a, const struct node_state *s, const struct node *node)
{
	bool booted =
		a->node_boot != NULL && node->boot != NULL && strcmp(a->node_boot, node->boot) != 0;
	bool reset = node->gpus_reset != NULL && !text_equals(a->node_reset, node->gpus_reset);
	return a->heard_by != NULL && !booted && !reset && !text_equals(a->heard_by, s->boot);
}

static void ailment_note(struct ailments *ailments, uint32_t node, const struct node_state *s,
	const struct device_state *d)
{
	struct ailment *a = ailment_find(ailments, d->uuid, s->node);
	if (a == NULL) {
		struct ailment made = {.uuid = xstrdup(d->uuid), .node = xstrdup(s->node)};
		VEC_PUSH(ailments, made);
		a = &ailments->items[ailments->count - 1];
	}
	text_set(&a->why, d->why);
	a->last_at = ailments->picture->time->now;
	a->well_since = -1;
	a->ill = true;
	event_note(a, s, d->cause, &world_node_at(ailments->picture->world, node)->noun);
}

void health_remember(struct ailments *ailments, const struct heard *h)
{
	if (ailment_find(ailments, h->uuid, h->node) != NULL || ailments->count >= HEARD_MAX) {
		return;
	}
	struct ailment a = {.uuid = xstrdup(h->uuid),
		.node = xstrdup(h->node),
		.why = xstrdup(text_or(h->why, "an event")),
		.heard_by = xstrdup(h->by),
		.node_boot = xstrdup(h->boot),
		.node_reset = xstrdup(h->reset),
		.last_at = ailments->picture->time->now,
		.well_since = -1,
		.told = true}; /* by whom it was heard */
	VEC_PUSH(ailments, a);
	ailments->picture->time->dirty = true;
}

size_t health_heard(const struct ailments *ailments, struct heard *ret_list, size_t room)
{
	size_t n = 0;
	vec_for_each (const struct ailment, a, ailments) {
		if (a->heard_by != NULL && n < room) {
			ret_list[n++] = (struct heard){
				a->uuid, a->node, a->why, a->heard_by, a->node_boot, a->node_reset};
		}
	}
	return n;
}

static void ailment_free(struct ailment *a)
{
	free(a->heard_by);
	free(a->node_boot);
	free(a->node_reset);
	free(a->uuid);
	free(a->node);
	free(a->why);
}

void health_forget(struct ailments *ailments)
{
	vec_for_each (struct ailment, a, ailments) {
		ailment_free(a);
	}
	VEC_FINISH(ailments);
}

static bool is_listed(const struct node_state *s, const char *uuid)
{
	for (uint32_t i = 0; i < s->device_count; i++) {
		if (strcmp(s->devices[i].uuid, uuid) == 0) {
			return true;
		}
	}
	return false;
}

/* Where two devices tell one UUID, both must be well. */
static bool is_told_well(const struct node_state *s, const char *uuid)
{
	for (uint32_t i = 0; i < s->device_count; i++) {
		if (strcmp(s->devices[i].uuid, uuid) == 0 && s->devices[i].why != NULL) {
			return false;
		}
	}
	return is_listed(s, uuid);
}

/* False: it is over. */
static bool ailment_lasts(struct ailments *ailments, struct ailment *a)
{
	const struct picture *picture = ailments->picture;
	uint32_t node = world_node_find(picture->world, a->node);
	const struct node_state *s =
		node != WORLD_NONE ? world_state_of(picture->world, node) : NULL;
	bool fresh = is_fresh(ailments, s);
	if (a->heard_by != NULL && (!fresh || is_listed(s, a->uuid))) {
		a->last_at = picture->time->now;
	}
	if (node == WORLD_NONE || !world_node_at(picture->world, node)->known ||
		picture->time->now - a->last_at > FORGET_MS) {
		return false;
	}
	if (!fresh || !is_told_well(s, a->uuid) ||
		event_lasts(a, s, &world_node_at(picture->world, node)->noun)) {
		a->well_since = -1;
		return true;
	}
	a->well_since = a->well_since >= 0 ? a->well_since : picture->time->now;
	wake_by(picture->time, a->well_since + WELL_FOR_MS);
	return picture->time->now - a->well_since < WELL_FOR_MS;
}

void health_look(struct ailments *ailments)
{
	vec_for_each (struct ailment, a, ailments) {
		a->ill = false;
	}
	for (uint32_t i = 0; i < world_node_slots(ailments->picture->world); i++) {
		const struct node_state *s = world_state_of(ailments->picture->world, i);
		for (uint32_t k = 0; is_fresh(ailments, s) && k < s->device_count; k++) {
			if (s->devices[k].why != NULL) {
				ailment_note(ailments, i, s, &s->devices[k]);
			}
		}
	}
	for (size_t i = ailments->count; i-- > 0;) {
		if (!ailment_lasts(ailments, &ailments->items[i])) {
			ailment_free(&ailments->items[i]);
			VEC_REMOVE_SWAP(ailments, i);
		}
	}
}

static struct ailment *ailment_of(const struct ailments *ailments, const struct holder *h)
{
	return ailments->count > 0 && h->pod.identity != NULL
		       ? ailment_find(ailments, h->pod.identity->uuid, h->node)
		       : NULL;
}

bool health_is_bad(struct ailments *ailments, const struct holder *h)
{
	struct ailment *a = ailment_of(ailments, h);
	if (a != NULL) {
		a->last_at = ailments->picture->time->now;
	}
	return a != NULL;
}

bool health_is_ill(const struct ailments *ailments, const struct holder *h)
{
	const struct ailment *a = ailment_of(ailments, h);
	return a != NULL && a->ill;
}

bool health_wants_state(const struct ailments *ailments, const char *node)
{
	return health_count(ailments, node) > 0;
}

uint32_t health_count(const struct ailments *ailments, const char *node)
{
	uint32_t n = 0;
	vec_for_each (const struct ailment, a, ailments) {
		n += strcmp(a->node, node) == 0 ? 1 : 0;
	}
	return n;
}

static bool lists_all(const struct node_state *s, const char *uuids)
{
	struct told t = told_of(uuids, NULL);
	while (told_next(&t)) {
		if (!is_listed(s, t.uuid)) {
			return false;
		}
	}
	return true;
}

bool health_shows_gone(
	const struct world *world, uint32_t node, const char *uuid, const char *uid, int64_t since)
{
	const struct node_state *s = world_state_of(world, node);
	if (s == NULL || uuid == NULL || s->seen_ms < since + SETTLE_MS) {
		return false;
	}
	for (uint32_t i = 0; i < s->pod_count; i++) {
		if (strcmp(s->pods[i], uid) == 0) {
			return false;
		}
	}
	return lists_all(s, uuid);
}

/* --- telling those whom it concerns, once --- */

/* One that is not bound yet is of the node where its GPU is told. */
static bool runs_or_will_on(
	const struct picture *picture, const struct world_pod *p, const struct gpu_at *gpu)
{
	uint32_t node = world_node_find(picture->world, gpu->node);
	uint32_t at = p->node == WORLD_NONE ? snap_gpu_of_pod(picture, p, gpu->uuid) : WORLD_NONE;
	return at != WORLD_NONE ? picture->snap.gpus.items[at].node == snap_node_at(picture, node)
				: p->node == node;
}

/* Where nobody has anything to do with it, whoever holds it first is told. */
bool gpu_tell(const struct picture *picture, const struct gpu_at *gpu, const char *reason,
	const char *text, struct emitter *out)
{
	uint32_t node = snap_node_of(picture, gpu->node),
		 at = snap_gpu_on(picture, gpu->uuid, node);
	bool any = false;
	for (size_t i = 0; i < world_class_count(picture->world, WORLD_TENANT); i++) {
		const struct world_pod *p = world_class_at(picture->world, WORLD_TENANT, i);
		if (p->gpu->uuid != NULL && gpu_list_has(p->gpu->uuid, gpu->uuid) &&
			runs_or_will_on(picture, p, gpu) && !world_pod_terminal(p)) {
			emit_warning(out, about_pod(p), reason, text);
			any = true;
		}
	}
	const struct world_pod *holder =
		at == WORLD_NONE ? NULL
				 : world_pod_find(picture->world, NAME_NAMESPACE,
					   picture->snap_gpus.items[at].holder->name);
	if (holder != NULL) {
		emit_warning(out, about_pod(holder), reason, text);
	}
	return any || holder != NULL;
}

static void tell_one(const struct picture *picture, struct ailment *a, struct emitter *out)
{
	CLEANUP(str_finish) struct str sentence = STR_INIT(1024);
	explain_unhealthy(&sentence, a->uuid, a->node, a->why);
	a->told = gpu_tell(picture, &(struct gpu_at){a->uuid, a->node}, "GpuUnhealthy",
		str_text(&sentence), out);
}

void health_report(struct ailments *ailments, struct orphans *orphans, struct emitter *out)
{
	vec_for_each (struct ailment, a, ailments) {
		/* One that nobody holds or uses does not cost a look at every tenant. */
		if (!a->told && gpu_is_anybodys(orphans, a->uuid, a->node)) {
			tell_one(ailments->picture, a, out);
		}
	}
}
