/* Those that are Basic, by name; and how many there are in each namespace. */
#include "owner/podgroups.h"

#include <stdlib.h>
#include <string.h>

#include "base/tally.h"
#include "model/mirror.h"

struct item {
	struct table_row row;
	char text[]; /* namespace, NUL, name, NUL */
};

struct podgroups {
	struct table items;
	struct tally spaces;
	uint64_t unkept;
	bool stale;
};

static void podgroup_drop(void *data, struct table_row *row)
{
	struct podgroups *g = data;
	tally_take(&g->spaces, row->ns, 1);
	free(row);
}

struct podgroups *podgroups_create(void)
{
	struct podgroups *g = xcalloc(1, sizeof *g);
	table_init(&g->items, podgroup_drop, g);
	tally_init(&g->spaces);
	return g;
}

void podgroups_destroy(struct podgroups *g)
{
	if (g != NULL) {
		table_finish(&g->items);
		tally_finish(&g->spaces);
	}
	free(g);
}

static void podgroup_set(struct podgroups *g, const struct pod_group *noun)
{
	struct table_row *known = table_find(&g->items, noun->ns, noun->name);
	if (known != NULL && noun->basic) {
		known->mark = g->items.mark;
	} else if (known != NULL) {
		table_remove(&g->items, known);
	} else if (noun->basic && (tally_get(&g->spaces, noun->ns) >= PODGROUPS_PER_NAMESPACE ||
					  g->items.rows.count >= PODGROUPS_MAX)) {
		g->unkept++;
	} else if (noun->basic) {
		size_t ns = strlen(noun->ns) + 1, name = strlen(noun->name) + 1;
		struct item *made = xcalloc(1, sizeof *made + ns + name);
		memcpy(made->text, noun->ns, ns);
		memcpy(made->text + ns, noun->name, name);
		made->row = (struct table_row){.ns = made->text, .name = made->text + ns};
		table_add(&g->items, &made->row);
		tally_add(&g->spaces, noun->ns, 1);
	}
}

void podgroups_apply(struct podgroups *g, const struct change *change)
{
	struct change c = *change;
	if (c.type == CHANGE_SET) {
		podgroup_set(g, c.pod_group);
		return;
	}
	/* What cannot be read may be another one by now; without a name, any that is not seen
	 * again. */
	c.type = c.type == CHANGE_KEEP ? CHANGE_GONE : c.type;
	c.no_sweep = false;
	mirror_follow(&g->items, &c);
	g->stale = c.type == CHANGE_STALE ||
		   (g->stale && c.type != CHANGE_FRESH && c.type != CHANGE_RELIST_END);
}

bool podgroups_frees(const struct podgroups *g, const struct pod *pod)
{
	return g != NULL && !g->stale && pod->group_name != NULL && pod->ns != NULL &&
	       table_find(&g->items, pod->ns, pod->group_name) != NULL;
}

size_t podgroups_count(const struct podgroups *g)
{
	return g->items.rows.count;
}

uint64_t podgroups_unkept(const struct podgroups *g)
{
	return g->unkept;
}
