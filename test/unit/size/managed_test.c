/* Ranks of parallel jobs, by what their controllers put on them and by what they are told. */
#include <criterion/criterion.h>

#include "base/cleanup.h"
#include "size/managed.h"
#include "model/names.h"
#include "size/admit.h"

static enum reason judge(const struct pod *pod)
{
	static const struct policy policy = {
		.name = "all", .mode = MODE_AUTOMATE, .has_selector = true};
	static const struct policy *const list[] = {&policy};
	const struct namespace ns = {.name = "team"};
	const struct admit_input in = {.pod = pod,
		.ns = &ns,
		.policies = {list, 1},
		.recommendation = "deployment-web@1",
		.target_milli = 300};
	return admit_judge(&in).reason;
}

Test(managed, a_rank_stays_whole_unless_its_own_annotation_asks)
{
	static const struct {
		const char *label, *value;
		bool is_rank;
	} cases[] = {
		{"batch.kubernetes.io/job-completion-index", "3", true},
		{"jobset.sigs.k8s.io/jobset-name", "j", true},
		{"leaderworkerset.sigs.k8s.io/name", "l", true},
		{"training.kubeflow.org/job-name", "t", true},
		{"mpi-job-name", "m", true},
		{"ray.io/node-type", "worker", true},
		{"ray.io/node-type", "head", false},
		{"apps.kubernetes.io/pod-index", "1", false},
		{"batch.kubernetes.io/job-name", "j", false},
	};
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct pair label = {cases[i].label, cases[i].value};
		struct pair note = {NOTE_GPU_FRACTION, "0.25"};
		struct container gpu = {.name = "main", .gpus = 1, .image = "pytorch:2"};
		struct pod pod = {.ns = "team",
			.owner = {"apps/v1", "ReplicaSet", "web-1", "u"},
			.labels = {&label, 1},
			.containers = &gpu,
			.container_count = 1};
		enum reason reason = judge(&pod);
		cr_assert_eq(reason, cases[i].is_rank ? REASON_RANK : REASON_CONVERTED, "%s: %s",
			label.key, reason_name(reason));
		cr_assert_eq(admit_is_rank(&pod), cases[i].is_rank, "%s", label.key);
		pod.notes = (struct pairs){&note, 1};
		cr_assert_eq(judge(&pod), REASON_CONVERTED, "%s", label.key);
	}
}

/* By a label or a gate, though its own annotation asks; of what looks like them nothing counts. */
Test(managed, what_a_queue_manages_stays_whole)
{
	static const struct {
		const char *label, *gate;
		enum reason reason;
	} cases[] = {
		{"kueue.x-k8s.io/queue-name", NULL, REASON_QUEUE},
		{"kueue.x-k8s.io/managed", NULL, REASON_QUEUE},
		{"kueue.x-k8s.io/podset", NULL, REASON_QUEUE},
		{"app", "kueue.x-k8s.io/admission", REASON_QUEUE},
		{"app", "kueue.x-k8s.io/topology", REASON_QUEUE},
		{"kueue.x-k8s.io/pod-group-name", "kueue.x-k8s.io/admission", REASON_GANG},
		{"example.com/kueue.x-k8s.io", "example.com/admission", REASON_CONVERTED},
	};
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct pair label = {cases[i].label, "x"};
		struct pair note = {NOTE_GPU_FRACTION, "0.25"};
		const char *gates[] = {cases[i].gate};
		struct container gpu = {.name = "main", .gpus = 1, .image = "pytorch:2"};
		struct pod pod = {.ns = "team",
			.owner = {"apps/v1", "ReplicaSet", "web-1", "u"},
			.labels = {&label, 1},
			.notes = {&note, 1},
			.gates = gates,
			.gate_count = gates[0] != NULL ? 1 : 0,
			.containers = &gpu,
			.container_count = 1};
		cr_assert_eq(judge(&pod), cases[i].reason, "%s", cases[i].label);
	}
}

Test(managed, ranks_tell_themselves_by_variables_and_arguments)
{
	static const struct {
		const char *label, *variable, *value, *args[2];
		bool is_rank;
	} cases[] = {
		{NULL, "WORLD_SIZE", "2", {NULL}, true},
		{NULL, "WORLD_SIZE", NULL, {NULL}, true}, /* from elsewhere */
		{NULL, "WORLD_SIZE", "1", {NULL}, false},
		{"training.kubeflow.org/job-name", "WORLD_SIZE", "1", {NULL}, false},
		{"leaderworkerset.sigs.k8s.io/name", "LWS_GROUP_SIZE", "1", {NULL}, false},
		{NULL, "JAX_NUM_PROCESSES", "16", {NULL}, true},
		{NULL, "PET_NNODES", "1:4", {NULL}, true},
		{NULL, "RANK", "0", {NULL}, true},
		{NULL, "MODEL", "2", {NULL}, false},
		{NULL, "MODEL", "2", {"torchrun --nnodes=2 train.py", NULL}, true},
		{NULL, "MODEL", "2", {"torchrun --nnodes=1 train.py", NULL}, false},
		{NULL, "MODEL", "2", {"--nnodes", "4"}, true},
		{NULL, "MODEL", "2", {"--nnodes", "1:1"}, false},
		{NULL, "MODEL", "2", {"--nnodes=$NODES", NULL}, true},
		{NULL, "MODEL", "2", {"--nnodes", NULL}, false},
	};
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct pair variable = {cases[i].variable, cases[i].value};
		struct pair label = {cases[i].label, "x"};
		const char *args[] = {cases[i].args[0], cases[i].args[1]};
		struct container gpu = {.env = {&variable, 1}, .args = args};
		gpu.arg_count = args[0] == NULL ? 0 : args[1] == NULL ? 1 : 2;
		struct pod pod = {.labels = {&label, label.key != NULL ? 1 : 0}};
		cr_assert_eq(managed_rank(&pod, &gpu) != NULL, cases[i].is_rank, "row %zu", i);
	}
}

Test(managed, C4_the_pods_of_a_basic_pod_group_are_judged_like_others)
{
	struct container gpu = {.name = "main", .gpus = 1};
	struct pair note = {NOTE_GPU_FRACTION, "0.25"};
	struct pair label = {"scheduling.x-k8s.io/pod-group", "x"};
	struct pod pod = {.ns = "team",
		.owner = {"apps/v1", "ReplicaSet", "web-1", "u"},
		.labels = {&label, 0},
		.notes = {&note, 1},
		.containers = &gpu,
		.container_count = 1,
		.has_group = true,
		.group_name = "g"};
	const struct namespace ns = {.name = "team"};
	struct admit_input in = {.pod = &pod, .ns = &ns};
	struct admit_verdict v = admit_judge(&in);
	cr_expect_eq(v.reason, REASON_GANG);
	cr_expect_str_eq(
		v.facts.name, "spec.schedulingGroup, of a PodGroup that is not known as Basic");
	in.basic_group = true;
	cr_expect_eq(admit_judge(&in).reason, REASON_CONVERTED);
	pod.labels.count = 1;
	cr_expect_eq(admit_judge(&in).reason, REASON_GANG, "and of a gang of somebody else's");
}
