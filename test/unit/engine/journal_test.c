/* The journal proves itself: whatever a run did, its journal gives the same plans again, from the
 * first segment and from every later one; and what was tampered with does not. */
#include <criterion/criterion.h>
#include <stdio.h>

#include "base/map.h"
#include "base/rand.h"
#include "engine/engine.h"
#include "engine/journal.h"
#include "model/names.h"

#define VERSION	 "test"
#define PODS_MAX 48
#define NODES	 3
#define SEEDS	 40

struct obj {
	bool exists, capacity, gated, running, whole;
	char ns[16], name[64], uid[24], node[16], holder[64];
	int rv;
	int64_t milli;
	struct grant grants[MODEL_GRANTS_MAX];
	char grant_uids[MODEL_GRANTS_MAX][24];
	uint32_t grant_count;
};

struct waiting_outcome {
	uint64_t id;
	bool succeeded, unknown, answered;
	int pod;
};

/* An engine whose surroundings are random; only roughly a cluster, because the journal must hold
 * for any input. */
struct bed {
	struct engine *e;
	struct journal *j;
	struct plan plan;
	struct rng rng;
	struct obj pods[PODS_MAX];
	struct waiting_outcome late[256];
	size_t late_count;
	int rv, uids;
	int64_t now;
	uint64_t actions;
	struct str bytes; /* what the sink got */
	size_t starts[4096];
	size_t segments;
};

static void sink_begin(void *data, uint32_t number)
{
	struct bed *b = data;
	cr_assert_lt(b->segments, COUNT_OF(b->starts));
	cr_assert_eq(number, b->segments + 1);
	b->starts[b->segments++] = b->bytes.len;
}

static void sink_write(void *data, const void *p, size_t n)
{
	struct bed *b = data;
	cr_assert_leq(n, JOURNAL_PIECE_BYTES);
	cr_assert(str_append(&b->bytes, p, n));
}

static uint64_t below(struct bed *b, uint64_t n)
{
	return rng_below(&b->rng, n);
}

static void tell_pod(struct bed *b, const struct obj *o)
{
	char rv[16], milli[24];
	snprintf(rv, sizeof rv, "%d", o->rv);
	snprintf(milli, sizeof milli, "%lld", (long long)o->milli);
	struct pair tenant[] = {{LABEL_TENANT, "true"}}, capacity[] = {{LABEL_CAPACITY, "true"}};
	struct pair notes[] = {{NOTE_CAPACITY_POD, (char *)o->holder}, {NOTE_COMPUTE_MILLI, milli},
		{NOTE_GPU_UUID, "GPU-1"}, {NOTE_MEMORY_MIB, "100"}, {NOTE_ORIGINAL, "{}"},
		{NOTE_SHARE, "0.25"}};
	const char *gates[] = {NAME_GATE};
	struct gpu_identity id = {.uuid = "GPU-1", .mem_mib = 80000};
	struct pod p = {.ns = o->ns,
		.name = o->name,
		.uid = o->uid,
		.resource_version = rv,
		.created_ms = 1000 + o->uid[1],
		.node = o->node,
		.cpu_milli = 10,
		.mem_bytes = 100,
		.phase = o->running ? POD_RUNNING : POD_PENDING};
	if (o->capacity) {
		p.labels = (struct pairs){capacity, 1};
		p.gpus = 1;
		p.identity = o->running ? &id : NULL;
		p.holds = o->running;
		p.ledger = (struct ledger){(struct grant *)o->grants, o->grant_count};
	} else if (o->whole) {
		p.gpus = (int64_t)(o->rv % 2);
	} else {
		p.labels = (struct pairs){tenant, 1};
		p.notes = o->gated ? (struct pairs){notes + 4, 2} : (struct pairs){notes, 6};
		p.gates = gates;
		p.gate_count = o->gated ? 1 : 0;
		pairs_sort(&p.notes);
	}
	struct change set = {.type = CHANGE_SET, .kind = KIND_POD, .pod = &p};
	engine_observe(b->e, &set);
}

static struct obj *pod_add(struct bed *b, const char *ns, const char *name)
{
	for (int i = 0; i < PODS_MAX; i++) {
		struct obj *o = &b->pods[i];
		if (!o->exists) {
			*o = (struct obj){.exists = true, .rv = ++b->rv};
			snprintf(o->ns, sizeof o->ns, "%s", ns);
			snprintf(o->name, sizeof o->name, "%s", name);
			snprintf(o->uid, sizeof o->uid, "u%d", ++b->uids);
			return o;
		}
	}
	return NULL;
}

static int pod_find(const struct bed *b, const char *ns, const char *name)
{
	for (int i = 0; i < PODS_MAX; i++) {
		const struct obj *o = &b->pods[i];
		if (o->exists && strcmp(o->name, text_or(name, "")) == 0 &&
			strcmp(o->ns, text_or(ns, "")) == 0) {
			return i;
		}
	}
	return -1;
}

static void tell_node(struct bed *b, int i, bool ready)
{
	char name[16];
	snprintf(name, sizeof name, "n%d", i);
	struct node n = {.name = name,
		.ready = ready,
		.cpu_milli = 64000,
		.mem_bytes = 1 << 30,
		.pod_slots = 110,
		.gpus = 2};
	struct change set = {.type = CHANGE_SET, .kind = KIND_NODE, .node = &n};
	engine_observe(b->e, &set);
}

static void tell_name(struct bed *b, enum change_type type, enum kind kind, const char *name)
{
	struct change c = {.type = type, .kind = kind, .ns = "default", .name = name};
	engine_observe(b->e, &c);
}

static void tell_kind(struct bed *b, enum change_type type, enum kind kind)
{
	struct change c = {.type = type, .kind = kind, .no_sweep = below(b, 3) == 0};
	engine_observe(b->e, &c);
}

static void lead(struct bed *b, bool leads)
{
	struct change c = {.type = CHANGE_LEADER, .leads = leads};
	engine_observe(b->e, &c);
}

/* Policies, namespaces, limit ranges: come, change and go. */
static void small_object(struct bed *b)
{
	static const char *const names[] = {"a", "b", "c", "d"};
	const char *name = names[below(b, COUNT_OF(names))];
	bool goes = below(b, 3) == 0;
	struct policy policy = {.name = name,
		.uid = name,
		.priority = (int32_t)below(b, 3),
		.has_selector = true,
		.generation = (int64_t)below(b, 5),
		.max_tenants = 16};
	struct namespace ns = {.name = name, .terminating = below(b, 2) == 0};
	struct limit_range range = {.ns = name, .name = "l", .limits_gpus = below(b, 2) == 0};
	struct change c = {.type = goes ? CHANGE_GONE : CHANGE_SET,
		.kind = KIND_POLICY,
		.policy = &policy,
		.namespace = &ns,
		.limit_range = &range,
		.ns = name,
		.name = name};
	uint64_t which = below(b, 3);
	c.kind = which == 0 ? KIND_POLICY : which == 1 ? KIND_NAMESPACE : KIND_LIMIT_RANGE;
	c.name = c.kind == KIND_LIMIT_RANGE ? "l" : name;
	engine_observe(b->e, &c);
}

/* The write happens in our table, and the watch may or may not tell of it at once. */
static void carry_out(struct bed *b, const struct action *a, int at)
{
	struct obj *o = at >= 0 ? &b->pods[at] : NULL;
	if (a->type == ACTION_CREATE_CAPACITY && o == NULL) {
		o = pod_add(b, NAME_NAMESPACE, a->name);
		if (o != NULL) {
			o->capacity = true;
			o->running = below(b, 4) > 0;
			snprintf(o->node, sizeof o->node, "%s", a->node);
		}
	} else if (a->type == ACTION_GRANT && o != NULL) {
		o->grant_count = a->ledger.count;
		for (uint32_t i = 0; i < a->ledger.count; i++) {
			snprintf(o->grant_uids[i], sizeof o->grant_uids[i], "%s",
				a->ledger.items[i].uid);
			o->grants[i] = (struct grant){o->grant_uids[i], "default", "x",
				a->ledger.items[i].milli, a->ledger.items[i].mem_mib};
		}
	} else if (a->type == ACTION_PLACE && o != NULL) {
		o->gated = false;
		o->running = true;
		o->milli = a->milli;
		snprintf(o->node, sizeof o->node, "%s", a->node);
		snprintf(o->holder, sizeof o->holder, "%s", a->capacity_pod);
	}
	if (o == NULL) {
		return;
	}
	o->rv = ++b->rv;
	if (a->type == ACTION_DELETE_CAPACITY) {
		o->exists = false;
		tell_name(b, CHANGE_GONE, KIND_POD, "no such pod");
	} else if (below(b, 3) > 0) {
		tell_pod(b, o);
	}
}

static void settle(struct bed *b, const struct waiting_outcome *w)
{
	struct outcome out = {0};
	char rv[16];
	struct pod answer = {0};
	if (!w->succeeded) {
		out.fault.kind = below(b, 2) == 0 ? FAULT_CONFLICT : FAULT_TRANSIENT;
		out.fault.unknown_outcome = w->unknown;
		snprintf(out.fault.message, sizeof out.fault.message, "it failed");
	}
	if (w->answered && w->pod >= 0) {
		snprintf(rv, sizeof rv, "%d", b->pods[w->pod].rv);
		answer = (struct pod){.ns = b->pods[w->pod].ns,
			.name = b->pods[w->pod].name,
			.uid = b->pods[w->pod].uid,
			.resource_version = rv,
			.phase = POD_RUNNING};
		out.pod = &answer;
	}
	engine_settle(b->e, (struct engine_now){b->now, b->now + 7}, w->id, &out);
}

static void act(struct bed *b)
{
	for (size_t i = 0; i < b->plan.actions.count; i++) {
		const struct action *a = &b->plan.actions.items[i];
		int at = pod_find(b, a->ns, a->name);
		struct waiting_outcome w = {.id = a->id,
			.succeeded = below(b, 10) > 1,
			.unknown = below(b, 2) == 0,
			.answered = below(b, 8) > 0};
		if (w.succeeded || w.unknown) {
			carry_out(b, a, at);
		}
		w.pod = pod_find(b, a->ns, a->name);
		b->actions++;
		if (b->late_count < COUNT_OF(b->late) && below(b, 2) == 0) {
			b->late[b->late_count++] = w;
		} else {
			settle(b, &w);
		}
	}
	while (b->late_count > 0 && below(b, 2) == 0) {
		size_t i = below(b, b->late_count);
		settle(b, &b->late[i]);
		b->late[i] = b->late[--b->late_count];
	}
}

/* One thing that watches say. */
static void happen(struct bed *b)
{
	char name[32];
	uint64_t what = below(b, 40);
	struct obj *o = &b->pods[below(b, PODS_MAX)];
	if (what < 10) {
		snprintf(name, sizeof name, "t%d", b->uids);
		o = pod_add(b, "default", name);
		if (o != NULL) {
			o->gated = what < 7;
			o->whole = what >= 7;
			snprintf(o->node, sizeof o->node, "%s", o->whole ? "n9" : "");
			tell_pod(b, o);
		}
	} else if (what < 16 && o->exists) {
		o->exists = o->capacity && below(b, 3) > 0;
		struct change gone = {
			.type = CHANGE_GONE, .kind = KIND_POD, .ns = o->ns, .name = o->name};
		engine_observe(b->e, &gone);
	} else if (what < 26 && o->exists) {
		o->running |= below(b, 2) == 0;
		tell_pod(b, o);
	} else if (what < 30) {
		small_object(b);
	} else if (what < 32) {
		tell_node(b, (int)below(b, NODES), below(b, 8) > 0);
	} else if (what == 32) {
		tell_kind(b, CHANGE_STALE, (enum kind)below(b, KIND_COUNT));
	} else if (what == 33) {
		tell_kind(b, CHANGE_RELIST_BEGIN, (enum kind)below(b, KIND_COUNT));
	} else if (what == 34 && o->exists) {
		struct change keep = {
			.type = CHANGE_KEEP, .kind = KIND_POD, .ns = o->ns, .name = o->name};
		engine_observe(b->e, &keep);
	} else if (what == 35) {
		lead(b, below(b, 4) > 0);
	} else {
		for (int k = 0; k < KIND_COUNT; k++) {
			tell_kind(b, what < 38 ? CHANGE_RELIST_END : CHANGE_FRESH, (enum kind)k);
		}
		lead(b, true);
	}
}

static struct bed *bed_new(uint64_t seed, size_t segment_bytes, bool in_memory)
{
	struct bed *b = xcalloc(1, sizeof *b);
	struct journal_sink sink = {b, sink_begin, sink_write};
	struct journal_config jc = {.version = VERSION,
		.sink = in_memory ? NULL : &sink,
		.segment_bytes = segment_bytes};
	struct engine_config ec = {.idle_grace_ms = 5000, .runtime_class = "nvidia"};
	b->bytes = (struct str)STR_INIT(64u << 20);
	b->now = 1000;
	rng_seed(&b->rng, seed);
	b->e = engine_create(&ec, seed);
	b->j = journal_create(&jc);
	engine_record(b->e, b->j);
	for (int k = 0; k < KIND_COUNT; k++) {
		tell_kind(b, CHANGE_RELIST_BEGIN, (enum kind)k);
		tell_kind(b, CHANGE_RELIST_END, (enum kind)k);
	}
	for (int i = 0; i < NODES; i++) {
		tell_node(b, i, true);
	}
	lead(b, true);
	return b;
}

static void bed_run(struct bed *b, int turns)
{
	for (int i = 0; i < turns; i++) {
		for (uint64_t n = below(b, 4); n > 0; n--) {
			happen(b);
		}
		/* A budget that cuts steps, sometimes. */
		uint32_t budget = below(b, 3) == 0 ? 1 + (uint32_t)below(b, 12) : 100000;
		engine_step(b->e, (struct engine_now){b->now, b->now + 7}, budget, &b->plan);
		act(b);
		b->now += below(b, 20) == 0 ? 15000 : 50 * (1 + (int64_t)below(b, 10));
	}
	journal_flush(b->j);
}

static void bed_free(struct bed *b)
{
	engine_destroy(b->e);
	journal_destroy(b->j);
	plan_finish(&b->plan);
	str_finish(&b->bytes);
	free(b);
}

static struct journal_summary replay(struct view bytes)
{
	struct journal_summary sum = {0};
	struct fault f = {0};
	int rc = journal_replay(bytes, VERSION, &sum, &f);
	cr_assert_eq(rc, 0, "%s", f.message);
	return sum;
}

static struct view all(const struct bed *b)
{
	return (struct view){str_text(&b->bytes), b->bytes.len};
}

Test(journal, a_whole_run_replays_from_its_beginning)
{
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct bed *b = bed_new(seed, 0, false);
		bed_run(b, 400);
		struct journal_summary sum = replay(all(b));
		cr_assert_not(sum.diverged, "seed %d: %s at record %d", (int)seed, sum.divergence,
			(int)sum.diverged_record);
		cr_assert_not(sum.torn);
		cr_assert_eq(sum.segments, 1);
		cr_assert_eq(sum.actions, b->actions);
		cr_assert_gt(sum.actions, 100, "a run in which nothing is decided shows nothing");
		bed_free(b);
	}
}

/* Small segments: the state is kept and read back at arbitrary points. */
Test(journal, every_segment_is_a_place_to_begin, .timeout = 120)
{
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct bed *b = bed_new(seed, 900 + 100 * seed, false);
		bed_run(b, 250);
		cr_assert_gt(b->segments, 4);
		uint64_t actions = 0;
		for (size_t i = 0; i < b->segments; i += 1 + b->segments / 24) {
			struct view rest = all(b);
			rest.p += b->starts[i];
			rest.n -= b->starts[i];
			struct journal_summary sum = replay(rest);
			cr_assert_not(sum.diverged, "seed %d segment %d of %d: %s, record %d",
				(int)seed, (int)i, (int)b->segments, sum.divergence,
				(int)sum.diverged_record);
			cr_assert_eq(sum.segments, b->segments - i);
			cr_assert_eq(sum.skipped, 0);
			actions = i == 0 ? sum.actions : actions;
		}
		cr_assert_eq(actions, b->actions);
		bed_free(b);
	}
}

/* A segment alone, without those that follow, read from its own state. */
Test(journal, recording_may_begin_late)
{
	struct bed *b = bed_new(5, 0, false);
	bed_run(b, 100);
	engine_record(b->e, NULL);
	bed_run(b, 100);
	engine_record(b->e, b->j);
	bed_run(b, 100);
	cr_assert_eq(b->segments, 2);
	struct view late = all(b);
	late.p += b->starts[1];
	late.n -= b->starts[1];
	cr_assert_not(replay(late).diverged);
	/* The gap is seen: what was not recorded changed the state. */
	cr_assert(replay(all(b)).diverged);
	bed_free(b);
}

static size_t record_size(const char *p)
{
	const unsigned char *u = (const unsigned char *)p;
	return 8 + (u[0] | (size_t)u[1] << 8 | (size_t)u[2] << 16 | (size_t)u[3] << 24);
}

Test(journal, a_missing_input_is_noticed)
{
	struct bed *b = bed_new(3, 0, false);
	bed_run(b, 120);
	int dropped = 0, noticed = 0;
	for (size_t at = 0; at < b->bytes.len; at += record_size(b->bytes.p + at)) {
		size_t n = record_size(b->bytes.p + at);
		if (b->bytes.p[at + 8] != 'O') {
			continue;
		}
		CLEANUP(str_finish) struct str cut = STR_INIT(64u << 20);
		str_append(&cut, b->bytes.p, at);
		str_append(&cut, b->bytes.p + at + n, b->bytes.len - at - n);
		struct journal_summary sum = replay((struct view){cut.p, cut.len});
		dropped++;
		if (sum.diverged) {
			noticed++;
			cr_assert_gt(sum.diverged_record, 0);
			cr_assert(sum.divergence[0] != '\0');
		}
	}
	cr_assert_gt(dropped, 20);
	/* Some outcomes matter to nobody (events, conditions); those of grants do. */
	cr_assert_gt(noticed, 5, "%d of %d", noticed, dropped);
	bed_free(b);
}

Test(journal, another_version_is_refused)
{
	struct bed *b = bed_new(1, 0, false);
	struct journal_summary sum;
	struct fault f = {0};
	bed_run(b, 2);
	cr_assert_eq(journal_replay(all(b), "other", &sum, &f), -1);
	cr_assert_eq(f.kind, FAULT_INVALID);
	cr_assert(strstr(f.message, "version test") != NULL, "%s", f.message);
	cr_assert_eq(journal_replay(VIEW("{\"kind\":\"List\"}"), VERSION, &sum, &f), -1);
	bed_free(b);
}

Test(journal, a_torn_end_is_the_end)
{
	struct bed *b = bed_new(2, 0, false);
	bed_run(b, 12);
	size_t last = 0;
	for (size_t at = 0; at < b->bytes.len; at += record_size(b->bytes.p + at)) {
		last = at;
	}
	uint64_t records = replay(all(b)).records;
	for (size_t n = last + 1; n < b->bytes.len; n++) {
		/* A copy of exactly this size, so that a read beyond it is seen. */
		CLEANUP(cleanup_free) char *copy = xmemdup(b->bytes.p, n);
		struct journal_summary sum = replay((struct view){copy, n});
		cr_assert(sum.torn);
		cr_assert_not(sum.diverged);
		cr_assert_eq(sum.records, records - 1);
	}
	bed_free(b);
}

static void put_sum(char *record)
{
	uint64_t h = hash_bytes(record + 8, record_size(record) - 8, 0);
	uint32_t sum = (uint32_t)(h ^ (h >> 32));
	for (int i = 0; i < 4; i++) {
		record[4 + i] = (char)(sum >> (8 * i) & 0xff);
	}
}

/* Damage is told; damage that the checksum covers up ends in a fault or a divergence, never in a
 * crash. */
Test(journal, damage_never_crashes)
{
	struct bed *b = bed_new(7, 1500, false);
	struct journal_summary sum;
	struct fault f;
	bed_run(b, 60);
	for (int i = 0; i < 3000; i++) {
		CLEANUP(cleanup_free) char *copy = xmemdup(b->bytes.p, b->bytes.len);
		size_t at = 0;
		for (uint64_t n = below(b, 120); n > 0 && at < b->bytes.len; n--) {
			at += record_size(b->bytes.p + at);
		}
		if (at >= b->bytes.len) {
			continue;
		}
		size_t n = record_size(copy + at) - 8;
		copy[at + 8 + below(b, n)] ^= (char)(1 + below(b, 255));
		cr_assert_eq(
			journal_replay((struct view){copy, b->bytes.len}, VERSION, &sum, &f), -1);
		put_sum(copy + at);
		(void)!journal_replay((struct view){copy, b->bytes.len}, VERSION, &sum, &f);
	}
	bed_free(b);
}

Test(journal, memory_holds_the_last_minutes)
{
	struct bed *b = bed_new(11, 64 * 1024, true);
	CLEANUP(str_finish) struct str bytes = STR_INIT(1u << 20);
	uint64_t before = 0;
	for (int i = 0; i < 20; i++) {
		bed_run(b, 200);
		cr_assert_leq(journal_bytes(b->j), 128u * 1024);
		cr_assert(journal_replayable(b->j));
		str_reset(&bytes);
		journal_dump(b->j, &bytes);
		cr_assert_eq(bytes.len, journal_bytes(b->j));
		struct journal_summary sum = replay((struct view){bytes.p, bytes.len});
		cr_assert_not(sum.diverged, "%s", sum.divergence);
		cr_assert_eq(sum.skipped, 0);
		cr_assert_leq(sum.segments, 2);
		cr_assert_gt(sum.last_mono_ms, (int64_t)before, "it ends with the latest");
		before = (uint64_t)sum.last_mono_ms;
	}
	cr_assert_gt(b->actions, 1000);
	bed_free(b);
}

Test(journal, a_state_that_is_too_large_is_left_out)
{
	struct bed *b = bed_new(11, 4096, true);
	char name[32];
	for (int i = 0; i < 200; i++) {
		snprintf(name, sizeof name, "pod-%d", i);
		struct pod p = {.ns = "default", .name = name, .uid = name, .cpu_milli = 1};
		struct change set = {.type = CHANGE_SET, .kind = KIND_POD, .pod = &p};
		engine_observe(b->e, &set);
	}
	bed_run(b, 100);
	cr_assert_not(journal_replayable(b->j));
	cr_assert_leq(journal_bytes(b->j), 8192u);
	CLEANUP(str_finish) struct str bytes = STR_INIT(1u << 20);
	journal_dump(b->j, &bytes);
	struct journal_summary sum = replay((struct view){bytes.p, bytes.len});
	cr_assert_eq(sum.steps, 0);
	cr_assert_eq(sum.skipped, sum.segments);
	/* One object that no segment can hold is lost, and the journal goes on. */
	char large[6000];
	memset(large, 'x', sizeof large - 1);
	large[sizeof large - 1] = '\0';
	struct pair label = {"key", large};
	struct pod p = {.ns = "d", .name = "large", .uid = "u", .gpus = 1, .labels = {&label, 1}};
	struct change set = {.type = CHANGE_SET, .kind = KIND_POD, .pod = &p};
	engine_observe(b->e, &set);
	bed_run(b, 20);
	cr_assert_leq(journal_bytes(b->j), 8192u);
	bed_free(b);
}
