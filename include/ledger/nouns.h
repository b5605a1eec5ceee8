/* What most headers of the engine's rooms name: plain numbers, and nouns, what each is and where it
 * stands. */
#ifndef LEDGER_NOUNS_H
#define LEDGER_NOUNS_H

#include <stdbool.h>
#include <stdint.h>

struct arena;	      /* the memory of what lasts as long as a step or a record: base/alloc.h */
struct book;	      /* who waits, and which capacity pods there are or will be: book.h */
struct companies;     /* with whom a tenant may share a GPU: sharing_group.h */
struct emitter;	      /* where a step's decisions are written: emit.h */
struct evictions;     /* tenants that are to go: guardian/evict.h */
struct grant;	      /* an entry of a ledger: model/pod.h */
struct holder;	      /* a capacity pod, as it is and as it was asked for: capacity_pod.h */
struct injecting;     /* how nodes give GPUs to containers: capacity/inject.h */
struct needs;	      /* what a step must know of nodes and neighbours: demand/needs.h */
struct orphans;	      /* GPUs that lost their capacity pod: guardian/orphan.h */
struct outcome;	      /* what became of an action: model/plan.h */
struct overuses;      /* who uses more memory than its share: guardian/overuse.h */
struct picture;	      /* nodes and GPUs as this step sees them: picture.h */
struct place_gpu;     /* a GPU of the picture: place/gpu_picture.h */
struct place_request; /* what is asked of a node: place/place.h */
struct place_verdict; /* where it goes: place/place.h */
struct pod;	      /* a pod's object: model/pod.h */
struct quotas;	      /* what of each ResourceQuota is taken: demand/quota_usage.h */
struct ranked;	      /* those who wait, in their order: demand/rank.h */
struct scale;	      /* asking for nodes: capacity/scale.h */
struct scheduling; /* those who wait, and all that is asked to serve one: scheduling/scheduling.h */
struct gpu_avoidances; /* where a workload does not go again: demand/gpu_avoidance.h */
struct step_time;      /* the step's number and clock: step_time.h */
struct waiter;	       /* a tenant that waits, and what it was told: pending_pod.h */
struct wholes;	       /* pods that ask for whole GPUs: demand/wholes.h */
struct world;	       /* the cluster as the watches show it: world/world.h */
struct world_pod;      /* a pod of it: world/pods.h */

#endif
