/* The search on one GPU. */
#include "scheduling/preempt_set.h"

void contest_leave_node(struct place_node *n, const struct world_pod *p)
{
	n->free_cpu_milli += p->takes->cpu_milli;
	n->free_mem_bytes += p->takes->mem_bytes;
	n->free_slots++;
}

void contest_give_back(struct place_gpu *g, struct place_node *n, const struct world_pod *p)
{
	g->free_milli += p->gpu->milli;
	g->free_mib += p->gpu->mem_mib;
	g->tenants -= g->tenants > 0 ? 1 : 0;
	contest_leave_node(n, p);
}

void contest_join(struct manners *all, const struct manners *one)
{
	all->max_tenants =
		one->max_tenants < all->max_tenants ? one->max_tenants : all->max_tenants;
	if (place_is_empty(all->company)) {
		all->company = one->company;
	} else if (all->company != one->company) {
		all->company = PLACE_MIXED;
	}
}

void victims_add(struct victims *v, const struct world_pod *p)
{
	const struct world_gpu *g = p->gpu;
	v->count++;
	v->milli += g->milli * (g->devices > 1 ? (int64_t)g->devices : 1);
	v->top_priority = g->priority > v->top_priority ? g->priority : v->top_priority;
}

static struct victims victims_of(const struct contest *c, uint64_t mask)
{
	struct victims v = {.mask = mask, .top_priority = INT32_MIN};
	for (uint32_t i = 0; i < c->count; i++) {
		if ((mask >> i & 1) != 0) {
			victims_add(&v, c->victims[i]);
		}
	}
	return v;
}

static bool fits_without(const struct contest *c, struct victims *v)
{
	struct place_gpu g = c->gpu;
	struct place_node n = c->node;
	struct manners rules = c->stay;
	for (uint32_t i = 0; i < c->count; i++) {
		if ((v->mask >> i & 1) != 0) {
			contest_give_back(&g, &n, c->victims[i]);
		} else {
			contest_join(&rules, &c->rules[i]);
		}
	}
	if (c->rules_known) {
		g.company = rules.company;
		g.max_tenants = rules.max_tenants;
	}
	return place_would_fit(c->snap, c->request, &g, &n, &v->share);
}

bool victims_are_cheaper(const struct victims *a, const struct victims *b)
{
	if (a->count != b->count) {
		return a->count < b->count;
	}
	if (a->top_priority != b->top_priority) {
		return a->top_priority < b->top_priority;
	}
	return a->milli < b->milli;
}

static void consider_victims(const struct contest *c, uint64_t mask, struct victims *best)
{
	struct victims v = victims_of(c, mask);
	if ((best->count == 0 || victims_are_cheaper(&v, best)) && fits_without(c, &v)) {
		*best = v;
	}
}

static struct victims one_or_two(const struct contest *c)
{
	struct victims best = {.count = 0};
	for (uint32_t i = 0; i < c->count; i++) {
		consider_victims(c, (uint64_t)1 << i, &best);
	}
	for (uint32_t i = 0; best.count != 1 && i < c->count; i++) {
		for (uint32_t k = i + 1; k < c->count; k++) {
			consider_victims(c, (uint64_t)1 << i | (uint64_t)1 << k, &best);
		}
	}
	return best;
}

/* Who is spared first: the smallest, then the highest priority. */
static bool spared_before(const struct world_gpu *a, const struct world_gpu *b)
{
	return a->milli != b->milli ? a->milli < b->milli : a->priority > b->priority;
}

static uint32_t next_to_spare(const struct contest *c, uint64_t tried)
{
	uint32_t next = UINT32_MAX;
	for (uint32_t i = 0; i < c->count; i++) {
		bool better = next == UINT32_MAX ||
			      spared_before(c->victims[i]->gpu, c->victims[next]->gpu);
		next = (tried >> i & 1) == 0 && better ? i : next;
	}
	return next;
}

static struct victims spare_some(const struct contest *c, struct victims all)
{
	uint64_t tried = 0;
	for (uint32_t n = 0; n < c->count; n++) {
		uint32_t i = next_to_spare(c, tried);
		struct victims less = victims_of(c, all.mask & ~((uint64_t)1 << i));
		tried |= (uint64_t)1 << i;
		if (fits_without(c, &less)) {
			all = less;
		}
	}
	return all;
}

bool contest_solve(const struct contest *c, struct victims *ret_victims)
{
	struct victims none = victims_of(c, 0);
	if (fits_without(c, &none)) {
		*ret_victims = none;
		return true;
	}
	uint64_t everybody = c->count == 64 ? UINT64_MAX : ((uint64_t)1 << c->count) - 1;
	struct victims all = victims_of(c, everybody);
	if (c->count == 0 || !fits_without(c, &all)) {
		return false;
	}
	struct victims few = one_or_two(c);
	*ret_victims = few.count > 0 ? few : spare_some(c, all);
	return true;
}
