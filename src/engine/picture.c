/* Where something is in the picture of a step. */
#include "picture.h"

#include "state.h"

static const char *uuid_of(const struct engine *e, uint32_t at)
{
	const struct gpu_identity *id = e->snap_gpus.items[at].holder->pod.identity;
	return id != NULL ? id->uuid : NULL;
}

static bool uuid_same(const void *owner, uint32_t slot, const void *key)
{
	return text_equals(uuid_of(owner, slot), key);
}

void gpu_index_begin(struct engine *e)
{
	map_finish(&e->gpus_by_uuid);
	map_init(&e->gpus_by_uuid, uuid_same, e);
}

/* Two capacity pods of one node that tell the same UUID: one of them is wrong, and nobody knows
 * which. Neither gets a grant. Another node's word is no reason to doubt this one's. */
void gpu_index_add(struct engine *e, uint32_t at)
{
	const char *uuid = uuid_of(e, at);
	e->snap_gpus.items[at].same = WORLD_NONE;
	if (uuid == NULL) {
		return;
	}
	uint32_t other = snap_gpu_first(e, uuid), last = WORLD_NONE;
	if (other == WORLD_NONE) {
		map_put(&e->gpus_by_uuid, hash_text(uuid), at);
	}
	for (; other != WORLD_NONE; other = snap_gpu_next(e, other)) {
		last = other;
		if (e->snap.gpus.items[other].node == e->snap.gpus.items[at].node) {
			e->snap.gpus.items[other].fenced = true;
			e->snap.gpus.items[at].fenced = true;
		}
	}
	if (last != WORLD_NONE) {
		e->snap_gpus.items[last].same = at;
	}
}

uint32_t snap_gpu_first(const struct engine *e, const char *uuid)
{
	uint32_t at = map_find(&e->gpus_by_uuid, hash_text(uuid), uuid);
	return at == MAP_NONE ? WORLD_NONE : at;
}

uint32_t snap_gpu_next(const struct engine *e, uint32_t gpu)
{
	return e->snap_gpus.items[gpu].same;
}

uint32_t snap_gpu_on(const struct engine *e, const char *uuid, uint32_t node)
{
	uint32_t at = node != WORLD_NONE ? snap_gpu_first(e, uuid) : WORLD_NONE;
	while (at != WORLD_NONE && e->snap.gpus.items[at].node != node) {
		at = snap_gpu_next(e, at);
	}
	return at;
}

uint32_t snap_node_at(const struct engine *e, uint32_t node)
{
	return node < e->node_to_snap.count ? e->node_to_snap.items[node] : WORLD_NONE;
}

/* Before it is bound it is pinned to the node of its capacity pod. Where that one is gone, too, it
 * is whoever tells the GPU: another one may have been given it meanwhile. */
uint32_t snap_gpu_of_pod(const struct engine *e, const struct world_pod *p, const char *uuid)
{
	if (p->node != WORLD_NONE) {
		return snap_gpu_on(e, uuid, snap_node_at(e, p->node));
	}
	const struct holder *h = holder_of_tenant(e, p->gpu);
	return h != NULL && h->node != NULL ? snap_gpu_on(e, uuid, snap_node_of(e, h->node))
					    : snap_gpu_first(e, uuid);
}

uint32_t snap_node_of(const struct engine *e, const char *name)
{
	uint32_t i = name != NULL ? world_node_find(e->world, name) : WORLD_NONE;
	return i == WORLD_NONE || i >= e->node_to_snap.count ? WORLD_NONE
							     : e->node_to_snap.items[i];
}

bool snap_counted(const struct engine *e, uint32_t slot)
{
	return (e->counted.items[slot / COUNTED_BITS] >> slot % COUNTED_BITS & 1) != 0;
}

struct holder *holder_of_tenant(const struct engine *e, const struct world_gpu *tenant)
{
	struct told t = told_of(NULL, tenant->capacity_pod);
	return told_next(&t) ? holder_find(e, t.capacity_pod) : NULL;
}
