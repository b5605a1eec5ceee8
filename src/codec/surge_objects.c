/* The ReplicaSet, its Deployment, the new pod; and what walks over lists. */
#include "codec/surge_objects.h"

#include <stdio.h>

#include "model/names.h"
#include "surge_parts.h"

#define REVISION_NOTE "deployment.kubernetes.io/revision"

void surge_look_init(struct surge_look *l, const struct surge_order *order, int64_t wall_ms)
{
	*l = (struct surge_look){.order = order, .wall_ms = wall_ms};
	l->seen.live.all_ready = true;
	l->seen.live.budget_allows = true;
	l->seen.live.same_set = true;
}

void surge_look_finish(struct surge_look *l)
{
	arena_finish(&l->arena);
}

struct surge_where surge_where_of(struct surge_look *l, enum surge_source source)
{
	static const struct surge_where wheres[SURGE_SOURCES] = {
		[SURGE_SET] = {"apps/v1", "replicasets", NULL, NULL},
		[SURGE_OWNER] = {"apps/v1", "deployments", NULL, NULL},
		[SURGE_FRESH] = {"v1", "pods", NULL, NULL},
		[SURGE_CLAIMS] = {"v1", "persistentvolumeclaims", NULL, NULL},
		[SURGE_PODS] = {"v1", "pods", NULL, NULL},
		[SURGE_SETS] = {"apps/v1", "replicasets", NULL, NULL},
		[SURGE_REPLICATION_CONTROLLERS] = {"v1", "replicationcontrollers", NULL, NULL},
		[SURGE_STATEFUL_SETS] = {"apps/v1", "statefulsets", NULL, NULL},
		[SURGE_DAEMON_SETS] = {"apps/v1", "daemonsets", NULL, NULL},
		[SURGE_JOBS] = {"batch/v1", "jobs", NULL, NULL},
		[SURGE_SCALERS] = {"autoscaling/v2", "horizontalpodautoscalers", NULL, NULL},
		[SURGE_BUDGETS] = {"policy/v1", "poddisruptionbudgets", NULL, NULL},
	};
	struct surge_where w = wheres[source];
	if (source < SURGE_SOURCES_LOOK) {
		const char *const names[] = {l->order->set_name, l->owner, l->order->fresh_name};
		w.name = names[source];
		w.resource = w.name != NULL ? w.resource : NULL;
	}
	if (source == SURGE_CLAIMS) {
		w.name = l->claim_at < l->claim_count ? l->claims[l->claim_at] : NULL;
		w.resource = w.name != NULL ? w.resource : NULL;
	}
	if (source == SURGE_PODS) {
		w.label_selector =
			arena_printf(&l->arena, LABEL_TEMPLATE_HASH "=%s", l->order->hash);
	}
	return w;
}

void surge_blame(struct surge_look *l, const char *kind, const char *name)
{
	snprintf(l->seen.blocker, sizeof l->seen.blocker, "%s %s", kind, text_or(name, ""));
}

void surge_take_none(struct surge_look *l, enum surge_source source)
{
	if (source == SURGE_SET || source == SURGE_OWNER) {
		l->seen.current = false;
		l->seen.live.same_set = false;
		l->owner = NULL;
	} else if (source == SURGE_FRESH) {
		l->seen.ready_ms = 0;
	} else if (source == SURGE_CLAIMS) {
		surge_blame(l, "PersistentVolumeClaim", l->claims[l->claim_at++]);
		l->seen.exclusive_volume = true;
	}
}

/* --- the ReplicaSet --- */

struct set {
	const char *uid, *hash, *revision;
	int64_t generation, deleting_ms;
	int32_t replicas, status_replicas;
};

static const struct decode_field set_fields[] = {
	{"metadata.uid", DECODE_TEXT, true, offsetof(struct set, uid), NULL},
	{"metadata.generation", DECODE_I64, false, offsetof(struct set, generation), NULL},
	{"metadata.deletionTimestamp", DECODE_TIME, false, offsetof(struct set, deleting_ms), NULL},
	{"spec.replicas", DECODE_I32, false, offsetof(struct set, replicas), NULL},
	{"status.replicas", DECODE_I32, false, offsetof(struct set, status_replicas), NULL},
};

/* The Deployment that controls it, or NULL. */
static const json_t *controller_of(const json_t *object)
{
	const json_t *owners = decode_find(object, "metadata.ownerReferences");
	for (size_t i = 0; i < json_array_size(owners); i++) {
		const json_t *owner = json_array_get(owners, i);
		if (json_is_true(decode_find(owner, "controller"))) {
			return owner;
		}
	}
	return NULL;
}

const char *surge_text_at(const json_t *object, const char *path, const char *key)
{
	const json_t *at = path != NULL ? decode_find(object, path) : object;
	return json_string_value(json_object_get(at, key));
}

/* What the new pod has, or would have: all labels of the template but the one. */
static int read_labels(struct surge_look *l, const json_t *set, struct fault *ret_fault)
{
	struct pairs all;
	if (parts_read_pairs(decode_find(set, "spec.template.metadata.labels"), NULL, &l->arena,
		    &all, ret_fault) < 0) {
		return fault_wrap(ret_fault, "spec.template.metadata.labels");
	}
	l->old_labels = all;
	l->labels.items = ARENA_ARRAY(&l->arena, struct pair, all.count);
	for (uint32_t i = 0; i < all.count; i++) {
		if (!text_equals(all.items[i].key, LABEL_TEMPLATE_HASH)) {
			l->labels.items[l->labels.count++] = all.items[i];
		}
	}
	return 0;
}

/* Volumes of the old kind that name a disk. */
static const char *const disks[] = {"awsElasticBlockStore", "azureDisk", "cinder", "fc",
	"gcePersistentDisk", "iscsi", "photonPersistentDisk", "portworxVolume", "rbd", "scaleIO",
	"storageos", "vsphereVolume"};

static void read_volumes(struct surge_look *l, const json_t *set)
{
	const json_t *volumes = decode_find(set, "spec.template.spec.volumes");
	size_t count = json_array_size(volumes);
	l->claims = ARENA_ARRAY(&l->arena, const char *, count);
	for (size_t i = 0; i < count; i++) {
		const json_t *volume = json_array_get(volumes, i);
		const char *claim = surge_text_at(volume, "persistentVolumeClaim", "claimName");
		for (size_t k = 0; k < COUNT_OF(disks); k++) {
			if (json_object_get(volume, disks[k]) != NULL) {
				surge_blame(l, "volume", surge_text_at(volume, NULL, "name"));
				l->seen.exclusive_volume = true;
			}
		}
		if (claim != NULL) {
			l->claims[l->claim_count++] = arena_strdup(&l->arena, claim);
		}
	}
}

/* What can be had by many nodes can be had by two pods. */
static int take_claim(struct surge_look *l, const json_t *root, struct fault *ret_fault)
{
	const json_t *modes = NULL;
	if (decode_array(root, "spec.accessModes", &modes, ret_fault) < 0) {
		return -1;
	}
	bool many = false;
	for (size_t i = 0; i < json_array_size(modes); i++) {
		const char *mode = json_string_value(json_array_get(modes, i));
		many = many || text_equals(mode, "ReadWriteMany") ||
		       text_equals(mode, "ReadOnlyMany");
	}
	if (!many) {
		surge_blame(l, "PersistentVolumeClaim", l->claims[l->claim_at]);
		l->seen.exclusive_volume = true;
	}
	l->claim_at++;
	return 0;
}

static int take_set(struct surge_look *l, const json_t *root, struct fault *ret_fault)
{
	struct set set = {.replicas = 1};
	const struct surge_order *o = l->order;
	if (decode_fields(root, set_fields, COUNT_OF(set_fields), &l->arena, &set, ret_fault) < 0 ||
		read_labels(l, root, ret_fault) < 0) {
		return -1;
	}
	const char *hash = surge_text_at(root, "spec.selector.matchLabels", LABEL_TEMPLATE_HASH);
	const json_t *owner = controller_of(root);
	if (text_equals(surge_text_at(owner, NULL, "kind"), "Deployment")) {
		l->owner = arena_strdup(&l->arena, surge_text_at(owner, NULL, "name"));
		l->owner_uid = arena_strdup(&l->arena, surge_text_at(owner, NULL, "uid"));
	}
	l->revision =
		arena_strdup(&l->arena, surge_text_at(root, "metadata.annotations", REVISION_NOTE));
	bool same = text_equals(set.uid, o->set_uid) && text_equals(hash, o->hash);
	if (o->fresh_name == NULL) {
		read_volumes(l, root);
	}
	l->seen.generation = set.generation;
	l->seen.replicas = set.replicas;
	l->seen.live.spec_replicas = set.replicas;
	l->seen.live.status_replicas = set.status_replicas;
	l->seen.live.same_set = same && (o->generation == 0 || o->generation == set.generation);
	l->seen.current = same && l->owner != NULL && set.deleting_ms == 0 && set.replicas > 0;
	return 0;
}

/* --- its Deployment --- */

struct deployment {
	const char *uid;
	int64_t generation, observed, deleting_ms;
	int32_t min_ready_s;
};

static const struct decode_field deployment_fields[] = {
	{"metadata.uid", DECODE_TEXT, true, offsetof(struct deployment, uid), NULL},
	{"metadata.generation", DECODE_I64, false, offsetof(struct deployment, generation), NULL},
	{"metadata.deletionTimestamp", DECODE_TIME, false, offsetof(struct deployment, deleting_ms),
		NULL},
	{"spec.minReadySeconds", DECODE_I32, false, offsetof(struct deployment, min_ready_s), NULL},
	{"status.observedGeneration", DECODE_I64, false, offsetof(struct deployment, observed),
		NULL},
};

/* Until its controller has seen what it should be, its newest ReplicaSet may not be there yet: then
 * nothing is taken for changed, and nothing for the same. */
static int take_owner(struct surge_look *l, const json_t *root, struct fault *ret_fault)
{
	struct deployment d = {0};
	if (decode_fields(root, deployment_fields, COUNT_OF(deployment_fields), &l->arena, &d,
		    ret_fault) < 0) {
		return -1;
	}
	bool observed = d.observed >= d.generation;
	const char *revision = surge_text_at(root, "metadata.annotations", REVISION_NOTE);
	bool newest = revision != NULL && text_equals(revision, l->revision);
	bool there = text_equals(d.uid, l->owner_uid) && d.deleting_ms == 0;
	l->seen.min_ready_ms = d.min_ready_s * INT64_C(1000);
	l->seen.current = l->seen.current && there && (newest || !observed);
	l->seen.live.same_set = l->seen.live.same_set && there && newest && observed;
	return 0;
}

/* --- pods --- */

int64_t surge_ready_ms(const json_t *pod, struct arena *arena)
{
	static const struct decode_field fields[] = {
		{"lastTransitionTime", DECODE_TIME, true, 0, NULL}};
	const json_t *conditions = decode_find(pod, "status.conditions");
	for (size_t i = 0; i < json_array_size(conditions); i++) {
		const json_t *c = json_array_get(conditions, i);
		int64_t since = 0;
		if (text_equals(surge_text_at(c, NULL, "type"), "Ready") &&
			text_equals(surge_text_at(c, NULL, "status"), "True")) {
			return decode_fields(c, fields, 1, arena, &since, NULL) < 0 ? 0 : since;
		}
	}
	return 0;
}

static int take_fresh(struct surge_look *l, const json_t *root, struct fault *ret_fault)
{
	const char *uid = surge_text_at(root, "metadata", "uid");
	const struct surge_order *o = l->order;
	if (o->fresh_uid != NULL && !text_equals(uid, o->fresh_uid)) {
		return 0;
	}
	if (decode_find(root, "metadata.deletionTimestamp") == NULL) {
		l->seen.ready_ms = surge_ready_ms(root, &l->arena);
	}
	surge_take_cost(l, root);
	return parts_read_pairs(
		decode_find(root, "metadata.labels"), NULL, &l->arena, &l->labels, ret_fault);
}

/* --- lists --- */

struct walk {
	struct surge_look *look;
	enum surge_source source;
	struct fault fault;
};

static bool on_item(void *data, struct view type, const char *json, size_t n)
{
	CLEANUP(decode_release) json_t *root = NULL;
	struct walk *w = data;
	(void)type;
	return decode_parse(json, n, DECODE_MEND, &root, &w->fault) == 0 &&
	       surge_take_item(w->look, w->source, root, &w->fault) == 0;
}

static void on_oversize(void *data)
{
	struct walk *w = data;
	fault_set(&w->fault, FAULT_LIMIT, "one of them is too large to be read");
}

static int take_list(struct walk *w, const char *json, size_t n, struct fault *ret_fault)
{
	static const struct slice_events events = {
		.on_object = on_item, .on_oversize = on_oversize};
	struct slice slice;
	slice_init(&slice, SLICE_LIST, surge_item_projection(w->source), &events, w);
	int rc = slice_push(&slice, json, n, ret_fault);
	if (rc == 0 && w->fault.kind != FAULT_NONE) {
		fault_copy(ret_fault, &w->fault);
		rc = -1;
	}
	rc = rc == 0 ? slice_end(&slice, ret_fault) : rc;
	slice_finish(&slice);
	return rc;
}

int surge_take(struct surge_look *l, enum surge_source source, const char *json, size_t n,
	struct fault *ret_fault)
{
	static int (*const takes[])(struct surge_look * look, const json_t *root,
		struct fault *fault) = {take_set, take_owner, take_fresh, take_claim};
	CLEANUP(decode_release) json_t *root = NULL;
	struct walk walk = {.look = l, .source = source};
	int rc;
	if (source >= SURGE_PODS) {
		rc = take_list(&walk, json, n, ret_fault);
	} else if ((rc = decode_parse(json, n, DECODE_MEND, &root, ret_fault)) == 0) {
		rc = takes[source](l, root, ret_fault);
	}
	return rc == 0 ? 0 : fault_wrap(ret_fault, "%s", surge_where_of(l, source).resource);
}
