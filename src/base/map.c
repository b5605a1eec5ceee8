/* Open addressing with linear probing; a removed cell leaves a tomb until the next rebuild. */
#include "base/map.h"

#include <endian.h>

#include "base/alloc.h"

struct map_cell {
	uint32_t hash; /* the upper half */
	uint32_t slot; /* MAP_NONE: free; TOMB: was used */
};

#define TOMB	  (UINT32_MAX - 1)
#define CELLS_MIN 16u

void map_init(struct map *m, map_same same, const void *owner)
{
	*m = (struct map){.same = same, .owner = owner};
}

void map_finish(struct map *m)
{
	free(m->cells);
	m->cells = NULL;
	m->room = m->count = m->tombs = 0;
}

void map_clear(struct map *m)
{
	map_finish(m);
}

static uint32_t upper_half(uint64_t hash)
{
	return (uint32_t)(hash >> 32);
}

/* Where a walk for this hash begins: by the stored half alone, so that it can rebuild. */
static uint32_t walk_start(const struct map *m, uint32_t stored)
{
	return (uint32_t)((uint64_t)(stored * 2654435769u) * m->room >> 32);
}

static uint32_t cell_after(const struct map *m, uint32_t i)
{
	return i + 1 < m->room ? i + 1 : 0;
}

static void cell_place(struct map *m, struct map_cell cell)
{
	uint32_t i = walk_start(m, cell.hash);
	while (m->cells[i].slot != MAP_NONE) {
		i = cell_after(m, i);
	}
	m->cells[i] = cell;
}

static void map_rebuild(struct map *m, uint32_t cells)
{
	struct map_cell *old = m->cells;
	uint32_t old_cells = m->room;
	m->cells = xmalloc(cells * sizeof *m->cells);
	memset(m->cells, 0xff, cells * sizeof *m->cells);
	m->room = cells;
	m->tombs = 0;
	for (uint32_t i = 0; i < old_cells; i++) {
		if (old[i].slot < TOMB) {
			cell_place(m, old[i]);
		}
	}
	free(old);
}

uint32_t map_find(const struct map *m, uint64_t hash, const void *key)
{
	if (m->cells == NULL) {
		return MAP_NONE;
	}
	for (uint32_t i = walk_start(m, upper_half(hash));; i = cell_after(m, i)) {
		const struct map_cell *c = &m->cells[i];
		if (c->slot == MAP_NONE) {
			return MAP_NONE;
		}
		if (c->slot != TOMB && c->hash == upper_half(hash) &&
			m->same(m->owner, c->slot, key)) {
			return c->slot;
		}
	}
}

void map_put(struct map *m, uint64_t hash, uint32_t slot)
{
	ENSURE(slot < TOMB);
	uint32_t cells = m->room;
	/* Three quarters full, tombs counted, is where probing begins to hurt; half full is where
	 * it stops being worth the memory. */
	if (cells == 0 || (m->count + m->tombs + 1) > cells - cells / 4) {
		uint32_t want = cells < CELLS_MIN ? CELLS_MIN : cells;
		while (m->count + 1 > want / 2 + want / 8) {
			want += want / 2;
		}
		map_rebuild(m, want);
	}
	cell_place(m, (struct map_cell){upper_half(hash), slot});
	m->count++;
}

bool map_remove(struct map *m, uint64_t hash, uint32_t slot)
{
	if (m->cells == NULL) {
		return false;
	}
	for (uint32_t i = walk_start(m, upper_half(hash));; i = cell_after(m, i)) {
		struct map_cell *c = &m->cells[i];
		if (c->slot == MAP_NONE) {
			return false;
		}
		if (c->slot == slot && c->hash == upper_half(hash)) {
			c->slot = TOMB;
			m->count--;
			m->tombs++;
			return true;
		}
	}
}

/* FNV-1a with a final mix: for what others must compute the same way, and for keys that nobody
 * chooses. */
uint64_t hash_bytes(const void *p, size_t n, uint64_t seed)
{
	const unsigned char *u = p;
	uint64_t h = 0xcbf29ce484222325u ^ seed;
	for (size_t i = 0; i < n; i++) {
		h = (h ^ u[i]) * 0x100000001b3u;
	}
	h ^= h >> 33;
	h *= 0xff51afd7ed558ccdu;
	h ^= h >> 29;
	return h;
}

uint64_t hash_text(const char *s)
{
	return s == NULL ? 0 : hash_bytes(s, strlen(s), 0);
}

uint64_t hash_pair(const char *a, const char *b)
{
	return hash_bytes(b, strlen(b), hash_text(a) | 1);
}

/* --- keyed --- */

/* The one key of the process: 0 until it is drawn, so that tests are what they were before. */
static uint64_t process_key[2];

void map_key_draw(uint64_t a, uint64_t b)
{
	process_key[0] = a;
	process_key[1] = b;
}

static uint64_t sip_rotate(uint64_t x, int k)
{
	return (x << k) | (x >> (64 - k));
}

static void sip_rounds(uint64_t v[4], int rounds)
{
	for (int i = 0; i < rounds; i++) {
		v[0] += v[1];
		v[2] += v[3];
		v[1] = sip_rotate(v[1], 13) ^ v[0];
		v[3] = sip_rotate(v[3], 16) ^ v[2];
		v[0] = sip_rotate(v[0], 32);
		v[2] += v[1];
		v[0] += v[3];
		v[1] = sip_rotate(v[1], 17) ^ v[2];
		v[3] = sip_rotate(v[3], 21) ^ v[0];
		v[2] = sip_rotate(v[2], 32);
	}
}

/* SipHash-2-4. */
uint64_t hash_keyed(const uint64_t key[2], const void *p, size_t n)
{
	const unsigned char *u = p;
	uint64_t v[4] = {key[0] ^ 0x736f6d6570736575u, key[1] ^ 0x646f72616e646f6du,
		key[0] ^ 0x6c7967656e657261u, key[1] ^ 0x7465646279746573u};
	uint64_t word;
	for (size_t left = n; left >= sizeof word; left -= sizeof word, u += sizeof word) {
		memcpy(&word, u, sizeof word);
		word = le64toh(word);
		v[3] ^= word;
		sip_rounds(v, 2);
		v[0] ^= word;
	}
	word = (uint64_t)(n & 0xff) << 56;
	for (size_t i = 0; i < n % sizeof word; i++) {
		word |= (uint64_t)u[i] << (8 * i);
	}
	v[3] ^= word;
	sip_rounds(v, 2);
	v[0] ^= word;
	v[2] ^= 0xff;
	sip_rounds(v, 4);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}

uint64_t key_bytes(const void *p, size_t n, uint64_t before)
{
	const uint64_t key[2] = {process_key[0] ^ before, process_key[1]};
	return hash_keyed(key, p, n);
}

uint64_t key_text(const char *s)
{
	return s == NULL ? 0 : key_bytes(s, strlen(s), 0);
}

uint64_t key_pair(const char *a, const char *b)
{
	return key_bytes(b, strlen(b), key_text(a) | 1);
}
