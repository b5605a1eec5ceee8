/* AdmissionReview v1, both ways: the request into a pod, the answer with its patch.
 *
 * The pod that comes out is the pod as a person wrote it. If the object carries `original`, what an
 * earlier pass of ours did is undone first (C5, cases 28 and 31), and guarded keys are stripped in
 * any case. The answer's patch is the difference between the object as it came and the object as it
 * shall be, so an object that is already as it shall be gets none: a second pass in one admission
 * round changes nothing.
 *
 * The other request that is ours is an UPDATE of a tenant's subresource ephemeralcontainers: each
 * container that was not there before sees no GPU, and nothing else is touched (C5, case 30).
 *
 * Owned by the caller from review_decode (also a failed one) to review_finish. Only bytes without a
 * usable request.uid fail; whatever else is wrong is told in `problem` and answered "allowed"
 * without a patch. So is a review that would cost too much: it is not even parsed, so that one pod
 * takes a few milliseconds of everybody's time at most. */
#ifndef PODS_REVIEW_H
#define PODS_REVIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/fault.h"
#include "base/str.h"
#include "model/mutation.h"
#include "model/pod.h"

#define REVIEW_BODY_MAX	   (7u << 20)
#define REVIEW_WARNING_MAX 256

struct json_t; /* jansson's */

struct review {
	struct arena arena;    /* owned: everything below */
	struct str text;       /* owned: the request without what nobody reads */
	struct json_t *root;   /* owned: the request as it came */
	struct json_t *object; /* borrowed from root: the pod as it came */
	struct json_t *plain;  /* owned: as a person wrote it; shares with object what is equal */
	struct json_t *tenant; /* owned: what review_apply made of it; NULL: nothing */
	struct str patch;      /* owned: from object to tenant */
	const char *uid;
	const char *operation; /* "CREATE"; "UPDATE" where a container is added to a tenant */
	const char *ns;
	const char *user;
	bool dry_run;
	bool restored;	      /* `original` was there and has been followed */
	bool unreadable;      /* `original` was there and makes no sense: the pod is left as it is,
				 without its guarded keys */
	bool debugged;	      /* a tenant gets ephemeral containers: no pod, the patch is ready */
	const char *void_in;  /* that one of them lost its own choice of devices; NULL: none */
	const char *gpu_in;   /* the container that has the tenant's GPU; NULL: not known */
	bool too_large;	      /* it was not parsed: nothing but uid and problem is known */
	bool malformed;	      /* it could not be: the same */
	bool group_note;      /* an annotation makes it part of a gang (Volcano) */
	const char *declared; /* borrowed from plain: the key by which somebody applies it again and
				 again (GitOps); NULL: none */
	const char *problem;  /* NULL: pod is valid */
	struct pod pod;
};

MUST_CHECK int review_decode(
	struct review *r, const char *body, size_t size, struct fault *ret_fault);
void review_reset(struct review *r); /* ready for the next one, keeps memory */
void review_finish(struct review *r);

/* Makes the pod a tenant. False: it cannot be done (no such container, an `original`, annotations
 * or a patch that would be too long) and the pod stays plain. */
MUST_CHECK bool review_apply(struct review *r, const struct mutation *m);

struct review_notes {
	const char *verdict;	     /* goes to the audit log */
	const char *const *warnings; /* borrowed; each is cut at REVIEW_WARNING_MAX */
	uint32_t warning_count;
};
/* Appends the whole AdmissionReview: allowed, with a patch if the pod shall not stay as it came.
 * False only if `out` overflowed. */
MUST_CHECK bool review_answer(
	const struct review *r, const struct review_notes *notes, struct str *out);

#endif
