/* Whether a tenant could ever be placed, and whether a ledger still counts. */
#include "check_fit.h"

#include "objects/facts.h"
#include "objects/machine_find.h"
#include "objects/told.h"

bool check_selects(const struct pod *p, const struct node *n)
{
	bool any = p->node_term_count == 0;
	for (uint32_t i = 0; i < p->node_term_count; i++) {
		any = any || terms_match(&p->node_terms[i].labels, &n->labels);
	}
	return any;
}

bool check_could_ever_fit(struct sim *s, const struct pod *p)
{
	for (size_t i = 0; i < s->store.items.count; i++) {
		const struct stored *o = s->store.items.items[i];
		struct machine *m = o->resource == RES_NODES ? fleet_find(s, o->name) : NULL;
		struct need n;
		/* That two of its GPUs tell one UUID nobody knows before they were opened. */
		bool enough = m != NULL && m->device_count >= group_asked(p);
		if (enough && check_selects(p, &o->node) &&
			facts_need(p, m->devices[0].mem_mib, &n) && n.milli <= MODEL_GPU_MILLI &&
			n.mem_mib <= m->devices[0].mem_mib) {
			return true;
		}
	}
	return false;
}

bool check_ledger_lives(const struct sim *s, const struct stored *o)
{
	for (uint32_t i = 0; i < o->pod.ledger.count; i++) {
		const struct stored *t = store_find_uid(&s->store, o->pod.ledger.items[i].uid);
		if (t != NULL && stored_is_pod(t) && !pod_is_terminal(&t->pod)) {
			return true;
		}
	}
	return false;
}
