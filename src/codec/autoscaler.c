/* HorizontalPodAutoscalers and ScaledObjects. */
#include "codec/autoscaler.h"

#include "parts.h"

static const struct slice_keep notes_keep[] = {PARTS_BOOKMARK_KEEP, SLICE_END};
static const struct slice_keep meta_keep[] = {
	PARTS_META_KEEP,
	SLICE_KEEP_IN("annotations", notes_keep),
	SLICE_END,
};

/* --- HorizontalPodAutoscaler --- */

static const struct slice_keep name_keep[] = {SLICE_KEEP("name"), SLICE_END};
static const struct slice_keep named_keep[] = {SLICE_KEEP_IN("metric", name_keep), SLICE_END};
static const struct slice_keep metric_keep[] = {
	SLICE_KEEP_IN("resource", name_keep),
	SLICE_KEEP_IN("containerResource", name_keep),
	SLICE_KEEP_IN("pods", named_keep),
	SLICE_KEEP_IN("object", named_keep),
	SLICE_KEEP_IN("external", named_keep),
	SLICE_END,
};
static const struct slice_keep spec_keep[] = {
	SLICE_KEEP("scaleTargetRef"),
	SLICE_KEEP_IN("metrics", metric_keep),
	SLICE_END,
};
static const struct slice_keep status_keep[] = {
	SLICE_KEEP("currentReplicas"),
	SLICE_KEEP("desiredReplicas"),
	SLICE_KEEP("lastScaleTime"),
	SLICE_END,
};
static const struct slice_keep scaler_keep[] = {
	SLICE_KEEP_IN("metadata", meta_keep),
	SLICE_KEEP_IN("spec", spec_keep),
	SLICE_KEEP_IN("status", status_keep),
	SLICE_END,
};

const struct slice_keep *scaler_projection(void)
{
	return scaler_keep;
}

struct raw {
	struct scaler scaler;
	const char *api_version; /* of the target */
};

static const struct decode_field fields[] = {
	{"metadata.namespace", DECODE_TEXT, true, offsetof(struct raw, scaler.target.ns), NULL},
	{"metadata.name", DECODE_TEXT, true, offsetof(struct raw, scaler.name), NULL},
	{"metadata.uid", DECODE_TEXT, false, offsetof(struct raw, scaler.uid), NULL},
	{"spec.scaleTargetRef.apiVersion", DECODE_TEXT, false, offsetof(struct raw, api_version),
		NULL},
	{"spec.scaleTargetRef.kind", DECODE_TEXT, false, offsetof(struct raw, scaler.target.kind),
		NULL},
	{"spec.scaleTargetRef.name", DECODE_TEXT, true, offsetof(struct raw, scaler.target.name),
		NULL},
	{"status.currentReplicas", DECODE_I32, false, offsetof(struct raw, scaler.current), NULL},
	{"status.desiredReplicas", DECODE_I32, false, offsetof(struct raw, scaler.desired), NULL},
	{"status.lastScaleTime", DECODE_TIME, false, offsetof(struct raw, scaler.scaled_ms), NULL},
};

static int read_head(
	const json_t *root, struct arena *arena, struct raw *raw, struct fault *ret_fault)
{
	if (decode_fields(root, fields, COUNT_OF(fields), arena, raw, ret_fault) < 0) {
		return -1;
	}
	const char *slash = strchr(raw->api_version, '/');
	raw->scaler.target.group = slash != NULL ? arena_strndup(arena, raw->api_version,
							   (size_t)(slash - raw->api_version))
						 : "";
	return 0;
}

/* Rows of texts to which each metric adds what it has of these. */
struct places {
	const char *const *paths;
	size_t count;
};

static int read_metrics(const json_t *array, const struct places *places, struct arena *arena,
	struct scaler *s, struct fault *ret_fault)
{
	size_t count = array != NULL ? json_array_size(array) : 0;
	const char **metrics = ARENA_ARRAY(arena, const char *, count * places->count + 1);
	for (size_t i = 0; i < count; i++) {
		const json_t *metric = json_array_get(array, i);
		for (size_t k = 0; k < places->count; k++) {
			const char *text = NULL;
			if (decode_text(metric, places->paths[k], &text, ret_fault) < 0) {
				return fault_wrap(ret_fault, "[%zu]", i);
			}
			if (text != NULL) {
				metrics[s->metric_count++] = arena_strdup(arena, text);
			}
		}
	}
	s->metrics = metrics;
	return 0;
}

int scaler_decode(const char *json, size_t n, struct arena *arena, struct scaler *ret_scaler,
	struct fault *ret_fault)
{
	static const char *const paths[] = {"resource.name", "containerResource.name",
		"pods.metric.name", "object.metric.name", "external.metric.name"};
	static const struct places places = {paths, COUNT_OF(paths)};
	CLEANUP(decode_release) json_t *root = NULL;
	struct raw raw = {.scaler = {.kind = "HorizontalPodAutoscaler",
				  .name = "",
				  .uid = "",
				  .target = {"", "", "", ""}},
		.api_version = ""};
	const json_t *metrics = NULL;
	if (decode_parse(json, n, DECODE_MEND, &root, ret_fault) < 0 ||
		read_head(root, arena, &raw, ret_fault) < 0 ||
		decode_array(root, "spec.metrics", &metrics, ret_fault) < 0 ||
		read_metrics(metrics, &places, arena, &raw.scaler, ret_fault) < 0) {
		return fault_wrap(ret_fault, "horizontalpodautoscaler %.63s/%.63s",
			raw.scaler.target.ns, raw.scaler.name);
	}
	*ret_scaler = raw.scaler;
	return 0;
}

/* --- ScaledObject --- */

static const struct slice_keep query_keep[] = {
	SLICE_KEEP("query"), SLICE_KEEP("metricName"), SLICE_END};
static const struct slice_keep trigger_keep[] = {SLICE_KEEP_IN("metadata", query_keep), SLICE_END};
static const struct slice_keep scaled_spec_keep[] = {
	SLICE_KEEP("scaleTargetRef"),
	SLICE_KEEP_IN("triggers", trigger_keep),
	SLICE_END,
};
static const struct slice_keep scaled_keep[] = {
	SLICE_KEEP_IN("metadata", meta_keep),
	SLICE_KEEP_IN("spec", scaled_spec_keep),
	SLICE_END,
};

const struct slice_keep *scaled_object_projection(void)
{
	return scaled_keep;
}

int scaled_object_decode(const char *json, size_t n, struct arena *arena, struct scaler *ret_scaler,
	struct fault *ret_fault)
{
	static const char *const paths[] = {"metadata.query", "metadata.metricName"};
	static const struct places places = {paths, COUNT_OF(paths)};
	CLEANUP(decode_release) json_t *root = NULL;
	/* What is not said of its target is a Deployment. */
	struct raw raw = {.scaler = {.kind = "ScaledObject",
				  .name = "",
				  .uid = "",
				  .target = {"", "", "Deployment", ""}},
		.api_version = "apps/v1"};
	const json_t *triggers = NULL;
	if (decode_parse(json, n, DECODE_MEND, &root, ret_fault) < 0 ||
		read_head(root, arena, &raw, ret_fault) < 0 ||
		decode_array(root, "spec.triggers", &triggers, ret_fault) < 0 ||
		read_metrics(triggers, &places, arena, &raw.scaler, ret_fault) < 0) {
		return fault_wrap(ret_fault, "scaledobject %.63s/%.63s", raw.scaler.target.ns,
			raw.scaler.name);
	}
	raw.scaler.current = raw.scaler.desired = 0;
	*ret_scaler = raw.scaler;
	return 0;
}
