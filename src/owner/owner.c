/* The climb, step by step: by label, by reference, by name. */
#include "owner/owner.h"

#include "owner/kinds.h"

/* More than any chain that makes sense; a circle ends here. */
#define CLIMB_MAX 8

/* A CronJob's Job is called NAME-MINUTE, the minute since 1970 it was due. Between 2020 and 2060,
 * so that a Job that a person named after a date (train-20261121) is not taken for one. */
#define MINUTE_DIGITS 8
#define MINUTE_FIRST  26297280
#define MINUTE_LAST   47336400

static struct view api_group(const char *api_version)
{
	struct view rest = view_of(api_version);
	for (size_t i = 0; i < rest.n; i++) {
		if (rest.p[i] == '/') {
			return (struct view){rest.p, i};
		}
	}
	return (struct view){"", 0};
}

static bool is_kind(const struct owner_top *at, const char *group, const char *kind)
{
	return text_equals(at->kind, kind) && view_equals(at->group, group);
}

/* --- by label: controllers of these kinds put the name of their object on its pods --- */

static const struct {
	const char *from_group, *from_kind;
	const char *label;
	const char *group, *kind;
	/* another label that must have this value; NULL: none */
	const char *beside, *beside_value;
} label_steps[] = {
	{"apps", "Deployment", "serving.knative.dev/service", "serving.knative.dev", "Service",
		NULL, NULL},
	{"apps", "StatefulSet", "leaderworkerset.sigs.k8s.io/name", "leaderworkerset.x-k8s.io",
		"LeaderWorkerSet", NULL, NULL},
	{"apps", "StatefulSet", "notebook-name", "kubeflow.org", "Notebook", NULL, NULL},
	{"", "ReplicationController", "deploymentconfig", "apps.openshift.io", "DeploymentConfig",
		NULL, NULL},
	{"", "Pod", "sparkoperator.k8s.io/app-name", "sparkoperator.k8s.io", "SparkApplication",
		NULL, NULL},
	{"batch", "Job", "jobset.sigs.k8s.io/jobset-name", "jobset.x-k8s.io", "JobSet", NULL, NULL},
	{"jobset.x-k8s.io", "JobSet", "trainer.kubeflow.org/trainjob-name", "trainer.kubeflow.org",
		"TrainJob", NULL, NULL},
	{"ray.io", "RayCluster", "ray.io/originated-from-cr-name", "ray.io", "RayService",
		"ray.io/originated-from-crd", "RayService"},
	{"ray.io", "RayCluster", "ray.io/originated-from-cr-name", "ray.io", "RayJob",
		"ray.io/originated-from-crd", "RayJob"},
	/* Runs have generated names; what they are runs of lives on. */
	{"argoproj.io", "Workflow", "workflows.argoproj.io/cron-workflow", "argoproj.io",
		"CronWorkflow", NULL, NULL},
	{"argoproj.io", "Workflow", "workflows.argoproj.io/workflow-template", "argoproj.io",
		"WorkflowTemplate", NULL, NULL},
	{"tekton.dev", "PipelineRun", "tekton.dev/pipeline", "tekton.dev", "Pipeline", NULL, NULL},
	{"tekton.dev", "TaskRun", "tekton.dev/pipeline", "tekton.dev", "Pipeline", NULL, NULL},
	{"tekton.dev", "TaskRun", "tekton.dev/task", "tekton.dev", "Task", NULL, NULL},
	{"actions.github.com", "EphemeralRunner", "actions.github.com/scale-set-name",
		"actions.github.com", "AutoscalingRunnerSet", NULL, NULL},
	{"actions.summerwind.dev", "Runner", "runner-deployment-name", "actions.summerwind.dev",
		"RunnerDeployment", NULL, NULL},
};

static bool climb_by_label(struct owner_top *at, const struct pairs *labels)
{
	for (size_t i = 0; i < COUNT_OF(label_steps); i++) {
		if (!is_kind(at, label_steps[i].from_group, label_steps[i].from_kind)) {
			continue;
		}
		const char *name = pairs_get(labels, label_steps[i].label);
		const char *beside = label_steps[i].beside;
		if (text_empty(name) || (beside != NULL && !text_equals(pairs_get(labels, beside),
								   label_steps[i].beside_value))) {
			continue;
		}
		*at = (struct owner_top){.group = view_of(label_steps[i].group),
			.kind = label_steps[i].kind,
			.name = view_of(name),
			.guessed = true,
			.pending = at->pending};
		return true;
	}
	return false;
}

/* --- by name --- */

/* Cuts "-SUFFIX" off the end of name. */
static bool cut_suffix(struct view *name, struct view suffix)
{
	if (suffix.n == 0 || name->n < suffix.n + 2 || name->p[name->n - suffix.n - 1] != '-' ||
		memcmp(name->p + name->n - suffix.n, suffix.p, suffix.n) != 0) {
		return false;
	}
	name->n -= suffix.n + 1;
	return true;
}

static bool climb_to(struct owner_top *at, struct view suffix, const char *group, const char *kind)
{
	if (!cut_suffix(&at->name, suffix)) {
		return false;
	}
	at->group = view_of(group);
	at->kind = kind;
	at->guessed = true;
	at->api_version = at->uid = NULL;
	return true;
}

/* Who was made beside another pod lacks the label, and an annotation says what it will be. */
static bool climb_replica_set(struct owner_top *at, const struct pod *pod)
{
	static const struct {
		const char *label, *group, *kind;
	} makers[] = {
		{"rollouts-pod-template-hash", "argoproj.io", "Rollout"},
		{LABEL_TEMPLATE_HASH, "apps", "Deployment"},
	};
	if (pod->beside) {
		return climb_to(
			at, view_of(pairs_get(&pod->notes, NOTE_SURGE_HASH)), "apps", "Deployment");
	}
	for (size_t i = 0; i < COUNT_OF(makers); i++) {
		struct view hash = view_of(pairs_get(&pod->labels, makers[i].label));
		if (climb_to(at, hash, makers[i].group, makers[i].kind)) {
			return true;
		}
	}
	return false;
}

static bool climb_job(struct owner_top *at)
{
	if (at->name.n <= MINUTE_DIGITS) {
		return false;
	}
	struct view minute = {at->name.p + at->name.n - MINUTE_DIGITS, MINUTE_DIGITS};
	int64_t value;
	return parse_i64(minute, MINUTE_FIRST, MINUTE_LAST, &value) &&
	       climb_to(at, minute, "batch", "CronJob");
}

static bool climb_by_name(struct owner_top *at, const struct pod *pod)
{
	if (is_kind(at, "apps", "ReplicaSet")) {
		return climb_replica_set(at, pod);
	}
	return is_kind(at, "batch", "Job") && climb_job(at);
}

/* --- by reference --- */

/* As Kubernetes makes the ends of names: no vowels, nothing that looks like another. */
static bool is_generated_end(struct view end)
{
	static const char alphabet[] = "bcdfghjklmnpqrstvwxz2456789";
	bool good = end.n >= 5 && end.n <= 10;
	for (size_t i = 0; i < end.n; i++) {
		good = good && strchr(alphabet, end.p[i]) != NULL;
	}
	return good;
}

static bool has_generated_end(struct view name)
{
	size_t at = name.n;
	while (at > 0 && name.p[at - 1] != '-') {
		at--;
	}
	return at > 1 && is_generated_end((struct view){name.p + at, name.n - at});
}

bool owner_is_worth_asking(const struct owner_top *object)
{
	if (object->group.n == 0 || is_kind(object, "batch", "CronJob")) {
		return false;
	}
	if (view_equals(object->group, "apps")) {
		return is_kind(object, "apps", "ReplicaSet") && !has_generated_end(object->name);
	}
	struct owner_top job = *object;
	return !is_kind(object, "batch", "Job") || !climb_job(&job);
}

static struct owner_top top_from(const struct owner *o)
{
	if (text_empty(o->kind) || text_empty(o->name) || text_empty(o->api_version)) {
		return (struct owner_top){.kind = NULL};
	}
	return (struct owner_top){.kind = o->kind,
		.group = api_group(o->api_version),
		.name = view_of(o->name),
		.api_version = o->api_version,
		.uid = o->uid};
}

/* Is what stands above the workload rather than this? */
static bool workload_is_above(const struct owner_top *at, const struct owner_top *above)
{
	const struct owner_row *row = owner_row_find(at->group, at->kind);
	const struct owner_row *next = owner_row_find(above->group, above->kind);
	if (next != NULL && next->role == OWNER_GATHERS) {
		return true;
	}
	return row == NULL || row->role == OWNER_PART;
}

static bool reads_same(struct view a, struct view b)
{
	return a.n == b.n && memcmp(a.p, b.p, a.n) == 0;
}

/* Whoever is above itself, by whatever uid, is the top. */
static bool tops_are_equal(const struct owner_top *at, const struct owner_top *above)
{
	return text_equals(at->kind, above->kind) && reads_same(at->group, above->group) &&
	       reads_same(at->name, above->name);
}

static bool climb_by_reference(
	struct owner_top *at, const char *ns, const struct owner_port *port, bool *ret_known)
{
	struct owner owner = {0};
	enum owner_answer answer =
		port != NULL ? port->above(port->data, ns, at, &owner) : OWNER_UNKNOWN;
	*ret_known = answer == OWNER_NONE || answer == OWNER_ABOVE;
	at->pending = at->pending || answer == OWNER_LATER;
	if (answer != OWNER_ABOVE) {
		return false;
	}
	struct owner_top above = top_from(&owner);
	if (above.kind == NULL || tops_are_equal(at, &above) || !workload_is_above(at, &above)) {
		return false;
	}
	above.guessed = at->guessed;
	above.pending = at->pending;
	*at = above;
	return true;
}

struct owner_top owner_top_of(const struct pod *pod, const struct owner_port *port)
{
	struct owner_top at = top_from(&pod->owner);
	for (int i = 0; at.kind != NULL && i < CLIMB_MAX; i++) {
		bool known = false;
		bool climbed = climb_by_label(&at, &pod->labels) ||
			       climb_by_reference(&at, pod->ns, port, &known) ||
			       (!known && climb_by_name(&at, pod));
		if (!climbed) {
			break;
		}
	}
	return at;
}

bool owner_makes_anew(const struct owner *owner)
{
	static const char *const kinds[][2] = {{"apps/v1", "ReplicaSet"},
		{"apps/v1", "StatefulSet"}, {"apps/v1", "DaemonSet"},
		{"v1", "ReplicationController"}};
	for (size_t i = 0; i < COUNT_OF(kinds); i++) {
		if (text_equals(owner->api_version, kinds[i][0]) &&
			text_equals(owner->kind, kinds[i][1])) {
			return true;
		}
	}
	return false;
}
