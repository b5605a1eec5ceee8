/* Pods for whole GPUs that the scheduler has found no node for, and who ranks before whom. */
#include "pending_pods.h"

bool fair_is_pending(const struct stored *o)
{
	const struct pod *p = &o->pod;
	return stored_is_pod(o) && p->gpus > 0 && p->unschedulable && text_empty(p->node) &&
	       p->gate_count == 0 && p->deleting_ms == 0 && !pod_is_terminal(p) &&
	       !pod_is_capacity(p);
}

/* By priority and age; of equal ones the whole pod. */
bool fair_is_before(const struct pod *a, const struct pod *b)
{
	return a->priority != b->priority ? a->priority > b->priority
					  : a->created_ms <= b->created_ms;
}
