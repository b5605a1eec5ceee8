/* What is remembered of a workload's replacements: as the GPURecommendation told it, as they began
 * and ended, and what the writes came to: an eviction, and the reading of an owner. */
#include "rollouts/roll_record.h"

#include "rollouts/rollouts.h"

#include "roll/rollout_explain.h"
#include "owner/podgroups.h"
#include "size/admit.h"
#include "tracking/workload_table.h"

/* An owner that could not be read is tried again after so long, doubling to */
#define OWNER_RETRY_MS 5000
#define OWNER_MISSES   6 /* so many times */

/* Of one word in lastUpdate. */
#define REASON_MAX 32

struct rollout_record *rollout_record(struct sized_workload *x)
{
	if (x->roll == NULL) {
		x->roll = xcalloc(1, sizeof *x->roll);
		x->roll->roll.revision = -1;
	}
	return x->roll;
}

void rollout_set_update(struct rollouts *s, struct rollout_record *m, enum update_result result,
	int64_t at_ms, const char *reason)
{
	char cut[REASON_MAX];
	snprintf(cut, sizeof cut, "%s", text_or(reason, ""));
	names_set(s->tracking, &m->update.reason, cut[0] != '\0' ? cut : NULL);
	m->result = (uint8_t)result;
	m->update.at_ms = at_ms;
}

void rollout_restore(
	struct rollouts *s, struct sized_workload *x, const struct recommendation *told)
{
	const struct recommended_update *u = &told->last_update;
	bool stopped = told->conditions[RECOMMENDATION_PAUSED].status == CONDITION_TRUE;
	x->shown = told->revision;
	if ((x->roll == NULL && u->result == UPDATE_NONE && !stopped) ||
		(x->roll != NULL && x->roll->live)) {
		return;
	}
	struct rollout_record *m = rollout_record(x);
	roll_restore(&m->roll, told);
	if (text_equals(told->conditions[RECOMMENDATION_PAUSED].reason, HEALING_PAUSED)) {
		m->roll.paused = ROLL_UP_TO_DATE; /* it is healing's, which remembers it itself */
		m->roll.paused_ms = 0;
	}
	rollout_set_update(s, m, u->result, u->at_ms, u->reason);
}

void rollout_forget(struct rollouts *s, struct sized_workload *x)
{
	struct rollout_record *m = x->roll;
	if (m == NULL) {
		return;
	}
	roll_fleet_end(&s->fleet, m->roll.id);
	roll_finish(&m->roll);
	m->roll = (struct roll){.revision = m->roll.revision,
		.begun_ms = m->roll.begun_ms,
		.paused = m->roll.paused,
		.paused_ms = m->roll.paused_ms,
		.returns = m->roll.returns,
		.returned_ms = m->roll.returned_ms};
	m->live = false;
	m->eviction = m->reading = 0;
	m->wants_to_go = false;
	m->seen = (struct owner_seen){0};
}

void rollout_drop(struct rollouts *s, struct sized_workload *x)
{
	rollout_forget(s, x);
	if (x->roll != NULL) {
		names_set(s->tracking, &x->roll->update.reason, NULL);
	}
	free(x->roll);
	x->roll = NULL;
}

bool rollout_hold(const struct sized_workload *x)
{
	const struct roll *r = x->roll != NULL ? &x->roll->roll : NULL;
	return r != NULL && (r->paused == ROLL_PAUSED || r->paused == ROLL_GIVEN_BACK);
}

void rollout_found(struct rollouts *s, struct sized_workload *x, const struct world_pod *wp,
	struct sizer_now now, const struct world *w)
{
	struct roll *r = &rollout_record(x)->roll;
	if (r->doing != ROLL_NOTHING) {
		return;
	}
	const char *node = wp->node != WORLD_NONE ? world_node_at(w, wp->node)->name : NULL;
	x->roll->live = true;
	r->doing = ROLL_SURGE;
	r->since_ms = now.policy_ms;
	r->newest_ms = wp->gpu->created_ms - 1;
	r->revision = x->revision;
	r->id = roll_fleet_begin(&s->fleet, node, now.policy_ms);
}

/* Whoever admits the next pod reads it from there. */
bool rollout_shown(const struct sized_workload *x)
{
	for (size_t i = 0; i < x->containers.count; i++) {
		const struct sized_container *c = x->containers.items[i];
		if (c->tally.pods > 0 &&
			(c->in_force.milli != c->told.milli || c->in_force.mib != c->told.mib)) {
			return false;
		}
	}
	return x->uid != NULL && x->shown == x->revision;
}

void rollout_end_healing(struct sized_container *c)
{
	struct heal_record *h = healing_touch(c);
	h->ended |= h->answer.healing;
	memset(&h->answer, 0, sizeof h->answer);
	h->state.compute = h->state.memory = (struct heal_half){0};
	h->capped_by = CAPPED_BY_NONE;
	h->uncapped = (struct small_share){0, 0};
	history_kept(c->history)->held = c->in_force;
}

bool rollout_give_back(struct rollouts *s, struct sized_workload *x, const struct decision *d)
{
	struct rollout_record *m = rollout_record(x);
	if (!roll_give_back(&m->roll, &s->fleet, d->now_ms)) {
		return false;
	}
	m->live = true;
	m->stopped_under = 0;
	for (size_t i = 0; i < x->containers.count; i++) {
		struct sized_container *c = x->containers.items[i];
		c->converted = false;
		c->in_force = (struct share){MODEL_GPU_MILLI, x->device_mib};
		rollout_end_healing(c);
	}
	rollout_set_update(s, m, UPDATE_ROLLED_BACK, d->now_ms, roll_why_name(ROLL_GIVEN_BACK));
	return true;
}

void rollout_settle(
	struct rollouts *s, struct sized_workload *x, const struct roll_ending *e, int64_t now_ms)
{
	if (x->roll != NULL && x->roll->roll.doing != ROLL_NOTHING) {
		if (e->end == ROLL_END_BUDGET || e->end == ROLL_END_REFUSED) {
			moves_cancel(s, x, x->roll->roll.begun_ms, now_ms);
		}
		roll_settle(&x->roll->roll, &s->fleet, e, now_ms);
	}
}

/* --- what the writes came to --- */

/* Of "the disruption budget NAME needs ..."; the message where it names none. */
static const char *budget_name(const char *message, char name[ROLL_BLOCKER_MAX])
{
	static const char before[] = "The disruption budget ";
	const char *at = strstr(message, before);
	size_t n = at != NULL ? strcspn(at + sizeof before - 1, " ") : 0;
	if (n == 0 || n >= ROLL_BLOCKER_MAX) {
		return NULL;
	}
	memcpy(name, at + sizeof before - 1, n);
	name[n] = '\0';
	return name;
}

static void answer_eviction(
	struct rollouts *s, struct sized_workload *x, const struct fault *f, int64_t now_ms)
{
	char name[ROLL_BLOCKER_MAX];
	struct roll_ending e = {ROLL_END_DONE, NULL, f->retry_after_ms, false};
	/* The API server does not evict such a pod at all, and says so by a 500: as an answer that
	 * is no answer it would be tried again for ever. Our own view of budgets was not whole. */
	bool two_budgets =
		f->status == 500 && strstr(f->message, "more than one PodDisruptionBudget") != NULL;
	x->roll->eviction = 0;
	if (f->kind == FAULT_CONFLICT && x->roll->as_judged) {
		e.end = ROLL_END_REFUSED;
		e.by = "it is not what it was when it was chosen";
		/* nor did it make way */
		x->roll->mended -= x->roll->roll.doing == ROLL_NOTHING && x->roll->mended > 0;
	} else if (f->kind == FAULT_NOT_FOUND || f->kind == FAULT_CONFLICT) {
		e.end = ROLL_END_GONE;
	} else if (f->status == 429 && strstr(f->message, "disruption budget") != NULL) {
		e.end = ROLL_END_BUDGET;
		e.by = budget_name(f->message, name);
	} else if (f->kind != FAULT_NONE && (!f->unknown_outcome || two_budgets)) {
		e.end = ROLL_END_REFUSED;
		e.by = f->message;
	}
	rollout_settle(s, x, &e, now_ms);
}

/* What only the template tells of what admission will say: arguments, variables, privileges, who
 * schedules it, and a share that a person writes there while running pods stay as they are. */
static uint8_t judge_next(const struct rollouts *s, const struct sized_workload *x,
	const struct standing *owner, enum isolation isolation)
{
	struct explain_facts facts;
	struct pod next = owner->next != NULL ? *owner->next : (struct pod){0};
	next.ns = x->key.ns;
	const struct admit_input in = {.pod = &next,
		.basic_group = podgroups_frees(s->tracking->config.pod_groups, &next),
		.schedulers = s->tracking->config.schedulers,
		.scheduler_count = s->tracking->config.scheduler_count,
		.count_max = MODEL_GPU_COUNT_MAX,
		.context_mib = s->tracking->config.admission.context_mib,
		.notes_names = s->tracking->config.admission.notes_names};
	bool told = owner->exists && owner->next != NULL;
	return (uint8_t)(told ? admit_template(&in, isolation, &facts) : REASON_NONE);
}

/* Nobody may see it (403), or its kind is not there (404): that does not change in minutes, and the
 * pods have to do. Anything else ends, and nobody goes before it has. What the template said holds
 * either way. */
static void miss_owner(struct owner_seen *seen, const struct fault *f, int64_t now_ms)
{
	if (f->status == 403 || f->status == 404) {
		seen->at_ms = now_ms;
		seen->retry_ms = 0;
		seen->misses = 0;
		seen->known = false;
		return;
	}
	int64_t wait = OWNER_RETRY_MS << seen->misses;
	seen->retry_ms = now_ms + (f->retry_after_ms > wait ? f->retry_after_ms : wait);
	if (seen->misses < OWNER_MISSES) {
		seen->misses++;
	}
}

/* Whoever waits for it is looked at now: by the next round it may be too old again. */
static void settle_owner_read(
	struct rollouts *s, struct sized_workload *x, const struct outcome *outcome, int64_t now_ms)
{
	const struct standing *owner = outcome->standing;
	struct owner_seen *seen = &x->roll->seen;
	if (x->roll->wants_to_go && !s->tracking->ending) {
		healing_alert(s->alarms, x);
	}
	x->roll->wants_to_go = false;
	x->roll->reading = 0;
	if (outcome->fault.kind != FAULT_NONE || owner == NULL) {
		miss_owner(seen, &outcome->fault, now_ms);
		return;
	}
	*seen = (struct owner_seen){.at_ms = now_ms,
		.known = true,
		.going = !owner->exists || owner->leaving,
		.recreates = owner->exists && owner->recreates,
		.course = (uint8_t)owner->course,
		.whole = judge_next(s, x, owner, ISOLATION_NONE),
		.whole_walled = judge_next(s, x, owner, ISOLATION_MPS),
		.wanted = owner->exists ? owner->wanted : -1,
		.min_ready_s = owner->exists ? owner->min_ready_s : 0};
}

bool rollout_answer(
	struct rollouts *s, struct sizer_now now, uint64_t id, const struct outcome *outcome)
{
	for (size_t i = 0; i < s->tracking->workloads.rows.count; i++) {
		struct sized_workload *x = workload_at(s->tracking, i);
		if (x->roll == NULL || (x->roll->eviction != id && x->roll->reading != id)) {
			continue;
		}
		if (x->roll->eviction == id) {
			answer_eviction(s, x, &outcome->fault, now.policy_ms);
		} else {
			settle_owner_read(s, x, outcome, now.policy_ms);
		}
		return true;
	}
	return false;
}
