/* A reflector on one side, the node's pods on the other. */
#include "watch_pods.h"

#include "base/log.h"
#include "pods/node_pod.h"
#include "kube/reflector.h"

struct watch_pods {
	struct node_pods *pods;	     /* borrowed */
	struct reflector *reflector; /* owned */
	struct arena arena;	     /* of one object */
};

static void pods_on_relist_begin(void *data)
{
	struct watch_pods *w = data;
	node_pods_relist_begin(w->pods);
}

static int pods_on_object(void *data, struct view json, struct fault *fault)
{
	struct watch_pods *w = data;
	struct node_pod pod;
	int result = node_pod_decode(json.p, json.n, &w->arena, &pod, fault);
	if (result == 0 && !node_pods_set(w->pods, &pod)) {
		result = fault_set(
			fault, FAULT_LIMIT, "more than %d pods on one node", NODE_PODS_MAX);
	}
	arena_reset(&w->arena);
	return result;
}

static void pods_on_gone(void *data, const char *ns, const char *name, const char *uid)
{
	struct watch_pods *w = data;
	const struct node_pod *pod =
		text_empty(uid) ? node_pods_named(w->pods, ns, name) : node_pods_find(w->pods, uid);
	if (pod != NULL) {
		/* What names it dies with it. */
		char *gone = xstrdup(pod->uid);
		node_pods_remove(w->pods, gone);
		free(gone);
	}
}

static void pods_on_unreadable(void *data, const char *ns, const char *name)
{
	struct watch_pods *w = data;
	const struct node_pod *pod =
		name != NULL ? node_pods_named(w->pods, text_or(ns, ""), name) : NULL;
	if (pod != NULL) {
		node_pods_keep(w->pods, pod->uid);
	}
}

/* Without a sweep something could not even be named: all that was known stays. */
static void pods_on_relist_end(void *data, bool sweep)
{
	struct watch_pods *w = data;
	for (uint32_t i = 0; !sweep && i < node_pods_count(w->pods); i++) {
		node_pods_keep(w->pods, node_pods_at(w->pods, i)->uid);
	}
	node_pods_relist_end(w->pods);
}

static void pods_on_stale(void *data, bool stale)
{
	(void)data;
	if (stale) {
		log_warn("the API server is not heard: pods are those that were known last");
	} else {
		log_info("hearing the API server");
	}
}

struct watch_pods *watch_pods_create(
	struct kube *kube, const char *node, struct node_pods *pods, uint64_t seed)
{
	static const struct reflector_events events = {.on_begin = pods_on_relist_begin,
		.on_object = pods_on_object,
		.on_gone = pods_on_gone,
		.on_unread = pods_on_unreadable,
		.on_end = pods_on_relist_end,
		.on_stale = pods_on_stale};
	CLEANUP(str_finish) struct str selector = STR_INIT(512);
	struct reflector_options options = {.seed = seed};
	struct watch_pods *w = xcalloc(1, sizeof *w);
	str_append_format(&selector, "spec.nodeName=%s", node);
	w->pods = pods;
	struct reflector_kind kind = {.name = "pods",
		.group_version = "v1",
		.resource = "pods",
		.field_selector = str_text(&selector),
		.projection = node_pod_projection()};
	w->reflector = reflector_create(kube, &kind, &options, &events, w);
	return w;
}

void watch_pods_destroy(struct watch_pods *w)
{
	if (w == NULL) {
		return;
	}
	reflector_destroy(w->reflector);
	arena_finish(&w->arena);
	free(w);
}

void watch_pods_step(struct watch_pods *w, int64_t now_mono_ms)
{
	reflector_step(w->reflector, now_mono_ms);
}

int64_t watch_pods_deadline(const struct watch_pods *w)
{
	return reflector_deadline(w->reflector);
}

bool watch_pods_synced(const struct watch_pods *w)
{
	return reflector_synced(w->reflector);
}

bool watch_pods_stale(const struct watch_pods *w)
{
	return reflector_is_stale(w->reflector);
}
