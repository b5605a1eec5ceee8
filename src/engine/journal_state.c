/* The engine's whole state as records, and back. What a step makes anew (the snapshot, the ranking)
 * is not part of it. Versions of the world are numbers of this process: kept is only whether what
 * was remembered is still current. */
#include "journal_state.h"

#include <stdlib.h>

#include "guardian/overuse_find.h"
#include "journal.h"
#include "journal_tables.h"
#include "policies.h"

/* --- lists of which each item is a record --- */

static bool memo_restore(void *owner, const void *item)
{
	struct book *book = owner;
	const struct node_memo *memo = item;
	if (memo_find(book, memo->name) != NULL) {
		return false;
	}
	struct node_memo *m = memo_touch(book, memo->name);
	free(m->name);
	*m = *memo;
	m->node = WORLD_NONE;
	return true;
}

static bool orphan_restore(void *owner, const void *item)
{
	struct orphans *all = owner;
	const struct orphan *orphan = item;
	if (orphan_find(all, orphan->uuid, orphan->node) != NULL) {
		return false;
	}
	struct orphan *o = orphan_add(all, orphan->uuid, orphan->node);
	free(o->uuid);
	free(o->node);
	*o = *orphan;
	return true;
}

static bool eviction_restore(void *owner, const void *item)
{
	struct eviction v = *(const struct eviction *)item;
	eviction_add(owner, &v);
	return true;
}

static bool inject_restore(void *owner, const void *item)
{
	struct injecting *inject = owner;
	struct inject_memo m = *(const struct inject_memo *)item;
	if (inject_memo_find(inject, m.node, m.class) != NULL) {
		return false;
	}
	m.next = WORLD_NONE;
	VEC_PUSH(&inject->memos, m);
	return true;
}

static bool resize_add(void *owner, const void *item)
{
	struct resizes *all = owner;
	const struct resize *r = item;
	all->picture->book->flights.told += r->flight != 0 ? 1 : 0;
	return resize_restore(all, r);
}

static bool avoidance_add(void *owner, const void *item)
{
	struct gpu_avoidances *all = owner;
	struct gpu_avoidance s = *(const struct gpu_avoidance *)item;
	if (text_empty(s.what) || all->items.count >= AVOIDANCES_MAX) {
		return false;
	}
	VEC_PUSH(&all->items, s);
	return true;
}

struct any_list {
	VEC_FIELDS(char);
};

#define LIST_OF(type, table, owner, list, restore)                                                 \
	{                                                                                          \
		type, &(table), offsetof(struct engine, list), offsetof(struct engine, owner),     \
			restore                                                                    \
	}

static const struct state_list {
	enum record type;
	const struct record_table *table;
	size_t at, owner_at; /* in the engine: the list, and what has it */
	/* takes what the item holds; false: there cannot be such a one. NULL: it is appended */
	bool (*restore)(void *owner, const void *item);
} lists[] = {
	LIST_OF(RECORD_NODE, node_memo_table, book, book.memos, memo_restore),
	LIST_OF(RECORD_ABSENCE, absence_table, book, book.absences, NULL),
	LIST_OF(RECORD_STARTUP, startup_table, startup_order, startup_order.items, NULL),
	LIST_OF(RECORD_AILMENT, ailment_table, ailments, ailments.items, NULL),
	LIST_OF(RECORD_ORPHAN, orphan_table, orphans, orphans.items, orphan_restore),
	LIST_OF(RECORD_SCALE, scale_rest_table, scale, scale.rests, NULL),
	LIST_OF(RECORD_STANDIN, standin_table, scale, scale.standins, NULL),
	LIST_OF(RECORD_INJECTION, inject_memo_table, inject, inject.memos, inject_restore),
	LIST_OF(RECORD_RESIZE, resize_table, resizes, resizes.items, resize_add),
	LIST_OF(RECORD_AVOIDANCE, avoidance_table, avoidances, avoidances.items, avoidance_add),
	LIST_OF(RECORD_EVICTION, eviction_table, evictions, evictions.items, eviction_restore),
};

/* --- save --- */

struct saving {
	const struct engine *e;
	struct str *out;
	state_put put;
	void *data;
};

static struct str *record_begin(struct saving *s, enum record type)
{
	str_reset(s->out);
	str_append_char(s->out, (char)type);
	return s->out;
}

static void record_end(struct saving *s)
{
	ENSURE(!s->out->overflow);
	s->put(s->data, s->out);
}

static void save_change(void *data, const struct change *c)
{
	struct saving *s = data;
	change_pack(record_begin(s, RECORD_WORLD), c);
	record_end(s);
}

static struct journal_seen seen_of(
	const struct pod *pod, uint64_t stamp, const struct world_pod *now)
{
	return (struct journal_seen){
		.current = now != NULL && now->gpu != NULL && now->gpu->stamp == stamp,
		.pod = pod->name != NULL ? pod : NULL};
}

static void save_waiter(struct saving *s, const struct waiter *w)
{
	struct str *out = record_begin(s, RECORD_WAITER);
	struct journal_seen seen =
		seen_of(&w->pod, w->stamp, world_pod_by_uid(s->e->world, w->uid));
	pack_text(out, w->uid);
	record_pack(out, &journal_seen_table, &seen);
	record_pack(out, &waiter_table, w);
	record_end(s);
}

static void save_holder(struct saving *s, const struct holder *h)
{
	struct str *out = record_begin(s, RECORD_HOLDER);
	struct journal_seen seen =
		seen_of(&h->pod, h->stamp, world_pod_find(s->e->world, NAME_NAMESPACE, h->name));
	seen.learnt = h->grace_stamp == h->stamp + 1;
	pack_text(out, h->name);
	record_pack(out, &journal_seen_table, &seen);
	record_pack(out, &holder_table, h);
	record_end(s);
}

static void save_lists(struct saving *s)
{
	for (size_t i = 0; i < COUNT_OF(lists); i++) {
		const struct state_list *l = &lists[i];
		const struct any_list *all = (const void *)((const char *)s->e + l->at);
		for (size_t k = 0; k < all->count; k++) {
			record_pack(record_begin(s, l->type), l->table,
				all->items + k * l->table->size);
			record_end(s);
		}
	}
}

static void save_engine(struct saving *s)
{
	const struct engine *e = s->e;
	struct str *out = record_begin(s, RECORD_ENGINE);
	const struct journal_versions current = {
		.decided = e->decided_version == world_version(e->world),
		.policies = e->policies.version == world_policy_version(e->world)};
	record_pack(out, &journal_versions_table, &current);
	record_pack(out, &engine_table, e);
	record_end(s);
}

void state_save(const struct engine *e, struct str *scratch, state_put put, void *data)
{
	struct saving s = {e, scratch, put, data};
	world_save(e->world, save_change, &s);
	save_change(
		&s, &(struct change){.type = CHANGE_RUNTIME, .runtime = runtime_of(&e->runtime)});
	for (size_t i = 0; i < e->book.waiters.count; i++) {
		save_waiter(&s, e->book.waiters.items[i]);
	}
	for (size_t i = 0; i < e->book.holders.count; i++) {
		save_holder(&s, e->book.holders.items[i]);
	}
	for (size_t i = 0; i < e->wholes.all.rows.count; i++) {
		const struct whole *w = (const struct whole *)e->wholes.all.rows.items[i];
		struct str *out = record_begin(&s, RECORD_WHOLE);
		pack_text(out, w->uid);
		record_pack(out, &whole_table, w);
		record_end(&s);
	}
	save_lists(&s);
	if (e->policies.pass != NULL) {
		record_pack(record_begin(&s, RECORD_PASS), &policies_pass_table, e->policies.pass);
		record_end(&s);
	}
	save_engine(&s);
}

/* --- load --- */

static bool load_world(struct picture *picture, struct unpack *u)
{
	struct change c;
	if (!change_unpack(u, &c) || !change_is_sound(&c) || !change_fits(&c)) {
		return false;
	}
	if (c.type == CHANGE_RUNTIME) {
		runtime_take(picture, c.runtime);
	} else {
		world_apply(picture->world, &c);
	}
	return true;
}

/* The pod is unpacked into the arena, and its stamp is the world's if it is what that has now. */
static bool load_seen(struct unpack *u, struct arena *to, const struct world_pod *now,
	struct journal_seen *ret, uint64_t *ret_stamp)
{
	struct unpack here = *u;
	here.arena = to;
	bool sound = record_unpack(&here, &journal_seen_table, ret) &&
		     (ret->pod == NULL || (ret->pod->ns != NULL && ret->pod->name != NULL));
	u->p = here.p;
	u->n = here.n;
	*ret_stamp = sound && ret->current && now != NULL && now->gpu != NULL ? now->gpu->stamp
									      : UINT64_MAX;
	return sound;
}

static bool load_waiter(struct book *book, struct unpack *u)
{
	struct journal_seen seen = {0};
	const char *uid = unpack_text(u);
	if (uid == NULL || waiter_find(book, uid) != NULL) {
		return false;
	}
	struct waiter *w = waiter_touch(book, uid, 0);
	if (!load_seen(u, &w->arena, world_pod_by_uid(book->world, uid), &seen, &w->stamp)) {
		return false;
	}
	w->pod = seen.pod != NULL ? *seen.pod : w->pod;
	bool sound = record_unpack(u, &waiter_table, w);
	uint64_t flight = w->flight;
	w->flight = 0;
	waiter_sends(book, w, flight);
	waiter_read_gpu_count(w);
	w->asked.mps = pod_is_mps(&w->pod);
	vec_for_each (struct landing, t, &w->landings) {
		t->at = WORLD_NONE;
	}
	return sound;
}

static bool load_holder(struct book *book, struct unpack *u)
{
	struct journal_seen seen = {0};
	const char *name = unpack_text(u);
	if (name == NULL || holder_find(book, name) != NULL) {
		return false;
	}
	struct holder *h = holder_touch(book, name, 0);
	const struct world_pod *now = world_pod_find(book->world, NAME_NAMESPACE, name);
	if (!load_seen(u, &h->arena, now, &seen, &h->stamp)) {
		return false;
	}
	h->pod = seen.pod != NULL ? *seen.pod : h->pod;
	/* Not learnt is any other number: where the pod is not current, 0 would be the next. */
	h->grace_stamp = seen.learnt ? h->stamp + 1 : h->stamp;
	u->arena = &h->asked_arena;
	bool sound = record_unpack(u, &holder_table, h);
	uint64_t flight = h->flight;
	h->flight = 0;
	holder_sends(book, h, h->flight_type, flight);
	/* A pod that is in the world has been looked at. */
	return sound && (seen.pod != NULL || !h->in_world);
}

/* Its pod is unpacked anew, from the world. */
static bool load_whole(struct wholes *wholes, struct unpack *u)
{
	const char *uid = unpack_text(u);
	return uid != NULL && whole_find(wholes, uid) == NULL &&
	       record_unpack(u, &whole_table, whole_touch(wholes, uid, 0));
}

static bool load_item(struct engine *e, const struct state_list *l, struct unpack *u)
{
	struct any_list *all = (void *)((char *)e + l->at);
	size_t size = l->table->size;
	CLEANUP(cleanup_free) char *item = xcalloc(1, size);
	if (!record_unpack(u, l->table, item)) {
		return false;
	}
	if (l->restore != NULL && !l->restore((char *)e + l->owner_at, item)) {
		record_finish(l->table, item);
		return false;
	}
	if (l->restore == NULL) {
		if (all->count == all->room) {
			all->items = vec_grow(all->items, &all->room, all->count + 1, size);
		}
		memcpy(all->items + all->count++ * size, item, size);
	}
	return true;
}

static bool load_pass(struct policies *policies, struct unpack *u)
{
	if (policies->pass != NULL ||
		!record_unpack(u, &policies_pass_table, policies_pass_of(policies))) {
		return false;
	}
	policies_pass_index(policies->pass);
	return true;
}

static bool load_engine(struct engine *e, struct unpack *u)
{
	struct journal_versions current = {0};
	uint64_t version = world_version(e->world);
	uint64_t policy_version = world_policy_version(e->world);
	if (!record_unpack(u, &journal_versions_table, &current) ||
		!record_unpack(u, &engine_table, e)) {
		return false;
	}
	/* Versions only grow: one less is never reached again. */
	e->decided_version = current.decided ? version : version - 1;
	e->policies.version = current.policies ? policy_version : policy_version - 1;
	return e->resizes.awake <= e->resizes.items.count && overuses_index(&e->overuses);
}

bool state_load(struct engine *e, enum record type, struct unpack *u)
{
	for (size_t i = 0; i < COUNT_OF(lists); i++) {
		if (lists[i].type == type) {
			return load_item(e, &lists[i], u);
		}
	}
	return type == RECORD_WORLD    ? load_world(&e->picture, u)
	       : type == RECORD_WAITER ? load_waiter(&e->book, u)
	       : type == RECORD_HOLDER ? load_holder(&e->book, u)
	       : type == RECORD_WHOLE  ? load_whole(&e->wholes, u)
	       : type == RECORD_PASS   ? load_pass(&e->policies, u)
				       : type == RECORD_ENGINE && load_engine(e, u);
}

uint64_t journal_format(void)
{
	static const struct {
		enum record type;
		const struct record_table *tables[3];
	} others[] = {
		{RECORD_HEAD, {&journal_head_table}},
		{RECORD_CHANGE, {&change_table}},
		{RECORD_STEP, {&journal_step_table, &action_table}},
		{RECORD_SETTLE, {&journal_outcome_table}},
		{RECORD_WORLD, {&change_table}},
		{RECORD_WAITER, {&text_table, &journal_seen_table, &waiter_table}},
		{RECORD_HOLDER, {&text_table, &journal_seen_table, &holder_table}},
		{RECORD_WHOLE, {&text_table, &whole_table}},
		{RECORD_PASS, {&policies_pass_table}},
		{RECORD_ENGINE, {&journal_versions_table, &engine_table}},
		{RECORD_READY, {&u64_table}},
	};
	uint64_t format = 0;
	for (size_t i = 0; i < COUNT_OF(others); i++) {
		for (size_t k = 0; k < COUNT_OF(others[i].tables) && others[i].tables[k] != NULL;
			k++) {
			format = record_format(
				others[i].tables[k], format + (uint64_t)others[i].type);
		}
	}
	for (size_t i = 0; i < COUNT_OF(lists); i++) {
		format = record_format(lists[i].table, format + (uint64_t)lists[i].type);
	}
	return format;
}
