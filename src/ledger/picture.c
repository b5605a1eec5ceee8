/* Where something is in the picture of a step. */
#include "ledger/picture.h"

#include "base/str.h"
#include "ledger/assigned_gpus.h"
#include "ledger/book.h"
#include "ledger/capacity_pod.h"
#include "ledger/step_time.h"
#include "world/world.h"

_Static_assert(MAP_NONE == WORLD_NONE, "what is in no map is in no picture");

static const char *uuid_of(const struct picture *picture, uint32_t at)
{
	const struct gpu_identity *id = picture->snap_gpus.items[at].holder->pod.identity;
	return id != NULL ? id->uuid : NULL;
}

static bool uuid_same(const void *owner, uint32_t slot, const void *key)
{
	return text_equals(uuid_of(owner, slot), key);
}

void picture_init(struct picture *picture, const struct engine_config *cfg, struct step_time *time,
	struct world *world, struct book *book)
{
	*picture = (struct picture){.cfg = cfg, .time = time, .world = world, .book = book};
	picture->kept.differs = (struct str)STR_INIT(1024);
	map_init(&picture->gpus_by_uuid, uuid_same, picture);
}

void picture_finish(struct picture *picture)
{
	snapshot_finish(&picture->snap);
	VEC_FINISH(&picture->snap_gpus);
	VEC_FINISH(&picture->snap_nodes);
	VEC_FINISH(&picture->node_to_snap);
	VEC_FINISH(&picture->told_mib);
	VEC_FINISH(&picture->counted);
	VEC_FINISH(&picture->unsettled);
	map_finish(&picture->gpus_by_uuid);
}

void picture_begin(struct picture *picture)
{
	snapshot_clear(&picture->snap);
	VEC_CLEAR(&picture->snap_gpus);
	VEC_CLEAR(&picture->snap_nodes);
	VEC_CLEAR(&picture->node_to_snap);
	VEC_CLEAR(&picture->told_mib);
	bits_clear(&picture->counted);
	VEC_CLEAR(&picture->unsettled);
	bits_reserve(&picture->counted, world_pod_slots(picture->world));
}

/* Two capacity pods of one node that tell the same UUID: one of them is wrong, and nobody knows
 * which. Neither gets a grant. Another node's word is no reason to doubt this one's. */
void gpu_index_add(struct picture *picture, uint32_t at)
{
	const char *uuid = uuid_of(picture, at);
	if (uuid == NULL) {
		return;
	}
	uint64_t hash = hash_text(uuid);
	uint32_t other = map_find(&picture->gpus_by_uuid, hash, uuid), last = WORLD_NONE;
	picture->snap_gpus.items[at].repeats = other != WORLD_NONE;
	if (other == WORLD_NONE) {
		map_put(&picture->gpus_by_uuid, hash, at);
	}
	for (; other != WORLD_NONE; other = snap_gpu_next(picture, other)) {
		last = other;
		if (picture->snap.gpus.items[other].node == picture->snap.gpus.items[at].node) {
			picture->snap.gpus.items[other].fenced = true;
			picture->snap.gpus.items[at].fenced = true;
		}
	}
	if (last != WORLD_NONE) {
		picture->snap_gpus.items[last].same = at;
	}
}

uint32_t snap_gpu_first(const struct picture *picture, const char *uuid)
{
	return map_find(&picture->gpus_by_uuid, hash_text(uuid), uuid);
}

uint32_t snap_gpu_next(const struct picture *picture, uint32_t gpu)
{
	return picture->snap_gpus.items[gpu].same;
}

uint32_t snap_gpu_on(const struct picture *picture, const char *uuid, uint32_t node)
{
	uint32_t at = node != WORLD_NONE ? snap_gpu_first(picture, uuid) : WORLD_NONE;
	while (at != WORLD_NONE && picture->snap.gpus.items[at].node != node) {
		at = snap_gpu_next(picture, at);
	}
	return at;
}

uint32_t snap_node_at(const struct picture *picture, uint32_t node)
{
	return node < picture->node_to_snap.count ? picture->node_to_snap.items[node] : WORLD_NONE;
}

/* Before it is bound it is pinned to the node of its capacity pod. Where that one is gone, too, it
 * is whoever tells the GPU: another one may have been given it meanwhile. */
uint32_t snap_gpu_of_pod(const struct picture *picture, const struct world_pod *p, const char *uuid)
{
	if (p->node != WORLD_NONE) {
		return snap_gpu_on(picture, uuid, snap_node_at(picture, p->node));
	}
	const struct holder *h = holder_of_tenant(picture->book, p->gpu);
	return h != NULL && h->node != NULL
		       ? snap_gpu_on(picture, uuid, snap_node_of_holder(picture, h))
		       : snap_gpu_first(picture, uuid);
}

uint32_t snap_node_of(const struct picture *picture, const char *name)
{
	uint32_t i = name != NULL ? world_node_find(picture->world, name) : WORLD_NONE;
	return i == WORLD_NONE || i >= picture->node_to_snap.count ? WORLD_NONE
								   : picture->node_to_snap.items[i];
}

uint32_t snap_node_of_holder(const struct picture *picture, const struct holder *h)
{
	return h->node_known ? snap_node_at(picture, h->node_at) : snap_node_of(picture, h->node);
}

bool snap_counted(const struct picture *picture, uint32_t slot)
{
	return bits_have(&picture->counted, slot);
}

struct holder *holder_of_tenant(const struct book *book, const struct world_gpu *tenant)
{
	struct told t = told_of(NULL, tenant->capacity_pod);
	return told_next(&t) ? holder_find(book, t.capacity_pod) : NULL;
}
