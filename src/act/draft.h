/* One request that carries out an action, and what the drafts have in common. */
#ifndef ACT_DRAFT_H
#define ACT_DRAFT_H

#include <jansson.h>

#include "act/act.h"
#include "base/str.h"
#include "json/build.h"

#define DRAFT_BODY_MAX (512 * 1024)
/* The answer to a condition, if it is to be read. */
#define WORD_ANSWER_MAX ((size_t)256 * 1024)

struct act_settings {
	char *ns, *image, *pull_policy, *owner_name, *owner_uid, *command; /* owned; may be NULL */
};

/* One request, ready to be sent. Text other than the body is borrowed from the action and the
 * settings. */
struct draft {
	enum wire_method method;
	struct kube_path path;
	const char *content_type;
	unsigned options; /* of kube_write */
	struct str body;
};

/* A deep copy; all of it in the arena. */
void action_copy(struct arena *arena, const struct action *from, struct action *ret_action);

bool action_same_object(const struct action *x, const struct action *y);

/* A delete of exactly that object: with its uid, and with its version where the action has one.
 * `grace_s` 0: the object's own. */
int draft_delete(const struct action *x, const struct kube_path *path, int64_t grace_s,
	struct draft *ret_draft, struct fault *ret_fault);

/* "metadata": begins, with uid and resourceVersion as preconditions where they are known. The
 * caller ends it. */
void draft_metadata(struct build *b, const struct action *x);
/* A merge patch of the pod that the action names, begun up to its metadata, as above; the caller
 * ends both. */
struct build draft_patch_pod(const struct action *x, struct draft *ret_draft);
/* Any JSON value, as it is. */
void draft_json(struct build *b, const json_t *value);
/* Checks that the body is whole. */
MUST_CHECK int draft_end(const struct build *b, struct draft *d, struct fault *ret_fault);

#endif
