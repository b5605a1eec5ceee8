/* Evictions as records of the state, and back. The first record is about all of them: when the last
 * ones left, who has been stuck since when, what Jobs say of that (C21), and who uses more
 * memory than its share. */
#include "journal_parts.h"

static void put_record(struct str *out, state_put put, void *data)
{
	ENSURE(!out->overflow);
	put(data, out);
}

static void save_one(struct str *out, const struct eviction *v)
{
	const int64_t numbers[] = {v->reason, v->retry_at, v->asked_at, v->backoff.first_ms,
		v->backoff.cap_ms, v->backoff.attempt};
	pack_text(out, v->uid);
	pack_text(out, v->owner);
	pack_text(out, v->refusal);
	pack_u64(out, v->flight);
	pack_u64(out, (v->evicted ? 1 : 0) | (v->told_refusal ? 2 : 0) | (v->by_budget ? 4 : 0));
	for (size_t i = 0; i < COUNT_OF(numbers); i++) {
		pack_i64(out, numbers[i]);
	}
}

void evictions_save(struct engine *e, struct str *scratch, state_put put, void *data)
{
	const struct evictions *all = &e->evictions;
	str_reset(scratch);
	str_append_char(scratch, RECORD_EVICTION);
	pack_text(scratch, NULL);
	pack_u64(scratch, all->sent.count);
	for (size_t i = 0; i < all->sent.count; i++) {
		pack_i64(scratch, all->sent.items[i]);
	}
	pack_i64(scratch, e->preempting.next_at);
	pack_u64(scratch, e->preempting.from);
	pack_u64(scratch, all->stuck.count);
	vec_for_each (const struct stuck, s, &all->stuck) {
		pack_text(scratch, s->uid);
		pack_i64(scratch, s->since);
		pack_u64(scratch, s->seen);
	}
	pack_u64(scratch, all->recycled.count);
	vec_for_each (const struct recycled, r, &all->recycled) {
		pack_text(scratch, r->owner);
		pack_u64(scratch, r->rounds);
		pack_i64(scratch, r->round_at);
		pack_i64(scratch, r->last_at);
	}
	jobs_pack(scratch, &all->jobs);
	overuses_pack(scratch, &all->overuses);
	put_record(scratch, put, data);
	vec_for_each (const struct eviction, v, &all->items) {
		str_reset(scratch);
		str_append_char(scratch, RECORD_EVICTION);
		save_one(scratch, v);
		put_record(scratch, put, data);
	}
}

static bool load_stuck(struct evictions *all, struct unpack *u)
{
	for (uint64_t n = unpack_u64(u); n > 0 && !u->bad; n--) {
		const char *uid = unpack_text(u);
		struct stuck s = {.since = unpack_i64(u)};
		s.seen = unpack_u64(u);
		if (u->bad || uid == NULL) {
			return false;
		}
		s.uid = xstrdup(uid);
		VEC_PUSH(&all->stuck, s);
	}
	return !u->bad;
}

static bool load_recycled(struct evictions *all, struct unpack *u)
{
	for (uint64_t n = unpack_u64(u); n > 0 && !u->bad; n--) {
		const char *owner = unpack_text(u);
		struct recycled r = {.rounds = (uint32_t)unpack_u64(u)};
		r.round_at = unpack_i64(u);
		r.last_at = unpack_i64(u);
		if (u->bad) {
			return false;
		}
		r.owner = xstrdup(text_or(owner, ""));
		VEC_PUSH(&all->recycled, r);
	}
	return !u->bad;
}

static bool load_all(struct engine *e, struct unpack *u)
{
	struct evictions *all = &e->evictions;
	for (uint64_t n = unpack_u64(u); n > 0 && !u->bad; n--) {
		int64_t at = unpack_i64(u);
		VEC_PUSH(&all->sent, at);
	}
	e->preempting.next_at = unpack_i64(u);
	e->preempting.from = unpack_u64(u);
	return load_stuck(all, u) && load_recycled(all, u) && jobs_unpack(&all->jobs, u) &&
	       overuses_unpack(&all->overuses, u);
}

bool eviction_load(struct engine *e, struct unpack *u)
{
	const char *uid = unpack_text(u);
	if (uid == NULL) {
		return !u->bad && load_all(e, u);
	}
	struct eviction v = {0};
	const char *owner = unpack_text(u), *refusal = unpack_text(u);
	v.flight = unpack_u64(u);
	uint64_t flags = unpack_u64(u);
	v.evicted = flags & 1;
	v.told_refusal = flags & 2;
	v.by_budget = flags & 4;
	int64_t reason = unpack_i64(u);
	v.retry_at = unpack_i64(u);
	v.asked_at = unpack_i64(u);
	v.backoff.first_ms = unpack_i64(u);
	v.backoff.cap_ms = unpack_i64(u);
	int64_t attempt = unpack_i64(u);
	bool steady = v.backoff.first_ms >= 0 && v.backoff.cap_ms >= 0 &&
		      v.backoff.cap_ms <= INT32_MAX && attempt >= 0 && attempt <= 62;
	if (u->bad || !steady || reason < 0 || reason >= REASON_COUNT) {
		return false;
	}
	v.reason = (enum reason)reason;
	v.backoff.attempt = (int)attempt;
	text_set(&v.uid, uid);
	text_set(&v.owner, owner);
	text_set(&v.refusal, refusal);
	eviction_add(&e->evictions, &v);
	return true;
}
