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

static void missed_drop(struct world *w, size_t i)
{
	intern_release(w->words, w->missed.items[i].ns);
	free(w->missed.items[i].name);
	VEC_REMOVE_SWAP(&w->missed, i);
	w->version++;
}

static void missed_add(struct world *w, const char *ns, const char *name)
{
	VEC_PUSH(&w->missed, ((struct missed){.ns = intern_add(w->words, ns),
				     .name = name != NULL ? xstrdup(name) : NULL,
				     .mark = w->sync[KIND_POD].mark}));
	w->version++;
}

static void drop_all_of(struct world *w, const char *ns)
{
	for (size_t i = w->missed.count; i-- > 0;) {
		if (strcmp(w->missed.items[i].ns, ns) == 0) {
			missed_drop(w, i);
		}
	}
}

void missed_note(struct world *w, const char *ns, const char *name)
{
	const char *known = intern_find(w->words, ns);
	const size_t length = strlen(name);
	bool any = length == 0 || length > NAME_LENGTH_MAX;
	unsigned names = 0;
	vec_for_each (struct missed, m, &w->missed) {
		bool same_ns = m->ns == known;
		if (same_ns && (m->name == NULL || strcmp(m->name, name) == 0)) {
			m->mark = w->sync[KIND_POD].mark;
			return;
		}
		names += same_ns;
	}
	if (any || names >= NAMES_MAX) {
		drop_all_of(w, ns);
		name = NULL;
	}
	missed_add(w, ns, name);
}

/* Called for every pod event, so the namespace is compared by its interned address. */
void missed_forget(struct world *w, const char *ns, const char *name)
{
	const char *known = w->missed.count > 0 ? intern_find(w->words, ns) : NULL;
	for (size_t i = 0; i < w->missed.count && known != NULL; i++) {
		const struct missed *m = &w->missed.items[i];
		if (m->ns == known && m->name != NULL && strcmp(m->name, name) == 0) {
			missed_drop(w, i);
			return;
		}
	}
}

void missed_sweep(struct world *w, uint32_t mark)
{
	for (size_t i = w->missed.count; i-- > 0;) {
		if (w->missed.items[i].mark != mark) {
			missed_drop(w, i);
		}
	}
}

void missed_finish(struct world *w)
{
	while (w->missed.count > 0) {
		missed_drop(w, w->missed.count - 1);
	}
	VEC_FINISH(&w->missed);
}

void world_missed(struct world *w, enum kind kind)
{
	w->sync[kind].blind = w->sync[kind].blind_now = true;
}
