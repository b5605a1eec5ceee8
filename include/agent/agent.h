/* `aliquot agent`: one on each node with GPUs. It looks at all of them every interval, knows the
 * node's pods by a watch, and answers
 *
 *     /metrics    which pod uses what, in the names of dcgm-exporter, and what the agent sees of
 * itself /health     it is alive /readyz     it sees the driver, the pods and their processes; else
 * 503 and why /v1/state   by TLS, for the controller (docs/design/state.md)
 *
 * The driver's library is loaded by a child, so that neither a call that does not come back nor a
 * crash in it keeps any of this from answering. While the API server is away the pods are those
 * that were known last, and that is said. */
#ifndef AGENT_AGENT_H
#define AGENT_AGENT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/log.h"

struct agent_options {
	const char *node;    /* borrowed, as all of these; the Node's name */
	const char *pod_uid; /* its own pod; NULL: not told */
	const char *listen, *state_listen;
	const char *tls_dir; /* tls.crt and tls.key; "" and no own_key: /v1/state is not served */
	const char *nvml_library;
	const char *proc_root, *cgroup_root;
	const char *mps_root;	    /* "": MPS daemons are not steered, which takes root */
	const char *kubelet_socket; /* "": the kubelet is not asked which pod has which GPU */
	const char *gpu_resources;  /* whose devices those are: names with commas between them */
	const char *kubeconfig, *context;
	int64_t interval_ms;
	bool small_hostname, pod_uid_label;
	bool own_key; /* a certificate of its own is asked for; nothing with tls_dir */
	enum log_level log_level;
};

/* The options of production; `node` and `pod_uid` from the environment. */
void agent_options_init(struct agent_options *options);

/* Returns the exit status once it was asked to stop, or where it could not begin. */
int agent_run(const struct agent_options *options);

#endif
