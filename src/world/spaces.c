/* How many bytes of large pods each namespace may have kept.
 *
 * A pod has its bounds where it is decoded (pods/pod_bounds.c), and who may create one may create
 * thousands. Ordinary pods take less than NOUN_SMALL and are not counted. Of what is beyond a
 * namespace's room only that part is kept by which a pod is found, counted and told apart: it is
 * never placed, and what it holds already stays its own. */
#include "spaces.h"

#include "model/names.h"
#include "nouns.h"

#define NOUN_SMALL ((size_t)4 << 10)
#define SPACE_MAX  ((size_t)8 << 20)

static bool space_name_same(const void *owner, uint32_t slot, const void *key)
{
	const struct world *w = owner;
	return strcmp(w->spaces.items[slot].ns, key) == 0;
}

void spaces_init(struct world *w)
{
	map_init(&w->spaces_by_name, space_name_same, w);
}

void spaces_finish(struct world *w)
{
	VEC_FINISH(&w->spaces); /* the words go with the world */
	map_finish(&w->spaces_by_name);
}

static uint32_t space_slot(const struct world *w, const char *ns)
{
	return map_find(&w->spaces_by_name, key_text(ns), ns);
}

static bool is_counted(const char *ns, size_t bytes)
{
	return bytes > NOUN_SMALL && !text_equals(ns, NAME_NAMESPACE);
}

bool spaces_have_room(const struct world *w, const char *ns, size_t bytes)
{
	uint32_t slot = space_slot(w, ns);
	size_t taken = slot != MAP_NONE ? w->spaces.items[slot].bytes : 0;
	return !is_counted(ns, bytes) || taken + bytes <= SPACE_MAX;
}

void spaces_take(struct world *w, const char *ns, size_t bytes)
{
	if (!is_counted(ns, bytes)) {
		return;
	}
	uint32_t slot = space_slot(w, ns);
	if (slot == MAP_NONE) {
		struct world_space made = {.ns = intern_add(w->words, ns)};
		slot = (uint32_t)w->spaces.count;
		VEC_PUSH(&w->spaces, made);
		map_put(&w->spaces_by_name, key_text(ns), slot);
	}
	w->spaces.items[slot].bytes += bytes;
}

static void space_remove(struct world *w, uint32_t slot)
{
	uint32_t last = (uint32_t)w->spaces.count - 1;
	const char *ns = w->spaces.items[slot].ns;
	const char *moved = w->spaces.items[last].ns;
	map_remove(&w->spaces_by_name, key_text(ns), slot);
	if (slot != last) {
		map_remove(&w->spaces_by_name, key_text(moved), last);
	}
	VEC_REMOVE_SWAP(&w->spaces, slot);
	if (slot != last) {
		map_put(&w->spaces_by_name, key_text(moved), slot);
	}
	intern_release(w->words, ns);
}

void spaces_leave(struct world *w, const char *ns, size_t bytes)
{
	if (!is_counted(ns, bytes)) {
		return;
	}
	uint32_t slot = space_slot(w, ns);
	w->spaces.items[slot].bytes -= bytes;
	if (w->spaces.items[slot].bytes == 0) {
		space_remove(w, slot);
	}
}

/* --- the part of a pod that is kept at least --- */

static const char *const least_notes[] = {NOTE_CAPACITY_POD, NOTE_COMPUTE_MILLI, NOTE_CONTAINER,
	NOTE_GPU_UUID, NOTE_MEMORY_MIB, NOTE_POLICY_APPLIED, NULL};
static const char *const least_labels[] = {LABEL_TENANT, LABEL_SURGE, NULL};

static struct pairs least(const struct pairs *all, const char *const *keys, struct arena *arena)
{
	struct pairs kept = {.items = ARENA_ARRAY(arena, struct pair, all->count)};
	for (; *keys != NULL; keys++) {
		const char *value = pairs_get(all, *keys);
		if (value != NULL) {
			kept.items[kept.count++] = (struct pair){*keys, value};
		}
	}
	pairs_sort(&kept);
	return kept;
}

void spaces_least(const struct pod *pod, struct arena *arena, struct pod *ret)
{
	static const char *gate[] = {NAME_GATE};
	*ret = *pod;
	ret->lean = ret->cut = ret->too_complex = true;
	ret->labels = least(&pod->labels, least_labels, arena);
	ret->notes = least(&pod->notes, least_notes, arena);
	ret->gates = gate;
	ret->gate_count = pod_has_gate(pod, NAME_GATE) ? 1 : 0;
	ret->node_selector = (struct pairs){0};
	ret->node_term_count = ret->toleration_count = ret->claim_count = 0;
	ret->has_pod_affinity = pod->has_pod_affinity || pod->neighbour_count > 0;
	ret->neighbour_count = 0;
	ret->extra = (struct extra){0};
	ret->gpu_image = NULL;
}

/* For world_check. */
bool spaces_agree(const struct world *w)
{
	size_t kept = 0, counted = 0, cut = 0;
	for (size_t i = 0; i < w->spaces.count; i++) {
		kept += w->spaces.items[i].bytes;
		if (w->spaces.items[i].bytes == 0 || w->spaces.items[i].bytes > SPACE_MAX ||
			space_slot(w, w->spaces.items[i].ns) != i) {
			return false;
		}
	}
	for (size_t i = 0; i < w->pods.count; i++) {
		const struct world_pod *p = w->pods.items[i];
		if (p != NULL && p->gpu != NULL) {
			size_t bytes = p->gpu->lean ? 0 : noun_size(p);
			counted += is_counted(p->ns, bytes) ? bytes : 0;
			cut += p->gpu->cut ? 1 : 0;
		}
	}
	return kept == counted && cut == w->cut_pods;
}
