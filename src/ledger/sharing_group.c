/* With whom a tenant may share a GPU. What two policies say must agree: AnyWorkload goes with
 * AnyWorkload, SameWorkload with pods of the same workload under SameWorkload, Dedicated with
 * nobody. And one mode of isolation goes with itself, on a GPU whose capacity pod is of that mode:
 * that of a tenant is fixed at its creation. All of that comes to one number that must be the same,
 * so that who may join whom is one comparison (place). */
#include "ledger/sharing_group.h"

#include "ledger/ledger.h"
#include "size/builtin.h"

/* Those who do not mind company: one number a mode of isolation. All others are hashes. */
#define COMPANY_ANY   1
#define COMPANY_NAMED 16
/* Names of policies that are remembered in a step; a person may write any. */
#define POLICIES_MAX 64
#define DEFAULT_MAX  16

void companies_begin(struct companies *c)
{
	VEC_CLEAR(&c->policies);
}

void companies_finish(struct companies *c)
{
	VEC_FINISH(&c->policies);
	VEC_FINISH(&c->workloads);
}

static uint64_t add_text(uint64_t hash, struct view text)
{
	return hash_bytes("", 1, hash_bytes(text.p, text.n, hash));
}

/* Its owner as the admission sees it, so that the pods of a Deployment are one workload however
 * many ReplicaSets it has; a pod without one is a workload by itself. */
uint64_t company_workload(const struct companies *companies, const struct pod *pod)
{
	struct owner_top top = owner_top_of(pod, NULL);
	uint64_t hash = add_text(companies->seed, view_of(pod->ns));
	if (top.kind == NULL) {
		return add_text(hash, view_of(text_or(pod->uid, "")));
	}
	return add_text(add_text(add_text(hash, view_of(top.kind)), top.group), top.name);
}

static uint64_t named(bool mps, uint64_t hash)
{
	hash = hash_bytes(mps ? "M" : "N", 1, hash);
	return hash >= COMPANY_NAMED && hash < PLACE_NOBODY_MPS ? hash : COMPANY_NAMED;
}

/* All but the company, and that where it takes no look at the owner. */
static struct manners manners_by_uid(
	const struct companies *companies, const struct policy *p, const char *uid, bool mps)
{
	struct manners t = {
		.max_tenants = p->max_tenants > 0 ? (uint32_t)p->max_tenants : DEFAULT_MAX,
		.exclusivity = p->exclusivity,
		.mps = mps,
		.company = COMPANY_ANY + (mps ? 1 : 0)};
	if (p->exclusivity == EXCLUSIVITY_DEDICATED) {
		t.company = named(mps, add_text(companies->seed, view_of(text_or(uid, ""))));
	}
	return t;
}

struct manners manners_under(
	const struct companies *companies, const struct policy *policy, const struct pod *pod)
{
	struct manners t = manners_by_uid(companies, policy, pod->uid, pod_is_mps(pod));
	if (policy->exclusivity == EXCLUSIVITY_SAME) {
		t.company = named(t.mps, company_workload(companies, pod));
	}
	return t;
}

struct manners manners_of_waiter(const struct companies *companies, const struct waiter *w)
{
	const struct policy *p = policy_of(companies->picture->world, &w->pod).policy;
	return manners_under(companies, p != NULL ? p : policy_builtin(), &w->pod);
}

/* One that is gone binds nobody any more. */
static const struct policy *policy_by_name(struct companies *c, const char *name)
{
	vec_for_each (const struct named_policy, n, &c->policies) {
		if (n->name == name) {
			return n->policy;
		}
	}
	const struct policy *p = name != NULL ? world_policy_find(c->picture->world, name) : NULL;
	struct named_policy made = {name, p != NULL ? p : policy_builtin()};
	if (c->policies.count < POLICIES_MAX) {
		VEC_PUSH(&c->policies, made);
	}
	return made.policy;
}

static uint64_t workload_in(struct companies *c, const struct world_pod *p, uint32_t slot)
{
	static const struct known_workload unknown = {0, 0};
	while (c->workloads.count <= slot) {
		VEC_PUSH(&c->workloads, unknown);
	}
	struct known_workload *known = &c->workloads.items[slot];
	if (known->stamp != p->gpu->stamp + 1) {
		CLEANUP(arena_finish) struct arena arena = {.block_bytes = 1024};
		const struct pod pod = pod_of(p, &arena);
		*known = (struct known_workload){p->gpu->stamp + 1, company_workload(c, &pod)};
	}
	return known->hash;
}

struct manners manners_of_tenant(
	struct companies *companies, const struct world_pod *p, uint32_t slot)
{
	const struct policy *policy = policy_by_name(companies, p->gpu->policy);
	struct manners t = manners_by_uid(companies, policy, world_pod_uid(p), p->gpu->mps);
	if (policy->exclusivity == EXCLUSIVITY_SAME) {
		t.company = named(t.mps, workload_in(companies, p, slot));
	}
	return t;
}

struct manners manners_of_pod(struct companies *companies, const struct world_pod *p)
{
	const struct picture *picture = companies->picture;
	if (p == NULL) {
		return (struct manners){.max_tenants = MODEL_GRANTS_MAX};
	}
	if (p->gpu->gated) {
		struct waiter *w = waiter_of(picture->book, p, picture->time->now);
		waiter_refresh(w, p);
		return manners_of_waiter(companies, w);
	}
	return manners_of_tenant(
		companies, p, world_class_slot(picture->world, p->gpu->class, p->gpu->slot));
}

struct manners manners_of_uid(struct companies *companies, const char *uid)
{
	return manners_of_pod(companies, world_pod_by_uid(companies->picture->world, uid));
}

void company_joins(struct place_gpu *g, struct snap_gpu *s, const struct manners *t)
{
	g->max_tenants = g->max_tenants < t->max_tenants ? g->max_tenants : t->max_tenants;
	if (t->company == PLACE_NOBODY) {
		s->strangers++;
	} else if (g->company == place_nobody(t->mps)) {
		g->company = t->company;
		s->exclusivity = t->exclusivity;
	} else if (g->company != t->company) {
		g->company = PLACE_MIXED;
	}
}

void company_comes(struct companies *companies, const struct waiter *w, uint32_t gpu)
{
	if (place_is_empty(companies->picture->snap.gpus.items[gpu].company)) {
		companies->picture->snap_gpus.items[gpu].exclusivity =
			manners_of_waiter(companies, w).exclusivity;
	}
}

void companies_settle(struct picture *picture)
{
	for (size_t i = 0; i < picture->snap_gpus.count; i++) {
		struct place_gpu *g = &picture->snap.gpus.items[i];
		if (picture->snap_gpus.items[i].strangers > 0 && place_is_empty(g->company)) {
			g->company = COMPANY_ANY + (g->mps ? 1 : 0);
		}
	}
}

void company_explain(const struct companies *companies, const struct waiter *w,
	const char **ret_own, const char **ret_theirs)
{
	static const char *const rules[] = {
		"exclusivity AnyWorkload", "exclusivity SameWorkload", "exclusivity Dedicated"};
	struct manners own = manners_of_waiter(companies, w);
	uint32_t at = w->miss.best_gpu;
	*ret_own = rules[own.exclusivity];
	*ret_theirs = NULL;
	if (w->miss.best_node == NULL || at >= companies->picture->snap_gpus.count) {
		return;
	}
	const struct snap_gpu *s = &companies->picture->snap_gpus.items[at];
	const struct place_gpu *g = &companies->picture->snap.gpus.items[at];
	*ret_theirs = rules[s->exclusivity];
	if (g->company == PLACE_MIXED) {
		*ret_theirs = "rules that do not agree";
	} else if (g->mps != own.mps) {
		*ret_own = own.mps ? "isolation MPS" : "isolation None";
		*ret_theirs = own.mps ? "isolation None" : "isolation MPS";
	} else if (s->exclusivity == EXCLUSIVITY_SAME && own.exclusivity == s->exclusivity) {
		*ret_theirs = "exclusivity SameWorkload and another workload";
	}
}
