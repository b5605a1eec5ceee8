/* Which GPUPolicy holds for a pod, and in which mode. Pure: everything it reads is an argument.
 *
 * First hit: the pod's annotation `policy`, the namespace's `default-policy`, the selectors
 * (highest priority; tie: older; tie: name), the built-in of the detected workload type, a policy
 * that declares itself the fallback, and last the general built-in. What a GPUWorkloadGroup names
 * comes after the annotations. A policy that is named but does not exist is never replaced by
 * another: the choice then has no policy and reason PolicyNotFound.
 *
 * Nothing here fails and nothing allocates. What a person wrote and cannot mean anything (mode
 * "Foo", exclude "maybe") is ignored and reported in `bad`. */
#ifndef SIZE_POLICY_RESOLUTION_H
#define SIZE_POLICY_RESOLUTION_H

#include "base/str.h"
#include "model/pod.h"
#include "model/policy.h"
#include "model/reason.h"
#include "owner/groups.h"

/* Every policy of the cluster, in any order; built-in ones are known here and not part of it. */
struct policy_set {
	const struct policy *const *items; /* borrowed */
	uint32_t count;
};

/* Who asks. A pod on its way in and a workload that runs are asked about in the same words. */
struct policy_subject {
	const struct pairs *labels; /* borrowed: the pod's */
	const struct pairs *notes;  /* borrowed: the pod's, aliquot.dev/ only */
	const struct namespace *ns; /* borrowed; NULL: unknown, no namespace selector matches */
	struct owner_top owner;
	enum workload_type type;
	const char *group_policy; /* what its GPUWorkloadGroup names; NULL: none */
};
/* By what the pod alone tells. */
struct policy_subject policy_subject_of(const struct pod *pod, const struct namespace *ns);
/* And by the workload whose pod it is. */
void policy_subject_in(struct policy_subject *who, const struct workload *w);

enum policy_source {
	POLICY_FROM_ANNOTATION,
	POLICY_FROM_NAMESPACE,
	POLICY_FROM_GROUP,
	POLICY_FROM_SELECTOR,
	POLICY_FROM_TYPE,
	POLICY_FROM_FALLBACK,
};
const char *policy_source_name(
	enum policy_source source); /* as in GPURecommendation status.policy.source */

/* An annotation that was ignored. */
struct bad_note {
	const char *key; /* the whole key; NULL: none */
	const char *value;
	const char *expected; /* what to write instead, a literal */
};
#define POLICY_BAD_MAX 4

struct policy_choice {
	const struct policy *policy; /* NULL exactly if reason is PolicyNotFound */
	enum policy_source source;
	struct sizing sizing;  /* in force, as policy_sizing has it; counts if there is a policy */
	enum policy_mode mode; /* effective: pod, then namespace, then policy */
	bool excluded;
	bool conflict;	     /* an equally ranked policy lost by age or name alone */
	enum reason reason;  /* REASON_NONE or REASON_POLICY_NOT_FOUND */
	const char *missing; /* the name that does not exist */
	struct bad_note bad[POLICY_BAD_MAX];
	uint32_t bad_count;
};

struct policy_choice policy_choose(const struct policy_set *set, const struct policy_subject *who);
/* Does p's selector (if it has one) match? */
bool policy_selects(const struct policy *p, const struct policy_subject *who);
/* Does p's strategy for owners of that kind say that no recommendation is applied? */
bool policy_never_sizes(const struct policy *p, const char *kind);

/* Keeps a share within the bounds of a person's policy (a built-in one has none) and its memory at
 * one CUDA context or more (context_mib 0: MODEL_CONTEXT_MIB). A zero stays: it follows from the
 * other. */
void policy_bound_share(
	const struct policy *p, int64_t context_mib, int64_t *milli, int64_t *mem_mib);

/* What GPUPolicy status shows, one cell a policy of the set, in its order. Zero the cells, then
 * count every workload once. */
struct policy_tally {
	int32_t matched;   /* workloads for which this policy is the one chosen */
	int32_t automated; /* of those, in mode Automate and not excluded */
	bool overlapping;  /* lost a workload to a policy of the same priority */
};
void policy_tally_add(
	const struct policy_set *set, const struct policy_subject *who, struct policy_tally *cells);

#endif
