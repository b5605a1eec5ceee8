/* The random surroundings of journal_bed.h. */
#include "journal_bed.h"

#include <criterion/criterion.h>
#include <stdio.h>

#define NODES 3

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

uint64_t bed_below(struct bed *b, uint64_t n)
{
	return rng_below(&b->rng, n);
}

static struct inject_claim claim_of(const struct obj *o)
{
	struct inject_claim c = o->claim;
	c.node = o->claim_node;
	c.uuid = "GPU-1";
	c.class = o->claim_class;
	c.driver = c.boot = c.runtime = "";
	c.others = &o->other;
	return c;
}

static void fill_probe(struct pod *p, const struct obj *o, const struct inject_claim *claimed)
{
	static struct pair label[] = {{LABEL_PROBE, "env"}};
	static const struct inject_sight sights[] = {{1, "GPU-1"}, {0, ""}};
	p->labels = (struct pairs){label, 1};
	p->owner = (struct owner){"v1", "Pod", o->owner[0], o->owner[1]};
	p->claim = claimed;
	p->sight = o->running ? &sights[o->uid[1] % 2] : NULL;
	p->phase = o->running ? POD_SUCCEEDED : POD_PENDING;
}

void bed_tell_pod(struct bed *b, const struct obj *o)
{
	char rv[16], milli[24];
	snprintf(rv, sizeof rv, "%d", o->rv);
	snprintf(milli, sizeof milli, "%lld", (long long)o->milli);
	struct pair tenant[] = {{LABEL_TENANT, "true"}}, capacity[] = {{LABEL_CAPACITY, "true"}};
	struct pair notes[] = {{NOTE_CAPACITY_POD, (char *)o->holder}, {NOTE_COMPUTE_MILLI, milli},
		{NOTE_GPU_UUID, "GPU-1"}, {NOTE_MEMORY_MIB, "100"}, {NOTE_ORIGINAL, "{}"},
		{NOTE_SHARE, "0.25"}, {NOTE_FRAMEWORK, "JAX"}, {NOTE_FRAMEWORK_MEMORY, "0.1"}};
	uint32_t told = (uint32_t)(o->uid[1] % 2);
	const char *gates[] = {NAME_GATE};
	const char *claim = "data";
	struct amount amount = {"example.com/fpga", 1};
	struct host_port port = {8080, "TCP", ""};
	struct gpu_identity id = {.uuid = "GPU-1", .mem_mib = 80000};
	const struct inject_claim claimed = claim_of(o);
	struct pod p = {.ns = o->ns,
		.name = o->name,
		.uid = o->uid,
		.resource_version = rv,
		.created_ms = 1000 + o->uid[1],
		.node = o->node,
		.cpu_milli = 10,
		.mem_bytes = 100,
		.priority = o->uid[1] % 3,
		.unschedulable = o->uid[1] % 5 == 0,
		.owner = {.uid = o->uid[1] % 2 == 0 ? "owner" : NULL},
		.phase = o->running ? POD_RUNNING : POD_PENDING};
	if (o->capacity) {
		p.labels = (struct pairs){capacity, 1};
		p.gpus = 1;
		p.identity = o->running ? &id : NULL;
		p.holds = o->running;
		p.ledger = (struct ledger){(struct grant *)o->grants, o->grant_count};
		p.runtime_class = "nvidia";
		p.claim = o->claim_node[0] != '\0' ? &claimed : NULL;
	} else if (o->probe) {
		fill_probe(&p, o, &claimed);
	} else if (o->whole) {
		p.gpus = (int64_t)(o->rv % 3);
		p.unschedulable = o->rv % 2 == 0;
		p.claims = &claim;
		p.claim_count = (uint32_t)o->uid[1] % 3 == 0 ? 1 : 0;
	} else {
		p.labels = (struct pairs){tenant, 1};
		p.notes = o->gated ? (struct pairs){notes + 4, 2 + told}
				   : (struct pairs){notes, 6 + 2 * told};
		/* Some name a volume, some take more of their node than CPU and memory. */
		p.claims = &claim;
		p.claim_count = (uint32_t)o->uid[1] % 3 == 0 ? 1 : 0;
		p.extra =
			(struct extra){{&amount, (uint32_t)o->uid[1] % 2}, {&port, p.claim_count}};
		p.gates = gates;
		p.gate_count = o->gated ? 1 : 0;
		p.gpu_oom_ms = o->rv % 3 == 0 ? b->now : 0;
		p.told_overuse = o->rv % 5 == 0;
		p.told_contention = o->rv % 7 == 0;
		pairs_sort(&p.notes);
	}
	struct change set = {.type = CHANGE_SET, .kind = KIND_POD, .pod = &p};
	engine_observe(b->e, &set);
}

struct obj *bed_pod_add(struct bed *b, const char *ns, const char *name)
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

int bed_pod_find(const struct bed *b, const char *ns, const char *name)
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
	struct amount others = {"example.com/fpga", 2};
	struct node n = {.name = name,
		.others = {&others, 1},
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
	struct change c = {.type = type, .kind = kind, .no_sweep = bed_below(b, 3) == 0};
	engine_observe(b->e, &c);
}

static void lead(struct bed *b, bool leads)
{
	struct change c = {.type = CHANGE_LEADER, .leads = leads};
	engine_observe(b->e, &c);
}

static void reach(struct bed *b, bool reached)
{
	struct change c = {.type = CHANGE_REACH, .reached = reached, .unsure = !reached};
	engine_observe(b->e, &c);
}

/* Somebody should have another share, or nobody knows whom that was about. */
static void tell_share(struct bed *b)
{
	char uid[24];
	snprintf(uid, sizeof uid, "u%d", (int)bed_below(b, 60));
	struct change c = {.type = CHANGE_SHARE,
		.uid = uid,
		.milli = (int64_t)bed_below(b, 12) * 100,
		.mem_mib = (int64_t)bed_below(b, 12) * 4000};
	engine_observe(b->e, &c);
}

static void tell_avoidance(struct bed *b)
{
	char uid[24];
	snprintf(uid, sizeof uid, "u%d", (int)bed_below(b, 60));
	struct change c = {.type = CHANGE_AVOID_GPU,
		.uid = uid,
		.for_ms = 1000 + (int64_t)bed_below(b, 60000)};
	engine_observe(b->e, &c);
}

/* A former leader remembers it. */
static void tell_heard(struct bed *b)
{
	struct heard h = {.uuid = bed_below(b, 2) == 0 ? "GPU-1" : "GPU-2",
		.node = bed_below(b, 2) == 0 ? "n0" : "n1",
		.why = "XID 79",
		.by = "b"};
	struct change c = {.type = CHANGE_HEARD, .heard = &h};
	engine_observe(b->e, &c);
}

static void tell_class(struct bed *b)
{
	struct pair label = {"zone", bed_below(b, 2) == 0 ? "a" : "b"};
	struct runtime_class class = {.cpu_milli = (int64_t)bed_below(b, 100),
		.selector = {&label, bed_below(b, 3) == 0 ? 1 : 0}};
	struct change c = {.type = CHANGE_RUNTIME, .runtime = bed_below(b, 3) > 0 ? &class : NULL};
	engine_observe(b->e, &c);
}

/* What was read of the claim that some tenants name. */
static void tell_claim(struct bed *b)
{
	const char *zones[] = {"a"};
	struct term zone = {"zone", TERM_IN, zones, 1};
	struct node_term term = {.labels = {&zone, 1}};
	struct volume_claim claim = {.ns = "default",
		.name = "data",
		.state = (enum claim_state)bed_below(b, CLAIM_STATES),
		.terms = &term,
		.term_count = bed_below(b, 4) == 0 ? 1 : 0};
	struct change c = {.type = CHANGE_SET, .kind = KIND_CLAIM, .claim = &claim};
	engine_observe(b->e, &c);
}

/* The quotas of one namespace, with and without a scope, so that pods come and go in them. */
static void tell_quota(struct bed *b)
{
	const char *classes[] = {"high"};
	struct term scope = {bed_below(b, 2) == 0 ? "PriorityClass" : "NotBestEffort",
		bed_below(b, 2) == 0 ? TERM_NOT_IN : TERM_IN, classes, 1};
	struct quota q = {.ns = "default",
		.name = bed_below(b, 2) == 0 ? "q" : "r",
		.bounds_gpus = bed_below(b, 4) > 0,
		.hard_milli = (int64_t)bed_below(b, 8) * 500,
		.scopes = {&scope, bed_below(b, 2) == 0 ? 1 : 0}};
	struct change c = {.type = bed_below(b, 4) == 0 ? CHANGE_GONE : CHANGE_SET,
		.kind = KIND_QUOTA,
		.quota = &q,
		.ns = q.ns,
		.name = q.name};
	engine_observe(b->e, &c);
}

/* An agent tells of its node: devices that are well or not, and who may still use one. */
static void tell_state(struct bed *b)
{
	struct device_state device = {.uuid = "GPU-1",
		.why = bed_below(b, 2) == 0 ? "XID 79" : NULL,
		.total_mib = 81920,
		.used_mib = (int64_t)bed_below(b, 81920),
		.mps = (enum mps_state)bed_below(b, MPS_STATES)};
	const char *pods[] = {"u1", "u2", "u3"};
	const char *node = bed_below(b, 2) == 0 ? "n0" : "n1";
	struct pod_use uses[PODS_MAX];
	uint32_t count = 0;
	for (int i = 0; i < PODS_MAX; i++) {
		const struct obj *o = &b->pods[i];
		if (o->exists && !o->capacity && strcmp(o->node, node) == 0) {
			uses[count++] = (struct pod_use){
				o->uid, "GPU-1", (int64_t)bed_below(b, 400) - 1, 1};
		}
	}
	if (bed_below(b, 2) == 0) {
		device.used_mib = device.total_mib;
	}
	struct node_state s = {.node = node,
		.boot = "b",
		.sequence = 1,
		.seen_ms = b->now - (int64_t)bed_below(b, 3000),
		.again = bed_below(b, 3) == 0,
		.devices = &device,
		.device_count = 1,
		.pods = pods,
		.pod_count = (uint32_t)bed_below(b, 4),
		.uses = uses,
		.use_count = count};
	struct change c = {.type = bed_below(b, 8) == 0 ? CHANGE_GONE : CHANGE_SET,
		.kind = KIND_STATE,
		.state = &s,
		.name = s.node};
	engine_observe(b->e, &c);
}

/* Policies, namespaces, limit ranges: come, change and go. */
static void small_object(struct bed *b)
{
	static const char *const names[] = {"a", "b", "c", "d"};
	const char *name = names[bed_below(b, COUNT_OF(names))];
	bool goes = bed_below(b, 3) == 0;
	struct policy policy = {.name = name,
		.uid = name,
		.priority = (int32_t)bed_below(b, 3),
		.has_selector = true,
		.generation = (int64_t)bed_below(b, 5),
		.memory_overuse = bed_below(b, 2) == 0 ? OVERUSE_REPORT : OVERUSE_EVICT,
		.max_tenants = 16};
	struct namespace ns = {.name = name, .terminating = bed_below(b, 2) == 0};
	struct limit_range range = {.ns = name, .name = "l", .limits_gpus = bed_below(b, 2) == 0};
	struct change c = {.type = goes ? CHANGE_GONE : CHANGE_SET,
		.kind = KIND_POLICY,
		.policy = &policy,
		.namespace = &ns,
		.limit_range = &range,
		.ns = name,
		.name = name};
	struct gpu_slice slice = {name, bed_below(b, 2) == 0 ? "n0" : "n1"};
	c.slice = &slice;
	uint64_t which = bed_below(b, 7);
	if (which == 6) {
		tell_state(b);
		return;
	}
	if (which == 3 || which == 5) {
		(which == 3 ? tell_claim : tell_quota)(b);
		return;
	}
	c.kind = which == 0   ? KIND_POLICY
		 : which == 1 ? KIND_NAMESPACE
		 : which == 2 ? KIND_LIMIT_RANGE
			      : KIND_SLICE;
	c.name = c.kind == KIND_LIMIT_RANGE ? "l" : name;
	engine_observe(b->e, &c);
}

/* The write happens in our table, and the watch may or may not tell of it at once. */
static void keep_claim(struct obj *o, const struct inject_claim *claim)
{
	if (claim != NULL) {
		o->claim.form = claim->form;
		/* There is but one class beside theirs: none. */
		o->claim.other_count = claim->other_count > 0 ? 1 : 0;
		o->other = (struct inject_class){
			"", claim->other_count > 0 ? claim->others[0].form : INJECT_ENV};
		snprintf(o->claim_node, sizeof o->claim_node, "%s", claim->node);
		snprintf(o->claim_class, sizeof o->claim_class, "%s", claim->class);
	}
}

void bed_carry_out(struct bed *b, const struct action *a, int at)
{
	struct obj *o = at >= 0 ? &b->pods[at] : NULL;
	if (a->type == ACTION_CREATE_CAPACITY && o == NULL) {
		o = bed_pod_add(b, NAME_NAMESPACE, a->name);
		if (o != NULL) {
			keep_claim(o, a->claim);
			o->probe = a->claim != NULL;
			snprintf(o->owner[0], sizeof o->owner[0], "%s",
				text_or(a->capacity_pod, ""));
			snprintf(o->owner[1], sizeof o->owner[1], "%s", text_or(a->uid, ""));
			o->capacity = !o->probe;
			o->running = bed_below(b, 4) > 0;
			snprintf(o->node, sizeof o->node, "%s", a->node);
		}
	} else if (a->type == ACTION_GRANT && o != NULL) {
		keep_claim(o, a->claim);
		o->grant_count = a->ledger.count;
		for (uint32_t i = 0; i < a->ledger.count; i++) {
			snprintf(o->grant_uids[i], sizeof o->grant_uids[i], "%s",
				a->ledger.items[i].uid);
			o->grants[i] = (struct grant){o->grant_uids[i], "default", "x",
				a->ledger.items[i].milli, a->ledger.items[i].mem_mib};
		}
	} else if (a->type == ACTION_RESIZE && o != NULL) {
		o->milli = a->milli;
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
	} else if (bed_below(b, 3) > 0) {
		bed_tell_pod(b, o);
	}
}

void bed_settle(struct bed *b, const struct waiting_outcome *w)
{
	struct outcome out = {0};
	char rv[16];
	struct pod answer = {0};
	if (!w->succeeded) {
		out.fault.kind = bed_below(b, 2) == 0 ? FAULT_CONFLICT : FAULT_TRANSIENT;
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
		int at = bed_pod_find(b, a->ns, a->name);
		struct waiting_outcome w = {.id = a->id,
			.succeeded = bed_below(b, 10) > 1,
			.unknown = bed_below(b, 2) == 0,
			.answered = bed_below(b, 8) > 0};
		if (w.succeeded || w.unknown) {
			bed_carry_out(b, a, at);
		}
		w.pod = bed_pod_find(b, a->ns, a->name);
		b->actions++;
		if (b->late_count < COUNT_OF(b->late) && bed_below(b, 2) == 0) {
			b->late[b->late_count++] = w;
		} else {
			bed_settle(b, &w);
		}
	}
	while (b->late_count > 0 && bed_below(b, 2) == 0) {
		size_t i = bed_below(b, b->late_count);
		bed_settle(b, &b->late[i]);
		b->late[i] = b->late[--b->late_count];
	}
}

/* One thing that watches say. */
static void happen(struct bed *b)
{
	char name[32];
	uint64_t what = bed_below(b, 40);
	struct obj *o = &b->pods[bed_below(b, PODS_MAX)];
	if (what < 10) {
		snprintf(name, sizeof name, "t%d", b->uids);
		o = bed_pod_add(b, "default", name);
		if (o != NULL) {
			o->gated = what < 7;
			o->whole = what >= 7;
			snprintf(o->node, sizeof o->node, "%s", o->whole ? "n9" : "");
			bed_tell_pod(b, o);
		}
	} else if (what < 16 && o->exists) {
		o->exists = o->capacity && bed_below(b, 3) > 0;
		struct change gone = {
			.type = CHANGE_GONE, .kind = KIND_POD, .ns = o->ns, .name = o->name};
		engine_observe(b->e, &gone);
	} else if (what < 26 && o->exists) {
		o->running |= bed_below(b, 2) == 0;
		bed_tell_pod(b, o);
	} else if (what < 30) {
		small_object(b);
	} else if (what < 32) {
		tell_node(b, (int)bed_below(b, NODES), bed_below(b, 8) > 0);
	} else if (what == 32) {
		tell_kind(b, CHANGE_STALE, (enum kind)bed_below(b, KIND_ENGINE));
	} else if (what == 33) {
		tell_kind(b, CHANGE_RELIST_BEGIN, (enum kind)bed_below(b, KIND_ENGINE));
	} else if (what == 34 && o->exists) {
		struct change keep = {.type = CHANGE_KEEP,
			.kind = KIND_POD,
			.ns = o->ns,
			.name = bed_below(b, 4) > 0 ? o->name : NULL};
		engine_observe(b->e, &keep);
	} else if (what == 35) {
		lead(b, bed_below(b, 4) > 0);
		reach(b, bed_below(b, 4) > 0);
		tell_class(b);
		tell_share(b);
		tell_avoidance(b);
		tell_heard(b);
	} else {
		for (int k = 0; k < KIND_ENGINE; k++) {
			tell_kind(b, what < 38 ? CHANGE_RELIST_END : CHANGE_FRESH, (enum kind)k);
		}
		lead(b, true);
	}
}

struct bed *bed_new(uint64_t seed, size_t segment_bytes, bool in_memory)
{
	struct bed *b = xcalloc(1, sizeof *b);
	struct journal_sink sink = {b, sink_begin, sink_write};
	struct journal_config jc = {.version = BED_VERSION,
		.sink = in_memory ? NULL : &sink,
		.segment_bytes = segment_bytes};
	struct engine_config ec = {.check_every = 1,
		.idle_grace_ms = 5000,
		.runtime_class = "nvidia",
		.injection = seed % 2 == 0 ? "probe" : NULL};
	b->bytes = (struct str)STR_INIT(64u << 20);
	b->now = 1000;
	rng_seed(&b->rng, seed);
	b->e = engine_create(&ec, seed);
	b->j = journal_create(&jc);
	engine_record(b->e, b->j);
	for (int k = 0; k < KIND_ENGINE; k++) {
		tell_kind(b, CHANGE_RELIST_BEGIN, (enum kind)k);
		tell_kind(b, CHANGE_RELIST_END, (enum kind)k);
	}
	for (int i = 0; i < NODES; i++) {
		tell_node(b, i, true);
	}
	lead(b, true);
	reach(b, true);
	return b;
}

void bed_run(struct bed *b, int turns)
{
	for (int i = 0; i < turns; i++) {
		for (uint64_t n = bed_below(b, 4); n > 0; n--) {
			happen(b);
		}
		/* A budget that cuts steps, sometimes. */
		uint32_t budget = bed_below(b, 3) == 0 ? 1 + (uint32_t)bed_below(b, 12) : 100000;
		engine_step(b->e, (struct engine_now){b->now, b->now + 7}, budget, &b->plan);
		cr_assert_null(engine_differs(b->e), "%s", engine_differs(b->e));
		act(b);
		b->now += bed_below(b, 20) == 0 ? 15000 : 50 * (1 + (int64_t)bed_below(b, 10));
	}
	journal_flush(b->j);
}

void bed_free(struct bed *b)
{
	engine_destroy(b->e);
	journal_destroy(b->j);
	plan_finish(&b->plan);
	str_finish(&b->bytes);
	free(b);
}

struct journal_summary bed_replay(struct view bytes)
{
	struct journal_summary sum = {0};
	struct fault f = {0};
	int rc = journal_replay(bytes, BED_VERSION, &sum, &f);
	cr_assert_eq(rc, 0, "%s", f.message);
	return sum;
}

struct view bed_bytes(const struct bed *b)
{
	return (struct view){str_text(&b->bytes), b->bytes.len};
}
