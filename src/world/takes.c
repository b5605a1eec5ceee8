/* What pods take of their nodes, GPUs apart: one record for all pods that take the same; and of
 * each node the sums of what is neither CPU, memory nor a slot. */
#include "takes.h"

/* Its words are interned, so that the same text is the same pointer. */
static uint64_t takes_hash(const struct world_takes *t)
{
	const int64_t amounts[] = {t->cpu_milli, t->mem_bytes};
	return key_bytes(amounts, sizeof amounts, key_text(t->extra));
}

static bool takes_equal(const void *owner, uint32_t slot, const void *key)
{
	const struct world *w = owner;
	const struct world_takes *t = w->takes.items[slot], *k = key;
	return t->cpu_milli == k->cpu_milli && t->mem_bytes == k->mem_bytes && t->extra == k->extra;
}

void takes_init(struct world *w)
{
	map_init(&w->takes_same, takes_equal, w);
}

void takes_finish(struct world *w)
{
	for (size_t i = 0; i < w->takes.count; i++) {
		slab_free(&w->records, w->takes.items[i], sizeof(struct world_takes));
	}
	VEC_FINISH(&w->takes);
	VEC_FINISH(&w->free_takes);
	map_finish(&w->takes_same);
}

static struct world_takes *takes_create(struct world *w, const struct world_takes *like)
{
	struct world_takes *t = slab_alloc(&w->records, sizeof *t);
	*t = *like;
	if (w->free_takes.count > 0) {
		t->slot = w->free_takes.items[--w->free_takes.count];
		w->takes.items[t->slot] = t;
	} else {
		t->slot = (uint32_t)w->takes.count;
		VEC_PUSH(&w->takes, t);
	}
	map_put(&w->takes_same, takes_hash(t), t->slot);
	return t;
}

const struct world_takes *takes_of(struct world *w, const struct pod *pod)
{
	const struct world_takes key = {.cpu_milli = summable(pod->cpu_milli),
		.mem_bytes = summable(pod->mem_bytes),
		.extra = uses_intern(w, &pod->extra)};
	uint32_t at = map_find(&w->takes_same, takes_hash(&key), &key);
	struct world_takes *t = at != MAP_NONE ? w->takes.items[at] : takes_create(w, &key);
	if (at != MAP_NONE) {
		intern_release(w->words, key.extra); /* it has one already */
	}
	t->pods++;
	return t;
}

void takes_release(struct world *w, const struct world_takes *t)
{
	if (t == NULL || --w->takes.items[t->slot]->pods > 0) {
		return;
	}
	map_remove(&w->takes_same, takes_hash(t), t->slot);
	intern_release(w->words, t->extra);
	VEC_PUSH(&w->free_takes, t->slot);
	slab_free(&w->records, TAKE(w->takes.items[t->slot]), sizeof *t);
}

static void count_amount(
	struct world *w, struct world_uses *u, const struct amount *a, int64_t sign)
{
	size_t i = 0;
	while (i < u->amounts.count && !text_equals(u->amounts.items[i].name, a->name)) {
		i++;
	}
	if (i == u->amounts.count) {
		struct amount made = {.name = intern_add(w->words, a->name)};
		VEC_PUSH(&u->amounts, made);
	}
	struct amount *sum = &u->amounts.items[i];
	sum->value += sign * summable(a->value);
	if (sum->value == 0) {
		intern_release(w->words, sum->name);
		VEC_REMOVE_SWAP(&u->amounts, i);
	}
}

static void remove_port(struct world *w, struct world_uses *u, const struct host_port *p)
{
	for (size_t i = 0; i < u->ports.count; i++) {
		struct host_port *kept = &u->ports.items[i];
		if (kept->port == p->port && text_equals(kept->protocol, p->protocol) &&
			text_equals(kept->address, p->address)) {
			intern_release(w->words, kept->protocol);
			intern_release(w->words, kept->address);
			VEC_REMOVE_SWAP(&u->ports, i);
			return;
		}
	}
	BUG("a port that nobody took is given back");
}

void uses_count(struct world *w, struct world_uses *u, const char *extra, int sign)
{
	if (extra == NULL) {
		return;
	}
	CLEANUP(arena_finish) struct arena arena = {0};
	struct extra x = extra_read(extra, &arena);
	for (uint32_t i = 0; i < x.amounts.count; i++) {
		count_amount(w, u, &x.amounts.items[i], sign);
	}
	for (uint32_t i = 0; i < x.ports.count; i++) {
		const struct host_port *p = &x.ports.items[i];
		if (sign > 0) {
			struct host_port kept = {.port = p->port,
				.protocol = intern_add(w->words, p->protocol),
				.address = intern_add(w->words, p->address)};
			VEC_PUSH(&u->ports, kept);
		} else {
			remove_port(w, u, p);
		}
	}
}

const char *uses_intern(struct world *w, const struct extra *x)
{
	if (extra_is_empty(x)) {
		return NULL;
	}
	str_reset(&w->scratch);
	extra_write(&w->scratch, x);
	ENSURE(!w->scratch.overflow);
	return w->scratch.len > 0 ? intern_add(w->words, str_text(&w->scratch)) : NULL;
}

void uses_finish(struct world_uses *u)
{
	VEC_FINISH(&u->amounts);
	VEC_FINISH(&u->ports);
}
