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

void restricted_resources(struct build *b, const char *cpu, const char *memory)
{
	static const char *const keys[] = {"requests", "limits"};
	build_object_at(b, "resources");
	for (int i = 0; i < 2; i++) {
		build_object_at(b, keys[i]);
		build_text_at(b, "cpu", cpu);
		build_text_at(b, "memory", memory);
		build_text_at(b, NAME_GPU_RESOURCE, "1");
		build_end(b);
	}
	build_end(b);
}
