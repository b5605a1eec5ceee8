/* One record a pod that answers. */
#include "targets.h"

#include "model/mirror.h"

#define EXPORTER_PORT 9400

static struct target *target_find(const struct targets *t, const char *ns, const char *name)
{
	return (struct target *)(void *)table_find(&t->all, ns, name);
}

static void target_drop(void *data, struct table_row *row)
{
	struct targets *t = data;
	struct target *a = (struct target *)(void *)row;
	t->drop(t->data, a);
	t->apps -= a->kind == TARGET_APP ? 1 : 0;
	free((char *)(uintptr_t)row->ns);
	free((char *)(uintptr_t)row->name);
	free(a->node);
	free(a->to);
	free(a->path);
	free(a);
}

/* --- is it one? --- */

struct door {
	enum target_kind kind;
	int64_t port;
	const char *path; /* NULL: /metrics */
};

static bool door_of(const struct targets *t, const struct pod *p, struct door *ret)
{
	const struct scrape_config *c = &t->config;
	if (pod_is_agent(p, text_or(c->agent_ns, NAME_NAMESPACE))) {
		*ret = (struct door){.kind = TARGET_AGENT, .port = p->metrics_port};
		return c->agents;
	}
	if (c->exporter.ns != NULL && text_equals(p->ns, c->exporter.ns) &&
		text_equals(pairs_get(&p->labels, c->exporter.key), c->exporter.value)) {
		int64_t port = c->exporter.port > 0 ? c->exporter.port : p->metrics_port;
		*ret = (struct door){
			.kind = TARGET_EXPORTER, .port = port > 0 ? port : EXPORTER_PORT};
		return true;
	}
	/* On its node's network anybody could be meant by a port. */
	*ret = (struct door){.kind = TARGET_APP, .port = p->scrape_port, .path = p->scrape_path};
	return c->apps && (pod_is_tenant(p) || p->gpus > 0) && !p->on_node_network;
}

/* --- keeping them --- */

static struct target *target_add(struct targets *t, const struct pod *p, enum target_kind kind)
{
	bool room = kind == TARGET_APP ? t->apps < SCRAPE_APPS_MAX
				       : t->all.rows.count - t->apps < SCRAPE_NODES_MAX;
	t->crowded = t->crowded || !room;
	if (!room) {
		return NULL;
	}
	struct target *a = xcalloc(1, sizeof *a);
	a->kind = kind;
	a->row.ns = xstrdup(p->ns);
	a->row.name = xstrdup(p->name);
	t->apps += kind == TARGET_APP ? 1 : 0;
	table_add(&t->all, &a->row);
	return a;
}

/* True: it is new, or answers elsewhere. */
static bool target_set(struct targets *t, const struct pod *p, const struct door *door)
{
	char to[128];
	struct target *a = target_find(t, p->ns, p->name);
	if (a != NULL && a->kind != door->kind) {
		table_remove(&t->all, &a->row);
		a = NULL;
	}
	a = a != NULL ? a : target_add(t, p, door->kind);
	if (a == NULL) {
		return false;
	}
	snprintf(to, sizeof to, "%.90s:%lld", p->address, (long long)door->port);
	a->row.mark = t->all.mark;
	if (text_equals(a->to, to) && text_equals(a->path, door->path) &&
		text_equals(a->node, p->node)) {
		return false;
	}
	t->drop(t->data, a);
	text_set(&a->to, to);
	text_set(&a->path, door->path);
	text_set(&a->node, p->node);
	a->backoff.attempt = 0;
	a->next_at = 0;
	return true;
}

bool targets_observe(struct targets *t, const struct change *c)
{
	struct door door;
	if (c->kind != KIND_POD) {
		return false;
	}
	if (c->type != CHANGE_SET) {
		t->crowded = t->crowded && c->type != CHANGE_RELIST_BEGIN;
		mirror_follow(&t->all, c);
		return false;
	}
	bool answers = c->pod->phase == POD_RUNNING && c->pod->deleting_ms == 0 &&
		       c->pod->address != NULL && !text_empty(c->pod->node);
	if (answers && door_of(t, c->pod, &door) && door.port > 0) {
		return target_set(t, c->pod, &door);
	}
	struct target *a = target_find(t, c->pod->ns, c->pod->name);
	if (a != NULL) {
		table_remove(&t->all, &a->row);
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
	table_init(&t->all, target_drop, t);
}

void targets_finish(struct targets *t)
{
	table_finish(&t->all);
}
