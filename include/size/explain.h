/* The sentences about pods. Verdicts carry a reason and numbers; what people read in conditions,
 * events, warnings and logs is made of them here, so that one reason reads the same everywhere.
 * What a GPURecommendation says is made in src/sizer. */
#ifndef SIZE_EXPLAIN_H
#define SIZE_EXPLAIN_H

#include "base/str.h"
#include "model/gpu.h"
#include "model/injection.h"
#include "model/lack.h"
#include "model/pod.h"
#include "model/reason.h"
#include "model/unfit.h"
#include "model/volume.h"

/* Fill what is known; zero and NULL leave their part of the sentence out, except that the amounts
 * of a quota are told where `name` is set. All text is borrowed. */
struct explain_facts {
	int64_t want_milli, want_mib; /* asked for, on each GPU; 0: follows from the other */
	int64_t best_milli,
		best_mib; /* free on the GPU that comes closest; counts if best_node is set */
	const char *best_node;
	const struct pod *left;		  /* borrowed; Placed: what of it nobody judged is said */
	const struct volume_claim *claim; /* borrowed; VolumeNotReady: the one that is waited for */
	const struct unfit_tally *unfit;  /* borrowed; nodes that do not suit the pod, and why */
	const struct lack_tally *lacks;	  /* borrowed; GPUs on those that do, and what they lack */
	const char *gpu;		  /* UUID: Placed */
	int64_t count;	  /* GPUs the pod asks for; tenants of a GPU (MaxTenants); what was tried */
	int64_t limit;	  /* the bound that was reached */
	int64_t waited_s; /* 0: just now */
	int64_t next_s;	  /* next try in so many seconds */
	int64_t asked_s;  /* for so long a node is asked for */
	const char *refuser; /* the admission policy that lets nobody ask for one; NULL: none */
	int64_t quota_milli, quota_used_milli; /* Quota: of the one in `name` */
	const char *name;  /* policy, container, scheduler, node, gate, framework, gang, annotation
			      key, ResourceQuota, RuntimeClass, or for whom a GPU is kept;
			      Exclusive: the pod's own rule */
	const char *value; /* the text that cannot be read, what the API server said; Exclusive:
			      the rule of those who are there */
	const char *expected; /* what to write instead */
};

/* Appends one sentence without a final full stop, at most about 900 bytes; texts from outside are
 * cut. */
void explain(struct str *out, enum reason reason, const struct explain_facts *facts);
/* `aliquot.dev/gpu-fraction: "0,5" cannot be read; write …`, for the warning that a person's
 * kubectl prints. */
void explain_bad_note(struct str *out, const char *key, const char *value, const char *expected);

/* A person's wish met a bound: want_milli and want_mib of both count, and the name of the policy.
 */
void explain_clamped(
	struct str *out, const struct explain_facts *asked, const struct explain_facts *given);
/* The share of a pod that is gone is free although nobody said that it ended; ns may be NULL. */
void explain_given_up(struct str *out, const char *ns, const char *name, int64_t after_s);
/* What keeps a whole-GPU pod from running. All text is borrowed. */
struct explain_way {
	int64_t gpus;		   /* it asks for */
	const char *node;	   /* the nearest one to it */
	uint32_t shares;	   /* on the GPUs there */
	const struct grant *names; /* of whom, the first of them */
};
void explain_in_the_way(struct str *out, const struct explain_way *way, uint32_t names_max);
/* The GPU gets no new tenants; `why` is the agent's word. */
void explain_unhealthy(struct str *out, const char *uuid, const char *node, const char *why);
/* What could not be read on a pod that was left whole can be read now. */
void explain_put_right(struct str *out);
/* The policy asks for MPS and the tenant does without, since its namespace enforces this level, or
 * that of capacity pods does. */
void explain_no_mps(struct str *out, const char *policy, const char *level, bool home);
/* A container that was added to a tenant asked for devices; `gpu_in` (or NULL) has the tenant's. */
void explain_debugged(struct str *out, const char *container, const char *gpu_in);
/* Text from outside: cut, on one line. False: there is none. */
bool explain_text(struct str *out, const char *text);
/* A template whose {} are such texts, one after the other. */
void explain_filled(struct str *out, const char *template, const char *const texts[]);

#endif
