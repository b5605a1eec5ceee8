/* Free shares, and nodes that would do. */
#include "supply/shared_gpus.h"

#include "place/place.h"
#include "size/builtin.h"

/* More are not looked at: what fits is found early or hardly ever. */
#define NODES_ASKED 256

void shared_gpus_finish(struct shared_gpus *r)
{
	VEC_FINISH(&r->list);
}

void shared_gpus_clear(struct shared_gpus *r)
{
	VEC_CLEAR(&r->list);
}

uint64_t sharing_group_of(enum exclusivity exclusivity, const struct workload_key *key)
{
	if (exclusivity == EXCLUSIVITY_ANY) {
		return SHARED_BY_ANYBODY;
	}
	if (exclusivity == EXCLUSIVITY_DEDICATED || key == NULL) {
		return SHARED_BY_NOBODY;
	}
	uint64_t hash = hash_pair(key->ns, key->name);
	hash = hash_bytes(key->kind, strlen(key->kind), hash);
	return hash > SHARED_BY_NOBODY ? hash : hash + 2;
}

/* Of one whose policy is gone the built-in one, of one that is not known nothing. */
static void room_join(struct shared_gpu *room, const struct gpu_tenant *t)
{
	const struct policy *p = t->policy != NULL ? t->policy : policy_builtin();
	uint64_t company = sharing_group_of(p->exclusivity, t->key);
	uint32_t most = p->max_tenants > 0 ? (uint32_t)p->max_tenants : room->most;
	room->company = room->tenants == 0 || room->company == company ? company : SHARED_BY_NOBODY;
	room->most = most < room->most ? most : room->most;
}

void shared_gpus_add(struct shared_gpus *r, const struct world_pod *wp, const struct pod *pod,
	const struct tenant_finder *tenants)
{
	if (pod->identity == NULL || pod->ledger_bad || !pod->holds || wp->deleting ||
		wp->node == WORLD_NONE || world_pod_terminal(wp)) {
		return;
	}
	struct shared_gpu room = {
		.name = hash_text(world_pod_name(wp)),
		.node = wp->node,
		.most = MODEL_GRANTS_MAX,
		.milli = MODEL_GPU_MILLI,
		.mib = pod->identity->mem_mib,
		.mps = pod_is_mps(pod),
	};
	for (uint32_t i = 0; i < pod->ledger.count; i++) {
		const struct gpu_tenant t = tenants->find(tenants->data, pod->ledger.items[i].uid);
		room.milli -= pod->ledger.items[i].milli;
		room.mib -= pod->ledger.items[i].mem_mib;
		room_join(&room, &t);
		room.tenants++;
	}
	VEC_PUSH(&r->list, room);
}

/* May it run there, as far as is asked here? With `opens` a capacity pod has to as well. */
static bool room_node_takes(const struct share_query *ask, const struct world_node *w, bool opens)
{
	const struct pod *pod = ask->pod;
	struct place_node n = {.noun = &w->noun,
		.free_cpu_milli = w->noun.cpu_milli - w->cpu_milli,
		.free_mem_bytes = w->noun.mem_bytes - w->mem_bytes,
		.free_slots = w->noun.pod_slots - w->pods,
		.serves_dra = w->dra_slices > 0,
		.serves_kai = w->kai_pods > 0};
	if (!w->known || !w->noun.ready || w->noun.unschedulable ||
		place_given_out_by(&n) != UNFIT_NONE) {
		return false;
	}
	if (opens) {
		place_reserve_capacity(&n, ask->mps);
	}
	/* who asks for nothing is not kept away by there being less than that */
	return (pod->cpu_milli == 0 || n.free_cpu_milli >= pod->cpu_milli) &&
	       (pod->mem_bytes == 0 || n.free_mem_bytes >= pod->mem_bytes) && n.free_slots > 0 &&
	       place_node_suits(pod, &w->noun);
}

/* Those who are there without the `gone` one that makes way. */
static bool has_company(const struct shared_gpu *room, const struct share_query *ask, uint32_t gone)
{
	uint32_t most = ask->most > 0 && ask->most < room->most ? ask->most : room->most;
	uint32_t others = room->tenants > gone ? room->tenants - gone : 0;
	return others < most && (others == 0 || (room->company == ask->company &&
							room->company != SHARED_BY_NOBODY));
}

static bool room_has_share(
	const struct shared_gpu *room, const struct share_query *ask, const struct share *more)
{
	return room->mps == ask->mps && room->milli + more->milli >= ask->want->milli &&
	       room->mib + more->mib >= ask->want->mib;
}

/* A GPU that nobody has: what it will tell is an estimate, and unknown where nothing tells. */
static bool opens(const struct share_query *ask, uint32_t node)
{
	const struct world_node *w = world_node_at(ask->world, node);
	int64_t fits = devices_fits_at(ask->devices, node);
	return w->known && w->noun.gpus > w->gpus && (fits == 0 || ask->want->mib <= fits);
}

static bool is_apart(const struct shared_gpu *room, const struct share_query *ask)
{
	for (uint32_t i = 0; i < ask->apart_count; i++) {
		if (room->name == ask->apart[i]) {
			return true;
		}
	}
	return false;
}

enum roll_room shared_gpus_find(const struct shared_gpus *r, const struct share_query *ask)
{
	static const struct share nothing = {0, 0};
	uint32_t asked = 0;
	for (size_t i = 0; i < r->list.count && asked < NODES_ASKED; i++) {
		const struct shared_gpu *room = &r->list.items[i];
		if (!room_has_share(room, ask, &nothing) || !has_company(room, ask, 0) ||
			is_apart(room, ask)) {
			continue;
		}
		asked++;
		if (room_node_takes(ask, world_node_at(ask->world, room->node), false)) {
			return ROLL_ROOM_OPEN;
		}
	}
	for (uint32_t i = 0, n = 0; i < world_node_slots(ask->world) && n < NODES_ASKED; i++) {
		if (!opens(ask, i)) {
			continue;
		}
		n++;
		if (room_node_takes(ask, world_node_at(ask->world, i), true)) {
			return ROLL_ROOM_FREE;
		}
	}
	return ROLL_ROOM_NONE;
}

bool shared_gpus_could_be_added(const struct share_query *ask)
{
	for (uint32_t i = 0, n = 0; i < world_node_slots(ask->world) && n < NODES_ASKED; i++) {
		const struct world_node *w = world_node_at(ask->world, i);
		const struct place_node as = {.noun = &w->noun,
			.serves_dra = w->dra_slices > 0,
			.serves_kai = w->kai_pods > 0};
		int64_t fits = devices_fits_at(ask->devices, i);
		if (!w->known || w->noun.gpus <= 0 || (fits > 0 && ask->want->mib > fits) ||
			place_given_out_by(&as) != UNFIT_NONE) {
			continue;
		}
		n++;
		if (place_node_suits(ask->pod, &w->noun)) {
			return true;
		}
	}
	return false;
}

bool shared_gpus_fit_after(const struct shared_gpus *r, const struct share_query *ask,
	const char *capacity_pod, const struct share *has)
{
	uint64_t name = hash_text(text_or(capacity_pod, ""));
	for (size_t i = 0; i < r->list.count; i++) {
		const struct shared_gpu *room = &r->list.items[i];
		if (room->name == name) {
			return room_has_share(room, ask, has) && has_company(room, ask, 1);
		}
	}
	return false;
}
