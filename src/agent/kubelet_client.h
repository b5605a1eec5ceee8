/* Which pod has which GPU, asked of the kubelet (v1.PodResourcesLister/List: gRPC over its socket)
 * once in each interval and told to the node's pods. Nothing waits for it: a kubelet that is away,
 * that hangs or that talks nonsense leaves the pods as they were and is said, once.
 *
 * A capacity pod that told another device than the kubelet gave to it is said too: one of the two
 * is wrong about who holds it. */
#ifndef AGENT_KUBELET_CLIENT_H
#define AGENT_KUBELET_CLIENT_H

#include "base/metric.h"
#include "io/loop.h"
#include "node/node_pods.h"

struct kubelet_config {
	struct loop *loop; /* all borrowed */
	struct node_pods *pods;
	struct metric_registry *metrics;
	const char *socket;    /* its path, or that of `aliquot relay` */
	const char *resources; /* whose devices are GPUs: names with commas between them */
	int64_t interval_ms;
	int64_t timeout_ms; /* of one answer; 0: 5 s */
	int64_t again_ms;   /* another cause of one kind is logged after that; 0: 5 min */
};

struct kubelet;
struct kubelet *kubelet_create(const struct kubelet_config *config, struct fault *ret_fault);
void kubelet_destroy(struct kubelet *k); /* NULL is fine */
/* Sets the gauges, before they are shown. */
void kubelet_gauges(struct kubelet *k);

#endif
