/* GPUWorkloadGroups of people: no expression crashes, and none costs without measure, neither when
 * it is compiled nor when it is matched. Lines: nameRegex, ownerSuffixRegex, the owner's name, the
 * value of a label. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/str.h"
#include "owner/groups.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *line_of(struct view *rest, struct arena *a)
{
	struct view line = {"", 0};
	(void)view_next(rest, '\n', &line);
	return arena_strndup(a, line.p, line.n);
}

static void match(
	struct groups *groups, enum group_key_from from, struct view text, struct arena *a)
{
	struct group_rule rule = {.owner_group = "apps",
		.owner_kind = "StatefulSet",
		.owner_name_regex = line_of(&text, a)};
	struct workload_group group = {.name = "g",
		.rules = &rule,
		.rule_count = 1,
		.key_from = from,
		.key_name = "l",
		.owner_suffix_regex = line_of(&text, a)};
	struct change set = {.type = CHANGE_SET, .kind = KIND_GROUP, .group = &group};
	const char *name = line_of(&text, a);
	struct pair label = {"l", line_of(&text, a)};
	struct pod pod = {
		.ns = "n", .owner = {"apps/v1", "StatefulSet", name, "u"}, .labels = {&label, 1}};
	struct workload w;
	ENSURE(groups_apply(groups, &set));
	workload_of(groups, NULL, &pod, a, &w);
	if (w.key.name != NULL && strcmp(w.key.kind, WORKLOAD_GROUP_KIND) == 0) {
		const char *object = workload_object_name(&w.key, a);
		ENSURE(groups_problem(groups, 0) == NULL);
		ENSURE(strlen(w.key.name) > 2 && strlen(w.key.name) <= 253);
		ENSURE(strlen(object) <= WORKLOAD_OBJECT_NAME_MAX);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena arena = {0};
	struct groups *groups = groups_create();
	char *text = xstrndup((const char *)data, size);
	for (int from = GROUP_KEY_OWNER_NAME; from <= GROUP_KEY_CONSTANT; from++) {
		match(groups, (enum group_key_from)from, view_of(text), &arena);
	}
	free(text);
	groups_destroy(groups);
	arena_finish(&arena);
	return 0;
}
