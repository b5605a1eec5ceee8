/* Tenants whose RuntimeClass is not that of the capacity pods: what they may have, and what is to
 * be tried for them. */
#include "inject.h"

#include "model/refusal.h"
#include "state.h"

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
	inject_note_progress(w, m);
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

/* How far it is: a node that ends each probe is to be read by those who wait. */
void inject_note_progress(struct waiter *w, const struct inject_memo *m)
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
