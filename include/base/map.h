/* An index from keys to slot numbers of an array that the caller owns.
 *
 * The map stores 32-bit slot numbers and the upper bits of their hashes, 8 bytes each, and asks the
 * caller whether a slot holds the key; it never iterates, so the order in which things are visited
 * is the order of the caller's array and stays deterministic. One hundred thousand pods cost about
 * 1.4 MiB here; uthash costs 56 bytes an element before the element. */
#ifndef BASE_MAP_H
#define BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MAP_NONE UINT32_MAX

struct map_cell;
/* Does slot `slot` of `owner` hold `key`? */
typedef bool (*map_same)(const void *owner, uint32_t slot, const void *key);

struct map {
	struct map_cell *cells; /* owned */
	uint32_t room;		/* cells */
	uint32_t count;
	uint32_t tombs;
	map_same same;
	const void *owner; /* borrowed */
};

void map_init(struct map *m, map_same same, const void *owner);
void map_finish(struct map *m);
uint32_t map_find(const struct map *m, uint64_t hash, const void *key); /* MAP_NONE if absent */
void map_put(struct map *m, uint64_t hash, uint32_t slot);		/* key must be absent */
bool map_remove(struct map *m, uint64_t hash, uint32_t slot);
void map_clear(struct map *m);

/* The same in every process and version: names and digests are made of them. Whoever chooses many
 * texts can choose them so that their hashes agree. */
uint64_t hash_bytes(const void *p, size_t n, uint64_t seed);
uint64_t hash_text(const char *s);
uint64_t hash_pair(const char *a, const char *b); /* "a" "bc" differs from "ab" "c" */

/* For maps whose keys somebody outside chooses (names, labels): with a key that nobody knows, so
 * that a map of chosen names stays one, and does not become a list. They leave the process in no
 * form, and since maps have no order nothing depends on the key. It is 0 in tests, in the simulator
 * and in a replay, until drawn once at the start of a program. */
void map_key_draw(uint64_t a, uint64_t b);
uint64_t key_bytes(const void *p, size_t n, uint64_t before);
uint64_t key_text(const char *s);
uint64_t key_pair(const char *a, const char *b);
/* What they are made of; for tests. */
uint64_t hash_keyed(const uint64_t key[2], const void *p, size_t n);

#endif
