/* The index's ordered sets. */
#include "tree.h"

#include <string.h>

int tree_compare(const struct tree_key *a, const struct tree_key *b)
{
	if (a->first != b->first) {
		return a->first < b->first ? -1 : 1;
	}
	if (a->second != b->second) {
		return a->second < b->second ? -1 : 1;
	}
	if (a->third != b->third) {
		return a->third < b->third ? -1 : 1;
	}
	if (a->tie != b->tie) {
		return a->tie < b->tie ? -1 : 1;
	}
	return a->text != NULL && b->text != NULL ? strcmp(a->text, b->text) : 0;
}

static uint32_t item_priority(uint32_t at)
{
	uint32_t h = at + 1;
	h = (h ^ (h >> 16)) * 0x85EBCA6Bu;
	h = (h ^ (h >> 13)) * 0xC2B2AE35u;
	return h ^ (h >> 16);
}

/* Two items never have one priority: each step of it can be undone. */
static bool goes_above(uint32_t a, uint32_t b)
{
	return item_priority(a) > item_priority(b);
}

static void widen_amounts(struct tree_amounts *all, const struct tree_amounts *other)
{
	all->milli = all->milli > other->milli ? all->milli : other->milli;
	all->mib = all->mib > other->mib ? all->mib : other->mib;
	all->cpu = all->cpu > other->cpu ? all->cpu : other->cpu;
	all->mem = all->mem > other->mem ? all->mem : other->mem;
	all->tenants = all->tenants < other->tenants ? all->tenants : other->tenants;
}

static void sum_subtree(struct tree_leaf *leaves, uint32_t at)
{
	struct tree_leaf *l = &leaves[at];
	l->all = l->own;
	if (l->left != TREE_NONE) {
		widen_amounts(&l->all, &leaves[l->left].all);
	}
	if (l->right != TREE_NONE) {
		widen_amounts(&l->all, &leaves[l->right].all);
	}
}

static uint32_t lift_left(struct tree_leaf *leaves, uint32_t root)
{
	uint32_t top = leaves[root].left;
	leaves[root].left = leaves[top].right;
	leaves[top].right = root;
	sum_subtree(leaves, root);
	return top;
}

static uint32_t lift_right(struct tree_leaf *leaves, uint32_t root)
{
	uint32_t top = leaves[root].right;
	leaves[root].right = leaves[top].left;
	leaves[top].left = root;
	sum_subtree(leaves, root);
	return top;
}

static uint32_t insert_below(struct tree_leaf *leaves, uint32_t root, uint32_t at)
{
	if (root == TREE_NONE) {
		sum_subtree(leaves, at);
		return at;
	}
	struct tree_leaf *l = &leaves[root];
	if (tree_compare(&leaves[at].key, &l->key) < 0) {
		l->left = insert_below(leaves, l->left, at);
		root = goes_above(l->left, root) ? lift_left(leaves, root) : root;
	} else {
		l->right = insert_below(leaves, l->right, at);
		root = goes_above(l->right, root) ? lift_right(leaves, root) : root;
	}
	sum_subtree(leaves, root);
	return root;
}

uint32_t tree_insert(struct tree_leaf *leaves, uint32_t root, uint32_t at)
{
	leaves[at].left = leaves[at].right = TREE_NONE;
	leaves[at].in = true;
	return insert_below(leaves, root, at);
}

static uint32_t tree_join(struct tree_leaf *leaves, uint32_t low, uint32_t high)
{
	if (low == TREE_NONE || high == TREE_NONE) {
		return low == TREE_NONE ? high : low;
	}
	uint32_t top = goes_above(low, high) ? low : high;
	if (top == low) {
		leaves[low].right = tree_join(leaves, leaves[low].right, high);
	} else {
		leaves[high].left = tree_join(leaves, low, leaves[high].left);
	}
	sum_subtree(leaves, top);
	return top;
}

uint32_t tree_erase(struct tree_leaf *leaves, uint32_t root, uint32_t at)
{
	if (root == at) {
		leaves[at].in = false;
		return tree_join(leaves, leaves[at].left, leaves[at].right);
	}
	struct tree_leaf *l = &leaves[root];
	if (tree_compare(&leaves[at].key, &l->key) < 0) {
		l->left = tree_erase(leaves, l->left, at);
	} else {
		l->right = tree_erase(leaves, l->right, at);
	}
	sum_subtree(leaves, root);
	return root;
}

static void sum_all(struct tree_leaf *leaves, uint32_t root)
{
	if (root != TREE_NONE) {
		sum_all(leaves, leaves[root].left);
		sum_all(leaves, leaves[root].right);
		sum_subtree(leaves, root);
	}
}

/* The spine is the way from the root to the last item, along which the next one is hung in. */
uint32_t tree_build(struct tree_leaf *leaves, const uint32_t *sorted, size_t count, uint32_t *spine)
{
	size_t depth = 0;
	for (size_t i = 0; i < count; i++) {
		uint32_t at = sorted[i], below = TREE_NONE;
		while (depth > 0 && goes_above(at, spine[depth - 1])) {
			below = spine[--depth];
		}
		leaves[at].left = below;
		leaves[at].right = TREE_NONE;
		leaves[at].in = true;
		if (depth > 0) {
			leaves[spine[depth - 1]].right = at;
		}
		spine[depth++] = at;
	}
	uint32_t root = count > 0 ? spine[0] : TREE_NONE;
	sum_all(leaves, root);
	return root;
}

void tree_refresh(struct tree_leaf *leaves, uint32_t root, uint32_t at)
{
	if (root != at) {
		bool left = tree_compare(&leaves[at].key, &leaves[root].key) < 0;
		tree_refresh(leaves, left ? leaves[root].left : leaves[root].right, at);
	}
	sum_subtree(leaves, root);
}

static bool amounts_suffice(const struct tree_amounts *have, const struct tree_amounts *need)
{
	return have->milli >= need->milli && have->mib >= need->mib && have->cpu >= need->cpu &&
	       have->mem >= need->mem && have->tenants < need->tenants;
}

uint32_t tree_find(const struct tree_leaf *leaves, uint32_t root, struct tree_seek *seek)
{
	while (root != TREE_NONE) {
		const struct tree_leaf *l = &leaves[root];
		seek->looked_at++;
		if (!amounts_suffice(&l->all, &seek->need)) {
			return TREE_NONE;
		}
		uint32_t found = tree_find(leaves, l->left, seek);
		if (found != TREE_NONE) {
			return found;
		}
		if (amounts_suffice(&l->own, &seek->need) && seek->suits(seek->data, root)) {
			return root;
		}
		root = l->right;
	}
	return TREE_NONE;
}

uint32_t tree_first(const struct tree_leaf *leaves, uint32_t root)
{
	while (root != TREE_NONE && leaves[root].left != TREE_NONE) {
		root = leaves[root].left;
	}
	return root;
}
