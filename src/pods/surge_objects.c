/* The ReplicaSet, its Deployment, the new pod; and lists: of the pods of the ReplicaSet, of
 * controllers that might claim the new pod, of horizontal autoscalers, of disruption budgets. */
#include "pods/surge_objects.h"

#include <stdio.h>

#include "model/names.h"
#include "codec/parts.h"

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

/* Who it is that speaks against it. */
static void blame(struct surge_look *l, const char *kind, const char *name)
{
	snprintf(l->seen.blocker, sizeof l->seen.blocker, "%s %s", kind, text_or(name, ""));
}

static void blame_item(struct surge_look *l, const char *kind, const json_t *item)
{
	blame(l, kind, decode_find_text(item, "metadata.name"));
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
		blame(l, "PersistentVolumeClaim", l->claims[l->claim_at++]);
		l->seen.exclusive_volume = true;
	}
}

/* --- the ReplicaSet --- */

struct set {
	const char *uid, *hash, *revision;
	int64_t generation, deleting_ms;
	int32_t replicas, status_replicas;
};

static const struct field set_fields[] = {
	FIELD("metadata.uid", text, AT(set, uid), .required = true),
	FIELD("metadata.generation", i64, AT(set, generation)),
	FIELD("metadata.deletionTimestamp", time, AT(set, deleting_ms)),
	FIELD("metadata.annotations/" REVISION_NOTE, note, AT(set, revision)),
	FIELD("spec.selector.matchLabels/" LABEL_TEMPLATE_HASH, note, AT(set, hash)),
	FIELD("spec.replicas", i32, AT(set, replicas)),
	FIELD("status.replicas", i32, AT(set, status_replicas)),
};
static const struct shape set_shape = {
	SHAPE(set, set_fields), .defaults = &(const struct set){.replicas = 1}};

/* Who controls an object, or NULL. */
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
		const char *claim = decode_find_text(volume, "persistentVolumeClaim.claimName");
		for (size_t k = 0; k < COUNT_OF(disks); k++) {
			if (json_object_get(volume, disks[k]) != NULL) {
				blame(l, "volume", decode_find_text(volume, "name"));
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
		blame(l, "PersistentVolumeClaim", l->claims[l->claim_at]);
		l->seen.exclusive_volume = true;
	}
	l->claim_at++;
	return 0;
}

static int take_set(struct surge_look *l, const json_t *root, struct fault *ret_fault)
{
	struct set set;
	const struct surge_order *o = l->order;
	if (fields_fill(root, &set_shape, &l->arena, &set, ret_fault) < 0 ||
		read_labels(l, root, ret_fault) < 0) {
		return -1;
	}
	const json_t *owner = controller_of(root);
	if (text_equals(decode_find_text(owner, "kind"), "Deployment")) {
		l->owner = arena_strdup(&l->arena, decode_find_text(owner, "name"));
		l->owner_uid = arena_strdup(&l->arena, decode_find_text(owner, "uid"));
	}
	l->revision = set.revision;
	bool same = text_equals(set.uid, o->set_uid) && text_equals(set.hash, o->hash);
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
	const char *uid, *revision;
	int64_t generation, observed, deleting_ms;
	int32_t min_ready_s;
};

static const struct field deployment_fields[] = {
	FIELD("metadata.uid", text, AT(deployment, uid), .required = true),
	FIELD("metadata.generation", i64, AT(deployment, generation)),
	FIELD("metadata.deletionTimestamp", time, AT(deployment, deleting_ms)),
	FIELD("metadata.annotations/" REVISION_NOTE, note, AT(deployment, revision)),
	FIELD("spec.minReadySeconds", i32, AT(deployment, min_ready_s)),
	FIELD("status.observedGeneration", i64, AT(deployment, observed)),
};
static const struct shape deployment_shape = {SHAPE(deployment, deployment_fields)};

/* Until its controller has seen what it should be, its newest ReplicaSet may not be there yet: then
 * nothing is taken for changed, and nothing for the same. */
static int take_owner(struct surge_look *l, const json_t *root, struct fault *ret_fault)
{
	struct deployment d;
	if (fields_fill(root, &deployment_shape, &l->arena, &d, ret_fault) < 0) {
		return -1;
	}
	bool observed = d.observed >= d.generation;
	bool newest = d.revision != NULL && text_equals(d.revision, l->revision);
	bool there = text_equals(d.uid, l->owner_uid) && d.deleting_ms == 0;
	l->seen.min_ready_ms = d.min_ready_s * INT64_C(1000);
	l->seen.current = l->seen.current && there && (newest || !observed);
	l->seen.live.same_set = l->seen.live.same_set && there && newest && observed;
	return 0;
}

/* --- pods --- */

static const struct field ready_fields[] = {
	FIELD("lastTransitionTime", time, AT(condition, since_ms), .required = true),
};
static const struct shape ready_shape = {SHAPE(condition, ready_fields)};

/* Since when it is; 0: it is not. */
static int64_t ready_ms(const json_t *pod, struct arena *arena)
{
	const json_t *conditions = decode_find(pod, "status.conditions");
	for (size_t i = 0; i < json_array_size(conditions); i++) {
		const json_t *object = json_array_get(conditions, i);
		struct condition c = {0};
		if (text_equals(decode_find_text(object, "type"), "Ready") &&
			text_equals(decode_find_text(object, "status"), "True")) {
			return fields_read(object, &ready_shape, arena, &c, NULL) < 0 ? 0
										      : c.since_ms;
		}
	}
	return 0;
}

/* May its ReplicaSet delete this one instead of the old one, once it has both? */
static void take_cost(struct surge_look *l, const json_t *pod)
{
	const char *text = decode_find_text(pod, "metadata.annotations/" NOTE_DELETION_COST);
	int64_t cost;
	/* What cannot be read is 0, as Kubernetes has it. */
	if (text != NULL && parse_i64(view_of(text), INT32_MIN, INT32_MAX, &cost) &&
		cost <= SURGE_COST) {
		l->seen.live.cheaper = true;
		blame_item(l, "Pod", pod);
	}
}

static int take_fresh(struct surge_look *l, const json_t *root, struct fault *ret_fault)
{
	const char *uid = decode_find_text(root, "metadata.uid");
	const struct surge_order *o = l->order;
	if (o->fresh_uid != NULL && !text_equals(uid, o->fresh_uid)) {
		return 0;
	}
	if (decode_find(root, "metadata.deletionTimestamp") == NULL) {
		l->seen.ready_ms = ready_ms(root, &l->arena);
	}
	take_cost(l, root);
	return parts_read_pairs(
		decode_find(root, "metadata.labels"), NULL, &l->arena, &l->labels, ret_fault);
}

/* --- lists: its pods --- */

static int take_pod(
	struct surge_look *l, enum surge_source source, const json_t *item, struct fault *ret_fault)
{
	(void)source;
	const char *phase = decode_find_text(item, "status.phase");
	bool ended = text_equals(phase, "Succeeded") || text_equals(phase, "Failed");
	const json_t *set = controller_of(item);
	if (set == NULL || ended || !text_equals(decode_find_text(set, "uid"), l->order->set_uid)) {
		return 0;
	}
	bool is_old = text_equals(decode_find_text(item, "metadata.uid"), l->order->old_uid);
	bool leaves = decode_find(item, "metadata.deletionTimestamp") != NULL;
	l->seen.present += leaves ? 0 : 1;
	if (ready_ms(item, &l->arena) == 0 || leaves) {
		l->seen.live.all_ready = false;
		blame_item(l, "Pod", item);
	}
	if (!is_old) {
		take_cost(l, item);
	}
	return is_old ? parts_read_pairs(decode_find(item, "metadata.labels"), NULL, &l->arena,
				&l->old_labels, ret_fault)
		      : 0;
}

/* --- who else selects it --- */

static int read_selector(const json_t *item, bool plain, struct arena *arena,
	struct selector *ret_selector, struct fault *ret_fault)
{
	const json_t *selector = decode_find(item, "spec.selector");
	*ret_selector = (struct selector){0};
	if (selector == NULL) {
		return 0;
	}
	if (!plain) {
		return parts_read_selector(selector, arena, ret_selector, ret_fault);
	}
	ret_selector->present = true;
	return parts_read_pairs(selector, NULL, arena, &ret_selector->match_labels, ret_fault);
}

static int take_claimer(
	struct surge_look *l, enum surge_source source, const json_t *item, struct fault *ret_fault)
{
	static const char *const kinds[SURGE_SOURCES] = {
		[SURGE_SETS] = "ReplicaSet",
		[SURGE_REPLICATION_CONTROLLERS] = "ReplicationController",
		[SURGE_STATEFUL_SETS] = "StatefulSet",
		[SURGE_DAEMON_SETS] = "DaemonSet",
		[SURGE_JOBS] = "Job",
	};
	struct selector selector;
	if (read_selector(item, source == SURGE_REPLICATION_CONTROLLERS, &l->arena, &selector,
		    ret_fault) < 0) {
		return -1;
	}
	bool ours = text_equals(decode_find_text(item, "metadata.uid"), l->order->set_uid);
	if (selector.present && !ours && selector_matches(&selector, &l->labels)) {
		l->seen.live.other_claims = true;
		blame_item(l, kinds[source], item);
	}
	return 0;
}

/* --- who changes the number --- */

struct scaler_state {
	const char *kind, *name;
	int64_t scaled_ms;
	int32_t current, desired;
};

static const struct field scaler_fields[] = {
	FIELD("spec.scaleTargetRef.kind", text, AT(scaler_state, kind)),
	FIELD("spec.scaleTargetRef.name", text, AT(scaler_state, name)),
	FIELD("status.lastScaleTime", time, AT(scaler_state, scaled_ms)),
	FIELD("status.currentReplicas", i32, AT(scaler_state, current)),
	FIELD("status.desiredReplicas", i32, AT(scaler_state, desired)),
};
static const struct shape scaler_shape = {SHAPE(scaler_state, scaler_fields)};

static int take_scaler(
	struct surge_look *l, enum surge_source source, const json_t *item, struct fault *ret_fault)
{
	(void)source;
	struct scaler_state s;
	if (fields_fill(item, &scaler_shape, &l->arena, &s, ret_fault) < 0) {
		return -1;
	}
	bool on_owner = text_equals(s.kind, "Deployment") && text_equals(s.name, l->owner);
	bool on_set = text_equals(s.kind, "ReplicaSet") && text_equals(s.name, l->order->set_name);
	/* One that has not looked yet tells no number. */
	bool moves = s.desired != 0 && s.current != s.desired;
	bool moved = s.scaled_ms != 0 && l->wall_ms - s.scaled_ms < SURGE_QUIET_MS;
	if ((on_owner || on_set) && (moves || moved)) {
		l->seen.live.scaling = true;
		blame_item(l, "HorizontalPodAutoscaler", item);
	}
	return 0;
}

/* --- what forbids it --- */

struct budget_state {
	int64_t generation, observed;
	int32_t healthy, desired;
};

static const struct field budget_fields[] = {
	FIELD("metadata.generation", i64, AT(budget_state, generation)),
	FIELD("status.observedGeneration", i64, AT(budget_state, observed)),
	FIELD("status.currentHealthy", i32, AT(budget_state, healthy)),
	FIELD("status.desiredHealthy", i32, AT(budget_state, desired)),
};
static const struct shape budget_shape = {SHAPE(budget_state, budget_fields)};

/* The ReplicaSet deletes without asking it. What it counts includes the new pod, once that is
 * Ready. */
static int take_budget(
	struct surge_look *l, enum surge_source source, const json_t *item, struct fault *ret_fault)
{
	(void)source;
	struct budget_state b;
	struct selector selector;
	if (fields_fill(item, &budget_shape, &l->arena, &b, ret_fault) < 0 ||
		read_selector(item, false, &l->arena, &selector, ret_fault) < 0) {
		return -1;
	}
	int64_t counted = (int64_t)b.healthy - (l->order->fresh_name != NULL ? 1 : 0);
	bool allows = b.observed >= b.generation && counted >= b.desired;
	if (selector.present && !allows && selector_matches(&selector, &l->old_labels)) {
		l->seen.live.budget_allows = false;
		blame_item(l, "PodDisruptionBudget", item);
	}
	return 0;
}

/* --- lists: each of one --- */

/* What is kept of each, whatever a list is of. */
static const struct field item_fields[] = {
	FIELD_KEPT("metadata.generation"),
	FIELD_KEPT("metadata.deletionTimestamp"),
	FIELD_KEPT("metadata.labels"),
	FIELD_KEPT("metadata.annotations/" NOTE_DELETION_COST),
	{.path = "metadata.ownerReferences", .keys = WORDS("uid", "controller")},
	FIELD_KEPT("spec.selector"),
	FIELD_KEPT("spec.scaleTargetRef"),
	FIELD_KEPT("status.phase"),
	{.path = "status.conditions", .keys = WORDS("type", "status", "lastTransitionTime")},
	FIELD_KEPT("status.currentReplicas"),
	FIELD_KEPT("status.desiredReplicas"),
	FIELD_KEPT("status.lastScaleTime"),
	FIELD_KEPT("status.observedGeneration"),
	FIELD_KEPT("status.currentHealthy"),
	FIELD_KEPT("status.desiredHealthy"),
};
static const struct shape item_shape = {.fields = item_fields, .count = COUNT_OF(item_fields)};

/* By the source of a list: takes one of its elements. */
static int (*const takes_item[SURGE_SOURCES])(struct surge_look *l, enum surge_source source,
	const json_t *item, struct fault *ret_fault) = {
	[SURGE_PODS] = take_pod,
	[SURGE_SETS] = take_claimer,
	[SURGE_REPLICATION_CONTROLLERS] = take_claimer,
	[SURGE_STATEFUL_SETS] = take_claimer,
	[SURGE_DAEMON_SETS] = take_claimer,
	[SURGE_JOBS] = take_claimer,
	[SURGE_SCALERS] = take_scaler,
	[SURGE_BUDGETS] = take_budget,
};

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
	       takes_item[w->source](w->look, w->source, root, &w->fault) == 0;
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
	slice_init(&slice, SLICE_LIST, meta_projection(&item_shape), &events, w);
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
