/* What the pods that we make have in common: small, without rights, token or port, and fit for a
 * namespace that enforces the restricted profile. */
#ifndef ACT_MAKE_H
#define ACT_MAKE_H

#include "draft.h"

/* Begins a draft that creates a pod of that owner, as far as the annotations, of which more may
 * follow. */
MUST_CHECK int make_pod(const struct action *x, const struct owner *owner, struct draft *d,
	struct build *ret_build, struct fault *ret_fault);
/* Ends the annotations and begins the labels, of which more may follow. */
void make_labels(struct build *b, const char *app);
/* Ends labels and metadata, and begins "spec". `uid`: of model/uids.h. */
void make_spec(
	struct build *b, const char *restart, const char *priority, int64_t grace_s, int64_t uid);
/* "runtimeClassName" and "tolerations" of the action, behind those of its own (NULL ends them). */
void make_runtime(struct build *b, const struct action *x, const struct toleration *const *own);
/* A container begins: its name, its image, and what it is told to do (NULL ends it). */
void make_container(
	struct build *b, const struct draft *d, const char *name, const char *const *args);
/* A variable, as one of "env". */
void make_variable(struct build *b, const char *name, const char *value);
/* "nodeSelector" and "affinity", where the action has any. */
void make_where(struct build *b, const struct action *x);
/* "affinity": this node and no other. */
void make_pin(struct build *b, const char *node);
/* "affinity" as far as its node selector terms, four levels that the caller closes; and the field
 * of a term that names the node. */
void make_node_terms(struct build *b);
void make_pin_field(struct build *b, const char *node);

#endif
