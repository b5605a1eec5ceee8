/* A kind that has nothing any more is forgotten, so that those in the table are those of now. */
#include "owner/strangers.h"

#include <stdlib.h>

#include "owner/kinds.h"

static struct stranger *stranger_of_kind(struct strangers *t, const struct workload_key *key)
{
	for (size_t i = 0; i < t->kinds.count; i++) {
		struct stranger *k = &t->kinds.items[i];
		if (text_equals(k->kind, key->kind) && text_equals(k->group, key->group)) {
			return k;
		}
	}
	if (t->kinds.count >= STRANGERS_MAX) {
		return NULL;
	}
	struct stranger fresh = {.group = xstrdup(key->group), .kind = xstrdup(key->kind)};
	VEC_PUSH(&t->kinds, fresh);
	return &t->kinds.items[t->kinds.count - 1];
}

static void stranger_remove(struct strangers *t, size_t i)
{
	free(t->kinds.items[i].group);
	free(t->kinds.items[i].kind);
	t->kinds.items[i] = t->kinds.items[--t->kinds.count];
}

void strangers_begin(struct strangers *t)
{
	for (size_t i = 0; i < t->kinds.count; i++) {
		t->kinds.items[i].next = (struct stranger_sum){0};
	}
	t->next_rest = t->next_alone = (struct stranger_sum){0};
}

static void sum_add_pod(struct stranger_sum *sum, int64_t milli)
{
	if (__builtin_add_overflow(sum->milli, milli, &sum->milli)) {
		sum->milli = INT64_MAX;
	}
	sum->pods++;
}

bool strangers_count(struct strangers *t, const struct workload_key *of, int64_t milli)
{
	if (milli == 0) {
		return false;
	}
	if (of == NULL) {
		sum_add_pod(&t->next_alone, milli);
		return true;
	}
	if (owner_row_find(view_of(of->group), of->kind) != NULL) {
		return false;
	}
	struct stranger *k = stranger_of_kind(t, of);
	sum_add_pod(k != NULL ? &k->next : &t->next_rest, milli);
	return true;
}

void strangers_end(struct strangers *t)
{
	for (size_t i = t->kinds.count; i-- > 0;) {
		t->kinds.items[i].last = t->kinds.items[i].next;
		if (t->kinds.items[i].last.pods == 0) {
			stranger_remove(t, i);
		}
	}
	t->rest = t->next_rest;
	t->alone = t->next_alone;
}

void strangers_finish(struct strangers *t)
{
	while (t->kinds.count > 0) {
		stranger_remove(t, t->kinds.count - 1);
	}
	VEC_FINISH(&t->kinds);
}

size_t strangers_rows(const struct strangers *t)
{
	return t->kinds.count + (t->rest.pods > 0 ? 1 : 0);
}

struct stranger_row strangers_row(const struct strangers *t, size_t i)
{
	if (i >= t->kinds.count) {
		return (struct stranger_row){.sum = t->rest};
	}
	const struct stranger *k = &t->kinds.items[i];
	return (struct stranger_row){k->group, k->kind, k->last};
}
