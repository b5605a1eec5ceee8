/* The pods of this node, kept equal to the API server's. While it is away they stay as they were.
 */
#ifndef AGENT_WATCH_PODS_H
#define AGENT_WATCH_PODS_H

#include <stdbool.h>
#include <stdint.h>

#include "kube/client.h"
#include "node/node_pods.h"

struct watch_pods;

/* `kube` and `pods` are borrowed; the pods are changed by its step and by the wire's callbacks. */
struct watch_pods *watch_pods_create(
	struct kube *kube, const char *node, struct node_pods *pods, uint64_t seed);
void watch_pods_destroy(struct watch_pods *w); /* NULL is fine */
void watch_pods_step(struct watch_pods *w, int64_t now_mono_ms);
int64_t watch_pods_deadline(const struct watch_pods *w);
bool watch_pods_synced(const struct watch_pods *w); /* all of them were heard once */
bool watch_pods_stale(const struct watch_pods *w);  /* the API server is not heard */

#endif
