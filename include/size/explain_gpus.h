/* Sentences about GPUs: the capacity pods that hold them, and memory where nothing enforces a share
 * of it (C29). */
#ifndef SIZE_EXPLAIN_GPUS_H
#define SIZE_EXPLAIN_GPUS_H

#include "size/explain.h"

/* What became of the capacity pod of a GPU that tenants use. */
struct explain_loss {
	const char *gpu, *capacity_pod;
	bool gone, ended;   /* neither: it is being deleted */
	const char *detail; /* the reason in its status; or NULL */
};
void explain_orphaned(struct str *out, const struct explain_loss *loss);
/* A capacity pod that is given up. */
struct explain_failure {
	const char *node;
	bool ended;	 /* else it is silent, or lost what it held */
	bool told;	 /* once it knew its GPU */
	int64_t after_s; /* since when */
	const char *detail;
	int64_t rests_s; /* its node */
};
void explain_capacity_failed(struct str *out, const struct explain_failure *failure);
/* `node`: of the other one, where that is another node; else NULL. */
void explain_doubled(struct str *out, const char *gpu, const char *other, const char *node);
/* C26: why a node rests, and for how long. */
struct explain_vain {
	const char *node;
	const char *class;		 /* of tenants, "": none; NULL: that of the capacity pods */
	const enum inject_doubt *doubts; /* INJECT_FORMS of them */
	int64_t rests_s;
};
void explain_no_injection(struct str *out, const struct explain_vain *v);
/* "env sees no GPU, cdi …" */
void explain_doubts(struct str *out, const enum inject_doubt doubts[INJECT_FORMS]);
/* A pod that nobody makes anew has waited for a share for so long, as it would not have whole. */
void explain_in_vain(struct str *out, enum reason reason, int64_t minutes);
/* The daemon of MPS of that GPU takes nobody else; `why` is the agent's word, or NULL. */
void explain_mps_held(
	struct str *out, const char *uuid, const char *node, bool fault, const char *why);
/* A tenant uses more GPU memory than it was granted. */
struct explain_overuse {
	const char *gpu;
	int64_t share_mib, used_mib;
	const char *policy; /* that says what follows; NULL: none does */
	bool evicts;
};
void explain_overuse(struct str *out, const struct explain_overuse *o);
/* "9000Mi, 808Mi more than its share of 8Gi" */
void explain_overuse_amount(struct str *out, const struct explain_overuse *o);
void explain_short(struct str *out, int64_t free_mib);
/* C29. A pod ran out of memory through others. Names are those of pods of its own namespace. */
#define EXPLAIN_NAMES_MAX 4
struct explain_contention {
	const char *gpu;
	const char *const *names;
	uint32_t name_count, others;
};
void explain_contention(struct str *out, const struct explain_contention *c);

#endif
