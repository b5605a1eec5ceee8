/* Tenants whose RuntimeClass is not that of the capacity pods: what they may have, and what is to
 * be tried for them. */
#include "capacity/inject_class.h"

#include "capacity/inject.h"
#include "ledger/ledger.h"
#include "model/refusal.h"
#include "size/explain_gpus.h"

/* So long after somebody last was to have a GPU of the node its class is tried, and kept. */
#define WANTED_MS 60000

static const char *class_of(const struct pod *tenant)
{
	return text_or(tenant->runtime_class, "");
}

static bool is_foreign(const struct holder *h, const struct pod *tenant)
{
	return strcmp(class_of(tenant), text_or(h->pod.runtime_class, "")) != 0;
}

bool inject_knows_for(const struct injecting *inject, const struct holder *h,
	const struct pod *tenant, enum inject_form *ret_form)
{
	const struct inject_node *n = inject_node_of(inject, h);
	if (n == NULL || !inject_is_tried(n) || !is_foreign(h, tenant)) {
		return inject_knows(inject, h, ret_form);
	}
	const struct inject_proof *p =
		h->pod.identity == NULL
			? NULL
			: inject_proof_of_class(inject, snap_node_of_holder(inject->picture, h), h,
				  class_of(tenant));
	if (p != NULL) {
		*ret_form = p->claim->form;
	}
	return p != NULL;
}

/* --- memos --- */

bool inject_class_is_wanted(const struct injecting *inject, const struct inject_memo *m)
{
	return m->wanted_at > 0 && inject->picture->time->now - m->wanted_at < WANTED_MS;
}

bool inject_is_vain_for(
	const struct injecting *inject, const struct holder *h, const struct pod *tenant)
{
	const struct picture *picture = inject->picture;
	uint32_t at = snap_node_of_holder(picture, h);
	const struct inject_void *v =
		at < picture->snap.nodes.count ? picture->snap.nodes.items[at].voids : NULL;
	while (v != NULL && strcmp(v->class, class_of(tenant)) != 0) {
		v = v->next;
	}
	return v != NULL && is_foreign(h, tenant);
}

/* --- asking --- */

/* NULL: so many are wanted there that no more can be kept beside each other. */
static struct inject_memo *want(struct injecting *inject, uint32_t node, const char *class)
{
	const struct picture *picture = inject->picture;
	struct inject_memo *m = inject_class_memo(inject, node, class);
	uint32_t wanted = 0, at = inject->nodes.items[node].classes;
	if (m == NULL || !inject_class_is_wanted(inject, m)) {
		for (; at != WORLD_NONE; at = inject->memos.items[at].next) {
			wanted += inject_class_is_wanted(inject, &inject->memos.items[at]) ? 1 : 0;
		}
		if (wanted >= INJECT_CLASSES_MAX) {
			return NULL;
		}
	}
	if (m == NULL) {
		m = inject_memo_touch(inject, picture->snap.nodes.items[node].noun->name, class);
		inject_class_add(inject, node, (uint32_t)(m - inject->memos.items));
	}
	m->wanted_at = picture->time->now > 0 ? picture->time->now : 1;
	m->seen_at = picture->time->now;
	return m;
}

bool inject_asks(struct injecting *inject, const struct pod *tenant, struct holder *h)
{
	enum inject_form form;
	struct inject_node *n = inject_node_of(inject, h);
	bool known = inject_knows_for(inject, h, tenant, &form);
	if (n == NULL || !inject_is_tried(n) || h->pod.identity == NULL || !is_foreign(h, tenant)) {
		return !known;
	}
	struct inject_memo *m =
		want(inject, snap_node_of_holder(inject->picture, h), class_of(tenant));
	bool nearer = m != NULL && (m->asked == NULL || strcmp(h->name, m->asked->name) < 0);
	if (!known && nearer) {
		m->asked = h;
	}
	return !known;
}

/* How far it is: a node that ends each probe is to be read by those who wait. */
static void note_progress(struct waiter *w, const struct inject_memo *m)
{
	w->reason = REASON_PROVING;
	if (m != NULL && m->refusal != NULL) {
		text_set(&w->refusal, m->refusal);
		w->refused_until = m->retry_at;
		w->reason = refusal_reason(m->refusal);
	} else if (m != NULL && m->ended >= PROBES_ENDED) {
		w->reason = REASON_PROBE_ENDED;
	}
}

bool inject_awaits(struct injecting *inject, struct waiter *w, struct holder *h)
{
	const struct picture *picture = inject->picture;
	if (!inject_asks(inject, &w->pod, h)) {
		return false;
	}
	uint32_t at = snap_node_of_holder(picture, h);
	struct inject_memo *m = is_foreign(h, &w->pod) && at < inject->nodes.count
					? inject_class_memo(inject, at, class_of(&w->pod))
					: NULL;
	w->crowded = is_foreign(h, &w->pod) && (m == NULL || !inject_class_is_wanted(inject, m));
	w->miss.best_node =
		at < picture->snap.nodes.count ? picture->snap.nodes.items[at].noun->name : NULL;
	note_progress(w, m);
	return true;
}

/* A probe that is there goes on: whom a waiter was to have may be another in every step. */
bool inject_class_errand(
	struct injecting *inject, struct inject_memo *m, struct inject_errand *ret_errand)
{
	uint32_t at = m->class != NULL ? snap_node_of(inject->picture, m->node) : WORLD_NONE;
	if (at == WORLD_NONE || !inject_is_tried(&inject->nodes.items[at]) ||
		inject->picture->time->now < m->until || !inject_class_is_wanted(inject, m)) {
		return false;
	}
	struct holder *h = m->probed != NULL ? m->probed : m->asked;
	enum inject_form form;
	if (h == NULL || !inject_may_name(inject, h) || !inject_knows(inject, h, &form) ||
		inject_proof_of_class(inject, at, h, m->class) != NULL) {
		return false;
	}
	*ret_errand = (struct inject_errand){at, h, m->class, m};
	return true;
}

/* --- what those who wait are told of a node's way to give GPUs --- */

static const struct inject_memo *memo_of(
	const struct injecting *inject, const char *node, const char *class)
{
	return node != NULL ? inject_memo_find(inject, node, class) : NULL;
}

static const struct inject_memo *resting(const struct injecting *inject, const char *node)
{
	const struct inject_memo *m = memo_of(inject, node, NULL);
	return m != NULL && inject->picture->time->now < m->until ? m : NULL;
}

/* The next of the nodes that rest for a tenant of its class. */
static const struct inject_memo *resting_for(const struct injecting *inject, const struct waiter *w)
{
	const struct inject_memo *next = NULL;
	vec_for_each (const struct inject_memo, m, &inject->memos) {
		if (inject->picture->time->now < m->until && m->class != NULL &&
			strcmp(m->class, text_or(w->pod.runtime_class, "")) == 0 &&
			(next == NULL || m->until < next->until)) {
			next = m;
		}
	}
	return next;
}

/* To place, a node that rests is one on which capacity pods do not come up. */
void inject_reason(struct injecting *inject, struct waiter *w)
{
	if (w->reason == REASON_CAPACITY_FAILED && resting(inject, w->miss.best_node) != NULL) {
		w->reason = w->miss.reason = REASON_NO_INJECTION;
	}
}

/* Of its class where that is another one than the capacity pods'. */
static const struct inject_memo *tried_for(const struct injecting *inject, const struct waiter *w)
{
	const struct inject_memo *m =
		memo_of(inject, w->miss.best_node, text_or(w->pod.runtime_class, ""));
	return m != NULL && inject_class_is_wanted(inject, m)
		       ? m
		       : memo_of(inject, w->miss.best_node, NULL);
}

bool inject_tries(struct injecting *inject, struct waiter *w, const struct holder *h)
{
	const struct picture *picture = inject->picture;
	enum inject_form form;
	const struct inject_node *n = inject_node_of(inject, h);
	if (n == NULL || n->subject == NULL || n->rests || h->pod.identity == NULL ||
		!h->pod.holds || inject_knows(inject, h, &form)) {
		return false;
	}
	w->miss.best_node = picture->snap.nodes.items[snap_node_of_holder(picture, h)].noun->name;
	w->crowded = false;
	note_progress(w, n->memo != WORLD_NONE ? &inject->memos.items[n->memo] : NULL);
	return true;
}

/* The node rests for its class alone. */
static void name_class(struct injecting *inject, struct waiter *w, const struct inject_memo *m)
{
	uint32_t at = snap_node_of(inject->picture, m->node);
	if (w->miss.best_node == NULL && at < inject->picture->snap.nodes.count) {
		w->miss.best_node = inject->picture->snap.nodes.items[at].noun->name;
	}
}

struct inject_words inject_words(struct injecting *inject, struct waiter *w, struct arena *arena)
{
	struct inject_words words = {0};
	const struct inject_memo *m = NULL;
	CLEANUP(str_finish) struct str text = STR_INIT(256);
	if (w->reason == REASON_NO_INJECTION) {
		m = resting(inject, w->miss.best_node);
		m = m != NULL ? m : resting_for(inject, w);
	} else if (w->reason == REASON_PROVING || w->reason == REASON_PROBE_ENDED) {
		m = tried_for(inject, w);
	}
	if (w->crowded && w->reason == REASON_PROVING) {
		words.value = "as many classes as can be are wanted there already";
		words.class = text_empty(w->pod.runtime_class) ? "none" : w->pod.runtime_class;
		return words;
	}
	if (m == NULL) {
		return words;
	}
	name_class(inject, w, m);
	if (w->reason == REASON_NO_INJECTION) {
		explain_doubts(&text, m->doubts);
		words.value = arena_strdup(arena, str_text(&text));
		words.next = m->until;
	} else if (w->reason == REASON_PROBE_ENDED) {
		words.value = arena_strdup(arena, m->ended_why);
		words.times = (uint32_t)m->ended;
		words.next = m->retry_at;
	}
	words.class = m->class == NULL	  ? NULL
		      : *m->class != '\0' ? arena_strdup(arena, m->class)
					  : "none";
	return words;
}
