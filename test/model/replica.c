/* One controller process: the shipped parts, wired and stepped as app/controller.c does it, without
 * the webhook, its certificates and the errands. */
#include "replica.h"

#include <stdio.h>
#include <stdlib.h>

#include "act/act.h"
#include "check_memory.h"
#include "engine/engine.h"
#include "isolation_rules.h"
#include "kube/election.h"
#include "kube/events.h"
#include "kube/feeds.h"
#include "meter/states.h"
#include "model/names.h"
#include "sizing.h"
#include "trace.h"
#include "works.h"

#define STEP_EVERY_MS	10
#define RELEASE_MS	3000
#define FOLLOW_EVERY_MS 500

struct replica {
	struct clock clock; /* first: the port finds us through it */
	struct sim *sim;    /* borrowed */
	int index;
	char identity[32];
	int64_t wall_offset_ms;
	struct kube_cred *cred; /* owned, like all below */
	struct kube *kube;
	struct events *events;
	struct election *election;
	struct act *act;
	struct engine *engine;
	struct feeds *feeds;
	struct states *states;
	struct rightsizer sizing; /* where Deployments are rightsized */
	int64_t follow_at;
	struct plan plan;
	int64_t stepped_at;
	int64_t turn_at; /* the next turn on the agenda */
	uint64_t turn_id;
	bool doomed, leaving;
	int64_t leave_by;
	bool told_loss;
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

static struct engine_now replica_now(const struct replica *r)
{
	return (struct engine_now){clock_mono(&r->clock), clock_policy(&r->clock)};
}

/* --- what the parts tell each other --- */

static void replica_observe(void *data, const struct change *c)
{
	struct replica *r = data;
	(void)(c->kind >= KIND_ENGINE ? sizing_observe(&r->sizing, c)
				      : engine_observe(r->engine, c));
}

static void forget_assumptions(struct replica *r)
{
	struct change term = {.type = CHANGE_LEADER, .leads = false};
	if (r->sim->slots[r->index].leads) {
		engine_observe(r->engine, &term);
		term.leads = true;
		engine_observe(r->engine, &term);
	}
}

static bool on_replica_change(void *data, const struct change *c)
{
	struct replica *r = data;
	if (c->kind == KIND_RECOMMENDATION && hooks_of(r)->change != NULL) {
		struct change told = *c;
		hooks_of(r)->change(&told, replica_observe, r);
		return true;
	}
	if (c->kind >= KIND_ENGINE) {
		return sizing_observe(&r->sizing, c);
	}
	modes_told(r->sim, r->index, c);
	if (hooks_of(r)->forgets_at_relist && c->type == CHANGE_RELIST_END) {
		bool goes_on = engine_observe(r->engine, c);
		forget_assumptions(r);
		return goes_on;
	}
	if (hooks_of(r)->change == NULL) {
		return engine_observe(r->engine, c);
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
			engine_observe(r->engine, &told);
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
	struct change change = {.type = CHANGE_LEADER, .leads = leads};
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
		engine_observe(r->engine, &change);
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
	if (act_was_fenced(action, &told.fault)) {
		election_doubt(r->election);
	}
	if (!sizing_settle(&r->sizing, action, &told)) {
		engine_settle(r->engine, replica_now(r), action->id, &told);
	}
}

static int64_t replica_write_ms(void *data)
{
	struct replica *r = data;
	return keeps_leading(r) ? ACT_TIMEOUT_MS
				: election_write_ms(r->election, clock_mono(&r->clock));
}

static int64_t replica_term(void *data)
{
	const struct replica *r = data;
	return election_term(r->election);
}

/* --- agents, as app/agent_states.c does it; they are where their machines are --- */

static void tell_agents(struct replica *r)
{
	struct pair label = {LABEL_AGENT, "true"};
	vec_for_each (const struct machine, m, &r->sim->fleet.machines) {
		struct pod agent = {.ns = NAME_NAMESPACE,
			.name = m->name,
			.labels = {&label, 1},
			.phase = POD_RUNNING,
			.node = m->name,
			.address = m->name,
			.port = 1};
		struct change c = {.type = CHANGE_SET, .kind = KIND_POD, .pod = &agent};
		states_observe(r->states, &c);
	}
}

static void follow_states(struct replica *r, int64_t now)
{
	const struct world *w = engine_world(r->engine);
	if (now < r->follow_at) {
		return;
	}
	r->follow_at = now + FOLLOW_EVERY_MS;
	tell_agents(r);
	states_want_begin(r->states);
	for (uint32_t i = 0; i < world_node_slots(w); i++) {
		if (engine_wants_state(r->engine, i)) {
			states_want(r->states, world_node_at(w, i)->name);
		}
	}
	states_want_end(r->states);
}

static void read_agents(struct replica *r, int64_t now)
{
	if (election_leads(r->election)) {
		follow_states(r, now);
		states_step(r->states, now, true);
	}
}

/* --- a turn --- */

static void replica_decide(struct replica *r, int64_t now)
{
	if (now - r->stepped_at < STEP_EVERY_MS) {
		replica_wake(r, r->stepped_at + STEP_EVERY_MS);
		return;
	}
	r->stepped_at = now;
	engine_step(r->engine, replica_now(r), r->sim->budget, &r->plan);
	for (size_t i = 0; i < r->plan.actions.count; i++) {
		const struct action *a = &r->plan.actions.items[i];
		sim_trace(r->sim, "r%d: action %llu: %s %s/%s", r->index, (unsigned long long)a->id,
			action_type_name(a->type), text_or(a->ns, ""), text_or(a->name, ""));
		claim_intended(r->sim, r->index, a);
		memory_intended(r->sim, r->index, a);
		act_submit(r->act, a);
	}
}

static int64_t deadline(struct replica *r)
{
	int64_t at = engine_next_deadline(r->engine);
	at = time_min(at, election_deadline(r->election));
	at = time_min(at, feeds_deadline(r->feeds));
	at = time_min(at, act_deadline(r->act));
	at = time_min(at, sizing_deadline(&r->sizing, election_leads(r->election)));
	if (election_leads(r->election)) {
		at = time_min(at, time_min(r->follow_at, states_deadline(r->states, true)));
	}
	return time_min(at, events_deadline(r->events));
}

static void leave_when_released(struct replica *r, int64_t now)
{
	if (r->leaving && (election_is_released(r->election) || now >= r->leave_by)) {
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
	election_step(r->election, now);
	feeds_step(r->feeds, now);
	read_agents(r, now);
	sizing_step(&r->sizing, now, election_leads(r->election));
	replica_decide(r, now);
	act_step(r->act, now);
	events_step(r->events, now);
	leave_when_released(r, now);
	if (r->doomed) {
		sim_trace(r->sim, "r%d is gone", r->index);
		slot->replica = NULL;
		replica_destroy(r);
		return;
	}
	int64_t at = deadline(r);
	replica_wake(r, at > now + STEP_EVERY_MS ? at : now + STEP_EVERY_MS);
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

struct replica *replica_create(struct sim *s, int index)
{
	struct replica *r = xcalloc(1, sizeof *r);
	r->clock = (struct clock){.mono_ms = replica_mono, .wall_ms = replica_wall};
	r->sim = s;
	r->index = index;
	r->turn_at = TIME_NEVER;
	r->stepped_at = -STEP_EVERY_MS;
	snprintf(r->identity, sizeof r->identity, "r%d-%d", index, ++s->slots[index].incarnation);
	struct election_config lease = {.ns = NAME_NAMESPACE,
		.name = NAME_CONTROLLER,
		.term = hooks_of(r)->lease_alone ? NULL : NAME_TERM,
		.identity = r->identity};
	struct act_config act = {.image = "aliquot", .owner_uid = "uid-of-the-configmap"};
	/* Where everyone leads there is no term, and no fence: the books must hold alone. */
	struct act_events outcomes = {.on_outcome = on_replica_outcome,
		.write_ms = replica_write_ms,
		.term = sim_everyone_leads(s) ? NULL : replica_term};
	struct engine_config engine = {.idle_grace_ms = s->idle_grace_ms,
		.open_timeout_ms = s->open_timeout_ms,
		.lost_ms = s->lost_ms,
		.held_ms = s->held_ms,
		.patience_ms =
			hooks_of(r)->patience_ms > 0 ? hooks_of(r)->patience_ms : s->patience_ms,
		.injection = s->weather.probed && !hooks_of(r)->assumes_env ? "probe" : "env",
		.partial_ms = hooks_of(r)->partial_ms};
	struct dice back = dice_enter(s, dice_key("process", r->identity, 0));
	r->cred = kube_cred_create_plain("https://api", NULL, &r->clock);
	r->kube = kube_create(&s->slots[index].link.wire, r->cred, &r->clock, NULL);
	r->events =
		events_create(r->kube, "aliquot.dev/controller", r->identity, rng_next(&s->rng));
	r->election = election_create(r->kube, &lease, on_replica_leadership, r);
	r->act = act_create(r->kube, r->events, &act, &outcomes, r);
	r->engine = engine_create(&engine, rng_next(&s->rng));
	engine_observe(r->engine, &(struct change){.type = CHANGE_REACH, .reached = true});
	r->feeds = feeds_create(r->kube, rng_next(&s->rng), on_replica_change, r);
	struct states_config states = {.clock = &r->clock,
		.seed = rng_next(&s->rng),
		.tell = on_replica_change,
		.data = r};
	r->states = states_create(&states);
	states_use(r->states, &s->slots[index].link.wire);
	dice_leave(s, back);
	r->sizing = (struct rightsizer){.sim = s,
		.clock = &r->clock,
		.engine = r->engine,
		.act = r->act,
		.feeds = r->feeds,
		.index = index};
	if (s->weather.rolled) {
		sizing_begin(&r->sizing);
	}
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
	feeds_destroy(r->feeds);
	states_destroy(r->states);
	sizing_finish(&r->sizing);
	act_destroy(r->act);
	election_destroy(r->election);
	events_destroy(r->events);
	engine_destroy(r->engine);
	kube_destroy(r->kube);
	kube_cred_destroy(r->cred);
	plan_finish(&r->plan);
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
	election_release(r->election);
	replica_wake(r, sim_now(r->sim));
}

void replica_jump(struct replica *r, int64_t wall_ms)
{
	r->wall_offset_ms += wall_ms;
}

void replica_tell(struct replica *r, const struct change *c)
{
	(void)engine_observe(r->engine, c);
	replica_wake(r, sim_now(r->sim));
}

const struct world *replica_world(const struct replica *r)
{
	return engine_world(r->engine);
}

const struct rightsizer *replica_sizing(const struct replica *r)
{
	return &r->sizing;
}
