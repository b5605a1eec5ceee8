/* A ResourceQuota as far as it bounds GPUs, and which pods it is about.
 *
 * The API server charges whole-GPU pods itself, when they are created. A pod that became a tenant
 * asks for no GPU any more and would escape it, so the engine charges its share to the same quotas,
 * by the same scopes (C7). Kubernetes knows of GPUs only the key `requests.nvidia.com/gpu`: a
 * `limits.nvidia.com/gpu` or a bare `nvidia.com/gpu` in a quota is accepted and never counted, and
 * is nothing here either. */
#ifndef MODEL_QUOTA_H
#define MODEL_QUOTA_H

#include <stdbool.h>
#include <stdint.h>

#include "model/labels.h"
#include "model/pod.h"

struct quota {
	const char *ns;
	const char *name;
	bool bounds_gpus;    /* it names requests.nvidia.com/gpu; else the rest is not read */
	int64_t hard_milli;  /* thousandths of a GPU; INT64_MAX: more than can be counted */
	struct terms scopes; /* all must hold; the key is the scope, values are classes */
};

/* What scopes ask of a pod. */
struct quota_subject {
	const char *priority_class; /* NULL or empty: it names none */
	bool has_deadline;	    /* scope Terminating */
	bool best_effort;	 /* by CPU and memory, as Kubernetes counts: GPUs do not matter */
	bool crosses_namespaces; /* scope CrossNamespacePodAffinity */
};

struct quota_subject quota_subject_of(const struct pod *pod);
bool quota_covers(const struct quota *q, const struct quota_subject *s);

#endif
