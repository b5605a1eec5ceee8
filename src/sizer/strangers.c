/* A kind that has nothing any more is forgotten, so that those in the table are those of now. */
#include "sizer/strange.h"

#include <stdlib.h>

#include "state.h"

/* A pod that waits for its node has none. */
static int64_t milli_of(const struct world_pod *wp)
{
	const struct world_gpu *g = wp->gpu;
	if (wp->node == WORLD_NONE) {
		return 0;
	}
	if (g->class == WORLD_TENANT) {
		return g->milli * (g->devices > 1 ? g->devices : 1);
	}
	return g->gpus * MODEL_GPU_MILLI;
}

static struct strange_kind *kind_of(struct strange *t, const struct workload_key *key)
{
	for (size_t i = 0; i < t->kinds.count; i++) {
		struct strange_kind *k = &t->kinds.items[i];
		if (text_equals(k->kind, key->kind) && text_equals(k->group, key->group)) {
			return k;
		}
	}
	if (t->kinds.count >= SIZER_STRANGE_MAX) {
		return NULL;
	}
	struct strange_kind fresh = {.group = xstrdup(key->group), .kind = xstrdup(key->kind)};
	VEC_PUSH(&t->kinds, fresh);
	return &t->kinds.items[t->kinds.count - 1];
}

static void drop(struct strange *t, size_t i)
{
	free(t->kinds.items[i].group);
	free(t->kinds.items[i].kind);
	t->kinds.items[i] = t->kinds.items[--t->kinds.count];
}

void strange_begin(struct strange *t)
{
	for (size_t i = 0; i < t->kinds.count; i++) {
		t->kinds.items[i].next = 0;
	}
	t->next_rest = t->next_alone = 0;
}

void strange_count(struct strange *t, const struct sized *of, const struct world_pod *wp)
{
	int64_t milli = milli_of(wp);
	if (milli == 0 || (of != NULL && !of->strange)) {
		return;
	}
	if (of == NULL) {
		t->next_alone += milli;
		return;
	}
	struct strange_kind *k = kind_of(t, &of->key);
	*(k != NULL ? &k->next : &t->next_rest) += milli;
}

void strange_end(struct strange *t)
{
	for (size_t i = t->kinds.count; i-- > 0;) {
		t->kinds.items[i].milli = t->kinds.items[i].next;
		if (t->kinds.items[i].milli == 0) {
			drop(t, i);
		}
	}
	t->rest = t->next_rest;
	t->alone = t->next_alone;
}

void strange_finish(struct strange *t)
{
	while (t->kinds.count > 0) {
		drop(t, t->kinds.count - 1);
	}
	VEC_FINISH(&t->kinds);
}

size_t sizer_strange_rows(const struct sizer *s)
{
	return s->strange.kinds.count + (s->strange.rest > 0 ? 1 : 0);
}

void sizer_strange_row(const struct sizer *s, size_t i, struct strange_row *ret)
{
	const struct strange *t = &s->strange;
	*ret = (struct strange_row){.milli = t->rest};
	if (i < t->kinds.count) {
		const struct strange_kind *k = &t->kinds.items[i];
		*ret = (struct strange_row){k->group, k->kind, k->milli};
	}
}

int64_t sizer_ownerless_milli(const struct sizer *s)
{
	return s->strange.alone;
}
