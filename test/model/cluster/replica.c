/* One controller process: the shipped control, without the webhook, its certificates and the
 * errands that src/app adds to it. */
#include "replica.h"

#include <stdio.h>
#include <stdlib.h>

#include "checks/check_memory.h"
#include "claims/check_roll.h"
#include "claims/claim.h"
#include "claims/isolation_rules.h"
#include "model/names.h"
#include "objects/trace.h"
#include "steady_use.h"
#include "webhook.h"
#include "works.h"

#define RELEASE_MS     3000
#define AGENTS_MS      500
#define REACH_MS       10000 /* the canary */
#define SIZER_ROUND_MS 5000
/* What an engine keeps from step to step is compared in every so many. */
#define CHECK_EVERY 1

struct replica {
	struct clock clock; /* first: the port finds us through it */
	struct sim *sim;    /* borrowed */
	int index;
	char identity[32];
	int64_t wall_offset_ms;
	struct kube_cred *cred; /* owned, like the next two */
	struct kube *kube;
	struct control control;
	struct steady_use use;
	int64_t agents_at, reach_at;
	int64_t turn_at; /* the next turn on the agenda */
	uint64_t turn_id;
	bool doomed, leaving;
	int64_t leave_by;
};

static const struct replica *of(const struct clock *c)
{
	return (const struct replica *)(const void *)c;
}

static int64_t replica_mono(const struct clock *c)
{
	return sim_now(of(c)->sim);
}

static int64_t replica_wall(const struct clock *c)
{
	return store_wall(&of(c)->sim->store) + of(c)->wall_offset_ms;
}

static const struct sim_hooks *hooks_of(const struct replica *r)
{
	static const struct sim_hooks none = {0};
	return r->sim->config.hooks != NULL ? r->sim->config.hooks : &none;
}

static bool keeps_leading(const struct replica *r)
{
	return hooks_of(r)->keeps_leading || sim_everyone_leads(r->sim);
}

/* --- what the parts tell each other --- */

static void replica_observe(void *data, const struct change *c)
{
	struct replica *r = data;
	(void)control_observe(&r->control, c);
}

static void forget_assumptions(struct replica *r)
{
	if (r->sim->slots[r->index].leads) {
		control_lead(&r->control, false);
		control_lead(&r->control, true);
	}
}

static bool on_replica_change(void *data, const struct change *c)
{
	struct replica *r = data;
	bool engines = c->kind < KIND_ENGINE;
	if (engines) {
		modes_told(r->sim, r->index, c);
	}
	if (engines && hooks_of(r)->forgets_at_relist && c->type == CHANGE_RELIST_END) {
		bool goes_on = control_observe(&r->control, c);
		forget_assumptions(r);
		return goes_on;
	}
	if (hooks_of(r)->change == NULL || (!engines && c->kind != KIND_RECOMMENDATION)) {
		return control_observe(&r->control, c);
	}
	struct change copy = *c;
	hooks_of(r)->change(&copy, replica_observe, r);
	return true;
}

/* All quotas as they are, or as if they bounded nothing. */
static void tell_quotas(struct replica *r, bool bound)
{
	for (size_t i = 0; i < r->sim->store.items.count; i++) {
		const struct stored *o = r->sim->store.items.items[i];
		struct quota quota = o->quota;
		struct change told = {.type = CHANGE_SET, .kind = KIND_QUOTA, .quota = &quota};
		if (o->resource == RES_QUOTAS) {
			quota.hard_milli = bound ? quota.hard_milli : INT64_MAX;
			replica_observe(r, &told);
		}
	}
}

static void heed_quotas(void *data, uint64_t incarnation)
{
	struct slot *slot = data;
	if (slot->replica != NULL && slot->incarnation == (int)incarnation) {
		tell_quotas(slot->replica, true);
	}
}

static void be_late_for_quotas(struct replica *r)
{
	struct slot *slot = &r->sim->slots[r->index];
	tell_quotas(r, false);
	agenda_add(&r->sim->agenda, sim_now(r->sim) + hooks_of(r)->late_quotas_ms, heed_quotas,
		slot, (uint64_t)slot->incarnation);
}

static void on_replica_leadership(void *data, bool leads)
{
	struct replica *r = data;
	sim_trace(r->sim, "r%d %s", r->index, leads ? "leads" : "does not lead any more");
	/* A term that ends with its process only: the engine goes on with its books, and so does
	 * whoever counts terms. */
	if (sim_everyone_leads(r->sim) && r->sim->slots[r->index].leads) {
		return;
	}
	r->sim->report->takeovers += leads;
	r->sim->slots[r->index].leads = leads;
	if (leads) {
		r->sim->claims.leads_since = sim_now(r->sim);
	}
	if (leads || !keeps_leading(r)) {
		control_lead(&r->control, leads);
	}
	if (leads && hooks_of(r)->late_quotas_ms > 0) {
		be_late_for_quotas(r);
	}
}

static void on_replica_outcome(
	void *data, const struct action *action, const struct outcome *outcome)
{
	struct replica *r = data;
	struct outcome told = *outcome;
	struct pod storage;
	sim_trace(r->sim, "r%d: action %llu ended: %s%s %s", r->index,
		(unsigned long long)action->id, fault_kind_name(told.fault.kind),
		told.fault.unknown_outcome ? " (unknown)" : "", told.fault.message);
	claim_ended(r->sim, r->index, action, &outcome->fault);
	if (hooks_of(r)->outcome != NULL) {
		hooks_of(r)->outcome(action, &told, &storage);
	}
	control_settle(&r->control, action, &told);
}

static void on_replica_action(void *data, struct action *a)
{
	struct replica *r = data;
	if (sizer_owns(a->id)) {
		sim_trace(r->sim, "r%d: sizer %s %s/%s %s", r->index,
			a->type == ACTION_SURGE ? surge_task_name(a->surge->task)
						: action_type_name(a->type),
			text_or(a->ns, ""), text_or(a->name, ""), text_or(a->message, ""));
		roll_intended(r->sim, r->index, a);
		return;
	}
	sim_trace(r->sim, "r%d: action %llu: %s %s/%s", r->index, (unsigned long long)a->id,
		action_type_name(a->type), text_or(a->ns, ""), text_or(a->name, ""));
	claim_intended(r->sim, r->index, a);
	memory_intended(r->sim, r->index, a);
}

static int64_t replica_write_ms(void *data)
{
	struct replica *r = data;
	return keeps_leading(r) ? ACT_TIMEOUT_MS : control_write_ms(&r->control);
}

static int64_t replica_term(void *data)
{
	const struct replica *r = data;
	return election_term(r->control.election);
}

static uint64_t replica_seed(void *data)
{
	struct replica *r = data;
	return rng_next(&r->sim->rng);
}

static void on_replica_wake(void *data, int64_t at)
{
	replica_wake(data, at);
}

/* --- what it has beside the shipped parts --- */

/* Agents are where their machines are. */
static void tell_agents(void *self, const struct turn *turn)
{
	struct replica *r = self;
	struct pair label = {LABEL_AGENT, "true"};
	if (!turn->leads || turn->now < r->agents_at) {
		return;
	}
	r->agents_at = turn->now + AGENTS_MS;
	vec_for_each (const struct machine, m, &r->sim->fleet.machines) {
		struct pod agent = {.ns = NAME_NAMESPACE,
			.name = m->name,
			.labels = {&label, 1},
			.phase = POD_RUNNING,
			.node = m->name,
			.address = m->name,
			.port = 1};
		struct change c = {.type = CHANGE_SET, .kind = KIND_POD, .pod = &agent};
		states_observe(r->control.states, &c);
	}
}

static int64_t tell_agents_at(const void *self, const struct turn *turn)
{
	const struct replica *r = self;
	return turn->leads ? r->agents_at : TIME_NEVER;
}

static const struct part agents_told = {tell_agents, tell_agents_at, NULL};

/* Instead of the canary, and of the question whether pods may be made beside others. */
static void look_at_webhook(void *self, const struct turn *turn)
{
	struct replica *r = self;
	sizer_may_surge(rightsizing_sizer(r->control.rightsizing),
		r->sim->works.surges ? SIZER_SURGE_ALLOWED : SIZER_SURGE_FORBIDDEN);
	if (!turn->leads || turn->now < r->reach_at) {
		return;
	}
	r->reach_at = turn->now + REACH_MS;
	if (webhook_answers(r->sim)) {
		control_reach(&r->control, true, NULL, turn->now);
	}
}

static int64_t look_at_webhook_at(const void *self, const struct turn *turn)
{
	const struct replica *r = self;
	return turn->leads ? r->reach_at : TIME_NEVER;
}

static const struct part webhook_looked_at = {look_at_webhook, look_at_webhook_at, NULL};

/* What an engine keeps from step to step is what it would make anew. */
static void compare_kept(void *self, const struct turn *turn)
{
	const struct replica *r = self;
	const char *differs = engine_differs(r->control.engine);
	(void)turn;
	if (differs != NULL) {
		sim_fail(r->sim, "kept", "%s", differs);
	}
}

static int64_t compare_kept_at(const void *self, const struct turn *turn)
{
	(void)self;
	(void)turn;
	return TIME_NEVER;
}

static const struct part kept_compared = {compare_kept, compare_kept_at, NULL};

/* --- a turn --- */

static void leave_when_released(struct replica *r, int64_t now)
{
	if (r->leaving && (election_is_released(r->control.election) || now >= r->leave_by)) {
		r->doomed = true;
	}
}

static void replica_turn(void *data, uint64_t id)
{
	struct slot *slot = data;
	struct replica *r = slot->replica;
	if (r == NULL || r->turn_id != id) {
		return;
	}
	int64_t now = sim_now(r->sim);
	r->turn_at = TIME_NEVER;
	if (now < slot->paused_until) {
		replica_wake(r, slot->paused_until);
		return;
	}
	int64_t at = control_turn(&r->control, now);
	leave_when_released(r, now);
	if (r->doomed) {
		sim_trace(r->sim, "r%d is gone", r->index);
		slot->replica = NULL;
		replica_destroy(r);
		return;
	}
	replica_wake(r, at);
}

void replica_wake(struct replica *r, int64_t at)
{
	if (r == NULL || at >= r->turn_at || at == TIME_NEVER) {
		return;
	}
	r->turn_at = at > sim_now(r->sim) ? at : sim_now(r->sim);
	/* Unique over incarnations, so that a dead one's turns are nobody's. */
	r->turn_id = ++r->sim->next_call;
	agenda_add(&r->sim->agenda, r->turn_at, replica_turn, &r->sim->slots[r->index], r->turn_id);
}

/* --- life --- */

static void begin_control(struct replica *r)
{
	struct sim *s = r->sim;
	const struct control_config config = {.kube = r->kube,
		.clock = &r->clock,
		.lease = {.ns = NAME_NAMESPACE,
			.name = NAME_CONTROLLER,
			.term = hooks_of(r)->lease_alone ? NULL : NAME_TERM,
			.identity = r->identity},
		.act = {.image = "aliquot", .owner_uid = "uid-of-the-configmap"},
		.engine = {.idle_grace_ms = s->idle_grace_ms,
			.open_timeout_ms = s->open_timeout_ms,
			.lost_ms = s->lost_ms,
			.held_ms = s->held_ms,
			.patience_ms = hooks_of(r)->patience_ms > 0 ? hooks_of(r)->patience_ms
								    : s->patience_ms,
			.injection =
				s->weather.probed && !hooks_of(r)->assumes_env ? "probe" : "env",
			.partial_ms = hooks_of(r)->partial_ms,
			.check_every = CHECK_EVERY},
		.budget = s->budget};
	const struct control_port port = {.data = r,
		.seed = replica_seed,
		.wake = on_replica_wake,
		.on_leader = on_replica_leadership,
		.on_change = on_replica_change,
		.on_action = on_replica_action,
		/* Where everyone leads there is no term, and no fence: the books must hold alone.
		 */
		.act = {.on_outcome = on_replica_outcome,
			.write_ms = replica_write_ms,
			.term = sim_everyone_leads(s) ? NULL : replica_term}};
	const struct rightsizing_config sizing = {.sizer = {.round_ms = SIZER_ROUND_MS},
		.measure = &steady_use_part,
		.measure_self = &r->use};
	control_init(&r->control, &config, &port);
	control_reach(&r->control, true, NULL, 0);
	r->use = (struct steady_use){.sim = s, .control = &r->control};
	parts_add(&r->control.parts, &agents_told, r);
	parts_add(&r->control.parts, &kept_compared, r);
	parts_add(&r->control.parts, &webhook_looked_at, s->weather.rolled ? r : NULL);
	control_begin(&r->control, s->weather.rolled ? &sizing : NULL);
}

struct replica *replica_create(struct sim *s, int index)
{
	struct replica *r = xcalloc(1, sizeof *r);
	r->clock = (struct clock){.mono_ms = replica_mono, .wall_ms = replica_wall};
	r->sim = s;
	r->index = index;
	r->turn_at = TIME_NEVER;
	snprintf(r->identity, sizeof r->identity, "r%d-%d", index, ++s->slots[index].incarnation);
	struct dice back = dice_enter(s, dice_key("process", r->identity, 0));
	r->cred = kube_cred_create_plain("https://api", NULL, &r->clock);
	r->kube = kube_create(&s->slots[index].link.wire, r->cred, &r->clock, NULL);
	begin_control(r);
	dice_leave(s, back);
	states_use(r->control.states, &s->slots[index].link.wire);
	past_forget(s, index);
	s->slots[index].leads = false;
	if (sim_everyone_leads(s)) {
		on_replica_leadership(r, true);
	}
	s->slots[index].replica = r;
	replica_wake(r, sim_now(s));
	return r;
}

void replica_destroy(struct replica *r)
{
	if (r == NULL) {
		return;
	}
	control_finish(&r->control);
	kube_destroy(r->kube);
	kube_cred_destroy(r->cred);
	free(r);
}

void replica_doom(struct replica *r)
{
	r->doomed = true;
	r->sim->report->crashes++;
	replica_wake(r, sim_now(r->sim));
}

bool replica_doomed(const struct replica *r)
{
	return r->doomed && !r->leaving;
}

void replica_leave(struct replica *r)
{
	r->leaving = true;
	r->leave_by = sim_now(r->sim) + RELEASE_MS;
	election_release(r->control.election);
	replica_wake(r, sim_now(r->sim));
}

void replica_jump(struct replica *r, int64_t off_ms)
{
	r->wall_offset_ms = off_ms;
}

void replica_tell(struct replica *r, const struct change *c)
{
	(void)control_observe(&r->control, c);
	replica_wake(r, sim_now(r->sim));
}

const struct control *replica_control(const struct replica *r)
{
	return &r->control;
}
