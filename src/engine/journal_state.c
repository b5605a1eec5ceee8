/* The engine's whole state as records, and back. What a step makes anew (the snapshot, the ranking)
 * is not part of it. Versions of the world are numbers of this process: kept is only whether what
 * was remembered is still current. */
#include "journal_parts.h"

#include <stdlib.h>

#include "policies.h"

struct saving {
	struct engine *e;
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

/* A pod that may have been looked at never (all zero), and whether it is what the world has now. */
static void pack_seen_pod(
	struct str *out, const struct pod *pod, uint64_t stamp, const struct world_pod *now)
{
	bool known = pod->name != NULL;
	pack_u64(out, now != NULL && now->gpu != NULL && now->gpu->stamp == stamp);
	pack_u64(out, known);
	if (known) {
		record_pack(out, &pod_table, pod);
	}
}

struct seen_pod {
	bool current;
	bool known;
	struct pod pod;
};

static void unpack_seen_pod(struct unpack *u, struct arena *to, struct seen_pod *ret)
{
	struct arena *before = u->arena;
	ret->current = unpack_u64(u) != 0;
	ret->known = unpack_u64(u) != 0;
	if (ret->known) {
		u->arena = to;
		u->bad |= !record_unpack(u, &pod_table, &ret->pod) || ret->pod.ns == NULL ||
			  ret->pod.name == NULL;
		u->arena = before;
	}
}

static uint64_t stamp_of(const struct seen_pod *seen, const struct world_pod *now)
{
	return seen->current && now != NULL && now->gpu != NULL ? now->gpu->stamp : UINT64_MAX;
}

static void pack_landings(struct str *out, const struct waiter *w)
{
	pack_u64(out, w->landings.count);
	vec_for_each (const struct landing, t, &w->landings) {
		pack_text(out, t->uuid);
		pack_text(out, t->node);
		pack_text(out, t->version);
		pack_i64(out, t->milli);
		pack_i64(out, t->mem_mib);
		pack_u64(out, t->flight);
		pack_u64(out, t->open);
	}
}

static void unpack_landings(struct unpack *u, struct waiter *w)
{
	for (uint64_t n = unpack_u64(u); n > 0 && !u->bad; n--) {
		const char *uuid = unpack_text(u);
		const char *node = unpack_text(u);
		const char *version = unpack_text(u);
		u->bad |= uuid == NULL || node == NULL || version == NULL;
		if (u->bad) {
			return;
		}
		struct landing t = {.uuid = xstrdup(uuid),
			.node = xstrdup(node),
			.version = xstrdup(version),
			.milli = unpack_i64(u),
			.at = WORLD_NONE};
		t.mem_mib = unpack_i64(u);
		t.flight = unpack_u64(u);
		t.open = (uint32_t)unpack_u64(u);
		VEC_PUSH(&w->landings, t);
	}
}

static void save_waiter(struct saving *s, const struct waiter *w)
{
	struct str *out = record_begin(s, RECORD_WAITER);
	const int64_t numbers[] = {w->placed_until, w->retry_at, w->first_seen, w->reason,
		w->asked.milli, w->asked.mem_mib, w->asked.max_milli, w->asked.max_mib,
		w->asked.context_mib, w->asked.max_tenants, (int64_t)w->asked.company,
		w->miss.best_milli, w->miss.best_mib, w->condition_at, w->condition_reason,
		w->refused_until, w->preempt_at, w->hold.milli, w->hold.mem_mib, w->hold.until,
		w->passed.lacks_since, w->passed.waits_since, w->passed.by, w->passed.vain_until,
		w->granting_from, w->vain_since};
	pack_text(out, w->uid);
	pack_seen_pod(out, &w->pod, w->stamp, world_pod_by_uid(s->e->world, w->uid));
	pack_u64(out, w->flight);
	pack_u64(out, w->seen);
	pack_text(out, w->placed_rv);
	pack_text(out, w->refusal);
	pack_text(out, w->flight_rv);
	pack_text(out, w->word_from);
	pack_text(out, w->word_rv);
	backoff_pack(out, &w->backoff);
	for (size_t i = 0; i < COUNT_OF(numbers); i++) {
		pack_i64(out, numbers[i]);
	}
	pack_text(out, w->hold.uuid);
	pack_landings(out, w);
	group_pack(out, &w->group);
	record_end(s);
}

static enum reason unpack_reason(struct unpack *u)
{
	int64_t reason = unpack_i64(u);
	u->bad |= reason < 0 || reason >= REASON_COUNT;
	return u->bad ? REASON_NONE : (enum reason)reason;
}

static bool load_waiter(struct engine *e, struct unpack *u)
{
	struct seen_pod seen = {0};
	const char *uid = unpack_text(u);
	if (uid == NULL || waiter_find(&e->book, uid) != NULL) {
		return false;
	}
	struct waiter *w = waiter_touch(&e->book, uid, 0);
	unpack_seen_pod(u, &w->arena, &seen);
	w->pod = seen.pod;
	w->stamp = stamp_of(&seen, world_pod_by_uid(e->world, uid));
	waiter_sends(&e->book, w, unpack_u64(u));
	w->seen = unpack_u64(u);
	text_set(&w->placed_rv, unpack_text(u));
	text_set(&w->refusal, unpack_text(u));
	text_set(&w->flight_rv, unpack_text(u));
	text_set(&w->word_from, unpack_text(u));
	text_set(&w->word_rv, unpack_text(u));
	w->backoff = backoff_unpack(u);
	w->placed_until = unpack_i64(u);
	w->retry_at = unpack_i64(u);
	w->first_seen = unpack_i64(u);
	w->reason = unpack_reason(u);
	w->asked.milli = unpack_i64(u);
	w->asked.mem_mib = unpack_i64(u);
	w->asked.max_milli = unpack_i64(u);
	w->asked.max_mib = unpack_i64(u);
	w->asked.context_mib = unpack_i64(u);
	w->asked.max_tenants = (uint32_t)unpack_i64(u);
	w->asked.company = (uint64_t)unpack_i64(u);
	w->miss.best_milli = unpack_i64(u);
	w->miss.best_mib = unpack_i64(u);
	w->condition_at = unpack_i64(u);
	w->condition_reason = unpack_reason(u);
	w->refused_until = unpack_i64(u);
	waiter_read_gpu_count(w);
	w->asked.mps = pod_is_mps(&w->pod);
	w->preempt_at = unpack_i64(u);
	w->hold.milli = unpack_i64(u);
	w->hold.mem_mib = unpack_i64(u);
	w->hold.until = unpack_i64(u);
	w->passed.lacks_since = unpack_i64(u);
	w->passed.waits_since = unpack_i64(u);
	w->passed.by = (uint32_t)unpack_i64(u);
	w->passed.vain_until = unpack_i64(u);
	w->granting_from = unpack_i64(u);
	w->vain_since = unpack_i64(u);
	text_set(&w->hold.uuid, unpack_text(u));
	unpack_landings(u, w);
	group_unpack(u, &w->group);
	return !u->bad;
}

static void save_holder(struct saving *s, const struct holder *h)
{
	struct str *out = record_begin(s, RECORD_HOLDER);
	const int64_t numbers[] = {h->flight_type, h->avoid_until, h->expires_at, h->idle_since,
		h->opened_at, h->lost_at, h->retry_at, h->grace_ms, h->acked_at, h->mend_at,
		h->companion_gone_at, h->refused_at, h->told_from, h->going_at};
	/* The asked ledger travels as that of a pod, which has a packer. */
	const struct pod asked = {.ns = "", .name = "", .ledger = h->asked};
	pack_text(out, h->name);
	pack_text(out, h->uid);
	pack_text(out, h->node);
	pack_seen_pod(out, &h->pod, h->stamp, world_pod_find(s->e->world, NAME_NAMESPACE, h->name));
	pack_u64(out, (h->in_world ? 1 : 0) | (h->asked_holds ? 2 : 0) | (h->deleted ? 4 : 0) |
			      (h->has_grace ? 8 : 0) | (h->grace_stamp == h->stamp + 1 ? 16 : 0) |
			      (h->search ? 32 : 0) | (h->told_doubled ? 64 : 0) |
			      (h->asked_keeps ? 128 : 0) | (h->mps ? 256 : 0) |
			      (h->told_held ? 512 : 0) | (h->trust.sure ? 1024 : 0) |
			      (h->trust.strikes ? 2048 : 0) | (h->asked_movable ? 4096 : 0));
	pack_u64(out, h->flight);
	pack_u64(out, h->seen);
	pack_u64(out, h->wanted);
	pack_text(out, h->acked_rv);
	pack_text(out, h->avoid_rv);
	pack_text(out, h->refusal);
	pack_text(out, h->flight_rv);
	backoff_pack(out, &h->backoff);
	for (size_t i = 0; i < COUNT_OF(numbers); i++) {
		pack_i64(out, numbers[i]);
	}
	record_pack(out, &pod_table, &asked);
	record_end(s);
}

static bool load_asked(struct holder *h, struct unpack *u)
{
	struct pod asked = {0};
	u->arena = &h->asked_arena;
	if (!record_unpack(u, &pod_table, &asked) || asked.ledger.count > MODEL_GRANTS_MAX) {
		return false;
	}
	h->asked = asked.ledger;
	return true;
}

static bool load_holder(struct engine *e, struct unpack *u)
{
	struct seen_pod seen = {0};
	const char *name = unpack_text(u);
	if (name == NULL || holder_find(&e->book, name) != NULL) {
		return false;
	}
	struct holder *h = holder_touch(&e->book, name, 0);
	text_set(&h->uid, unpack_text(u));
	text_set(&h->node, unpack_text(u));
	unpack_seen_pod(u, &h->arena, &seen);
	h->pod = seen.pod;
	h->stamp = stamp_of(&seen, world_pod_find(e->world, NAME_NAMESPACE, name));
	uint64_t flags = unpack_u64(u);
	h->in_world = flags & 1;
	h->asked_holds = flags & 2;
	h->deleted = flags & 4;
	h->has_grace = flags & 8;
	/* Not learnt is any other number: where the pod is not current, 0 would be the next. */
	h->grace_stamp = flags & 16 ? h->stamp + 1 : h->stamp;
	h->search = flags & 32;
	h->told_doubled = flags & 64;
	h->asked_keeps = flags & 128, h->asked_movable = flags & 4096;
	h->mps = flags & 256, h->told_held = flags & 512;
	h->trust = (struct trust){flags & 1024, flags & 2048};
	uint64_t flight = unpack_u64(u);
	h->seen = unpack_u64(u);
	h->wanted = unpack_u64(u);
	text_set(&h->acked_rv, unpack_text(u));
	text_set(&h->avoid_rv, unpack_text(u));
	text_set(&h->refusal, unpack_text(u));
	text_set(&h->flight_rv, unpack_text(u));
	h->backoff = backoff_unpack(u);
	int64_t type = unpack_i64(u);
	holder_sends(&e->book, h, (enum action_type)type, flight);
	h->avoid_until = unpack_i64(u);
	h->expires_at = unpack_i64(u);
	h->idle_since = unpack_i64(u);
	h->opened_at = unpack_i64(u);
	h->lost_at = unpack_i64(u);
	h->retry_at = unpack_i64(u);
	h->grace_ms = unpack_i64(u);
	h->acked_at = unpack_i64(u);
	h->mend_at = unpack_i64(u);
	h->companion_gone_at = unpack_i64(u);
	h->refused_at = unpack_i64(u);
	h->told_from = unpack_i64(u);
	h->going_at = unpack_i64(u);
	/* A pod that is in the world has been looked at. */
	bool sound = !u->bad && type >= 0 && type <= ACTION_EVENT && (seen.known || !h->in_world);
	return sound && load_asked(h, u);
}

static void save_whole(struct saving *s, const struct whole *w)
{
	struct str *out = record_begin(s, RECORD_WHOLE);
	pack_text(out, w->uid);
	pack_i64(out, w->since);
	pack_i64(out, w->offered_at);
	pack_i64(out, w->rest_until);
	pack_u64(out, w->rests);
	pack_u64(out, w->told);
	pack_u64(out, w->seen);
	pack_i64(out, w->lacks_since);
	pack_i64(out, w->preempt_at);
	pack_i64(out, w->hold_until);
	pack_text(out, w->hold);
	record_end(s);
}

/* Its pod is unpacked anew, from the world. */
static bool load_whole(struct engine *e, struct unpack *u)
{
	const char *uid = unpack_text(u);
	if (uid == NULL || whole_find(&e->wholes, uid) != NULL) {
		return false;
	}
	struct whole *w = whole_touch(&e->wholes, uid, 0);
	w->since = unpack_i64(u);
	w->offered_at = unpack_i64(u);
	w->rest_until = unpack_i64(u);
	w->rests = (uint32_t)unpack_u64(u);
	w->told = unpack_u64(u) != 0;
	w->seen = unpack_u64(u);
	w->lacks_since = unpack_i64(u);
	w->preempt_at = unpack_i64(u);
	w->hold_until = unpack_i64(u);
	text_set(&w->hold, unpack_text(u));
	return !u->bad && w->rests <= WHOLE_RESTS_MAX;
}

static void save_lasting(struct saving *s)
{
	vec_for_each (const struct node_memo, m, &s->e->book.memos) {
		struct str *out = record_begin(s, RECORD_NODE);
		pack_text(out, m->name);
		pack_i64(out, m->until);
		pack_i64(out, m->last_failure);
		pack_i64(out, m->usable_mib);
		backoff_pack(out, &m->backoff);
		pack_text(out, m->why);
		record_end(s);
	}
	vec_for_each (const struct absence, a, &s->e->book.absences) {
		struct str *out = record_begin(s, RECORD_ABSENCE);
		pack_text(out, a->uid);
		pack_i64(out, a->since);
		pack_u64(out, a->seen);
		pack_text(out, a->holder);
		pack_u64(out, a->told);
		pack_u64(out, a->ended);
		record_end(s);
	}
	vec_for_each (const struct turn, t, &s->e->turns) {
		struct str *out = record_begin(s, RECORD_TURN);
		pack_text(out, t->uid);
		pack_i64(out, t->since);
		record_end(s);
	}
	vec_for_each (const struct ailment, a, &s->e->ailments) {
		ailment_pack(record_begin(s, RECORD_AILMENT), a);
		record_end(s);
	}
	vec_for_each (const struct orphan, o, &s->e->orphans.items) {
		orphan_pack(record_begin(s, RECORD_ORPHAN), o);
		record_end(s);
	}
	change_pack(record_begin(s, RECORD_RUNTIME),
		&(struct change){.type = CHANGE_RUNTIME, .runtime = runtime_of(s->e)});
	record_end(s);
	scale_save(&s->e->scale, s->out, s->put, s->data);
	inject_save(&s->e->inject, s->out, s->put, s->data);
	resizes_save(&s->e->resizes, s->out, s->put, s->data);
	shuns_save(&s->e->shuns, s->out, s->put, s->data);
}

static void save_pass(struct saving *s)
{
	const struct policies_pass *p = s->e->pass;
	if (p == NULL) {
		return;
	}
	struct str *out = record_begin(s, RECORD_PASS);
	pack_u64(out, p->running);
	pack_i64(out, p->started_at);
	pack_i64(out, p->asked_at);
	pack_u64(out, p->at);
	pack_u64(out, p->set_count);
	for (uint32_t i = 0; p->cells != NULL && i < p->set_count; i++) {
		pack_i64(out, p->cells[i].matched);
		pack_i64(out, p->cells[i].automated);
		pack_u64(out, p->cells[i].overlapping);
	}
	/* Between passes nobody asks what the last one met. */
	pack_u64(out, p->running ? p->met.count : 0);
	for (size_t i = 0; p->running && i < p->met.count; i++) {
		pack_u64(out, p->met.items[i]);
	}
	pack_u64(out, p->told.count);
	for (size_t i = 0; i < p->told.count; i++) {
		pack_u64(out, p->told.items[i].hash);
		pack_i64(out, p->told.items[i].at);
	}
	record_end(s);
}

static void load_told_and_met(struct policies_pass *p, struct unpack *u)
{
	for (uint64_t n = unpack_u64(u); n > 0 && !u->bad; n--) {
		uint64_t hash = unpack_u64(u);
		VEC_PUSH(&p->met, hash);
		map_put(&p->met_index, hash, (uint32_t)p->met.count - 1);
	}
	for (uint64_t n = unpack_u64(u); n > 0 && !u->bad; n--) {
		struct told_pod told = {.hash = unpack_u64(u)};
		told.at = unpack_i64(u);
		VEC_PUSH(&p->told, told);
		map_put(&p->told_index, told.hash, (uint32_t)p->told.count - 1);
	}
}

static bool load_pass(struct engine *e, struct unpack *u)
{
	if (e->pass != NULL) {
		return false;
	}
	struct policies_pass *p = policies_pass_of(e);
	p->running = unpack_u64(u) != 0;
	p->started_at = unpack_i64(u);
	p->asked_at = unpack_i64(u);
	p->at = (uint32_t)unpack_u64(u);
	uint64_t cells = unpack_u64(u);
	if (cells > u->n) {
		return false;
	}
	p->set_count = (uint32_t)cells;
	p->cells = xcalloc(p->set_count + 1, sizeof *p->cells);
	for (uint32_t i = 0; i < p->set_count; i++) {
		p->cells[i].matched = (int32_t)unpack_i64(u);
		p->cells[i].automated = (int32_t)unpack_i64(u);
		p->cells[i].overlapping = unpack_u64(u) != 0;
	}
	load_told_and_met(p, u);
	return !u->bad;
}

static void save_engine(struct saving *s)
{
	const struct engine *e = s->e;
	struct str *out = record_begin(s, RECORD_ENGINE);
	for (size_t i = 0; i < COUNT_OF(e->rng.s); i++) {
		pack_u64(out, e->rng.s[i]);
	}
	pack_u64(out, (e->leads ? 1 : 0) | (e->time.dirty ? 2 : 0) |
			      (e->decided_version == world_version(e->world) ? 4 : 0) |
			      (e->policy_version == world_policy_version(e->world) ? 8 : 0) |
			      (e->evictions.reached ? 16 : 0) | (e->evictions.unsure ? 32 : 0) |
			      (e->scale.answered ? 64 : 0));
	pack_u64(out, e->next_action);
	pack_u64(out, e->time.step);
	pack_i64(out, e->time.deadline);
	pack_i64(out, e->time.now);
	pack_u64(out, e->resume);
	pack_u64(out, e->time.round);
	pack_u64(out, e->report.steps);
	pack_u64(out, e->report.decisions);
	pack_i64(out, e->wholes.told_at);
	record_end(s);
}

static bool load_engine(struct engine *e, struct unpack *u)
{
	for (size_t i = 0; i < COUNT_OF(e->rng.s); i++) {
		e->rng.s[i] = unpack_u64(u);
	}
	uint64_t flags = unpack_u64(u);
	uint64_t version = world_version(e->world);
	uint64_t policy_version = world_policy_version(e->world);
	e->leads = flags & 1;
	e->time.dirty = flags & 2;
	e->evictions.reached = flags & 16;
	e->evictions.unsure = flags & 32;
	e->scale.answered = flags & 64;
	/* Versions only grow: one less is never reached again. */
	e->decided_version = flags & 4 ? version : version - 1;
	e->policy_version = flags & 8 ? policy_version : policy_version - 1;
	e->next_action = unpack_u64(u);
	e->time.step = unpack_u64(u);
	e->time.deadline = unpack_i64(u);
	e->time.now = unpack_i64(u);
	e->resume = (uint32_t)unpack_u64(u);
	e->time.round = unpack_u64(u);
	e->report.steps = unpack_u64(u);
	e->report.decisions = unpack_u64(u);
	e->wholes.told_at = unpack_i64(u);
	return !u->bad;
}

void state_save(struct engine *e, struct str *scratch, state_put put, void *data)
{
	struct saving s = {e, scratch, put, data};
	world_save(e->world, save_change, &s);
	for (size_t i = 0; i < e->book.waiters.count; i++) {
		save_waiter(&s, e->book.waiters.items[i]);
	}
	for (size_t i = 0; i < e->book.holders.count; i++) {
		save_holder(&s, e->book.holders.items[i]);
	}
	for (size_t i = 0; i < e->wholes.all.count; i++) {
		save_whole(&s, e->wholes.all.items[i]);
	}
	save_lasting(&s);
	evictions_save(e, scratch, put, data);
	save_pass(&s);
	save_engine(&s);
}

static bool load_world(struct engine *e, struct unpack *u)
{
	struct change c;
	if (!change_unpack(u, &c) || !change_is_sound(&c) || !change_fits(&c)) {
		return false;
	}
	world_apply(e->world, &c);
	return true;
}

static bool load_runtime(struct engine *e, struct unpack *u)
{
	struct change c;
	if (!change_unpack(u, &c) || c.type != CHANGE_RUNTIME) {
		return false;
	}
	runtime_take(e, c.runtime);
	return true;
}

bool state_load(struct engine *e, enum record type, struct unpack *u)
{
	switch (type) {
	case RECORD_WORLD:
		return load_world(e, u);
	case RECORD_WAITER:
		return load_waiter(e, u);
	case RECORD_HOLDER:
		return load_holder(e, u);
	case RECORD_WHOLE:
		return load_whole(e, u);
	case RECORD_NODE:
		return memo_unpack(&e->book, u);
	case RECORD_ABSENCE:
		return absence_unpack(&e->book, u);
	case RECORD_TURN:
		return turn_unpack(&e->turns, u);
	case RECORD_EVICTION:
		return eviction_load(e, u);
	case RECORD_ORPHAN:
		return orphan_unpack(&e->orphans, u);
	case RECORD_AILMENT:
		return ailment_unpack(&e->ailments, u);
	case RECORD_SCALE:
		return scale_rest_unpack(&e->scale, u);
	case RECORD_INJECTION:
		return inject_memo_unpack(&e->inject, u);
	case RECORD_STANDIN:
		return standin_unpack(&e->scale, u);
	case RECORD_RESIZE:
		return resize_unpack(&e->resizes, u);
	case RECORD_SHUN:
		return shun_unpack(&e->shuns, u);
	case RECORD_RUNTIME:
		return load_runtime(e, u);
	case RECORD_PASS:
		return load_pass(e, u);
	case RECORD_ENGINE:
		return load_engine(e, u);
	case RECORD_HEAD:
	case RECORD_CHANGE:
	case RECORD_STEP:
	case RECORD_SETTLE:
	case RECORD_READY:
		break;
	}
	return false;
}
