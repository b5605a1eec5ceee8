/* The storyline: make the parts, then turn after turn let each take its step, then leave in good
 * order. What decides is src/control, whose header says in which order; what only a process has
 * is added to it here: certificates, the webhook's server, files, signals.
 *
 *     watches, agents -> control          (on_seen_change, below)
 *     volumes of those who wait -> control   (lookup/volumes.c)
 *     use of pods with a GPU -> rightsizing  (usages.c)
 *     control -> plan -> act              (on_action, below)
 *     admission -> hook                   (routes.c), with what the world knows */
#include "controller.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "admission.h"
#include "base/log.h"
#include "base/rand.h"
#include "ending.h"
#include "errands.h"
#include "kube/file.h"
#include "model/names.h"
#include "model/refusal.h"
#include "routes.h"
#include "sizer_metrics.h"

/* Units of work of one engine step, about half a millisecond on a slow core. */
#define STEP_BUDGET 4000
/* The journal in memory is the largest page. */
#define DEBUG_REPLY_BYTES ((size_t)72 << 20)
/* Probes, and whoever reads metrics. */
#define PAGES_CONNECTIONS 64

/* --- what control hears and wants --- */

static uint64_t on_seed(void *data)
{
	(void)data;
	return rng_system_seed();
}

static void on_wake(void *data, int64_t at)
{
	struct controller *c = data;
	loop_wake_at(c->loop, at);
}

static void on_leader(void *data, bool leads)
{
	struct controller *c = data;
	log_info(leads ? "leading" : "not leading any more", LOG_S("identity", c->identity));
	control_lead(&c->control, leads);
}

static bool on_seen_change(void *data, const struct change *change)
{
	struct controller *c = data;
	if (change->kind < KIND_ENGINE) {
		unseen_observe(&c->unseen, change, clock_mono(c->clock));
		states_observe(c->control.states, change);
		usages_observe(c->usages, change);
	}
	return control_observe(&c->control, change);
}

static void on_outcome(void *data, const struct action *action, const struct outcome *outcome)
{
	struct controller *c = data;
	if (outcome->fault.kind != FAULT_NONE) {
		log_info("a write did not succeed", LOG_S("action", action_name(action)),
			LOG_S("ns", action->ns), LOG_S("name", action->name),
			LOG_I("id", action->id), LOG_F(&outcome->fault),
			LOG_I("unknown", outcome->fault.unknown_outcome));
	}
	char policy[REFUSAL_NAME_MAX];
	if (!act_was_fenced(action, &outcome->fault) &&
		refusal_by_policy(outcome->fault.message, policy)) {
		log_warn("an admission policy refuses what we write",
			LOG_S("action", action_name(action)), LOG_S("name", action->name),
			LOG_S("policy", policy));
	}
	control_settle(&c->control, action, outcome);
}

static int64_t on_write_ms(void *data)
{
	const struct controller *c = data;
	return control_write_ms(&c->control);
}

static int64_t on_term(void *data)
{
	const struct controller *c = data;
	return election_term(c->control.election);
}

static void on_action(void *data, struct action *a)
{
	struct controller *c = data;
	if (sizer_owns(a->id)) {
		return;
	}
	if (a->type == ACTION_CREATE_CAPACITY && a->claim == NULL) {
		a->runtime_class = c->runtime_class;
	}
	if (a->type == ACTION_EVENT && a->warning) {
		log_warn("told", LOG_S("reason", a->event_reason), LOG_S("ns", a->ns),
			LOG_S("name", a->name), LOG_S("message", a->message));
	}
	log_debug("acting", LOG_S("action", action_name(a)), LOG_S("name", a->name),
		LOG_I("id", a->id));
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

/* --- parts that are of several --- */

static void connection_step(void *self, const struct turn *turn)
{
	struct controller *c = self;
	link_step(c->link, turn->now);
}

static int64_t connection_deadline(const void *self, const struct turn *turn)
{
	const struct controller *c = self;
	(void)turn;
	return link_deadline(c->link);
}

static const struct part connection_part = {connection_step, connection_deadline, NULL};

static void compare_versions(void *self, const struct turn *turn)
{
	struct controller *c = self;
	unseen_look(&c->unseen, election_version(c->control.election),
		feeds_version(c->control.feeds, KIND_POD), turn->now);
}

static const struct part versions_part = {compare_versions, NULL, NULL};

/* Whether the webhook is reached: what is evicted must come back through it (C3). */
static void tell_reach(void *self, const struct turn *turn)
{
	struct controller *c = self;
	(void)turn;
	canary_prepare(c->canary, c->image, certs_published(c->certs) && c->webhook != NULL);
	control_reach(&c->control, canary_reached(c->canary), canary_refused_by(c->canary),
		canary_seen(c->canary));
	sizer_may_surge(rightsizing_sizer(c->control.rightsizing), access_surge(c->access));
}

static const struct part reach_part = {tell_reach, NULL, NULL};

static void on_controller_turn(void *data)
{
	struct controller *c = data;
	ahead_look(&c->own_clock);
	log_flush(clock_wall(&clock_system));
	loop_wake_at(c->loop, control_turn(&c->control, clock_mono(c->clock)));
}

/* --- the beginning --- */

static struct wire *through_crash(void *data, struct wire *inner)
{
	struct controller *c = data;
	c->crash = crash_create(inner);
	return crash_wire(c->crash, inner);
}

static void make_control(struct controller *c)
{
	const struct options *o = &c->options;
	const struct control_config config = {.kube = c->kube,
		.clock = c->clock,
		.lease = {.ns = NAME_NAMESPACE,
			.name = NAME_CONTROLLER,
			.term = NAME_TERM,
			.identity = c->identity,
			.never_lead = o->never_lead},
		.act = {.image = o->image,
			.pull_policy =
				text_empty(o->image_pull_policy) ? NULL : o->image_pull_policy},
		.engine = {.idle_grace_ms = o->idle_grace_s * 1000,
			.open_timeout_ms = o->open_timeout_s * 1000,
			.evictions_per_minute = (uint32_t)o->evictions_per_minute,
			.lost_ms = o->reacquire_s * 1000,
			.patience_ms = o->patience_s * 1000,
			.stuck_ms = o->recycle_s * 1000,
			.lacks_ms = o->preempt_s * 1000,
			.scale_up_ms = o->scale_up_s * 1000,
			.serve_ms = o->serve_s * 1000,
			.context_mib = o->context_memory_mib,
			.warm_gpus = (uint32_t)o->warm_gpus,
			.injection = o->injection},
		.own_keys = text_equals(o->agent_identity, "node"),
		.agent_ns = o->agent_namespace,
		.budget = STEP_BUDGET,
		.keeps_events = true,
		.stopwatch = clock_mono_us};
	const struct control_port port = {.data = c,
		.seed = on_seed,
		.wake = on_wake,
		.on_leader = on_leader,
		.on_change = on_seen_change,
		.on_action = on_action,
		.act = {on_outcome, on_write_ms, on_term}};
	control_init(&c->control, &config, &port);
	c->world = engine_world(c->control.engine);
	/* In memory the journal can only be read through the debug pages: without them it would be
	 * kept for nobody. */
	const struct recorder_config recorder = {.dir = o->journal,
		.files = o->journal_files,
		.memory_mib = o->debug ? o->journal_memory_mib : 0};
	c->recorder = recorder_create(&recorder, c->clock, c->control.engine);
}

static bool gathered_by_group(void *data, const char *group, struct sizer_gathered *ret)
{
	const struct controller *c = data;
	return sizer_gathers(rightsizing_sizer(c->control.rightsizing), group, ret);
}

/* Parts that ask the API server, or read files, for control. */
static void add_readers(struct controller *c)
{
	struct control *k = &c->control;
	struct parts *p = &k->parts;
	parts_add(p, &connection_part, c);
	parts_add(p, &versions_part, c);
	parts_add(p, &errands_part, c);
	parts_add(p, &volumes_part,
		volumes_create(c->kube, c->world, rng_system_seed(), on_seen_change, c));
	c->owners = parts_add(p, &owners_part, owners_create(c->kube));
	c->follow = (struct follow){.world = c->world, .owners = owners_port(c->owners)};
	parts_add(p, &follow_part, &c->follow);
	parts_add(p, &zones_part,
		zones_create(c->options.zoneinfo, c->clock, c->world, k->around, k->events));
	parts_add(p, &group_status_part,
		group_status_create(c->kube, k->groups, gathered_by_group, c));
	parts_add(p, &recorder_part, c->recorder);
}

/* Certificates, and who is let in by them. */
static void add_doors(struct controller *c)
{
	struct control *k = &c->control;
	struct parts *p = &k->parts;
	c->certs = parts_add(p, &certs_part,
		certs_create(c->kube, c->options.agent_namespace, c->options.webhook_names,
			on_new_identity, c));
	parts_add(p, &signer_part,
		signer_create(c->kube, c->options.agent_namespace, rng_system_seed()));
	c->agents = parts_add(p, &agents_part, agents_create(c->loop, c->certs, k->states));
	c->canary = parts_add(p, &canary_part, canary_create(c->kube));
	c->access = parts_add(p, &access_part, access_create(c->kube));
	parts_add(p, &reach_part, c);
	c->gate = (struct gate){.world = c->world, .election = k->election, .clock = c->clock};
	parts_add(p, &gate_part, &c->gate);
	parts_add(p, &ending_part, c);
}

static int begin_rightsizing(struct controller *c, struct fault *f)
{
	struct usages_config usages = {.loop = c->loop,
		.clock = c->clock,
		.metrics = c->metrics,
		.world = c->world,
		.options = &c->options};
	c->usages = parts_add(&c->control.parts, &usages_part, usages_create(&usages, f));
	if (c->usages == NULL) {
		return -1;
	}
	const struct rightsizing_config config = {
		.sizer = {.owners = owners_port(c->owners),
			.schedulers = c->scheduler_list,
			.scheduler_count = c->scheduler_count,
			.admission = admission_port(c),
			.bill = bills_config(&c->options, &c->prices),
			.round_ms = c->options.rightsizing_s * 1000,
			.checkpoint_ms = c->options.checkpoint_s * 1000},
		.prometheus = usages_prometheus(c->usages),
		.latest = usages_latest(c->usages),
		.use_ms = c->options.usage_s * 1000};
	control_begin(&c->control, &config);
	return 0;
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
	struct view rest = view_of(c->options.schedulers), part;
	while (c->scheduler_count < COUNT_OF(c->scheduler_list) && view_next(&rest, ',', &part)) {
		part = view_trim(part);
		if (part.n > 0) {
			c->scheduler_list[c->scheduler_count++] =
				arena_strndup(&c->options.arena, part.p, part.n);
		}
	}
	const char *class = c->options.runtime_class;
	if (!text_equals(class, "auto") && !text_equals(class, "none")) {
		c->runtime_class = xstrdup(class);
	}
	const struct link_config link = {.loop = c->loop,
		.clock = c->clock,
		.metrics = c->metrics,
		.kubeconfig = c->options.kubeconfig,
		.context = c->options.context,
		.user_agent = NAME_FIELD_MANAGER "/" ALIQUOT_VERSION,
		.wrap = through_crash,
		.data = c};
	c->link = link_create(&link, f);
	if (c->link == NULL) {
		return -1;
	}
	c->kube = link_kube(c->link);
	make_control(c);
	add_readers(c);
	add_doors(c);
	make_hook(c);
	return begin_rightsizing(c, f) < 0 ? -1 : make_pages(c, f);
}

static void controller_finish(struct controller *c)
{
	server_destroy(c->webhook);
	server_destroy(c->pages);
	control_finish(&c->control);
	recorder_destroy(c->recorder);
	hook_destroy(c->hook);
	pools_destroy(c->pools);
	link_destroy(c->link);
	crash_destroy(c->crash);
	VEC_FINISH(&c->unhealthy_shown);
	metric_registry_destroy(c->metrics);
	loop_destroy(c->loop);
	free(c->identity);
	free(c->image);
	free(c->runtime_class);
	options_finish(&c->options);
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
	if (controller_init(&c, &f) < 0) {
		log_error("cannot start", LOG_F(&f));
		c.failed = true;
	} else {
		ending_on_signals(&c);
		loop_on_turn(c.loop, on_controller_turn, &c);
		log_info("started", LOG_S("version", ALIQUOT_VERSION),
			LOG_S("server", link_server(c.link)), LOG_S("identity", c.identity));
		loop_run(c.loop);
		loop_off_turn(c.loop, on_controller_turn, &c);
		log_info("stopped");
	}
	controller_finish(&c);
	return c.failed ? 1 : 0;
}
