/* The round: nodes for the largest GPU, pods for who is there and has what, those that went, then
 * workload by workload what it should have and whether that has to be written. */
#include <stdlib.h>

#include "actions.h"
#include "base/intern.h"
#include "heals_ends.h"
#include "heals_say.h"
#include "resize_request.h"
#include "rolls.h"
#include "sizer/workload_pods.h"
#include "sized.h"
#include "sized_pods.h"
#include "sizer/bills.h"
#include "sizer/past.h"
#include "sizer/usage_checkpoints.h"
#include "surges.h"
#include "workload_target.h"
#include "write.h"

#define NODE_UNITS     1
#define WORKLOAD_UNITS 8
/* Workloads and pods among which those alerted are looked for in one step. */
#define ALERTED_SLICE 2000

/* It goes, and with it what is under way for it. */
static void workload_remove(struct sizer *s, struct sized *x)
{
	surges_drop(s, x);
	rolls_drop(s, x);
	sized_remove(s, x);
}

struct sizer *sizer_create(const struct sizer_config *config)
{
	struct sizer *s = xcalloc(1, sizeof *s);
	s->config = *config;
	s->scratch.block_bytes = 4096;
	s->tokens_ms = s->first_ms = 1000;
	sized_init(s);
	gpus_init(&s->gpus);
	bills_init(&s->bills);
	others_init(&s->others);
	roll_fleet_init(&s->fleet);
	s->surges = surges_create();
	devices_init(&s->devices);
	return s;
}

void sizer_destroy(struct sizer *s)
{
	if (s == NULL) {
		return;
	}
	past_finish(s);
	while (s->pods.count > 0) {
		pods_drop(s, s->pods.items[s->pods.count - 1]);
	}
	while (s->workloads.count > 0) {
		workload_remove(s, s->workloads.items[s->workloads.count - 1]);
	}
	VEC_FINISH(&s->pods);
	slab_finish(&s->records);
	gathers_finish(&s->gathers);
	strangers_finish(&s->strangers);
	others_finish(&s->others);
	VEC_FINISH(&s->wishes);
	moves_finish(&s->moves);
	VEC_FINISH(&s->alarms.ends);
	gpus_finish(&s->gpus);
	devices_finish(&s->devices);
	bills_finish(&s->bills);
	VEC_FINISH(&s->workloads);
	surges_destroy(s);
	roll_fleet_finish(&s->fleet);
	rooms_finish(&s->rooms);
	map_finish(&s->by_uid);
	map_finish(&s->by_object);
	intern_destroy(s->names);
	arena_finish(&s->scratch);
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
	s->at = 0;
}

static void round_begin(struct sizer *s, const struct turn *t)
{
	s->round++;
	s->round_at = t->now.mono_ms + s->config.round_ms;
	devices_clear(&s->devices);
	s->counting = (struct sizer_totals){0};
	gathers_begin(&s->gathers);
	strangers_begin(&s->strangers);
	s->skipped = false;
	s->managing = 0;
	rooms_clear(&s->rooms);
	s->from = s->workloads.count > 0 ? s->next_from % s->workloads.count : 0;
	enter_phase(s, SIZER_NODES);
}

/* What their labels tell of their GPUs; what capacity pods found is exact. */
static void look_at_nodes(struct sizer *s, struct turn *t)
{
	for (; s->at < world_node_slots(t->world); s->at++, t->budget -= NODE_UNITS) {
		if (t->budget <= 0) {
			return;
		}
		devices_see(&s->devices, t->world, (uint32_t)s->at);
	}
	enter_phase(s, SIZER_PODS);
	s->class = WORLD_CAPACITY;
}

struct known {
	const struct sizer *sizer;
	const struct world *world;
};

static struct room_tenant find_tenant(const void *data, const char *uid)
{
	const struct known *k = data;
	const struct sized_pod *p = pods_find(k->sizer, uid);
	const struct world_pod *wp = world_pod_by_uid(k->world, uid);
	const char *policy = wp != NULL && wp->gpu != NULL ? wp->gpu->policy : NULL;
	return (struct room_tenant){policy != NULL ? world_policy_find(k->world, policy) : NULL,
		p != NULL ? &p->of->key : NULL};
}

static void look_at_held(struct sizer *s, const struct world *w, const struct world_pod *wp)
{
	struct pod pod;
	const struct known known = {s, w};
	const struct room_tenants tenants = {&known, find_tenant};
	arena_reset(&s->scratch);
	if (!world_pod_unpack(wp, &s->scratch, &pod)) {
		return;
	}
	if (pod.identity != NULL) {
		devices_hold(&s->devices, wp->node, pod.identity->mem_mib);
		gpus_hold(&s->gpus, pod.identity, wp->node, s->round);
	}
	rooms_add(&s->rooms, wp, &pod, &tenants);
}

static void look_at_pods(struct sizer *s, struct turn *t)
{
	for (; t->budget > 0; t->budget--) {
		if (s->at < world_class_count(t->world, s->class)) {
			const struct world_pod *wp = world_class_at(t->world, s->class, s->at++);
			if (s->class == WORLD_CAPACITY) {
				look_at_held(s, t->world, wp);
			} else {
				pods_see(s, wp, t->now.policy_ms);
				surges_see(s, wp, t->now, t->world);
			}
			continue;
		}
		s->at = 0;
		switch (s->class) {
		case WORLD_CAPACITY:
			devices_settle(&s->devices, t->world);
			s->class = WORLD_TENANT;
			break;
		case WORLD_TENANT:
			s->class = WORLD_WHOLE;
			break;
		case WORLD_WHOLE:
			s->class = WORLD_PENDING;
			break;
		case WORLD_PENDING:
		case WORLD_PROBE:
		case WORLD_CLASSES:
			enter_phase(s, SIZER_SWEEP);
			return;
		}
	}
}

/* The lists are in no order and change between slices, so one that was not met may be there. */
static bool is_gone(const struct world_pod *wp)
{
	return wp == NULL || wp->deleting || world_pod_terminal(wp);
}

static void drop_gone_pods(struct sizer *s, struct turn *t)
{
	for (; s->at < s->pods.count; t->budget--) {
		if (t->budget <= 0) {
			return;
		}
		struct sized_pod *p = s->pods.items[s->at];
		bool missed = p->round != s->round;
		const struct world_pod *wp = missed ? world_pod_by_uid(t->world, p->uid) : NULL;
		if (missed && is_gone(wp)) {
			runs_end(p, wp);
			if (wp != NULL && wp->gpu != NULL) {
				heals_over(s, p, wp, t->now.policy_ms);
			}
			pods_drop(s, p);
		} else {
			gpus_keep(&s->gpus, p->heal.gpu);
			pods_settle(s, p, t->now.policy_ms);
			s->at++;
		}
	}
	s->recalled = true;
	gpus_settle(&s->gpus);
	others_forget(&s->others, t->now.policy_ms - HEALS_USED_MS);
	enter_phase(s, SIZER_BILLS);
}

static void count_bill(struct sizer *s, struct turn *t)
{
	if (bills_step(s, t->world, t->now.policy_ms, &t->budget)) {
		enter_phase(s, SIZER_WORKLOADS);
	}
}

/* --- workloads --- */

static void drop_containers(struct sizer *s, struct sized *x, int64_t now_ms)
{
	for (size_t i = x->containers.count; i-- > 0;) {
		struct sized_container *c = x->containers.items[i];
		if (c->seen_ms == 0) {
			c->seen_ms = now_ms;
		}
		if (c->feeds == 0 && now_ms - c->seen_ms > SIZER_KEEP_S * INT64_C(1000)) {
			sized_container_drop(s, x, c);
		}
	}
}

/* As the pod that was seen last was told, else as its group says now. */
static int64_t kept_for_s(const struct sizer *s, const struct sized *x)
{
	int64_t told_s = x->retention_s;
	bool grouped = text_equals(x->key.kind, WORKLOAD_GROUP_KIND) && s->config.groups != NULL;
	for (size_t i = 0; told_s == 0 && grouped && i < groups_count(s->config.groups); i++) {
		const struct workload_group *g = groups_at(s->config.groups, i);
		size_t n = strlen(g->name);
		bool its = strncmp(x->key.name, g->name, n) == 0 && x->key.name[n] == '.';
		told_s = its ? g->retention_s : 0;
	}
	return told_s > 0 ? told_s : SIZER_KEEP_S;
}

/* Nobody will ask for it again, as far as anyone can tell. */
static bool workload_is_forgotten(const struct sizer *s, const struct sized *x, int64_t now_ms)
{
	return x->pods == 0 && !x->owned && x->seen_ms != 0 &&
	       now_ms - x->seen_ms > kept_for_s(s, x) * 1000;
}

static void count_workload(struct sizer *s, struct sized *x)
{
	struct sizer_totals *t = &s->counting;
	enum history_state worst = HISTORY_SUFFICIENT;
	bool ready = x->containers.count > 0;
	t->workloads++;
	gathers_count(&s->gathers, x);
	t->bytes += sizeof *x + strlen(x->object) + strlen(x->key.name) + 2 +
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
static bool step_workload(struct sizer *s, struct sized *x, struct turn *t)
{
	struct decision d = {.sizer = s, .world = t->world, .now_ms = t->now.policy_ms};
	if (x->seen_ms == 0) {
		x->seen_ms = d.now_ms;
	}
	drop_containers(s, x, d.now_ms);
	save_tell(s, x, t->plan);
	bool known = decide_workload(s, x, &d);
	x->heal.alerted = false;
	if (known) {
		heals_tell(s, x, &d, t->plan);
		past_want(s, x, &d);
	}
	t->budget -= rolls_step(s, x, &d, t->plan);
	return !known || write_workload(s, x, &d, t->now, t->plan);
}

static void look_at_workload(struct sizer *s, struct sized *x, struct turn *t)
{
	bool over = workload_is_forgotten(s, x, t->now.policy_ms);
	bool done = over ? write_delete(s, x, t->now, t->plan) : step_workload(s, x, t);
	t->budget -= WORKLOAD_UNITS;
	if (x->waits == done) {
		x->waits = !done;
		s->waiting += done ? UINT32_MAX : 1;
	}
}

/* Between rounds, those whose write had to wait, one after the other. */
static void look_at_waiting(struct sizer *s, struct turn *t)
{
	size_t left = s->workloads.count;
	for (; left > 0 && s->waiting > 0 && t->budget > 0; left--) {
		if (write_next(s) > t->now.mono_ms) {
			return;
		}
		s->wait_at = s->wait_at < s->workloads.count ? s->wait_at : 0;
		struct sized *x = s->workloads.items[s->wait_at++];
		if (x->waits) {
			look_at_workload(s, x, t);
		}
	}
}

static void decide_alerted(struct sizer *s, struct turn *t, size_t *left)
{
	struct heal_alarms *a = &s->alarms;
	for (; a->look == HEAL_LOOK_DECIDES && t->budget > 0 && *left > 0; --*left) {
		if (a->at >= s->workloads.count) {
			a->look = HEAL_LOOK_WISHES;
			a->at = 0;
			return;
		}
		struct sized *x = s->workloads.items[a->at++];
		if (x->heal.alerted) {
			(void)step_workload(s, x, t);
			x->heal.alert = a->looks;
			t->budget -= WORKLOAD_UNITS;
		}
	}
}

/* A pod that is passed by, because another one went, is met by the round. */
static void wish_alerted(struct sizer *s, struct turn *t, size_t *left)
{
	struct heal_alarms *a = &s->alarms;
	for (; a->look == HEAL_LOOK_WISHES && t->budget > 0 && *left > 0; --*left) {
		if (a->at >= s->pods.count) {
			a->look = HEAL_LOOK_RESTS;
			return;
		}
		struct sized_pod *p = s->pods.items[a->at++];
		if (p->of->heal.alert == a->looks) {
			wish_pod(s, p);
			t->budget--;
		}
	}
}

/* Those in need, whatever the round does; not while it counts what their pods have. What cannot be
 * written at once is written in the next round, and what runs gets it all the same. */
static void look_at_alerted(struct sizer *s, struct turn *t)
{
	struct heal_alarms *a = &s->alarms;
	bool counts = s->phase == SIZER_NODES || s->phase == SIZER_PODS || s->phase == SIZER_SWEEP;
	if (counts || s->ending) {
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
	wish_alerted(s, t, &left);
}

static void round_finish(struct sizer *s)
{
	struct sizer_totals *t = &s->counting;
	t->pods = (uint32_t)s->pods.count;
	t->bytes += s->pods.count * (sizeof(struct sized_pod));
	s->rounds++;
	gathers_end(&s->gathers);
	strangers_end(&s->strangers);
	s->fleet.managed = s->managing;
	t->rounds = s->rounds;
	s->totals = *t;
	if (!s->skipped) {
		s->next_from = 0;
	}
	enter_phase(s, SIZER_RESTS);
}

static void look_at_workloads(struct sizer *s, struct turn *t)
{
	while (s->at < s->workloads.count) {
		if (t->budget <= 0) {
			return;
		}
		size_t slot = (s->from + s->at) % s->workloads.count;
		struct sized *x = s->workloads.items[slot];
		if (x->uid == NULL && workload_is_forgotten(s, x, t->now.policy_ms)) {
			workload_remove(s, x);
			continue;
		}
		look_at_workload(s, x, t);
		count_workload(s, x);
		s->at++;
	}
	enter_phase(s, SIZER_WISHES);
}

static void look_for_wishes(struct sizer *s, struct turn *t)
{
	for (; s->at < s->pods.count; s->at++, t->budget--) {
		if (t->budget <= 0) {
			return;
		}
		wish_pod(s, s->pods.items[s->at]);
	}
	round_finish(s);
}

void sizer_step(struct sizer *s, struct sizer_now now, const struct world *w, uint32_t budget,
	struct plan *plan)
{
	struct turn t = {now, w, plan, budget};
	plan_reset(plan);
	VEC_CLEAR(&s->wishes);
	moves_hand_back(s);
	write_fill(s, now.mono_ms);
	if (!s->listed) {
		return;
	}
	if (s->ending) {
		enter_phase(s, SIZER_RESTS);
	} else {
		surges_step(s, now, w, plan);
	}
	heals_judge(s, w, now);
	look_at_alerted(s, &t);
	if (s->phase == SIZER_RESTS) {
		save_step(s, now, plan);
	}
	if (s->phase == SIZER_RESTS && !s->ending && now.mono_ms < s->round_at) {
		look_at_waiting(s, &t);
	}
	if (s->phase == SIZER_RESTS && (s->ending || now.mono_ms < s->round_at)) {
		return;
	}
	if (s->phase == SIZER_RESTS) {
		round_begin(s, &t);
	}
	while (s->phase != SIZER_RESTS && t.budget > 0) {
		switch (s->phase) {
		case SIZER_NODES:
			look_at_nodes(s, &t);
			break;
		case SIZER_PODS:
			look_at_pods(s, &t);
			break;
		case SIZER_SWEEP:
			drop_gone_pods(s, &t);
			break;
		case SIZER_BILLS:
			count_bill(s, &t);
			break;
		case SIZER_WORKLOADS:
			look_at_workloads(s, &t);
			break;
		case SIZER_WISHES:
			look_for_wishes(s, &t);
			break;
		case SIZER_RESTS:
			break;
		}
	}
	plan->unfinished = s->phase != SIZER_RESTS;
}

int64_t sizer_deadline(const struct sizer *s)
{
	if (!s->listed) {
		return TIME_NEVER;
	}
	int64_t surges_at = surges_deadline(s);
	if (s->phase != SIZER_RESTS) {
		return time_min(s->filled_ms, surges_at);
	}
	int64_t at = time_min(time_min(s->round_at, surges_at), heals_deadline(s));
	at = s->waiting > 0 ? time_min(at, write_next(s)) : at;
	return s->config.checkpoint_ms > 0 ? time_min(at, s->save_at) : at;
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
	const struct gathered_one *one = gathers_find(&s->gathers.told, hash_text(group));
	*ret = one != NULL ? (struct sizer_gathered){one->pods, one->workloads}
			   : (struct sizer_gathered){0, 0};
	return s->rounds > 0;
}

const struct sizer_wish *sizer_wishes(const struct sizer *s, size_t *ret_count)
{
	*ret_count = s->wishes.count;
	return s->wishes.items;
}

/* --- what is told, and what became of actions --- */

void sizer_gate(struct sizer *s, const struct roll_gate *gate)
{
	for (size_t i = 0; s->gate.leads && !gate->leads && i < s->workloads.count; i++) {
		rolls_forget(s, s->workloads.items[i]);
	}
	if (s->gate.leads && !gate->leads) {
		surges_drop(s, NULL);
	}
	s->gate = *gate;
}

void sizer_may_surge(struct sizer *s, enum sizer_surge right)
{
	s->surges->right = right;
}

bool sizer_owns(uint64_t action_id)
{
	return (action_id & ACTIONS_ID_BIT) != 0;
}

void sizer_settle(
	struct sizer *s, struct sizer_now now, uint64_t action_id, const struct outcome *outcome)
{
	for (size_t i = 0; i < s->workloads.count; i++) {
		if (s->workloads.items[i]->action == action_id) {
			write_settle(s->workloads.items[i], now, outcome);
			return;
		}
	}
	if (!surges_answer(s, now, action_id, outcome) &&
		!rolls_answer(s, now, action_id, outcome)) {
		(void)save_settle(s, now, action_id, outcome);
	}
}
