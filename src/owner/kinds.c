/* The kinds of owners that are known. */
#include "owner/kinds.h"

#define ONGOING true
#define ENDS	true

static const struct owner_row rows[] = {
	{"apps", "Deployment", OWNER_TOP, ONGOING, false, WORKLOAD_UNKNOWN},
	{"apps", "StatefulSet", OWNER_TOP, false, false, WORKLOAD_UNKNOWN},
	{"apps", "DaemonSet", OWNER_TOP, false, false, WORKLOAD_UNKNOWN},
	{"apps", "ReplicaSet", OWNER_PART, false, false, WORKLOAD_UNKNOWN},
	{"", "ReplicationController", OWNER_PART, false, false, WORKLOAD_UNKNOWN},
	{"", "Pod", OWNER_PART, false, false, WORKLOAD_UNKNOWN},
	{"batch", "Job", OWNER_TOP, false, ENDS, WORKLOAD_BATCH},
	{"batch", "CronJob", OWNER_GATHERS, false, ENDS, WORKLOAD_BATCH},

	{"argoproj.io", "Rollout", OWNER_TOP, false, false, WORKLOAD_UNKNOWN},
	{"argoproj.io", "Workflow", OWNER_TOP, false, ENDS, WORKLOAD_BATCH},
	{"argoproj.io", "CronWorkflow", OWNER_GATHERS, false, ENDS, WORKLOAD_BATCH},
	{"argoproj.io", "WorkflowTemplate", OWNER_GATHERS, false, ENDS, WORKLOAD_BATCH},
	{"apps.openshift.io", "DeploymentConfig", OWNER_GATHERS, ONGOING, false, WORKLOAD_UNKNOWN},

	{"serving.knative.dev", "Revision", OWNER_GATHERS, false, false,
		WORKLOAD_INFERENCE_REAL_TIME},
	{"serving.knative.dev", "Configuration", OWNER_GATHERS, false, false,
		WORKLOAD_INFERENCE_REAL_TIME},
	{"serving.knative.dev", "Service", OWNER_GATHERS, false, false,
		WORKLOAD_INFERENCE_REAL_TIME},
	{"serving.kserve.io", "InferenceService", OWNER_TOP, false, false,
		WORKLOAD_INFERENCE_REAL_TIME},

	{"ray.io", "RayCluster", OWNER_TOP, false, false, WORKLOAD_UNKNOWN},
	{"ray.io", "RayService", OWNER_GATHERS, false, false, WORKLOAD_INFERENCE_REAL_TIME},
	{"ray.io", "RayJob", OWNER_GATHERS, false, ENDS, WORKLOAD_BATCH},

	{"kubeflow.org", "PyTorchJob", OWNER_TOP, false, ENDS, WORKLOAD_TRAINING},
	{"kubeflow.org", "TFJob", OWNER_TOP, false, ENDS, WORKLOAD_TRAINING},
	{"kubeflow.org", "MPIJob", OWNER_TOP, false, ENDS, WORKLOAD_TRAINING},
	{"kubeflow.org", "XGBoostJob", OWNER_TOP, false, ENDS, WORKLOAD_TRAINING},
	{"kubeflow.org", "PaddleJob", OWNER_TOP, false, ENDS, WORKLOAD_TRAINING},
	{"kubeflow.org", "JAXJob", OWNER_TOP, false, ENDS, WORKLOAD_TRAINING},
	{"kubeflow.org", "Notebook", OWNER_GATHERS, false, false, WORKLOAD_NOTEBOOK},
	{"kubeflow.org", "ScheduledWorkflow", OWNER_GATHERS, false, ENDS, WORKLOAD_BATCH},
	{"trainer.kubeflow.org", "TrainJob", OWNER_GATHERS, false, ENDS, WORKLOAD_TRAINING},
	{"jobset.x-k8s.io", "JobSet", OWNER_GATHERS, false, ENDS, WORKLOAD_BATCH},
	{"leaderworkerset.x-k8s.io", "LeaderWorkerSet", OWNER_GATHERS, false, false,
		WORKLOAD_UNKNOWN},

	{"batch.volcano.sh", "Job", OWNER_TOP, false, ENDS, WORKLOAD_BATCH},
	{"sparkoperator.k8s.io", "SparkApplication", OWNER_GATHERS, false, ENDS, WORKLOAD_BATCH},
	{"sparkoperator.k8s.io", "ScheduledSparkApplication", OWNER_GATHERS, false, ENDS,
		WORKLOAD_BATCH},

	{"tekton.dev", "TaskRun", OWNER_PART, false, ENDS, WORKLOAD_BUILD},
	{"tekton.dev", "PipelineRun", OWNER_GATHERS, false, ENDS, WORKLOAD_BUILD},
	{"tekton.dev", "Task", OWNER_GATHERS, false, ENDS, WORKLOAD_BUILD},
	{"tekton.dev", "Pipeline", OWNER_GATHERS, false, ENDS, WORKLOAD_BUILD},
	{"actions.github.com", "EphemeralRunner", OWNER_PART, false, ENDS, WORKLOAD_BUILD},
	{"actions.github.com", "EphemeralRunnerSet", OWNER_PART, false, ENDS, WORKLOAD_BUILD},
	{"actions.github.com", "AutoscalingRunnerSet", OWNER_GATHERS, false, ENDS, WORKLOAD_BUILD},
	{"actions.summerwind.dev", "Runner", OWNER_PART, false, ENDS, WORKLOAD_BUILD},
	{"actions.summerwind.dev", "RunnerReplicaSet", OWNER_PART, false, ENDS, WORKLOAD_BUILD},
	{"actions.summerwind.dev", "RunnerDeployment", OWNER_GATHERS, false, ENDS, WORKLOAD_BUILD},
	{"actions.summerwind.dev", "RunnerSet", OWNER_GATHERS, false, ENDS, WORKLOAD_BUILD},

	{"aliquot.dev", WORKLOAD_GROUP_KIND, OWNER_GATHERS, false, false, WORKLOAD_UNKNOWN},
};

const struct owner_row *owner_row_find(struct view group, const char *kind)
{
	for (size_t i = 0; kind != NULL && i < COUNT_OF(rows); i++) {
		if (text_equals(rows[i].kind, kind) && view_equals(group, rows[i].group)) {
			return &rows[i];
		}
	}
	return NULL;
}

const char *standing_api_version(struct view group, const char *kind)
{
	static const struct {
		const char *group, *kind, *api_version;
	} live[] = {
		{"apps", "Deployment", "apps/v1"},
		{"apps", "StatefulSet", "apps/v1"},
		{"apps", "DaemonSet", "apps/v1"},
		{"apps", "ReplicaSet", "apps/v1"},
		{"argoproj.io", "Rollout", "argoproj.io/v1alpha1"},
		{"apps.openshift.io", "DeploymentConfig", "apps.openshift.io/v1"},
	};
	for (size_t i = 0; i < COUNT_OF(live); i++) {
		if (view_equals(group, live[i].group) && text_equals(live[i].kind, kind)) {
			return live[i].api_version;
		}
	}
	return NULL;
}
