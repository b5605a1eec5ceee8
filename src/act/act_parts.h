/* What act.c (when) and one file an action (what) share. */
#ifndef ACT_ACT_PARTS_H
#define ACT_ACT_PARTS_H

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

void act_settings_init(struct act_settings *s, const struct act_config *config);
void act_settings_finish(struct act_settings *s);

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

/* Each fills a draft whose body is empty; a fault is told as the action's outcome. */
MUST_CHECK int create_capacity_draft(const struct act_settings *s, const struct action *x,
	struct draft *ret_draft, struct fault *ret_fault);
/* What stands in for tenants and asks for a node (C14). */
MUST_CHECK int companion_draft(const struct act_settings *s, const struct action *x,
	struct draft *ret_draft, struct fault *ret_fault);
/* What tries how the node of a capacity pod gives GPUs (C26). */
MUST_CHECK int probe_draft(const struct act_settings *s, const struct action *x,
	struct draft *ret_draft, struct fault *ret_fault);
/* Whichever of the three it is. */
MUST_CHECK int create_draft(const struct act_settings *s, const struct action *x,
	struct draft *ret_draft, struct fault *ret_fault);
MUST_CHECK int delete_capacity_draft(
	const struct action *x, struct draft *ret_draft, struct fault *ret_fault);
MUST_CHECK int grant_draft(
	const struct action *x, int64_t term, struct draft *ret_draft, struct fault *ret_fault);
/* `live` is the tenant as it was just read, needed where its own affinity has terms; else NULL.
 * `term` 0: none is written. */
MUST_CHECK int place_draft(const struct action *x, const json_t *live, int64_t term,
	struct draft *ret_draft, struct fault *ret_fault);
/* A tenant that runs is told another share. */
MUST_CHECK int resize_draft(const struct action *x, int64_t wall_ms, int64_t term,
	struct draft *ret_draft, struct fault *ret_fault);
MUST_CHECK int condition_draft(
	const struct action *x, int64_t wall_ms, struct draft *ret_draft, struct fault *ret_fault);
MUST_CHECK int policy_status_draft(
	const struct action *x, int64_t wall_ms, struct draft *ret_draft, struct fault *ret_fault);
MUST_CHECK int evict_draft(
	const struct action *x, struct draft *ret_draft, struct fault *ret_fault);
MUST_CHECK int create_recommendation_draft(
	const struct action *x, struct draft *ret_draft, struct fault *ret_fault);
MUST_CHECK int recommendation_status_draft(
	const struct action *x, struct draft *ret_draft, struct fault *ret_fault);
/* Makes it where it has to be made, else writes its status. */
MUST_CHECK int delete_recommendation_draft(
	const struct action *x, struct draft *ret_draft, struct fault *ret_fault);
MUST_CHECK int checkpoint_draft(
	const struct action *x, struct draft *ret_draft, struct fault *ret_fault);
/* Is the owner to be read before it is made? Where, and what was read. */
bool recommendation_reads_owner(const struct action *x);
struct kube_path recommendation_owner_path(const struct action *x, struct arena *a);
MUST_CHECK int recommendation_owner_read(struct action *x, const struct kube_answer *answer,
	struct arena *a, struct fault *ret_fault);
void action_count(struct metric_registry *metrics, const struct action *x, const struct fault *f);
/* It was done: said and counted. */
void evict_note(struct metric_registry *metrics, const struct action *x);
/* False: the recorder dropped it. */
bool event_hand_over(struct events *recorder, const struct action *x);

/* A pod that was there already under the name of one that we wanted: is it that one? */
bool create_capacity_is_ours(const struct act_settings *s, const struct pod *pod);

/* --- confirm.c --- */
/* The answer is to a GET of a tenant: it waits for its share, or is gone. False: it does not, or
 * nobody knows; the fault says it. */
MUST_CHECK bool confirm_waits(
	const struct kube_answer *answer, const char *uid, struct fault *ret_fault);
/* A uid that is not the object's is answered as an invalid change where no version was given with
 * it (seen on 1.36). To the engine it is what it is: a precondition that did not hold. */
void confirm_uid(const struct action *x, struct fault *f);

/* make.c: parts of both kinds of pods that we make. The draft and the beginning of its body. */
MUST_CHECK int make_pod(const struct act_settings *s, const struct action *x,
	struct draft *ret_draft, struct build *b, struct fault *ret_fault);
/* "metadata" as far as the labels, of which more may follow; the owner ends both. */
void make_metadata(struct build *b, const struct action *x, const char *app);
/* The same, with its annotations: the caller ends them, and begins "labels" by make_labels. */
void make_notes(struct build *b, const struct action *x);
void make_labels(struct build *b, const char *app);
void make_owner(struct build *b, const char *kind, const char *name, const char *uid);
const char *make_owner_name(const struct act_settings *s); /* of the ConfigMap */
/* It is known. */
MUST_CHECK int make_check_owner(const struct act_settings *s, struct fault *ret_fault);
/* "spec", begun: the caller ends it. */
/* `uid`: of model/uids.h. */
void make_spec(
	struct build *b, const char *restart, const char *priority, int64_t grace_s, int64_t uid);
void make_toleration(struct build *b, const struct toleration *t);
/* The image, and its command where the configuration has one. */
void make_image(struct build *b, const struct act_settings *s);
/* "nodeSelector" and "affinity", where the action has any. */
void make_where(struct build *b, const struct action *x);
/* "affinity": this node and no other. */
void make_pin(struct build *b, const char *node);

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
/* Checks that the body is whole. */
MUST_CHECK int draft_end(const struct build *b, struct draft *d, struct fault *ret_fault);

#endif
