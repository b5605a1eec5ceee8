/* Jobs. */
#include "codec/job.h"

#include "base/str.h"
#include "json/decode.h"

static bool names_disruption(const json_t *patterns)
{
	for (size_t i = 0; i < json_array_size(patterns); i++) {
		const json_t *p = json_array_get(patterns, i);
		if (text_equals(decode_find_text(p, "type"), "DisruptionTarget") &&
			text_equals(decode_find_text(p, "status"), "True")) {
			return true;
		}
	}
	return false;
}

/* The first rule that matches counts. Rules about exit codes do not match what never ran. Rules
 * about other conditions might: where one of those would count a failure, nothing is promised. */
static bool rules_spare(const json_t *rules)
{
	for (size_t i = 0; i < json_array_size(rules); i++) {
		const json_t *rule = json_array_get(rules, i);
		const json_t *patterns = json_object_get(rule, "onPodConditions");
		if (json_array_size(patterns) == 0) {
			continue;
		}
		if (!text_equals(decode_find_text(rule, "action"), "Ignore")) {
			return false;
		}
		if (names_disruption(patterns)) {
			return true;
		}
	}
	return false;
}

int job_decode(
	const char *json, size_t n, const char *uid, bool *ret_spares, struct fault *ret_fault)
{
	CLEANUP(decode_release) json_t *root = NULL;
	const char *found = NULL;
	const json_t *spec = NULL;
	if (decode_parse(json, n, DECODE_MEND, &root, ret_fault) < 0 ||
		decode_text(root, "metadata.uid", &found, ret_fault) < 0 ||
		decode_object(root, "spec", &spec, ret_fault) < 0) {
		return fault_wrap(ret_fault, "job");
	}
	if (!text_equals(found, uid)) {
		return fault_set(ret_fault, FAULT_NOT_FOUND, "the Job is another one by now");
	}
	/* Another controller of Jobs may have its own idea of failures. */
	bool by_kubernetes =
		decode_find(spec, "managedBy") == NULL ||
		text_equals(decode_find_text(spec, "managedBy"), "kubernetes.io/job-controller");
	*ret_spares = decode_find(root, "metadata.deletionTimestamp") == NULL && by_kubernetes &&
		      text_equals(decode_find_text(spec, "podReplacementPolicy"), "Failed") &&
		      rules_spare(decode_find(spec, "podFailurePolicy.rules"));
	return 0;
}
