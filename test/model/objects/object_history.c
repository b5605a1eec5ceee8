/* Changes are kept as the objects before and after them; a picture is made from what is there now
 * by undoing what a controller had not been told yet. */
#include "object_history.h"

#include "sim_parts.h"

#define KEPT_MS	   200000
#define CLEAR_FROM 512

void past_end(struct sim *s)
{
	struct memory *m = &s->memory;
	vec_for_each (struct happened, h, &m->changes) {
		stored_drop(h->before);
		stored_drop(h->after);
	}
	VEC_FINISH(&m->changes);
	VEC_FINISH(&m->told);
}

static void clear_old(struct sim *s)
{
	struct memory *m = &s->memory;
	size_t old = 0;
	while (old < m->changes.count && m->changes.items[old].at < sim_now(s) - KEPT_MS) {
		old++;
	}
	if (old < CLEAR_FROM) {
		return;
	}
	for (size_t i = 0; i < old; i++) {
		stored_drop(m->changes.items[i].before);
		stored_drop(m->changes.items[i].after);
	}
	m->changes.count -= old;
	memmove(m->changes.items, m->changes.items + old,
		m->changes.count * sizeof *m->changes.items);
}

void past_note(struct sim *s, const struct commit *c)
{
	const struct stored *o = c->after != NULL ? c->after : c->before;
	struct happened h = {sim_now(s), o->version, stored_keep(c->before), stored_keep(c->after)};
	VEC_PUSH(&s->memory.changes, h);
	clear_old(s);
}

void past_told(struct sim *s, int replica, enum resource resource, int64_t version)
{
	struct told t = {sim_now(s), version, replica, resource};
	VEC_PUSH(&s->memory.told, t);
	s->memory.partial[replica][resource] = false;
}

void past_forget(struct sim *s, int replica)
{
	for (int r = 0; r < RES_COUNT; r++) {
		past_told(s, replica, (enum resource)r, 0);
	}
}

int64_t past_version(const struct sim *s, int replica, enum resource resource, size_t moment)
{
	for (size_t i = moment; i-- > 0;) {
		const struct told *t = &s->memory.told.items[i];
		if (t->replica == replica && t->resource == resource) {
			return t->version;
		}
	}
	return 0;
}

static void picture_put(struct picture *p, const struct stored *had, const struct stored *wanted)
{
	for (size_t i = 0; had != NULL && i < p->count; i++) {
		if (p->items[i] == had && wanted == NULL) {
			VEC_REMOVE_SWAP(p, i);
			return;
		}
		if (p->items[i] == had) {
			p->items[i] = wanted;
			return;
		}
	}
	if (wanted != NULL) {
		VEC_PUSH(p, wanted);
	}
}

bool past_picture(const struct sim *s, int replica, size_t moment, struct picture *ret_picture)
{
	static const enum resource kinds[] = {RES_PODS, RES_NODES, RES_QUOTAS};
	const struct memory *m = &s->memory;
	int64_t upto[RES_COUNT] = {0}, oldest = INT64_MAX;
	struct picture p = {0};
	for (size_t i = 0; i < COUNT_OF(kinds); i++) {
		int64_t version = past_version(s, replica, kinds[i], moment);
		upto[kinds[i]] = version;
		oldest = version < oldest ? version : oldest;
	}
	if (oldest == 0 || m->changes.count == 0 || m->changes.items[0].version > oldest + 1) {
		return false;
	}
	for (size_t i = 0; i < s->store.items.count; i++) {
		const struct stored *o = s->store.items.items[i];
		VEC_PUSH(&p, o);
	}
	for (size_t i = m->changes.count; i-- > 0 && m->changes.items[i].version > oldest;) {
		const struct happened *h = &m->changes.items[i];
		const struct stored *o = h->after != NULL ? h->after : h->before;
		if (h->version > upto[o->resource]) {
			picture_put(&p, h->after, h->before);
		}
	}
	*ret_picture = p;
	return true;
}
