/* The kinds of owners that are read live. */
#include "owner/standing.h"

#include "base/cleanup.h"

const char *standing_api_version(struct view group, const char *kind)
{
	static const struct {
		const char *group, *kind, *api_version;
	} rows[] = {
		{"apps", "Deployment", "apps/v1"},
		{"apps", "StatefulSet", "apps/v1"},
		{"apps", "DaemonSet", "apps/v1"},
		{"apps", "ReplicaSet", "apps/v1"},
		{"argoproj.io", "Rollout", "argoproj.io/v1alpha1"},
		{"apps.openshift.io", "DeploymentConfig", "apps.openshift.io/v1"},
	};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		if (view_equals(group, rows[i].group) && text_equals(rows[i].kind, kind)) {
			return rows[i].api_version;
		}
	}
	return NULL;
}
