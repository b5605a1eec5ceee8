/* One pass of the watchdog, slice by slice. What is judged together is judged in one slice, a node;
 * who is told of it, and what is forgotten, may wait for the next. */
#include "guardian/overuse_pass.h"

#include "guardian/overuse.h"
#include "guardian/overuse_find.h"
#include "ledger/engine_config.h"
#include "ledger/ledger.h"
#include "world/node_states.h"
#include "contention.h"
#include "overuse_report.h"

#define PASS_MS 1000
/* C23 */
#define REMARK_EVERY_MS 60000
/* Work is counted in eighths of what a budget counts, at about 40 ns each. */
#define PARTS	   8
#define WORK_LEFT  20 /* one that was over, and its pod */
#define WORK_FOUND 10 /* by its key */
#define WORK_GONE  8
#define WORK_NODE  4
#define WORK_USE   8
#define WORK_MET   12 /* a tenant, where somebody may be over */
#define WORK_OVER  48 /* one that may be */
#define WORK_SEEN  2  /* one of whom nothing is to be said */
#define WORK_SAID  100
#define WORK_JUDGE 200
#define WORK_LEAST 128 /* a step costs more than that by itself */

static void enter(struct overuse_pass *pass, enum overuse_stage stage, uint64_t at)
{
	pass->stage = stage;
	pass->at = at;
	pass->slot = 0;
}

bool overuse_running(const struct overuses *overuses)
{
	return overuses->pass.stage != OVERUSE_RESTS;
}

void overuse_tend(struct overuses *all)
{
	struct overuse_pass *pass = &all->pass;
	if (overuse_running(all)) {
		return;
	}
	if (all->picture->time->now < all->next_at) {
		wake_by(all->picture->time, all->next_at);
		return;
	}
	all->next_at = all->picture->time->now + PASS_MS;
	pass->pass++;
	pass->over = pass->contended = 0;
	pass->over_mib = 0;
	enter(pass, OVERUSE_REMARKS, all->remarks.count);
}

/* From the last to the first, so that one may leave. False: none is left. */
static bool take(struct overuse_pass *pass, size_t count)
{
	pass->at = pass->at < count ? pass->at : count;
	if (pass->at == 0) {
		return false;
	}
	pass->at--;
	return true;
}

static void look_at_remark(struct picture *picture, struct overuses *all)
{
	struct overuse_pass *pass = &all->pass;
	if (!take(pass, all->remarks.count)) {
		enter(pass, OVERUSE_LEFT, all->items.count);
		return;
	}
	bool old = picture->time->now - all->remarks.items[pass->at].at >= REMARK_EVERY_MS;
	pass->left -= 1;
	if (old) {
		pass->left -= WORK_GONE;
		remark_drop(all, pass->at);
	}
}

static void look_at_item(struct world *world, struct overuses *all)
{
	struct overuse_pass *pass = &all->pass;
	if (!take(pass, all->items.count)) {
		enter(pass, OVERUSE_FAILURES, 0);
		return;
	}
	const struct overuse *o = &all->items.items[pass->at];
	const struct world_pod *p = world_pod_by_uid(world, o->uid);
	pass->left -= WORK_LEFT;
	if (!overuse_uses_now(p) || !gpu_list_has(p->gpu->uuid, o->uuid)) {
		if (o->over) {
			overuse_relieved(all, o->uuid);
		}
		pass->left -= WORK_GONE;
		overuse_drop(all, pass->at);
	}
}

/* Those of the node that are left: who ran out of memory, or what is to be told. */
static void look_at_tenants(struct overuses *all, const struct world_node *n, struct engine_now now,
	struct emitter *out)
{
	struct overuse_pass *pass = &all->pass;
	bool tells = pass->stage == OVERUSE_INFORM;
	for (size_t i = world_slots_from(&n->tenants, pass->slot); i < n->tenants.count; i++) {
		const struct world_pod *p = world_pod_at(all->picture->world, n->tenants.items[i]);
		if (pass->left <= 0) {
			pass->slot = n->tenants.items[i];
			return;
		}
		size_t said = out->plan->actions.count;
		pass->left -= WORK_SEEN;
		if (tells) {
			overuse_report(all, p, out);
			pass->left -= all->items.count > 0 ? WORK_FOUND : 0;
			pass->left -= out->plan->actions.count > said ? WORK_SAID : 0;
		} else if (failure_look(all, p, now.policy_ms, out)) {
			pass->left -= WORK_JUDGE;
		}
	}
	if (tells) {
		enter(pass, OVERUSE_FAILURES, pass->at + 1);
	} else {
		enter(pass, OVERUSE_JUDGE, pass->at);
	}
}

static void judge_node(struct overuses *all, struct engine_now now, struct emitter *out)
{
	const uint32_t node = (uint32_t)all->pass.at;
	const struct node_state *s = world_state_of(all->picture->world, node);
	size_t uses = s != NULL ? s->use_count : 0;
	overuse_judge(all, node, now.policy_ms, out);
	size_t met =
		all->items.count > 0 ? world_node_at(all->picture->world, node)->tenants.count : 0;
	all->pass.left -= (int64_t)(WORK_NODE + WORK_USE * uses + WORK_MET * met +
				    WORK_OVER * all->here.count);
	enter(&all->pass, OVERUSE_INFORM, node);
}

static void look_at_node(struct overuses *all, struct engine_now now, struct emitter *out)
{
	if (all->pass.at >= world_node_slots(all->picture->world)) {
		enter(&all->pass, OVERUSE_CROWDS, all->crowds.count);
	} else if (all->pass.stage == OVERUSE_JUDGE) {
		judge_node(all, now, out);
	} else {
		look_at_tenants(
			all, world_node_at(all->picture->world, (uint32_t)all->pass.at), now, out);
	}
}

static void look_at_crowd(struct overuses *all)
{
	struct overuse_pass *pass = &all->pass;
	if (!take(pass, all->crowds.count)) {
		enter(pass, OVERUSE_FAILED, all->failures.count);
		return;
	}
	pass->left -= 1;
	if (all->crowds.items[pass->at].met != pass->pass) {
		pass->left -= WORK_GONE;
		crowd_drop(all, pass->at);
	}
}

/* What was found is told when all of it is. */
static void look_at_failed(struct overuses *all, struct engine_report *report)
{
	struct overuse_pass *pass = &all->pass;
	if (!take(pass, all->failures.count)) {
		report->tenants_over = pass->over;
		report->tenants_contended = pass->contended;
		report->over_mib = pass->over_mib;
		enter(pass, OVERUSE_RESTS, 0);
		return;
	}
	pass->left -= 1;
	if (all->failures.items[pass->at].met != pass->pass) {
		pass->left -= WORK_GONE;
		failure_drop(all, pass->at);
	}
}

static void go_on(struct overuses *all, struct engine_now now, struct emitter *out)
{
	switch (all->pass.stage) {
	case OVERUSE_REMARKS:
		look_at_remark(all->picture, all);
		break;
	case OVERUSE_LEFT:
		look_at_item(all->picture->world, all);
		break;
	case OVERUSE_FAILURES:
	case OVERUSE_JUDGE:
	case OVERUSE_INFORM:
		look_at_node(all, now, out);
		break;
	case OVERUSE_CROWDS:
		look_at_crowd(all);
		break;
	case OVERUSE_FAILED:
		look_at_failed(all, out->report);
		break;
	case OVERUSE_RESTS:
	case OVERUSE_STAGES:
		break;
	}
}

void overuse_step(
	struct overuses *overuses, struct engine_now now, uint32_t budget, struct emitter *out)
{
	struct overuse_pass *pass = &overuses->pass;
	pass->left = (int64_t)budget * PARTS + WORK_LEAST;
	while (overuse_running(overuses) && pass->left > 0) {
		go_on(overuses, now, out);
	}
}
