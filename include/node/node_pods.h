/* The pods of this node as the API server tells them: who may use which device, and what the
 * cgroups of its containers are called. Filled from a watch, asked by uid. */
#ifndef NODE_NODE_PODS_H
#define NODE_NODE_PODS_H

#include <stdbool.h>
#include <stdint.h>

#include "model/node_pod.h"

struct node_pods;

/* Text is borrowed by node_pods_set and owned by what node_pods_find gives. */
struct node_pods *node_pods_create(void);
void node_pods_destroy(struct node_pods *p); /* NULL is fine */
/* A copy is kept, in place of the former one of that uid. False: there are too many. */
bool node_pods_set(struct node_pods *p, const struct node_pod *pod);
void node_pods_remove(struct node_pods *p, const char *uid);
/* Outlives the next node_pods_set of that uid. No more than NODE_UUIDS_MAX are kept. */
void node_pods_saw(struct node_pods *p, const char *uid, const char *uuid);
/* Round a question to the kubelet, which tells pods by name: what was told between the two is taken
 * where the pod was known when it was asked, and one pod alone was told by that name. It outlives
 * the next node_pods_set of its uid, and an answer that says nothing of it: a pod keeps its
 * devices.
 */
void node_pods_ask(struct node_pods *p);
void node_pods_told(struct node_pods *p, const char *ns, const char *name,
	const struct node_device *devices, uint32_t count);
/* Round a relist: what was neither set nor kept in between is gone at its end. */
void node_pods_relist_begin(struct node_pods *p);
void node_pods_keep(struct node_pods *p, const char *uid);
void node_pods_relist_end(struct node_pods *p);

uint32_t node_pods_count(const struct node_pods *p);
/* In no order; valid until the next change. i < count. */
const struct node_pod *node_pods_at(const struct node_pods *p, uint32_t i);
const struct node_pod *node_pods_find(const struct node_pods *p, const char *uid);
/* By what a cgroup calls it: a uid, or the hash of a static pod. A hash that two pods claim is
 * nobody's. */
const struct node_pod *node_pods_of_cgroup(const struct node_pods *p, const char *name);
/* By namespace and name, for watches that tell no uid. */
const struct node_pod *node_pods_named(const struct node_pods *p, const char *ns, const char *name);

bool node_pod_granted(const struct node_pod *p, const char *uuid);
bool node_pod_seen(const struct node_pod *p, const char *uuid);
bool node_pod_told(const struct node_pod *p, const char *uuid);
/* NULL: none of its containers is called that so far. */
const struct node_container *node_pod_container(const struct node_pod *p, const char *id);

#endif
