/* From what there is to the next write of one surge. */
#include "roll/surge.h"

#include <stdio.h>

#include "base/sha256.h"
#include "base/str.h"

#define NAME_KEEP 54 /* of the ReplicaSet's name; a dash and 8 digits follow */

const char *surge_why_text(enum surge_why why)
{
	static const char *const texts[SURGE_WHYS] = {
		[SURGE_GOES] = "it goes on",
		[SURGE_STARTS] = "the new pod is not Ready yet",
		[SURGE_SETTLES] = "its ReplicaSet has not deleted the old pod yet",
		[SURGE_LEAVES] = "the new pod is leaving",
		[SURGE_TOO_LONG] = "the new pod was not adopted within 10 minutes",
		[SURGE_BEHIND] = "others come before the new pod",
		[SURGE_ROLLOUT] = "its owner went on to another version",
		[SURGE_OLD_LEFT] = "the old pod left by itself",
		[SURGE_ENDED] = "the new pod ended",
		[SURGE_WHOLE] = "the new pod came without its share",
		[SURGE_UNWANTED] = "it is not wanted any more",
		[SURGE_NOT_ALLOWED] = "whether pods may be made beside others is not known",
		[SURGE_SET_CHANGED] = "the ReplicaSet is not the same any more",
		[SURGE_NOT_STEADY] = "the ReplicaSet has not as many pods as it should",
		[SURGE_NOT_READY] = "a pod of the ReplicaSet is not Ready and would go instead",
		[SURGE_CHEAPER] = "another pod of the ReplicaSet has as low a deletion cost",
		[SURGE_OTHER_CLAIMS] = "another controller selects the new pod",
		[SURGE_SCALING] = "a horizontal autoscaler changes the number of replicas",
		[SURGE_PDB] = "a PodDisruptionBudget would not allow the old pod to go",
	};
	return texts[why];
}

const char *surge_name(const char *set_name, const char *old_uid, char buffer[SURGE_NAME_MAX])
{
	CLEANUP(str_finish) struct str both = STR_INIT(1024);
	uint8_t digest[SHA256_BYTES];
	(void)str_append_format(&both, "%s/%s", set_name, old_uid);
	sha256(str_text(&both), both.len, digest);
	snprintf(buffer, SURGE_NAME_MAX, "%.*s-%02x%02x%02x%02x", NAME_KEEP, set_name, digest[0],
		digest[1], digest[2], digest[3]);
	return buffer;
}

static void surge_decide(struct surge_verdict *v, enum surge_do does, enum surge_why why)
{
	*v = (struct surge_verdict){.does = does, .why = why};
}

static bool surge_pod_is_there(const struct surge_pod *p)
{
	return p != NULL && !p->leaving && !p->ended;
}

/* --- nothing of ours is there --- */

/* Whoever gives one up has the old one dear again before: where it is cheap still, the new one went
 * by another hand. */
static void step_none(const struct surge_ask *ask, struct surge_verdict *v)
{
	if (surge_pod_is_there(ask->old) && ask->old->low_cost) {
		surge_decide(v, SURGE_RESTORE, ask->current ? SURGE_ENDED : SURGE_ROLLOUT);
	} else if (ask->began) {
		surge_decide(v, SURGE_FAILED, SURGE_ENDED);
	} else if (!ask->wanted) {
		surge_decide(v, SURGE_FAILED, SURGE_UNWANTED);
	} else if (!ask->allowed) {
		surge_decide(v, SURGE_FAILED, SURGE_NOT_ALLOWED);
	} else if (!ask->current) {
		surge_decide(v, SURGE_FAILED, SURGE_ROLLOUT);
	} else if (!surge_pod_is_there(ask->old)) {
		surge_decide(v, SURGE_FAILED, SURGE_OLD_LEFT);
	} else {
		surge_decide(v, SURGE_CREATE, SURGE_GOES);
	}
}

/* --- it is adopted, and so no longer ours --- */

static void step_adopted(const struct surge_ask *ask, struct surge_verdict *v)
{
	if (!surge_pod_is_there(ask->fresh)) {
		surge_decide(v, SURGE_LOST, SURGE_LEAVES);
	} else if (!ask->fresh->adopted_here) {
		surge_decide(v, SURGE_LOST, SURGE_OTHER_CLAIMS);
	} else if (!surge_pod_is_there(ask->old)) {
		surge_decide(v, SURGE_DONE, SURGE_GOES);
	} else if (ask->present <= ask->replicas && ask->recounted) {
		surge_decide(v, SURGE_LOST, SURGE_SETTLES);
	} else {
		surge_decide(v, SURGE_WAIT, SURGE_SETTLES);
	}
}

/* --- it is ours --- */

/* Why it is given up; GOES: it is not. */
static enum surge_why check_drop(const struct surge_ask *ask)
{
	const struct surge_pod *fresh = ask->fresh;
	if (!surge_pod_is_there(fresh)) {
		return SURGE_ENDED;
	}
	if (!ask->current) {
		return SURGE_ROLLOUT;
	}
	if (!surge_pod_is_there(ask->old)) {
		return SURGE_OLD_LEFT;
	}
	if (!ask->wanted) {
		return SURGE_UNWANTED;
	}
	if (!fresh->sized) {
		return SURGE_WHOLE;
	}
	if (ask->now_ms >= fresh->created_ms + SURGE_DEADLINE_MS) {
		return SURGE_TOO_LONG;
	}
	bool behind = fresh->outranked && !ask->patient &&
		      ask->now_ms >= fresh->created_ms + SURGE_BEHIND_MS;
	return behind ? SURGE_BEHIND : SURGE_GOES;
}

enum surge_why surge_judge(const struct surge_live *live)
{
	if (!live->same_set) {
		return SURGE_SET_CHANGED;
	}
	if (live->status_replicas != live->spec_replicas) {
		return SURGE_NOT_STEADY;
	}
	if (!live->all_ready) {
		return SURGE_NOT_READY;
	}
	if (live->cheaper) {
		return SURGE_CHEAPER;
	}
	if (live->other_claims) {
		return SURGE_OTHER_CLAIMS;
	}
	if (live->scaling) {
		return SURGE_SCALING;
	}
	return live->budget_allows ? SURGE_GOES : SURGE_PDB;
}

/* A clock that was set back makes nothing young again. */
static bool is_no_older(int64_t at_ms, int64_t now_ms, int64_t most_ms)
{
	return now_ms >= at_ms && now_ms - at_ms <= most_ms;
}

static void step_ready(const struct surge_ask *ask, struct surge_verdict *v)
{
	const struct surge_live *live = ask->live;
	if (!ask->allowed) {
		surge_decide(v, SURGE_WAIT, SURGE_NOT_ALLOWED);
		return;
	}
	bool recent = live != NULL && live->read_ms != 0 &&
		      is_no_older(live->read_ms, ask->now_ms, SURGE_LIVE_MS) &&
		      is_no_older(live->asked_ms, ask->now_ms, SURGE_ASKED_MS);
	if (!recent) {
		surge_decide(v, SURGE_READ, SURGE_GOES);
		return;
	}
	enum surge_why why = surge_judge(live);
	why = why == SURGE_GOES && ask->unready ? SURGE_NOT_READY : why;
	if (why != SURGE_GOES) {
		surge_decide(v, SURGE_WAIT, why);
		return;
	}
	surge_decide(v, ask->old->low_cost ? SURGE_ADOPT : SURGE_LOWER_COST, SURGE_GOES);
}

/* Before it goes the old one is dear again: what follows needs no memory. */
static void surge_abandon(const struct surge_ask *ask, enum surge_why why, struct surge_verdict *v)
{
	if (surge_pod_is_there(ask->old) && ask->old->low_cost) {
		surge_decide(v, SURGE_RESTORE, why);
	} else if (ask->fresh->leaving) {
		surge_decide(v, SURGE_WAIT, SURGE_LEAVES);
	} else {
		surge_decide(v, SURGE_DROP, why);
	}
}

static void step_ours(const struct surge_ask *ask, struct surge_verdict *v)
{
	const struct surge_pod *fresh = ask->fresh;
	enum surge_why why = check_drop(ask);
	if (why != SURGE_GOES) {
		surge_abandon(ask, why, v);
		return;
	}
	if (fresh->labelled) {
		surge_decide(v, SURGE_WAIT, SURGE_SETTLES);
	} else if (fresh->ready_ms == 0 || ask->now_ms < fresh->ready_ms + ask->min_ready_ms) {
		surge_decide(v, SURGE_WAIT, SURGE_STARTS);
	} else {
		step_ready(ask, v);
	}
}

void surge_step(const struct surge_ask *ask, struct surge_verdict *ret)
{
	/* With its label it is its ReplicaSet's, which may adopt and delete it before anybody
	 * looks. One that is seen without a controller was not adopted: whatever ends it is not its
	 * ReplicaSet. */
	bool taken =
		ask->given && ask->current && ask->fresh == NULL && surge_pod_is_there(ask->old);
	if (taken) {
		surge_decide(ret, SURGE_LOST, SURGE_LEAVES);
	} else if (ask->fresh == NULL) {
		step_none(ask, ret);
	} else if (ask->fresh->adopted) {
		step_adopted(ask, ret);
	} else {
		step_ours(ask, ret);
	}
}

const char *surge_unfit(const struct surge_form *form)
{
	if (!form->deployment) {
		return "only pods of a Deployment can have their successor beside them";
	}
	if (form->recreates) {
		return "its Deployment has strategy Recreate: its old pods go before new ones come";
	}
	if (!form->selects_by_hash) {
		return "its pods lack the label pod-template-hash";
	}
	if (form->host_ports) {
		return "its pods use ports of the node";
	}
	if (form->exclusive_volume) {
		return "its pods use a volume that only one of them can have";
	}
	return form->own_cost ? "its pods carry deletion costs of their own" : NULL;
}
