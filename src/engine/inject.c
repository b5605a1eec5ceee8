/* What is proven of nodes, in the picture of one step; and what those who wait are told of it. */
#include "inject.h"

#include <stdio.h>
#include <stdlib.h>

#include "size/explain.h"
#include "state.h"

/* So long after it was last of use. */
#define FORGET_MS 3600000

void inject_init(struct engine *e)
{
	struct fault f = {0};
	const char *text = text_or(e->cfg.injection, "env");
	if (inject_rules_parse(text, &e->inject.rules_arena, &e->inject.rules, &f) < 0) {
		BUG("%s", f.message);
	}
}

static void memo_free(struct inject_memo *m)
{
	free(m->node);
	free(m->subject);
	free(m->failed);
	free(m->boot);
	free(m->runtime);
	free(m->refusal);
}

void inject_forget(struct engine *e)
{
	vec_for_each (struct inject_memo, m, &e->inject.memos) {
		memo_free(m);
	}
	VEC_CLEAR(&e->inject.memos);
	VEC_CLEAR(&e->inject.nodes);
	VEC_CLEAR(&e->inject.proofs);
	VEC_CLEAR(&e->inject.probes);
}

void inject_finish(struct injecting *all)
{
	vec_for_each (struct inject_memo, m, &all->memos) {
		memo_free(m);
	}
	VEC_FINISH(&all->memos);
	VEC_FINISH(&all->nodes);
	VEC_FINISH(&all->proofs);
	VEC_FINISH(&all->probes);
	arena_finish(&all->arena);
	arena_finish(&all->rules_arena);
}

const struct inject_memo *inject_memo_find(const struct engine *e, const char *node)
{
	vec_for_each (const struct inject_memo, m, &e->inject.memos) {
		if (strcmp(m->node, node) == 0) {
			return m;
		}
	}
	return NULL;
}

struct inject_memo *inject_memo_touch(struct engine *e, const char *node)
{
	vec_for_each (struct inject_memo, m, &e->inject.memos) {
		if (strcmp(m->node, node) == 0) {
			m->seen_at = e->now;
			return m;
		}
	}
	struct inject_memo made = {.node = xstrdup(node), .seen_at = e->now};
	VEC_PUSH(&e->inject.memos, made);
	return &e->inject.memos.items[e->inject.memos.count - 1];
}

static struct inject_node *node_of(const struct engine *e, const struct holder *h)
{
	uint32_t at = snap_node_of(e, h->node);
	return at < e->inject.nodes.count ? &e->inject.nodes.items[at] : NULL;
}

/* --- what is proven --- */

struct inject_claim inject_claim_of(
	const struct engine *e, uint32_t node, const struct holder *h, enum inject_form form)
{
	const struct node *n = e->snap.nodes.items[node].noun;
	return (struct inject_claim){.form = form,
		.node = n->name,
		.uuid = h->pod.identity->uuid,
		.driver = h->pod.identity->driver,
		.boot = text_or(n->boot, ""),
		.runtime = text_or(n->runtime, ""),
		.class = text_or(h->pod.runtime_class, "")};
}

/* It is about what this GPU is under now, whichever GPU it named. */
static bool suits(const struct engine *e, uint32_t node, const struct holder *h,
	const struct inject_claim *claim)
{
	if (claim == NULL) {
		return false;
	}
	struct inject_claim now = inject_claim_of(e, node, h, claim->form);
	now.uuid = claim->uuid;
	return inject_claim_equals(claim, &now);
}

/* It tells its GPU, and nothing takes it away. */
static bool is_told(const struct engine *e, const struct holder *h)
{
	bool leaves = h->deleted || h->pod.deleting_ms != 0 ||
		      (h->flight != 0 && h->flight_type == ACTION_DELETE_CAPACITY);
	/* Of those that are gone the book tells only later in the step. */
	return h->in_world && h->seen == e->step && h->pod.identity != NULL &&
	       !pod_is_terminal(&h->pod) && !leaves;
}

/* What is proven of its node that is about this one too; NULL: nothing. */
static const struct inject_proof *proof_there(
	const struct engine *e, uint32_t node, const struct holder *h)
{
	uint32_t at = e->inject.nodes.items[node].proof;
	while (at != WORLD_NONE && !suits(e, node, h, e->inject.proofs.items[at].claim)) {
		at = e->inject.proofs.items[at].next;
	}
	return at != WORLD_NONE ? &e->inject.proofs.items[at] : NULL;
}

/* NULL: none. */
static const struct inject_claim *proof_of(const struct engine *e, const struct holder *h)
{
	uint32_t at = snap_node_of(e, h->node);
	if (at >= e->inject.nodes.count || h->pod.identity == NULL) {
		return NULL;
	}
	if (suits(e, at, h, h->pod.claim)) {
		return h->pod.claim;
	}
	const struct inject_proof *p = proof_there(e, at, h);
	return p != NULL ? p->claim : NULL;
}

static void proof_add(
	struct engine *e, uint32_t node, const struct inject_claim *claim, struct holder *writer)
{
	struct inject_node *n = &e->inject.nodes.items[node];
	struct inject_proof made = {.claim = claim, .writer = writer, .next = n->proof};
	n->proof = (uint32_t)e->inject.proofs.count;
	VEC_PUSH(&e->inject.proofs, made);
}

bool inject_knows(const struct engine *e, const struct holder *h, enum inject_form *ret_form)
{
	const struct inject_node *n = node_of(e, h);
	if (n == NULL || n->way == INJECT_BY_PROBE) {
		const struct inject_claim *proof = proof_of(e, h);
		*ret_form = proof != NULL ? proof->form : INJECT_ENV;
		return proof != NULL;
	}
	*ret_form = (enum inject_form)n->way;
	return true;
}

enum inject_form inject_form_for(
	const struct engine *e, const struct holder *h, const struct pod *tenant)
{
	enum inject_form form;
	bool known = inject_knows(e, h, &form);
	ENSURE(known);
	const struct inject_node *n = node_of(e, h);
	uint32_t at = n != NULL && n->way == INJECT_BY_PROBE ? n->proof : WORLD_NONE;
	for (; at != WORLD_NONE; at = e->inject.proofs.items[at].next) {
		const struct inject_claim *c = e->inject.proofs.items[at].claim;
		if (text_equals(c->class, text_or(tenant->runtime_class, "")) &&
			text_equals(c->driver, h->pod.identity->driver)) {
			return c->form;
		}
	}
	return form;
}

bool inject_is_vain(const struct engine *e, const struct holder *h)
{
	enum inject_form form;
	const struct inject_node *n = node_of(e, h);
	return n != NULL && n->rests && h->pod.identity != NULL && !inject_knows(e, h, &form);
}

const struct inject_claim *inject_proof_for(const struct engine *e, const struct holder *h)
{
	const struct inject_node *n = node_of(e, h);
	const struct inject_claim *proof = n != NULL ? proof_of(e, h) : NULL;
	return n == NULL || n->way != INJECT_BY_PROBE || proof == h->pod.claim ? NULL : proof;
}

bool inject_owes(const struct engine *e, const struct holder *h)
{
	uint32_t at = snap_node_of(e, h->node);
	if (at >= e->inject.nodes.count || inject_proof_for(e, h) == NULL) {
		return false;
	}
	const struct inject_proof *p = proof_there(e, at, h);
	return p != NULL && p->writer == h;
}

bool inject_is_awaited(const struct engine *e, uint32_t node, const struct inject_claim *claim)
{
	uint32_t at = e->inject.nodes.items[node].proof;
	while (at != WORLD_NONE && e->inject.proofs.items[at].claim != claim) {
		at = e->inject.proofs.items[at].next;
	}
	return at != WORLD_NONE && e->inject.proofs.items[at].writer != NULL;
}

/* --- the look --- */

static void add_nodes(struct engine *e)
{
	VEC_CLEAR(&e->inject.nodes);
	VEC_CLEAR(&e->inject.proofs);
	vec_for_each (const struct place_node, n, &e->snap.nodes) {
		struct inject_node made = {.memo = WORLD_NONE,
			.proof = WORLD_NONE,
			.way = inject_rules_way(&e->inject.rules, &n->noun->labels)};
		VEC_PUSH(&e->inject.nodes, made);
	}
}

/* It may work there now. */
static void end_stale_rest(struct inject_memo *m, const struct node *n)
{
	bool same = text_equals(text_or(m->boot, ""), text_or(n->boot, "")) &&
		    text_equals(text_or(m->runtime, ""), text_or(n->runtime, ""));
	m->until = same ? m->until : 0;
}

/* Nothing is opened on a node that rests: it would only be given back. */
static void add_memos(struct engine *e)
{
	for (size_t i = e->inject.memos.count; i-- > 0;) {
		struct inject_memo *m = &e->inject.memos.items[i];
		if (e->now >= m->until && e->now - m->seen_at > FORGET_MS) {
			memo_free(m);
			VEC_REMOVE_SWAP(&e->inject.memos, i);
		}
	}
	for (uint32_t i = 0; i < e->inject.memos.count; i++) {
		struct inject_memo *m = &e->inject.memos.items[i];
		uint32_t at = snap_node_of(e, m->node);
		if (at == WORLD_NONE || e->inject.nodes.items[at].way != INJECT_BY_PROBE) {
			continue;
		}
		e->inject.nodes.items[at].memo = i;
		end_stale_rest(m, e->snap.nodes.items[at].noun);
		if (e->now < m->until) {
			e->inject.nodes.items[at].rests = true;
			e->snap.nodes.items[at].no_opening = true;
			wake_by(e, m->until);
		}
	}
}

static void add_proofs(struct engine *e)
{
	memset(e->inject.popular, 0, sizeof e->inject.popular);
	vec_for_each (struct holder *const, each, &e->holders) {
		const struct holder *h = *each;
		uint32_t at = is_told(e, h) ? snap_node_of(e, h->node) : WORLD_NONE;
		if (at != WORLD_NONE && suits(e, at, h, h->pod.claim) &&
			proof_there(e, at, h) == NULL) {
			proof_add(e, at, h->pod.claim, NULL);
			e->inject.popular[h->pod.claim->form]++;
		}
	}
}

/* Whose GPU it names, if that is still so; NULL: nobody's. */
static struct holder *holder_of_probe(struct engine *e, const struct inject_probe *p)
{
	const struct pod *pod = &p->pod;
	struct holder *h = pod->owner.name != NULL ? holder_find(e, pod->owner.name) : NULL;
	bool its = h != NULL && is_told(e, h) && text_equals(h->uid, pod->owner.uid) &&
		   p->node != WORLD_NONE && snap_node_of(e, h->node) == p->node &&
		   strcmp(h->pod.identity->uuid, pod->claim->uuid) == 0 &&
		   suits(e, p->node, h, pod->claim);
	return its && pod->deleting_ms == 0 ? h : NULL;
}

static void add_probes(struct engine *e)
{
	arena_reset(&e->inject.arena);
	VEC_CLEAR(&e->inject.probes);
	for (size_t i = 0; i < world_class_count(e->world, WORLD_PROBE); i++) {
		struct inject_probe p = {.world = world_class_at(e->world, WORLD_PROBE, i)};
		p.pod = pod_of(p.world, &e->inject.arena);
		const struct inject_claim *claim = p.pod.claim;
		p.node = claim != NULL ? snap_node_of(e, claim->node) : WORLD_NONE;
		VEC_PUSH(&e->inject.probes, p);
		struct holder *h = holder_of_probe(e, &p);
		if (h == NULL) {
			continue;
		}
		e->inject.nodes.items[p.node].probed = h;
		if (p.pod.sight != NULL && inject_is_proven(claim, p.pod.sight) &&
			proof_of(e, h) == NULL) {
			proof_add(e, p.node, claim, h);
		}
	}
}

/* Who is named already stays, or it would begin anew with every GPU that is opened. One in vain is
 * the last that is named again: it may be the GPU and not the node. */
static uint32_t rank_of(const struct engine *e, const struct inject_node *n, const struct holder *h)
{
	const struct inject_memo *m =
		n->memo != WORLD_NONE ? &e->inject.memos.items[n->memo] : NULL;
	if (n->probed == h) {
		return 3;
	}
	return m != NULL && text_equals(m->failed, h->uid)    ? 0
	       : m != NULL && text_equals(m->subject, h->uid) ? 2
							      : 1;
}

/* What a probe sees of a GPU that is ill, or whose capacity pod does not run, says nothing of the
 * node. */
static bool may_be_named(struct engine *e, const struct holder *h)
{
	return is_told(e, h) && !h->search && h->pod.holds && !health_is_bad(e, h) &&
	       !capacity_failed(e, h, e->now);
}

static void choose_subjects(struct engine *e)
{
	vec_for_each (struct holder *const, each, &e->holders) {
		struct holder *h = *each;
		struct inject_node *n = may_be_named(e, h) ? node_of(e, h) : NULL;
		enum inject_form form;
		if (n == NULL || n->way != INJECT_BY_PROBE || inject_knows(e, h, &form)) {
			continue;
		}
		uint32_t rank = rank_of(e, n, h);
		if (n->subject == NULL || rank > n->rank ||
			(rank == n->rank && strcmp(h->name, n->subject->name) < 0)) {
			n->subject = h;
			n->rank = rank;
		}
	}
}

void inject_look(struct engine *e)
{
	add_nodes(e);
	add_memos(e);
	add_proofs(e);
	add_probes(e);
	choose_subjects(e);
}

/* --- what is told --- */

static const struct inject_memo *resting(const struct engine *e, const char *node)
{
	const struct inject_memo *m = node != NULL ? inject_memo_find(e, node) : NULL;
	return m != NULL && e->now < m->until ? m : NULL;
}

/* To place, a node that rests is one on which capacity pods do not come up. */
void inject_reason(struct engine *e, struct waiter *w)
{
	if (w->reason == REASON_CAPACITY_FAILED && resting(e, w->miss.best_node) != NULL) {
		w->reason = w->miss.reason = REASON_NO_INJECTION;
	}
}

bool inject_refusal(struct engine *e, struct waiter *w, const struct holder *h)
{
	const struct inject_node *n = node_of(e, h);
	const struct inject_memo *m =
		n != NULL && n->memo != WORLD_NONE ? &e->inject.memos.items[n->memo] : NULL;
	if (m == NULL || n->subject == NULL || m->refusal == NULL) {
		return false;
	}
	text_set(&w->refusal, m->refusal);
	w->refused_until = m->retry_at;
	w->reason = REASON_API_REFUSED;
	return true;
}

const char *inject_blocker(
	const struct engine *e, const struct waiter *w, struct arena *arena, int64_t *ret_next)
{
	const struct inject_memo *m =
		w->reason == REASON_NO_INJECTION ? resting(e, w->miss.best_node) : NULL;
	if (m == NULL) {
		return NULL;
	}
	CLEANUP(str_finish) struct str text = STR_INIT(256);
	explain_doubts(&text, m->doubts);
	*ret_next = m->until;
	return arena_strdup(arena, str_text(&text));
}
