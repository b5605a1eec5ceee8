/* A pod belongs to the workload of its owner, or of the group that takes it. */
#include "tracking/pod_owner.h"

#include "owner/groups.h"
#include "owner/kinds.h"
#include "owner/podgroups.h"
#include "size/framework_detection.h"
#include "size/managed.h"
#include "tracking/pod_table.h"
#include "tracking/workload_table.h"

/* What a pod says of itself. */
struct pod_traits {
	bool advised;
	bool alike;
	bool pending; /* it is being asked for */
	bool alone;   /* nobody controls it, and no group takes it */
	uint64_t set;
	bool irretrievable;
	struct bill_pod bill;
	bool ahead; /* its image takes memory ahead of need */
};

/* Members of a group have owners of their own: each has its replicas, and some end. */
static void look_at_member(const struct tracking *s, const struct pod *pod,
	const struct workload *w, struct pod_traits *ret)
{
	const struct owner_top *top = &w->top;
	if (top->kind == NULL) {
		ret->set = 0;
		ret->irretrievable = true;
		return;
	}
	const struct owner_row *row = owner_row_find(top->group, top->kind);
	uint64_t hash = hash_bytes(top->name.p, top->name.n, hash_text(top->kind));
	ret->set = hash_bytes(top->group.p, top->group.n, hash) | 1;
	ret->irretrievable = (row != NULL && row->leaves) ||
			     admit_gang(pod, podgroups_frees(s->config.pod_groups, pod)) != NULL;
}

/* The workload of a pod, by its noun; NULL: it has none, or none that can be kept. */
static struct sized_workload *workload_of_pod(
	struct tracking *s, const struct world_pod *wp, struct pod_traits *ret_traits)
{
	struct pod pod;
	struct workload w;
	arena_reset(&s->scratch);
	if (!world_pod_unpack(wp, &s->scratch, &pod)) {
		return NULL;
	}
	workload_of(s->config.groups, s->config.owners, &pod, &s->scratch, &w);
	ret_traits->ahead = admit_takes_ahead(pod.gpu_image);
	ret_traits->advised = pairs_get(&pod.notes, NOTE_RECOMMENDATION) != NULL;
	bill_groups_label(&s->labels, &s->config.bill, &pod.labels, &ret_traits->bill);
	ret_traits->set = pod.owner.uid != NULL ? hash_text(pod.owner.uid) : 0;
	if (w.gathered_by != NULL) {
		look_at_member(s, &pod, &w, ret_traits);
	}
	ret_traits->alike = text_equals(pod.owner.kind, "ReplicaSet");
	ret_traits->pending = w.top.pending;
	ret_traits->alone = w.key.name == NULL && !w.top.pending;
	if (w.key.name == NULL || w.top.pending) {
		return NULL;
	}
	struct sized_workload *x = sized_of(s, &w.key);
	if (x != NULL) {
		x->type = (uint8_t)w.type;
		x->gathered = w.gathered_by != NULL ? hash_text(w.gathered_by) : 0;
		x->retention_s = w.retention_s;
	}
	return x;
}

struct sized_workload *pods_workload(
	struct tracking *s, const struct world_pod *wp, bool *ret_advised)
{
	struct pod_traits traits = {.advised = false};
	struct sized_workload *x = workload_of_pod(s, wp, &traits);
	*ret_advised = traits.advised;
	return x;
}

/* Each only grows. */
static uint64_t groups_now(const struct tracking *s)
{
	const struct owner_port *o = s->config.owners;
	return (s->config.groups != NULL ? groups_version(s->config.groups) : 0) +
	       (o != NULL && o->version != NULL ? o->version(o->data) : 0);
}

/* Groups, or owners of owners, may have changed since it was given to its workload. One whose
 * owners are being asked for stays where it is. */
struct sized_pod *pods_assigned(struct tracking *s, const struct world_pod *wp, bool *ret_alone)
{
	const char *uid = world_pod_uid(wp);
	struct sized_pod *p = pods_find(s, uid);
	if (p != NULL && p->groups_version == (uint32_t)groups_now(s)) {
		return p;
	}
	struct pod_traits traits = {.advised = false};
	struct sized_workload *of =
		strlen(uid) <= SIZER_UID_MAX ? workload_of_pod(s, wp, &traits) : NULL;
	*ret_alone = traits.alone;
	if (traits.pending) {
		return p;
	}
	if (p != NULL && p->of != of) {
		pods_drop(s, p);
		p = NULL;
	}
	if (p == NULL && of != NULL && s->pods.count < SIZER_PODS_MAX) {
		p = pods_add(s, of, uid);
	}
	if (p != NULL) {
		p->groups_version = (uint32_t)groups_now(s);
		p->advised = traits.advised;
		p->set = traits.set;
		p->irretrievable = traits.irretrievable;
		p->alike = traits.alike;
		p->bill.team = traits.bill.team;
		p->bill.model = traits.bill.model;
		p->ahead = traits.ahead;
	}
	return p;
}
