/* Interned strings: counted copies, found by content. */
#include "base/intern.h"

#include "base/alloc.h"
#include "base/map.h"
#include "base/vec.h"

struct word {
	uint32_t slot;
	uint32_t references;
	char text[];
};

struct intern {
	struct map index;
	VEC_OF(struct word *) words; /* owned; NULL where free */
	VEC_OF(uint32_t) free_slots;
};

static bool word_same(const void *owner, uint32_t slot, const void *key)
{
	const struct intern *t = owner;
	return strcmp(t->words.items[slot]->text, key) == 0;
}

struct intern *intern_create(void)
{
	struct intern *t = xcalloc(1, sizeof *t);
	map_init(&t->index, word_same, t);
	return t;
}

void intern_destroy(struct intern *t)
{
	if (t == NULL) {
		return;
	}
	for (size_t i = 0; i < t->words.count; i++) {
		free(t->words.items[i]);
	}
	VEC_FINISH(&t->words);
	VEC_FINISH(&t->free_slots);
	map_finish(&t->index);
	free(t);
}

static struct word *word_of(const char *s)
{
	return (struct word *)(void *)((char *)(uintptr_t)s - offsetof(struct word, text));
}

const char *intern_find(const struct intern *t, const char *s)
{
	if (s == NULL) {
		return NULL;
	}
	uint32_t slot = map_find(&t->index, key_text(s), s);
	return slot == MAP_NONE ? NULL : t->words.items[slot]->text;
}

const char *intern_add(struct intern *t, const char *s)
{
	if (s == NULL) {
		return NULL;
	}
	const char *known = intern_find(t, s);
	if (known != NULL) {
		word_of(known)->references++;
		return known;
	}
	size_t n = strlen(s) + 1;
	struct word *w = xmalloc(sizeof *w + n);
	memcpy(w->text, s, n);
	w->references = 1;
	if (t->free_slots.count > 0) {
		w->slot = t->free_slots.items[--t->free_slots.count];
		t->words.items[w->slot] = w;
	} else {
		w->slot = (uint32_t)t->words.count;
		VEC_PUSH(&t->words, w);
	}
	map_put(&t->index, key_text(s), w->slot);
	return w->text;
}

void intern_release(struct intern *t, const char *s)
{
	if (s == NULL) {
		return;
	}
	struct word *w = word_of(s);
	ENSURE(w->references > 0);
	if (--w->references > 0) {
		return;
	}
	map_remove(&t->index, key_text(w->text), w->slot);
	t->words.items[w->slot] = NULL;
	VEC_PUSH(&t->free_slots, w->slot);
	free(w);
}

size_t intern_count(const struct intern *t)
{
	return t->index.count;
}
