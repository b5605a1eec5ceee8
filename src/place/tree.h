/* Things in an order, of which the first that is large enough is found without looking at those
 * that are not: a search tree in which every subtree tells the most that it has of each amount.
 * Balanced by priorities that are a hash of the item's number (a treap), so the same items make the
 * same tree everywhere.
 *
 * The leaves are the caller's, one an item, by its number; several trees may share one array. What
 * a tree is ordered by is copied into the leaf, so that an item can be taken out after it changed.
 * Nothing here allocates or fails. */
#ifndef PLACE_TREE_H
#define PLACE_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TREE_NONE UINT32_MAX

struct tree_key {
	int64_t first, second, third;
	uint32_t tie;
	const char *text; /* borrowed; breaks the last tie, where there is one */
};

struct tree_amounts {
	int64_t milli, mib, cpu, mem; /* the most */
	uint32_t tenants;	      /* the fewest */
};

struct tree_leaf {
	struct tree_key key;
	struct tree_amounts own, all; /* of this item; of it and what hangs from it */
	uint32_t left, right;
	bool in;
};

/* What is looked for: no less than `need` of each and fewer tenants, and then what only the caller
 * knows. */
struct tree_seek {
	struct tree_amounts need;
	bool (*suits)(void *data, uint32_t at);
	void *data;
	uint32_t looked_at;
};

int tree_compare(const struct tree_key *a, const struct tree_key *b);
/* Each returns the root as it is then. */
uint32_t tree_insert(struct tree_leaf *leaves, uint32_t root, uint32_t at);
uint32_t tree_erase(struct tree_leaf *leaves, uint32_t root, uint32_t at);
/* The same as inserting them all; `sorted` is in the order of their keys. `spine` has room for as
 * many. */
uint32_t tree_build(
	struct tree_leaf *leaves, const uint32_t *sorted, size_t count, uint32_t *spine);
/* The item's own amounts changed, its key did not. */
void tree_refresh(struct tree_leaf *leaves, uint32_t root, uint32_t at);
/* The first in order, TREE_NONE: there is none. */
uint32_t tree_find(const struct tree_leaf *leaves, uint32_t root, struct tree_seek *seek);
uint32_t tree_first(const struct tree_leaf *leaves, uint32_t root);

#endif
