/* Deployments, ReplicaSets and their pods, as the objects tell. */
#include "work_objects.h"

#include "json/decode.h"
#include "model/names.h"
#include "objects/sim_parts.h"

const char *work_of(const struct stored *o)
{
	return o->resource == RES_PODS ? pairs_get(&o->pod.labels, LABEL_WORK) : NULL;
}

bool work_is_ready(const struct stored *o)
{
	return o->pod.phase == POD_RUNNING && o->pod.ready && o->pod.deleting_ms == 0;
}

int64_t work_number(const json_t *value, const char *path)
{
	return json_integer_value(decode_find(value, path));
}

const char *work_text(const json_t *value, const char *path)
{
	return json_string_value(decode_find(value, path));
}

bool work_is_running(const struct stored *o)
{
	return work_of(o) != NULL && o->pod.phase == POD_RUNNING && o->pod.deleting_ms == 0;
}

bool work_is_surging(const struct stored *o)
{
	return work_of(o) != NULL && (o->pod.beside || o->pod.surged);
}

/* Its reference to the controller; NULL: nobody controls it. */
json_t *work_controller(const json_t *value)
{
	size_t i;
	json_t *owner;
	json_array_foreach(
		(json_t *)(uintptr_t)decode_find(value, "metadata.ownerReferences"), i, owner)
	{
		if (json_is_true(json_object_get(owner, "controller"))) {
			return owner;
		}
	}
	return NULL;
}

const char *work_set_of(const struct stored *o)
{
	const json_t *owner = work_controller(o->value);
	return owner != NULL ? json_string_value(json_object_get(owner, "name")) : NULL;
}

bool work_controlled_by(const json_t *value, const struct stored *owner)
{
	const char *uid = json_string_value(json_object_get(work_controller(value), "uid"));
	return text_equals(uid, owner->uid);
}

bool work_is_active(const struct stored *o)
{
	return o->resource == RES_PODS && !pod_is_terminal(&o->pod) && o->pod.deleting_ms == 0;
}

bool work_set_counts(const struct stored *set, const struct stored *o)
{
	return work_is_active(o) && work_controlled_by(o->value, set);
}

static int64_t deletion_cost(const struct stored *o)
{
	const json_t *notes = decode_find(o->value, "metadata.annotations");
	const char *text = json_string_value(json_object_get(notes, NOTE_DELETION_COST));
	int64_t cost = 0;
	return text != NULL && parse_i64(view_of(text), INT32_MIN, INT32_MAX, &cost) ? cost : 0;
}

static int64_t on_node_of(const struct sim *s, const struct stored *set, const struct stored *o,
	const struct stored *more)
{
	int64_t n = 0;
	for (size_t i = 0; i < s->store.items.count; i++) {
		const struct stored *p = s->store.items.items[i];
		bool one = p->resource == RES_PODS && (p == more || work_set_counts(set, p));
		n += one && text_equals(p->pod.node, o->pod.node);
	}
	return n;
}

static int64_t ready_since(const struct stored *o)
{
	size_t i;
	json_t *c;
	int64_t ms = 0;
	json_array_foreach((json_t *)(uintptr_t)decode_find(o->value, "status.conditions"), i, c)
	{
		const char *at = json_string_value(json_object_get(c, "lastTransitionTime"));
		if (text_equals(json_string_value(json_object_get(c, "type")), "Ready") &&
			at != NULL && !time_parse(at, &ms)) {
			ms = 0;
		}
	}
	return ms;
}

struct ranked {
	const struct stored *o;
	int64_t keys[6]; /* the least goes first */
};
#define COST 3 /* of the keys: the deletion cost */

/* In the order of Kubernetes: not assigned, pending, not Ready, cheap, crowded, young. */
static struct ranked deletion_rank(const struct sim *s, const struct stored *set,
	const struct stored *o, const struct stored *more)
{
	return (struct ranked){
		o, {!text_empty(o->pod.node), o->pod.phase == POD_RUNNING, o->pod.ready,
			   deletion_cost(o), -on_node_of(s, set, o, more), -ready_since(o)}};
}

static bool is_deleted_before(const struct ranked *a, const struct ranked *b)
{
	for (size_t i = 0; i < COUNT_OF(a->keys); i++) {
		if (a->keys[i] != b->keys[i]) {
			return a->keys[i] < b->keys[i];
		}
	}
	return a->o->born > b->o->born;
}

const struct stored *sets_victim(const struct sim *s, const struct stored *set,
	const struct stored *more, const struct stored *cheap)
{
	struct ranked best = {.o = NULL};
	for (size_t i = 0; i < s->store.items.count; i++) {
		const struct stored *o = s->store.items.items[i];
		if (o->resource != RES_PODS || (o != more && !work_set_counts(set, o))) {
			continue;
		}
		struct ranked r = deletion_rank(s, set, o, more);
		r.keys[COST] = o == cheap ? SURGE_COST : r.keys[COST];
		if (best.o == NULL || is_deleted_before(&r, &best)) {
			best = r;
		}
	}
	return best.o;
}

void work_put(struct sim *s, const struct stored *o, json_t *draft)
{
	struct stored *made = store_put(&s->store, o->resource, draft, ACTOR_CLUSTER);
	ENSURE(made != NULL);
}

bool work_is_set_of(const struct stored *o, const struct stored *deployment)
{
	return o->resource == RES_SETS && work_controlled_by(o->value, deployment);
}

const char *work_version(const struct stored *o)
{
	return work_text(o->value, "spec.template.metadata.annotations.version");
}

const struct stored *work_newest(const struct sim *s, const struct stored *deployment)
{
	for (size_t i = 0; i < s->store.items.count; i++) {
		const struct stored *o = s->store.items.items[i];
		if (work_is_set_of(o, deployment) &&
			text_equals(work_version(o), work_version(deployment))) {
			return o;
		}
	}
	return NULL;
}

static const json_t *object_labels(const struct stored *o)
{
	return decode_find(o->value, "metadata.labels");
}

bool work_selects(const json_t *selector, const struct stored *o)
{
	const char *key;
	json_t *value;
	const json_t *labels = object_labels(o);
	json_object_foreach((json_t *)(uintptr_t)selector, key, value)
	{
		if (!text_equals(json_string_value(json_object_get(labels, key)),
			    json_string_value(value))) {
			return false;
		}
	}
	return json_object_size(selector) > 0;
}
