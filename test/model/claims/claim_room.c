/* What is used for certain and what may be, of GPUs, nodes and quotas, in one picture. */
#include "claim_room.h"

#include <string.h>

#include "check_quota.h"
#include "claim_intent.h"
#include "isolation_rules.h"
#include "model/names.h"
#include "model/plan.h"
#include "objects/facts.h"
#include "objects/machine_find.h"
#include "objects/pending_pods.h"
#include "objects/told.h"
#include "sharing_rules.h"

/* A write that was sent so long ago is seen by now, or was forgotten. */
#define UNSEEN_MS   60000
#define GONE_MS	    450000
#define FAILED_MS   900000
#define MOST_MILLI  1000000
#define MAX_TENANTS 16
#define EVICTED_MS  200000
#define ILL_MS	    720000

static bool is_live_pod(const struct stored *o)
{
	return o != NULL && o->resource == RES_PODS && !pod_is_terminal(&o->pod);
}

bool claim_awaits_watch(const struct claim *c, int64_t since)
{
	const struct sim *s = c->sim;
	int64_t told = past_version(s, c->replica, RES_PODS, s->memory.told.count);
	vec_for_each (const struct intent, i, &s->claims.intents) {
		if (i->kind == ACTION_GRANT && i->replica == c->replica && !i->not_done &&
			i->version >= told && i->at < since) {
			return true;
		}
	}
	return false;
}

bool claim_is_waiting(const struct stored *o)
{
	return is_live_pod(o) && pod_is_tenant(&o->pod) && pod_has_gate(&o->pod, NAME_GATE) &&
	       o->pod.deleting_ms == 0;
}

const struct stored *claim_find(const struct claim *c, const char *uid)
{
	for (size_t i = 0; i < c->seen.count; i++) {
		if (strcmp(c->seen.items[i]->uid, uid) == 0) {
			return c->seen.items[i];
		}
	}
	return NULL;
}

bool claim_is_open(const struct stored *o)
{
	const struct pod *p = &o->pod;
	return is_live_pod(o) && pod_is_capacity(p) && p->identity != NULL && p->holds &&
	       p->phase == POD_RUNNING && p->deleting_ms == 0 && !p->ledger_bad;
}

bool claim_selects(const struct pod *p, const struct node *n)
{
	bool any = p->node_term_count == 0;
	for (uint32_t i = 0; i < p->node_term_count; i++) {
		any = any || terms_match(&p->node_terms[i].labels, &n->labels);
	}
	return any;
}

const struct grant *claim_entry_of(const struct ledger *l, const char *uid)
{
	for (uint32_t i = 0; i < l->count; i++) {
		if (text_equals(l->items[i].uid, uid)) {
			return &l->items[i];
		}
	}
	return NULL;
}

struct used {
	int64_t milli, mib;
	int tenants;
};

/* Those who stand in its ledger and live, and those who run there. A ledger of its own that was
 * sent and not answered counts for whoever sent it, and may leave out what another leader has
 * written meanwhile. */
static struct used used_for_certain(const struct claim *c, const struct stored *holder)
{
	struct used u = {0};
	if (sim_everyone_leads(c->sim) && claim_grants_unseen(c, holder)) {
		return u;
	}
	for (size_t i = 0; i < c->seen.count; i++) {
		const struct stored *o = c->seen.items[i];
		if (!is_live_pod(o) || o == c->pod) {
			continue;
		}
		const char *uuid = pairs_get(&o->pod.notes, NOTE_GPU_UUID);
		const struct grant *g = claim_entry_of(&holder->pod.ledger, o->uid);
		bool here = gpu_list_has(uuid, holder->pod.identity->uuid);
		/* What is not whole may be given back. */
		bool waits = uuid == NULL && group_asked(&o->pod) == 1;
		if (g != NULL && (waits || here)) {
			u.milli += g->milli;
			u.mib += g->mem_mib;
		} else if (here) {
			u.milli += facts_note_number(&o->pod, NOTE_COMPUTE_MILLI);
			u.mib += facts_note_number(&o->pod, NOTE_MEMORY_MIB);
		}
	}
	return u;
}

/* It was promised there, and nothing says that it is over. */
bool claim_may_use(const struct claim *c, const struct promise *made, const struct stored *holder)
{
	const struct stored *t = claim_find(c, made->tenant);
	if (t != NULL) {
		return !pod_is_terminal(&t->pod);
	}
	bool stands = holder != NULL && claim_entry_of(&holder->pod.ledger, made->tenant) != NULL;
	return stands || made->gone_at == 0 || sim_now(c->sim) - made->gone_at < GONE_MS;
}

static struct used used_at_most(const struct claim *c, const struct stored *holder)
{
	struct used u = {0};
	if (claim_grants_unseen(c, holder)) {
		return (struct used){MODEL_GPU_MILLI, MOST_MILLI, MODEL_GRANTS_MAX};
	}
	vec_for_each (const struct promise, made, &c->sim->checker.promises) {
		if (text_equals(made->uuid, holder->pod.identity->uuid) &&
			!text_equals(made->tenant, c->pod->uid) && claim_may_use(c, made, holder)) {
			u.milli += made->milli;
			u.mib += made->mem_mib;
			u.tenants++;
		}
	}
	return u;
}

struct span claim_used_milli(const struct claim *c, const struct stored *holder)
{
	return (struct span){used_for_certain(c, holder).milli, used_at_most(c, holder).milli};
}

struct span claim_used_mib(const struct claim *c, const struct stored *holder)
{
	return (struct span){used_for_certain(c, holder).mib, used_at_most(c, holder).mib};
}

/* --- who comes first --- */

static bool claim_is_ahead(const struct pod *a, const struct pod *b)
{
	if (a->priority != b->priority) {
		return a->priority > b->priority;
	}
	if (a->created_ms != b->created_ms) {
		return a->created_ms < b->created_ms;
	}
	int ns = strcmp(a->ns, b->ns);
	return ns != 0 ? ns < 0 : strcmp(a->name, b->name) < 0;
}

bool claim_comes_first(const struct claim *c, const struct stored *o)
{
	return o != c->pod && claim_is_waiting(o) && claim_is_ahead(&o->pod, &c->pod->pod);
}

static void claim_sum(const struct claim *c,
	bool (*counts)(const struct claim *c, const struct stored *o), int64_t mem_mib,
	int64_t *ret_milli, int64_t *ret_mib)
{
	int64_t milli = 0, mib = 0;
	for (size_t i = 0; i < c->seen.count; i++) {
		struct need n;
		if (counts(c, c->seen.items[i]) &&
			facts_need(&c->seen.items[i]->pod, mem_mib, &n)) {
			milli += n.milli;
			mib += n.mem_mib;
		}
	}
	*ret_milli = milli;
	*ret_mib = mib;
}

void claim_ahead(const struct claim *c, int64_t mem_mib, int64_t *ret_milli, int64_t *ret_mib)
{
	claim_sum(c, claim_comes_first, mem_mib, ret_milli, ret_mib);
}

static bool is_another(const struct claim *c, const struct stored *o)
{
	return o != c->pod && claim_is_waiting(o);
}

void claim_others(const struct claim *c, int64_t mem_mib, int64_t *ret_milli, int64_t *ret_mib)
{
	claim_sum(c, is_another, mem_mib, ret_milli, ret_mib);
}

/* --- nodes --- */

/* Bound there, or it may come there: its gate is gone, it was promised something, it comes first.
 */
bool claim_may_come(const struct claim *c, const struct stored *o, const char *node)
{
	if (!is_live_pod(o) || o == c->pod) {
		return false;
	}
	if (!text_empty(o->pod.node)) {
		return text_equals(o->pod.node, node);
	}
	/* For a whole pod that waits room is kept. */
	if (pod_is_capacity(&o->pod) || fair_is_pending(o)) {
		return true;
	}
	if (!pod_is_tenant(&o->pod)) {
		return false;
	}
	bool promised = false;
	vec_for_each (const struct promise, made, &c->sim->checker.promises) {
		promised = promised || text_equals(made->tenant, o->uid);
	}
	return promised || !claim_is_waiting(o) || claim_comes_first(c, o);
}

int64_t claim_opened_unseen(const struct claim *c)
{
	int64_t n = 0;
	vec_for_each (const struct intent, i, &c->sim->claims.intents) {
		n += i->kind == ACTION_CREATE_CAPACITY && i->replica == c->replica &&
		     sim_now(c->sim) - i->at < UNSEEN_MS;
	}
	return n;
}

/* C13: such a node gets nobody. */
bool claim_is_drained(const struct node *n)
{
	const char *driver = pairs_get(&n->labels, "nvidia.com/gpu-driver-upgrade-state");
	return text_equals(driver, "pod-deletion-required") ||
	       text_equals(driver, "drain-required");
}

/* A pod for whole GPUs that ranks before it may have GPUs of this node kept for it (C16, C18). */
static bool node_may_be_kept(const struct claim *c, const struct node *n)
{
	for (size_t i = 0; i < c->seen.count; i++) {
		const struct stored *o = c->seen.items[i];
		if (fair_is_pending(o) && o->pod.gpus <= n->gpus &&
			fair_is_before(&o->pod, &c->pod->pod)) {
			return true;
		}
	}
	return false;
}

bool claim_node_takes(const struct claim *c, const struct stored *node, int64_t opens)
{
	const struct node *n = &node->node;
	const struct pod *p = &c->pod->pod;
	if (!n->ready || n->unschedulable || claim_is_drained(n) || !claim_selects(p, n) ||
		node_may_be_kept(c, n)) {
		return false;
	}
	int64_t unseen = claim_opened_unseen(c) + opens, ahead = 0;
	int64_t cpu = n->cpu_milli - unseen * modes_capacity_cpu(c->sim);
	int64_t mem = n->mem_bytes - unseen * modes_capacity_mem(c->sim);
	int64_t slots = n->pod_slots - unseen, gpus = n->gpus - unseen;
	for (size_t i = 0; i < c->seen.count; i++) {
		const struct stored *o = c->seen.items[i];
		ahead += claim_comes_first(c, o) ? group_asked(&o->pod) : 0;
		if (claim_may_come(c, o, n->name)) {
			cpu -= o->pod.cpu_milli;
			mem -= o->pod.mem_bytes;
			gpus -= o->pod.gpus;
			slots--;
		}
	}
	bool room = cpu >= p->cpu_milli && mem >= p->mem_bytes && slots >= 1;
	return room && (opens == 0 || gpus - ahead >= 0);
}

/* --- quotas --- */

static int64_t need_milli(const struct stored *o, int64_t mem_mib)
{
	struct need n;
	return facts_need(&o->pod, mem_mib, &n) ? n.milli : MODEL_GPU_MILLI;
}

struct span claim_quota_used(const struct claim *c, const struct quota *q)
{
	struct span used = {0, 0};
	for (size_t i = 0; i < c->seen.count; i++) {
		const struct stored *o = c->seen.items[i];
		bool here = o != c->pod && is_live_pod(o) && text_equals(o->ns, q->ns);
		struct quota_subject subject = quota_subject_of(&o->pod);
		if (here && quota_covers(q, &subject)) {
			int64_t milli = o->pod.gpus * MODEL_GPU_MILLI + quota_shown(&o->pod);
			used.least += milli;
			used.most += milli;
		}
		/* It is told when all of the step have been looked at, whoever comes first. */
		if (here && claim_is_waiting(o)) {
			used.most += need_milli(o, 16000) * group_asked(&o->pod);
		}
	}
	vec_for_each (const struct promise, made, &c->sim->checker.promises) {
		const struct stored *t = claim_find(c, made->tenant);
		bool shown = t != NULL && (pod_is_terminal(&t->pod) ||
						  pairs_get(&t->pod.notes, NOTE_GPU_UUID) != NULL);
		used.most += shown ? 0 : made->milli;
	}
	vec_for_each (const struct intent, i, &c->sim->claims.intents) {
		bool grants = i->kind == ACTION_GRANT && i->replica == c->replica &&
			      sim_now(c->sim) - i->at < UNSEEN_MS;
		used.most += grants ? MODEL_GPU_MILLI : 0;
	}
	return used;
}

/* For certain. */
static bool quotas_allow(const struct claim *c, int64_t milli)
{
	for (size_t i = 0; i < c->seen.count; i++) {
		const struct stored *o = c->seen.items[i];
		struct quota_subject subject = quota_subject_of(&c->pod->pod);
		bool here = o->resource == RES_QUOTAS && text_equals(o->ns, c->pod->ns);
		if (here && quota_covers(&o->quota, &subject) &&
			o->quota.hard_milli < milli + claim_quota_used(c, &o->quota).most) {
			return false;
		}
	}
	return true;
}

/* --- does it fit, whatever may be used --- */

static const struct stored *node_named(const struct claim *c, const char *name)
{
	for (size_t i = 0; i < c->seen.count; i++) {
		const struct stored *o = c->seen.items[i];
		if (o->resource == RES_NODES && text_equals(o->name, name)) {
			return o;
		}
	}
	return NULL;
}

/* Whatever its node may be. */
static bool claim_has_room(const struct claim *c, const struct stored *holder)
{
	struct need n;
	int64_t milli, mib;
	const struct gpu_identity *id = holder->pod.identity;
	if (!claim_is_open(holder) || fleet_is_doubled(c->sim, id->uuid) ||
		!facts_need(&c->pod->pod, id->mem_mib, &n)) {
		return false;
	}
	/* It may be on its way out, and nobody has seen it. */
	if (claim_intends(c, ACTION_DELETE_CAPACITY, holder->name, UNSEEN_MS)) {
		return false;
	}
	if (company_may_bar(c, holder)) {
		return false;
	}
	struct used u = used_at_most(c, holder);
	claim_ahead(c, id->mem_mib, &milli, &mib);
	return u.tenants < MAX_TENANTS && u.milli + milli + n.milli <= MODEL_GPU_MILLI &&
	       u.mib + mib + n.mem_mib <= id->mem_mib && quotas_allow(c, n.milli);
}

static bool fits_gpu(const struct claim *c, const struct stored *holder)
{
	const struct stored *node = node_named(c, text_or(holder->pod.node, ""));
	return node != NULL && claim_has_room(c, holder) && claim_node_takes(c, node, 0);
}

/* Deletions under way make the picture of its GPUs doubtful, and so does a capacity pod that
 * failed. */
static bool opens_on(const struct claim *c, const struct stored *node)
{
	struct need n;
	const struct machine *m = fleet_find(c->sim, node->name);
	if (m == NULL || m->doubled || claim_failed_on(c->sim, node->name, FAILED_MS) ||
		!facts_need(&c->pod->pod, m->devices[0].mem_mib, &n)) {
		return false;
	}
	return n.milli <= MODEL_GPU_MILLI && n.mem_mib <= m->devices[0].mem_mib &&
	       claim_node_takes(c, node, 1) && quotas_allow(c, n.milli);
}

/* A GPU of it counts as ill, or did not long ago. */
static bool is_ill_maybe(const struct claim *c, const struct machine *m)
{
	bool ill = m->sick_at > 0 && sim_now(c->sim) - m->sick_at < ILL_MS;
	for (int i = 0; i < m->device_count; i++) {
		ill = ill || m->devices[i].sick || m->devices[i].faulty;
	}
	return ill;
}

/* All of several GPUs, those with room first, and the rest opened. */
static bool several_on(const struct claim *c, const struct stored *node)
{
	struct need n;
	int64_t open = 0, asked = group_asked(&c->pod->pod);
	const struct machine *m = fleet_find(c->sim, node->name);
	if (m == NULL || m->doubled || is_ill_maybe(c, m) ||
		claim_failed_on(c->sim, node->name, FAILED_MS) ||
		!facts_need(&c->pod->pod, m->devices[0].mem_mib, &n)) {
		return false;
	}
	for (size_t i = 0; i < c->seen.count; i++) {
		const struct stored *o = c->seen.items[i];
		bool here = o->resource == RES_PODS && pod_is_capacity(&o->pod) &&
			    text_equals(o->pod.node, node->name);
		open += here && claim_is_open(o) && claim_has_room(c, o);
	}
	int64_t more = open < asked ? asked - open : 0;
	return n.milli <= MODEL_GPU_MILLI && n.mem_mib <= m->devices[0].mem_mib &&
	       claim_node_takes(c, node, more) && quotas_allow(c, n.milli * asked);
}

/* Who has some of its GPUs looks for the others beside them. */
static bool has_some(const struct claim *c)
{
	vec_for_each (const struct promise, made, &c->sim->checker.promises) {
		if (text_equals(made->tenant, c->pod->uid)) {
			return true;
		}
	}
	return false;
}

static const struct stored *several_fit(const struct claim *c)
{
	for (size_t i = 0; i < c->seen.count && !has_some(c); i++) {
		const struct stored *o = c->seen.items[i];
		if (o->resource == RES_NODES && several_on(c, o)) {
			return o;
		}
	}
	return NULL;
}

/* One that came later under the same name may have another. One of the other mode has it and does
 * not hold it for the tenant: it goes, and the GPU is looked for. */
static bool claim_gpu_held(const struct claim *c, const char *uuid, const struct pod *tenant)
{
	for (size_t i = 0; i < c->seen.count; i++) {
		const struct stored *h = c->seen.items[i];
		if (h->resource == RES_PODS && claim_is_open(h) && modes_agree(&h->pod, tenant) &&
			text_equals(h->pod.identity->uuid, uuid)) {
			return true;
		}
	}
	return false;
}

/* A GPU that has lost its capacity pod is taken back before anybody is served (C11). */
bool claim_has_orphans(const struct claim *c)
{
	for (size_t i = 0; i < c->seen.count; i++) {
		const struct stored *o = c->seen.items[i];
		struct told_gpu t = {{0}, {0}, "", ""};
		if (is_live_pod(o)) {
			t = told_gpus(&o->pod);
		}
		while (told_gpu_next(&t)) {
			if (!claim_gpu_held(c, t.uuid, &o->pod)) {
				return true;
			}
		}
	}
	return false;
}

static bool is_booked(const struct claim *c, const char *uuid, const struct stored *tenant)
{
	for (size_t i = 0; i < c->seen.count; i++) {
		const struct pod *p = &c->seen.items[i]->pod;
		bool holds = c->seen.items[i]->resource == RES_PODS && pod_is_capacity(p) &&
			     p->identity != NULL && text_equals(p->identity->uuid, uuid);
		for (uint32_t k = 0; holds && k < p->ledger.count; k++) {
			if (text_equals(p->ledger.items[k].uid, tenant->uid)) {
				return true;
			}
		}
	}
	return false;
}

bool claim_has_unbooked(const struct claim *c)
{
	for (size_t i = 0; i < c->seen.count; i++) {
		const struct stored *o = c->seen.items[i];
		struct told_gpu t = {{0}, {0}, "", ""};
		if (is_live_pod(o)) {
			t = told_gpus(&o->pod);
		}
		while (told_gpu_next(&t)) {
			if (!is_booked(c, t.uuid, o)) {
				return true;
			}
		}
	}
	return false;
}

const struct stored *claim_fits(const struct claim *c)
{
	/* What an eviction frees is kept for whom it was done (C17). */
	if (claim_has_orphans(c) || claim_intends(c, ACTION_EVICT, NULL, EVICTED_MS)) {
		return NULL;
	}
	if (group_asked(&c->pod->pod) > 1) {
		return several_fit(c);
	}
	for (size_t i = 0; i < c->seen.count; i++) {
		const struct stored *o = c->seen.items[i];
		bool holder = o->resource == RES_PODS && pod_is_capacity(&o->pod);
		if ((holder && claim_is_open(o) && fits_gpu(c, o)) ||
			(o->resource == RES_NODES && opens_on(c, o))) {
			return o;
		}
	}
	return NULL;
}
