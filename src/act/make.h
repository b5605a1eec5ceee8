/* What the pods that we make have in common: small, without rights, token or port, and fit for a
 * namespace that enforces the restricted profile. */
#ifndef ACT_MAKE_H
#define ACT_MAKE_H

#include "draft.h"

void act_settings_init(struct act_settings *s, const struct act_config *config);
void act_settings_finish(struct act_settings *s);
/* Begins a draft that creates a pod, and the body of it. */
MUST_CHECK int make_pod(const struct act_settings *s, const struct action *x,
	struct draft *ret_draft, struct build *b, struct fault *ret_fault);
/* "metadata" as far as the labels, of which more may follow; the owner ends both. */
void make_metadata(struct build *b, const struct action *x, const char *app);
/* "metadata" as far as the annotations: the caller ends those, and begins "labels" by make_labels.
 */
void make_notes(struct build *b, const struct action *x);
void make_labels(struct build *b, const char *app);
void make_owner(struct build *b, const char *kind, const char *name, const char *uid);
const char *make_owner_name(const struct act_settings *s); /* of the ConfigMap */
/* Is the ConfigMap known that owns what we make? */
MUST_CHECK int make_check_owner(const struct act_settings *s, struct fault *ret_fault);
/* "spec", begun: the caller ends it. `uid`: of model/uids.h. */
void make_spec(
	struct build *b, const char *restart, const char *priority, int64_t grace_s, int64_t uid);
void make_toleration(struct build *b, const struct toleration *t);
/* The image, and its command where the configuration has one. */
void make_image(struct build *b, const struct act_settings *s);
/* "nodeSelector" and "affinity", where the action has any. */
void make_where(struct build *b, const struct action *x);
/* "affinity": this node and no other. */
void make_pin(struct build *b, const char *node);

#endif
