/* When an eviction leaves, and what became of it. */
#include "guardian/evict.h"

#include <stdlib.h>

#include "base/rand.h"
#include "guardian/jobs.h"
#include "ledger/ledger.h"

#define MINUTE_MS 60000
/* So long the watch may take to show that the deletion began. */
#define SHOWN_MS   30000
#define UNKNOWN_MS 10000
#define CHANGED_MS 1000
#define FIRST_MS   4000
#define CAP_MS	   120000
/* Nobody has asked for it any more. */
#define KEPT_MS 600000

#define SENTENCE_MAX 1024

void evictions_init(struct evictions *evictions, struct picture *picture)
{
	evictions->picture = picture;
	keyed_init(KEYED(&evictions->items), sizeof(struct eviction), 1);
}

static struct eviction *eviction_find(struct evictions *evictions, const char *uid)
{
	return keyed_find(KEYED(&evictions->items), uid, NULL);
}

void eviction_add(struct evictions *evictions, struct eviction *v)
{
	keyed_add(KEYED(&evictions->items), v);
}

static struct eviction *eviction_touch(struct evictions *evictions, const struct world_pod *p)
{
	struct eviction *v = eviction_find(evictions, world_pod_uid(p));
	if (v == NULL) {
		CLEANUP(arena_finish) struct arena arena = {.block_bytes = 1024};
		struct eviction made = {.uid = xstrdup(world_pod_uid(p)),
			.backoff = {.first_ms = FIRST_MS, .cap_ms = CAP_MS}};
		text_set(&made.owner, pod_of(p, &arena).owner.uid);
		v = keyed_add(KEYED(&evictions->items), &made);
	}
	v->asked_at = evictions->picture->time->now;
	return v;
}

static bool is_on_its_way(const struct eviction *v)
{
	return v->flight != 0 || v->evicted;
}

/* The watch was to show by now that it is being deleted. */
static bool came_to_nothing(const struct evictions *evictions, const struct eviction *v)
{
	const struct world_pod *p = world_pod_by_uid(evictions->picture->world, v->uid);
	return v->flight == 0 && evictions->picture->time->now >= v->retry_at && p != NULL &&
	       !p->deleting && !world_pod_terminal(p);
}

/* Two replicas at once would be two more than their budget may have meant, where there is none.
 * What never ran serves nobody. */
static bool owner_is_busy(
	const struct evictions *evictions, const char *owner, const char *uid, enum reason reason)
{
	if (owner == NULL || reason == REASON_RECYCLED) {
		return false;
	}
	vec_for_each (const struct eviction, v, &evictions->items) {
		if (is_on_its_way(v) && v->reason != REASON_RECYCLED && strcmp(v->uid, uid) != 0 &&
			text_equals(v->owner, owner) && !came_to_nothing(evictions, v)) {
			return true;
		}
	}
	return false;
}

/* What never ran has half of it, so that who must leave is not kept by who comes and goes. */
static bool minute_is_full(struct evictions *evictions, enum reason reason)
{
	uint32_t most = evictions->picture->cfg->evictions_per_minute;
	size_t kept = 0;
	for (size_t i = 0; i < evictions->sent.count; i++) {
		if (evictions->picture->time->now - evictions->sent.items[i] < MINUTE_MS) {
			evictions->sent.items[kept++] = evictions->sent.items[i];
		}
	}
	evictions->sent.count = kept;
	return kept >= (reason == REASON_RECYCLED ? (most + 1) / 2 : most);
}

/* The API server failed for long enough to call it an answer, as it does where a pod is under two
 * budgets; what got lost without one is asked for again at once. */
static void give_up(const struct picture *picture, struct eviction *v)
{
	v->evicted = false;
	if (v->refusal != NULL) {
		v->retry_at = picture->time->now + backoff_next(&v->backoff, picture->book->rng);
	}
}

/* C3. Who has no GPU any more, or none soon, goes also where nobody knows whether the webhook is
 * reached. */
static bool is_reached_for(const struct evictions *evictions, enum reason reason)
{
	bool must_go = reason == REASON_NODE_LEAVES || reason == REASON_RECYCLED ||
		       reason == REASON_CAPACITY_LOST;
	return evictions->reached || (evictions->unsure && must_go);
}

static enum evict_state state_of(struct evictions *evictions, struct eviction *v,
	const struct world_pod *p, enum reason reason)
{
	if (p->deleting || world_pod_terminal(p)) {
		return EVICT_GOING;
	}
	if (v != NULL && v->evicted && evictions->picture->time->now >= v->retry_at) {
		give_up(evictions->picture, v);
	}
	if (v != NULL && is_on_its_way(v)) {
		return EVICT_GOING;
	}
	if (v != NULL && evictions->picture->time->now < v->retry_at) {
		return v->refusal != NULL ? EVICT_REFUSED : EVICT_HELD;
	}
	if (!is_reached_for(evictions, reason) || minute_is_full(evictions, reason)) {
		return EVICT_HELD;
	}
	return v != NULL && owner_is_busy(evictions, v->owner, v->uid, reason) ? EVICT_HELD
									       : EVICT_SENT;
}

/* One budget is for all pods of an owner: what it refused to one it would refuse to the next. Only
 * of those that rest until later than `rests_at`. */
static const struct eviction *budget_of(
	const struct evictions *evictions, const struct world_pod *p, int64_t rests_at)
{
	CLEANUP(arena_finish) struct arena arena = {.block_bytes = 1024};
	const char *owner = NULL;
	vec_for_each (const struct eviction, v, &evictions->items) {
		if (!v->by_budget || v->retry_at <= rests_at) {
			continue;
		}
		owner = owner != NULL ? owner : text_or(pod_of(p, &arena).owner.uid, "");
		bool same = owner[0] != '\0' && text_equals(v->owner, owner);
		if (same || strcmp(v->uid, world_pod_uid(p)) == 0) {
			return v;
		}
	}
	return NULL;
}

enum evict_state evict_look(
	struct evictions *evictions, const struct world_pod *p, enum reason reason)
{
	enum evict_state state =
		state_of(evictions, eviction_find(evictions, world_pod_uid(p)), p, reason);
	bool open = state == EVICT_SENT || state == EVICT_HELD;
	return open && budget_of(evictions, p, evictions->picture->time->now) != NULL
		       ? EVICT_REFUSED
		       : state;
}

bool evict_is_doubtful(const struct evictions *evictions, const struct world_pod *p)
{
	return budget_of(evictions, p, INT64_MIN) != NULL;
}

/* Once: whoever wanted it may turn to another pod meanwhile, and asks this one again or not. */
void evictions_report(struct evictions *evictions, struct emitter *out)
{
	vec_for_each (struct eviction, v, &evictions->items) {
		const struct world_pod *p = world_pod_by_uid(evictions->picture->world, v->uid);
		if (v->refusal == NULL || v->evicted || v->told_refusal || p == NULL) {
			continue;
		}
		CLEANUP(str_finish) struct str text = STR_INIT(SENTENCE_MAX);
		str_append_format(
			&text, "not evicted (%s): %s", reason_name(v->reason), v->refusal);
		emit_warning(out, about_pod(p), "EvictionRefused", str_text(&text));
		v->told_refusal = true;
	}
}

static void send(struct evictions *evictions, struct eviction *v, const struct world_pod *p,
	const struct evict_why *why, struct emitter *out)
{
	CLEANUP(arena_finish) struct arena arena = {.block_bytes = 1024};
	CLEANUP(str_finish) struct str text = STR_INIT(SENTENCE_MAX);
	explain(&text, why->reason, &why->facts);
	if (v->reason != why->reason) {
		struct action *event = emit_event(out, about_pod(p), str_text(&text));
		event->reason = why->reason;
		event->warning = true;
		v->reason = why->reason;
	}
	struct action *a = emit_about(out, ACTION_EVICT, about_pod(p));
	if (why->as_judged) {
		const char *version = pod_of(p, &arena).resource_version;
		a->resource_version = arena_strdup(&out->plan->arena, version);
	}
	a->reason = why->reason;
	a->message = arena_strdup(&out->plan->arena, str_text(&text));
	v->flight = a->id;
	VEC_PUSH(&evictions->sent, evictions->picture->time->now);
}

enum evict_state evict_tenant(struct evictions *evictions, const struct world_pod *p,
	const struct evict_why *why, struct emitter *out)
{
	struct eviction *v = eviction_touch(evictions, p);
	enum evict_state state = state_of(evictions, v, p, why->reason);
	if (state == EVICT_SENT) {
		send(evictions, v, p, why, out);
	}
	return state;
}

/* The API server says the same for a budget without room and for one that it is still counting. */
static bool is_by_budget(const struct fault *f)
{
	return f->status == 429 && strstr(f->message, "disruption budget") != NULL;
}

static void refused(struct rng *rng, struct eviction *v, int64_t now, const struct fault *f)
{
	int64_t rest = backoff_next(&v->backoff, rng);
	v->by_budget = is_by_budget(f);
	text_set(&v->refusal, f->message);
	v->retry_at = now + (f->retry_after_ms > rest ? f->retry_after_ms : rest);
}

void eviction_settle(struct evictions *evictions, int64_t now, uint64_t id, const struct outcome *o)
{
	struct eviction *v = NULL;
	vec_for_each (struct eviction, other, &evictions->items) {
		v = other->flight == id ? other : v;
	}
	if (v == NULL) {
		return;
	}
	const struct fault *f = &o->fault;
	v->flight = 0;
	v->by_budget = false;
	text_set(&v->refusal, NULL);
	if (f->kind == FAULT_NONE || f->kind == FAULT_NOT_FOUND) {
		v->evicted = true;
		v->backoff.attempt = 0;
		v->retry_at = now + SHOWN_MS;
	} else if (f->unknown_outcome) {
		v->evicted = true;
		v->retry_at = now + UNKNOWN_MS;
		text_set(&v->refusal, f->status >= 500 ? f->message : NULL);
	} else if (f->kind == FAULT_CONFLICT) {
		/* It is not as it was judged: the watch brings what it is now. */
		v->retry_at = now + CHANGED_MS;
	} else {
		refused(evictions->picture->book->rng, v, now, f);
	}
}

bool evicts(const struct evictions *evictions, const char *uid)
{
	CLEANUP(arena_finish) struct arena arena = {.block_bytes = 1024};
	const struct world_pod *p = world_pod_by_uid(evictions->picture->world, uid);
	const char *owner = p != NULL ? pod_of(p, &arena).owner.uid : NULL;
	vec_for_each (const struct eviction, v, &evictions->items) {
		bool same = strcmp(v->uid, uid) == 0;
		bool kin = owner != NULL && text_equals(v->owner, owner);
		if (is_on_its_way(v) && (same || kin)) {
			return true;
		}
	}
	return false;
}

static void eviction_free(struct eviction *v)
{
	free(v->uid);
	free(v->owner);
	free(v->refusal);
}

void evictions_sweep(struct evictions *evictions)
{
	const struct picture *picture = evictions->picture;
	for (size_t i = evictions->items.count; i-- > 0;) {
		struct eviction *v = &evictions->items.items[i];
		bool gone = world_pod_by_uid(picture->world, v->uid) == NULL;
		if (v->flight == 0 && (gone || picture->time->now - v->asked_at >= KEPT_MS)) {
			struct eviction over = *v;
			keyed_drop(KEYED(&evictions->items), i);
			eviction_free(&over);
		}
	}
	for (size_t i = evictions->stuck.count; i-- > 0;) {
		if (evictions->stuck.items[i].seen != picture->time->step) {
			free(evictions->stuck.items[i].uid);
			VEC_REMOVE_SWAP(&evictions->stuck, i);
		}
	}
	jobs_sweep(evictions);
}

void evictions_new_term(struct evictions *all)
{
	vec_for_each (struct eviction, v, &all->items) {
		eviction_free(v);
	}
	vec_for_each (struct stuck, s, &all->stuck) {
		free(s->uid);
	}
	vec_for_each (struct recycled, r, &all->recycled) {
		free(r->owner);
	}
	VEC_CLEAR(&all->recycled);
	keyed_finish(KEYED(&all->items));
	VEC_CLEAR(&all->stuck);
	jobs_forget(&all->jobs);
}

void evictions_finish(struct evictions *all)
{
	evictions_new_term(all);
	VEC_FINISH(&all->sent);
	VEC_FINISH(&all->stuck);
	VEC_FINISH(&all->recycled);
	jobs_finish(&all->jobs);
}
