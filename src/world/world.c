/* What arrives, and which file it goes to; the marks of relists. */
#include "world/world.h"

#include <stdlib.h>

#include "claims.h"
#include "departed.h"
#include "namespaces.h"
#include "objects.h"
#include "pods.h"
#include "quotas.h"
#include "sightings.h"
#include "slices.h"
#include "spaces.h"
#include "takes.h"

/* A noun as bytes, none of which is as large (record/change.h). */
#define SCRATCH_MAX (4u << 20)

struct world *world_create(void)
{
	struct world *w = xcalloc(1, sizeof *w);
	w->words = intern_create();
	w->scratch = w->squeezed = (struct str)STR_INIT(SCRATCH_MAX);
	pods_init(w);
	departed_init(w);
	missed_init(w);
	objects_init(w);
	namespaces_init(w);
	quotas_init(w);
	claims_init(w);
	tally_init(&w->spaces);
	slices_init(w);
	sightings_init(w);
	return w;
}

void world_destroy(struct world *w)
{
	if (w == NULL) {
		return;
	}
	pods_finish(w);
	table_finish(&w->departed);
	objects_finish(w);
	table_finish(&w->claims);
	tally_finish(&w->spaces);
	table_finish(&w->sightings);
	table_finish(&w->missed);
	bits_finish(&w->changed);
	str_finish(&w->scratch);
	str_finish(&w->squeezed);
	intern_destroy(w->words);
	free(w);
}

static void kind_relist_begin(struct world *w, enum kind kind)
{
	w->sync[kind].relisting = true;
	w->sync[kind].mark++;
	w->sync[kind].blind_now = false;
	struct table *t = kind == KIND_POD	   ? &w->missed
			  : kind == KIND_NAMESPACE ? &w->namespaces
						   : table_of(w, kind);
	if (t != NULL) {
		t->mark = w->sync[kind].mark;
	}
}

static void kind_relist_end(struct world *w, enum kind kind, bool no_sweep)
{
	struct sync_state *s = &w->sync[kind];
	if (!s->relisting) {
		return;
	}
	if (no_sweep) {
		/* Something unnamed may be any of them. */
	} else if (kind == KIND_POD) {
		pods_sweep(w, s->mark);
	} else {
		objects_sweep(w, kind, s->mark);
	}
	s->blind = s->blind_now;
	s->relisting = false;
	s->complete = true;
	s->stale = false;
	w->version++;
}

void world_apply(struct world *w, const struct change *c)
{
	switch (c->type) {
	case CHANGE_SET:
		if (c->kind == KIND_POD) {
			pods_set(w, c->pod);
		} else {
			objects_set(w, c);
		}
		return;
	case CHANGE_GONE:
		if (c->kind == KIND_POD) {
			pods_gone(w, c);
		} else {
			objects_gone(w, c);
		}
		return;
	case CHANGE_KEEP:
		if (c->name == NULL) {
			world_missed(w, c->kind);
		} else if (c->kind == KIND_POD) {
			pods_keep(w, c);
		} else {
			objects_keep(w, c);
		}
		return;
	case CHANGE_RELIST_BEGIN:
		kind_relist_begin(w, c->kind);
		return;
	case CHANGE_RELIST_END:
		kind_relist_end(w, c->kind, c->no_sweep);
		return;
	case CHANGE_STALE:
		w->sync[c->kind].stale = true;
		return;
	case CHANGE_FRESH:
		w->sync[c->kind].stale = false;
		w->version++;
		return;
	case CHANGE_LEADER:
	case CHANGE_REACH:
	case CHANGE_SHARE:
	case CHANGE_AVOID_GPU:
	case CHANGE_HEARD:
	case CHANGE_RUNTIME:
		return;
	}
}

bool world_synced(const struct world *w, enum kind kind)
{
	return w->sync[kind].complete && !w->sync[kind].stale;
}

bool world_blind(const struct world *w, enum kind kind)
{
	return w->sync[kind].blind || w->sync[kind].relisting;
}

bool world_pod_unread(const struct world *w, const char *ns, const char *name)
{
	if (world_blind(w, KIND_POD) || ns == NULL) {
		return world_blind(w, KIND_POD) || w->missed.rows.count > 0;
	}
	bool found = name != NULL && (table_find(&w->missed, ns, name) != NULL ||
					     table_find(&w->missed, ns, "") != NULL);
	for (size_t i = 0; name == NULL && !found && i < w->missed.rows.count; i++) {
		found = strcmp(w->missed.rows.items[i]->ns, ns) == 0;
	}
	return found;
}

bool world_all_synced(const struct world *w)
{
	for (int k = 0; k < KIND_REQUIRED; k++) {
		if (!world_synced(w, (enum kind)k)) {
			return false;
		}
	}
	return true;
}

uint64_t world_nodes_version(const struct world *w)
{
	return w->nodes_version;
}

uint64_t world_version(const struct world *w)
{
	return w->version;
}

uint64_t world_policies_version(const struct world *w)
{
	return w->policies_version;
}

uint64_t world_policy_version(const struct world *w)
{
	return w->policy_version;
}

const struct bits *world_changed_pods(struct world *w)
{
	bits_reserve(&w->changed, w->pods.count);
	return &w->changed;
}

void world_changes_seen(struct world *w)
{
	bits_clear(&w->changed);
}
