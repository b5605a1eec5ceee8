/* What was packed is unpacked; the policy is looked up among those that the world knows now. */
#include "ledger/pod_object.h"

#include "base/alloc.h"
#include "world/world.h"

struct pod pod_of(const struct world_pod *p, struct arena *arena)
{
	struct pod pod;
	bool whole = world_pod_unpack(p, arena, &pod);
	ENSURE(whole);
	return pod;
}

struct policy_choice policy_of(const struct world *w, const struct pod *pod)
{
	const struct world_namespace *n = world_namespace_find(w, pod->ns);
	struct policy_subject who = policy_subject_of(pod, n != NULL && n->known ? &n->noun : NULL);
	struct policy_set set;
	set.items = world_policies(w, &set.count);
	return policy_choose(&set, &who);
}

/* As it is now: it is what was looked at when the share was given, or just as good. */
const char *policy_stamp(const struct world *w, const struct pod *pod, struct arena *arena)
{
	const struct policy *p = policy_of(w, pod).policy;
	return p == NULL ? NULL : arena_printf(arena, "%s@%lld", p->name, (long long)p->generation);
}
