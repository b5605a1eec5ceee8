/* One kubeconfig file, as text. */
#ifndef KUBE_KUBECONFIG_H
#define KUBE_KUBECONFIG_H

#include "base/fault.h"
#include "base/str.h"

/* One context of a kubeconfig, as written: paths are not followed yet, only made absolute. A zeroed
 * struct is empty; every string may be NULL and is owned. */
struct kubeconfig {
	char *context;
	char *server;
	char *ca_path;
	char *ca_pem;
	char *tls_server_name;
	bool insecure;
	char *token;
	char *token_path;
	char *cert_path;
	char *cert_pem;
	char *key_path;
	char *key_pem;
	char *namespace;
};

/* Reads the text of a kubeconfig. `directory` is what relative paths are relative to; `context`
 * NULL or "" means current-context. Touches no file. Fails with FAULT_INVALID and a line number. */
MUST_CHECK int kubeconfig_parse(struct view text, const char *directory, const char *context,
	struct kubeconfig *ret_config, struct fault *ret_fault);
void kubeconfig_finish(struct kubeconfig *c);

#endif
