/* Free shares, and nodes that would do. */
#include "supply/shared_gpus.h"

#include "place/place.h"
#include "size/builtin.h"

/* More are not looked at: what fits is found early or hardly ever. */
#define NODES_ASKED 256

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

void shared_gpus_add(struct shared_gpus *r, const struct world_pod *wp, const struct pod *pod,
	const struct gpu_tenant *tenants)
{
	if (pod->identity == NULL || pod->ledger_bad || !pod->holds || wp->deleting ||
		wp->node == WORLD_NONE || world_pod_terminal(wp)) {
		return;
	}
	struct shared_gpu gpu = {
		.name = hash_text(world_pod_name(wp)),
		.node = wp->node,
		.most = MODEL_GRANTS_MAX,
		.milli = MODEL_GPU_MILLI,
		.mib = pod->identity->mem_mib,
		.mps = pod_is_mps(pod),
	};
	for (uint32_t i = 0; i < pod->ledger.count; i++) {
		/* Of one whose policy is gone the built-in one, of one that is not known nothing.
		 */
		const struct gpu_tenant *t = &tenants[i];
		const struct policy *p = t->policy != NULL ? t->policy : policy_builtin();
		uint64_t group = sharing_group_of(p->exclusivity, t->key);
		bool same = gpu.tenants == 0 || gpu.sharing_group == group;
		gpu.sharing_group = same ? group : SHARED_BY_NOBODY;
		if (p->max_tenants > 0 && (uint32_t)p->max_tenants < gpu.most) {
			gpu.most = (uint32_t)p->max_tenants;
		}
		gpu.milli -= pod->ledger.items[i].milli;
		gpu.mib -= pod->ledger.items[i].mem_mib;
		gpu.tenants++;
	}
	VEC_PUSH(&r->list, gpu);
}

/* May it run there, as far as is asked here? With `opens` a capacity pod has to as well. */
static bool node_takes(const struct share_query *ask, const struct world_node *w, bool opens)
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
static bool may_share(const struct shared_gpu *gpu, const struct share_query *ask, uint32_t gone)
{
	uint32_t most = ask->most > 0 && ask->most < gpu->most ? ask->most : gpu->most;
	uint32_t others = gpu->tenants > gone ? gpu->tenants - gone : 0;
	return others < most && (others == 0 || (gpu->sharing_group == ask->sharing_group &&
							gpu->sharing_group != SHARED_BY_NOBODY));
}

static bool gpu_has_share(
	const struct shared_gpu *gpu, const struct share_query *ask, const struct share *more)
{
	return gpu->mps == ask->mps && gpu->milli + more->milli >= ask->want->milli &&
	       gpu->mib + more->mib >= ask->want->mib;
}

/* What a GPU of that node will tell is an estimate, and unknown where nothing tells. */
static bool gpus_are_large_enough(const struct share_query *ask, uint32_t node)
{
	int64_t fits = devices_fits_at(ask->devices, node);
	return fits == 0 || ask->want->mib <= fits;
}

static bool is_avoided(const struct shared_gpu *gpu, const struct share_query *ask)
{
	for (uint32_t i = 0; i < ask->avoided_count; i++) {
		if (gpu->name == ask->avoided[i]) {
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
		const struct shared_gpu *gpu = &r->list.items[i];
		if (!gpu_has_share(gpu, ask, &nothing) || !may_share(gpu, ask, 0) ||
			is_avoided(gpu, ask)) {
			continue;
		}
		asked++;
		if (node_takes(ask, world_node_at(ask->world, gpu->node), false)) {
			return ROLL_ROOM_OPEN;
		}
	}
	for (uint32_t i = 0, n = 0; i < world_node_slots(ask->world) && n < NODES_ASKED; i++) {
		const struct world_node *w = world_node_at(ask->world, i);
		bool free = w->known && w->noun.gpus > w->gpus && gpus_are_large_enough(ask, i);
		n += free;
		if (free && node_takes(ask, w, true)) {
			return ROLL_ROOM_FREE;
		}
	}
	return ROLL_ROOM_NONE;
}

bool shared_gpus_could_be_added(const struct share_query *ask)
{
	for (uint32_t i = 0, n = 0; i < world_node_slots(ask->world) && n < NODES_ASKED; i++) {
		const struct world_node *w = world_node_at(ask->world, i);
		if (!w->known || w->noun.gpus <= 0 || !gpus_are_large_enough(ask, i) ||
			place_node_given_out(&w->noun, w->dra_slices > 0, w->kai_pods > 0) !=
				UNFIT_NONE) {
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
		const struct shared_gpu *gpu = &r->list.items[i];
		if (gpu->name == name) {
			return gpu_has_share(gpu, ask, has) && may_share(gpu, ask, 1);
		}
	}
	return false;
}
