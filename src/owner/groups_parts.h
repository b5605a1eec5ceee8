/* A group with its expressions compiled, and the key it gives a pod. */
#ifndef OWNER_GROUPS_PARTS_H
#define OWNER_GROUPS_PARTS_H

#include "base/table.h"
#include "owner/groups.h"
#include "regex.h"

struct compiled_rule {
	const struct group_rule *noun; /* borrowed from the group's */
	struct pattern owner_name, image, container_name;
};

struct group {
	struct table_row row;
	struct workload_group noun; /* its texts are of the arena */
	struct arena arena;
	struct compiled_rule *rules;
	uint32_t rule_count;
	struct pattern suffix;
	const char *problem; /* NULL: accepted */
	const char *reason;  /* of that, one word */
};

#endif
