/* Pods that are there and were never read, by name: whoever may make pods in one namespace can make
 * one that nobody can read, and that is no reason to take anybody else for one that may still run.
 * A namespace with more of them than are kept counts as one in which any pod may be. */
#include "missed.h"

#include <stdlib.h>
#include <string.h>

#include "store.h"

/* So many names are kept of one namespace. */
#define NAMES_MAX 64
/* The API server takes no longer name. */
#define NAME_LENGTH_MAX 253

static void missed_drop(void *data, struct table_row *row)
{
	struct world *w = data;
	free(row);
	w->version++;
}

void missed_init(struct world *w)
{
	table_init(&w->missed, missed_drop, w);
}

static void missed_add(struct world *w, const char *ns, const char *name)
{
	size_t n = strlen(ns) + 1, m = strlen(name) + 1;
	struct missed *made = xcalloc(1, sizeof *made + n + m);
	memcpy(made->text, ns, n);
	memcpy(made->text + n, name, m);
	made->row = (struct table_row){.ns = made->text, .name = made->text + n};
	table_add(&w->missed, &made->row);
	w->version++;
}

void missed_note(struct world *w, const char *ns, const char *name)
{
	size_t names = 0;
	name = strlen(name) > NAME_LENGTH_MAX ? "" : name;
	struct table_row *known = table_find(&w->missed, ns, "");
	known = known != NULL ? known : table_find(&w->missed, ns, name);
	if (known != NULL) {
		known->mark = w->missed.mark;
		return;
	}
	for (size_t i = 0; i < w->missed.rows.count; i++) {
		names += strcmp(w->missed.rows.items[i]->ns, ns) == 0;
	}
	if (name[0] == '\0' || names >= NAMES_MAX) {
		name = "";
		for (size_t i = w->missed.rows.count; i-- > 0;) {
			if (strcmp(w->missed.rows.items[i]->ns, ns) == 0) {
				table_remove(&w->missed, w->missed.rows.items[i]);
			}
		}
	}
	missed_add(w, ns, name);
}

/* Called for every pod event. */
void missed_forget(struct world *w, const char *ns, const char *name)
{
	struct table_row *row = w->missed.rows.count > 0 ? table_find(&w->missed, ns, name) : NULL;
	if (row != NULL) {
		table_remove(&w->missed, row);
	}
}

void world_missed(struct world *w, enum kind kind)
{
	w->sync[kind].blind = w->sync[kind].blind_now = true;
}
