/* One of many: a pod of the ReplicaSet, a controller that might claim the new pod, a horizontal
 * autoscaler, a disruption budget. */
#include "surge_parts.h"

#include "model/names.h"

static const struct slice_keep owner_keep[] = {
	SLICE_KEEP("uid"), SLICE_KEEP("controller"), SLICE_END};
static const struct slice_keep notes_keep[] = {SLICE_KEEP(NOTE_DELETION_COST), SLICE_END};
static const struct slice_keep meta_keep[] = {
	PARTS_META_KEEP,
	SLICE_KEEP("generation"),
	SLICE_KEEP("deletionTimestamp"),
	SLICE_KEEP("labels"),
	SLICE_KEEP_IN("annotations", notes_keep),
	SLICE_KEEP_IN("ownerReferences", owner_keep),
	SLICE_END,
};
static const struct slice_keep condition_keep[] = {
	SLICE_KEEP("type"), SLICE_KEEP("status"), SLICE_KEEP("lastTransitionTime"), SLICE_END};
static const struct slice_keep status_keep[] = {
	SLICE_KEEP("phase"),
	SLICE_KEEP_IN("conditions", condition_keep),
	SLICE_KEEP("currentReplicas"),
	SLICE_KEEP("desiredReplicas"),
	SLICE_KEEP("lastScaleTime"),
	SLICE_KEEP("observedGeneration"),
	SLICE_KEEP("currentHealthy"),
	SLICE_KEEP("desiredHealthy"),
	SLICE_END,
};
static const struct slice_keep spec_keep[] = {
	SLICE_KEEP("selector"), SLICE_KEEP("scaleTargetRef"), SLICE_END};
static const struct slice_keep item_keep[] = {
	SLICE_KEEP_IN("metadata", meta_keep),
	SLICE_KEEP_IN("spec", spec_keep),
	SLICE_KEEP_IN("status", status_keep),
	SLICE_END,
};

const struct slice_keep *surge_item_projection(enum surge_source source)
{
	(void)source;
	return item_keep;
}

static void blame(struct surge_look *l, const char *kind, const json_t *item)
{
	surge_blame(l, kind, surge_text_at(item, "metadata", "name"));
}

/* --- its pods --- */

static bool is_of_set(const struct surge_look *l, const json_t *item)
{
	const json_t *owners = decode_find(item, "metadata.ownerReferences");
	for (size_t i = 0; i < json_array_size(owners); i++) {
		const json_t *owner = json_array_get(owners, i);
		if (json_is_true(decode_find(owner, "controller"))) {
			return text_equals(surge_text_at(owner, NULL, "uid"), l->order->set_uid);
		}
	}
	return false;
}

/* What cannot be read is 0, as Kubernetes has it. */
static int64_t cost_of(const json_t *item)
{
	const char *text = surge_text_at(item, "metadata.annotations", NOTE_DELETION_COST);
	int64_t cost = 0;
	bool read = text != NULL && parse_i64(view_of(text), INT32_MIN, INT32_MAX, &cost);
	return read ? cost : 0;
}

void surge_take_cost(struct surge_look *l, const json_t *pod)
{
	if (cost_of(pod) <= SURGE_COST) {
		l->seen.live.cheaper = true;
		blame(l, "Pod", pod);
	}
}

static int take_pod(struct surge_look *l, const json_t *item, struct fault *ret_fault)
{
	const char *phase = surge_text_at(item, "status", "phase");
	bool ended = text_equals(phase, "Succeeded") || text_equals(phase, "Failed");
	if (!is_of_set(l, item) || ended) {
		return 0;
	}
	bool is_old = text_equals(surge_text_at(item, "metadata", "uid"), l->order->old_uid);
	bool leaves = decode_find(item, "metadata.deletionTimestamp") != NULL;
	l->seen.present += leaves ? 0 : 1;
	if (surge_ready_ms(item, &l->arena) == 0 || leaves) {
		l->seen.live.all_ready = false;
		blame(l, "Pod", item);
	}
	if (!is_old) {
		surge_take_cost(l, item);
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
	bool ours = text_equals(surge_text_at(item, "metadata", "uid"), l->order->set_uid);
	if (selector.present && !ours && selector_matches(&selector, &l->labels)) {
		l->seen.live.other_claims = true;
		blame(l, kinds[source], item);
	}
	return 0;
}

/* --- who changes the number --- */

struct scaler_state {
	const char *kind, *name;
	int64_t scaled_ms;
	int32_t current, desired;
};

static const struct decode_field scaler_fields[] = {
	{"spec.scaleTargetRef.kind", DECODE_TEXT, false, offsetof(struct scaler_state, kind), NULL},
	{"spec.scaleTargetRef.name", DECODE_TEXT, false, offsetof(struct scaler_state, name), NULL},
	{"status.lastScaleTime", DECODE_TIME, false, offsetof(struct scaler_state, scaled_ms),
		NULL},
	{"status.currentReplicas", DECODE_I32, false, offsetof(struct scaler_state, current), NULL},
	{"status.desiredReplicas", DECODE_I32, false, offsetof(struct scaler_state, desired), NULL},
};

static int take_scaler(struct surge_look *l, const json_t *item, struct fault *ret_fault)
{
	struct scaler_state s = {0};
	if (decode_fields(item, scaler_fields, COUNT_OF(scaler_fields), &l->arena, &s, ret_fault) <
		0) {
		return -1;
	}
	bool on_owner = text_equals(s.kind, "Deployment") && text_equals(s.name, l->owner);
	bool on_set = text_equals(s.kind, "ReplicaSet") && text_equals(s.name, l->order->set_name);
	/* One that has not looked yet tells no number. */
	bool moves = s.desired != 0 && s.current != s.desired;
	bool moved = s.scaled_ms != 0 && l->wall_ms - s.scaled_ms < SURGE_QUIET_MS;
	if ((on_owner || on_set) && (moves || moved)) {
		l->seen.live.scaling = true;
		blame(l, "HorizontalPodAutoscaler", item);
	}
	return 0;
}

/* --- what forbids it --- */

struct budget_state {
	int64_t generation, observed;
	int32_t healthy, desired;
};

static const struct decode_field budget_fields[] = {
	{"metadata.generation", DECODE_I64, false, offsetof(struct budget_state, generation), NULL},
	{"status.observedGeneration", DECODE_I64, false, offsetof(struct budget_state, observed),
		NULL},
	{"status.currentHealthy", DECODE_I32, false, offsetof(struct budget_state, healthy), NULL},
	{"status.desiredHealthy", DECODE_I32, false, offsetof(struct budget_state, desired), NULL},
};

/* The ReplicaSet deletes without asking it. What it counts includes the new pod, once that is
 * Ready. */
static int take_budget(struct surge_look *l, const json_t *item, struct fault *ret_fault)
{
	struct budget_state b = {0};
	struct selector selector;
	if (decode_fields(item, budget_fields, COUNT_OF(budget_fields), &l->arena, &b, ret_fault) <
			0 ||
		read_selector(item, false, &l->arena, &selector, ret_fault) < 0) {
		return -1;
	}
	int64_t counted = (int64_t)b.healthy - (l->order->fresh_name != NULL ? 1 : 0);
	bool allows = b.observed >= b.generation && counted >= b.desired;
	if (selector.present && !allows && selector_matches(&selector, &l->old_labels)) {
		l->seen.live.budget_allows = false;
		blame(l, "PodDisruptionBudget", item);
	}
	return 0;
}

int surge_take_item(
	struct surge_look *l, enum surge_source source, const json_t *item, struct fault *ret_fault)
{
	switch (source) {
	case SURGE_PODS:
		return take_pod(l, item, ret_fault);
	case SURGE_SETS:
	case SURGE_REPLICATION_CONTROLLERS:
	case SURGE_STATEFUL_SETS:
	case SURGE_DAEMON_SETS:
	case SURGE_JOBS:
		return take_claimer(l, source, item, ret_fault);
	case SURGE_SCALERS:
		return take_scaler(l, item, ret_fault);
	case SURGE_BUDGETS:
		return take_budget(l, item, ret_fault);
	case SURGE_SET:
	case SURGE_OWNER:
	case SURGE_FRESH:
	case SURGE_CLAIMS:
	case SURGE_SOURCES:
		break;
	}
	BUG("no list");
}
