/* What the watches tell, as JSON, and the pages that are scraped. */
#include "scene_parts.h"

#include "codec/objects.h"
#include "own/gpuworkloadgroup.h"
#include "pods/pod_decode.h"
#include "own/gpupolicy.h"
#include "model/names.h"

#define TEXT_MAX ((size_t)64 * 1024)

static void tell(struct scene *s, struct change *c)
{
	world_apply(s->world, c);
	if (c->kind == KIND_POD) {
		scrape_observe(s->scrape, c);
	}
}

static void gone(struct scene *s, enum kind kind, const char *ns, const char *name)
{
	tell(s, &(struct change){.type = CHANGE_GONE, .kind = kind, .ns = ns, .name = name});
}

void scene_policy(struct scene *s, const char *name, const char *spec)
{
	CLEANUP(str_finish) struct str json = STR_INIT(TEXT_MAX);
	struct policy p;
	struct fault f = {0};
	str_append_format(&json,
		"{\"metadata\":{\"name\":\"%s\",\"uid\":\"p-%s\",\"generation\":%d,"
		"\"resourceVersion\":\"%d\",\"creationTimestamp\":\"2026-01-01T00:00:00Z\"},"
		"\"spec\":%s}",
		name, name, ++s->generation, ++s->version, spec);
	arena_reset(&s->arena);
	cr_assert_eq(fields_decode((struct view){str_text(&json), json.len}, &policy_shape,
			     &s->arena, &p, &f),
		0, "%s", f.message);
	tell(s, &(struct change){.type = CHANGE_SET, .kind = KIND_POLICY, .policy = &p});
}

void scene_policy_gone(struct scene *s, const char *name)
{
	gone(s, KIND_POLICY, NULL, name);
}

void scene_group(struct scene *s, const char *name, const char *spec)
{
	CLEANUP(str_finish) struct str json = STR_INIT(TEXT_MAX);
	struct workload_group g;
	struct fault f = {0};
	str_append_format(&json,
		"{\"metadata\":{\"name\":\"%s\",\"uid\":\"g-%s\",\"generation\":1,"
		"\"resourceVersion\":\"%d\"},\"spec\":%s}",
		name, name, ++s->version, spec);
	arena_reset(&s->arena);
	cr_assert_eq(fields_decode((struct view){str_text(&json), json.len}, &group_shape,
			     &s->arena, &g, &f),
		0, "%s", f.message);
	cr_assert(groups_apply(
		s->groups, &(struct change){.type = CHANGE_SET, .kind = KIND_GROUP, .group = &g}));
}

void scene_budget(struct scene *s, const char *json)
{
	struct budget b;
	struct fault f = {0};
	struct change c = {.type = CHANGE_RELIST_BEGIN, .kind = KIND_BUDGET};
	arena_reset(&s->arena);
	cr_assert_eq(
		fields_decode(view_of(json), &budget_shape, &s->arena, &b, &f), 0, "%s", f.message);
	around_apply(s->around, &c);
	c = (struct change){.type = CHANGE_SET, .kind = KIND_BUDGET, .budget = &b};
	cr_assert(around_apply(s->around, &c));
	c = (struct change){.type = CHANGE_RELIST_END, .kind = KIND_BUDGET};
	around_apply(s->around, &c);
}

void scene_scaler(struct scene *s, const char *json)
{
	struct scaler scaler;
	struct fault f = {0};
	struct change c = {.type = CHANGE_RELIST_BEGIN, .kind = KIND_SCALER};
	arena_reset(&s->arena);
	cr_assert_eq(fields_decode(view_of(json), &scaler_shape, &s->arena, &scaler, &f), 0, "%s",
		f.message);
	around_apply(s->around, &c);
	c = (struct change){.type = CHANGE_SET, .kind = KIND_SCALER, .scaler = &scaler};
	cr_assert(around_apply(s->around, &c));
	c = (struct change){.type = CHANGE_RELIST_END, .kind = KIND_SCALER};
	around_apply(s->around, &c);
}

/* --- pods --- */

static void write_containers(struct str *json, const struct scene_pod *p)
{
	if (p->containers != NULL) {
		str_append_text(json, p->containers);
		return;
	}
	str_append_format(json, "[{\"name\":\"%s\",\"image\":\"%s\",\"args\":%s",
		text_or(p->container, "main"), text_or(p->image, "registry/app:1"),
		text_or(p->args, "[]"));
	if (p->milli == 0) {
		int gpus = p->gpus > 0 ? p->gpus : 1;
		str_append_format(json,
			",\"resources\":{\"limits\":{\"nvidia.com/gpu\":\"%d\"},"
			"\"requests\":{\"nvidia.com/gpu\":\"%d\"}}",
			gpus, gpus);
	}
	str_append_text(json, "}]");
}

static void write_notes(struct str *json, const struct scene_pod *p, size_t at)
{
	str_append_format(json, "\"prometheus.io/scrape\":\"true\",\"prometheus.io/port\":\"%zu\"",
		9000 + at);
	if (p->waits != NULL) {
		str_append_format(json,
			",\"" NOTE_CONTAINER "\":\"%s\",\"" NOTE_RECOMMENDATION
			"\":\"deployment-web@1\",\"" NOTE_ORIGINAL
			"\":\"{\\\"nvidia.com/gpu\\\":\\\"1\\\"}\"",
			text_or(p->container, "main"));
	} else if (p->milli > 0) {
		str_append_format(json,
			",\"" NOTE_COMPUTE_MILLI "\":\"%lld\",\"" NOTE_MEMORY_MIB
			"\":\"%lld\",\"" NOTE_CONTAINER "\":\"%s\",\"" NOTE_GPU_UUID
			"\":\"GPU-1\",\"" NOTE_RECOMMENDATION
			"\":\"deployment-web@1\",\"" NOTE_ORIGINAL
			"\":\"{\\\"nvidia.com/gpu\\\":\\\"1\\\"}\"",
			(long long)p->milli, (long long)p->mib, text_or(p->container, "main"));
	}
	if (p->notes != NULL) {
		str_append_format(json, ",%s", p->notes);
	}
}

static void write_waiting(struct str *json, const struct shown_pod *shown)
{
	char since[TIME_TEXT_MAX];
	str_append_format(json,
		"{\"phase\":\"Pending\",\"conditions\":[{\"type\":\"" NAME_PLACED "\","
		"\"status\":\"False\",\"reason\":\"%s\",\"lastTransitionTime\":\"%s\"}]}}",
		shown->p.waits, time_format(shown->created_ms, since));
}

/* How its container is, and how it ended before. */
static void write_status(struct str *json, const struct shown_pod *shown, size_t at)
{
	const struct scene_pod *p = &shown->p;
	char ended[TIME_TEXT_MAX], since[TIME_TEXT_MAX];
	if (p->waits != NULL) {
		write_waiting(json, shown);
		return;
	}
	str_append_format(json,
		"{\"phase\":\"%s\",\"podIP\":\"10.0.1.%zu\",\"conditions\":[{\"type\":\"Ready\","
		"\"status\":\"%s\",\"lastTransitionTime\":\"%s\"}],\"containerStatuses\":[{"
		"\"name\":\"%s\",\"restartCount\":%d",
		p->pending     ? "Pending"
		: p->succeeded ? "Succeeded"
			       : "Running",
		at + 1, p->unready ? "False" : "True", time_format(shown->created_ms, since),
		text_or(p->container, "main"), shown->restarts);
	if (shown->ended_ms > 0) {
		str_append_format(json,
			",\"lastState\":{\"terminated\":{\"exitCode\":%d,\"finishedAt\":\"%s\","
			"\"message\":\"%s\"}}",
			shown->code, time_format(shown->ended_ms, ended),
			text_or(shown->message, ""));
	}
	str_append_text(json, "}]}}");
}

static void write_pod(struct scene *s, const struct shown_pod *shown, size_t at, struct str *json)
{
	const struct scene_pod *p = &shown->p;
	char created[TIME_TEXT_MAX];
	str_append_format(json,
		"{\"metadata\":{\"namespace\":\"%s\",\"name\":\"%s\",\"uid\":\"u-%s\","
		"\"resourceVersion\":\"%d\",\"creationTimestamp\":\"%s\","
		"\"labels\":{\"pod-template-hash\":\"1234abcd\"%s%s%s},\"annotations\":{",
		text_or(p->ns, "team"), p->name, p->name, ++s->version,
		time_format(shown->created_ms, created),
		p->milli > 0 ? ",\"" LABEL_TENANT "\":\"true\"" : "", p->labels != NULL ? "," : "",
		text_or(p->labels, ""));
	write_notes(json, p, at);
	str_append_format(json,
		"},\"ownerReferences\":[{\"apiVersion\":\"%s\",\"kind\":\"%s\",\"name\":\"%s\","
		"\"uid\":\"owner\",\"controller\":true}]},\"spec\":{%s,"
		"\"containers\":",
		text_or(p->owner_api, "apps/v1"), text_or(p->owner_kind, "ReplicaSet"),
		text_or(p->owner, OWNER),
		p->waits != NULL ? "\"schedulingGates\":[{\"name\":\"" NAME_GATE "\"}]"
				 : "\"nodeName\":\"node\"");
	write_containers(json, p);
	str_append_text(json, "},\"status\":");
	write_status(json, shown, at);
}

struct shown_pod *scene_shown(struct scene *s, const char *name)
{
	for (size_t i = 0; i < s->pod_count; i++) {
		if (text_equals(s->pods[i].p.name, name)) {
			return &s->pods[i];
		}
	}
	return NULL;
}

/* As the controller's walk over its world would. */
void scene_want(struct scene *s)
{
	latest_want_begin(s->latest);
	for (size_t i = 0; i < s->pod_count; i++) {
		const struct scene_pod *p = &s->pods[i].p;
		char uid[128];
		snprintf(uid, sizeof uid, "u-%s", p->name);
		latest_want(s->latest, text_or(p->ns, "team"), p->name, uid, "node");
	}
	latest_want_end(s->latest);
}

void scene_pod_json(struct scene *s, const struct shown_pod *shown, struct str *json)
{
	write_pod(s, shown, (size_t)(shown - s->pods), json);
	surge_overlay(shown, json);
}

void scene_show(struct scene *s, const struct shown_pod *shown)
{
	CLEANUP(str_finish) struct str json = STR_INIT(TEXT_MAX);
	struct pod pod;
	struct fault f = {0};
	scene_pod_json(s, shown, &json);
	arena_reset(&s->arena);
	cr_assert_eq(pod_decode(str_text(&json), json.len, &s->arena, &pod, &f), 0, "%s: %s",
		f.message, str_text(&json));
	tell(s, &(struct change){.type = CHANGE_SET, .kind = KIND_POD, .pod = &pod});
}

void scene_pod(struct scene *s, const struct scene_pod *p)
{
	struct shown_pod *shown = scene_shown(s, p->name);
	if (shown == NULL) {
		cr_assert_lt(s->pod_count, SCENE_POD_MAX);
		shown = &s->pods[s->pod_count++];
		*shown = (struct shown_pod){.created_ms = scene_now(s)};
	}
	shown->p = *p;
	scene_show(s, shown);
	scene_want(s);
}

void scene_end(struct scene *s, const char *pod, int code, const char *message)
{
	struct shown_pod *shown = scene_shown(s, pod);
	cr_assert_not_null(shown);
	shown->restarts++;
	shown->ended_ms = scene_now(s);
	shown->code = code;
	shown->message = message;
	scene_show(s, shown);
}

void scene_pod_gone(struct scene *s, const char *name)
{
	struct shown_pod *shown = scene_shown(s, name);
	cr_assert_not_null(shown);
	gone(s, KIND_POD, text_or(shown->p.ns, "team"), name);
	surge_forget(shown);
	*shown = s->pods[--s->pod_count];
	scene_want(s);
	scene_want(s);
}

void scene_replace(struct scene *s, const char *name)
{
	const struct shown_pod *old = scene_shown(s, name);
	cr_assert_not_null(old);
	cr_assert_lt(s->made_count, SCENE_POD_MAX);
	struct scene_pod next = s->next;
	int percent = old->percent, mib = old->mib;
	char *made = s->made[s->made_count++];
	snprintf(made, sizeof s->made[0], "web-new-%zu", s->made_count);
	next.name = made;
	scene_pod_gone(s, name);
	scene_pod(s, &next);
	scene_use(s, made, percent, mib);
}

void scene_use(struct scene *s, const char *pod, int percent, int mib)
{
	struct shown_pod *p = scene_shown(s, pod);
	cr_assert_not_null(p);
	p->used = true;
	p->percent = percent;
	p->mib = mib;
}

void scene_use_all(struct scene *s, int percent, int mib)
{
	for (size_t i = 0; i < s->pod_count; i++) {
		scene_use(s, s->pods[i].p.name, percent, mib);
	}
}

void scene_labels(struct scene *s, const char *pod, const char *labels)
{
	scene_shown(s, pod)->labels = labels;
}

void scene_app(struct scene *s, const char *pod, const char *text)
{
	scene_shown(s, pod)->app = text;
}

/* --- pages --- */

/* As src/node/metrics_text.c writes them. */
static void write_line(
	struct str *out, const struct shown_pod *p, size_t at, const char *name, int value)
{
	str_append_format(out,
		"%s{gpu=\"%zu\",UUID=\"GPU-%zu\",pci_bus_id=\"00000000:0%zu:00.0\","
		"device=\"nvidia%zu\",modelName=\"NVIDIA A100-SXM4-80GB\",Hostname=\"node\","
		"DCGM_FI_DRIVER_VERSION=\"535.1\",container=\"%s\",namespace=\"%s\",pod=\"%s\","
		"pod_uid=\"u-%s\"%s} %d\n",
		name, at, at, at % 10, at, text_or(p->p.container, "main"),
		text_or(p->p.ns, "team"), p->p.name, p->p.name, text_or(p->labels, ""), value);
}

static void write_family(
	const struct scene *s, struct str *out, const char *name, const char *help, bool compute)
{
	str_append_format(out, "# HELP %s %s\n# TYPE %s gauge\n", name, help, name);
	for (size_t i = 0; i < s->pod_count; i++) {
		const struct shown_pod *p = &s->pods[i];
		if (p->used && !p->p.pending && p->p.waits == NULL && !p->p.succeeded) {
			write_line(out, p, i, name, compute ? p->percent : p->mib);
		}
	}
}

void page_of_node(const struct scene *s, struct str *out)
{
	write_family(s, out, "DCGM_FI_DEV_GPU_UTIL", "GPU utilization (in %).", true);
	write_family(s, out, "DCGM_FI_DEV_FB_USED", "Framebuffer memory used (in MiB).", false);
	cr_assert(!out->overflow);
}

const char *page_of_app(const struct scene *s, const char *address)
{
	for (size_t i = 0; i < s->pod_count; i++) {
		char own[64];
		snprintf(own, sizeof own, "10.0.1.%zu:%zu", i + 1, 9000 + i);
		if (text_equals(own, address)) {
			return s->pods[i].app;
		}
	}
	return NULL;
}
