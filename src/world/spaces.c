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

static bool is_counted(const char *ns, size_t bytes)
{
	return bytes > NOUN_SMALL && !text_equals(ns, NAME_NAMESPACE);
}

bool spaces_have_room(const struct world *w, const char *ns, size_t bytes)
{
	return !is_counted(ns, bytes) || tally_get(&w->spaces, ns) + bytes <= SPACE_MAX;
}

void spaces_take(struct world *w, const char *ns, size_t bytes)
{
	if (is_counted(ns, bytes)) {
		tally_add(&w->spaces, ns, bytes);
	}
}

void spaces_leave(struct world *w, const char *ns, size_t bytes)
{
	if (is_counted(ns, bytes)) {
		tally_take(&w->spaces, ns, bytes);
	}
}

/* --- the part of a pod that is kept at least --- */

static const char *const least_notes[] = {NOTE_CAPACITY_POD, NOTE_COMPUTE_MILLI, NOTE_CONTAINER,
	NOTE_GPU_UUID, NOTE_MEMORY_MIB, NOTE_POLICY_APPLIED, NULL};
static const char *const least_labels[] = {LABEL_TENANT, LABEL_SURGE, NULL};

static struct pairs pairs_least(
	const struct pairs *all, const char *const *keys, struct arena *arena)
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
	ret->labels = pairs_least(&pod->labels, least_labels, arena);
	ret->notes = pairs_least(&pod->notes, least_notes, arena);
	ret->gates = gate;
	ret->gate_count = pod_has_gate(pod, NAME_GATE) ? 1 : 0;
	ret->node_selector = (struct pairs){0};
	ret->node_term_count = ret->toleration_count = ret->claim_count = 0;
	ret->has_pod_affinity = pod->has_pod_affinity || pod->neighbour_count > 0;
	ret->neighbour_count = 0;
	ret->extra = (struct extra){0};
	ret->gpu_image = NULL;
}
