/* The verdict on a pod at CREATE: does it become a tenant, of which share, or why is it left whole.
 * Pure.
 *
 * The pod arrives in its admission form and as it was before Aliquot ever touched it: codec/review
 * restores what `original` says before it decodes, so that a pod copied from a live tenant and a
 * pod that comes a second time in one admission round are judged like any other.
 *
 * The order in which reasons are looked for is the order of the functions in admit.c and of C4. */
#ifndef SIZE_ADMIT_H
#define SIZE_ADMIT_H

#include "base/alloc.h"
#include "model/framework.h"
#include "model/mutation.h"
#include "model/pod.h"
#include "model/policy.h"
#include "model/reason.h"
#include "owner/groups.h"
#include "size/ask.h"
#include "size/explain.h"
#include "size/policy_resolution.h"

struct admit_input {
	const struct pod *pod; /* borrowed, admission form */
	const struct namespace
		*ns; /* borrowed; NULL: our cache does not know it, the pod is left whole */
	struct policy_set policies;
	const char *const *schedulers; /* allow-list; count 0: default-scheduler alone */
	uint32_t scheduler_count;
	const char *runtime_class; /* what configuration and the cluster's classes came to; NULL:
				      none */
	struct pairs runtime_selector; /* borrowed; what that class asks of nodes */
	bool limits_gpus;	       /* a LimitRange of the namespace names nvidia.com/gpu (C7) */
	const char *zero_quota;	       /* a ResourceQuota that allows it no GPU (C7); NULL: none */
	/* borrowed; nodes match the pod and none could give it a share (C34); NULL: one could, or
	 * it is not known */
	const struct unfit_tally *unshared;
	/* what it requires of its neighbours may be about pods that are not known here (C36) */
	bool meets_others;
	enum reason cannot;   /* REASON_NONE: C2 lets us convert; else why not */
	bool in_group;	      /* an annotation outside our prefix makes it part of a gang */
	bool basic_group;     /* its PodGroup is known to be Basic, and so no gang */
	const char *declared; /* by this key its manifest is applied again and again; NULL: none */
	bool unreadable; /* it carries an `original` that makes no sense: nothing is done to it */
	const struct workload *workload; /* borrowed; NULL: what the pod alone tells */
	const char *recommendation; /* NAME@REVISION; NULL: there is none that may be applied */
	int64_t target_milli;	    /* what it recommends; counts where no person asks */
	int64_t target_mib;
	int64_t count_max;	      /* GPUs a tenant may share at once; 0 means 1 */
	int64_t context_mib;	      /* smallest memory share; 0: MODEL_CONTEXT_MIB */
	const struct namespace *home; /* that of capacity pods; NULL: nothing is known of it */
	bool mps_unlabelled;	      /* a namespace without a level of Pod Security may have MPS */
	bool notes_names; /* a node may have to be told the name of the container (C26) */
};

struct admit_verdict {
	bool convert;
	enum reason reason;	    /* REASON_CONVERTED, or why the pod is left as it is */
	struct explain_facts facts; /* for explain(); texts borrowed from the input */
	struct policy_choice choice;
	struct ask ask;
	uint32_t container; /* index into pod->containers; counts if convert */
	int64_t milli;	    /* 0: follows from memory on the chosen GPU */
	int64_t mem_mib;    /* 0: follows from milli on the chosen GPU */
	int64_t count;
	/* takes memory at start and is told its share; NULL: neither */
	const struct framework *framework;
	uint32_t script;	  /* as in struct mutation */
	bool clamped;		  /* milli or mem_mib is not what was asked for */
	enum isolation isolation; /* that it gets */
	const char *forbids_mps;  /* the policy asks for MPS, and this level of Pod Security forbids
				     it, "": that there is none; NULL: no */
	bool home_forbids_mps;	  /* that of the capacity pods' namespace, not of the pod's own */
};

struct admit_verdict admit_judge(const struct admit_input *in);
/* The change that makes it so; the verdict must say convert. Texts live in the arena. */
void admit_mutation(const struct admit_input *in, const struct admit_verdict *v, struct arena *a,
	struct mutation *ret_mutation);

/* Why a pod of that template, which some controller makes, is left whole whatever its policy, its
 * namespace and the cluster say, if it gets that isolation; REASON_NONE: nothing of itself is in
 * the way. Of `in` the pod, the schedulers and the bounds of shares count. */
enum reason admit_template(
	const struct admit_input *in, enum isolation isolation, struct explain_facts *ret_facts);

#endif
