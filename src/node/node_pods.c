/* The node's pods: each with an arena of its own, found by uid in a table. */
#include "node/node_pods.h"

#include "base/table.h"

#define POD_BLOCK_BYTES 512
/* Of a static pod's name in a cgroup. A uid is longer: nobody is found by another's. */
#define HASH_CHARS 32

struct held {
	struct table_row row; /* its name is the pod's uid, which has no namespace */
	struct node_pod pod;
	struct arena arena; /* owns the pod's text */
	struct arena told;  /* owns what the kubelet said of it */
	uint64_t since;	    /* the last question before it was known */
	uint64_t heard;	    /* the last question that its name was told to */
};

struct node_pods {
	struct table all;
	uint64_t asked; /* questions to the kubelet */
};

static void on_pod_dropped(void *data, struct table_row *row)
{
	struct held *h = (struct held *)(void *)row;
	(void)data;
	arena_finish(&h->arena);
	arena_finish(&h->told);
	free(h);
}

struct node_pods *node_pods_create(void)
{
	struct node_pods *p = xcalloc(1, sizeof *p);
	table_init(&p->all, on_pod_dropped, p);
	return p;
}

void node_pods_destroy(struct node_pods *p)
{
	if (p != NULL) {
		table_finish(&p->all);
		free(p);
	}
}

/* --- changes ---------------------------------------------------------------------------------- */

static void copy_lists(struct arena *a, struct node_pod *to, const struct node_pod *from)
{
	uint32_t containers = from->container_count;
	to->container_count = containers < NODE_CONTAINERS_MAX ? containers : NODE_CONTAINERS_MAX;
	to->containers = ARENA_ARRAY(a, struct node_container, to->container_count + 1);
	for (uint32_t i = 0; i < to->container_count; i++) {
		to->containers[i] = (struct node_container){
			.name = arena_strdup(a, from->containers[i].name),
			.id = arena_strdup(a, from->containers[i].id),
		};
	}
	to->uuid_count = from->uuid_count < NODE_UUIDS_MAX ? from->uuid_count : NODE_UUIDS_MAX;
	to->uuids = ARENA_ARRAY(a, const char *, to->uuid_count + 1);
	for (uint32_t i = 0; i < to->uuid_count; i++) {
		to->uuids[i] = arena_strdup(a, from->uuids[i]);
	}
}

static struct held *held_make(const struct node_pod *pod)
{
	struct held *h = xcalloc(1, sizeof *h);
	struct arena *a = &h->arena;
	a->block_bytes = h->told.block_bytes = POD_BLOCK_BYTES;
	h->pod = *pod;
	h->pod.uid = arena_strdup(a, pod->uid);
	h->pod.ns = arena_strdup(a, text_or(pod->ns, ""));
	h->pod.name = arena_strdup(a, text_or(pod->name, ""));
	h->pod.config_hash = arena_strdup(a, pod->config_hash);
	h->pod.gpu_container = arena_strdup(a, pod->gpu_container);
	h->pod.mps_threads = arena_strdup(a, pod->mps_threads);
	h->pod.mps_memory = arena_strdup(a, pod->mps_memory);
	h->pod.seen = NULL;
	h->pod.seen_count = 0;
	h->pod.told = NULL;
	h->pod.told_count = 0;
	copy_lists(a, &h->pod, pod);
	h->row.ns = "";
	h->row.name = h->pod.uid;
	return h;
}

static struct held *held_at(const struct node_pods *p, size_t i)
{
	return (struct held *)(void *)p->all.rows.items[i];
}

static struct held *held_find(const struct node_pods *p, const char *uid)
{
	return text_empty(uid) ? NULL : (struct held *)(void *)table_find(&p->all, "", uid);
}

static struct held *held_named(const struct node_pods *p, const char *ns, const char *name)
{
	for (size_t i = 0; i < p->all.rows.count; i++) {
		struct held *h = held_at(p, i);
		if (text_equals(h->pod.ns, ns) && text_equals(h->pod.name, name)) {
			return h;
		}
	}
	return NULL;
}

static void held_see(struct held *h, const char *uuid)
{
	struct node_pod *pod = &h->pod;
	if (pod->seen_count == NODE_UUIDS_MAX || text_empty(uuid) || node_pod_seen(pod, uuid)) {
		return;
	}
	if (pod->seen == NULL) {
		pod->seen = ARENA_ARRAY(&h->arena, const char *, NODE_UUIDS_MAX);
	}
	pod->seen[pod->seen_count++] = arena_strdup(&h->arena, uuid);
}

void node_pods_ask(struct node_pods *p)
{
	p->asked++;
}

static bool devices_are_told(
	const struct node_pod *pod, const struct node_device *devices, uint32_t n)
{
	bool same = pod->told_count == n;
	for (uint32_t i = 0; same && i < n; i++) {
		same = text_equals(pod->told[i].uuid, devices[i].uuid) &&
		       text_equals(pod->told[i].container, devices[i].container);
	}
	return same;
}

static void held_set_devices(struct held *h, const struct node_device *devices, uint32_t count)
{
	uint32_t n = count < NODE_TOLD_MAX ? count : NODE_TOLD_MAX;
	if (devices_are_told(&h->pod, devices, n)) {
		return;
	}
	arena_reset(&h->told);
	struct node_device *told = ARENA_ARRAY(&h->told, struct node_device, n + 1);
	for (uint32_t i = 0; i < n; i++) {
		told[i] = (struct node_device){.uuid = arena_strdup(&h->told, devices[i].uuid),
			.container = arena_strdup(&h->told, devices[i].container)};
	}
	h->pod.told = told;
	h->pod.told_count = n;
}

void node_pods_told(struct node_pods *p, const char *ns, const char *name,
	const struct node_device *devices, uint32_t count)
{
	struct held *h = held_named(p, ns, name);
	if (h == NULL) {
		return;
	}
	bool twice = h->heard == p->asked;
	h->heard = p->asked;
	if (h->since < p->asked) {
		held_set_devices(h, devices, twice ? 0 : count);
	}
}

void node_pods_saw(struct node_pods *p, const char *uid, const char *uuid)
{
	struct held *h = held_find(p, uid);
	if (h != NULL) {
		held_see(h, uuid);
	}
}

/* What was seen and told of the pod goes on. */
static void held_replace(struct node_pods *p, struct held *former, struct held *h)
{
	for (uint32_t i = 0; i < former->pod.seen_count; i++) {
		held_see(h, former->pod.seen[i]);
	}
	h->told = former->told;
	former->told = (struct arena){0};
	h->pod.told = former->pod.told;
	h->pod.told_count = former->pod.told_count;
	h->since = former->since;
	h->heard = former->heard;
	h->row.at = former->row.at;
	h->row.mark = p->all.mark;
	p->all.rows.items[h->row.at] = &h->row;
	on_pod_dropped(p, &former->row);
}

bool node_pods_set(struct node_pods *p, const struct node_pod *pod)
{
	struct held *former = held_find(p, pod->uid);
	if (text_empty(pod->uid) || (former == NULL && p->all.rows.count >= NODE_PODS_MAX)) {
		return false;
	}
	/* Made first: what it is copied from may be of this very table. */
	struct held *h = held_make(pod);
	h->since = p->asked;
	if (former != NULL) {
		held_replace(p, former, h);
	} else {
		table_add(&p->all, &h->row);
	}
	return true;
}

void node_pods_remove(struct node_pods *p, const char *uid)
{
	struct held *h = held_find(p, uid);
	if (h != NULL) {
		table_remove(&p->all, &h->row);
	}
}

void node_pods_relist_begin(struct node_pods *p)
{
	p->all.mark++;
}

void node_pods_keep(struct node_pods *p, const char *uid)
{
	struct held *h = held_find(p, uid);
	if (h != NULL) {
		h->row.mark = p->all.mark;
	}
}

void node_pods_relist_end(struct node_pods *p)
{
	table_sweep(&p->all);
}

/* --- questions -------------------------------------------------------------------------------- */

uint32_t node_pods_count(const struct node_pods *p)
{
	return (uint32_t)p->all.rows.count;
}

const struct node_pod *node_pods_at(const struct node_pods *p, uint32_t i)
{
	return &held_at(p, i)->pod;
}

const struct node_pod *node_pods_find(const struct node_pods *p, const char *uid)
{
	const struct held *h = held_find(p, uid);
	return h != NULL ? &h->pod : NULL;
}

static const struct node_pod *by_hash(const struct node_pods *p, const char *hash)
{
	const struct node_pod *found = NULL;
	for (size_t i = 0; i < p->all.rows.count; i++) {
		const struct node_pod *pod = &held_at(p, i)->pod;
		if (!text_equals(pod->config_hash, hash)) {
			continue;
		}
		if (found != NULL) {
			return NULL;
		}
		found = pod;
	}
	return found;
}

const struct node_pod *node_pods_of_cgroup(const struct node_pods *p, const char *name)
{
	if (text_empty(name)) {
		return NULL;
	}
	const struct node_pod *pod = node_pods_find(p, name);
	return pod != NULL || strlen(name) != HASH_CHARS ? pod : by_hash(p, name);
}

const struct node_pod *node_pods_named(const struct node_pods *p, const char *ns, const char *name)
{
	const struct held *h = held_named(p, ns, name);
	return h != NULL ? &h->pod : NULL;
}

static bool is_among(const char **uuids, uint32_t count, const char *uuid)
{
	/* A device that never answered has none. */
	for (uint32_t i = 0; i < count && !text_empty(uuid); i++) {
		if (text_equals(uuids[i], uuid)) {
			return true;
		}
	}
	return false;
}

bool node_pod_granted(const struct node_pod *p, const char *uuid)
{
	return is_among(p->uuids, p->uuid_count, uuid);
}

bool node_pod_seen(const struct node_pod *p, const char *uuid)
{
	return is_among(p->seen, p->seen_count, uuid);
}

bool node_pod_told(const struct node_pod *p, const char *uuid)
{
	for (uint32_t i = 0; i < p->told_count && !text_empty(uuid); i++) {
		if (text_equals(p->told[i].uuid, uuid)) {
			return true;
		}
	}
	return false;
}

const struct node_container *node_pod_container(const struct node_pod *p, const char *id)
{
	for (uint32_t i = 0; i < p->container_count && !text_empty(id); i++) {
		if (text_equals(p->containers[i].id, id)) {
			return &p->containers[i];
		}
	}
	return NULL;
}
