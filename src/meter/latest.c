/* One record a pod, with its own small list of figures. Texts that repeat are interned. */
#include "meter/latest.h"

#include "base/alloc.h"
#include "base/intern.h"
#include "base/slab.h"
#include "base/str.h"
#include "base/table.h"

struct figure_record {
	const char *container, *uuid, *basis; /* interned */
	int64_t mem_bytes, at_ms, seen_ms;    /* the last on the monotonic clock */
	int32_t compute;
	bool estimated;
};

struct gauges_record {
	struct app_gauges told;
	int64_t seen_ms;
};

struct record {
	const char *ns, *node;	       /* interned; the node NULL: none */
	struct figure_record *figures; /* owned */
	struct gauges_record *gauges;  /* owned; NULL: never told */
	uint64_t uid;		       /* as a hash */
	uint32_t round;		       /* in which it was wanted last */
	uint8_t figure_count, figure_room, source;
	char name[];
};

struct node_record {
	struct table_row row; /* its name interned */
	uint32_t pods;
};

struct latest {
	struct latest_config config;
	struct intern *texts;	      /* owned */
	struct slab records;	      /* of pods */
	VEC_OF(struct record *) pods; /* owned */
	struct map by_name;
	struct table nodes; /* those that have pods */
	uint32_t round;
};

struct name_key {
	const char *ns, *name;
};

static bool latest_pod_is(const void *owner, uint32_t slot, const void *key)
{
	const struct latest *l = owner;
	const struct name_key *k = key;
	const struct record *r = l->pods.items[slot];
	return strcmp(r->name, k->name) == 0 && strcmp(r->ns, k->ns) == 0;
}

static struct record *latest_record_find(const struct latest *l, const char *ns, const char *name)
{
	struct name_key key = {ns, name};
	uint32_t at = map_find(&l->by_name, hash_pair(ns, name), &key);
	return at != MAP_NONE ? l->pods.items[at] : NULL;
}

/* --- nodes --- */

static struct node_record *node_find(const struct latest *l, const char *node)
{
	return node != NULL ? (struct node_record *)(void *)table_find(&l->nodes, "", node) : NULL;
}

static void on_node_dropped(void *data, struct table_row *row)
{
	struct latest *l = data;
	intern_release(l->texts, row->name);
	free(row);
}

static void node_enter(struct latest *l, const char *node)
{
	struct node_record *n = node_find(l, node);
	if (n == NULL && node != NULL) {
		n = xcalloc(1, sizeof *n);
		n->row.ns = "";
		n->row.name = intern_add(l->texts, node);
		table_add(&l->nodes, &n->row);
	}
	if (n != NULL) {
		n->pods++;
	}
}

static void node_leave(struct latest *l, const char *node)
{
	struct node_record *n = node_find(l, node);
	if (n != NULL && --n->pods == 0) {
		table_remove(&l->nodes, &n->row);
	}
}

bool latest_wants_node(const struct latest *l, const char *node)
{
	return node_find(l, node) != NULL;
}

/* --- records --- */

static void figure_release(struct latest *l, const struct figure_record *f)
{
	intern_release(l->texts, f->container);
	intern_release(l->texts, f->uuid);
	intern_release(l->texts, f->basis);
}

/* Nothing is known of it any more. */
static void record_forget(struct latest *l, struct record *r)
{
	for (uint32_t i = 0; i < r->figure_count; i++) {
		figure_release(l, &r->figures[i]);
	}
	free(r->figures);
	free(r->gauges);
	r->figures = NULL;
	r->gauges = NULL;
	r->figure_count = r->figure_room = 0;
	r->source = METERED_SOURCES;
}

static void latest_record_free(struct latest *l, struct record *r)
{
	record_forget(l, r);
	node_leave(l, r->node);
	intern_release(l->texts, r->ns);
	intern_release(l->texts, r->node);
	slab_free(&l->records, r, sizeof *r + strlen(r->name) + 1);
}

static struct record *record_add(struct latest *l, const char *ns, const char *name)
{
	size_t n = strlen(name) + 1;
	struct record *r = slab_alloc(&l->records, sizeof *r + n);
	memcpy(r->name, name, n);
	r->ns = intern_add(l->texts, ns);
	r->source = METERED_SOURCES;
	VEC_PUSH(&l->pods, r);
	map_put(&l->by_name, hash_pair(ns, name), (uint32_t)l->pods.count - 1);
	return r;
}

static void latest_record_remove(struct latest *l, uint32_t at)
{
	struct record *r = l->pods.items[at];
	uint32_t last = (uint32_t)l->pods.count - 1;
	const struct record *moved = l->pods.items[last];
	map_remove(&l->by_name, hash_pair(r->ns, r->name), at);
	if (at != last) {
		uint64_t hash = hash_pair(moved->ns, moved->name);
		map_remove(&l->by_name, hash, last);
		map_put(&l->by_name, hash, at);
	}
	VEC_REMOVE_SWAP(&l->pods, at);
	latest_record_free(l, r);
}

static void record_bind(struct latest *l, struct record *r, const char *node)
{
	const char *before = r->node;
	if (text_equals(before, node)) {
		return;
	}
	r->node = intern_add(l->texts, node);
	node_enter(l, r->node);
	node_leave(l, before);
	intern_release(l->texts, before);
}

/* --- whose use is wanted --- */

void latest_want_begin(struct latest *l)
{
	l->round++;
}

bool latest_want(
	struct latest *l, const char *ns, const char *name, const char *uid, const char *node)
{
	struct record *r = latest_record_find(l, ns, name);
	uint64_t hash = hash_text(uid);
	if (r == NULL) {
		if (l->pods.count >= LATEST_PODS_MAX) {
			return false;
		}
		r = record_add(l, ns, name);
		r->uid = hash;
	}
	if (r->uid != hash) {
		record_forget(l, r);
		r->uid = hash;
	}
	record_bind(l, r, node);
	r->round = l->round;
	return true;
}

void latest_want_end(struct latest *l)
{
	for (uint32_t i = (uint32_t)l->pods.count; i-- > 0;) {
		if (l->round - l->pods.items[i]->round > 1) {
			latest_record_remove(l, i);
		}
	}
}

bool latest_wants(const struct latest *l, const char *ns, const char *name)
{
	return latest_record_find(l, ns, name) != NULL;
}

/* --- how old --- */

static bool figure_is_fresh(
	const struct latest *l, const struct record *r, const struct figure_record *f, int64_t now)
{
	return now - f->seen_ms <= l->config.fresh_ms[r->source];
}

static enum latest_state record_state(const struct latest *l, const struct record *r, int64_t now)
{
	for (uint32_t i = 0; i < r->figure_count; i++) {
		if (figure_is_fresh(l, r, &r->figures[i], now)) {
			return LATEST_FRESH;
		}
	}
	return r->figure_count > 0 ? LATEST_STALE : LATEST_UNKNOWN;
}

static enum latest_state gauges_state(const struct latest *l, const struct record *r, int64_t now)
{
	if (r->gauges == NULL) {
		return LATEST_UNKNOWN;
	}
	bool fresh = now - r->gauges->seen_ms <= l->config.gauges_fresh_ms;
	return fresh ? LATEST_FRESH : LATEST_STALE;
}

/* When it was so, on the clock by which ages count here. */
static int64_t seen_at(const struct latest *l, int64_t at_ms)
{
	int64_t age = clock_policy(l->config.clock) - at_ms;
	return clock_mono(l->config.clock) - (age > 0 ? age : 0);
}

/* --- what is told --- */

static struct figure_record *figure_find(struct record *r, const struct metered *m)
{
	for (uint32_t i = 0; i < r->figure_count; i++) {
		struct figure_record *f = &r->figures[i];
		if (strcmp(f->container, m->container) == 0 && strcmp(f->uuid, m->uuid) == 0) {
			return f;
		}
	}
	return NULL;
}

static struct figure_record *figure_add(struct latest *l, struct record *r, const struct metered *m)
{
	if (r->figure_count == LATEST_FIGURES_MAX) {
		return NULL;
	}
	if (r->figure_count == r->figure_room) {
		r->figure_room = (uint8_t)(r->figure_room == 0 ? 1 : r->figure_room * 2);
		r->figures = xreallocarray(r->figures, r->figure_room, sizeof *r->figures);
	}
	struct figure_record *f = &r->figures[r->figure_count++];
	*f = (struct figure_record){.container = intern_add(l->texts, m->container),
		.uuid = intern_add(l->texts, m->uuid),
		.seen_ms = INT64_MIN};
	return f;
}

static void drop_old_figures(struct latest *l, struct record *r, int64_t now)
{
	for (uint32_t i = r->figure_count; i-- > 0;) {
		if (now - r->figures[i].seen_ms > LATEST_KEEP_MS) {
			figure_release(l, &r->figures[i]);
			r->figures[i] = r->figures[--r->figure_count];
		}
	}
}

static void figure_fill(
	struct latest *l, struct figure_record *f, const struct metered *m, int64_t seen)
{
	const char *basis = intern_add(l->texts, m->basis);
	intern_release(l->texts, f->basis);
	f->basis = basis;
	f->estimated = m->estimated;
	f->compute = (int32_t)m->compute;
	f->mem_bytes = m->mem_bytes;
	f->at_ms = m->at_ms;
	f->seen_ms = seen;
}

static enum latest_verdict figure_verdict(
	const struct latest *l, const struct record *r, const struct metered *m, const char *node)
{
	int64_t now = clock_mono(l->config.clock);
	if (node != NULL && !text_equals(r->node, node)) {
		return LATEST_ELSEWHERE;
	}
	if (m->uid != NULL && hash_text(m->uid) != r->uid) {
		return LATEST_FORMER;
	}
	if (r->source < m->source && record_state(l, r, now) == LATEST_FRESH) {
		return LATEST_OUTRANKED;
	}
	return LATEST_TAKEN;
}

enum latest_verdict latest_take(struct latest *l, const struct metered *m, const char *node)
{
	struct record *r = latest_record_find(l, m->ns, m->pod);
	int64_t seen = seen_at(l, m->at_ms);
	enum latest_verdict verdict = r != NULL ? figure_verdict(l, r, m, node) : LATEST_NOT_WANTED;
	if (verdict != LATEST_TAKEN) {
		return verdict;
	}
	if (r->source != m->source) {
		struct gauges_record *gauges = r->gauges;
		r->gauges = NULL;
		record_forget(l, r);
		r->gauges = gauges;
		r->source = (uint8_t)m->source;
	}
	drop_old_figures(l, r, seen);
	struct figure_record *f = figure_find(r, m);
	f = f != NULL ? f : figure_add(l, r, m);
	if (f == NULL) {
		return LATEST_FULL;
	}
	if (f->seen_ms > seen) {
		return LATEST_FORMER;
	}
	figure_fill(l, f, m, seen);
	return LATEST_TAKEN;
}

enum latest_verdict latest_take_gauges(
	struct latest *l, const char *ns, const char *name, const struct app_gauges *g)
{
	struct record *r = latest_record_find(l, ns, name);
	int64_t seen = seen_at(l, g->at_ms);
	if (r == NULL) {
		return LATEST_NOT_WANTED;
	}
	if (r->gauges == NULL) {
		r->gauges = xcalloc(1, sizeof *r->gauges);
		r->gauges->seen_ms = INT64_MIN;
	}
	if (r->gauges->seen_ms > seen) {
		return LATEST_FORMER;
	}
	*r->gauges = (struct gauges_record){*g, seen};
	return LATEST_TAKEN;
}

const char *latest_verdict_name(enum latest_verdict v)
{
	static const char *const names[] = {
		"taken", "not_wanted", "elsewhere", "former", "outranked", "full"};
	return v < LATEST_VERDICTS ? names[v] : "";
}

/* --- what is known --- */

const char *latest_state_name(enum latest_state s)
{
	static const char *const names[] = {"unknown", "fresh", "stale"};
	return s < LATEST_STATES ? names[s] : "";
}

uint32_t latest_count(const struct latest *l)
{
	return (uint32_t)l->pods.count;
}

static void write_head(const struct latest *l, const struct record *r, struct latest_pod *p)
{
	int64_t now = clock_mono(l->config.clock);
	p->ns = r->ns;
	p->name = r->name;
	p->node = r->node;
	p->source = (enum metered_source)r->source;
	p->state = record_state(l, r, now);
	p->gauges_state = gauges_state(l, r, now);
	p->gauges = r->gauges != NULL ? r->gauges->told : app_gauges_none();
	p->figure_count = 0;
}

static void copy_figures(const struct latest *l, const struct record *r, struct latest_pod *p)
{
	int64_t now = clock_mono(l->config.clock);
	for (uint32_t i = 0; i < r->figure_count; i++) {
		const struct figure_record *f = &r->figures[i];
		if (p->state == LATEST_FRESH && !figure_is_fresh(l, r, f, now)) {
			continue;
		}
		p->figures[p->figure_count++] = (struct metered_figure){.container = f->container,
			.uuid = f->uuid,
			.basis = f->basis,
			.estimated = f->estimated,
			.compute = f->compute,
			.mem_bytes = f->mem_bytes,
			.at_ms = f->at_ms,
			.age_ms = now - f->seen_ms};
	}
}

void latest_head_at(const struct latest *l, uint32_t i, struct latest_pod *ret)
{
	write_head(l, l->pods.items[i], ret);
}

void latest_at(const struct latest *l, uint32_t i, struct latest_pod *ret)
{
	write_head(l, l->pods.items[i], ret);
	copy_figures(l, l->pods.items[i], ret);
}

bool latest_find(const struct latest *l, const char *ns, const char *name, struct latest_pod *ret)
{
	const struct record *r = latest_record_find(l, ns, name);
	if (r == NULL) {
		return false;
	}
	write_head(l, r, ret);
	copy_figures(l, r, ret);
	return true;
}

static void add_figures(
	const struct latest *l, const struct record *r, int64_t now, struct latest_totals *t)
{
	for (uint32_t i = 0; i < r->figure_count; i++) {
		const struct figure_record *f = &r->figures[i];
		if (figure_is_fresh(l, r, f, now)) {
			t->compute += f->compute > 0 ? f->compute : 0;
			t->mem_bytes += f->mem_bytes > 0 ? f->mem_bytes : 0;
		}
	}
}

void latest_sum(const struct latest *l, struct latest_totals *ret)
{
	int64_t now = clock_mono(l->config.clock);
	*ret = (struct latest_totals){0};
	for (size_t i = 0; i < l->pods.count; i++) {
		const struct record *r = l->pods.items[i];
		enum latest_state state = record_state(l, r, now);
		ret->pods[state]++;
		ret->with_gauges += gauges_state(l, r, now) == LATEST_FRESH;
		if (state == LATEST_FRESH) {
			ret->by_source[r->source]++;
			add_figures(l, r, now, ret);
		}
	}
}

/* --- its life --- */

struct latest *latest_create(const struct latest_config *config)
{
	struct latest *l = xcalloc(1, sizeof *l);
	l->config = *config;
	l->texts = intern_create();
	map_init(&l->by_name, latest_pod_is, l);
	table_init(&l->nodes, on_node_dropped, l);
	return l;
}

void latest_destroy(struct latest *l)
{
	if (l == NULL) {
		return;
	}
	for (size_t i = 0; i < l->pods.count; i++) {
		latest_record_free(l, l->pods.items[i]);
	}
	VEC_FINISH(&l->pods);
	slab_finish(&l->records);
	table_finish(&l->nodes);
	map_finish(&l->by_name);
	intern_destroy(l->texts);
	free(l);
}

/* --- names, as labels and pages show them --- */

const char *metered_source_name(enum metered_source source)
{
	static const char *const names[] = {"agent", "exporter", "prometheus"};
	return source < METERED_SOURCES ? names[source] : "none";
}

const char *app_engine_name(enum app_engine engine)
{
	static const char *const names[] = {"none", "vllm", "sglang", "triton"};
	return engine <= APP_TRITON ? names[engine] : "none";
}
