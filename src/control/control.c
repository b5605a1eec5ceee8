/* One turn of the controller: which part hears of each change and of each outcome, and the parts
 * that every turn runs, in their order (control.h lists them). */
#include "control/control.h"

#include "base/log.h"
#include "base/number.h"
#include "own/heard.h"
#include "sizer/recommendation_watch.h"
#include "world/nodes.h"

/* Changes gather for this long before the engine looks at them: a burst becomes one plan. */
#define STEP_EVERY_MS 10
/* And so many times as long as the last step took: a burst in a large cluster is many outcomes,
 * each of which asks for another step, and what they would cost is taken from who has to answer our
 * writes. But nobody who is new waits for longer than this. */
#define STEP_REST_TIMES	 8
#define STEP_REST_MAX_MS 100
/* What is decided while so many writes wait would only wait behind them, and the step takes its
 * time from those that answer them. */
#define STEP_BUSY_TIMES	 32
#define STEP_BUSY_MAX_MS 250
#define AGENTS_EVERY_MS	 500

/* --- what is heard --- */

bool control_observe(struct control *c, const struct change *change)
{
	if (change->kind == KIND_RECOMMENDATION) {
		return advice_apply(c->advice, change) &&
		       (c->rightsizing == NULL ||
			       sizer_observe(rightsizing_sizer(c->rightsizing), change));
	}
	if (change->kind == KIND_GROUP) {
		return groups_apply(c->groups, change);
	}
	if (change->kind == KIND_SCALER || change->kind == KIND_SCALED_OBJECT ||
		change->kind == KIND_BUDGET) {
		return around_apply(c->around, change);
	}
	if (change->kind == KIND_POD_GROUP) {
		podgroups_apply(c->pod_groups, change);
		return true;
	}
	bool taken = engine_observe(c->engine, change);
	if (c->rightsizing != NULL) {
		rightsizing_look(c->rightsizing, change);
	}
	return taken;
}

/* Events of devices stand in the annotations of the Lease, for whoever leads next. */

_Static_assert(HEARD_TEXT_MAX <= ELECTION_HEARD_MAX, "what is written can be kept");

static void recall_device_events(struct control *c)
{
	const char *text = election_heard(c->election);
	struct heard list[HEARD_MAX];
	size_t count = 0;
	struct fault f = {0};
	CLEANUP(arena_finish) struct arena arena = {.block_bytes = 1024};
	if (*text == '\0') {
		return;
	}
	if (heard_decode(text, &arena, list, &count, &f) < 0) {
		log_warn("what the lease says of devices cannot be used", LOG_F(&f));
		return;
	}
	for (size_t i = 0; i < count; i++) {
		struct change change = {.type = CHANGE_HEARD, .heard = &list[i]};
		(void)engine_observe(c->engine, &change);
		log_info("a former leader heard of a device", LOG_S("uuid", list[i].uuid),
			LOG_S("node", list[i].node), LOG_S("why", list[i].why));
	}
}

static void keep_device_events(struct control *c)
{
	struct heard list[HEARD_MAX];
	size_t count = engine_heard(c->engine, list, HEARD_MAX);
	CLEANUP(str_finish) struct str text = STR_INIT(ELECTION_HEARD_MAX - 1);
	heard_write(&text, list, count);
	election_keep(c->election, str_text(&text));
}

void control_lead(struct control *c, bool leads)
{
	struct change change = {.type = CHANGE_LEADER, .leads = leads};
	(void)engine_observe(c->engine, &change);
	if (leads && c->config.keeps_events) {
		recall_device_events(c);
	}
}

void control_reach(struct control *c, bool reached, const char *refused_by, int64_t seen_mono_ms)
{
	struct change change = {
		.type = CHANGE_REACH, .reached = reached, .unsure = refused_by != NULL};
	if (change.reached != c->told_reached || change.unsure != c->told_unsure) {
		c->told_reached = change.reached;
		c->told_unsure = change.unsure;
		(void)engine_observe(c->engine, &change);
	}
	election_tell_refusal(c->election, refused_by);
	if (c->rightsizing != NULL) {
		rightsizing_reach(c->rightsizing, reached, seen_mono_ms);
	}
}

static struct engine_now control_now(const struct control *c)
{
	return (struct engine_now){clock_mono(c->config.clock), clock_policy(c->config.clock)};
}

void control_settle(struct control *c, const struct action *action, const struct outcome *outcome)
{
	if (act_was_fenced(action, &outcome->fault)) {
		log_warn("the API server says that the lease is in a later term: it is read again",
			LOG_I("term", election_term(c->election)), LOG_S("name", action->name));
		election_doubt(c->election);
	}
	if (!sizer_owns(action->id)) {
		engine_settle(c->engine, control_now(c), action->id, outcome);
	} else if (c->rightsizing != NULL) {
		rightsizing_settle(c->rightsizing, action, outcome);
	}
}

/* --- between the parts --- */

static void submit_action(void *data, struct action *action)
{
	struct control *c = data;
	c->port.on_action(c->port.data, action);
	act_submit(c->act, action);
}

static bool observe_in_engine(void *data, const struct change *change)
{
	struct control *c = data;
	return engine_observe(c->engine, change);
}

static void resize_status(void *data, const char *uid, struct share_fate *ret)
{
	const struct control *c = data;
	engine_share_fate(c->engine, uid, ret);
}

static bool is_evicting(void *data, const char *uid)
{
	const struct control *c = data;
	return engine_evicts(c->engine, uid);
}

/* --- the parts --- */

static void watch_step(void *self, const struct turn *turn)
{
	struct control *c = self;
	election_step(c->election, turn->now);
	c->turn.leads = election_leads(c->election);
	feeds_step(c->feeds, turn->now);
}

static int64_t watch_deadline(const void *self, const struct turn *turn)
{
	const struct control *c = self;
	(void)turn;
	return time_min(election_deadline(c->election), feeds_deadline(c->feeds));
}

static void follow_nodes(struct control *c)
{
	const struct world *w = engine_world(c->engine);
	states_want_begin(c->states);
	for (uint32_t i = 0; i < world_node_slots(w); i++) {
		if (engine_wants_state(c->engine, i)) {
			states_want(c->states, world_node_at(w, i)->name);
		}
	}
	states_want_end(c->states);
}

static void read_agents_step(void *self, const struct turn *turn)
{
	struct control *c = self;
	if (!turn->leads) {
		return;
	}
	if (turn->now >= c->agents_at) {
		c->agents_at = turn->now + AGENTS_EVERY_MS;
		follow_nodes(c);
	}
	states_step(c->states, turn->now, true);
}

static int64_t read_agents_deadline(const void *self, const struct turn *turn)
{
	const struct control *c = self;
	return turn->leads ? time_min(c->agents_at, states_deadline(c->states, true)) : TIME_NEVER;
}

static int64_t stopwatch_us(const struct control *c)
{
	return c->config.stopwatch != NULL ? c->config.stopwatch() : 0;
}

static void decide_step(void *self, const struct turn *turn)
{
	struct control *c = self;
	if (turn->now < c->step_at) {
		c->port.wake(c->port.data, c->step_at);
		return;
	}
	int64_t began = stopwatch_us(c);
	engine_step(c->engine, control_now(c), c->config.budget, &c->plan);
	if (c->config.keeps_events) {
		keep_device_events(c);
	}
	int64_t took = stopwatch_us(c) - began;
	if (c->config.stopwatch != NULL) {
		metric_observe_us(metric_get(kube_metrics(c->config.kube), METRIC_HISTOGRAM,
					  "aliquot_engine_step_seconds",
					  "Time of one step of the engine.", NULL),
			took);
	}
	for (size_t i = 0; i < c->plan.actions.count; i++) {
		submit_action(c, &c->plan.actions.items[i]);
	}
	bool busy = act_is_busy(c->act);
	int64_t rest = took * (busy ? STEP_BUSY_TIMES : STEP_REST_TIMES) / 1000;
	rest = time_min(rest, busy ? STEP_BUSY_MAX_MS : STEP_REST_MAX_MS);
	c->step_at = turn->now + larger_of(rest, STEP_EVERY_MS);
}

static int64_t decide_deadline(const void *self, const struct turn *turn)
{
	const struct control *c = self;
	(void)turn;
	return engine_next_deadline(c->engine);
}

static void write_step(void *self, const struct turn *turn)
{
	struct control *c = self;
	act_step(c->act, turn->now);
	events_step(c->events, turn->now);
}

static int64_t write_deadline(const void *self, const struct turn *turn)
{
	const struct control *c = self;
	(void)turn;
	return time_min(act_deadline(c->act), events_deadline(c->events));
}

/* They are all of one piece, which control_finish takes apart. */
static const struct part watching = {watch_step, watch_deadline, NULL};
static const struct part agents = {read_agents_step, read_agents_deadline, NULL};
static const struct part deciding = {decide_step, decide_deadline, NULL};
static const struct part writing = {write_step, write_deadline, NULL};

/* --- life --- */

void control_init(
	struct control *c, const struct control_config *config, const struct control_port *port)
{
	struct kube *kube = config->kube;
	*c = (struct control){.config = *config, .port = *port};
	c->events = events_create(
		kube, "aliquot.dev/controller", config->lease.identity, port->seed(port->data));
	c->election = election_create(kube, &config->lease, port->on_leader, port->data);
	c->act = act_create(kube, c->events, &config->act, &port->act, port->data);
	c->engine = engine_create(&config->engine, port->seed(port->data));
	c->advice = advice_create();
	c->groups = groups_create();
	c->around = around_create();
	c->pod_groups = podgroups_create();
	c->feeds = feeds_create(kube, port->seed(port->data), port->on_change, port->data);
	struct states_config states = {.clock = config->clock,
		.metrics = kube_metrics(kube),
		.seed = port->seed(port->data),
		.own_keys = config->own_keys,
		.agent_ns = config->agent_ns,
		.tell = port->on_change,
		.data = port->data};
	c->states = states_create(&states);
	parts_add(&c->parts, &watching, c);
}

void control_begin(struct control *c, const struct rightsizing_config *sizing)
{
	const struct rightsizing_port port = {.kube = c->config.kube,
		.clock = c->config.clock,
		.world = engine_world(c->engine),
		.feeds = c->feeds,
		.data = c,
		.observe = observe_in_engine,
		.submit = submit_action};
	parts_add(&c->last, &agents, c);
	if (sizing != NULL) {
		struct rightsizing_config config = *sizing;
		config.sizer.groups = c->groups;
		config.sizer.around = c->around;
		config.sizer.pod_groups = c->pod_groups;
		config.sizer.engine = (struct sizer_port){c, resize_status, is_evicting};
		c->rightsizing =
			parts_add(&c->last, &rightsizing_part, rightsizing_create(&config, &port));
	}
	parts_add(&c->last, &deciding, c);
	parts_add(&c->last, &writing, c);
}

void control_finish(struct control *c)
{
	feeds_destroy(c->feeds);
	states_destroy(c->states);
	parts_finish(&c->last);
	parts_finish(&c->parts);
	act_destroy(c->act);
	election_destroy(c->election);
	events_destroy(c->events);
	engine_destroy(c->engine);
	advice_destroy(c->advice);
	groups_destroy(c->groups);
	around_destroy(c->around);
	podgroups_destroy(c->pod_groups);
	plan_finish(&c->plan);
}

/* --- turns --- */

int64_t control_turn(struct control *c, int64_t now)
{
	c->turn = (struct turn){now, control_leads(c)};
	parts_step(&c->parts, &c->turn);
	parts_step(&c->last, &c->turn);
	int64_t at =
		time_min(parts_deadline(&c->parts, &c->turn), parts_deadline(&c->last, &c->turn));
	/* What is due now was just looked at; never spin faster than the engine's own pace. */
	return at > now + STEP_EVERY_MS ? at : now + STEP_EVERY_MS;
}

bool control_leads(const struct control *c)
{
	return election_leads(c->election);
}

int64_t control_write_ms(const struct control *c)
{
	return election_write_ms(c->election, clock_mono(c->config.clock));
}
