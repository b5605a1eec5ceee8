/* Paths become a tree, and the tree rows of members, level by level. */
#include "json/projection.h"

struct node {
	struct view key;
	struct node *first, *last, *next; /* members; the next member of the same object */
	uint32_t count;			  /* of members */
	uint32_t bytes;
	uint8_t mark;
	bool prefix;
	bool whole;  /* a row wants all of it */
	bool parted; /* a row says which members */
};

static struct node *kept_member(
	struct arena *arena, struct node *object, struct view key, bool prefix)
{
	object->parted = true;
	for (struct node *n = object->first; n != NULL; n = n->next) {
		if (n->prefix == prefix && n->key.n == key.n &&
			memcmp(n->key.p, key.p, key.n) == 0) {
			return n;
		}
	}
	struct node *n = ARENA_NEW(arena, struct node);
	*n = (struct node){.key = key, .prefix = prefix};
	*(object->last != NULL ? &object->last->next : &object->first) = n;
	object->last = n;
	object->count++;
	return n;
}

static void add_key(struct arena *arena, struct node *map, const char *key)
{
	struct view v = view_of(key);
	bool prefix = v.n > 0 && v.p[v.n - 1] == '*';
	v.n -= prefix ? 1 : 0;
	kept_member(arena, map, v, prefix)->whole = true;
}

static void add_shape(struct arena *arena, struct node *object, const struct shape *shape)
{
	for (size_t i = 0; shape != NULL && i < shape->count; i++) {
		const struct field *f = &shape->fields[i];
		const char *slash = strchr(f->path, '/');
		struct view rest = view_of(f->path), part;
		struct node *n = object;
		if (f->unwatched) {
			continue;
		}
		rest.n = slash != NULL ? (size_t)(slash - f->path) : rest.n;
		while (view_next(&rest, '.', &part)) {
			n = kept_member(arena, n, part, false);
		}
		n = slash != NULL ? kept_member(arena, n, view_of(slash + 1), false) : n;
		n->bytes = f->bytes > 0 ? f->bytes : n->bytes;
		n->mark = f->mark > 0 ? f->mark : n->mark;
		n->parted = n->parted || f->keys != NULL;
		n->whole = n->whole || (f->inside == NULL && f->keys == NULL);
		for (const char *const *key = f->keys; key != NULL && *key != NULL; key++) {
			add_key(arena, n, *key);
		}
		add_shape(arena, n, f->inside);
	}
}

static const struct slice_keep *rows_of(struct arena *arena, const struct node *object)
{
	if (object->whole || !object->parted) {
		return NULL;
	}
	struct slice_keep *rows = ARENA_ARRAY(arena, struct slice_keep, object->count + 1);
	uint32_t count = 0;
	for (const struct node *n = object->first; n != NULL; n = n->next) {
		rows[count++] = (struct slice_keep){.key = n->key.p,
			.key_size = n->key.n,
			.prefix = n->prefix,
			.mark = n->mark,
			.most = n->bytes,
			.inside = rows_of(arena, n)};
	}
	return rows;
}

struct made {
	const struct shape *shape;
	const struct slice_keep *rows;
	const struct made *before;
};

const struct slice_keep *fields_projection(const struct shape *base, const struct shape *shape)
{
	static struct arena arena; /* what is made lives as long as the program */
	static const struct made *last;
	for (const struct made *m = last; m != NULL; m = m->before) {
		if (m->shape == shape) {
			return m->rows;
		}
	}
	struct node root = {.parted = true};
	add_shape(&arena, &root, base);
	add_shape(&arena, &root, shape);
	struct made *made = ARENA_NEW(&arena, struct made);
	*made = (struct made){shape, rows_of(&arena, &root), last};
	last = made;
	return made->rows;
}
