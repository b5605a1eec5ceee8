/* Three things that are asked of the API server once and then now and then: the uid of the
 * ConfigMap that owns capacity pods (C9), whether the runtime class `nvidia` exists, or what the
 * one asks for that the configuration names (C5), and our own image. */
#include "errands.h"

#include <stdlib.h>

#include "base/log.h"
#include "base/map.h"
#include "codec/runtimeclass.h"
#include "json/decode.h"
#include "kube/path.h"
#include "model/names.h"
#include "lookup/own_image.h"

#define SOON_MS	    2000
#define EVERY_MS    60000
#define WAIT_MAX_MS 30000

/* What is known is asked again once a minute only: it may be made anew. After a failure soon, but
 * not every two seconds for ever. */
static void errand_ended(const struct controller *c, struct errand *e, bool known)
{
	int64_t longer = e->wait == 0 ? SOON_MS : time_min(e->wait * 2, WAIT_MAX_MS);
	e->call = 0;
	e->wait = known ? 0 : longer;
	e->at = clock_mono(c->clock) + (known ? EVERY_MS : longer);
}

static bool uid_of(const struct kube_answer *a, char *buffer, size_t room)
{
	CLEANUP(decode_release) json_t *root = NULL;
	const char *uid = NULL;
	if (decode_parse(a->body, a->body_size, DECODE_PLAIN, &root, NULL) < 0 ||
		decode_text(root, "metadata.uid", &uid, NULL) < 0 || uid == NULL ||
		strlen(uid) >= room) {
		return false;
	}
	memcpy(buffer, uid, strlen(uid) + 1);
	return true;
}

static void on_owner(void *data, const struct kube_answer *a)
{
	struct controller *c = data;
	char uid[128];
	bool known = a->fault.kind == FAULT_NONE && uid_of(a, uid, sizeof uid);
	errand_ended(c, &c->owner, known);
	if (known) {
		act_set_owner(c->control.act, uid);
		c->owner_set = true;
		return;
	}
	log_warn(c->owner_set ? "the ConfigMap that owns capacity pods cannot be read; they are "
				"made for the one that was there"
			      : "the ConfigMap that owns capacity pods cannot be read; none will "
				"be made",
		LOG_S("name", NAME_CAPACITY), LOG_F(&a->fault));
}

static bool is_auto(const struct controller *c)
{
	return text_equals(c->options.runtime_class, "auto");
}

static bool reads_class(const struct controller *c)
{
	return !text_equals(c->options.runtime_class, "none");
}

/* Told once, and when it is another one: every word of it is a line in the journal. */
static void heed_class(struct controller *c, const struct kube_answer *a)
{
	CLEANUP(arena_finish) struct arena arena = {.block_bytes = 1024};
	struct runtime_class runtime;
	struct fault fault = {0};
	uint64_t hash = a != NULL ? hash_bytes(a->body, a->body_size, 1) : 0;
	if (hash == c->told_class) {
		return;
	}
	if (a != NULL && runtime_decode(a->body, a->body_size, &arena, &runtime, &fault) < 0) {
		log_warn("the runtime class of capacity pods cannot be heeded", LOG_F(&fault));
		return;
	}
	struct change change = {.type = CHANGE_RUNTIME, .runtime = a != NULL ? &runtime : NULL};
	engine_observe(c->control.engine, &change);
	hook_set_runtime_selector(c->hook, a != NULL ? &runtime.selector : NULL);
	c->told_class = hash;
}

static void on_class(void *data, const struct kube_answer *a)
{
	struct controller *c = data;
	bool exists = a->fault.kind == FAULT_NONE;
	bool known = exists || a->fault.kind == FAULT_NOT_FOUND;
	errand_ended(c, &c->class, known);
	if (!known) {
		log_warn("the runtime class of capacity pods cannot be read", LOG_F(&a->fault));
		return;
	}
	if (!is_auto(c)) {
		heed_class(c, exists ? a : NULL);
		return;
	}
	/* A class that also moves pods about, or charges for itself, is not added behind a person's
	 * back. */
	CLEANUP(decode_release) json_t *root = NULL;
	if (exists && decode_parse(a->body, a->body_size, DECODE_PLAIN, &root, NULL) == 0 &&
		(decode_find(root, "scheduling") != NULL ||
			decode_find(root, "overhead") != NULL)) {
		exists = false;
	}
	free(c->runtime_class);
	c->runtime_class = exists ? xstrdup("nvidia") : NULL;
	hook_set_runtime_class(c->hook, c->runtime_class);
}

static void on_own_pod(void *data, const struct kube_answer *a)
{
	struct controller *c = data;
	CLEANUP(decode_release) json_t *root = NULL;
	const json_t *containers = NULL;
	const char *image = NULL;
	if (a->fault.kind == FAULT_NONE &&
		decode_parse(a->body, a->body_size, DECODE_PLAIN, &root, NULL) == 0 &&
		decode_array(root, "spec.containers", &containers, NULL) == 0) {
		image = own_image(containers);
	}
	errand_ended(c, &c->own_pod, !text_empty(image));
	if (text_empty(image)) {
		log_warn("our own image cannot be read; set --image", LOG_F(&a->fault));
		return;
	}
	c->image = xstrdup(image);
	act_set_image(c->control.act, image);
}

/* NULL: it is not asked for; our image is known, or this is no pod. */
static const char *own_pod_name(const struct controller *c)
{
	const char *name = getenv("POD_NAME");
	bool asks = c->image == NULL && !text_empty(name) && !text_empty(getenv("POD_NAMESPACE"));
	return asks ? name : NULL;
}

static void errand_ask(struct controller *c, struct errand *e, const struct kube_path *path,
	int64_t now, kube_done done)
{
	if (e->call == 0 && now >= e->at) {
		e->call = kube_get(c->kube, path, done, c);
	}
}

static void errands_step(void *self, const struct turn *turn)
{
	static const struct kube_path owner = {.group_version = "v1",
		.ns = NAME_NAMESPACE,
		.resource = "configmaps",
		.name = NAME_CAPACITY};
	struct controller *c = self;
	const struct kube_path class = {.group_version = "node.k8s.io/v1",
		.resource = "runtimeclasses",
		.name = is_auto(c) ? "nvidia" : c->options.runtime_class};
	const struct kube_path own_pod = {.group_version = "v1",
		.ns = getenv("POD_NAMESPACE"),
		.resource = "pods",
		.name = own_pod_name(c)};
	errand_ask(c, &c->owner, &owner, turn->now, on_owner);
	if (reads_class(c)) {
		errand_ask(c, &c->class, &class, turn->now, on_class);
	}
	if (own_pod.name != NULL) {
		errand_ask(c, &c->own_pod, &own_pod, turn->now, on_own_pod);
	}
}

static int64_t errand_deadline(const struct errand *e, bool asks)
{
	return asks && e->call == 0 ? e->at : TIME_NEVER;
}

static int64_t errands_deadline(const void *self, const struct turn *turn)
{
	const struct controller *c = self;
	(void)turn;
	int64_t at = time_min(
		errand_deadline(&c->owner, true), errand_deadline(&c->class, reads_class(c)));
	return time_min(at, errand_deadline(&c->own_pod, own_pod_name(c) != NULL));
}

static void errands_destroy(void *self)
{
	struct controller *c = self;
	kube_cancel(c->kube, c->owner.call);
	kube_cancel(c->kube, c->class.call);
	kube_cancel(c->kube, c->own_pod.call);
}

const struct part errands_part = {errands_step, errands_deadline, errands_destroy};
