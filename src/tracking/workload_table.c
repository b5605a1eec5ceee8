/* Workloads by the name of their GPURecommendation, and their containers. */
#include "tracking/workload_table.h"

#include <stdlib.h>

#include "base/intern.h"
#include "owner/kinds.h"

#define TEXT_MAX 1024

static bool sized_pod_has_uid(const void *owner, uint32_t slot, const void *key)
{
	const struct tracking *s = owner;
	return text_equals(s->pods.items[slot]->uid, key);
}

static void workload_free(void *data, struct table_row *row)
{
	struct tracking *s = data;
	struct sized_workload *x = (struct sized_workload *)row;
	ENSURE(x->pods == 0 && x->containers.count == 0);
	VEC_FINISH(&x->containers);
	names_set(s, &x->key.ns, NULL);
	names_set(s, &x->key.group, NULL);
	names_set(s, &x->key.kind, NULL);
	names_set(s, &x->policy, NULL);
	free(x->uid);
	free(x->want);
	free(x);
}

void tracking_init(struct tracking *s, const struct sizer_config *config)
{
	s->config = *config;
	s->scratch.block_bytes = 4096;
	s->names = intern_create();
	table_init(&s->workloads, workload_free, s);
	map_init(&s->by_uid, sized_pod_has_uid, s);
	bill_groups_init(&s->labels);
	write_pace_init(&s->pace);
}

void tracking_finish(struct tracking *s)
{
	VEC_FINISH(&s->pods);
	table_finish(&s->workloads);
	VEC_FINISH(&s->requests);
	slab_finish(&s->records);
	bill_groups_finish(&s->labels);
	map_finish(&s->by_uid);
	intern_destroy(s->names);
	arena_finish(&s->scratch);
}

void names_set(struct tracking *s, const char **slot, const char *text)
{
	if (!text_equals(*slot, text)) {
		const char *former = *slot;
		*slot = intern_add(s->names, text);
		intern_release(s->names, former);
	}
}

struct sized_workload *sized_find(const struct tracking *s, const char *ns, const char *object)
{
	return (struct sized_workload *)table_find(&s->workloads, ns, object);
}

static bool text_is_too_long(const char *text)
{
	return text == NULL || strlen(text) > TEXT_MAX;
}

static struct sized_workload *workload_create(
	struct tracking *s, const struct workload_key *key, const char *object)
{
	size_t n = strlen(object) + 1, len = strlen(key->name) + 1;
	struct sized_workload *x = xcalloc(1, sizeof *x + n + len);
	memcpy(x->names, object, n);
	memcpy(x->names + n, key->name, len);
	x->key = (struct workload_key){intern_add(s->names, key->ns),
		intern_add(s->names, key->group), intern_add(s->names, key->kind), x->names + n};
	x->row = (struct table_row){.ns = x->key.ns, .name = x->names};
	x->strange = owner_row_find(view_of(key->group), key->kind) == NULL;
	table_add(&s->workloads, &x->row);
	return x;
}

struct sized_workload *sized_of(struct tracking *s, const struct workload_key *key)
{
	CLEANUP(arena_finish) struct arena arena = {.block_bytes = 512};
	if (text_is_too_long(key->ns) || text_is_too_long(key->group) ||
		text_is_too_long(key->kind) || text_is_too_long(key->name)) {
		return NULL;
	}
	const char *object = workload_object_name(key, &arena);
	struct sized_workload *x = sized_find(s, key->ns, object);
	if (x != NULL) {
		return workload_key_equals(&x->key, key) ? x : NULL;
	}
	bool room = s->workloads.rows.count < SIZER_WORKLOADS_MAX;
	return room ? workload_create(s, key, object) : NULL;
}

/* --- containers --- */

struct sized_container *sized_container_find(const struct sized_workload *x, const char *name)
{
	for (size_t i = 0; i < x->containers.count; i++) {
		if (text_equals(x->containers.items[i]->name, name)) {
			return x->containers.items[i];
		}
	}
	return NULL;
}

struct sized_container *sized_container_of(struct sized_workload *x, const char *name)
{
	struct sized_container *c = sized_container_find(x, name);
	if (c != NULL) {
		return c;
	}
	if (x->containers.count >= SIZER_CONTAINERS_MAX) {
		return NULL;
	}
	size_t len = strlen(name);
	c = xcalloc(1, sizeof *c + len + 1);
	memcpy(c->name, name, len + 1);
	c->history = history_create();
	/* Nearly all have one; there are few in any case. */
	x->containers.items = xreallocarray(
		x->containers.items, x->containers.count + 1, sizeof(struct sized_container *));
	x->containers.items[x->containers.count++] = c;
	x->containers.room = x->containers.count;
	return c;
}

void sized_container_forget(const struct sized_workload *x, struct sized_container *c)
{
	bool part = c->told.milli > 0 && c->told.milli < MODEL_GPU_MILLI && c->told.mib > 0;
	history_destroy(c->history);
	c->history = history_create();
	c->fitted = false;
	c->facts = (struct kept_history){0};
	c->answer = (struct kept_recommendation){0};
	c->in_force = share_widened(c->told);
	c->converted = part && x->holds;
	c->save = (struct checkpoint_state){
		0}; /* who led meanwhile may have written one, or removed it */
	healing_forget(c);
}

void sized_container_drop(struct sized_workload *x, struct sized_container *c)
{
	ENSURE(c->feeds == 0);
	for (size_t i = 0; i < x->containers.count; i++) {
		if (x->containers.items[i] == c) {
			VEC_REMOVE_SWAP(&x->containers, i);
			break;
		}
	}
	history_destroy(c->history);
	healing_forget(c);
	free(c->refused);
	free(c);
}
