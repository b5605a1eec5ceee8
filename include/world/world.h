/* The memory of the cluster: what the watches have said so far, indexed.
 *
 * It is told changes and never decides anything. Every pod is kept as one small record (who, where,
 * how much CPU and memory), because the sums per node must be right; a pod that asks for a GPU,
 * holds one or shares one also keeps its whole noun as packed bytes, unpacked when a decision needs
 * it.
 *
 * Relists mark and sweep: between CHANGE_RELIST_BEGIN and _END of a kind, what is set is marked; at
 * the end what is not marked is gone, exactly as if its deletion had been seen. A relist that never
 * ends sweeps nothing.
 *
 * Ownership: everything returned is borrowed and valid until the next world_apply. Across turns
 * hold a key (namespace and name, or uid), never a pointer. Nothing here fails: a change that names
 * nothing known is no change. */
#ifndef WORLD_WORLD_H
#define WORLD_WORLD_H

#include "model/change.h"
#include "world/claims.h"
#include "world/departed.h"
#include "world/namespaces.h"
#include "world/nodes.h"
#include "world/nouns.h"
#include "world/objects.h"
#include "world/pods.h"
#include "world/quotas.h"
#include "world/save.h"

struct world;

struct world *world_create(void);
void world_destroy(struct world *w);
/* Its object is of a size that change_fits (record/change.h) allows, or little of it is kept. */
void world_apply(struct world *w, const struct change *c);

/* A list of this kind was complete once, and its watch is not broken now. */
bool world_synced(const struct world *w, enum kind kind);
bool world_all_synced(const struct world *w);
/* An object of that kind that could not be read may be there, so that what is absent here need not
 * be gone. True during a relist too: what it brings first may name what it brings last. */
bool world_blind(const struct world *w, enum kind kind);
/* May a pod of that name be there that could not be read? Without a name, or a namespace: any pod.
 */
bool world_pod_unread(const struct world *w, const char *ns, const char *name);
/* Grows with every change that could matter to a decision. */
uint64_t world_version(const struct world *w);
/* Grows when a node is told anew, goes, or somebody else begins or ends to give out its GPUs. */
uint64_t world_nodes_version(const struct world *w);
/* Grows when a policy is told anew or goes. */
uint64_t world_policies_version(const struct world *w);
/* Grows with every change that could matter to policy resolution or its counts. */
uint64_t world_policy_version(const struct world *w);

#endif
