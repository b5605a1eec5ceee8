/* One request that carries out an action, and what the drafts have in common. */
#ifndef ACT_DRAFT_H
#define ACT_DRAFT_H

#include <jansson.h>

#include "act/act.h"
#include "base/str.h"
#include "json/build.h"

#define DRAFT_BODY_MAX (512 * 1024)

struct act_settings {
	char *image, *pull_policy, *owner_uid; /* owned; may be NULL */
};

/* One request, ready to be sent once it was drafted. Text other than the body is borrowed from the
 * action and the settings. */
struct draft {
	/* what it is drafted by */
	const struct act_settings *settings;
	int64_t wall_ms;
	int64_t term; /* of the leader that sends it; 0: none is written */
	/* PLACE: the tenant as it was just read, needed where its own affinity has terms; else NULL
	 */
	const json_t *live;

	struct kube_write write; /* all but the body */
	struct str body;	 /* empty at first */
};

/* A deep copy; all of it in the arena. */
void action_copy(struct arena *arena, const struct action *from, struct action *ret_action);

bool action_same_object(const struct action *x, const struct action *y);

/* The pod that the action names; `subresource` may be NULL. */
struct kube_path draft_pod_path(const struct action *x, const char *subresource);
/* A request whose body is to be built. */
struct build draft_request(struct draft *d, enum wire_method method, const char *content_type,
	const struct kube_path *path);
/* A request whose body is begun, an object. */
struct build draft_begin(struct draft *d, enum wire_method method, const char *content_type,
	const struct kube_path *path);
/* A merge patch of the pod that the action names, begun up to its metadata, as below. */
struct build draft_patch_pod(const struct action *x, struct draft *d);
/* A delete of exactly that object: with its uid, and with its version where the action has one.
 * `grace_s` 0: the object's own. */
MUST_CHECK int draft_delete(const struct action *x, const struct kube_path *path, int64_t grace_s,
	struct draft *d, struct fault *ret_fault);

/* An object at this key ("metadata", "preconditions") begins, with uid and resourceVersion where
 * they are known: the server refuses what is meant for another object or version. */
void draft_identity(struct build *b, const char *key, const struct action *x);
void draft_name(struct build *b, const struct action *x);	      /* "name" and "namespace" */
void draft_i64_text(struct build *b, const char *key, int64_t value); /* a number, as text */
/* "ownerReferences", with this one alone. */
void draft_owner(struct build *b, const struct owner *owner, bool controls);
/* A list of texts; NULL ends it. */
void draft_texts(struct build *b, const char *key, const char *const *texts);
/* The members of a JSON object, as they are, but these (NULL ends them). */
void draft_members(struct build *b, const json_t *object, const char *const *but);
/* Any JSON value, as it is. */
void draft_json(struct build *b, const json_t *value);
/* Ends so many of the objects and lists that are open. */
void draft_close(struct build *b, uint32_t levels);
/* Ends all that is open, and checks that the body is whole. */
MUST_CHECK int draft_end(struct build *b, struct fault *ret_fault);

/* Sends it; the answer must come within so many milliseconds. */
uint64_t draft_send(
	const struct draft *d, struct kube *kube, int64_t timeout_ms, kube_done done, void *data);

#endif
