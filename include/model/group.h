/* GPUWorkloadGroup: which pods belong together where their owner alone does not tell. As written;
 * owner/groups.h is what works with it. */
#ifndef MODEL_GROUP_H
#define MODEL_GROUP_H

#include <stdbool.h>
#include <stdint.h>

#include "model/labels.h"

#define GROUP_RULES_MAX	 16
#define GROUP_LABELS_MAX 16
#define GROUP_REGEX_MAX	 256

enum group_key_from {
	GROUP_KEY_OWNER_NAME,
	GROUP_KEY_LABEL_VALUE,
	GROUP_KEY_ANNOTATION_VALUE,
	GROUP_KEY_REGEX_CAPTURE,
	GROUP_KEY_CONSTANT,
};

/* All its parts must hold; those that are NULL or empty are not asked for. Of a label or an
 * annotation without a value (NULL) any will do. */
struct group_rule {
	const char *owner_group; /* counts if owner_kind is there */
	const char *owner_kind;
	const char *owner_name_regex;
	struct pairs labels;
	struct pairs notes;
	const char *image_regex;
	const char *container_name_regex;
	struct pairs excluded; /* labels that the pod must not have */
};

struct workload_group {
	const char *name;
	const char *uid;
	const char *resource_version;
	int64_t generation;
	bool disabled;
	int32_t weight;
	struct group_rule *rules; /* one of them must match */
	uint32_t rule_count;
	enum group_key_from key_from;
	const char *key_name;
	const char *owner_suffix_regex; /* NULL: the name stays as it is */
	const char *policy;		/* by name; NULL: none */
	int32_t retention_s;

	/* what the status says now */
	int64_t status_observed_generation;
	int32_t status_pods, status_groups;
	const char *status_accepted_reason; /* NULL: never written */
	int64_t status_accepted_ms, status_ready_ms;
};

#endif
