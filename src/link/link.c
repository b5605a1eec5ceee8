/* Credentials, client and requests, made together and followed while they rotate. */
#include "link/link.h"

#include "base/alloc.h"
#include "base/log.h"
#include "io/http.h"

struct link {
	const char *user_agent; /* borrowed */
	struct kube_cred *cred; /* owned, as the next two */
	struct http_client *http;
	struct kube *kube;
	uint64_t generation; /* of what the client was given */
};

static struct http_client_config client_config(struct link *l)
{
	struct kube_tls tls;
	kube_cred_tls(l->cred, &tls);
	l->generation = tls.generation;
	return (struct http_client_config){.base_url = kube_cred_server(l->cred),
		.ca_pem = tls.ca_pem,
		.cert_pem = tls.cert_pem,
		.key_pem = tls.key_pem,
		.insecure_skip_verify = tls.insecure,
		.tls_server_name = tls.server_name,
		.user_agent = l->user_agent};
}

static int connect_to(struct link *l, const struct link_config *config, struct fault *ret_fault)
{
	struct kube_cred_options source = {
		.kubeconfig = config->kubeconfig, .context = config->context};
	l->cred = kube_cred_create(&source, config->clock, ret_fault);
	if (l->cred == NULL) {
		return -1;
	}
	struct http_client_config client = client_config(l);
	l->http = http_client_create(config->loop, &client, ret_fault);
	if (l->http == NULL) {
		return -1;
	}
	struct wire *wire = http_client_wire(l->http);
	if (config->wrap != NULL) {
		wire = config->wrap(config->data, wire);
	}
	l->kube = kube_create(wire, l->cred, config->clock, config->metrics);
	return 0;
}

struct link *link_create(const struct link_config *config, struct fault *ret_fault)
{
	struct link *l = xcalloc(1, sizeof *l);
	l->user_agent = config->user_agent;
	if (connect_to(l, config, ret_fault) < 0) {
		link_destroy(l);
		return NULL;
	}
	return l;
}

void link_destroy(struct link *l)
{
	if (l == NULL) {
		return;
	}
	kube_destroy(l->kube);
	http_client_destroy(l->http);
	kube_cred_destroy(l->cred);
	free(l);
}

struct kube *link_kube(struct link *l)
{
	return l->kube;
}

const char *link_server(struct link *l)
{
	return kube_cred_server(l->cred);
}

const char *link_namespace(struct link *l)
{
	return kube_cred_namespace(l->cred);
}

void link_step(struct link *l, int64_t now_mono_ms)
{
	struct kube_tls tls;
	struct fault f;
	kube_cred_step(l->cred, now_mono_ms);
	kube_cred_tls(l->cred, &tls);
	if (tls.generation == l->generation) {
		return;
	}
	struct http_client_config client = client_config(l);
	if (http_client_retarget(l->http, &client, &f) < 0) {
		log_error("the new credentials cannot be used", LOG_F(&f));
	} else {
		log_info("the API server's certificates were read again");
	}
}

int64_t link_deadline(const struct link *l)
{
	return kube_cred_deadline(l->cred);
}
