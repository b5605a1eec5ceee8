/* What is kept of a picture, and for how long. */
#include "ledger/kept_picture.h"

#include "base/bits.h"
#include "ledger/ledger.h"

#define LABEL_GPU_MEMORY "nvidia.com/gpu.memory"

/* --- nodes --- */

static bool is_upgraded(const struct node *n)
{
	const char *driver = pairs_get(&n->labels, "nvidia.com/gpu-driver-upgrade-state");
	return text_equals(driver, "pod-deletion-required") ||
	       text_equals(driver, "drain-required");
}

static bool node_drains(const struct node *n)
{
	/* A tenant that tolerates everything would come again to the node that it is taken from. */
	bool leaves = false;
	for (uint32_t i = 0; i < n->taint_count; i++) {
		leaves = leaves || text_equals(n->taints[i].key, "karpenter.sh/disrupted") ||
			 text_equals(n->taints[i].key, "ToBeDeletedByClusterAutoscaler");
	}
	return leaves || is_upgraded(n) || n->unschedulable || !n->ready;
}

static struct kept_node node_says(const struct world_node *n)
{
	struct kept_node says = {.stamp = n->stamp + 1};
	const char *text = pairs_get(&n->noun.labels, LABEL_GPU_MEMORY);
	int64_t mib = 0;
	says.label_mib = text != NULL && parse_i64(view_of(text), 1, 1 << 30, &mib) ? mib : 0;
	says.drains = node_drains(&n->noun);
	says.upgrades = is_upgraded(&n->noun);
	return says;
}

static void look_at_nodes(struct kept *kept, const struct world *world)
{
	while (kept->nodes.count < world_node_slots(world)) {
		VEC_PUSH(&kept->nodes, (struct kept_node){0});
	}
	for (uint32_t i = 0; i < kept->nodes.count; i++) {
		const struct world_node *n = world_node_at(world, i);
		if (kept->nodes.items[i].stamp != n->stamp + 1) {
			kept->nodes.items[i] = node_says(n);
		}
	}
}

/* --- what changed --- */

/* What manners_of_tenant reads of policies. */
static uint64_t rules_of(const struct world *world)
{
	uint32_t count;
	const struct policy *const *all = world_policies(world, &count);
	uint64_t hash = count;
	for (uint32_t i = 0; i < count; i++) {
		const int64_t says[] = {all[i]->max_tenants, all[i]->exclusivity};
		hash = hash_bytes(says, sizeof says,
			hash_bytes(all[i]->name, strlen(all[i]->name) + 1, hash));
	}
	return hash;
}

/* It runs on one GPU, and its conditions say nothing else. */
static bool is_plain(const struct world_pod *p)
{
	const struct world_gpu *g = p->gpu;
	return p->node != WORLD_NONE && !g->gated && g->devices == 1 && !g->waiting_shown &&
	       g->told != REASON_PINNED_UNSCHEDULABLE;
}

struct pod_marks {
	bool plain, odd, apart;
};

static struct pod_marks marks_of(const struct world_pod *p)
{
	bool has_gpu = p != NULL && p->gpu != NULL;
	bool tenant = has_gpu && p->gpu->class == WORLD_TENANT;
	bool plain = tenant && is_plain(p);
	return (struct pod_marks){plain, tenant && !plain, has_gpu && p->gpu->has_neighbours};
}

void kept_begin(struct picture *picture)
{
	struct kept *kept = &picture->kept;
	const struct bits *changed = kept->changed = world_changed_pods(picture->world);
	bits_reserve(&kept->plain, world_pod_slots(picture->world));
	bits_reserve(&kept->odd, world_pod_slots(picture->world));
	bits_reserve(&kept->apart, world_pod_slots(picture->world));
	for (uint32_t i = bits_next(changed, 0); i != BITS_NONE; i = bits_next(changed, i + 1)) {
		struct pod_marks s = marks_of(world_pod_at(picture->world, i));
		bits_put(&kept->plain, i, s.plain);
		bits_put(&kept->odd, i, s.odd);
		bits_put(&kept->apart, i, s.apart);
	}
	look_at_nodes(kept, picture->world);
	kept->moved = kept->anew = kept->last == 0;
	if (kept->anew || kept->policies != world_policies_version(picture->world)) {
		uint64_t rules = rules_of(picture->world);
		kept->anew = kept->anew || rules != kept->rules;
		kept->policies = world_policies_version(picture->world);
		kept->rules = rules;
	}
}

/* --- ledgers --- */

static bool is_as_told(const struct holder *h, const struct grant *entry, const struct world_pod *p)
{
	return p != NULL && p->gpu->class == WORLD_TENANT && !p->gpu->gated &&
	       !world_pod_terminal(p) && entry->milli == p->gpu->milli &&
	       entry->mem_mib == p->gpu->mem_mib && tenant_is_on(h, p->gpu);
}

/* What the entries come to; `ret->slots` has room for them. False: something is not as it should.
 */
static bool learn(struct companies *companies, const struct holder *h, struct kept_ledger *ret)
{
	const struct world *world = companies->picture->world;
	const struct ledger *l = &h->pod.ledger;
	struct place_gpu g = {.max_tenants = MODEL_GRANTS_MAX, .company = place_nobody(h->mps)};
	struct snap_gpu s = {.strangers = 0};
	for (uint32_t i = 0; i < l->count; i++) {
		const struct world_pod *p = world_pod_by_uid(world, l->items[i].uid);
		if (!is_as_told(h, &l->items[i], p)) {
			return false;
		}
		ret->slots[i] = world_class_slot(world, p->gpu->class, p->gpu->slot);
		struct manners manners = manners_of_tenant(companies, p, ret->slots[i]);
		company_joins(&g, &s, &manners);
		s.node_pins += p->gpu->keeps_node ? 1 : 0;
		g.free_milli += l->items[i].milli;
		g.free_mib += l->items[i].mem_mib;
	}
	ret->node_pins = s.node_pins;
	ret->max_tenants = g.max_tenants;
	ret->milli = g.free_milli;
	ret->mib = g.free_mib;
	ret->company = g.company;
	ret->exclusivity = s.exclusivity;
	return true;
}

static bool any_changed(const struct bits *changed, const struct holder *h)
{
	uint64_t any = 0;
	for (uint32_t i = 0; i < h->pod.ledger.count; i++) {
		uint32_t slot = h->kept.slots[i];
		any |= changed->items[slot / 64] >> slot % 64;
	}
	return (any & 1) != 0;
}

static bool is_kept(const struct picture *picture, const struct holder *h)
{
	const struct kept *kept = &picture->kept;
	return !kept->anew && h->kept.step == kept->last && h->kept.stamp == h->stamp &&
	       !any_changed(kept->changed, h);
}

bool kept_count(struct companies *companies, struct place_gpu *g, struct snap_gpu *s)
{
	struct picture *picture = companies->picture;
	struct holder *h = s->holder;
	struct kept_ledger *k = &h->kept;
	if (h->asked_holds) {
		return false;
	}
	if (!is_kept(picture, h)) {
		if (k->slots == NULL || k->stamp != h->stamp) {
			k->slots = ARENA_ARRAY(&h->arena, uint32_t, h->pod.ledger.count);
			k->stamp = h->stamp;
		}
		if (!learn(companies, h, k)) {
			return false;
		}
	}
	k->step = picture->time->step;
	g->free_milli -= k->milli;
	g->free_mib -= k->mib;
	g->tenants = s->entries = h->pod.ledger.count;
	g->max_tenants = k->max_tenants;
	g->company = k->company;
	s->exclusivity = k->exclusivity;
	s->node_pins = k->node_pins;
	for (uint32_t i = 0; i < h->pod.ledger.count; i++) {
		bits_put(&picture->counted, k->slots[i], true);
	}
	return true;
}

/* --- GPUs --- */

void kept_place(struct picture *picture, struct holder *h)
{
	struct kept *kept = &picture->kept;
	uint32_t at = (uint32_t)picture->snap_gpus.count;
	bool stays = h->snap_step == kept->last && h->snap_at == at && !h->told_anew;
	kept->moved = kept->moved || !stays;
	h->snap_at = at;
	h->snap_step = picture->time->step;
}

/* Where two tell one UUID, both are looked at in each step. */
void kept_index(struct picture *picture)
{
	struct kept *kept = &picture->kept;
	if (kept->moved || kept->doubled || kept->gpus != picture->snap_gpus.count) {
		map_clear(&picture->gpus_by_uuid);
		kept->doubled = false;
		for (uint32_t i = 0; i < picture->snap_gpus.count; i++) {
			gpu_index_add(picture, i);
			picture->snap_gpus.items[i].holder->told_anew = false;
			kept->doubled = kept->doubled || picture->snap_gpus.items[i].repeats;
		}
	}
	kept->gpus = picture->snap_gpus.count;
}

/* --- tenants --- */

/* In the order in which the world has them. */
void kept_end(struct picture *picture)
{
	struct kept *kept = &picture->kept;
	struct bits *unsettled = &kept->unsettled;
	bits_reserve(unsettled, world_class_count(picture->world, WORLD_TENANT));
	bits_clear(unsettled);
	for (uint32_t at = 0; at < kept->plain.count; at++) {
		uint64_t word =
			kept->odd.items[at] | (kept->plain.items[at] & ~picture->counted.items[at]);
		for (; word != 0; word &= word - 1) {
			uint32_t slot = at * 64 + (uint32_t)__builtin_ctzll(word);
			bits_put(unsettled, world_pod_at(picture->world, slot)->gpu->slot, true);
		}
	}
	for (uint32_t i = bits_next(unsettled, 0); i != BITS_NONE;
		i = bits_next(unsettled, i + 1)) {
		VEC_PUSH(&picture->unsettled, i);
	}
	world_changes_seen(picture->world);
	kept->last = picture->time->step;
}

void kept_finish(struct kept *kept)
{
	VEC_FINISH(&kept->nodes);
	VEC_FINISH(&kept->plain);
	VEC_FINISH(&kept->odd);
	VEC_FINISH(&kept->apart);
	VEC_FINISH(&kept->unsettled);
	str_finish(&kept->differs);
}

/* --- for tests --- */

/* The field that differs; NULL: none does. */
static const char *ledgers_differ(
	const struct kept_ledger *a, const struct kept_ledger *b, uint32_t count)
{
	return a->milli != b->milli					   ? "compute"
	       : a->mib != b->mib					   ? "memory"
	       : a->node_pins != b->node_pins				   ? "node_pins"
	       : a->max_tenants != b->max_tenants			   ? "max_tenants"
	       : a->company != b->company				   ? "company"
	       : a->exclusivity != b->exclusivity			   ? "exclusivity"
	       : memcmp(a->slots, b->slots, count * sizeof *a->slots) != 0 ? "slots"
									   : NULL;
}

/* Is it found, at its place, by what it tells? */
static const char *place_differs(const struct picture *picture, uint32_t gpu)
{
	const struct holder *h = picture->snap_gpus.items[gpu].holder;
	uint32_t node = snap_node_of(picture, h->node);
	uint32_t at =
		h->pod.identity != NULL ? snap_gpu_first(picture, h->pod.identity->uuid) : gpu;
	bool first = at == gpu;
	while (at != gpu && at != WORLD_NONE) {
		at = snap_gpu_next(picture, at);
	}
	const struct node_memo *m = memo_find(picture->book, h->node);
	return h->snap_at != gpu						  ? "snap_at"
	       : node != picture->snap.gpus.items[gpu].node			  ? "node"
	       : at != gpu							  ? "same"
	       : first == picture->snap_gpus.items[gpu].repeats			  ? "repeats"
	       : picture->told_mib.items[node] != (m != NULL ? m->usable_mib : 0) ? "told_mib"
										  : NULL;
}

/* Its ledger; and the tenants that it counts are in `counted`. */
static const char *ledger_differs(
	struct companies *companies, const struct holder *h, struct bits *counted)
{
	const struct picture *picture = companies->picture;
	const struct ledger *l = holder_ledger(h);
	for (uint32_t i = 0; i < l->count; i++) {
		const struct world_pod *p = world_pod_by_uid(picture->world, l->items[i].uid);
		if (p != NULL && tenant_is_on(h, p->gpu)) {
			bits_put(counted,
				world_class_slot(picture->world, p->gpu->class, p->gpu->slot),
				true);
		}
	}
	if (h->kept.step != picture->time->step) {
		return NULL;
	}
	CLEANUP(cleanup_free) uint32_t *slots = xcalloc(l->count + 1, sizeof *slots);
	struct kept_ledger anew = {.slots = slots};
	return learn(companies, h, &anew) ? ledgers_differ(&h->kept, &anew, l->count)
					  : "that its tenants are as told";
}

static const char *pod_differs(
	const struct picture *picture, const struct bits *counted, uint32_t slot)
{
	const struct world_pod *p = world_pod_at(picture->world, slot);
	struct pod_marks s = marks_of(p);
	bool unsettled = (s.plain || s.odd) && bits_have(&picture->kept.unsettled, p->gpu->slot);
	return bits_have(&picture->kept.plain, slot) != s.plain			? "plain"
	       : bits_have(&picture->kept.odd, slot) != s.odd			? "odd"
	       : bits_have(&picture->kept.apart, slot) != s.apart		? "apart"
	       : bits_have(&picture->counted, slot) != bits_have(counted, slot) ? "counted"
	       : unsettled != (s.odd || (s.plain && !bits_have(counted, slot))) ? "unsettled"
										: NULL;
}

void kept_check(struct companies *companies)
{
	struct picture *picture = companies->picture;
	CLEANUP(bits_finish) struct bits counted = {0};
	bits_reserve(&counted, world_pod_slots(picture->world));
	struct str *out = &picture->kept.differs;
	for (uint32_t i = 0; i < picture->snap_gpus.count; i++) {
		const struct holder *h = picture->snap_gpus.items[i].holder;
		const char *field = ledger_differs(companies, h, &counted);
		field = field != NULL ? field : place_differs(picture, i);
		if (field != NULL && out->len == 0) {
			str_append_format(
				out, "GPU of %s on %s: %s", h->name, text_or(h->node, ""), field);
		}
	}
	for (uint32_t i = 0; i < picture->kept.nodes.count; i++) {
		const struct kept_node *a = &picture->kept.nodes.items[i];
		struct kept_node b = node_says(world_node_at(picture->world, i));
		bool same = a->label_mib == b.label_mib && a->drains == b.drains &&
			    a->upgrades == b.upgrades;
		if (!same && out->len == 0) {
			str_append_format(out, "node %s", world_node_at(picture->world, i)->name);
		}
	}
	for (uint32_t i = 0; i < world_pod_slots(picture->world); i++) {
		const char *field = pod_differs(picture, &counted, i);
		const struct world_pod *p = world_pod_at(picture->world, i);
		if (field != NULL && out->len == 0) {
			str_append_format(out, "pod %s: %s",
				p != NULL ? world_pod_name(p) : "that is gone", field);
		}
	}
}
