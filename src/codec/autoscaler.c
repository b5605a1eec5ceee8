/* HorizontalPodAutoscalers and ScaledObjects. */
#include "codec/objects.h"

#include "codec/parts.h"

/* The texts by which the forms of a metric name it. */
#define METRIC_FORMS 5
struct metric {
	const char *names[METRIC_FORMS];
};

struct raw {
	struct scaler scaler;
	const char *api_version;     /* of the target */
	const char *list;	     /* where its metrics stand, */
	const struct shape *element; /* and what one is */
};

static int read_metrics(const struct reading *r, const json_t *root, struct raw *raw)
{
	const json_t *array = NULL;
	struct field_items found;
	if (decode_array(root, raw->list, &array, r->fault) < 0 ||
		fields_read_list(array, raw->element, r->arena, &found, r->fault) < 0) {
		return -1;
	}
	const struct metric *metrics = found.items;
	const char **names = ARENA_ARRAY(r->arena, const char *, found.count *METRIC_FORMS + 1);
	raw->scaler.metrics = names;
	for (uint32_t i = 0; i < found.count; i++) {
		for (size_t k = 0; k < METRIC_FORMS; k++) {
			if (metrics[i].names[k] != NULL) {
				names[raw->scaler.metric_count++] = metrics[i].names[k];
			}
		}
	}
	return 0;
}

static int finish_scaler(const struct reading *r, void *noun)
{
	struct raw *raw = noun;
	const char *version = raw->api_version, *slash = strchr(version, '/');
	raw->scaler.target.group =
		slash != NULL ? arena_strndup(r->arena, version, (size_t)(slash - version)) : "";
	return read_metrics(r, r->object, raw);
}

#define WHO_AND_WHAT                                                                               \
	FIELD("metadata.namespace", text, AT(raw, scaler.target.ns), .required = true),            \
		FIELD("metadata.name", text, AT(raw, scaler.name), .required = true),              \
		FIELD("metadata.uid", text, AT(raw, scaler.uid)),                                  \
		FIELD("spec.scaleTargetRef.apiVersion", text, AT(raw, api_version)),               \
		FIELD("spec.scaleTargetRef.kind", text, AT(raw, scaler.target.kind)),              \
		FIELD("spec.scaleTargetRef.name", text, AT(raw, scaler.target.name),               \
			.required = true)

/* --- HorizontalPodAutoscaler --- */

static const struct field metric_fields[] = {
	FIELD("resource.name", text, AT(metric, names[0])),
	FIELD("containerResource.name", text, AT(metric, names[1])),
	FIELD("pods.metric.name", text, AT(metric, names[2])),
	FIELD("object.metric.name", text, AT(metric, names[3])),
	FIELD("external.metric.name", text, AT(metric, names[4])),
};
static const struct shape metric_shape = {SHAPE(metric, metric_fields)};

static const struct field scaler_fields[] = {
	WHO_AND_WHAT,
	FIELD("status.currentReplicas", i32, AT(raw, scaler.current)),
	FIELD("status.desiredReplicas", i32, AT(raw, scaler.desired)),
	FIELD("status.lastScaleTime", time, AT(raw, scaler.scaled_ms)),
	{.path = "spec.metrics", .inside = &metric_shape},
};
const struct shape scaler_shape = {SHAPE(raw, scaler_fields),
	.defaults = &(const struct raw){.scaler = {.kind = "HorizontalPodAutoscaler",
						.name = "",
						.uid = "",
						.target = {"", "", "", ""}},
		.api_version = "",
		.list = "spec.metrics",
		.element = &metric_shape},
	SHAPE_NAMES("horizontalpodautoscaler", raw, scaler.target.ns, scaler.name),
	.given = sizeof(struct scaler), .flags = DECODE_MEND, .finish = finish_scaler};

/* --- ScaledObject --- */

static const struct field trigger_fields[] = {
	FIELD("metadata.query", text, AT(metric, names[0])),
	FIELD("metadata.metricName", text, AT(metric, names[1])),
};
static const struct shape trigger_shape = {SHAPE(metric, trigger_fields)};

static const struct field scaled_fields[] = {
	WHO_AND_WHAT,
	{.path = "spec.triggers", .inside = &trigger_shape},
};
/* What is not said of its target is a Deployment. */
const struct shape scaled_object_shape = {SHAPE(raw, scaled_fields),
	.defaults = &(const struct raw){.scaler = {.kind = "ScaledObject",
						.name = "",
						.uid = "",
						.target = {"", "", "Deployment", ""}},
		.api_version = "apps/v1",
		.list = "spec.triggers",
		.element = &trigger_shape},
	SHAPE_NAMES("scaledobject", raw, scaler.target.ns, scaler.name),
	.given = sizeof(struct scaler), .flags = DECODE_MEND, .finish = finish_scaler};
