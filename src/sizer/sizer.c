/* The round: nodes for the largest GPU, pods for who is there and has what, those that went, then
 * workload by workload what it should have and whether that has to be written. */
#include <stdlib.h>

#include "healing/failed_containers.h"
#include "healing/healing_events.h"
#include "recommendation_write.h"
#include "resize_request.h"
#include "sizer/past.h"
#include "sizer/usage_checkpoints.h"
#include "sizer/workload_pods.h"
#include "sizer_state.h"
#include "tracking/pod_table.h"
#include "tracking/workload_table.h"
#include "workload_life.h"
#include "workload_target.h"

#define NODE_UNITS     1
#define WORKLOAD_UNITS 8
/* Workloads and pods among which those alerted are looked for in one step. */
#define ALERTED_SLICE 2000

struct sizer *sizer_create(const struct sizer_config *config)
{
	struct sizer *s = xcalloc(1, sizeof *s);
	tracking_init(&s->tracking, config);
	devices_init(&s->supply.devices);
	gpus_init(&s->supply.gpus);
	healing_init(&s->healing, &s->tracking, &s->supply);
	rollouts_init(&s->rollouts, &s->tracking, &s->supply, &s->healing.alarms);
	s->bills.tracking = &s->tracking;
	s->bills.supply = &s->supply;
	return s;
}

void sizer_destroy(struct sizer *s)
{
	if (s == NULL) {
		return;
	}
	sizer_past_drop(s);
	while (s->tracking.pods.count > 0) {
		pods_drop(&s->tracking, s->tracking.pods.items[s->tracking.pods.count - 1]);
	}
	while (s->tracking.workloads.rows.count > 0) {
		workload_remove(s, workload_at(&s->tracking, s->tracking.workloads.rows.count - 1));
	}
	VEC_FINISH(&s->gathered);
	VEC_FINISH(&s->gathering);
	strangers_finish(&s->strangers);
	bills_finish(&s->bills);
	rollouts_finish(&s->rollouts);
	healing_finish(&s->healing);
	devices_finish(&s->supply.devices);
	gpus_finish(&s->supply.gpus);
	VEC_FINISH(&s->supply.shared.list);
	tracking_finish(&s->tracking);
	free(s);
}

/* --- one phase after the other --- */

struct turn {
	struct sizer_now now;
	const struct world *world;
	struct plan *plan;
	int64_t budget;
};

static void enter_phase(struct sizer *s, enum sizer_phase phase)
{
	s->phase = phase;
	s->healing.round_counts = phase == SIZER_PODS || phase == SIZER_SWEEP;
	s->at = s->class_at = 0;
}

static void round_begin(struct sizer *s, const struct turn *t)
{
	s->tracking.round++;
	s->round_at = t->now.mono_ms + s->tracking.config.round_ms;
	VEC_CLEAR(&s->supply.devices.found);
	s->counting = (struct sizer_totals){0};
	VEC_CLEAR(&s->gathering);
	strangers_begin(&s->strangers);
	s->tracking.pace.skipped = false;
	s->managing = 0;
	VEC_CLEAR(&s->supply.shared.list);
	s->from = s->tracking.workloads.rows.count > 0
			  ? s->tracking.pace.next_from % s->tracking.workloads.rows.count
			  : 0;
	enter_phase(s, SIZER_NODES);
}

/* Each phase returns true once it is over. */

/* What their labels tell of their GPUs; what capacity pods found is exact. */
static bool look_at_nodes(struct sizer *s, struct turn *t)
{
	for (; s->at < world_node_slots(t->world); s->at++, t->budget -= NODE_UNITS) {
		if (t->budget <= 0) {
			return false;
		}
		devices_see(&s->supply.devices, t->world, (uint32_t)s->at);
	}
	return true;
}

static void look_at_held(struct sizer *s, const struct world *w, const struct world_pod *wp)
{
	struct pod pod;
	struct arena *a = &s->tracking.scratch;
	arena_reset(a);
	if (!world_pod_unpack(wp, a, &pod)) {
		return;
	}
	if (pod.identity != NULL) {
		devices_hold(&s->supply.devices, wp->node, pod.identity->mem_mib);
		gpus_hold(&s->supply.gpus, pod.identity, wp->node, s->tracking.round);
	}
	struct gpu_tenant *tenants = ARENA_ARRAY(a, struct gpu_tenant, pod.ledger.count + 1);
	for (uint32_t i = 0; i < pod.ledger.count; i++) {
		const struct sized_pod *p = pods_find(&s->tracking, pod.ledger.items[i].uid);
		const struct world_pod *its = world_pod_by_uid(w, pod.ledger.items[i].uid);
		const char *policy = its != NULL && its->gpu != NULL ? its->gpu->policy : NULL;
		tenants[i].policy = policy != NULL ? world_policy_find(w, policy) : NULL;
		tenants[i].key = p != NULL ? &p->of->key : NULL;
	}
	shared_gpus_add(&s->supply.shared, wp, &pod, tenants);
}

static bool look_at_pods(struct sizer *s, struct turn *t)
{
	static const enum world_class order[] = {
		WORLD_CAPACITY, WORLD_TENANT, WORLD_WHOLE, WORLD_PENDING};
	for (; t->budget > 0; t->budget--) {
		enum world_class class = order[s->class_at];
		if (s->at >= world_class_count(t->world, class)) {
			if (class == WORLD_CAPACITY) {
				devices_settle(&s->supply.devices, t->world);
			}
			s->at = 0;
			if (++s->class_at == COUNT_OF(order)) {
				return true;
			}
			continue;
		}
		const struct world_pod *wp = world_class_at(t->world, class, s->at++);
		if (class == WORLD_CAPACITY) {
			look_at_held(s, t->world, wp);
		} else {
			pods_see(s, wp, t->now.policy_ms);
			surges_see(&s->rollouts, wp, t->now, t->world);
		}
	}
	return false;
}

/* The lists are in no order and change between slices, so one that was not met may be there. */
static bool drop_gone_pods(struct sizer *s, struct turn *t)
{
	for (; s->at < s->tracking.pods.count; t->budget--) {
		if (t->budget <= 0) {
			return false;
		}
		struct sized_pod *p = s->tracking.pods.items[s->at];
		bool missed = p->round != s->tracking.round;
		const struct world_pod *wp = missed ? world_pod_by_uid(t->world, p->uid) : NULL;
		if (missed && (wp == NULL || wp->deleting || world_pod_terminal(wp))) {
			runs_end(p, wp);
			if (wp != NULL && wp->gpu != NULL) {
				healing_over(&s->healing, p, wp, t->now.policy_ms);
			}
			pods_drop(&s->tracking, p);
		} else {
			gpus_keep(&s->supply.gpus, p->heal.gpu);
			pods_settle(s, p, t->now.policy_ms);
			s->at++;
		}
	}
	s->recalled = true;
	gpus_settle(&s->supply.gpus);
	unowned_pods_forget(&s->healing.unowned_pods, t->now.policy_ms - HEALING_USED_MS);
	return true;
}

static bool count_bill(struct sizer *s, struct turn *t)
{
	return bills_step(&s->bills, t->world, t->now.policy_ms, &t->budget);
}

/* --- workloads --- */

static struct gathering *gathering_of(const struct gatherings *all, uint64_t hash)
{
	vec_for_each (struct gathering, g, all) {
		if (g->hash == hash) {
			return g;
		}
	}
	return NULL;
}

static void count_gathered(struct gatherings *all, const struct sized_workload *x)
{
	struct gathering *g = gathering_of(all, x->gathered);
	if (g == NULL) {
		VEC_PUSH(all, ((struct gathering){.hash = x->gathered}));
		g = &all->items[all->count - 1];
	}
	g->of.pods += (int32_t)x->pods;
	g->of.workloads++;
}

static void count_workload(struct sizer *s, struct sized_workload *x)
{
	struct sizer_totals *t = &s->counting;
	enum history_state worst = HISTORY_SUFFICIENT;
	bool ready = x->containers.count > 0;
	t->workloads++;
	if (x->gathered != 0 && x->pods != 0) {
		count_gathered(&s->gathering, x);
	}
	t->bytes += sizeof *x + strlen(x->row.name) + strlen(x->key.name) + 2 +
		    (x->roll != NULL ? sizeof *x->roll : 0);
	for (size_t i = 0; i < x->containers.count; i++) {
		const struct sized_container *c = x->containers.items[i];
		t->bytes += sizeof *c + history_bytes(c->history) +
			    (c->heal != NULL ? sizeof *c->heal : 0);
		t->saved_milli += c->tally.saved_milli;
		ready = ready && c->in_force.milli > 0;
		if (c->facts.state != HISTORY_SUFFICIENT && worst != HISTORY_LEARNING) {
			worst = c->facts.state == HISTORY_STALE ? HISTORY_STALE : HISTORY_LEARNING;
		}
	}
	worst = x->containers.count == 0 ? HISTORY_LEARNING : worst;
	t->ready += worst == HISTORY_SUFFICIENT && ready;
	t->learning += worst == HISTORY_LEARNING;
	t->stale += worst == HISTORY_STALE;
	s->managing += x->acts ? x->pods : 0;
}

/* False: its write has to wait. */
static bool step_workload(struct sizer *s, struct sized_workload *x, struct turn *t)
{
	struct decision d = {.config = &s->tracking.config,
		.world = t->world,
		.now_ms = t->now.policy_ms,
		.unread = s->checkpoints.unread};
	if (x->seen_ms == 0) {
		x->seen_ms = d.now_ms;
	}
	workload_drop_containers(s, x, d.now_ms);
	emit_refused_checkpoints(&s->tracking.pace, x, t->plan);
	bool known = decide_workload(&s->tracking, &s->supply, x, &d);
	x->heal.alerted = false;
	if (known) {
		emit_healing_events(&s->tracking.pace, x, &d, t->plan);
		past_want(s, x, &d);
	}
	t->budget -= rollouts_step(&s->rollouts, x, &d, t->plan);
	return !known || write_workload(&s->tracking, x, &d, t->now, t->plan);
}

static void look_at_workload(struct sizer *s, struct sized_workload *x, struct turn *t)
{
	bool over = workload_is_forgotten(&s->tracking.config, x, t->now.policy_ms);
	bool done = over ? write_delete(&s->tracking, x, t->now, t->plan) : step_workload(s, x, t);
	t->budget -= WORKLOAD_UNITS;
	if (x->waits == done) {
		x->waits = !done;
		s->waiting += done ? UINT32_MAX : 1;
	}
}

/* Between rounds, those whose write had to wait, one after the other. */
static void look_at_waiting(struct sizer *s, struct turn *t)
{
	size_t left = s->tracking.workloads.rows.count;
	for (; left > 0 && s->waiting > 0 && t->budget > 0; left--) {
		if (write_pace_next(&s->tracking.pace) > t->now.mono_ms) {
			return;
		}
		s->wait_at = s->wait_at < s->tracking.workloads.rows.count ? s->wait_at : 0;
		struct sized_workload *x = workload_at(&s->tracking, s->wait_at++);
		if (x->waits) {
			look_at_workload(s, x, t);
		}
	}
}

static void decide_alerted(struct sizer *s, struct turn *t, size_t *left)
{
	struct heal_alarms *a = &s->healing.alarms;
	for (; a->look == HEAL_LOOK_DECIDES && t->budget > 0 && *left > 0; --*left) {
		if (a->at >= s->tracking.workloads.rows.count) {
			a->look = HEAL_LOOK_RESIZES;
			a->at = 0;
			return;
		}
		struct sized_workload *x = workload_at(&s->tracking, a->at++);
		if (x->heal.alerted) {
			(void)step_workload(s, x, t);
			x->heal.alert = a->looks;
			t->budget -= WORKLOAD_UNITS;
		}
	}
}

/* A pod that is passed by, because another one went, is met by the round. */
static void request_alerted(struct sizer *s, struct turn *t, size_t *left)
{
	struct heal_alarms *a = &s->healing.alarms;
	for (; a->look == HEAL_LOOK_RESIZES && t->budget > 0 && *left > 0; --*left) {
		if (a->at >= s->tracking.pods.count) {
			a->look = HEAL_LOOK_RESTS;
			return;
		}
		struct sized_pod *p = s->tracking.pods.items[a->at++];
		if (p->of->heal.alert == a->looks) {
			request_resize(&s->tracking, p);
			t->budget--;
		}
	}
}

/* Those in need, whatever the round does; not while it counts what their pods have. What cannot be
 * written at once is written in the next round, and what runs gets it all the same. */
static void look_at_alerted(struct sizer *s, struct turn *t)
{
	struct heal_alarms *a = &s->healing.alarms;
	bool counts = s->phase == SIZER_NODES || s->phase == SIZER_PODS || s->phase == SIZER_SWEEP;
	if (counts || s->tracking.ending) {
		return;
	}
	if (a->look == HEAL_LOOK_RESTS && a->any) {
		a->any = false;
		a->looks++;
		a->look = HEAL_LOOK_DECIDES;
		a->at = 0;
	}
	size_t left = ALERTED_SLICE;
	decide_alerted(s, t, &left);
	request_alerted(s, t, &left);
}

static void round_finish(struct sizer *s)
{
	struct sizer_totals *t = &s->counting;
	t->pods = (uint32_t)s->tracking.pods.count;
	t->bytes += s->tracking.pods.count * (sizeof(struct sized_pod));
	s->tracking.rounds++;
	struct gatherings former = s->gathered;
	s->gathered = s->gathering;
	s->gathering = former;
	strangers_end(&s->strangers);
	s->rollouts.fleet.managed = s->managing;
	t->rounds = s->tracking.rounds;
	s->totals = *t;
	if (!s->tracking.pace.skipped) {
		s->tracking.pace.next_from = 0;
	}
}

static bool look_at_workloads(struct sizer *s, struct turn *t)
{
	while (s->at < s->tracking.workloads.rows.count) {
		if (t->budget <= 0) {
			return false;
		}
		size_t slot = (s->from + s->at) % s->tracking.workloads.rows.count;
		struct sized_workload *x = workload_at(&s->tracking, slot);
		if (x->uid == NULL &&
			workload_is_forgotten(&s->tracking.config, x, t->now.policy_ms)) {
			workload_remove(s, x);
			continue;
		}
		look_at_workload(s, x, t);
		count_workload(s, x);
		s->at++;
	}
	return true;
}

static bool request_resizes(struct sizer *s, struct turn *t)
{
	for (; s->at < s->tracking.pods.count; s->at++, t->budget--) {
		if (t->budget <= 0) {
			return false;
		}
		request_resize(&s->tracking, s->tracking.pods.items[s->at]);
	}
	round_finish(s);
	return true;
}

/* A round: its phases, in their order. */
static bool (*const phases[])(struct sizer *s, struct turn *t) = {
	[SIZER_NODES] = look_at_nodes,
	[SIZER_PODS] = look_at_pods,
	[SIZER_SWEEP] = drop_gone_pods,
	[SIZER_BILLS] = count_bill,
	[SIZER_WORKLOADS] = look_at_workloads,
	[SIZER_REQUESTS] = request_resizes,
};

void sizer_step(struct sizer *s, struct sizer_now now, const struct world *w, uint32_t budget,
	struct plan *plan)
{
	struct turn t = {now, w, plan, budget};
	plan_reset(plan);
	VEC_CLEAR(&s->tracking.requests);
	moves_hand_back(&s->rollouts);
	write_pace_fill(&s->tracking.pace, now.mono_ms);
	if (!s->listed) {
		return;
	}
	if (s->tracking.ending) {
		enter_phase(s, SIZER_RESTS);
	} else {
		surges_step(&s->rollouts, now, w, plan);
	}
	healing_judge(&s->healing, w, now);
	look_at_alerted(s, &t);
	if (s->phase == SIZER_RESTS) {
		save_step(s, now, plan);
		if (s->tracking.ending) {
			return;
		}
		if (now.mono_ms < s->round_at) {
			look_at_waiting(s, &t);
			return;
		}
		round_begin(s, &t);
	}
	while (s->phase != SIZER_RESTS && t.budget > 0) {
		if (phases[s->phase](s, &t)) {
			enter_phase(s, s->phase == SIZER_REQUESTS ? SIZER_RESTS : s->phase + 1);
		}
	}
	plan->unfinished = s->phase != SIZER_RESTS;
}

int64_t sizer_deadline(const struct sizer *s)
{
	if (!s->listed) {
		return TIME_NEVER;
	}
	int64_t surges_at = surges_deadline(&s->rollouts);
	if (s->phase != SIZER_RESTS) {
		return time_min(s->tracking.pace.filled_ms, surges_at);
	}
	int64_t at = time_min(time_min(s->round_at, surges_at), healing_deadline(&s->healing));
	at = s->waiting > 0 ? time_min(at, write_pace_next(&s->tracking.pace)) : at;
	return s->tracking.config.checkpoint_ms > 0 ? time_min(at, s->checkpoints.due_at) : at;
}

bool sizer_listed(const struct sizer *s)
{
	return s->listed;
}

const struct strangers *sizer_strangers(const struct sizer *s)
{
	return &s->strangers;
}

void sizer_sum(const struct sizer *s, struct sizer_totals *ret)
{
	*ret = s->totals;
}

bool sizer_gathers(const struct sizer *s, const char *group, struct sizer_gathered *ret)
{
	const struct gathering *g = gathering_of(&s->gathered, hash_text(group));
	*ret = g != NULL ? g->of : (struct sizer_gathered){0, 0};
	return s->tracking.rounds > 0;
}

const struct resize_request *sizer_resize_requests(const struct sizer *s, size_t *ret_count)
{
	*ret_count = s->tracking.requests.count;
	return s->tracking.requests.items;
}

/* --- what is told, and what became of actions --- */

void sizer_gate(struct sizer *s, const struct roll_gate *gate)
{
	rollouts_gate(&s->rollouts, gate);
}

void sizer_may_surge(struct sizer *s, enum sizer_surge right)
{
	s->rollouts.surges.right = right;
}

bool sizer_owns(uint64_t action_id)
{
	return (action_id & PACE_ID_BIT) != 0;
}

void sizer_settle(
	struct sizer *s, struct sizer_now now, uint64_t action_id, const struct outcome *outcome)
{
	for (size_t i = 0; i < s->tracking.workloads.rows.count; i++) {
		if (workload_at(&s->tracking, i)->action == action_id) {
			write_settle(workload_at(&s->tracking, i), now, outcome);
			return;
		}
	}
	if (!surges_answer(&s->rollouts, now, action_id, outcome) &&
		!rollout_answer(&s->rollouts, now, action_id, outcome)) {
		(void)save_settle(s, now, action_id, outcome);
	}
}
