/* What policies of a cluster ask of pods. */
#include "act/restricted.h"

#include "model/names.h"

void restricted_pod(struct build *b, int64_t uid)
{
	build_object_at(b, "securityContext");
	build_bool_at(b, "runAsNonRoot", true);
	build_i64_at(b, "runAsUser", uid);
	build_i64_at(b, "runAsGroup", uid);
	build_object_at(b, "seccompProfile");
	build_text_at(b, "type", "RuntimeDefault");
	build_end(b);
	build_end(b);
}

void restricted_container(struct build *b)
{
	build_object_at(b, "securityContext");
	build_bool_at(b, "allowPrivilegeEscalation", false);
	build_bool_at(b, "readOnlyRootFilesystem", true);
	build_object_at(b, "capabilities");
	build_array_at(b, "drop");
	build_text(b, "ALL");
	build_end(b);
	build_end(b);
	build_end(b);
}

void restricted_amounts(
	struct build *b, const char *key, const char *cpu, const char *memory, const char *gpus)
{
	const char *amounts[][2] = {{"cpu", cpu}, {"memory", memory}, {NAME_GPU_RESOURCE, gpus}};
	build_object_at(b, key);
	for (size_t i = 0; i < COUNT_OF(amounts); i++) {
		if (amounts[i][1] != NULL) {
			build_text_at(b, amounts[i][0], amounts[i][1]);
		}
	}
	build_end(b);
}

void restricted_resources(struct build *b, const char *cpu, const char *memory)
{
	build_object_at(b, "resources");
	restricted_amounts(b, "requests", cpu, memory, "1");
	restricted_amounts(b, "limits", cpu, memory, "1");
	build_end(b);
}
