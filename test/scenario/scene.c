/* The life of a scene, and its time. */
#include "scene_parts.h"

#include "codec/objects.h"
#include "pods/pod_decode.h"
#include "own/gpurecommendation.h"
#include "sizer/recommendation_watch.h"
#include "model/names.h"

#define NODE                                                                                       \
	"{\"metadata\":{\"name\":\"node\",\"uid\":\"node\",\"resourceVersion\":\"%d\",\"labels\":" \
	"{\"nvidia.com/gpu.memory\":\"81920\"}},\"status\":{\"allocatable\":{\"cpu\":\"64\","      \
	"\"memory\":\"512Gi\",\"pods\":\"110\",\"nvidia.com/gpu\":\"%d\"},\"conditions\":[{"       \
	"\"type\":\"Ready\",\"status\":\"True\"}]}}"
#define AGENT                                                                                      \
	"{\"metadata\":{\"namespace\":\"" NAME_NAMESPACE                                           \
	"\",\"name\":\"agent\",\"uid\":\"agent\",\"resourceVersion\":\"1\",\"labels\":{"           \
	"\"" LABEL_AGENT                                                                           \
	"\":\"true\"}},\"spec\":{\"nodeName\":\"node\",\"containers\":[{\"name\":\"agent\","       \
	"\"ports\":[{\"name\":\"metrics\",\"containerPort\":9400}]}]},\"status\":{\"phase\":"      \
	"\"Running\",\"podIP\":\"10.0.0.1\",\"conditions\":[{\"type\":\"Ready\",\"status\":"       \
	"\"True\"}]}}"
#define TURNS_MAX 200
#define ROUND_MS  5000

/* --- the controller --- */

static void on_outcome(void *data, const struct action *action, const struct outcome *outcome)
{
	struct scene *s = data;
	if (sizer_owns(action->id)) {
		rightsizing_settle(s->rightsizing, action, outcome);
	}
}

static enum reason on_may_convert(void *data, const char *ns)
{
	const struct scene *s = data;
	(void)ns;
	return s->closed ? REASON_BACKLOG : REASON_NONE;
}

/* The engine's door. Whoever runs and is wished another share gets it at once, if the test says so.
 */
static bool on_resize_request(void *data, const struct change *c)
{
	struct scene *s = data;
	s->resize_requests++;
	for (size_t i = 0; i < s->pod_count && s->resizes; i++) {
		struct scene_pod p = s->pods[i].p;
		if (text_equals(p.name, c->uid + 2) && c->milli > 0) {
			p.milli = c->milli;
			p.mib = c->mem_mib;
			scene_pod(s, &p);
		}
	}
	return true;
}

static void on_resize_status(void *data, const char *uid, struct share_fate *ret)
{
	(void)uid;
	*ret = ((struct scene *)data)->resize_status;
}

static void on_submit(void *data, struct action *action)
{
	act_submit(((struct scene *)data)->act, action);
}

static const struct act_events act_events = {.on_outcome = on_outcome};

/* A watch tells what went, too. */
static void show_gone(struct scene *s)
{
	struct server *v = &s->server;
	for (size_t i = v->object_count; i-- > 0;) {
		if (v->objects[i].gone) {
			(void)sizer_observe(rightsizing_sizer(s->rightsizing),
				&(struct change){.type = CHANGE_GONE,
					.kind = KIND_RECOMMENDATION,
					.ns = "team",
					.name = v->objects[i].name});
			server_remove(v, i);
		}
	}
}

static void show_recommendations(struct scene *s, bool all)
{
	CLEANUP(str_finish) struct str json = STR_INIT(1 << 20);
	show_gone(s);
	for (size_t i = 0; i < s->server.object_count; i++) {
		struct object *o = &s->server.objects[i];
		struct recommendation r;
		struct fault f = {0};
		if ((!all && !o->is_new) || !text_equals(o->resource, "gpurecommendations")) {
			continue;
		}
		o->is_new = false;
		str_reset(&json);
		str_append_format(&json, "%.*s,\"status\":%s}", (int)strlen(o->head) - 1, o->head,
			text_or(o->status, "{}"));
		arena_reset(&s->arena);
		cr_assert_eq(fields_decode((struct view){str_text(&json), json.len},
				     &recommendation_shape, &s->arena, &r, &f),
			0, "%s: %s", f.message, str_text(&json));
		cr_assert(sizer_observe(
			rightsizing_sizer(s->rightsizing), &(struct change){.type = CHANGE_SET,
								   .kind = KIND_RECOMMENDATION,
								   .recommendation = &r}));
	}
}

static void start(struct scene *s)
{
	struct change mark = {.type = CHANGE_RELIST_BEGIN, .kind = KIND_RECOMMENDATION};
	struct act_config act = {.image = "registry/aliquot:1", .owner_uid = "cm-uid"};
	struct rightsizing_config config = {.latest = s->latest,
		.sizer = {.groups = s->groups,
			.around = s->around,
			.engine = {.data = s, .resize_status = on_resize_status},
			.admission = {.data = s, .may_convert = on_may_convert},
			.round_ms = ROUND_MS,
			.checkpoint_ms = 5 * STEP_MS},
		.prometheus = s->prometheus,
		.use_ms = STEP_MS / 2};
	struct rightsizing_port port = {.clock = &s->clock.clock,
		.world = s->world,
		.data = s,
		.observe = on_resize_request,
		.submit = on_submit};
	s->kube = kube_create(&s->server.wire, s->cred, &s->clock.clock, NULL);
	s->events = events_create(s->kube, "aliquot.dev/controller", "pod-1", 7);
	s->act = act_create(s->kube, s->events, &act, &act_events, s);
	port.kube = s->kube;
	s->rightsizing =
		parts_add(&s->parts, &rightsizing_part, rightsizing_create(&config, &port));
	(void)sizer_observe(rightsizing_sizer(s->rightsizing), &mark);
	show_recommendations(s, true);
	mark.type = CHANGE_RELIST_END;
	(void)sizer_observe(rightsizing_sizer(s->rightsizing), &mark);
}

static void stop(struct scene *s)
{
	parts_finish(&s->parts);
	act_destroy(s->act);
	events_destroy(s->events);
	kube_destroy(s->kube);
}

/* --- life --- */

void scene_gpus(struct scene *s, int count)
{
	char json[640];
	struct node node;
	struct fault f = {0};
	snprintf(json, sizeof json, NODE, ++s->version, count);
	cr_assert_eq(fields_decode(view_of(json), &node_shape, &s->arena, &node, &f), 0, "%s",
		f.message);
	world_apply(
		s->world, &(struct change){.type = CHANGE_SET, .kind = KIND_NODE, .node = &node});
}

static void list_everything(struct scene *s)
{
	struct pod agent;
	struct fault f = {0};
	for (int kind = 0; kind < KIND_ENGINE; kind++) {
		struct change c = {.type = CHANGE_RELIST_BEGIN, .kind = (enum kind)kind};
		world_apply(s->world, &c);
		c.type = CHANGE_RELIST_END;
		world_apply(s->world, &c);
	}
	scene_gpus(s, 8);
	cr_assert_eq(pod_decode(AGENT, strlen(AGENT), &s->arena, &agent, &f), 0, "%s", f.message);
	struct change c = {.type = CHANGE_SET, .kind = KIND_POD, .pod = &agent};
	world_apply(s->world, &c);
	scrape_observe(s->scrape, &c);
}

struct scene *scene_new(const char *policy)
{
	struct scene *s = xcalloc(1, sizeof *s);
	s->clock = fake_clock_make();
	s->clock.wall = SCENE_START;
	s->text = (struct str)STR_INIT(1 << 20);
	server_init(&s->server);
	s->world = world_create();
	s->groups = groups_create();
	s->around = around_create();
	cr_assert(around_zone_set(s->around, "UTC", &(struct zone){.until_s = INT64_C(1) << 40}));
	struct latest_config latest = {.clock = &s->clock.clock,
		.fresh_ms = {4 * STEP_MS, 4 * STEP_MS, 4 * STEP_MS},
		.gauges_fresh_ms = 4 * STEP_MS};
	s->latest = latest_create(&latest);
	struct scrape_config scrape = {.clock = &s->clock.clock,
		.latest = s->latest,
		.seed = 1,
		.every_ms = STEP_MS,
		.apps_every_ms = STEP_MS,
		.agents = true,
		.apps = true};
	s->scrape = scrape_create(&scrape);
	scrape_use(s->scrape, &s->server.wire);
	s->cred = kube_cred_create_plain("https://api", NULL, &s->clock.clock);
	list_everything(s);
	if (policy != NULL) {
		scene_policy(s, "rt", policy);
	}
	start(s);
	return s;
}

void scene_free(struct scene *s)
{
	stop(s);
	prometheus_destroy(s->prometheus);
	scrape_destroy(s->scrape);
	latest_destroy(s->latest);
	kube_cred_destroy(s->cred);
	groups_destroy(s->groups);
	around_destroy(s->around);
	world_destroy(s->world);
	arena_finish(&s->arena);
	str_finish(&s->text);
	server_finish(&s->server);
	for (size_t i = 0; i < s->pod_count; i++) {
		surge_forget(&s->pods[i]);
	}
	free(s);
}

/* --- time --- */

int64_t scene_now(const struct scene *s)
{
	return clock_policy(&s->clock.clock);
}

/* All that is to be done at this instant. */
static void settle(struct scene *s)
{
	for (int i = 0; i < TURNS_MAX; i++) {
		int64_t now = s->clock.mono;
		const struct turn turn = {.now = now, .leads = !s->follows};
		scrape_step(s->scrape, now, true);
		if (s->prometheus != NULL) {
			prometheus_step(s->prometheus, now, true);
		}
		bool busy = server_answer(s);
		rightsizing_reach(s->rightsizing, !s->webhook_gone, now);
		sizer_may_surge(rightsizing_sizer(s->rightsizing),
			s->surges ? SIZER_SURGE_ALLOWED : SIZER_SURGE_FORBIDDEN);
		parts_step(&s->parts, &turn);
		act_step(s->act, now);
		events_step(s->events, now);
		busy = server_answer(s) || busy;
		show_recommendations(s, false);
		if (!busy && act_in_flight(s->act) == 0 && parts_deadline(&s->parts, &turn) > now) {
			return;
		}
	}
	cr_assert_fail("it never rests");
}

static void pass(struct scene *s, int64_t ms)
{
	fake_pass(&s->clock, ms);
	scene_want(s);
	settle(s);
}

void scene_run(struct scene *s, int64_t minutes)
{
	for (int64_t i = 0; i < minutes; i++) {
		pass(s, STEP_MS);
	}
}

void scene_steps(struct scene *s, int count, int64_t step_ms)
{
	for (int i = 0; i < count; i++) {
		pass(s, step_ms);
	}
}

void scene_restart(struct scene *s)
{
	rightsizing_end(s->rightsizing);
	for (int i = 0; i < TURNS_MAX && !rightsizing_ended(s->rightsizing, true); i++) {
		settle(s);
		fake_pass(&s->clock, 100);
	}
	stop(s);
	start(s);
}

int64_t scene_until(struct scene *s, const char *path, const char *wanted, int64_t most)
{
	for (int64_t i = 0; i <= most; i++) {
		if (text_equals(scene_text(s, WEB, path), wanted)) {
			return i;
		}
		scene_run(s, 1);
	}
	cr_assert_fail("%s is %s after %lld minutes and never was %s", path,
		text_or(scene_text(s, WEB, path), "absent"), (long long)most, wanted);
	return -1;
}

/* --- knobs --- */

void scene_prometheus(struct scene *s, const struct scene_past *past)
{
	struct prometheus_config config = {.clock = &s->clock.clock,
		.latest = s->latest,
		.seed = 1,
		.every_ms = STEP_MS,
		.window_ms = 2 * STEP_MS + STEP_MS / 2};
	s->past = *past;
	s->past_end_ms = scene_now(s);
	s->prometheus = prometheus_create(&config);
	prometheus_use(s->prometheus, &s->server.wire);
	stop(s);
	start(s);
}

int scene_questions(const struct scene *s)
{
	return s->questions;
}

void scene_agents_gone(struct scene *s)
{
	s->agents_gone = true;
}

void scene_resizes(struct scene *s, bool does)
{
	s->resizes = does;
}

int scene_wishes(const struct scene *s)
{
	return s->resize_requests;
}

void scene_owners(struct scene *s, int http_status)
{
	s->server.owners_status = http_status;
}

void scene_lists(struct scene *s, int http_status)
{
	s->server.lists_status = http_status;
}

void scene_closed(struct scene *s)
{
	s->closed = true;
}

void scene_leads(struct scene *s, bool leads)
{
	s->follows = !leads;
}

void scene_webhook_gone(struct scene *s)
{
	s->webhook_gone = true;
}

void scene_may_surge(struct scene *s, const char *deleted)
{
	s->surges = true;
	s->deleted = deleted;
}

void scene_rollout(struct scene *s)
{
	s->rolls = true;
}

void scene_resize_status(struct scene *s, enum share_state state, const char *blocker)
{
	s->resize_status = (struct share_fate){state, blocker};
}

void scene_refuses(struct scene *s, int http_status, const char *message)
{
	s->server.refusal = http_status;
	s->server.refusal_text = message;
}

void scene_evicts(struct scene *s, const struct scene_pod *next)
{
	s->server.refusal = 0;
	s->next = *next;
}

int scene_evictions(const struct scene *s)
{
	return s->server.evictions;
}

void scene_silence(struct scene *s, bool silent)
{
	s->silent = silent;
}
