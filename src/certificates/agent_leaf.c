/* One pass: read the Secret of the agents, issue a leaf where none fits. */
#include "agent_leaf.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/log.h"
#include "leaf.h"
#include "model/names.h"

#define PASS_EVERY_MS 30000
#define PASS_SOON_MS  1000 /* after a write */

struct agent_leaf {
	struct kube *kube;     /* borrowed */
	struct kube_path path; /* of the Secret; borrows the namespace */
	uint64_t call;
	int64_t next_at;
	struct arena arena;	   /* of one pass */
	struct tls_pair authority; /* borrowed from the arena */
};

static void leaf_pause(struct agent_leaf *a, int64_t in_ms)
{
	a->next_at = clock_mono(kube_clock(a->kube)) + in_ms;
	a->authority = (struct tls_pair){0};
	arena_wipe(&a->arena);
}

static void on_leaf_written(void *data, const struct kube_answer *answer)
{
	struct agent_leaf *a = data;
	a->call = 0;
	if (answer->fault.kind != FAULT_NONE && answer->fault.kind != FAULT_CONFLICT) {
		log_warn("the agents' certificate could not be written", LOG_F(&answer->fault));
	}
	leaf_pause(a, answer->fault.kind == FAULT_NONE ? PASS_SOON_MS : PASS_EVERY_MS);
}

static bool leaf_is_good(const struct agent_leaf *a, const struct secret *s)
{
	struct tls_check check = {.bundle_pem = a->authority.cert_pem,
		.name = NAME_AGENT_TLS,
		.wall_ms = clock_wall(kube_clock(a->kube))};
	/* Who mounts this one is on every node with a GPU: nothing but a leaf may lie in it. */
	return s->ca_cert == NULL && s->ca_key == NULL && s->other_cert == NULL &&
	       s->other_key == NULL && leaf_fits(s, &check);
}

static bool issue_agent_leaf(struct agent_leaf *a, const struct secret *old)
{
	static const char *const names[] = {NAME_AGENT_TLS};
	struct secret next = {.resource_version = old->resource_version};
	struct tls_spec spec = {.common_name = NAME_AGENT,
		.names = names,
		.name_count = COUNT_OF(names),
		.days = LEAF_DAYS,
		.wall_ms = clock_wall(kube_clock(a->kube))};
	if (!leaf_issue(&next, &a->authority, &spec, &a->arena)) {
		return false;
	}
	log_info("writing certificates", LOG_S("why", "the agents have none that fits"));
	a->call = leaf_store(a->kube, &a->path, &next, on_leaf_written, a);
	return true;
}

static void on_leaf_secret(void *data, const struct kube_answer *answer)
{
	struct agent_leaf *a = data;
	struct secret s = {0};
	struct fault f = answer->fault;
	a->call = 0;
	bool read = f.kind == FAULT_NONE &&
		    secret_decode(answer->body, answer->body_size, &a->arena, &s, &f) == 0;
	if (!read) {
		log_warn("the Secret of the agents cannot be read", LOG_S("name", NAME_AGENT),
			LOG_F(&f));
	}
	if (!read || leaf_is_good(a, &s) || !issue_agent_leaf(a, &s)) {
		leaf_pause(a, PASS_EVERY_MS);
	}
}

void agent_leaf_offer(struct agent_leaf *a, const char *ca_cert, const char *ca_key, int64_t now)
{
	if (a->call != 0 || now < a->next_at) {
		return;
	}
	a->authority.cert_pem = arena_strdup(&a->arena, ca_cert);
	a->authority.key_pem = arena_strdup(&a->arena, ca_key);
	a->call = kube_get(a->kube, &a->path, on_leaf_secret, a);
}

struct agent_leaf *agent_leaf_create(struct kube *kube, const char *ns)
{
	struct agent_leaf *a = xcalloc(1, sizeof *a);
	a->kube = kube;
	a->path = (struct kube_path){
		.group_version = "v1", .ns = ns, .resource = "secrets", .name = NAME_AGENT};
	return a;
}

void agent_leaf_destroy(struct agent_leaf *a)
{
	if (a == NULL) {
		return;
	}
	kube_cancel(a->kube, a->call);
	arena_wipe(&a->arena);
	arena_finish(&a->arena);
	free(a);
}
