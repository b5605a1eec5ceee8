/* Who has been contended for how long, who was moved last, and who is asked to be patient. */
#include "rollouts/moves.h"

#include "rollouts/rollouts.h"

#include "base/number.h"
#include "tracking/tracking.h"

#define MINUTE_MS INT64_C(60000)
/* Contention itself is 8 of 10 minutes; it has lasted when it was told for so long without a
 * break. */
#define AFTER_MS (30 * MINUTE_MS)
/* Where a tenant of the same GPU takes all that it has and more, it is given more or goes itself
 * within half an hour: until then nobody makes way for it. And of several that are contended the
 * smallest goes first, for which there is room in most places. */
#define LATER_MS (60 * MINUTE_MS)
/* Who uses less of his share lacks nothing. */
#define LEAST_PERCENT 20
/* Nobody who came with a move goes again before, however short the hold of healing is; nor is it
 * remembered for longer. */
#define REST_LEAST_MS (6 * 60 * MINUTE_MS)
#define REST_MOST_MS  (24 * 60 * MINUTE_MS)
/* Of all workloads. Where so many rest nobody goes. */
#define MOVES_MAX 256
/* Minutes as they are kept: 1 to so many, and round. One half of it is past; the other is of a
 * clock that was set back. What lasts longer than a week counts as that. */
#define ROUND	65535
#define LONGEST INT64_C(10080)

void moves_finish(struct moves *m)
{
	VEC_FINISH(&m->list);
	VEC_FINISH(&m->back);
}

static uint16_t minute_stamp(int64_t now_ms)
{
	return (uint16_t)(now_ms / MINUTE_MS % ROUND + 1);
}

static bool stamp_is_ahead(uint16_t then, int64_t now_ms)
{
	return (minute_stamp(now_ms) - then + ROUND) % ROUND > ROUND / 2;
}

static int64_t minutes_since(uint16_t then, int64_t now_ms)
{
	return stamp_is_ahead(then, now_ms) ? 0 : (minute_stamp(now_ms) - then + ROUND) % ROUND;
}

/* It uses what others take from it, its share may be changed at all, and it need not run on. */
static bool may_move(const struct sized_pod *p)
{
	const struct heal_feed *f = p->feed_count == 1 ? &p->feeds[0].heal : NULL;
	int64_t share = (int64_t)p->heal.share.milli * (METERED_FULL / MODEL_GPU_MILLI);
	return f != NULL && f->contended != 0 && p->advised && !p->of->keeps_running && share > 0 &&
	       f->compute * INT64_C(100) >= share * LEAST_PERCENT;
}

void moves_tally(struct gpus *gpus, const struct sized_pod *p, struct heal_feed *h, int64_t now_ms)
{
	if (h->pressed != PRESS_CONTENTION) {
		h->contended = 0;
	} else if (h->contended == 0 || stamp_is_ahead(h->contended, now_ms)) {
		h->contended = minute_stamp(now_ms);
	} else if (minutes_since(h->contended, now_ms) > LONGEST) {
		h->contended = minute_stamp(now_ms - LONGEST * MINUTE_MS);
	}
	if (h->pressed == PRESS_MORE && p->of->acts && p->advised) {
		gpus_press(gpus, p->heal.gpu);
	} else if (p->of->acts && may_move(p)) {
		gpus_crowd(gpus, p->heal.gpu, p->heal.share.milli);
	}
}

static uint64_t workload_number(const struct sized_workload *x)
{
	return hash_bytes(x->row.name, strlen(x->row.name), hash_text(x->key.ns));
}

/* For so long those stay that come with a move, and others keep off the GPU that was left. */
static int64_t rest_ms(const struct decision *d)
{
	int64_t hold = d->choice.policy->sizing.heal_compute.hold_s * 1000;
	return hold < REST_LEAST_MS ? REST_LEAST_MS : time_min(hold, REST_MOST_MS);
}

/* When he may go. Who came with a move of its workload stays for the hold of healing, so that
 * nobody is driven from GPU to GPU. */
static int64_t due_ms(const struct rollouts *s, const struct sized_pod *p, const struct decision *d)
{
	const uint64_t own = workload_number(p->of);
	int64_t since =
		d->now_ms - minutes_since(p->feeds[0].heal.contended, d->now_ms) * MINUTE_MS;
	int64_t rest = 0;
	vec_for_each (const struct move, m, &s->moves.list) {
		if (m->gpu == p->heal.gpu) {
			since = larger_of(since, m->at_ms);
		}
		if (m->workload == own && p->created_ms >= m->at_ms) {
			rest = larger_of(rest, m->at_ms + m->rest_ms);
		}
	}
	bool patient = gpus_pressed(&s->supply->gpus, p->heal.gpu) ||
		       gpus_least(&s->supply->gpus, p->heal.gpu) < p->heal.share.milli;
	return larger_of(since + (patient ? LATER_MS : AFTER_MS), rest);
}

static bool moves_before(const struct sized_pod *a, bool a_stays, const struct sized_pod *b,
	bool b_stays, int64_t now_ms)
{
	if (b == NULL || a_stays != b_stays) {
		return b == NULL || b_stays;
	}
	int64_t of_a = minutes_since(a->feeds[0].heal.contended, now_ms);
	int64_t of_b = minutes_since(b->feeds[0].heal.contended, now_ms);
	return of_a != of_b ? of_a > of_b : strcmp(a->uid, b->uid) < 0;
}

static void move_remove(struct moves *m, size_t i)
{
	struct move *at = &m->list.items[i];
	memmove(at, at + 1, (--m->list.count - i) * sizeof *at);
}

/* When there is a place in the list for one more. None that rests makes way for it: where many are
 * contended that would be the end of their rest. */
static int64_t place_ms(struct moves *m, int64_t now_ms)
{
	int64_t first = INT64_MAX;
	for (size_t i = m->list.count; i-- > 0;) {
		int64_t until = m->list.items[i].at_ms + m->list.items[i].rest_ms;
		if (until <= now_ms) {
			move_remove(m, i);
		} else {
			first = time_min(first, until);
		}
	}
	return m->list.count < MOVES_MAX ? now_ms : first;
}

struct sized_pod *moves_pick(struct rollouts *s, const struct sized_workload *x,
	const struct decision *d, int64_t *ret_next_ms)
{
	struct sized_pod *best = NULL;
	bool best_stays = false;
	*ret_next_ms = 0;
	if (!x->acts || x->heal.paused || d->choice.policy == NULL ||
		!d->choice.policy->sizing.heal_compute.enabled) {
		return NULL;
	}
	/* A clock that was ahead and is set right: nothing waits for what is to come. */
	vec_for_each (struct move, m, &s->moves.list) {
		m->at_ms = smaller_of(m->at_ms, d->now_ms);
	}
	for (struct sized_pod *p = x->members; p != NULL; p = p->next) {
		const struct world_pod *wp = world_pod_by_uid(d->world, p->uid);
		if (!may_move(p) || wp == NULL || wp->gpu == NULL || wp->gpu->beside ||
			wp->deleting || world_pod_terminal(wp)) {
			continue;
		}
		int64_t due = due_ms(s, p, d);
		if (due > d->now_ms) {
			*ret_next_ms = *ret_next_ms == 0 ? due : time_min(*ret_next_ms, due);
		} else if (moves_before(p, wp->gpu->keeps_node, best, best_stays, d->now_ms)) {
			best = p;
			best_stays = wp->gpu->keeps_node;
		}
	}
	int64_t place = best != NULL ? place_ms(&s->moves, d->now_ms) : 0;
	if (place > d->now_ms) {
		*ret_next_ms = place;
		return NULL;
	}
	return best;
}

static uint64_t capacity_pod_hash(const struct sized_pod *p, const struct decision *d)
{
	const struct world_pod *wp = world_pod_by_uid(d->world, p->uid);
	return hash_text(wp != NULL && wp->gpu != NULL ? text_or(wp->gpu->capacity_pod, "") : "");
}

const uint64_t *moves_left(const struct rollouts *s, const struct sized_pod *p,
	const struct decision *d, struct arena *a, uint32_t *ret_count)
{
	const uint64_t own = workload_number(p->of);
	uint64_t *rooms = ARENA_ARRAY(a, uint64_t, s->moves.list.count + 1);
	*ret_count = 0;
	rooms[(*ret_count)++] = capacity_pod_hash(p, d);
	vec_for_each (const struct move, m, &s->moves.list) {
		if (m->workload == own && d->now_ms < m->at_ms + m->rest_ms) {
			rooms[(*ret_count)++] = m->room;
		}
	}
	return rooms;
}

void moves_begin(struct rollouts *s, const struct sized_pod *p, const struct decision *d)
{
	struct move m = {.workload = workload_number(p->of),
		.room = capacity_pod_hash(p, d),
		.gpu = p->heal.gpu,
		.at_ms = d->now_ms,
		.rest_ms = rest_ms(d)};
	struct resize_request request = {.away_ms = m.rest_ms};
	memcpy(m.uid, p->uid, sizeof m.uid);
	memcpy(request.uid, p->uid, sizeof request.uid);
	VEC_PUSH(&s->moves.list, m);
	VEC_PUSH(&s->tracking->requests, request);
}

/* For how long its GPU is not for the next ones all the same, since another one of them left it. */
static int64_t away_ms(const struct moves *all, const struct move *m, int64_t now_ms)
{
	int64_t away = -1;
	vec_for_each (const struct move, other, &all->list) {
		if (other != m && other->workload == m->workload && other->room == m->room) {
			away = larger_of(away, other->at_ms + other->rest_ms - now_ms);
		}
	}
	return away == 0 ? -1 : away;
}

void moves_cancel(
	struct rollouts *s, const struct sized_workload *x, int64_t begun_ms, int64_t now_ms)
{
	for (size_t i = s->moves.list.count; i-- > 0;) {
		const struct move *m = &s->moves.list.items[i];
		if (m->workload == workload_number(x) && m->at_ms == begun_ms) {
			struct resize_request request = {.away_ms = away_ms(&s->moves, m, now_ms)};
			memcpy(request.uid, m->uid, sizeof request.uid);
			VEC_PUSH(&s->moves.back, request);
			move_remove(&s->moves, i);
		}
	}
}

void moves_hand_back(struct rollouts *s)
{
	vec_for_each (const struct resize_request, request, &s->moves.back) {
		VEC_PUSH(&s->tracking->requests, *request);
	}
	VEC_CLEAR(&s->moves.back);
}
