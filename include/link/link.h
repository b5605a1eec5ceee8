/* The way to the API server: credentials, the HTTP client that uses them, and requests on top. Who
 * runs in a cluster has one; credentials that rotate are followed.
 *
 * Owner: whoever creates it destroys it, before the loop and after everybody who sends through it.
 */
#ifndef LINK_LINK_H
#define LINK_LINK_H

#include "base/clock.h"
#include "base/fault.h"
#include "base/metric.h"
#include "io/loop.h"
#include "kube/client.h"

struct link_config {
	struct loop *loop; /* borrowed, as all of these */
	const struct clock *clock;
	struct metric_registry *metrics;
	const char *kubeconfig, *context; /* as in kube/cred.h */
	const char *user_agent;
	/* What requests go through before they leave; NULL: nothing. */
	struct wire *(*wrap)(void *data, struct wire *inner);
	void *data;
};

struct link;

struct link *link_create(const struct link_config *config, struct fault *ret_fault);
void link_destroy(struct link *l);	    /* NULL is fine */
struct kube *link_kube(struct link *l);	    /* borrowed */
const char *link_server(struct link *l);    /* "https://host:port" */
const char *link_namespace(struct link *l); /* of the context, or "default" */
void link_step(struct link *l, int64_t now_mono_ms);
int64_t link_deadline(const struct link *l);

#endif
