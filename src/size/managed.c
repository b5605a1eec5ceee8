/* Tables of labels, variables and arguments; the first row that matches is the answer. */
#include "size/managed.h"

/* Pods of these are started together or not at all; half of a gang must not wait at our gate. */
static const char *const gang_labels[] = {
	"kueue.x-k8s.io/pod-group-name",
	"volcano.sh/job-name",
	"volcano.sh/queue-name",
	"scheduling.volcano.sh/group-name",
	"scheduling.x-k8s.io/pod-group",
	"pod-group.scheduling.sigs.k8s.io",
	"pod-group.scheduling.sigs.k8s.io/name",
};

/* Every label and gate of Kueue's. It reads what a pod asks for when it sees the pod, which is
 * after us: of a share it would count no GPU. */
#define QUEUE_PREFIX "kueue.x-k8s.io/"

const char *admit_gang(const struct pod *pod, bool basic)
{
	if (pod->has_group && !basic) {
		return pod->group_name == NULL
			       ? "spec.schedulingGroup"
			       : "spec.schedulingGroup, of a PodGroup that is not known as Basic";
	}
	for (size_t i = 0; i < COUNT_OF(gang_labels); i++) {
		if (pairs_get(&pod->labels, gang_labels[i]) != NULL) {
			return gang_labels[i];
		}
	}
	return NULL;
}

const char *managed_queue(const struct pod *pod)
{
	for (uint32_t i = 0; i < pod->labels.count; i++) {
		if (view_starts_with(view_of(pod->labels.items[i].key), QUEUE_PREFIX)) {
			return pod->labels.items[i].key;
		}
	}
	for (uint32_t i = 0; i < pod->gate_count; i++) {
		if (view_starts_with(view_of(pod->gates[i]), QUEUE_PREFIX)) {
			return pod->gates[i];
		}
	}
	return NULL;
}

/* --- ranks --- */

/* What controllers of parallel jobs put on their pods. The index of a StatefulSet's pod is not
 * among them: replicas of a server have it too. */
static const struct {
	const char *label;
	const char *value; /* NULL: any */
} rank_labels[] = {
	{"jobset.sigs.k8s.io/jobset-name", NULL},
	{"leaderworkerset.sigs.k8s.io/name", NULL},
	{"training.kubeflow.org/job-name", NULL},
	{"mpi-job-name", NULL},
	{"mpi_job_name", NULL},
	{"ray.io/node-type", "worker"},
	{"batch.kubernetes.io/job-completion-index", NULL},
};

/* How many work together, in processes or in pods. */
static const char *const size_variables[] = {
	"WORLD_SIZE",
	"PET_NNODES",
	"LWS_GROUP_SIZE",
	"JAX_NUM_PROCESSES",
};

/* Which of them this is. */
static const char *const rank_variables[] = {
	"RANK",
	"NODE_RANK",
	"PET_NODE_RANK",
	"JAX_PROCESS_ID",
};

static const char *rank_label(const struct pod *pod)
{
	for (size_t i = 0; i < COUNT_OF(rank_labels); i++) {
		const char *value = pairs_get(&pod->labels, rank_labels[i].label);
		const char *wanted = rank_labels[i].value;
		if (value != NULL && (wanted == NULL || text_equals(value, wanted))) {
			return rank_labels[i].label;
		}
	}
	return NULL;
}

static const struct pair *variable_of(const struct container *c, const char *name)
{
	for (uint32_t i = 0; i < c->env.count; i++) {
		if (text_equals(c->env.items[i].key, name)) {
			return &c->env.items[i];
		}
	}
	return NULL;
}

/* "1", and what torchrun writes for a range of one. */
static bool is_one(struct view size)
{
	return view_equals(size, "1") || view_equals(size, "1:1");
}

/* What torchrun is told, as an argument of its own or in a script; empty: nothing. */
static struct view nnodes_of(const struct container *c)
{
	static const char option[] = "--nnodes";
	for (uint32_t i = 0; i < c->arg_count; i++) {
		const char *at = strstr(c->args[i], option);
		if (at == NULL) {
			continue;
		}
		at += strlen(option);
		if (*at == '\0') {
			at = i + 1 < c->arg_count ? c->args[i + 1] : "";
		} else if (*at == '=' || *at == ' ') {
			at++;
		}
		size_t n = strcspn(at, " \t\n\"'");
		return (struct view){at, n};
	}
	return (struct view){NULL, 0};
}

/* A value from elsewhere is not known here, and nobody writes that of a job of one. */
static const char *rank_by_container(const struct container *c, bool *ret_alone)
{
	for (size_t i = 0; i < COUNT_OF(size_variables); i++) {
		const struct pair *v = variable_of(c, size_variables[i]);
		if (v != NULL && (v->value == NULL || v->value[0] != '\0')) {
			*ret_alone = v->value != NULL && is_one(view_of(v->value));
			return *ret_alone ? NULL : size_variables[i];
		}
	}
	struct view nnodes = nnodes_of(c);
	if (nnodes.n > 0) {
		*ret_alone = is_one(nnodes);
		return *ret_alone ? NULL : "--nnodes";
	}
	for (size_t i = 0; i < COUNT_OF(rank_variables); i++) {
		if (variable_of(c, rank_variables[i]) != NULL) {
			return rank_variables[i];
		}
	}
	return NULL;
}

const char *managed_rank(const struct pod *pod, const struct container *gpu)
{
	bool alone = false;
	const char *told = gpu != NULL ? rank_by_container(gpu, &alone) : NULL;
	return told == NULL && !alone ? rank_label(pod) : told;
}

bool admit_is_rank(const struct pod *pod)
{
	return rank_label(pod) != NULL;
}
