/* One row a kind: where it is watched, what of it is kept, how it is decoded. */
#include "kube/feeds.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/log.h"
#include "codec/limitrange.h"
#include "codec/namespace.h"
#include "codec/node.h"
#include "codec/pod.h"
#include "codec/policy.h"
#include "kube/reflector.h"
#include "model/names.h"

struct feed {
	struct feeds *all; /* borrowed */
	enum kind kind;
	struct reflector *reflector; /* owned */
};

struct feeds {
	struct feed items[KIND_WATCHED];
	bool (*on_change)(void *data, const struct change *c);
	void *data;
	struct arena arena; /* of one object */
};

static int decode(struct feed *f, const char *json, size_t n, struct change *c, struct fault *fault)
{
	struct arena *a = &f->all->arena;
	switch (f->kind) {
	case KIND_POD: {
		struct pod *pod = ARENA_NEW(a, struct pod);
		c->pod = pod;
		return pod_decode(json, n, a, pod, fault);
	}
	case KIND_NODE: {
		struct node *node = ARENA_NEW(a, struct node);
		c->node = node;
		return node_decode(json, n, a, node, fault);
	}
	case KIND_POLICY: {
		struct policy *policy = ARENA_NEW(a, struct policy);
		c->policy = policy;
		return policy_decode(json, n, a, policy, fault);
	}
	case KIND_NAMESPACE: {
		struct namespace *ns = ARENA_NEW(a, struct namespace);
		c->namespace = ns;
		return namespace_decode(json, n, a, ns, fault);
	}
	case KIND_LIMIT_RANGE: {
		struct limit_range *range = ARENA_NEW(a, struct limit_range);
		c->limit_range = range;
		return limit_range_decode(json, n, a, range, fault);
	}
	case KIND_CLAIM:
	case KIND_COUNT:
		break;
	}
	BUG("no such kind");
}

static bool tell(struct feed *f, struct change c)
{
	c.kind = f->kind;
	return f->all->on_change(f->all->data, &c);
}

static void on_begin(void *data)
{
	tell(data, (struct change){.type = CHANGE_RELIST_BEGIN});
}

static bool on_object(void *data, const char *json, size_t n)
{
	struct feed *f = data;
	struct change c = {.type = CHANGE_SET};
	struct fault fault;
	int result = decode(f, json, n, &c, &fault);
	if (result == 0 && !tell(f, c)) {
		result = fault_set(&fault, FAULT_LIMIT, "it is too large to be kept");
	}
	if (result < 0) {
		log_warn("an object cannot be read", LOG_S("kind", kind_name(f->kind)),
			LOG_F(&fault));
	}
	arena_reset(&f->all->arena);
	return result == 0;
}

static void on_gone(void *data, const char *ns, const char *name, const char *uid)
{
	tell(data, (struct change){.type = CHANGE_GONE, .ns = ns, .name = name, .uid = uid});
}

static void on_unread(void *data, const char *ns, const char *name)
{
	tell(data, (struct change){.type = CHANGE_KEEP, .ns = ns, .name = name});
}

static void on_end(void *data, bool sweep)
{
	tell(data, (struct change){.type = CHANGE_RELIST_END, .no_sweep = !sweep});
}

static void on_stale(void *data, bool stale)
{
	tell(data, (struct change){.type = stale ? CHANGE_STALE : CHANGE_FRESH});
}

struct feeds *feeds_create(struct kube *kube, uint64_t seed,
	bool (*on_change)(void *data, const struct change *c), void *data)
{
	const struct reflector_kind kinds[KIND_WATCHED] = {
		[KIND_POD] = {.name = "pods",
			.group_version = "v1",
			.resource = "pods",
			.projection = pod_projection()},
		[KIND_NODE] = {.name = "nodes",
			.group_version = "v1",
			.resource = "nodes",
			.projection = node_projection()},
		[KIND_POLICY] = {.name = "gpupolicies",
			.group_version = NAME_GROUP "/" NAME_VERSION,
			.resource = "gpupolicies",
			.projection = policy_projection()},
		[KIND_NAMESPACE] = {.name = "namespaces",
			.group_version = "v1",
			.resource = "namespaces",
			.projection = namespace_projection()},
		[KIND_LIMIT_RANGE] = {.name = "limitranges",
			.group_version = "v1",
			.resource = "limitranges",
			.projection = limit_range_projection()},
	};
	const struct reflector_events events = {.on_begin = on_begin,
		.on_object = on_object,
		.on_gone = on_gone,
		.on_unread = on_unread,
		.on_end = on_end,
		.on_stale = on_stale};
	struct feeds *f = xcalloc(1, sizeof *f);
	f->on_change = on_change;
	f->data = data;
	for (int k = 0; k < KIND_WATCHED; k++) {
		struct reflector_options options = {.seed = seed};
		f->items[k] = (struct feed){.all = f, .kind = (enum kind)k};
		f->items[k].reflector =
			reflector_create(kube, &kinds[k], &options, &events, &f->items[k]);
	}
	return f;
}

void feeds_destroy(struct feeds *f)
{
	if (f == NULL) {
		return;
	}
	for (int k = 0; k < KIND_WATCHED; k++) {
		reflector_destroy(f->items[k].reflector);
	}
	arena_finish(&f->arena);
	free(f);
}

void feeds_step(struct feeds *f, int64_t now_mono_ms)
{
	for (int k = 0; k < KIND_WATCHED; k++) {
		reflector_step(f->items[k].reflector, now_mono_ms);
	}
}

int64_t feeds_deadline(const struct feeds *f)
{
	int64_t at = TIME_NEVER;
	for (int k = 0; k < KIND_WATCHED; k++) {
		at = time_min(at, reflector_deadline(f->items[k].reflector));
	}
	return at;
}

void feeds_relist(struct feeds *f)
{
	for (int k = 0; k < KIND_WATCHED; k++) {
		reflector_relist(f->items[k].reflector);
	}
}
