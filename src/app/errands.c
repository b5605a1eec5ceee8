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

/* An errand whose answer is known is asked again once a minute only: it may be made anew. After a
 * failure soon, but not every two seconds for ever. */
static void errand_ended(struct controller *c, int which, bool known)
{
	struct errand *e = &c->errands[which];
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
	errand_ended(c, ERRAND_OWNER, known);
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

/* The engine is told of a class once, and when it is another one: every word of it is a line in the
 * journal. */
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
	errand_ended(c, ERRAND_CLASS, known);
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
	errand_ended(c, ERRAND_OWN_POD, !text_empty(image));
	if (text_empty(image)) {
		log_warn("our own image cannot be read; set --image", LOG_F(&a->fault));
		return;
	}
	c->image = xstrdup(image);
	act_set_image(c->control.act, image);
}

/* The path of an errand; without a name it is not asked for: no class is wanted, our image is
 * known, or this is no pod. */
static struct kube_path errand_path(const struct controller *c, int which)
{
	const char *class = c->options.runtime_class;
	const char *ns = getenv("POD_NAMESPACE"), *name = getenv("POD_NAME");
	bool is_pod = c->image == NULL && !text_empty(name) && !text_empty(ns);
	switch (which) {
	case ERRAND_OWNER:
		return (struct kube_path){.group_version = "v1",
			.ns = NAME_NAMESPACE,
			.resource = "configmaps",
			.name = NAME_CAPACITY};
	case ERRAND_CLASS:
		return (struct kube_path){.group_version = "node.k8s.io/v1",
			.resource = "runtimeclasses",
			.name = is_auto(c)		     ? "nvidia"
				: text_equals(class, "none") ? NULL
							     : class};
	default:
		return (struct kube_path){.group_version = "v1",
			.ns = ns,
			.resource = "pods",
			.name = is_pod ? name : NULL};
	}
}

static void errands_step(void *self, const struct turn *turn)
{
	static const kube_done answered[] = {on_owner, on_class, on_own_pod};
	struct controller *c = self;
	for (int i = 0; i < ERRANDS; i++) {
		const struct kube_path path = errand_path(c, i);
		struct errand *e = &c->errands[i];
		if (path.name != NULL && e->call == 0 && turn->now >= e->at) {
			e->call = kube_get(c->kube, &path, answered[i], c);
		}
	}
}

static int64_t errands_deadline(const void *self, const struct turn *turn)
{
	const struct controller *c = self;
	int64_t at = TIME_NEVER;
	(void)turn;
	for (int i = 0; i < ERRANDS; i++) {
		if (c->errands[i].call == 0 && errand_path(c, i).name != NULL) {
			at = time_min(at, c->errands[i].at);
		}
	}
	return at;
}

static void errands_destroy(void *self)
{
	struct controller *c = self;
	for (int i = 0; i < ERRANDS; i++) {
		kube_cancel(c->kube, c->errands[i].call);
	}
}

const struct part errands_part = {errands_step, errands_deadline, errands_destroy};
