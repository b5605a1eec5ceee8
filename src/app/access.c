/* A SelfSubjectAccessReview now and then. It is a POST that makes nothing. */
#include "access.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/log.h"
#include "json/decode.h"

#define EVERY_MS 30000
#define SOON_MS	 5000 /* after no answer */

struct access {
	struct kube *kube; /* borrowed */
	uint64_t call;
	int64_t next_at, now;
	enum sizer_surge told;
};

struct access *access_create(struct kube *kube)
{
	struct access *a = xcalloc(1, sizeof *a);
	a->kube = kube;
	return a;
}

static void access_destroy(void *self)
{
	struct access *a = self;
	kube_cancel(a->kube, a->call);
	free(a);
}

/* Without an answer what was told last stands: a write that is not allowed is refused anyway. */
static void on_access_answer(void *data, const struct kube_answer *answer)
{
	CLEANUP(decode_release) json_t *root = NULL;
	struct access *a = data;
	struct fault f = answer->fault;
	a->call = 0;
	a->next_at = a->now + SOON_MS;
	if (f.kind != FAULT_NONE ||
		decode_parse(answer->body, answer->body_size, DECODE_MEND, &root, &f) < 0) {
		log_warn("cannot ask whether pods may be made beside others", LOG_F(&f));
		return;
	}
	bool allowed = json_is_true(decode_find(root, "status.allowed"));
	enum sizer_surge now = allowed ? SIZER_SURGE_ALLOWED : SIZER_SURGE_FORBIDDEN;
	if (now != a->told) {
		log_info(allowed ? "pods may be made beside others: the overlay surge is applied"
				 : "no pod is made beside another: the overlay surge is not "
				   "applied");
	}
	a->told = now;
	a->next_at = a->now + EVERY_MS;
}

/* May pods be made, in any namespace? */
static const char review[] = "{\"apiVersion\":\"authorization.k8s.io/v1\","
			     "\"kind\":\"SelfSubjectAccessReview\",\"spec\":{"
			     "\"resourceAttributes\":{\"verb\":\"create\",\"resource\":\"pods\"}}}";

static void access_step(void *self, const struct turn *turn)
{
	struct access *a = self;
	a->now = turn->now;
	if (!turn->leads) {
		kube_cancel(a->kube, a->call);
		a->call = 0;
		a->next_at = turn->now;
		a->told = SIZER_SURGE_UNKNOWN;
		return;
	}
	if (a->call != 0 || turn->now < a->next_at) {
		return;
	}
	const struct kube_write w = {.method = WIRE_POST,
		.path = {.group_version = "authorization.k8s.io/v1",
			.resource = "selfsubjectaccessreviews"},
		.content_type = KUBE_JSON,
		.body = review,
		.body_size = sizeof review - 1};
	a->call = kube_put(a->kube, &w, on_access_answer, a);
}

static int64_t access_deadline(const void *self, const struct turn *turn)
{
	const struct access *a = self;
	return a->call == 0 && turn->leads ? a->next_at : TIME_NEVER;
}

const struct part access_part = {access_step, access_deadline, access_destroy};

enum sizer_surge access_surge(const struct access *a)
{
	return a->told;
}
