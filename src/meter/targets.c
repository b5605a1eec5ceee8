/* One record a pod that answers. */
#include "targets.h"

#include <stdio.h>
#include <stdlib.h>

#define EXPORTER_PORT 9400

struct name_key {
	const char *ns, *name;
};

static bool target_same(const void *owner, uint32_t slot, const void *key)
{
	const struct targets *t = owner;
	const struct name_key *k = key;
	const struct target *a = t->all.items[slot];
	return strcmp(a->name, k->name) == 0 && strcmp(a->ns, k->ns) == 0;
}

static uint32_t target_index(const struct targets *t, const char *ns, const char *name)
{
	struct name_key key = {ns, name};
	return map_find(&t->by_name, hash_pair(ns, name), &key);
}

static void target_free(struct target *a)
{
	free(a->ns);
	free(a->name);
	free(a->node);
	free(a->to);
	free(a->path);
	free(a);
}

static void target_remove(struct targets *t, uint32_t at)
{
	struct target *a = t->all.items[at];
	uint32_t last = (uint32_t)t->all.count - 1;
	const struct target *moved = t->all.items[last];
	t->drop(t->data, a);
	t->apps -= a->kind == TARGET_APP ? 1 : 0;
	map_remove(&t->by_name, hash_pair(a->ns, a->name), at);
	if (at != last) {
		uint64_t hash = hash_pair(moved->ns, moved->name);
		map_remove(&t->by_name, hash, last);
		map_put(&t->by_name, hash, at);
	}
	VEC_REMOVE_SWAP(&t->all, at);
	target_free(a);
}

static void remove_named(struct targets *t, const char *ns, const char *name)
{
	uint32_t at = target_index(t, ns, name);
	if (at != MAP_NONE) {
		target_remove(t, at);
	}
}

/* --- is it one? --- */

struct door {
	enum target_kind kind;
	int64_t port;
	const char *path; /* NULL: /metrics */
};

static bool is_exporter(const struct scrape_exporter *e, const struct pod *p)
{
	return e->ns != NULL && text_equals(p->ns, e->ns) &&
	       text_equals(pairs_get(&p->labels, e->key), e->value);
}

static bool door_of(const struct targets *t, const struct pod *p, struct door *ret)
{
	const struct scrape_config *c = &t->config;
	if (pod_is_agent(p, text_or(c->agent_ns, NAME_NAMESPACE))) {
		*ret = (struct door){.kind = TARGET_AGENT, .port = p->metrics_port};
		return c->agents;
	}
	if (is_exporter(&c->exporter, p)) {
		int64_t port = c->exporter.port > 0 ? c->exporter.port : p->metrics_port;
		*ret = (struct door){
			.kind = TARGET_EXPORTER, .port = port > 0 ? port : EXPORTER_PORT};
		return true;
	}
	/* On its node's network anybody could be meant by a port. */
	*ret = (struct door){.kind = TARGET_APP, .port = p->scrape_port, .path = p->scrape_path};
	return c->apps && (pod_is_tenant(p) || p->gpus > 0) && !p->on_node_network;
}

static bool answers(const struct pod *p)
{
	return p->phase == POD_RUNNING && p->deleting_ms == 0 && p->address != NULL &&
	       !text_empty(p->node);
}

/* --- keeping them --- */

static bool has_target_room(struct targets *t, enum target_kind kind)
{
	bool room = kind == TARGET_APP ? t->apps < SCRAPE_APPS_MAX
				       : t->all.count - t->apps < SCRAPE_NODES_MAX;
	t->crowded = t->crowded || !room;
	return room;
}

static struct target *target_add(struct targets *t, const struct pod *p, enum target_kind kind)
{
	if (!has_target_room(t, kind)) {
		return NULL;
	}
	struct target *a = xcalloc(1, sizeof *a);
	a->kind = kind;
	a->ns = xstrdup(p->ns);
	a->name = xstrdup(p->name);
	t->apps += kind == TARGET_APP ? 1 : 0;
	VEC_PUSH(&t->all, a);
	map_put(&t->by_name, hash_pair(p->ns, p->name), (uint32_t)t->all.count - 1);
	return a;
}

static void target_text_set(char **slot, const char *value)
{
	char *copy = xstrdup(value);
	free(*slot);
	*slot = copy;
}

/* True: it is new, or answers elsewhere. */
static bool target_set(struct targets *t, const struct pod *p, const struct door *door)
{
	char to[128];
	uint32_t at = target_index(t, p->ns, p->name);
	if (at != MAP_NONE && t->all.items[at]->kind != door->kind) {
		target_remove(t, at);
		at = MAP_NONE;
	}
	struct target *a = at != MAP_NONE ? t->all.items[at] : target_add(t, p, door->kind);
	if (a == NULL) {
		return false;
	}
	snprintf(to, sizeof to, "%.90s:%lld", p->address, (long long)door->port);
	a->mark = t->mark;
	if (text_equals(a->to, to) && text_equals(a->path, door->path) &&
		text_equals(a->node, p->node)) {
		return false;
	}
	t->drop(t->data, a);
	target_text_set(&a->to, to);
	target_text_set(&a->path, door->path);
	target_text_set(&a->node, p->node);
	a->backoff.attempt = 0;
	a->next_at = 0;
	return true;
}

static bool target_observe_pod(struct targets *t, const struct pod *p)
{
	struct door door;
	if (answers(p) && door_of(t, p, &door) && door.port > 0) {
		return target_set(t, p, &door);
	}
	remove_named(t, p->ns, p->name);
	return false;
}

static void target_keep(struct targets *t, const struct change *c)
{
	uint32_t at = c->ns != NULL && c->name != NULL ? target_index(t, c->ns, c->name) : MAP_NONE;
	if (at != MAP_NONE) {
		t->all.items[at]->mark = t->mark;
	}
}

static void targets_sweep(struct targets *t)
{
	for (uint32_t i = (uint32_t)t->all.count; i-- > 0;) {
		if (t->all.items[i]->mark != t->mark) {
			target_remove(t, i);
		}
	}
}

bool targets_observe(struct targets *t, const struct change *c)
{
	if (c->kind != KIND_POD) {
		return false;
	}
	if (c->type == CHANGE_SET) {
		return target_observe_pod(t, c->pod);
	}
	if (c->type == CHANGE_GONE && c->ns != NULL && c->name != NULL) {
		remove_named(t, c->ns, c->name);
	} else if (c->type == CHANGE_KEEP) {
		target_keep(t, c);
	} else if (c->type == CHANGE_RELIST_BEGIN) {
		t->mark++;
		t->crowded = false;
	} else if (c->type == CHANGE_RELIST_END && !c->no_sweep) {
		targets_sweep(t);
	}
	return false;
}

const char *target_kind_name(enum target_kind kind)
{
	static const char *const names[] = {"agent", "exporter", "application"};
	return kind < TARGET_KINDS ? names[kind] : "";
}

void targets_init(struct targets *t, const struct scrape_config *config)
{
	t->config = *config;
	map_init(&t->by_name, target_same, t);
}

void targets_finish(struct targets *t)
{
	while (t->all.count > 0) {
		target_remove(t, (uint32_t)t->all.count - 1);
	}
	VEC_FINISH(&t->all);
	map_finish(&t->by_name);
}
