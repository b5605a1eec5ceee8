/* The climb: by names alone, by labels, by references, and where it ends. */
#include <criterion/criterion.h>

#include "base/cleanup.h"
#include "owner/kinds.h"
#include "owner/owner.h"

static struct owner_top top_of(const char *api_version, const char *kind, const char *name,
	const char *label, const char *hash)
{
	struct pair pair = {label, hash};
	struct pod pod = {.owner = {api_version, kind, name, "uid"},
		.labels = {&pair, label != NULL ? 1 : 0}};
	return owner_top_of(&pod, NULL);
}

Test(owner, c4_names_tell_the_owner_above)
{
	const struct {
		const char *api, *kind, *name, *label, *hash;
		const char *top_group, *top_kind, *top_name;
		bool guessed;
	} cases[] = {
		{"apps/v1", "ReplicaSet", "web-7d4b9c", "pod-template-hash", "7d4b9c", "apps",
			"Deployment", "web", true},
		{"apps/v1", "ReplicaSet", "web-7d4b9c", "rollouts-pod-template-hash", "7d4b9c",
			"argoproj.io", "Rollout", "web", true},
		{"apps/v1", "ReplicaSet", "web-7d4b9c", "pod-template-hash", "other", "apps",
			"ReplicaSet", "web-7d4b9c", false},
		{"apps/v1", "ReplicaSet", "web", NULL, NULL, "apps", "ReplicaSet", "web", false},
		{"apps/v1", "ReplicaSet", "-abc", "pod-template-hash", "abc", "apps", "ReplicaSet",
			"-abc", false},
		{"batch/v1", "Job", "nightly-29405160", NULL, NULL, "batch", "CronJob", "nightly",
			true},
		{"batch/v1", "Job", "train-20261121", NULL, NULL, "batch", "Job", "train-20261121",
			false},
		{"batch/v1", "Job", "train-x9405160", NULL, NULL, "batch", "Job", "train-x9405160",
			false},
		{"example.com/v1", "Job", "nightly-29405160", NULL, NULL, "example.com", "Job",
			"nightly-29405160", false},
		{"v1", "ReplicationController", "rc", NULL, NULL, "", "ReplicationController", "rc",
			false},
		{"apps/v1", "StatefulSet", "db-1", "leaderworkerset.sigs.k8s.io/name", "llm",
			"leaderworkerset.x-k8s.io", "LeaderWorkerSet", "llm", true},
		{"apps/v1", "StatefulSet", "db", "notebook-name", "mine", "kubeflow.org",
			"Notebook", "mine", true},
		{"v1", "ReplicationController", "web-7", "deploymentconfig", "web",
			"apps.openshift.io", "DeploymentConfig", "web", true},
		{"v1", "Pod", "x-driver", "sparkoperator.k8s.io/app-name", "x",
			"sparkoperator.k8s.io", "SparkApplication", "x", true},
		{"batch/v1", "Job", "s-w-0", "jobset.sigs.k8s.io/jobset-name", "s",
			"jobset.x-k8s.io", "JobSet", "s", true},
		{"argoproj.io/v1alpha1", "Workflow", "w-x7k", "workflows.argoproj.io/cron-workflow",
			"w", "argoproj.io", "CronWorkflow", "w", true},
		{"tekton.dev/v1", "TaskRun", "r-x7k-build", "tekton.dev/pipeline", "release",
			"tekton.dev", "Pipeline", "release", true},
		{"actions.github.com/v1alpha1", "EphemeralRunner", "r-x7k-runner-abc",
			"actions.github.com/scale-set-name", "gpus", "actions.github.com",
			"AutoscalingRunnerSet", "gpus", true},
		{"ray.io/v1", "RayCluster", "c", "ray.io/originated-from-cr-name", "c", "ray.io",
			"RayCluster", "c", false},
		{"kubeflow.org/v1", "PyTorchJob", "t", NULL, NULL, "kubeflow.org", "PyTorchJob",
			"t", false},
	};
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct owner_top top = top_of(
			cases[i].api, cases[i].kind, cases[i].name, cases[i].label, cases[i].hash);
		cr_assert_str_eq(top.kind, cases[i].top_kind, "case %zu", i);
		cr_assert(view_equals(top.group, cases[i].top_group), "case %zu", i);
		cr_assert(view_equals(top.name, cases[i].top_name), "case %zu", i);
		cr_assert_eq(top.guessed, cases[i].guessed, "case %zu", i);
	}
	cr_assert_null(top_of("v1", NULL, NULL, NULL, NULL).kind);
	cr_assert_null(top_of(NULL, "Job", "x", NULL, NULL).kind);
}

/* A label of Knative leads on from the Deployment that the name told of. */
/* It lacks the label yet; an annotation has what that will be. */
Test(owner, C24_a_pod_beside_another_is_of_the_same_deployment)
{
	struct pair note = {"aliquot.dev/surge-hash", "7d"};
	struct pod pod = {.owner = {"apps/v1", "ReplicaSet", "web-7d", "uid"},
		.notes = {&note, 1},
		.beside = true};
	struct owner_top top = owner_top_of(&pod, NULL);
	cr_expect_str_eq(top.kind, "Deployment");
	cr_expect(view_equals(top.name, "web"));
	pod.beside = false;
	cr_expect_str_eq(owner_top_of(&pod, NULL).kind, "ReplicaSet");
}

Test(owner, steps_follow_each_other)
{
	struct pair labels[] = {
		{"pod-template-hash", "7d4b9c"}, {"serving.knative.dev/service", "chat"}};
	struct pod pod = {.owner = {"apps/v1", "ReplicaSet", "chat-1-deployment-7d4b9c", "u"},
		.labels = {labels, 2}};
	struct owner_top top = owner_top_of(&pod, NULL);
	cr_assert_str_eq(top.kind, "Service");
	cr_assert(view_equals(top.group, "serving.knative.dev"));
	cr_assert(view_equals(top.name, "chat"));

	struct pair ray[] = {{"ray.io/originated-from-cr-name", "llm"},
		{"ray.io/originated-from-crd", "RayService"}};
	pod = (struct pod){
		.owner = {"ray.io/v1", "RayCluster", "llm-x7k2p", "u"}, .labels = {ray, 2}};
	top = owner_top_of(&pod, NULL);
	cr_assert_str_eq(top.kind, "RayService");
	cr_assert(view_equals(top.name, "llm"));
}

/* --- by reference --- */

struct known {
	const char *kind, *name; /* of the object */
	struct owner above;
	enum owner_answer answer;
};

static enum owner_answer look_up(
	void *data, const char *ns, const struct owner_top *object, struct owner *ret_owner)
{
	cr_assert_str_eq(ns, "team");
	for (const struct known *k = data; k->kind != NULL; k++) {
		if (text_equals(k->kind, object->kind) && view_equals(object->name, k->name)) {
			*ret_owner = k->above;
			return k->answer;
		}
	}
	return OWNER_UNKNOWN;
}

static struct owner_top climb(const struct known *known, struct owner first)
{
	struct pair hash = {"pod-template-hash", "abc"};
	struct pod pod = {.ns = "team", .owner = first, .labels = {&hash, 1}};
	struct owner_port port = {(void *)(uintptr_t)known, look_up, NULL};
	return owner_top_of(&pod, &port);
}

static void ends_at(struct owner_top top, const char *kind, const char *name, bool guessed)
{
	cr_assert_str_eq(top.kind, kind);
	cr_assert(view_equals(top.name, name), "%.*s", (int)top.name.n, top.name.p);
	cr_assert_eq(top.guessed, guessed);
}

Test(owner, references_beat_names)
{
	const struct known known[] = {
		{"ReplicaSet", "web-abc", {"apps/v1", "Deployment", "other", "u"}, OWNER_ABOVE},
		{"ReplicaSet", "lone-abc", {0}, OWNER_NONE},
		{NULL, NULL, {0}, OWNER_UNKNOWN},
	};
	ends_at(climb(known, (struct owner){"apps/v1", "ReplicaSet", "web-abc", "u"}), "Deployment",
		"other", false);
	ends_at(climb(known, (struct owner){"apps/v1", "ReplicaSet", "lone-abc", "u"}),
		"ReplicaSet", "lone-abc", false);
	ends_at(climb(known, (struct owner){"apps/v1", "ReplicaSet", "new-abc", "u"}), "Deployment",
		"new", true);
}

Test(owner, what_is_being_asked_for_is_told_and_names_do_meanwhile)
{
	const struct known known[] = {
		{"Gadget", "g", {"example.com/v1", "Factory", "f", "u"}, OWNER_ABOVE},
		{"Factory", "f", {0}, OWNER_LATER},
		{"ReplicaSet", "web-abc", {0}, OWNER_LATER},
		{NULL, NULL, {0}, OWNER_UNKNOWN},
	};
	struct owner_top top = climb(known, (struct owner){"example.com/v1", "Gadget", "g", "u"});
	ends_at(top, "Factory", "f", false);
	cr_expect(top.pending);
	top = climb(known, (struct owner){"apps/v1", "ReplicaSet", "web-abc", "u"});
	ends_at(top, "Deployment", "web", true);
	cr_expect(top.pending);
	cr_expect_not(climb(known, (struct owner){"apps/v1", "ReplicaSet", "x-abc", "u"}).pending);
}

Test(owner, only_what_a_reference_may_tell_is_worth_asking)
{
	static const struct {
		const char *group, *kind, *name;
		bool worth;
	} rows[] = {{"apps", "Deployment", "web", false}, {"apps", "StatefulSet", "db", false},
		{"apps", "ReplicaSet", "web-7d4b9c6f5x", false},
		{"apps", "ReplicaSet", "web", true}, {"apps", "ReplicaSet", "web-abc", true},
		{"", "ReplicationController", "rc", false}, {"batch", "CronJob", "c", false},
		{"batch", "Job", "train", true}, {"batch", "Job", "nightly-29384756", false},
		{"jobset.x-k8s.io", "JobSet", "s", true}, {"example.com", "Gadget", "g", true}};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct owner_top top = {.group = view_of(rows[i].group),
			.kind = rows[i].kind,
			.name = view_of(rows[i].name)};
		cr_expect_eq(owner_is_worth_asking(&top), rows[i].worth, "row %zu", i);
	}
}

/* A Deployment is the workload although an operator made it; a Job is not if a CronJob did; what
 * nobody has heard of is followed to the top. */
Test(owner, the_climb_ends_where_people_look)
{
	const struct known known[] = {
		{"Deployment", "llm",
			{"serving.kserve.io/v1beta1", "InferenceService", "isvc", "u"},
			OWNER_ABOVE},
		{"Job", "j", {"jobset.x-k8s.io/v1alpha2", "JobSet", "s", "u"}, OWNER_ABOVE},
		{"JobSet", "s", {"trainer.kubeflow.org/v1alpha1", "TrainJob", "t", "u"},
			OWNER_ABOVE},
		{"Gadget", "g", {"example.com/v1", "Factory", "f", "u"}, OWNER_ABOVE},
		{"RayCluster", "c-x7k", {"ray.io/v1", "RayJob", "r", "u"}, OWNER_ABOVE},
		{NULL, NULL, {0}, OWNER_UNKNOWN},
	};
	ends_at(climb(known, (struct owner){"apps/v1", "Deployment", "llm", "u"}), "Deployment",
		"llm", false);
	ends_at(climb(known, (struct owner){"batch/v1", "Job", "j", "u"}), "TrainJob", "t", false);
	struct owner_top factory =
		climb(known, (struct owner){"example.com/v1", "Gadget", "g", "g-u"});
	ends_at(factory, "Factory", "f", false);
	cr_expect_str_eq(factory.api_version, "example.com/v1");
	cr_expect_str_eq(factory.uid, "u", "of the object that was referred to");
	cr_expect_null(climb(known, (struct owner){"apps/v1", "ReplicaSet", "x-abc", "u"}).uid);
	ends_at(climb(known, (struct owner){"ray.io/v1", "RayCluster", "c-x7k", "u"}), "RayJob",
		"r", false);
}

/* Two objects that own each other are no reason to climb for ever. */
Test(owner, a_circle_ends)
{
	const struct known known[] = {
		{"A", "a", {"example.com/v1", "B", "b", "u"}, OWNER_ABOVE},
		{"B", "b", {"example.com/v1", "A", "a", "u"}, OWNER_ABOVE},
		{NULL, NULL, {0}, OWNER_UNKNOWN},
	};
	cr_assert_not_null(climb(known, (struct owner){"example.com/v1", "A", "a", "u"}).kind);
}

Test(owner, rows)
{
	cr_assert(owner_row_find(view_of("apps"), "Deployment")->ongoing);
	cr_assert(owner_row_find(view_of("apps.openshift.io"), "DeploymentConfig")->ongoing);
	cr_assert_not(owner_row_find(view_of("apps"), "StatefulSet")->ongoing);
	cr_assert(owner_row_find(view_of("batch"), "Job")->leaves);
	cr_assert_null(owner_row_find(view_of("example.com"), "Deployment"));
	cr_assert_null(owner_row_find(view_of("apps"), NULL));
}
