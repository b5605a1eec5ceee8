/* Who we are to the API server, and where it is.
 *
 * Two sources: the files that the kubelet mounts into every pod (in-cluster), or one kubeconfig
 * file. The order is: the path given, $KUBECONFIG, in-cluster if KUBERNETES_SERVICE_HOST is set,
 * ~/.kube/config. A $KUBECONFIG that lists several files is refused: merging them silently is how
 * people end up on the wrong cluster. What we cannot do (exec plugins, auth providers, passwords,
 * proxies) is refused with a sentence that says what to use instead.
 *
 * Files rotate under us. A token file is read again every minute; the old token stays while it
 * cannot be read, and is dropped when the server answered 401 to a request that began after it was
 * read. Files with certificates are read again too; `generation` moves when their content did, and
 * the owner of the HTTP client then points it at the new ones. Nothing here is ever logged. */
#ifndef KUBE_CRED_H
#define KUBE_CRED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/fault.h"
#include "base/str.h"

#define KUBE_TOKEN_MAX	    (16 * 1024)
#define KUBE_PEM_MAX	    (256 * 1024)
#define KUBE_CONFIG_MAX	    (1024 * 1024)
#define KUBE_CRED_REREAD_MS 60000
#define KUBE_IN_CLUSTER_DIR "/var/run/secrets/kubernetes.io/serviceaccount"

struct kube_cred_options {
	const char *kubeconfig;			  /* a path; NULL or "": look for one */
	const char *context;			  /* NULL or "": current-context */
	const char *in_cluster_dir;		  /* NULL: KUBE_IN_CLUSTER_DIR */
	const char *(*get_env)(const char *name); /* NULL: the process's environment */
};

/* What the HTTP client needs. All text is borrowed from the kube_cred and lives until its next
 * step. */
struct kube_tls {
	const char *ca_pem;   /* NULL: the system's store */
	const char *cert_pem; /* NULL: no client certificate */
	const char *key_pem;
	const char *server_name; /* NULL: the host of the URL */
	bool insecure;		 /* a person asked for no verification */
	uint64_t generation;	 /* moves whenever one of the above changed */
};

struct kube_cred;

/* NULL and a fault if there is no usable source. Reads all files once. */
struct kube_cred *kube_cred_create(const struct kube_cred_options *options,
	const struct clock *clock, struct fault *ret_fault);
/* For tests and the simulator: a server and perhaps a token, no files. */
struct kube_cred *kube_cred_create_plain(
	const char *server, const char *token, const struct clock *clock);
void kube_cred_destroy(struct kube_cred *c);

const char *kube_cred_server(
	const struct kube_cred *c); /* "https://host:port", no slash at the end */
const char *kube_cred_namespace(const struct kube_cred *c); /* "default" if nothing says */
void kube_cred_tls(const struct kube_cred *c, struct kube_tls *ret_tls);
const char *kube_cred_bearer(const struct kube_cred *c); /* NULL: none, or dropped after a 401 */

/* The server said 401 to a request that began at began_ms (monotonic). */
void kube_cred_refused(struct kube_cred *c, int64_t began_ms);
void kube_cred_step(struct kube_cred *c, int64_t now_mono_ms);
int64_t kube_cred_deadline(const struct kube_cred *c);

#endif
