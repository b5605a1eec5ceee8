/* The admission route: bytes of an AdmissionReview in, bytes of its answer out. Never blocks, never
 * refuses a pod, keeps nothing between two calls but its counters. What it needs to know of the
 * cluster comes through a view that the application fills from the world. */
#ifndef HOOK_HOOK_H
#define HOOK_HOOK_H

#include <stddef.h>
#include <stdint.h>

#include "base/metric.h"
#include "base/str.h"
#include "model/pod.h"
#include "model/reason.h"
#include "model/unfit.h"
#include "owner/groups.h"
#include "size/admit.h"
#include "world/advice.h"

/* What the hook may ask; each answer is borrowed until the hook returns. */
struct hook_view {
	void *data; /* borrowed, handed back to each function */
	/* Says of `pod` where it comes to: `ns`, `home`, `policies`, `limits_gpus`, `zero_quota` */
	void (*place_of)(void *data, struct admit_input *in);
	/* NULL: there are none */
	const struct groups *(*groups)(void *data);
	const struct owner_port *owners; /* borrowed; NULL: nobody knows more than the pod says */
	/* NULL: nothing is recommended */
	const struct advised *(*recommendation)(void *data, const struct workload_key *workload);
	/* Do nodes match the pod of which none could give it a share? Then they are counted by why.
	 * `class` is what the class of capacity pods asks of nodes. NULL: nobody can tell */
	bool (*unshared)(void *data, const struct pod *pod, const struct pairs *class,
		struct unfit_tally *ret_why);
	/* Might what the pod requires of others be about pods that are not known? NULL: no */
	bool (*meets_others)(void *data, const struct pod *pod);
	/* REASON_NONE, or C2's reason why no pod of this namespace is converted now */
	enum reason (*may_convert)(void *data, const char *ns);
	/* Did pods of its owner that were converted never come to be? NULL: nobody counts */
	bool (*refused)(void *data, const struct pod *pod);
	/* It is converted, and not as a dry run; NULL: nobody counts */
	void (*converted)(void *data, const struct pod *pod);
	/* Is its PodGroup known to be Basic? NULL: none is */
	bool (*basic_group)(void *data, const struct pod *pod);
};

struct hook_config {
	struct hook_view view;
	struct metric_registry *metrics; /* borrowed */
	const char *const *schedulers;	 /* borrowed; count 0: default-scheduler alone */
	uint32_t scheduler_count;
	const char *runtime_class; /* copied; NULL: none (see hook_set_runtime_class) */
	int64_t count_max;	   /* GPUs a tenant may share at once; 0 means 1 */
	int64_t context_mib;	   /* 0: MODEL_CONTEXT_MIB */
	bool notes_names;	   /* as admit_input's */
	bool mps_unlabelled;	   /* the same */
};

struct hook;

struct hook *hook_create(const struct hook_config *config);
void hook_destroy(struct hook *h);
/* `auto` may learn of the class `nvidia` after the start. */
void hook_set_runtime_class(struct hook *h, const char *name);
/* What the class asks of nodes; copied. NULL: nothing. */
void hook_set_runtime_selector(struct hook *h, const struct pairs *selector);
/* Appends the answer to out and returns the HTTP status: 200, or 400 for bytes that name no
 * request, or 413. */
int hook_admit(struct hook *h, const char *body, size_t size, struct str *out);

#endif
