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
#include "own_image.h"

#define SOON_MS	    2000
#define EVERY_MS    60000
#define WAIT_MAX_MS 30000

/* Asked again soon, but not every two seconds for ever. */
static void errand_failed(int64_t *at, int64_t *wait)
{
	*wait = *wait == 0 ? SOON_MS : time_min(*wait * 2, WAIT_MAX_MS);
	*at += *wait - SOON_MS;
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
	c->owner_call = 0;
	if (a->fault.kind == FAULT_NONE && uid_of(a, uid, sizeof uid)) {
		act_set_owner(c->act, uid);
		c->owner_known = c->owner_set = true;
		c->owner_wait = 0;
		return;
	}
	c->owner_known = false;
	errand_failed(&c->owner_at, &c->owner_wait);
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
	engine_observe(c->engine, &change);
	hook_set_runtime_selector(c->hook, a != NULL ? &runtime.selector : NULL);
	c->told_class = hash;
}

static void on_class(void *data, const struct kube_answer *a)
{
	struct controller *c = data;
	c->class_call = 0;
	bool exists = a->fault.kind == FAULT_NONE;
	if (!exists && a->fault.kind != FAULT_NOT_FOUND) {
		errand_failed(&c->class_at, &c->class_wait);
		log_warn("the runtime class of capacity pods cannot be read", LOG_F(&a->fault));
		return;
	}
	c->class_known = true;
	c->class_wait = 0;
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
	c->pod_call = 0;
	if (a->fault.kind == FAULT_NONE &&
		decode_parse(a->body, a->body_size, DECODE_PLAIN, &root, NULL) == 0 &&
		decode_array(root, "spec.containers", &containers, NULL) == 0) {
		image = own_image(containers);
	}
	if (text_empty(image)) {
		errand_failed(&c->pod_at, &c->pod_wait);
		log_warn("our own image cannot be read; set --image", LOG_F(&a->fault));
		return;
	}
	c->image = xstrdup(image);
	act_set_image(c->act, image);
}

static uint64_t errand_get(struct controller *c, const struct kube_path *path, int64_t *at,
	int64_t now, kube_done done)
{
	*at = now + SOON_MS;
	return kube_get(c->kube, path, done, c);
}

void errands_step(struct controller *c, int64_t now)
{
	static const struct kube_path owner = {.group_version = "v1",
		.ns = NAME_NAMESPACE,
		.resource = "configmaps",
		.name = NAME_CAPACITY};
	const struct kube_path class = {.group_version = "node.k8s.io/v1",
		.resource = "runtimeclasses",
		.name = is_auto(c) ? "nvidia" : c->options.runtime_class};
	if (c->owner_call == 0 && now >= c->owner_at) {
		c->owner_call = errand_get(c, &owner, &c->owner_at, now, on_owner);
	}
	if (reads_class(c) && c->class_call == 0 && now >= c->class_at) {
		c->class_call = errand_get(c, &class, &c->class_at, now, on_class);
	}
	const char *pod = getenv("POD_NAME");
	const char *ns = getenv("POD_NAMESPACE");
	if (c->image == NULL && !text_empty(pod) && !text_empty(ns) && c->pod_call == 0 &&
		now >= c->pod_at) {
		struct kube_path own = {
			.group_version = "v1", .ns = ns, .resource = "pods", .name = pod};
		c->pod_call = errand_get(c, &own, &c->pod_at, now, on_own_pod);
	}
	/* What is known is asked again once a minute only: the ConfigMap may be made anew. */
	if (c->owner_known && c->owner_call == 0) {
		c->owner_at = now + EVERY_MS;
		c->owner_known = false;
	}
	if (c->class_known && c->class_call == 0) {
		c->class_at = now + EVERY_MS;
		c->class_known = false;
	}
}

int64_t errands_deadline(const struct controller *c)
{
	int64_t at = c->owner_call == 0 ? c->owner_at : TIME_NEVER;
	if (reads_class(c) && c->class_call == 0) {
		at = time_min(at, c->class_at);
	}
	return at;
}

void errands_cancel(struct controller *c)
{
	kube_cancel(c->kube, c->owner_call);
	kube_cancel(c->kube, c->class_call);
	kube_cancel(c->kube, c->pod_call);
}
