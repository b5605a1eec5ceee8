/* Trying how a node gives GPUs: which probe is made, what became of it, and when it goes. */
#include <stdio.h>
#include <stdlib.h>

#include "alarm.h"
#include "inject.h"
#include "model/names.h"
#include "size/explain.h"
#include "state.h"

/* The image is there and the node is the capacity pod's: whoever is silent for longer than this
 * waits for something else. */
#define SILENT_MS 30000
/* One that was asked for and is not seen is asked for again. */
#define ASSUME_MS      10000
#define GONE_EVERY_MS  5000
#define REST_FIRST_MS  60000
#define REST_CAP_MS    1800000
#define AGAIN_FIRST_MS 1000
#define AGAIN_CAP_MS   30000

static void probe_name(const char *node, enum inject_form form, char *name, size_t room)
{
	unsigned long long hash = (unsigned long long)hash_text(node) & 0xffffffffffffull;
	snprintf(name, room, "probe-%012llx-%s", hash, inject_form_name(form));
}

/* The one of that form which names the subject's GPU; NULL: there is none. */
static const struct inject_probe *probe_of(
	const struct engine *e, uint32_t node, enum inject_form form)
{
	const struct holder *h = e->inject.nodes.items[node].subject;
	struct inject_claim wanted = inject_claim_of(e, node, h, form);
	vec_for_each (const struct inject_probe, p, &e->inject.probes) {
		if (p->node == node && p->pod.deleting_ms == 0 &&
			inject_claim_equals(p->pod.claim, &wanted) &&
			text_equals(p->pod.owner.uid, h->uid)) {
			return p;
		}
	}
	return NULL;
}

static void create(struct engine *e, uint32_t node, struct inject_memo *m, enum inject_form form,
	struct plan *plan)
{
	char name[64];
	struct inject_try *t = &m->tries[form];
	struct holder *h = e->inject.nodes.items[node].subject;
	if (t->flight != 0 || !flights_room(e)) {
		return;
	}
	int64_t due = t->sent_at > 0 ? t->sent_at + ASSUME_MS : 0;
	due = m->retry_at > due ? m->retry_at : due;
	if (e->now < due) {
		wake_by(e, due);
		return;
	}
	probe_name(m->node, form, name, sizeof name);
	if (world_pod_find(e->world, NAME_NAMESPACE, name) != NULL) {
		/* Of another GPU, or of another boot: it goes first. */
		return;
	}
	struct inject_claim claim = inject_claim_of(e, node, h, form);
	t->flight = emit_probe(e, name, h, &claim, plan);
	t->sent_at = e->now;
	text_set(&m->subject, h->uid);
}

/* Something of the node, of which time may be the cure, is no word about the form. */
static bool is_refused(const struct pod *p)
{
	static const char *const words[] = {
		"CreateContainerError", "RunContainerError", "StartError", "ContainerCannotRun"};
	for (size_t i = 0; i < COUNT_OF(words); i++) {
		if (text_equals(p->trouble, words[i])) {
			return true;
		}
	}
	return pod_is_terminal(p);
}

/* False: not decided yet. */
static bool judge(struct engine *e, const struct inject_probe *p, struct inject_try *t,
	enum inject_doubt *ret_doubt)
{
	uint64_t uid = hash_text(text_or(p->pod.uid, ""));
	if (t->uid != uid) {
		*t = (struct inject_try){.uid = uid, .since = e->now, .flight = t->flight};
	}
	t->sent_at = 0;
	if (p->pod.sight != NULL) {
		*ret_doubt = inject_is_proven(p->pod.claim, p->pod.sight) ? DOUBT_NONE
			     : p->pod.sight->devices == 0		  ? DOUBT_SEES_NONE
									  : DOUBT_SEES_OTHERS;
		return *ret_doubt != DOUBT_NONE;
	}
	if (is_refused(&p->pod)) {
		*ret_doubt = DOUBT_REFUSED;
		return true;
	}
	wake_by(e, t->since + SILENT_MS);
	*ret_doubt = DOUBT_SILENT;
	return e->now - t->since >= SILENT_MS;
}

/* Those that work elsewhere come first. */
static void order_forms(const struct engine *e, enum inject_form ret_order[INJECT_FORMS])
{
	for (int i = 0; i < INJECT_FORMS; i++) {
		int at = i;
		while (at > 0 && e->inject.popular[i] > e->inject.popular[ret_order[at - 1]]) {
			ret_order[at] = ret_order[at - 1];
			at--;
		}
		ret_order[at] = (enum inject_form)i;
	}
}

static void rest(struct engine *e, struct inject_memo *m, uint32_t node, struct plan *plan)
{
	const struct holder *h = e->inject.nodes.items[node].subject;
	const struct node *noun = e->snap.nodes.items[node].noun;
	CLEANUP(str_finish) struct str text = STR_INIT(1024);
	if (m->backoff.first_ms == 0) {
		m->backoff = (struct backoff){.first_ms = REST_FIRST_MS, .cap_ms = REST_CAP_MS};
	}
	m->until = e->now + backoff_next(&m->backoff, &e->rng);
	text_set(&m->boot, noun->boot);
	text_set(&m->runtime, noun->runtime);
	wake_by(e, m->until);
	e->dirty = true;
	explain_no_injection(&text, m->node, m->doubts, (m->until - e->now + 999) / 1000);
	alarm_say(e, h, "NoInjection", &text, plan);
}

static void try_node(struct engine *e, uint32_t node, struct plan *plan)
{
	const struct inject_node *n = &e->inject.nodes.items[node];
	struct inject_memo *m = inject_memo_touch(e, e->snap.nodes.items[node].noun->name);
	enum inject_form order[INJECT_FORMS];
	if (n->rests || e->snap.nodes.items[node].no_grants) {
		return;
	}
	order_forms(e, order);
	for (int i = 0; i < INJECT_FORMS; i++) {
		const struct inject_probe *p = probe_of(e, node, order[i]);
		if (p == NULL) {
			create(e, node, m, order[i], plan);
			return;
		}
		if (!judge(e, p, &m->tries[order[i]], &m->doubts[order[i]])) {
			return;
		}
	}
	rest(e, m, node, plan);
}

/* --- going --- */

/* One that tells how far it is, or whose word nobody has in writing. */
static bool is_needed(const struct engine *e, const struct inject_probe *p)
{
	if (p->node == WORLD_NONE) {
		return false;
	}
	const struct inject_node *n = &e->inject.nodes.items[p->node];
	const struct inject_memo *m = inject_memo_find(e, p->pod.claim->node);
	bool rests = m != NULL && e->now < m->until;
	if (n->writer != NULL && n->proof == p->pod.claim) {
		return true;
	}
	return n->subject != NULL && !rests && probe_of(e, p->node, p->pod.claim->form) == p;
}

static void let_go(struct engine *e, struct plan *plan)
{
	vec_for_each (const struct inject_probe, p, &e->inject.probes) {
		if (p->pod.deleting_ms != 0 || is_needed(e, p)) {
			continue;
		}
		const struct inject_claim *claim = p->pod.claim;
		struct inject_memo *m =
			inject_memo_touch(e, claim != NULL ? claim->node : p->pod.name);
		struct inject_try *t = &m->tries[claim != NULL ? claim->form : INJECT_ENV];
		if (t->gone_at > 0 && e->now - t->gone_at < GONE_EVERY_MS) {
			wake_by(e, t->gone_at + GONE_EVERY_MS);
			continue;
		}
		emit_companion_delete(e, p->world, plan);
		plan->actions.items[plan->actions.count - 1].claim =
			inject_claim_copy(&plan->arena, claim);
		t->gone_at = e->now;
	}
}

/* Whoever was refused once is not told so for ever. */
static void note_proven(struct engine *e)
{
	for (size_t i = 0; i < e->inject.nodes.count; i++) {
		const struct inject_node *n = &e->inject.nodes.items[i];
		if (n->memo == WORLD_NONE || n->proof == NULL) {
			continue;
		}
		struct inject_memo *m = &e->inject.memos.items[n->memo];
		m->backoff.attempt = 0;
		m->until = n->subject == NULL ? 0 : m->until;
	}
}

void inject_tend(struct engine *e, struct plan *plan)
{
	note_proven(e);
	for (uint32_t i = 0; i < e->inject.nodes.count; i++) {
		if (e->inject.nodes.items[i].subject != NULL) {
			try_node(e, i, plan);
		}
	}
	let_go(e, plan);
}

void inject_settle(struct engine *e, int64_t now, uint64_t id, const struct outcome *o)
{
	for (size_t i = 0; i < e->inject.memos.count * INJECT_FORMS; i++) {
		struct inject_memo *m = &e->inject.memos.items[i / INJECT_FORMS];
		struct inject_try *t = &m->tries[i % INJECT_FORMS];
		if (t->flight != id) {
			continue;
		}
		t->flight = 0;
		bool may_be_there = o->fault.kind == FAULT_NONE || o->fault.unknown_outcome ||
				    o->fault.kind == FAULT_CONFLICT;
		text_set(&m->refusal, may_be_there ? NULL : o->fault.message);
		if (may_be_there) {
			m->again = (struct backoff){
				.first_ms = AGAIN_FIRST_MS, .cap_ms = AGAIN_CAP_MS};
			m->retry_at = 0;
			return;
		}
		t->sent_at = 0;
		if (m->again.first_ms == 0) {
			m->again = (struct backoff){
				.first_ms = AGAIN_FIRST_MS, .cap_ms = AGAIN_CAP_MS};
		}
		m->retry_at = now + backoff_next(&m->again, &e->rng);
		return;
	}
}
