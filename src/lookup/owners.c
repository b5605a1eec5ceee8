/* One record an object, looked up by its kind and name. */
#include "lookup/owners.h"

#include <stdlib.h>

#include "base/tally.h"
#include "codec/discovery.h"
#include "kind_discovery.h"

#define TOKEN_MS    (1000 / OWNERS_PER_SECOND)
#define BURST_MS    2000
#define KNOWN_MS    1800000 /* then it is read again */
#define GONE_MS	    300000
#define AGAIN_MS    15000
#define LATER_MS    30000  /* for so long a first answer is waited for */
#define UNUSED_MS   900000 /* nobody asked for it */
#define SWEEP_MS    60000
#define ANSWER_MAX  ((size_t)1 << 20)
#define NAME_MAX_OF 253

struct record {
	struct owners *all;		      /* borrowed */
	const char *ns, *group, *kind, *name; /* in `texts` */
	char *uid; /* owned; of whom it was asked first; NULL: not told */
	bool lost; /* it is not there any more, as far as that goes */
	uint64_t hash;
	uint64_t call; /* 0: none */
	int64_t made_at, used_at, next_at;
	int64_t taken_until;	  /* by whom it was taken over last: nobody else does before */
	enum owner_answer answer; /* LATER: nobody answered yet */
	struct arena arena;	  /* of `above` */
	struct owner above;
	char texts[];
};

struct owners {
	struct kube *kube;
	struct kinds *kinds; /* owned */
	struct owner_port port, known;
	VEC_OF(struct record *) records; /* owned */
	struct map by_name;
	struct tally spaces; /* objects that are known, by namespace */
	VEC_OF(struct arena)
	former; /* of what was handed out and is not known any more: until the next step */
	uint64_t version;
	uint32_t in_flight;
	int64_t tokens_ms, filled_at, sweep_at, deadline;
};

struct record_key {
	const char *ns;
	const struct owner_top *object;
};

static uint64_t object_key_hash(const struct record_key *k)
{
	uint64_t h = key_bytes(k->object->group.p, k->object->group.n, key_text(k->ns));
	h = key_bytes(k->object->name.p, k->object->name.n, h);
	return key_bytes(k->object->kind, strlen(k->object->kind), h);
}

static bool owner_record_same(const void *owner, uint32_t slot, const void *key)
{
	const struct owners *o = owner;
	const struct record_key *k = key;
	const struct record *r = o->records.items[slot];
	return view_equals(k->object->name, r->name) && text_equals(k->ns, r->ns) &&
	       text_equals(k->object->kind, r->kind) && view_equals(k->object->group, r->group);
}

static void owner_record_free(struct record *r)
{
	kube_cancel(r->all->kube, r->call);
	r->all->in_flight -= r->call != 0 ? 1 : 0;
	arena_finish(&r->arena);
	free(r->uid);
	free(r);
}

static void drop_former(struct owners *o)
{
	for (size_t i = 0; i < o->former.count; i++) {
		arena_finish(&o->former.items[i]);
	}
	VEC_CLEAR(&o->former);
}

static void owners_destroy(void *self)
{
	struct owners *o = self;
	drop_former(o);
	VEC_FINISH(&o->former);
	for (size_t i = 0; i < o->records.count; i++) {
		owner_record_free(o->records.items[i]);
	}
	VEC_FINISH(&o->records);
	map_finish(&o->by_name);
	tally_finish(&o->spaces);
	kinds_destroy(o->kinds);
	free(o);
}

/* --- one object --- */

static void learn_owner(struct record *r, enum owner_answer answer, const struct owner *above)
{
	struct arena arena = {.block_bytes = 192};
	struct owner kept = {arena_strdup(&arena, above->api_version),
		arena_strdup(&arena, above->kind), arena_strdup(&arena, above->name),
		arena_strdup(&arena, above->uid)};
	bool changed = r->answer != answer || !text_equals(r->above.kind, kept.kind) ||
		       !text_equals(r->above.name, kept.name) ||
		       !text_equals(r->above.api_version, kept.api_version);
	r->all->version += changed && r->answer != OWNER_LATER ? 1 : 0;
	VEC_PUSH(&r->all->former, r->arena); /* who climbs may stand on it */
	r->arena = arena;
	r->above = kept;
	r->answer = answer;
}

/* Whose it was does not change while it may not be read or is gone: its pods may be there yet, and
 * would be given to another workload for as long. */
static void keep_or_forget(struct record *r, const struct fault *f)
{
	if (r->answer != OWNER_ABOVE && r->answer != OWNER_NONE) {
		learn_owner(r, OWNER_UNKNOWN, &(struct owner){0});
	}
	r->lost = f->status == 404;
}

static void on_read(void *data, const struct kube_answer *a)
{
	CLEANUP(arena_finish) struct arena arena = {.block_bytes = 512};
	struct record *r = data;
	struct owner above = {0};
	struct fault f = a->fault;
	const struct view body = {a->body, a->body_size};
	int64_t after = KNOWN_MS;
	r->call = 0;
	r->all->in_flight--;
	r->all->deadline = 0;
	if (f.kind == FAULT_NONE && discovery_controller(body, &arena, &above, &f) == 0) {
		learn_owner(r, above.kind != NULL ? OWNER_ABOVE : OWNER_NONE, &above);
		r->lost = false;
	} else if (f.kind == FAULT_TRANSIENT || f.status == 429) {
		after = AGAIN_MS; /* and what was known is */
	} else {
		/* It is gone, may not be seen, or makes no sense: nobody knows more (R12). */
		if (f.kind == FAULT_DENIED && f.status == 403) {
			kinds_refuse(r->all->kinds, view_of(r->group), r->kind);
		}
		keep_or_forget(r, &f);
		after = GONE_MS;
	}
	r->next_at = clock_mono(kube_clock(r->all->kube)) + after;
}

static void request_owner_of(struct record *r, const struct kinds_place *place)
{
	CLEANUP(str_finish) struct str text = STR_INIT(KUBE_PATH_MAX);
	const struct kube_path path = {.group_version = place->group_version,
		.ns = r->ns,
		.resource = place->resource,
		.name = r->name};
	kube_path_append(&text, &path);
	if (text.overflow) {
		learn_owner(r, OWNER_UNKNOWN, &(struct owner){0});
		r->next_at = TIME_NEVER;
		return;
	}
	struct kube_request request = {.method = WIRE_GET,
		.path = str_text(&text),
		.accept = DISCOVERY_METADATA,
		.limit_bytes = ANSWER_MAX};
	r->call = kube_call(r->all->kube, &request, on_read, r);
	r->all->in_flight++;
	r->all->tokens_ms -= TOKEN_MS;
}

/* --- those that were asked for --- */

static const char *text_put(char **at, struct view text)
{
	char *begin = *at;
	if (text.n > 0) {
		memcpy(begin, text.p, text.n);
	}
	*at += text.n + 1;
	return begin;
}

/* There are thousands: one piece of memory with its texts. */
static struct record *owner_record_create(const struct record_key *key)
{
	struct view ns = view_of(key->ns), kind = view_of(key->object->kind);
	struct view group = key->object->group, name = key->object->name;
	struct record *r = xcalloc(1, sizeof *r + ns.n + group.n + kind.n + name.n + 4);
	char *at = r->texts;
	r->ns = text_put(&at, ns);
	r->group = text_put(&at, group);
	r->kind = text_put(&at, kind);
	r->name = text_put(&at, name);
	return r;
}

static struct record *owner_record_add(
	struct owners *o, const struct record_key *key, uint64_t hash)
{
	if (o->records.count >= OWNERS_MAX || tally_get(&o->spaces, key->ns) >= OWNERS_SPACE_MAX) {
		return NULL;
	}
	struct record *r = owner_record_create(key);
	r->all = o;
	r->uid = key->object->uid != NULL ? xstrdup(key->object->uid) : NULL;
	r->hash = hash;
	r->made_at = clock_mono(kube_clock(o->kube));
	r->answer = OWNER_LATER;
	VEC_PUSH(&o->records, r);
	map_put(&o->by_name, hash, (uint32_t)o->records.count - 1);
	tally_add(&o->spaces, r->ns, 1);
	o->deadline = 0;
	return r;
}

/* Another object of the name of one that is gone: what was known is not about it. Both may be gone
 * with pods of both left, which ask in turns. */
static void take_over(struct record *r, const struct owner_top *object, int64_t now)
{
	if (!r->lost || now < r->taken_until || object->uid == NULL ||
		text_equals(r->uid, object->uid)) {
		return;
	}
	free(r->uid);
	r->uid = xstrdup(object->uid);
	r->lost = false;
	r->made_at = now;
	r->taken_until = now + GONE_MS;
	r->next_at = r->all->deadline = 0;
	if (r->answer != OWNER_UNKNOWN) {
		learn_owner(r, OWNER_LATER, &(struct owner){0});
	}
}

/* Nobody checks the names in references; these would be another path. */
static bool is_path_name(struct view name)
{
	return name.n > 0 && name.n <= NAME_MAX_OF && !view_equals(name, ".") &&
	       !view_equals(name, "..");
}

static enum owner_answer owner_above(
	void *data, const char *ns, const struct owner_top *object, struct owner *ret_owner)
{
	struct owners *o = data;
	struct record_key key = {text_or(ns, ""), object};
	if (!owner_is_worth_asking(object) || *key.ns == '\0' || !is_path_name(object->name)) {
		return OWNER_UNKNOWN;
	}
	uint64_t hash = object_key_hash(&key);
	uint32_t slot = map_find(&o->by_name, hash, &key);
	struct record *r =
		slot != MAP_NONE ? o->records.items[slot] : owner_record_add(o, &key, hash);
	if (r == NULL) {
		return OWNER_UNKNOWN;
	}
	int64_t now = clock_mono(kube_clock(o->kube));
	r->used_at = now;
	take_over(r, object, now);
	*ret_owner = r->above;
	return r->answer == OWNER_LATER && now - r->made_at > LATER_MS ? OWNER_UNKNOWN : r->answer;
}

/* Of another object of that name as of one nobody ever asked about. */
static enum owner_answer owner_known(
	void *data, const char *ns, const struct owner_top *object, struct owner *ret_owner)
{
	struct owners *o = data;
	struct record_key key = {text_or(ns, ""), object};
	uint32_t slot = map_find(&o->by_name, object_key_hash(&key), &key);
	if (slot == MAP_NONE) {
		return OWNER_UNKNOWN;
	}
	const struct record *r = o->records.items[slot];
	if (r->answer == OWNER_LATER || (r->lost && !text_equals(r->uid, object->uid))) {
		return OWNER_UNKNOWN;
	}
	*ret_owner = r->above;
	return r->answer;
}

/* Who was not asked for goes. */
static void drop_unused_owners(struct owners *o, int64_t now)
{
	size_t kept = 0;
	map_clear(&o->by_name);
	for (size_t i = 0; i < o->records.count; i++) {
		struct record *r = o->records.items[i];
		if (now - r->used_at > UNUSED_MS) {
			tally_take(&o->spaces, r->ns, 1);
			owner_record_free(r);
			continue;
		}
		o->records.items[kept] = r;
		map_put(&o->by_name, r->hash, (uint32_t)kept++);
	}
	o->records.count = kept;
	o->sweep_at = now + SWEEP_MS;
}

static void look_up_owner(struct owners *o, struct record *r, int64_t now)
{
	struct kinds_place place;
	switch (kinds_find(o->kinds, view_of(r->group), r->kind, &place)) {
	case KINDS_FOUND:
		request_owner_of(r, &place);
		return;
	case KINDS_UNKNOWN:
		keep_or_forget(r, &(struct fault){.kind = FAULT_DENIED});
		r->next_at = now + GONE_MS;
		return;
	case KINDS_LATER:
		return;
	}
}

static void look_up_owners(struct owners *o, int64_t now)
{
	o->tokens_ms = time_min(o->tokens_ms + now - o->filled_at, BURST_MS);
	o->filled_at = now;
	if (now >= o->sweep_at) {
		drop_unused_owners(o, now);
	}
	o->deadline = o->sweep_at;
	for (size_t i = 0; i < o->records.count; i++) {
		struct record *r = o->records.items[i];
		if (r->call != 0) {
			continue;
		}
		if (now < r->next_at) {
			o->deadline = time_min(o->deadline, r->next_at);
			continue;
		}
		if (o->in_flight >= OWNERS_IN_FLIGHT) {
			break; /* an answer makes room */
		}
		if (o->tokens_ms < TOKEN_MS) {
			o->deadline = time_min(o->deadline, now + TOKEN_MS - o->tokens_ms);
			break;
		}
		look_up_owner(o, r, now);
	}
}

static void owners_step(void *self, const struct turn *turn)
{
	struct owners *o = self;
	drop_former(o);
	if (turn->now >= o->deadline || turn->now >= kinds_deadline(o->kinds)) {
		look_up_owners(o, turn->now);
	}
	kinds_step(o->kinds, turn->now);
}

static int64_t owners_deadline(const void *self, const struct turn *turn)
{
	const struct owners *o = self;
	(void)turn;
	return time_min(o->deadline, kinds_deadline(o->kinds));
}

const struct part owners_part = {owners_step, owners_deadline, owners_destroy};

static uint64_t owners_version(void *data)
{
	const struct owners *o = data;
	return o->version;
}

struct owners *owners_create(struct kube *kube)
{
	struct owners *o = xcalloc(1, sizeof *o);
	o->kube = kube;
	o->kinds = kinds_create(kube);
	o->port = (struct owner_port){o, owner_above, owners_version};
	o->known = (struct owner_port){o, owner_known, owners_version};
	map_init(&o->by_name, owner_record_same, o);
	tally_init(&o->spaces);
	o->tokens_ms = BURST_MS;
	o->filled_at = clock_mono(kube_clock(kube));
	return o;
}

const struct owner_port *owners_port(struct owners *o)
{
	return &o->port;
}

const struct owner_port *owners_known(struct owners *o)
{
	return &o->known;
}

size_t owners_count(const struct owners *o)
{
	return o->records.count;
}
