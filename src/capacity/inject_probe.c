/* Trying how a node gives GPUs: which probe is made, what became of it, and when it goes. */
#include "capacity/inject_probe.h"

#include <stdio.h>

#include "base/rand.h"
#include "capacity/inject.h"
#include "capacity/inject_class.h"
#include "ledger/ledger.h"
#include "model/names.h"
#include "record/tables.h"
#include "size/explain_gpus.h"

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

/* So many names a probe may have: a pod that is none may stand under one. */
#define NAMES 8

/* No node has such a name. */
#define CLASS_MARK "/"

static void probe_name(
	const struct inject_memo *m, enum inject_form form, uint64_t which, char name[64])
{
	CLEANUP(str_finish) struct str of = STR_INIT(1024);
	str_append_text(&of, m->node);
	if (m->class != NULL) {
		str_append_text(&of, CLASS_MARK);
		str_append_text(&of, m->class);
	}
	unsigned long long hash = (unsigned long long)hash_text(str_text(&of)) & 0xffffffffffffull;
	int n = snprintf(name, 64, "probe-%012llx-%s", hash, inject_form_name(form));
	if (which > 0) {
		snprintf(name + n, 64 - (size_t)n, "-%llu", (unsigned long long)which);
	}
}

static struct inject_claim claim_of(
	const struct injecting *inject, const struct inject_errand *x, enum inject_form form)
{
	struct inject_claim claim = inject_claim_of(inject, x->node, x->subject, form);
	claim.class = x->class;
	return claim;
}

/* The one of that form which names the subject's GPU; NULL: there is none. */
static const struct inject_probe *probe_of(
	const struct injecting *inject, const struct inject_errand *x, enum inject_form form)
{
	struct inject_claim wanted = claim_of(inject, x, form);
	vec_for_each (const struct inject_probe, p, &inject->probes) {
		if (p->node == x->node && p->pod.deleting_ms == 0 &&
			inject_claim_equals(p->pod.claim, &wanted) &&
			text_equals(p->pod.owner.uid, x->subject->uid)) {
			return p;
		}
	}
	return NULL;
}

static bool is_probe(const struct world_pod *p)
{
	return p->gpu != NULL && p->gpu->class == WORLD_PROBE;
}

/* False: a probe of another GPU or of another boot has it, and goes first; or no name is left. */
static bool free_name(
	struct injecting *inject, struct inject_memo *m, enum inject_form form, char name[64])
{
	struct inject_try *t = &m->tries[form];
	if (t->conflicts) {
		/* Were it a probe, it would have been seen by now. */
		t->conflicts = false;
		t->name = (t->name + 1) % NAMES;
	}
	for (int i = 0; i < NAMES; i++) {
		probe_name(m, form, t->name, name);
		const struct world_pod *there =
			world_pod_find(inject->picture->world, NAME_NAMESPACE, name);
		if (there == NULL || is_probe(there)) {
			return there == NULL;
		}
		t->name = (t->name + 1) % NAMES;
	}
	CLEANUP(str_finish) struct str text = STR_INIT(256);
	str_append_format(&text, "pods that are no probes have the names of probes, as %s", name);
	text_set(&m->refusal, str_text(&text));
	return false;
}

static void create(struct injecting *inject, const struct inject_errand *x, enum inject_form form,
	struct emitter *out)
{
	const struct picture *picture = inject->picture;
	char name[64];
	struct inject_memo *m = x->m;
	struct inject_try *t = &m->tries[form];
	if (t->flight != 0 || !flights_room(picture->book)) {
		return;
	}
	int64_t due = t->sent_at > 0 ? t->sent_at + ASSUME_MS : 0;
	due = m->retry_at > due ? m->retry_at : due;
	if (picture->time->now < due) {
		wake_by(picture->time, due);
		return;
	}
	if (!free_name(inject, m, form, name)) {
		return;
	}
	struct inject_claim claim = claim_of(inject, x, form);
	t->flight = emit_probe(out, name, x->subject, &claim);
	t->sent_at = picture->time->now;
	text_set(&m->subject, x->subject->uid);
}

/* The node or the cluster ended it: that is no word about the form. Its container may have been
 * killed for it. */
static bool is_taken(const struct pod *p)
{
	return pod_is_terminal(p) && p->sight == NULL &&
	       (!text_empty(p->status_reason) || p->disrupted ||
		       (p->phase == POD_FAILED && text_empty(p->trouble)) ||
		       text_equals(p->trouble, "ContainerStatusUnknown"));
}

/* Something of the node, of which time may be the cure, is no word about the form. */
static bool is_refused(const struct pod *p)
{
	static const char *const words[] = {
		"CreateContainerError", "RunContainerError", "StartError", "ContainerCannotRun"};
	for (size_t i = 0; i < COUNT_OF(words) && !pod_is_terminal(p); i++) {
		if (text_equals(p->trouble, words[i])) {
			return true;
		}
	}
	return pod_is_terminal(p) && !is_taken(p);
}

static const char *why_taken(const struct pod *p)
{
	return !text_empty(p->status_reason) ? p->status_reason
	       : !text_empty(p->trouble)     ? p->trouble
	       : p->disrupted		     ? "DisruptionTarget"
					     : "Failed";
}

static void try_anew(struct rng *rng, struct inject_memo *m, int64_t now)
{
	if (m->again.first_ms == 0) {
		m->again = (struct backoff){.first_ms = AGAIN_FIRST_MS, .cap_ms = AGAIN_CAP_MS};
	}
	m->retry_at = now + backoff_next(&m->again, rng);
}

/* False: not decided yet. */
static bool judge(
	const struct picture *picture, const struct inject_probe *p, struct inject_memo *m)
{
	enum inject_form form = p->pod.claim->form;
	struct inject_try *t = &m->tries[form];
	uint64_t uid = hash_text(text_or(p->pod.uid, ""));
	if (t->uid != uid) {
		*t = (struct inject_try){.uid = uid, .flight = t->flight, .name = t->name};
	}
	t->sent_at = 0;
	t->conflicts = false;
	m->doubts[form] = DOUBT_SILENT;
	if (p->pod.sight != NULL || is_refused(&p->pod)) {
		const struct inject_sight *s = p->pod.sight;
		m->again.attempt = 0;
		m->ended = 0;
		m->doubts[form] = s == NULL			      ? DOUBT_REFUSED
				  : inject_is_proven(p->pod.claim, s) ? DOUBT_NONE
				  : s->devices == 0		      ? DOUBT_SEES_NONE
								      : DOUBT_SEES_OTHERS;
		return m->doubts[form] != DOUBT_NONE;
	}
	if (t->since > 0 && !t->taken && picture->time->now - t->since >= SILENT_MS) {
		return true;
	}
	if (is_taken(&p->pod)) {
		if (!t->taken) {
			t->taken = true;
			m->ended++;
			text_set(&m->ended_why, why_taken(&p->pod));
			picture->time->dirty = true;
			try_anew(picture->book->rng, m, picture->time->now);
		}
		return false;
	}
	/* As long as no node has it, it cannot speak. */
	if (!text_empty(p->pod.node)) {
		t->since = t->since > 0 ? t->since : picture->time->now;
		wake_by(picture->time, t->since + SILENT_MS);
	}
	return false;
}

/* Those that work elsewhere come first. */
static void order_forms(const struct injecting *inject, enum inject_form ret_order[INJECT_FORMS])
{
	for (int i = 0; i < INJECT_FORMS; i++) {
		int at = i;
		while (at > 0 && inject->popular[i] > inject->popular[ret_order[at - 1]]) {
			ret_order[at] = ret_order[at - 1];
			at--;
		}
		ret_order[at] = (enum inject_form)i;
	}
}

static void rest(const struct picture *picture, const struct inject_errand *x, struct emitter *out)
{
	struct inject_memo *m = x->m;
	const struct holder *h = x->subject;
	const struct node *noun = picture->snap.nodes.items[x->node].noun;
	CLEANUP(str_finish) struct str text = STR_INIT(1024);
	if (m->backoff.first_ms == 0) {
		m->backoff = (struct backoff){.first_ms = REST_FIRST_MS, .cap_ms = REST_CAP_MS};
	}
	m->until = picture->time->now + backoff_next(&m->backoff, picture->book->rng);
	text_set(&m->failed, h->uid);
	text_set(&m->boot, noun->boot);
	text_set(&m->runtime, noun->runtime);
	wake_by(picture->time, m->until);
	picture->time->dirty = true;
	struct explain_vain vain = {
		m->node, m->class, m->doubts, (m->until - picture->time->now + 999) / 1000};
	explain_no_injection(&text, &vain);
	emit_warning(out, about_holder(h), "NoInjection", str_text(&text));
}

static void try_forms(struct injecting *inject, const struct inject_errand *x, struct emitter *out)
{
	enum inject_form order[INJECT_FORMS];
	if (inject->picture->snap.nodes.items[x->node].no_grants) {
		return;
	}
	order_forms(inject, order);
	for (int i = 0; i < INJECT_FORMS; i++) {
		const struct inject_probe *p = probe_of(inject, x, order[i]);
		if (p == NULL) {
			create(inject, x, order[i], out);
			return;
		}
		if (!judge(inject->picture, p, x->m)) {
			return;
		}
	}
	rest(inject->picture, x, out);
}

static struct inject_errand errand_of(struct injecting *inject, uint32_t node)
{
	const struct inject_node *n = &inject->nodes.items[node];
	struct inject_memo *m =
		inject_memo_touch(inject, inject->picture->snap.nodes.items[node].noun->name, NULL);
	return (struct inject_errand){
		node, n->subject, text_or(n->subject->pod.runtime_class, ""), m};
}

/* --- going --- */

/* What of its node and class is being tried; false: nothing. */
static bool errand_for(
	struct injecting *inject, const struct inject_probe *p, struct inject_errand *ret)
{
	const char *class = inject_class_of(inject, p);
	if (class != NULL) {
		struct inject_memo *m = inject_class_memo(inject, p->node, class);
		return m != NULL && inject_class_errand(inject, m, ret);
	}
	const struct inject_node *n = &inject->nodes.items[p->node];
	const struct inject_memo *m = inject_memo_find(inject, p->pod.claim->node, NULL);
	if (n->subject == NULL || (m != NULL && inject->picture->time->now < m->until)) {
		return false;
	}
	*ret = errand_of(inject, p->node);
	return true;
}

/* One that tells how far it is, or whose word nobody has in writing. */
static bool is_needed(struct injecting *inject, const struct inject_probe *p)
{
	struct inject_errand x;
	if (p->node == WORLD_NONE) {
		return false;
	}
	if (inject_is_awaited(inject, p->node, p->pod.claim)) {
		return true;
	}
	if (!errand_for(inject, p, &x)) {
		return false;
	}
	const struct inject_try *t = &x.m->tries[p->pod.claim->form];
	bool taken = t->taken && t->uid == hash_text(text_or(p->pod.uid, ""));
	return !taken && probe_of(inject, &x, p->pod.claim->form) == p;
}

static void let_go(struct injecting *inject, struct emitter *out)
{
	vec_for_each (const struct inject_probe, p, &inject->probes) {
		if (p->pod.deleting_ms != 0 || is_needed(inject, p)) {
			continue;
		}
		const struct inject_claim *claim = p->pod.claim;
		struct inject_memo *m =
			inject_memo_touch(inject, claim != NULL ? claim->node : p->pod.name,
				claim != NULL ? inject_class_of(inject, p) : NULL);
		struct inject_try *t = &m->tries[claim != NULL ? claim->form : INJECT_ENV];
		if (t->gone_at > 0 && inject->picture->time->now - t->gone_at < GONE_EVERY_MS) {
			wake_by(inject->picture->time, t->gone_at + GONE_EVERY_MS);
			continue;
		}
		emit_companion_delete(out, p->world);
		out->plan->actions.items[out->plan->actions.count - 1].claim =
			record_clone(&out->plan->arena, &inject_claim_table, claim);
		t->gone_at = inject->picture->time->now;
	}
}

/* Whoever was refused once is not told so for ever. */
static void note_proven(struct injecting *inject)
{
	for (size_t i = 0; i < inject->nodes.count; i++) {
		const struct inject_node *n = &inject->nodes.items[i];
		if (n->memo == WORLD_NONE || n->proof == WORLD_NONE || n->subject != NULL) {
			continue;
		}
		struct inject_memo *m = &inject->memos.items[n->memo];
		m->backoff.attempt = 0;
		m->until = 0;
		m->ended = 0;
	}
}

static void note_proven_classes(struct injecting *inject)
{
	for (size_t i = 0; i < inject->nodes.count; i++) {
		uint32_t at = inject->nodes.items[i].proof;
		for (; at != WORLD_NONE; at = inject->proofs.items[at].next) {
			const char *class = inject->proofs.items[at].claim->class;
			struct inject_memo *m = inject_class_memo(inject, (uint32_t)i, class);
			if (m != NULL) {
				m->backoff.attempt = 0;
				m->until = 0;
				m->ended = 0;
			}
		}
	}
}

void inject_tend(struct injecting *inject, struct emitter *out)
{
	struct inject_errand x;
	note_proven(inject);
	note_proven_classes(inject);
	for (uint32_t i = 0; i < inject->nodes.count; i++) {
		const struct inject_node *n = &inject->nodes.items[i];
		if (n->subject != NULL) {
			x = errand_of(inject, i);
			if (!n->rests) {
				try_forms(inject, &x, out);
			}
		}
	}
	for (size_t i = 0; i < inject->memos.count; i++) {
		if (inject_class_errand(inject, &inject->memos.items[i], &x)) {
			try_forms(inject, &x, out);
		}
	}
	let_go(inject, out);
}

void inject_settle(struct injecting *inject, int64_t now, uint64_t id, const struct outcome *o)
{
	for (size_t i = 0; i < inject->memos.count * INJECT_FORMS; i++) {
		struct inject_memo *m = &inject->memos.items[i / INJECT_FORMS];
		struct inject_try *t = &m->tries[i % INJECT_FORMS];
		if (t->flight != id) {
			continue;
		}
		t->flight = 0;
		bool may_be_there = o->fault.kind == FAULT_NONE || o->fault.unknown_outcome ||
				    o->fault.kind == FAULT_CONFLICT;
		t->conflicts = o->fault.kind == FAULT_CONFLICT;
		text_set(&m->refusal, may_be_there ? NULL : o->fault.message);
		m->retry_at = 0;
		if (!may_be_there) {
			t->sent_at = 0;
			try_anew(inject->picture->book->rng, m, now);
		}
		return;
	}
}
