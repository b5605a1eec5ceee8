/* The inside of the world, shared by its files. */
#ifndef WORLD_STORE_H
#define WORLD_STORE_H

#include "base/alloc.h"
#include "base/intern.h"
#include "base/map.h"
#include "base/slab.h"
#include "base/str.h"
#include "base/vec.h"
#include "world/node_states.h"
#include "world/world.h"

#include "missed.h"

struct range_key {
	const char *ns;	  /* interned */
	const char *name; /* interned */
	uint32_t mark;
};

struct slice_key {
	const char *name; /* interned */
	uint32_t node;
	uint32_t mark;
};

struct world_space {
	const char *ns; /* interned */
	size_t bytes;	/* of its large pods, as they are packed before they are squeezed */
};

/* Labels that ordinary pods of a namespace ever carried. */
#define SIGHTING_BITS 1024
struct sighting {
	const char *ns; /* interned */
	uint64_t bits[SIGHTING_BITS / 64];
};

struct sync_state {
	bool complete; /* a list was complete once */
	bool stale;
	bool relisting;
	bool blind;	/* an object that is not known here could not be read */
	bool blind_now; /* and that was since the relist that runs began */
	uint32_t mark;	/* of the relist that runs or ran last */
};

struct world {
	struct intern *words;
	struct {
		VEC_FIELDS(struct world_pod *); /* owned, NULL where free */
	} pods;
	struct {
		VEC_FIELDS(uint32_t);
	} free_pods;
	struct slab records; /* of pods, and of what they take */
	struct {
		VEC_FIELDS(struct world_takes *); /* owned, NULL where free */
	} takes;
	struct {
		VEC_FIELDS(uint32_t);
	} free_takes;
	struct map takes_same;
	struct map pods_by_name;
	size_t pod_count;
	/* GPU pods by class; each knows its place in its list */
	struct {
		VEC_FIELDS(uint32_t);
	} gpu_pods[WORLD_CLASSES];
	struct map gpu_by_uid; /* to slots of pods */
	struct {
		VEC_FIELDS(struct world_departed);
	} departed;
	struct map departed_by_uid;
	struct {
		VEC_FIELDS(struct missed);
	} missed;
	struct {
		VEC_FIELDS(struct world_node *); /* owned */
	} nodes;
	struct map nodes_by_name;
	struct {
		VEC_FIELDS(struct world_policy *); /* owned */
	} policies;
	struct {
		VEC_FIELDS(const struct policy *); /* borrowed, one for each of policies */
	} policy_views;
	struct {
		VEC_FIELDS(struct world_namespace *); /* owned */
	} namespaces;
	struct map namespaces_by_name;
	struct {
		VEC_FIELDS(struct range_key);
	} ranges; /* only those that limit GPUs */
	struct {
		VEC_FIELDS(struct world_quota *); /* owned; only those that bound GPUs */
	} quotas;
	struct {
		VEC_FIELDS(struct slice_key);
	} slices;
	struct map slices_by_name;
	struct {
		VEC_FIELDS(struct world_claim *); /* owned */
	} claims;
	struct map claims_by_name;
	struct {
		VEC_FIELDS(struct world_space); /* only those with large pods */
	} spaces;
	struct map spaces_by_name;
	size_t cut_pods; /* GPU pods of which something was left out */
	struct {
		VEC_FIELDS(struct sighting);
	} sightings; /* apart from namespaces: these are no part of what is saved */
	struct map sightings_by_ns;
	uint32_t claims_unused; /* entries that nobody names any more */
	uint64_t claims_version;
	struct sync_state sync[KIND_ENGINE];
	uint64_t version;
	uint64_t policy_version;
	uint64_t nodes_version;
	struct str scratch, squeezed; /* packing */
};

static inline void node_stamp(struct world *w, struct world_node *n)
{
	n->stamp = ++w->nodes_version;
}

/* Shares a GPU, or holds one for those who do. */
static inline bool is_sharer(const struct world_pod *p)
{
	return p->gpu != NULL && (p->gpu->class == WORLD_TENANT || p->gpu->class == WORLD_CAPACITY);
}

struct pod_key {
	const char *ns;
	const char *name;
};

/* A person may write any request and name a node, and the sums must not overflow: no machine has
 * 64 TiB for one pod, and no node has 131072 pods. */
static inline int64_t summable(int64_t amount)
{
	const int64_t most = INT64_MAX >> 17;
	return amount < most ? amount : most;
}

/* pods.c */
void pods_init(struct world *w);
void pods_finish(struct world *w);
void pods_set(struct world *w, const struct pod *pod);
/* What is kept of the uid of an ordinary pod. */
#define PODS_BRIEF_SIZE 10
const char *pods_brief(const char *uid, char brief[PODS_BRIEF_SIZE]);
void pods_gone(struct world *w, const struct change *c);
void pods_keep(struct world *w, const struct change *c);
void pods_sweep(struct world *w, uint32_t mark);

/* sightings.c: a pod that has nothing to do with GPUs was told. */
void sightings_init(struct world *w);
void sightings_finish(struct world *w);
void sightings_note(struct world *w, const struct pod *pod);

/* nouns.c: of a GPU pod whole, behind its struct world_gpu. What is packed is borrowed until
 * noun_done. */
struct view noun_pack(struct world *w, const struct world_pod *p, const struct pod *pod);
void noun_done(struct world *w);
bool noun_same(struct world *w, const struct world_pod *p, const struct pod *pod);

size_t noun_size(const struct world_pod *p); /* as it was before it was squeezed */

/* spaces.c: what is kept of large pods, by namespace. `bytes` as noun_size. */
void spaces_init(struct world *w);
void spaces_finish(struct world *w);
bool spaces_have_room(const struct world *w, const char *ns, size_t bytes);
void spaces_take(struct world *w, const char *ns, size_t bytes);
void spaces_leave(struct world *w, const char *ns, size_t bytes);
/* What is kept of a pod for which there is no room. A view of it. */
void spaces_least(const struct pod *pod, struct arena *arena, struct pod *ret);
bool spaces_agree(const struct world *w);

/* takes.c: a reference to what the pod takes, given back with takes_release. */
void takes_init(struct world *w);
void takes_finish(struct world *w);
const struct world_takes *takes_of(struct world *w, const struct pod *pod);
void takes_release(struct world *w, const struct world_takes *t); /* NULL is fine */
bool takes_agree(const struct world *w);

/* uses.c: what is taken beside CPU, memory, slots and GPUs. `extra` is the text form. */
void uses_count(struct world *w, struct world_uses *u, const char *extra, int sign);
const char *uses_intern(struct world *w, const struct extra *x); /* a reference; NULL: nothing */
void uses_finish(struct world_uses *u);				 /* the words go with the world */
bool uses_agree(const struct world *w, uint32_t node);

/* claims.c: what a tenant with our gate or a pending pod names is taken, and left again; what
 * nobody names any more goes with claims_trim, so that an object that is set again loses nothing in
 * between. */
void claims_init(struct world *w);
void claims_finish(struct world *w);
void claims_take(struct world *w, struct world_gpu *g, const struct pod *pod);
void claims_leave(struct world *w, struct world_gpu *g);
void claims_trim(struct world *w);
void claims_set(struct world *w, const struct change *change);
bool claims_agree(const struct world *w);

/* quotas.c: adds (sign 1) or removes (-1) what a pod takes of the quotas that cover it. */
void quotas_count(struct world *w, const struct world_pod *p, int sign);
void quotas_set(struct world *w, const struct change *c);
void quotas_gone(struct world *w, const char *ns, const char *name);
void quotas_keep(struct world *w, const char *ns, const char *name);
void quotas_sweep(struct world *w, uint32_t mark);
void quotas_finish(struct world *w);
bool quotas_agree(const struct world *w);

/* node_states.c */
void states_set(struct world *w, const struct change *c);
void states_gone(struct world *w, const char *name);
void states_drop(struct world_node *n);

/* slices.c: GPUs that are published through DRA */
void slices_init(struct world *w);
void slices_finish(struct world *w);
void slices_set(struct world *w, const struct gpu_slice *s);
void slices_gone(struct world *w, const char *name);
void slices_keep(struct world *w, const char *name);
void slices_sweep(struct world *w, uint32_t mark);
bool slices_agree(const struct world *w);

/* objects.c: a deep copy of what a change carries, in `arena`, which is emptied before. */
void world_copy_noun(
	struct world *w, const struct change *c, struct arena *arena, struct change *ret);

/* departed.c */
void departed_init(struct world *w);
void departed_finish(struct world *w);
/* `told`: an event said that it goes; it was merely not in a list otherwise. */
void departed_note(struct world *w, const struct world_pod *p, bool told);

/* objects.c: nodes, policies, namespaces, limit ranges */
void objects_init(struct world *w);
void objects_finish(struct world *w);
uint32_t nodes_touch(struct world *w, const char *name); /* the index, made if unknown */
struct world_namespace *namespace_touch(struct world *w, const char *name);
void objects_set(struct world *w, const struct change *c);
void objects_gone(struct world *w, const struct change *c);
void objects_keep(struct world *w, const struct change *c);
void objects_sweep(struct world *w, enum kind kind, uint32_t mark);

#endif
