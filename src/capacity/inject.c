/* What is proven of nodes, in the picture of one step; and what those who wait are told of it. */
#include "capacity/inject.h"

#include <stdlib.h>

#include "capacity/capacity_failure.h"
#include "capacity/inject_class.h"
#include "guardian/health.h"
#include "ledger/ledger.h"

/* So long after it was last of use. */
#define FORGET_MS 3600000

void inject_init(struct injecting *inject, struct picture *picture, struct ailments *ailments,
	const char *rules)
{
	inject->picture = picture;
	inject->ailments = ailments;
	struct fault f = {0};
	if (inject_rules_parse(rules, &inject->rules_arena, &inject->rules, &f) < 0) {
		BUG("%s", f.message);
	}
}

static void memo_free(struct inject_memo *m)
{
	free(m->node);
	free(m->class);
	free(m->ended_why);
	free(m->subject);
	free(m->failed);
	free(m->boot);
	free(m->runtime);
	free(m->refusal);
}

void inject_forget(struct injecting *inject)
{
	vec_for_each (struct inject_memo, m, &inject->memos) {
		memo_free(m);
	}
	VEC_CLEAR(&inject->memos);
	VEC_CLEAR(&inject->nodes);
	VEC_CLEAR(&inject->proofs);
	VEC_CLEAR(&inject->probes);
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

const struct inject_memo *inject_memo_find(
	const struct injecting *inject, const char *node, const char *class)
{
	vec_for_each (const struct inject_memo, m, &inject->memos) {
		bool same = class == NULL || m->class == NULL ? class == m->class
							      : strcmp(class, m->class) == 0;
		if (same && strcmp(m->node, node) == 0) {
			return m;
		}
	}
	return NULL;
}

struct inject_memo *inject_memo_touch(struct injecting *inject, const char *node, const char *class)
{
	const struct inject_memo *found = inject_memo_find(inject, node, class);
	if (found != NULL) {
		struct inject_memo *m = &inject->memos.items[found - inject->memos.items];
		m->seen_at = inject->picture->time->now;
		return m;
	}
	struct inject_memo made = {.node = xstrdup(node),
		.class = class != NULL ? xstrdup(class) : NULL,
		.seen_at = inject->picture->time->now,
		.next = WORLD_NONE};
	VEC_PUSH(&inject->memos, made);
	return &inject->memos.items[inject->memos.count - 1];
}

struct inject_node *inject_node_of(const struct injecting *inject, const struct holder *h)
{
	uint32_t at = snap_node_of_holder(inject->picture, h);
	return at < inject->nodes.count ? &inject->nodes.items[at] : NULL;
}

/* --- what is proven --- */

struct inject_claim inject_claim_of(const struct injecting *inject, uint32_t node,
	const struct holder *h, enum inject_form form)
{
	const struct node *n = inject->picture->snap.nodes.items[node].noun;
	return (struct inject_claim){.form = form,
		.node = n->name,
		.uuid = h->pod.identity->uuid,
		.driver = h->pod.identity->driver,
		.boot = text_or(n->boot, ""),
		.runtime = text_or(n->runtime, ""),
		.class = text_or(h->pod.runtime_class, "")};
}

/* It is about the machine as it is now, whichever GPU it named and under whichever class. */
static bool is_current(const struct injecting *inject, uint32_t node, const struct holder *h,
	const struct inject_claim *claim)
{
	struct inject_claim now = inject_claim_of(inject, node, h, claim->form);
	now.uuid = claim->uuid;
	now.class = claim->class;
	return inject_claim_equals(claim, &now);
}

static bool is_own(const struct holder *h, const char *class)
{
	return strcmp(class, text_or(h->pod.runtime_class, "")) == 0;
}

/* The same, of its own class. */
static bool suits(const struct injecting *inject, uint32_t node, const struct holder *h,
	const struct inject_claim *claim)
{
	return claim != NULL && is_own(h, claim->class) && is_current(inject, node, h, claim);
}

/* It tells its GPU, and nothing takes it away. */
static bool is_told(const struct injecting *inject, const struct holder *h)
{
	bool leaves = holder_is_leaving(h);
	/* Of those that are gone the book tells only later in the step. */
	return h->in_world && h->seen == inject->picture->time->step && h->pod.identity != NULL &&
	       !pod_is_terminal(&h->pod) && !leaves;
}

/* All of a node are of the machine as it is now. */
const struct inject_proof *inject_proof_of_class(
	const struct injecting *inject, uint32_t node, const struct holder *h, const char *class)
{
	uint32_t at = inject->nodes.items[node].proof;
	for (; at != WORLD_NONE; at = inject->proofs.items[at].next) {
		const struct inject_proof *p = &inject->proofs.items[at];
		if (strcmp(p->claim->class, class) == 0 &&
			strcmp(p->claim->driver, h->pod.identity->driver) == 0) {
			return p;
		}
	}
	return NULL;
}

/* What is proven of its node that is about this one too; NULL: nothing. */
static const struct inject_proof *proof_there(
	const struct injecting *inject, uint32_t node, const struct holder *h)
{
	return inject_proof_of_class(inject, node, h, text_or(h->pod.runtime_class, ""));
}

/* The proof for its own class; NULL: none. */
static const struct inject_claim *own_proof(const struct injecting *inject, const struct holder *h)
{
	uint32_t at = snap_node_of_holder(inject->picture, h);
	if (at >= inject->nodes.count || h->pod.identity == NULL) {
		return NULL;
	}
	if (suits(inject, at, h, h->pod.claim)) {
		return h->pod.claim;
	}
	const struct inject_proof *p = proof_there(inject, at, h);
	return p != NULL ? p->claim : NULL;
}

static void proof_add(struct injecting *inject, uint32_t node, const struct inject_claim *claim,
	struct holder *writer)
{
	struct inject_node *n = &inject->nodes.items[node];
	struct inject_proof made = {.claim = claim, .writer = writer, .next = n->proof};
	n->proof = (uint32_t)inject->proofs.count;
	VEC_PUSH(&inject->proofs, made);
}

bool inject_knows(
	const struct injecting *inject, const struct holder *h, enum inject_form *ret_form)
{
	const struct inject_node *n = inject_node_of(inject, h);
	if (n == NULL || n->way == INJECT_BY_PROBE) {
		const struct inject_claim *proof = own_proof(inject, h);
		*ret_form = proof != NULL ? proof->form : INJECT_ENV;
		return proof != NULL;
	}
	*ret_form = (enum inject_form)n->way;
	return true;
}

bool inject_is_vain(const struct injecting *inject, const struct holder *h)
{
	enum inject_form form;
	const struct inject_node *n = inject->resting > 0 ? inject_node_of(inject, h) : NULL;
	return n != NULL && n->rests && h->pod.identity != NULL && !inject_knows(inject, h, &form);
}

bool inject_is_tried(const struct inject_node *n)
{
	return n == NULL || n->way == INJECT_BY_PROBE;
}

struct inject_memo *inject_class_memo(struct injecting *inject, uint32_t node, const char *class)
{
	uint32_t at = inject->nodes.items[node].classes;
	while (at != WORLD_NONE && strcmp(inject->memos.items[at].class, class) != 0) {
		at = inject->memos.items[at].next;
	}
	return at != WORLD_NONE ? &inject->memos.items[at] : NULL;
}

void inject_class_add(struct injecting *inject, uint32_t node, uint32_t memo)
{
	inject->memos.items[memo].next = inject->nodes.items[node].classes;
	inject->nodes.items[node].classes = memo;
}

/* --- the look --- */

static void add_classes(struct injecting *inject)
{
	for (uint32_t i = 0; i < inject->memos.count; i++) {
		struct inject_memo *m = &inject->memos.items[i];
		uint32_t at = snap_node_of(inject->picture, m->node);
		m->probed = m->asked = NULL;
		m->next = WORLD_NONE;
		if (m->class != NULL && at != WORLD_NONE &&
			inject_is_tried(&inject->nodes.items[at])) {
			inject_class_add(inject, at, i);
		}
	}
}

static bool proven_somewhere(const struct injecting *inject, uint32_t node, const char *class)
{
	uint32_t at = inject->nodes.items[node].proof;
	while (at != WORLD_NONE && strcmp(inject->proofs.items[at].claim->class, class) != 0) {
		at = inject->proofs.items[at].next;
	}
	return at != WORLD_NONE;
}

static void add_voids(struct injecting *inject)
{
	const struct picture *picture = inject->picture;
	for (uint32_t i = 0; i < inject->memos.count; i++) {
		struct inject_memo *m = &inject->memos.items[i];
		uint32_t at = m->class != NULL && picture->time->now < m->until
				      ? snap_node_of(picture, m->node)
				      : WORLD_NONE;
		if (at == WORLD_NONE || !inject_is_tried(&inject->nodes.items[at]) ||
			proven_somewhere(inject, at, m->class)) {
			continue;
		}
		struct inject_void *made = ARENA_NEW(&inject->arena, struct inject_void);
		*made = (struct inject_void){arena_strdup(&inject->arena, m->class),
			picture->snap.nodes.items[at].voids};
		picture->snap.nodes.items[at].voids = made;
	}
}

static void add_nodes(struct injecting *inject)
{
	VEC_CLEAR(&inject->nodes);
	VEC_CLEAR(&inject->proofs);
	inject->resting = 0;
	vec_for_each (const struct place_node, n, &inject->picture->snap.nodes) {
		struct inject_node made = {.memo = WORLD_NONE,
			.proof = WORLD_NONE,
			.classes = WORLD_NONE,
			.way = inject_rules_way(&inject->rules, &n->noun->labels)};
		VEC_PUSH(&inject->nodes, made);
	}
}

/* It may work there now. */
static void end_stale_rest(struct inject_memo *m, const struct node *n)
{
	bool same = text_equals(text_or(m->boot, ""), text_or(n->boot, "")) &&
		    text_equals(text_or(m->runtime, ""), text_or(n->runtime, ""));
	m->until = same ? m->until : 0;
}

static void forget_old(struct injecting *inject)
{
	for (size_t i = inject->memos.count; i-- > 0;) {
		struct inject_memo *m = &inject->memos.items[i];
		if (inject->picture->time->now >= m->until &&
			inject->picture->time->now - m->seen_at > FORGET_MS) {
			memo_free(m);
			VEC_REMOVE_SWAP(&inject->memos, i);
		}
	}
}

/* Nothing is opened on a node that rests: it would only be given back. */
static void add_memos(struct injecting *inject)
{
	const struct picture *picture = inject->picture;
	forget_old(inject);
	for (uint32_t i = 0; i < inject->memos.count; i++) {
		struct inject_memo *m = &inject->memos.items[i];
		uint32_t at = snap_node_of(picture, m->node);
		if (at == WORLD_NONE || inject->nodes.items[at].way != INJECT_BY_PROBE) {
			continue;
		}
		end_stale_rest(m, picture->snap.nodes.items[at].noun);
		if (picture->time->now < m->until) {
			wake_by(picture->time, m->until);
		}
		if (m->class == NULL) {
			bool rests = picture->time->now < m->until;
			inject->nodes.items[at].memo = i;
			inject->nodes.items[at].rests = rests;
			inject->resting += rests ? 1 : 0;
			picture->snap.nodes.items[at].no_opening |= rests;
		}
	}
	add_classes(inject);
}

/* With what stands beside it. */
static void add_standing(struct injecting *inject, uint32_t node, const struct holder *h)
{
	const struct inject_claim *c = h->pod.claim;
	if (proof_there(inject, node, h) == NULL) {
		proof_add(inject, node, c, NULL);
		inject->popular[c->form]++;
	}
	for (uint32_t i = 0; i < c->other_count; i++) {
		const struct inject_class *other = &c->others[i];
		if (inject_proof_of_class(inject, node, h, other->class) == NULL) {
			struct inject_claim *its = ARENA_NEW(&inject->arena, struct inject_claim);
			*its = *c;
			its->class = other->class;
			its->form = other->form;
			its->other_count = 0;
			proof_add(inject, node, its, NULL);
		}
	}
}

static void add_proofs(struct injecting *inject)
{
	memset(inject->popular, 0, sizeof inject->popular);
	arena_reset(&inject->arena);
	vec_for_each (struct holder *const, each, &inject->picture->book->holders) {
		const struct holder *h = *each;
		uint32_t at = h->pod.claim != NULL && is_told(inject, h)
				      ? snap_node_of_holder(inject->picture, h)
				      : WORLD_NONE;
		if (at != WORLD_NONE && suits(inject, at, h, h->pod.claim)) {
			add_standing(inject, at, h);
		}
	}
}

/* Whose GPU it names, if that is still so; NULL: nobody's. */
static struct holder *holder_of_probe(struct injecting *inject, const struct inject_probe *p)
{
	const struct pod *pod = &p->pod;
	struct holder *h = pod->owner.name != NULL
				   ? holder_find(inject->picture->book, pod->owner.name)
				   : NULL;
	bool its = h != NULL && is_told(inject, h) && text_equals(h->uid, pod->owner.uid) &&
		   p->node != WORLD_NONE && snap_node_of_holder(inject->picture, h) == p->node &&
		   strcmp(h->pod.identity->uuid, pod->claim->uuid) == 0 &&
		   is_current(inject, p->node, h, pod->claim);
	return its && pod->deleting_ms == 0 ? h : NULL;
}

const char *inject_class_of(const struct injecting *inject, const struct inject_probe *p)
{
	const struct holder *h = p->pod.owner.name != NULL
					 ? holder_find(inject->picture->book, p->pod.owner.name)
					 : NULL;
	bool other =
		h != NULL && h->in_world && p->pod.claim != NULL && !is_own(h, p->pod.claim->class);
	return other ? p->pod.claim->class : NULL;
}

static void add_probe(struct injecting *inject, const struct inject_probe *p, struct holder *h)
{
	const struct inject_claim *claim = p->pod.claim;
	const char *class = inject_class_of(inject, p);
	struct inject_memo *m = class != NULL ? inject_class_memo(inject, p->node, class) : NULL;
	bool open = inject_proof_of_class(inject, p->node, h, claim->class) == NULL;
	if (class == NULL) {
		inject->nodes.items[p->node].probed = h;
		open = own_proof(inject, h) == NULL;
	} else if (m != NULL && open) {
		m->probed = h;
	}
	if (p->pod.sight != NULL && inject_is_proven(claim, p->pod.sight) && open) {
		proof_add(inject, p->node, claim, h);
	}
}

static void add_probes(struct injecting *inject)
{
	const struct picture *picture = inject->picture;
	VEC_CLEAR(&inject->probes);
	for (size_t i = 0; i < world_class_count(picture->world, WORLD_PROBE); i++) {
		struct inject_probe p = {.world = world_class_at(picture->world, WORLD_PROBE, i)};
		p.pod = pod_of(p.world, &inject->arena);
		const struct inject_claim *claim = p.pod.claim;
		p.node = claim != NULL ? snap_node_of(picture, claim->node) : WORLD_NONE;
		VEC_PUSH(&inject->probes, p);
		struct holder *h = holder_of_probe(inject, &p);
		if (h != NULL) {
			add_probe(inject, &p, h);
		}
	}
}

/* Who is named already stays, or it would begin anew with every GPU that is opened. One in vain is
 * the last that is named again: it may be the GPU and not the node. */
static uint32_t rank_of(
	const struct injecting *inject, const struct inject_node *n, const struct holder *h)
{
	const struct inject_memo *m = n->memo != WORLD_NONE ? &inject->memos.items[n->memo] : NULL;
	if (n->probed == h) {
		return 3;
	}
	return m != NULL && text_equals(m->failed, h->uid)    ? 0
	       : m != NULL && text_equals(m->subject, h->uid) ? 2
							      : 1;
}

/* What a probe sees of a GPU that is ill, or whose capacity pod does not run, says nothing of the
 * node. */
bool inject_may_name(struct injecting *inject, const struct holder *h)
{
	return is_told(inject, h) && !h->search && h->pod.holds &&
	       !health_is_bad(inject->ailments, h) && !capacity_failed(inject->picture, h);
}

static void choose_subjects(struct injecting *inject)
{
	vec_for_each (struct holder *const, each, &inject->picture->book->holders) {
		struct holder *h = *each;
		struct inject_node *n = inject_node_of(inject, h);
		enum inject_form form;
		bool open =
			n != NULL && n->way == INJECT_BY_PROBE && !inject_knows(inject, h, &form);
		/* Whether it may be named is asked of others too where a GPU is ill: as long as
		 * somebody holds that, it is remembered. */
		if ((!open && inject->ailments->count == 0) || !inject_may_name(inject, h) ||
			!open) {
			continue;
		}
		uint32_t rank = rank_of(inject, n, h);
		if (n->subject == NULL || rank > n->rank ||
			(rank == n->rank && strcmp(h->name, n->subject->name) < 0)) {
			n->subject = h;
			n->rank = rank;
		}
	}
}

void inject_look(struct injecting *inject)
{
	add_nodes(inject);
	add_memos(inject);
	add_proofs(inject);
	add_probes(inject);
	add_voids(inject);
	choose_subjects(inject);
}

/* --- what is proven, as it is to stand on capacity pods --- */

struct listed {
	struct inject_class items[INJECT_CLASSES_MAX];
	uint32_t count;
	bool changed;
};

static bool lists(const struct listed *l, const char *class)
{
	for (uint32_t i = 0; i < l->count; i++) {
		if (strcmp(l->items[i].class, class) == 0) {
			return true;
		}
	}
	return false;
}

static bool is_wanted(struct injecting *inject, uint32_t node, const char *class)
{
	const struct inject_memo *m = inject_class_memo(inject, node, class);
	return m != NULL && inject_class_is_wanted(inject, m);
}

/* Where they are too many, the first that nobody waits for goes for one that somebody does. */
static void list_add(
	struct injecting *inject, uint32_t node, struct listed *l, struct inject_class added)
{
	uint32_t at = 0;
	bool full = l->count == INJECT_CLASSES_MAX;
	while (full && at < l->count && is_wanted(inject, node, l->items[at].class)) {
		at++;
	}
	if (full && (at == l->count || !is_wanted(inject, node, added.class))) {
		return;
	}
	if (full) {
		memmove(&l->items[at], &l->items[at + 1], (l->count - at - 1) * sizeof l->items[0]);
		l->count--;
	}
	l->items[l->count++] = added;
	l->changed = true;
}

/* What stands there, if it is so still, and what else is proven of the node since. */
static void list_others(struct injecting *inject, const struct holder *h,
	const struct inject_claim *own, struct listed *l)
{
	uint32_t node = snap_node_of_holder(inject->picture, h);
	for (uint32_t i = 0; own == h->pod.claim && i < own->other_count; i++) {
		l->items[l->count++] = own->others[i];
	}
	uint32_t at = inject->nodes.items[node].proof;
	for (; at != WORLD_NONE; at = inject->proofs.items[at].next) {
		const struct inject_claim *c = inject->proofs.items[at].claim;
		if (strcmp(c->class, own->class) != 0 && strcmp(c->driver, own->driver) == 0 &&
			!lists(l, c->class)) {
			list_add(inject, node, l, (struct inject_class){c->class, c->form});
		}
	}
}

const struct inject_claim *inject_proof_for(struct injecting *inject, const struct holder *h)
{
	const struct inject_node *n = inject_node_of(inject, h);
	const struct inject_claim *own = n != NULL ? own_proof(inject, h) : NULL;
	if (own == NULL || n->way != INJECT_BY_PROBE) {
		return NULL;
	}
	struct listed l = {.changed = own != h->pod.claim};
	list_others(inject, h, own, &l);
	if (!l.changed) {
		return NULL;
	}
	struct inject_claim *claim = ARENA_NEW(&inject->arena, struct inject_claim);
	struct inject_class *others =
		ARENA_ARRAY(&inject->arena, struct inject_class, INJECT_CLASSES_MAX);
	memcpy(others, l.items, sizeof l.items);
	*claim = *own;
	claim->others = others;
	claim->other_count = l.count;
	return claim;
}

bool inject_owes(struct injecting *inject, const struct holder *h)
{
	bool may = inject->proofs.count > 0 && h->pod.identity != NULL;
	const struct inject_node *n = may ? inject_node_of(inject, h) : NULL;
	uint32_t at = n != NULL ? n->proof : WORLD_NONE;
	while (at != WORLD_NONE && inject->proofs.items[at].writer != h) {
		at = inject->proofs.items[at].next;
	}
	return at != WORLD_NONE && inject_proof_for(inject, h) != NULL;
}

bool inject_is_awaited(struct injecting *inject, uint32_t node, const struct inject_claim *claim)
{
	uint32_t at = inject->nodes.items[node].proof;
	while (at != WORLD_NONE && inject->proofs.items[at].claim != claim) {
		at = inject->proofs.items[at].next;
	}
	const struct holder *writer = at != WORLD_NONE ? inject->proofs.items[at].writer : NULL;
	return writer != NULL && inject_proof_for(inject, writer) != NULL;
}
