/* An array and the index of its keys. */
#include "ledger/keyed.h"

#include <string.h>

static char *record_at(const struct keyed *k, size_t i)
{
	return k->items + i * k->size;
}

static const char *const *key_at(const struct keyed *k, size_t i)
{
	return (const void *)record_at(k, i);
}

static uint64_t hash_of_key(const struct keyed *k, const char *const *key)
{
	return k->texts == 2 ? hash_pair(key[0], key[1]) : hash_text(key[0]);
}

static bool key_same(const void *owner, uint32_t slot, const void *key)
{
	const struct keyed *k = owner;
	const char *const *has = key_at(k, slot), *const *wanted = key;
	return strcmp(has[0], wanted[0]) == 0 && (k->texts < 2 || strcmp(has[1], wanted[1]) == 0);
}

void keyed_init(struct keyed *k, size_t size, uint32_t texts)
{
	*k = (struct keyed){.size = size, .texts = texts};
	map_init(&k->by_key, key_same, k);
}

void keyed_finish(struct keyed *k)
{
	VEC_FINISH(k);
	map_finish(&k->by_key);
}

void *keyed_find(const struct keyed *k, const char *first, const char *second)
{
	const char *const key[] = {first, second};
	uint32_t at = map_find(&k->by_key, hash_of_key(k, key), key);
	return at != MAP_NONE ? record_at(k, at) : NULL;
}

void *keyed_add(struct keyed *k, const void *record)
{
	if (k->count == k->room) {
		k->items = vec_grow(k->items, &k->room, k->count + 1, k->size);
	}
	memcpy(record_at(k, k->count), record, k->size);
	map_put(&k->by_key, hash_of_key(k, key_at(k, k->count)), (uint32_t)k->count);
	return record_at(k, k->count++);
}

void keyed_drop(struct keyed *k, size_t i)
{
	size_t last = k->count - 1;
	(void)map_remove(&k->by_key, hash_of_key(k, key_at(k, i)), (uint32_t)i);
	if (i != last) {
		uint64_t hash = hash_of_key(k, key_at(k, last));
		(void)map_remove(&k->by_key, hash, (uint32_t)last);
		map_put(&k->by_key, hash, (uint32_t)i);
		memcpy(record_at(k, i), record_at(k, last), k->size);
	}
	k->count = last;
}

bool keyed_index(struct keyed *k)
{
	bool once = true;
	map_clear(&k->by_key);
	for (size_t i = 0; i < k->count; i++) {
		uint64_t hash = hash_of_key(k, key_at(k, i));
		once = once && map_find(&k->by_key, hash, key_at(k, i)) == MAP_NONE;
		map_put(&k->by_key, hash, (uint32_t)i);
	}
	return once;
}
