/* How much is kept of a pod, whoever wrote it.
 *
 * The API server bounds an object as a whole, to some 1.5 MB, and of most texts and lists in it
 * nothing: a hundred pods of labels alone would be more than a controller has. What people write is
 * a hundredth of these bounds. A pod beyond them is left whole at admission and never placed, so
 * what is left out of it decides nothing. Pods of our own namespace only we write. */
#include "pod_bounds.h"

#include <string.h>

#include "model/names.h"

#define LABELS_MAX   ((size_t)8 << 10)
#define NOTES_MAX    ((size_t)16 << 10)
#define VALUE_MAX    1024 /* of one annotation; a list of UUIDs is the longest that is read */
#define SENTENCE_MAX 2048 /* of a condition */
#define IMAGE_MAX    512
#define WORD_MAX     320 /* whatever names something */

/* Keys that begin with one of these are kept before all others: by them a pod is what it is. */
static const char *const first_labels[] = {NAME_PREFIX, LABEL_TEMPLATE_HASH, NULL};
static const char *const first_notes[] = {NOTE_GPU_UUID, NOTE_VISIBLE_DEVICES, NOTE_COMPUTE_MILLI,
	NOTE_MEMORY_MIB, NOTE_CAPACITY_POD, NOTE_POLICY_APPLIED, NOTE_CONTAINER, NOTE_TERM, NULL};

static const char *cut_text(struct arena *arena, const char *text, size_t most)
{
	struct view kept = text_cut(text, most);
	return text == NULL || text[kept.n] == '\0' ? text : arena_strndup(arena, kept.p, kept.n);
}

static bool is_first(const char *key, const char *const *prefixes)
{
	while (*prefixes != NULL && strncmp(key, *prefixes, strlen(*prefixes)) != 0) {
		prefixes++;
	}
	return *prefixes != NULL;
}

static bool takes_room(const struct pair *pair, size_t *room)
{
	size_t n = strlen(pair->key) + strlen(pair->value);
	bool fits = n <= *room;
	*room -= fits ? n : 0;
	return fits;
}

/* Those in first place, then in the order of their keys what has room; false: not all. */
static bool keep_pairs(struct pairs *p, const char *const *prefixes, size_t room)
{
	uint32_t kept = 0;
	for (uint32_t i = 0; i < p->count; i++) {
		if (is_first(p->items[i].key, prefixes) && !takes_room(&p->items[i], &room)) {
			p->items[i].key = NULL;
		}
	}
	for (uint32_t i = 0; i < p->count; i++) {
		const struct pair *pair = &p->items[i];
		if (pair->key != NULL &&
			(is_first(pair->key, prefixes) || takes_room(pair, &room))) {
			p->items[kept++] = *pair;
		}
	}
	bool all = kept == p->count;
	p->count = kept;
	return all;
}

static void cut_words(struct arena *arena, struct pod *pod)
{
	const char **const words[] = {&pod->node, &pod->scheduler, &pod->runtime_class,
		&pod->priority_class, &pod->status_reason, &pod->placed.type, &pod->placed.reason,
		&pod->trouble, &pod->resource_version};
	for (size_t i = 0; i < COUNT_OF(words); i++) {
		*words[i] = cut_text(arena, *words[i], WORD_MAX);
	}
	pod->gpu_container = cut_text(arena, pod->gpu_container, WORD_MAX);
	pod->gpu_image = cut_text(arena, pod->gpu_image, IMAGE_MAX);
	pod->placed.message = cut_text(arena, pod->placed.message, SENTENCE_MAX);
}

static size_t size_of_selector(const struct selector *s)
{
	size_t n = 0;
	for (uint32_t i = 0; i < s->match_labels.count; i++) {
		const struct pair *pair = &s->match_labels.items[i];
		n += strlen(pair->key) + strlen(pair->value);
	}
	for (uint32_t i = 0; i < s->expressions.count; i++) {
		const struct term *t = &s->expressions.items[i];
		n += strlen(t->key);
		for (uint32_t k = 0; k < t->value_count; k++) {
			n += strlen(t->values[k]);
		}
	}
	return n;
}

/* Those with room; of the others it is said that they are not judged. */
#define NEIGHBOURS_MAX ((size_t)8 << 10)

static void keep_neighbours(struct pod *pod)
{
	size_t room = NEIGHBOURS_MAX;
	uint32_t kept = 0;
	for (uint32_t i = 0; i < pod->neighbour_count; i++) {
		const struct neighbour_term *t = &pod->neighbours[i];
		size_t n = size_of_selector(&t->pods);
		for (uint32_t k = 0; k < t->namespace_count; k++) {
			n += strlen(t->namespaces[k]);
		}
		if (n <= room) {
			room -= n;
			pod->neighbours[kept++] = *t;
		}
	}
	pod->has_pod_affinity = pod->has_pod_affinity || kept < pod->neighbour_count;
	pod->neighbour_count = kept;
}

void pod_bound(struct arena *arena, struct pod *pod)
{
	if (text_equals(pod->ns, NAME_NAMESPACE)) {
		return;
	}
	cut_words(arena, pod);
	for (uint32_t i = 0; i < pod->notes.count; i++) {
		pod->notes.items[i].value = cut_text(arena, pod->notes.items[i].value, VALUE_MAX);
	}
	bool labels = keep_pairs(&pod->labels, first_labels, LABELS_MAX);
	bool notes = keep_pairs(&pod->notes, first_notes, NOTES_MAX);
	pod->cut = pod->cut || !labels || !notes;
	pod->too_complex = pod->too_complex || pod->cut;
	keep_neighbours(pod);
}
