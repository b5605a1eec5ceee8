/* The storyline: make the parts, then turn after turn let each take its step, then leave in good
 * order.
 *
 *     watches -> engine.observe          (kube/feeds.c)
 *     volumes of those who wait -> engine.observe   (volumes.c)
 *     agents of nodes with tenants -> engine.observe   (agent_states.c)
 *     use of pods with a GPU             (usages.c)
 *     recommendations, groups -> what admission needs of them
 *     who scales workloads, disruption budgets -> what the sizer needs of them   (around)
 *     use -> sizer.step -> plan -> act   (sizes.c)
 *     engine.step -> plan -> act         (turn, below)
 *     act -> outcome -> engine.settle
 *     admission -> hook                  (routes.c), with what the world knows */
#include "controller.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "admission.h"
#include "base/log.h"
#include "base/rand.h"
#include "ending.h"
#include "errands.h"
#include "heards.h"
#include "kube/file.h"
#include "model/names.h"
#include "model/refusal.h"
#include "routes.h"
#include "sizer_metrics.h"

/* Units of work of one engine step, about half a millisecond on a slow core. */
#define STEP_BUDGET 4000
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
/* The journal in memory is the largest page. */
#define DEBUG_REPLY_BYTES ((size_t)72 << 20)
/* Probes, and whoever reads metrics. */
#define PAGES_CONNECTIONS 64

static bool on_watch_change(void *data, const struct change *change)
{
	struct controller *c = data;
	if (change->kind == KIND_RECOMMENDATION) {
		return advice_apply(c->advice, change) && sizes_observe(c->sizes, change);
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
	unseen_observe(&c->unseen, change, clock_mono(c->clock));
	agents_observe(c->agents, change);
	usages_observe(c->usages, change);
	bool taken = engine_observe(c->engine, change);
	sizes_look(c->sizes, change);
	return taken;
}

static bool on_node_state(void *data, const struct change *change)
{
	struct controller *c = data;
	return engine_observe(c->engine, change);
}

static void on_fate(void *data, const char *uid, struct share_fate *ret)
{
	const struct controller *c = data;
	engine_share_fate(c->engine, uid, ret);
}

static bool on_evicts(void *data, const char *uid)
{
	struct controller *c = data;
	return engine_evicts(c->engine, uid);
}

static struct engine_now controller_now(const struct controller *c)
{
	return (struct engine_now){clock_mono(c->clock), clock_policy(c->clock)};
}

static void on_leader_change(void *data, bool leads)
{
	struct controller *c = data;
	struct change change = {.type = CHANGE_LEADER, .leads = leads};
	log_info(leads ? "leading" : "not leading any more", LOG_S("identity", c->identity));
	engine_observe(c->engine, &change);
	if (leads) {
		heards_recall(c->engine, c->election);
	}
}

static void on_write_outcome(void *data, const struct action *action, const struct outcome *outcome)
{
	struct controller *c = data;
	if (outcome->fault.kind != FAULT_NONE) {
		log_info("a write did not succeed", LOG_S("action", action_name(action)),
			LOG_S("ns", action->ns), LOG_S("name", action->name),
			LOG_I("id", action->id), LOG_F(&outcome->fault),
			LOG_I("unknown", outcome->fault.unknown_outcome));
	}
	char policy[REFUSAL_NAME_MAX];
	bool fenced = act_was_fenced(action, &outcome->fault);
	if (!fenced && refusal_by_policy(outcome->fault.message, policy)) {
		log_warn("an admission policy refuses what we write",
			LOG_S("action", action_name(action)), LOG_S("name", action->name),
			LOG_S("policy", policy));
	}
	if (fenced) {
		log_warn("the API server says that the lease is in a later term: it is read again",
			LOG_I("term", election_term(c->election)), LOG_S("name", action->name));
		election_doubt(c->election);
	}
	if (!sizes_settle(c->sizes, action, outcome)) {
		engine_settle(c->engine, controller_now(c), action->id, outcome);
	}
}

static int64_t leader_write_ms(void *data)
{
	struct controller *c = data;
	return election_write_ms(c->election, clock_mono(c->clock));
}

static int64_t leader_term(void *data)
{
	const struct controller *c = data;
	return election_term(c->election);
}

static bool leads(void *data)
{
	const struct controller *c = data;
	return election_leads(c->election);
}

/* What is evicted must come back through the webhook (C3). */
static void tell_reach(struct controller *c)
{
	struct change change = {.type = CHANGE_REACH,
		.reached = canary_reached(c->canary),
		.unsure = canary_refused_by(c->canary) != NULL};
	if (change.reached != c->told_reached || change.unsure != c->told_unsure) {
		c->told_reached = change.reached;
		c->told_unsure = change.unsure;
		engine_observe(c->engine, &change);
	}
}

/* --- the webhook's server: it exists from the first certificate on --- */

static void on_new_identity(void *data, const struct tls_identity *identity)
{
	struct controller *c = data;
	struct fault f;
	if (c->webhook != NULL) {
		if (server_set_tls(c->webhook, identity, &f) < 0) {
			log_error("the new certificate cannot be served", LOG_F(&f));
		}
		return;
	}
	CLEANUP(cleanup_free) char *client_ca = NULL;
	struct server_config config = {.name = "admission",
		.listen = c->options.webhook_listen,
		.tls = identity,
		.metrics = c->metrics};
	if (text_empty(c->options.webhook_client_ca) ||
		file_read(c->options.webhook_client_ca, TLS_PEM_MAX, &client_ca, &f) == 0) {
		config.client_ca = client_ca;
		c->webhook = server_create(c->loop, &config, &f);
	}
	if (c->webhook == NULL) {
		log_error("the webhook cannot listen", LOG_S("address", c->options.webhook_listen),
			LOG_F(&f));
		c->failed = true;
		loop_stop(c->loop);
		return;
	}
	routes_add_webhook(c);
	log_info("serving admission", LOG_I("port", server_port(c->webhook)));
}

/* --- one turn --- */

static int64_t rest_after(const struct controller *c, int64_t step_us)
{
	bool busy = act_is_busy(c->act);
	int64_t rest = step_us * (busy ? STEP_BUSY_TIMES : STEP_REST_TIMES) / 1000;
	rest = time_min(rest, busy ? STEP_BUSY_MAX_MS : STEP_REST_MAX_MS);
	return rest > STEP_EVERY_MS ? rest : STEP_EVERY_MS;
}

static void decide_if_due(struct controller *c, int64_t now)
{
	if (now < c->step_at) {
		loop_wake_at(c->loop, c->step_at);
		return;
	}
	int64_t began = clock_mono_us();
	engine_step(c->engine, controller_now(c), STEP_BUDGET, &c->plan);
	heards_keep(c->engine, c->election);
	int64_t took = clock_mono_us() - began;
	metric_observe_us(metric_get(c->metrics, METRIC_HISTOGRAM, "aliquot_engine_step_seconds",
				  "Time of one step of the engine.", NULL),
		took);
	for (size_t i = 0; i < c->plan.actions.count; i++) {
		struct action *a = &c->plan.actions.items[i];
		if (a->type == ACTION_CREATE_CAPACITY && a->claim == NULL) {
			a->runtime_class = c->runtime_class;
		}
		if (a->type == ACTION_EVENT && a->warning) {
			log_warn("told", LOG_S("reason", a->event_reason), LOG_S("ns", a->ns),
				LOG_S("name", a->name), LOG_S("message", a->message));
		}
		log_debug("acting", LOG_S("action", action_name(a)), LOG_S("name", a->name),
			LOG_I("id", a->id));
		act_submit(c->act, a);
	}
	c->step_at = now + rest_after(c, took);
}

static void on_controller_turn(void *data)
{
	struct controller *c = data;
	ahead_look(&c->own_clock);
	int64_t now = clock_mono(c->clock);
	link_step(c->link, now);
	election_step(c->election, now);
	feeds_step(c->feeds, now);
	unseen_look(
		&c->unseen, election_version(c->election), feeds_version(c->feeds, KIND_POD), now);
	volumes_step(c->volumes, now, election_leads(c->election));
	errands_step(c, now);
	certs_step(c->certs, now);
	signer_step(c->signer, now, election_leads(c->election));
	agents_step(c->agents, now, election_leads(c->election));
	usages_step(c->usages, now, election_leads(c->election));
	sizes_step(c->sizes, now, election_leads(c->election));
	follow_step(&c->follow, now);
	owners_step(c->owners, now);
	zones_step(c->zones, now, election_leads(c->election));
	group_status_step(c->group_status, now, election_leads(c->election));
	canary_set_image(c->canary, c->image);
	canary_step(c->canary, now,
		election_leads(c->election) && certs_published(c->certs) && c->webhook != NULL);
	tell_reach(c);
	election_tell_refusal(c->election, canary_refused_by(c->canary));
	sizes_reach(c->sizes, canary_reached(c->canary), canary_seen(c->canary));
	access_step(c->access, now, election_leads(c->election));
	sizes_may_surge(c->sizes, access_surge(c->access));
	gate_step(&c->gate, now);
	recorder_step(c->recorder, now);
	log_flush(clock_wall(&clock_system));
	decide_if_due(c, now);
	act_step(c->act, now);
	events_step(c->events, now);
	ending_step(c, now);
	int64_t at = engine_next_deadline(c->engine);
	at = time_min(at, link_deadline(c->link));
	at = time_min(at, election_deadline(c->election));
	at = time_min(at, feeds_deadline(c->feeds));
	at = time_min(at, errands_deadline(c));
	at = time_min(at, volumes_deadline(c->volumes, election_leads(c->election)));
	at = time_min(at, certs_deadline(c->certs));
	at = time_min(at, signer_deadline(c->signer, election_leads(c->election)));
	at = time_min(at, agents_deadline(c->agents, election_leads(c->election)));
	at = time_min(at, usages_deadline(c->usages, election_leads(c->election)));
	at = time_min(at, sizes_deadline(c->sizes, election_leads(c->election)));
	at = time_min(at, follow_deadline(&c->follow));
	at = time_min(at, owners_deadline(c->owners));
	at = time_min(at, zones_deadline(c->zones));
	at = time_min(at, group_status_deadline(c->group_status, election_leads(c->election)));
	at = time_min(at, act_deadline(c->act));
	at = time_min(at, events_deadline(c->events));
	at = time_min(at, gate_deadline(&c->gate));
	at = time_min(at, canary_deadline(c->canary));
	at = time_min(at, access_deadline(c->access));
	at = time_min(at, ending_deadline(c));
	/* What is due now was just looked at; never spin faster than the engine's own pace. */
	loop_wake_at(c->loop, at > now + STEP_EVERY_MS ? at : now + STEP_EVERY_MS);
}

/* --- the beginning --- */

static void split_schedulers(struct controller *c)
{
	struct view rest = view_of(c->options.schedulers), part;
	while (c->scheduler_count < COUNT_OF(c->scheduler_list) && view_next(&rest, ',', &part)) {
		part = view_trim(part);
		if (part.n > 0) {
			c->scheduler_list[c->scheduler_count++] =
				arena_strndup(&c->options.arena, part.p, part.n);
		}
	}
}

static struct wire *through_crash(void *data, struct wire *inner)
{
	struct controller *c = data;
	c->crash = crash_create(inner);
	return crash_wire(c->crash, inner);
}

static int make_connection(struct controller *c, struct fault *f)
{
	struct link_config config = {.loop = c->loop,
		.clock = c->clock,
		.metrics = c->metrics,
		.kubeconfig = c->options.kubeconfig,
		.context = c->options.context,
		.user_agent = NAME_FIELD_MANAGER "/" ALIQUOT_VERSION,
		.wrap = through_crash,
		.data = c};
	c->link = link_create(&config, f);
	if (c->link == NULL) {
		return -1;
	}
	c->kube = link_kube(c->link);
	return 0;
}

static void make_recorder(struct controller *c)
{
	/* In memory it can only be read through the debug pages: without them it would be kept for
	 * nobody. */
	struct recorder_config config = {.dir = c->options.journal,
		.files = c->options.journal_files,
		.memory_mib = c->options.debug ? c->options.journal_memory_mib : 0};
	c->recorder = recorder_create(&config, c->clock, c->engine);
}

static void make_agents(struct controller *c)
{
	struct agents_config config = {.loop = c->loop,
		.clock = c->clock,
		.metrics = c->metrics,
		.certs = c->certs,
		.own_keys = text_equals(c->options.agent_identity, "node"),
		.agent_ns = c->options.agent_namespace,
		.engine = c->engine,
		.tell = on_node_state,
		.data = c};
	c->agents = agents_create(&config);
}

static int make_usages(struct controller *c, struct fault *f)
{
	struct usages_config config = {.loop = c->loop,
		.clock = c->clock,
		.metrics = c->metrics,
		.world = engine_world(c->engine),
		.options = &c->options};
	c->usages = usages_create(&config, f);
	if (c->usages == NULL) {
		return -1;
	}
	struct sizes_config sizes = {.tell = on_node_state,
		.fate = on_fate,
		.evicts = on_evicts,
		.data = c,
		.kube = c->kube,
		.clock = c->clock,
		.world = engine_world(c->engine),
		.groups = c->groups,
		.owners = owners_port(c->owners),
		.around = c->around,
		.pod_groups = c->pod_groups,
		.schedulers = c->scheduler_list,
		.scheduler_count = c->scheduler_count,
		.admission = admission_port(c),
		.feeds = c->feeds,
		.latest = usages_latest(c->usages),
		.act = c->act,
		.prometheus = usages_prometheus(c->usages),
		.bill = bills_config(&c->options, &c->prices),
		.round_ms = c->options.rightsizing_s * 1000,
		.checkpoint_ms = c->options.checkpoint_s * 1000,
		.context_mib = c->options.context_memory_mib,
		.use_ms = c->options.usage_s * 1000};
	c->sizes = sizes_create(&sizes);
	return 0;
}

static bool gathered(void *data, const char *group, struct sizer_gathered *ret)
{
	const struct controller *c = data;
	return sizes_gathers(c->sizes, group, ret);
}

static void make_leader_side(struct controller *c)
{
	struct election_config lease = {.ns = NAME_NAMESPACE,
		.name = NAME_CONTROLLER,
		.term = NAME_TERM,
		.identity = c->identity,
		.never_lead = c->options.never_lead};
	struct act_config act = {.image = c->options.image,
		.pull_policy = text_empty(c->options.image_pull_policy)
				       ? NULL
				       : c->options.image_pull_policy};
	struct act_events outcomes = {
		.on_outcome = on_write_outcome, .write_ms = leader_write_ms, .term = leader_term};
	struct engine_config engine = {.idle_grace_ms = c->options.idle_grace_s * 1000,
		.open_timeout_ms = c->options.open_timeout_s * 1000,
		.evictions_per_minute = (uint32_t)c->options.evictions_per_minute,
		.lost_ms = c->options.reacquire_s * 1000,
		.patience_ms = c->options.patience_s * 1000,
		.stuck_ms = c->options.recycle_s * 1000,
		.lacks_ms = c->options.preempt_s * 1000,
		.scale_up_ms = c->options.scale_up_s * 1000,
		.serve_ms = c->options.serve_s * 1000,
		.context_mib = c->options.context_memory_mib,
		.warm_gpus = (uint32_t)c->options.warm_gpus,
		.injection = c->options.injection};
	struct certs_config certs = {.ns = NAME_NAMESPACE,
		.agent_ns = c->options.agent_namespace,
		.extra_names = c->options.webhook_names};
	struct certs_events certs_events = {.on_identity = on_new_identity, .leads = leads};
	c->events =
		events_create(c->kube, "aliquot.dev/controller", c->identity, rng_system_seed());
	c->election = election_create(c->kube, &lease, on_leader_change, c);
	c->act = act_create(c->kube, c->events, &act, &outcomes, c);
	c->engine = engine_create(&engine, rng_system_seed());
	make_recorder(c);
	c->advice = advice_create();
	c->groups = groups_create();
	c->around = around_create();
	c->pod_groups = podgroups_create();
	const struct group_status_config groups = {c->kube, c->groups, gathered, c};
	c->group_status = group_status_create(&groups);
	const struct zones_config zones = {
		c->options.zoneinfo, c->clock, engine_world(c->engine), c->around, c->events};
	c->zones = zones_create(&zones);
	c->feeds = feeds_create(c->kube, rng_system_seed(), on_watch_change, c);
	c->volumes = volumes_create(
		c->kube, engine_world(c->engine), rng_system_seed(), on_watch_change, c);
	c->certs = certs_create(c->kube, &certs, &certs_events, c);
	c->signer = signer_create(c->kube, c->options.agent_namespace, rng_system_seed());
	make_agents(c);
	c->canary = canary_create(c->kube);
	c->access = access_create(c->kube);
	c->follow =
		(struct follow){.world = engine_world(c->engine), .owners = owners_port(c->owners)};
	c->gate = (struct gate){
		.world = engine_world(c->engine), .election = c->election, .clock = c->clock};
}

static void make_hook(struct controller *c)
{
	const struct sizer_admission port = admission_port(c);
	struct hook_config config = {.view = admission_view(c),
		.metrics = c->metrics,
		.schedulers = c->scheduler_list,
		.scheduler_count = c->scheduler_count,
		.runtime_class = c->runtime_class,
		.count_max = MODEL_GPU_COUNT_MAX,
		.context_mib = port.context_mib,
		.notes_names = port.notes_names,
		.mps_unlabelled = port.mps_unlabelled};
	c->hook = hook_create(&config);
	c->pools = pools_create();
}

static int make_pages(struct controller *c, struct fault *f)
{
	struct server_config config = {.name = "pages",
		.listen = c->options.metrics_listen,
		.metrics = c->metrics,
		.connections_max = PAGES_CONNECTIONS};
	if (c->options.debug) {
		config.reply_limit = DEBUG_REPLY_BYTES;
	}
	c->pages = server_create(c->loop, &config, f);
	if (c->pages == NULL) {
		return fault_wrap(f, "metrics-listen %s", c->options.metrics_listen);
	}
	routes_add_pages(c);
	return 0;
}

static int controller_init(struct controller *c, struct fault *f)
{
	c->own_clock = clock_system;
	c->clock = &c->own_clock;
	ahead_look(&c->own_clock);
	c->loop = loop_create();
	c->metrics = metric_registry_create();
	c->identity = options_identity(&c->options);
	c->image = text_empty(c->options.image) ? NULL : xstrdup(c->options.image);
	split_schedulers(c);
	const char *class = c->options.runtime_class;
	if (!text_equals(class, "auto") && !text_equals(class, "none")) {
		c->runtime_class = xstrdup(class);
	}
	if (make_connection(c, f) < 0) {
		return -1;
	}
	c->owners = owners_create(c->kube);
	make_hook(c);
	make_leader_side(c);
	return make_usages(c, f) < 0 ? -1 : make_pages(c, f);
}

static void controller_finish(struct controller *c)
{
	if (c->kube != NULL) {
		errands_cancel(c);
	}
	server_destroy(c->webhook);
	server_destroy(c->pages);
	access_destroy(c->access);
	canary_destroy(c->canary);
	agents_destroy(c->agents);
	sizes_destroy(c->sizes);
	usages_destroy(c->usages);
	signer_destroy(c->signer);
	certs_destroy(c->certs);
	feeds_destroy(c->feeds);
	volumes_destroy(c->volumes);
	act_destroy(c->act);
	election_destroy(c->election);
	events_destroy(c->events);
	engine_destroy(c->engine);
	advice_destroy(c->advice);
	group_status_destroy(c->group_status);
	groups_destroy(c->groups);
	zones_destroy(c->zones);
	around_destroy(c->around);
	podgroups_destroy(c->pod_groups);
	owners_destroy(c->owners);
	recorder_destroy(c->recorder);
	hook_destroy(c->hook);
	pools_destroy(c->pools);
	link_destroy(c->link);
	crash_destroy(c->crash);
	plan_finish(&c->plan);
	VEC_FINISH(&c->unhealthy_shown);
	metric_registry_destroy(c->metrics);
	loop_destroy(c->loop);
	free(c->identity);
	free(c->image);
	free(c->runtime_class);
	options_finish(&c->options);
}

static int controller_run(struct controller *c)
{
	struct fault f = {0};
	if (controller_init(c, &f) < 0) {
		log_error("cannot start", LOG_F(&f));
		return 1;
	}
	ending_on_signals(c);
	loop_on_turn(c->loop, on_controller_turn, c);
	log_info("started", LOG_S("version", ALIQUOT_VERSION),
		LOG_S("server", link_server(c->link)), LOG_S("identity", c->identity));
	loop_run(c->loop);
	loop_off_turn(c->loop, on_controller_turn, c);
	log_info("stopped");
	return c->failed ? 1 : 0;
}

int controller_main(int argc, char **argv)
{
	struct controller c = {0};
	struct fault f = {0};
	if (options_parse(argc, argv, NULL, &c.options, &f) < 0) {
		fprintf(stderr, "aliquot controller: %s\n", f.message);
		return 2;
	}
	if (c.options.help) {
		CLEANUP(str_finish) struct str text = STR_INIT(64 * 1024);
		options_write_help(&text);
		fputs(str_text(&text), stdout);
		options_finish(&c.options);
		return 0;
	}
	enum log_level level = LOG_INFO;
	(void)log_level_parse(c.options.log_level, &level);
	log_setup(level, STDERR_FILENO);
	int status = controller_run(&c);
	controller_finish(&c);
	return status;
}
