/* A chain holds whole namespaces, so that those of one are counted by walking it; and nobody has
 * more than PODGROUPS_PER_NAMESPACE there. */
#include "owner/podgroups.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"

#define CHAINS 1024

struct item {
	struct item *next; /* owned */
	uint32_t mark;
	size_t name_at; /* in `text` */
	char text[];	/* namespace, NUL, name, NUL */
};

struct podgroups {
	struct item *chains[CHAINS]; /* owned */
	size_t count;
	uint64_t unkept;
	uint32_t mark; /* of the relist that runs or ran last */
	bool stale;
};

struct podgroups *podgroups_create(void)
{
	return xcalloc(1, sizeof(struct podgroups));
}

static void podgroup_unlink(struct podgroups *g, struct item **slot)
{
	struct item *gone = *slot;
	*slot = gone->next;
	free(gone);
	g->count--;
}

void podgroups_destroy(struct podgroups *g)
{
	for (size_t i = 0; g != NULL && i < CHAINS; i++) {
		while (g->chains[i] != NULL) {
			podgroup_unlink(g, &g->chains[i]);
		}
	}
	free(g);
}

static size_t chain_of(const char *ns)
{
	return key_text(ns) % CHAINS;
}

static bool podgroup_is_named(const struct item *i, const char *ns, const char *name)
{
	return strcmp(i->text, ns) == 0 && strcmp(i->text + i->name_at, name) == 0;
}

/* Where it hangs, or would; and how many others of its namespace hang before. */
static struct item **podgroup_slot(
	struct podgroups *g, const char *ns, const char *name, uint32_t *ret_before)
{
	struct item **slot = &g->chains[chain_of(ns)];
	*ret_before = 0;
	while (*slot != NULL && !podgroup_is_named(*slot, ns, name)) {
		*ret_before += strcmp((*slot)->text, ns) == 0;
		slot = &(*slot)->next;
	}
	return slot;
}

static void podgroup_forget(struct podgroups *g, const char *ns, const char *name)
{
	uint32_t before;
	struct item **slot = podgroup_slot(g, text_or(ns, ""), text_or(name, ""), &before);
	if (*slot != NULL) {
		podgroup_unlink(g, slot);
	}
}

static void podgroup_set(struct podgroups *g, const struct pod_group *noun)
{
	uint32_t before;
	struct item **slot = podgroup_slot(g, noun->ns, noun->name, &before);
	if (!noun->basic) {
		podgroup_forget(g, noun->ns, noun->name);
		return;
	}
	if (*slot == NULL && (before >= PODGROUPS_PER_NAMESPACE || g->count >= PODGROUPS_MAX)) {
		g->unkept++;
		return;
	}
	if (*slot == NULL) {
		size_t ns = strlen(noun->ns) + 1, name = strlen(noun->name) + 1;
		struct item *made = xcalloc(1, sizeof *made + ns + name);
		memcpy(made->text, noun->ns, ns);
		memcpy(made->text + ns, noun->name, name);
		made->name_at = ns;
		*slot = made;
		g->count++;
	}
	(*slot)->mark = g->mark;
}

/* Also where something unnamed could not be read: what was not seen again is not known any more. */
static void podgroups_remove_unmarked(struct podgroups *g)
{
	for (size_t i = 0; i < CHAINS; i++) {
		struct item **slot = &g->chains[i];
		while (*slot != NULL) {
			if ((*slot)->mark != g->mark) {
				podgroup_unlink(g, slot);
			} else {
				slot = &(*slot)->next;
			}
		}
	}
}

void podgroups_apply(struct podgroups *g, const struct change *c)
{
	if (c->type == CHANGE_SET) {
		podgroup_set(g, c->pod_group);
	} else if (c->type == CHANGE_GONE || c->type == CHANGE_KEEP) {
		/* What cannot be read may be another one by now. */
		podgroup_forget(g, c->ns, c->name);
	} else if (c->type == CHANGE_RELIST_BEGIN) {
		g->mark++;
	} else if (c->type == CHANGE_RELIST_END) {
		podgroups_remove_unmarked(g);
		g->stale = false;
	} else if (c->type == CHANGE_STALE || c->type == CHANGE_FRESH) {
		g->stale = c->type == CHANGE_STALE;
	}
}

bool podgroups_frees(const struct podgroups *g, const struct pod *pod)
{
	if (g == NULL || g->stale || pod->group_name == NULL || pod->ns == NULL) {
		return false;
	}
	const struct item *i = g->chains[chain_of(pod->ns)];
	while (i != NULL && !podgroup_is_named(i, pod->ns, pod->group_name)) {
		i = i->next;
	}
	return i != NULL;
}

size_t podgroups_count(const struct podgroups *g)
{
	return g->count;
}

uint64_t podgroups_unkept(const struct podgroups *g)
{
	return g->unkept;
}
