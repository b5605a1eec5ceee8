/* C19: a pod is acted upon when our gate is its last one, and what takes the gate names the very
 * object that was judged. A merge patch replaces the whole list: whoever sends one made for another
 * version of the pod opens gates that others have closed. */
#include "check_gate.h"

#include <string.h>

#include "model/names.h"
#include "objects/trace.h"

static const char *gate_of_another(const struct pod *p)
{
	for (uint32_t i = 0; i < p->gate_count; i++) {
		if (strcmp(p->gates[i], NAME_GATE) != 0) {
			return p->gates[i];
		}
	}
	return NULL;
}

/* Gates only go, so what stands before this write stood there when it was decided. */
void gate_check_placing(struct sim *s, const struct commit *c)
{
	const struct pod *had = &c->before->pod;
	const char *gate = gate_of_another(had);
	if (c->actor >= 0 && gate != NULL) {
		sim_fail(s, "C19", "a controller takes the gate %s of %s/%s, which is not its own",
			gate, had->ns, had->name);
	}
	s->report->gates += c->actor >= 0;
}

static bool stands_in(const struct ledger *l, const char *uid)
{
	for (uint32_t i = 0; i < l->count; i++) {
		if (text_equals(l->items[i].uid, uid)) {
			return true;
		}
	}
	return false;
}

/* Nor is it promised anything before: what it holds nobody else can use. */
void gate_check_ledger(struct sim *s, const struct commit *c)
{
	const struct ledger *l = &c->after->pod.ledger;
	for (uint32_t i = 0; i < l->count; i++) {
		const struct stored *t = store_find_uid(&s->store, l->items[i].uid);
		const char *gate = t != NULL && t->resource == RES_PODS &&
						   !stands_in(&c->before->pod.ledger, t->uid)
					   ? gate_of_another(&t->pod)
					   : NULL;
		if (gate != NULL) {
			sim_fail(s, "C19", "%s promises a share to %s/%s, which has the gate %s",
				c->after->name, t->ns, t->name, gate);
		}
	}
}
