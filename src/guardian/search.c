/* The search for orphans (C11). Nobody can ask the device plugin for a certain GPU: it gives out
 * whichever is free. So one capacity pod for every free GPU of the node is asked for, none of them
 * goes before all have told what they got, and then only the right one stays. Where the capacity
 * pod that held it is still on its way out and nothing else is free there, one waits at the
 * scheduler, ahead of everybody else by its priority, for the moment at which the GPU is free. */
#include "search.h"

#include "guardian/orphan.h"
#include "ledger/ledger.h"
#include "model/names.h"

/* What was searched for long enough in vain is searched for seldom: each time the node's free GPUs
 * are nobody else's for a moment. */
#define LATE_MS 300000

/* Cordoned is no obstacle: nothing new comes to the node. */
static bool is_closed(const struct place_node *n)
{
	return !n->noun->ready || (n->no_grants && !n->noun->unschedulable);
}

static struct search *search_on(struct orphans *orphans, const char *node)
{
	uint32_t at = snap_node_of(orphans->picture, node);
	return at == WORLD_NONE || at >= orphans->searches.count ? NULL
								 : &orphans->searches.items[at];
}

static bool is_sought(const struct step_time *time, const struct orphan *o)
{
	return o->seen == time->step && o->searched;
}

static bool count_orphans(struct orphans *orphans)
{
	const struct picture *picture = orphans->picture;
	bool any = false;
	vec_for_each (const struct orphan, o, &orphans->items) {
		any = any || is_sought(picture->time, o);
	}
	for (size_t i = 0; any && i < picture->snap.nodes.count; i++) {
		VEC_PUSH(&orphans->searches, (struct search){0});
	}
	vec_for_each (const struct orphan, o, &orphans->items) {
		struct search *s = is_sought(picture->time, o) ? search_on(orphans, o->node) : NULL;
		if (s != NULL) {
			s->leaving += o->leaving ? 1 : 0;
			s->lost += o->leaving ? 0 : 1;
			s->mps += o->mps ? 1 : 0;
			s->mps_is_free = s->mps_is_free || (o->mps && o->amiss && !o->asked_mps);
			s->due = s->due || picture->time->now >= o->retry_at;
			s->fresh = s->fresh || !orphan_is_late(picture, o);
		}
	}
	return any;
}

/* Not with somebody in its ledger. */
static bool goes_amiss(const struct picture *picture, const struct holder *h)
{
	return h->amiss == picture->time->step && h->snap_step == picture->time->step &&
	       picture->snap_gpus.items[h->snap_at].entries == 0;
}

static void count_searchers(struct orphans *orphans)
{
	const struct picture *picture = orphans->picture;
	for (size_t i = 0; i < picture->book->holders.count; i++) {
		const struct holder *h = picture->book->holders.items[i];
		struct search *of = goes_amiss(picture, h) ? search_on(orphans, h->node) : NULL;
		if (of != NULL) {
			of->amiss++;
		}
		struct search *s = h->search && h->snap_step == picture->time->step
					   ? search_on(orphans, h->node)
					   : NULL;
		if (s != NULL) {
			s->opening += h->pod.identity == NULL ? 1 : 0;
			s->unbound += !h->in_world || text_empty(h->pod.node) ? 1 : 0;
		}
	}
}

/* What the search wants nobody else opens, as long as it has time. */
static void want(struct search *s, struct place_node *n)
{
	if (s->lost > 0) {
		s->want = n->free_gpus;
	} else if (s->leaving > s->opening && n->free_gpus + s->unbound <= 0) {
		s->want = s->leaving - s->opening;
	}
	s->want = s->want < 0 || is_closed(n) ? 0 : s->want;
	if (s->lost > 0 && s->fresh && n->free_gpus > 0 && !is_closed(n)) {
		n->free_gpus = 0;
	}
}

/* Those that have told another GPU keep it from being given out instead of the right one. */
static bool goes_on(const struct search *s)
{
	return s != NULL && s->lost + s->leaving > 0 &&
	       (s->opening > 0 || ((s->want > 0 || s->amiss > 0) && s->fresh));
}

void searches_plan(struct orphans *orphans)
{
	const struct picture *picture = orphans->picture;
	VEC_CLEAR(&orphans->searches);
	if (count_orphans(orphans)) {
		count_searchers(orphans);
	}
	for (size_t i = 0; i < orphans->searches.count; i++) {
		want(&orphans->searches.items[i], &picture->snap.nodes.items[i]);
	}
	size_t gpus = orphans->searches.count > 0 ? picture->snap_gpus.count : 0;
	for (size_t i = 0; i < gpus; i++) {
		struct place_gpu *g = &picture->snap.gpus.items[i];
		const struct holder *h = picture->snap_gpus.items[i].holder;
		/* What is left of a search that is over is anybody's who comes before it goes. */
		g->searches = !g->fenced && h->search && goes_on(search_on(orphans, h->node));
		g->fenced = g->fenced || g->searches;
	}
}

/* Whatever keeps others off the node now must not keep off who holds what is used there; but what
 * is about to be taken away is not clung to. */
static struct pod who_comes(const struct place_node *n, bool mps, struct arena *arena)
{
	static struct pair mode[] = {{NOTE_ISOLATION, ISOLATION_MPS_TEXT}};
	struct pod pod = {.notes = {mode, mps ? 1 : 0},
		.tolerations = ARENA_ARRAY(arena, struct toleration, n->noun->taint_count + 1)};
	for (uint32_t i = 0; i < n->noun->taint_count; i++) {
		const struct taint *t = &n->noun->taints[i];
		if (text_equals(t->effect, "NoSchedule") &&
			!text_equals(t->key, "karpenter.sh/disrupted")) {
			pod.tolerations[pod.toleration_count++] = (struct toleration){
				.key = t->key, .operator= "Exists", .effect = t->effect};
		}
	}
	return pod;
}

/* Which of them gets which GPU is chance. Where both modes are looked for at once it is None, which
 * changes nothing on a device that is another; once that has found one of MPS, by turns. */
static bool asks_for_mps(const struct search *s)
{
	return s->mps > 0 && (s->mps == s->lost + s->leaving || s->mps_is_free);
}

static void ask(struct orphans *orphans, uint32_t node, struct emitter *out)
{
	struct search *s = &orphans->searches.items[node];
	const struct place_node *n = &orphans->picture->snap.nodes.items[node];
	bool mps = s->asked_mps = asks_for_mps(s);
	const struct pod pod = who_comes(n, mps, &out->plan->arena);
	for (; s->want > 0; s->want--) {
		struct holder *h = emit_create(out, n->noun->name, &pod);
		if (h == NULL) {
			return;
		}
		h->search = true;
		s->opening++;
	}
}

static void ask_where_due(struct orphans *orphans, struct emitter *out)
{
	const struct picture *picture = orphans->picture;
	vec_for_each (struct orphan, o, &orphans->items) {
		struct search *s = is_sought(picture->time, o) ? search_on(orphans, o->node) : NULL;
		if (s == NULL) {
			continue;
		}
		if (s->want > 0 && s->due) {
			ask(orphans, snap_node_of(picture, o->node), out);
			s->asked = true;
		}
		if (s->asked) {
			o->asked_mps = s->asked_mps;
			int64_t rest = backoff_next(&o->backoff, picture->book->rng);
			bool late = orphan_is_late(picture, o) && rest < LATE_MS;
			o->retry_at = picture->time->now + (late ? LATE_MS : rest);
		} else if (s->want > 0) {
			wake_by(picture->time, o->retry_at);
		}
	}
}

static bool is_used(const struct picture *picture, const struct holder *h)
{
	return h->snap_step == picture->time->step &&
	       (picture->snap.gpus.items[h->snap_at].tenants > 0 ||
		       picture->snap_gpus.items[h->snap_at].demand > 0);
}

static void ask_again(const struct picture *picture, struct holder *h, struct emitter *out)
{
	uint32_t node = snap_node_of_holder(picture, h);
	if (h->refusal == NULL || h->in_world || h->flight != 0 || node == WORLD_NONE) {
		return;
	}
	if (picture->time->now < h->retry_at) {
		wake_by(picture->time, h->retry_at);
		return;
	}
	const struct pod pod =
		who_comes(&picture->snap.nodes.items[node], h->mps, &out->plan->arena);
	emit_create_again(out, h, &pod);
}

void searches_tend(struct orphans *orphans, struct emitter *out)
{
	const struct picture *picture = orphans->picture;
	ask_where_due(orphans, out);
	for (size_t i = 0; i < picture->book->holders.count; i++) {
		struct holder *h = picture->book->holders.items[i];
		if (goes_amiss(picture, h)) {
			if (holder_may_go(h)) {
				emit_delete(out, h);
			}
			continue;
		}
		if (!h->search) {
			continue;
		}
		if (goes_on(search_on(orphans, h->node))) {
			ask_again(picture, h, out);
		} else if (is_used(picture, h)) {
			/* Nobody looked for it, but somebody may run on it. */
			h->search = false;
		} else if (holder_may_go(h)) {
			emit_delete(out, h);
		}
	}
}
