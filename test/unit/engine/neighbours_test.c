/* What pods require of each other: spread, affinity and anti-affinity over zones, judged before the
 * pin, after which the scheduler counts the pinned node alone. */
#include "odd_bed.h"

static void tell_zoned(struct bed *b, const char *name, const char *zone, int64_t gpus)
{
	struct pair labels[] = {{"pool", "x"}, {"zone", zone}};
	struct node n = {.name = name,
		.labels = {labels, zone != NULL ? 2 : 1},
		.ready = true,
		.cpu_milli = 64000,
		.mem_bytes = (int64_t)1 << 40,
		.pod_slots = 110,
		.gpus = gpus};
	struct change set = {.type = CHANGE_SET, .kind = KIND_NODE, .node = &n};
	engine_observe(b->e, &set);
}

struct replica {
	const char *name, *app;
	const char *node; /* NULL: it waits */
	struct neighbour_term *term;
	bool leaves, selects;
};

static void tell_replica(struct bed *b, const struct replica *r)
{
	struct pair labels[] = {{LABEL_TENANT, "true"}, {"app", r->app}};
	struct pair notes[] = {{NOTE_ORIGINAL, "{}"}, {NOTE_SHARE, "0.25"}};
	struct pair pool[] = {{"pool", "x"}, {"zone", "a"}};
	const char *gate[] = {NAME_GATE};
	struct pod p = {.ns = "default",
		.name = r->name,
		.uid = r->name,
		.node = r->node,
		.deleting_ms = r->leaves ? 1 : 0,
		.phase = r->node != NULL ? POD_RUNNING : POD_PENDING,
		.labels = {labels, 2},
		.notes = {notes, 2},
		.gates = gate,
		.gate_count = r->node != NULL ? 0 : 1,
		.node_selector = {pool + 1, r->selects ? 1 : 0},
		.neighbours = r->term,
		.neighbour_count = r->term != NULL ? 1 : 0};
	pairs_sort(&p.labels);
	tell_pod(b, &p);
}

static const char *said(struct bed *b, enum reason reason)
{
	b->now += 11000;
	const struct action *a = step(b, ACTION_CONDITION);
	cr_assert_not_null(a, "no condition");
	cr_expect_eq(a->reason, reason, "%s", reason_name(a->reason));
	return a->message;
}

static struct pair web[] = {{"app", "web"}}, db[] = {{"app", "db"}};

static struct neighbour_term over_zones(int32_t skew)
{
	return (struct neighbour_term){.kind = NEIGHBOUR_SPREAD,
		.key = "zone",
		.max_skew = skew,
		.pods = {.present = true, .match_labels = {web, 1}}};
}

/* Three zones of one node each; the first has most GPUs taken, so best fit begins there. */
static struct bed three_zones(void)
{
	struct bed b = bed_make();
	tell_zoned(&b, "n0", "a", 1);
	tell_zoned(&b, "n1", "b", 2);
	tell_zoned(&b, "n2", "c", 3);
	return b;
}

/* Where a GPU is opened for it; NULL: nowhere. */
static const char *opened(struct bed *b)
{
	const struct action *a = step(b, ACTION_CREATE_CAPACITY);
	return a != NULL ? a->node : NULL;
}

static void expect_on(struct bed *b, const char *node, const char *what)
{
	const char *on = opened(b);
	cr_expect(text_equals(on, node), "%s: on %s", what, text_or(on, "none"));
	bed_finish(b);
}

Test(neighbours, replicas_spread_over_zones)
{
	struct neighbour_term spread = over_zones(1);
	struct bed b = three_zones();
	for (int i = 0; i < 3; i++) {
		static const char *const names[] = {"r0", "r1", "r2"};
		tell_replica(
			&b, &(struct replica){.name = names[i], .app = "web", .term = &spread});
	}
	(void)opened(&b);
	int zones[3] = {0};
	vec_for_each (const struct action, a, &b.plan.actions) {
		if (a->type == ACTION_CREATE_CAPACITY) {
			zones[a->node[1] - '0']++;
		}
	}
	cr_expect(zones[0] == 1 && zones[1] == 1 && zones[2] == 1, "%d %d %d", zones[0], zones[1],
		zones[2]);
	bed_finish(&b);
}

Test(neighbours, a_spread_counts_as_the_scheduler_does)
{
	static const struct {
		const char *what;
		const char *app;  /* of the one that runs in zone a */
		const char *zone; /* of a node without a GPU; NULL: there is none */
		int32_t skew, min;
		bool leaves, selects, any, tainted;
		const char *on;
	} rows[] = {
		{"one more than elsewhere is too much", "web", NULL, 1, 0, false, false, false,
			false, "n1"},
		{"a skew of two", "web", NULL, 2, 0, false, false, false, false, "n0"},
		{"another workload", "db", NULL, 1, 0, false, false, false, false, "n0"},
		{"one that leaves", "web", NULL, 1, 0, true, false, false, false, "n0"},
		{"its selector leaves one zone", "web", NULL, 1, 0, false, true, false, false,
			"n0"},
		{"unless all nodes count", "web", NULL, 1, 0, false, true, true, false, NULL},
		{"more zones are wanted than there are", "web", NULL, 1, 4, false, true, false,
			false, NULL},
	};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct neighbour_term spread = over_zones(rows[i].skew);
		struct bed b = three_zones();
		spread.min_domains = rows[i].min;
		spread.any_node = rows[i].any;
		tell_replica(&b, &(struct replica){.name = "runs",
					 .app = rows[i].app,
					 .node = "n0",
					 .leaves = rows[i].leaves});
		tell_replica(&b, &(struct replica){.name = "waits",
					 .app = "web",
					 .term = &spread,
					 .selects = rows[i].selects});
		expect_on(&b, rows[i].on, rows[i].what);
	}
}

/* Its pin is written and the scheduler has not bound it yet: it is where its GPU is told. */
Test(neighbours, one_that_is_placed_counts_before_it_is_bound)
{
	struct neighbour_term spread = over_zones(1);
	struct bed b = three_zones();
	struct grant held[] = {{"placed", "default", "placed", 250, 1000}};
	struct pair labels[] = {{LABEL_TENANT, "true"}, {"app", "web"}};
	struct pair notes[] = {{NOTE_CAPACITY_POD, "cap"}, {NOTE_COMPUTE_MILLI, "250"},
		{NOTE_GPU_UUID, "GPU-A"}, {NOTE_MEMORY_MIB, "1000"}};
	struct pod placed = {.ns = "default",
		.name = "placed",
		.uid = "placed",
		.phase = POD_PENDING,
		.labels = {labels, 2},
		.notes = {notes, 4}};
	pairs_sort(&placed.labels);
	tell_capacity(&b, &(struct cap){"cap", "cap-uid", "GPU-A", false, {held, 1}});
	tell_pod(&b, &placed);
	tell_replica(&b, &(struct replica){.name = "waits", .app = "web", .term = &spread});
	expect_on(&b, "n1", "its zone has one");
}

/* A zone without any GPU is a zone all the same: it has the fewest. */
Test(neighbours, zones_without_gpus_count)
{
	struct neighbour_term spread = over_zones(1);
	struct bed b = bed_make();
	tell_zoned(&b, "n0", "a", 2);
	tell_zoned(&b, "cpu", "b", 0);
	tell_replica(&b, &(struct replica){.name = "runs", .app = "web", .node = "n0"});
	tell_replica(&b, &(struct replica){.name = "waits", .app = "web", .term = &spread});
	cr_expect_null(opened(&b));
	const char *text = said(&b, REASON_NODE_UNFIT);
	cr_expect_not_null(strstr(text, "1 node would break its topology spread"), "%s", text);
	bed_finish(&b);
}

/* Once pinned the pod has one zone, of which the scheduler takes the fewest for none. */
Test(neighbours, what_the_scheduler_would_refuse_once_it_is_pinned)
{
	struct neighbour_term spread = over_zones(1);
	struct bed b = bed_make();
	spread.min_domains = 2;
	tell_zoned(&b, "n0", "a", 2);
	tell_zoned(&b, "n1", "b", 2);
	tell_zoned(&b, "n2", "a", 3);
	tell_replica(&b, &(struct replica){.name = "r0", .app = "web", .node = "n0"});
	tell_replica(&b, &(struct replica){.name = "r1", .app = "web", .node = "n1"});
	tell_replica(&b, &(struct replica){.name = "waits", .app = "web", .term = &spread});
	expect_on(&b, "n2", "the others have one each");
}

Test(neighbours, a_node_without_the_label_takes_none_that_spreads)
{
	struct neighbour_term spread = over_zones(1);
	struct bed b = bed_make();
	tell_zoned(&b, "n0", NULL, 1);
	tell_zoned(&b, "n1", "a", 2);
	tell_replica(&b, &(struct replica){.name = "waits", .app = "web", .term = &spread});
	expect_on(&b, "n1", "the other has no zone");
}

Test(neighbours, anti_affinity_over_zones_goes_both_ways)
{
	struct neighbour_term apart = {
		.key = "zone", .pods = {.present = true, .match_labels = {web, 1}}};
	for (int i = 0; i < 3; i++) {
		struct bed b = bed_make();
		tell_zoned(&b, "n0", "a", 1);
		tell_zoned(&b, "n1", "a", 2);
		tell_zoned(&b, "n2", "b", 3);
		tell_replica(&b, &(struct replica){.name = "runs",
					 .app = "web",
					 .node = "n1",
					 .term = i == 0 ? &apart : NULL});
		tell_replica(
			&b, &(struct replica){
				    .name = "waits", .app = "web", .term = i == 1 ? &apart : NULL});
		expect_on(&b, i < 2 ? "n2" : "n0", i < 2 ? "apart" : "nobody minds");
	}
}

Test(neighbours, affinity_goes_where_the_others_are)
{
	static const struct {
		const char *what, *runs;
		struct pair *wants;
		const char *on;
	} rows[] = {
		{"beside its own kind", "web", web, "n2"},
		{"the first of its kind", "db", web, "n0"},
		{"beside another kind", "db", db, "n2"},
		{"of a kind that nobody knows: the scheduler's", "web", db, "n0"},
	};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct neighbour_term beside = {.kind = NEIGHBOUR_BESIDE,
			.key = "zone",
			.pods = {.present = true, .match_labels = {rows[i].wants, 1}}};
		struct bed b = three_zones();
		tell_replica(
			&b, &(struct replica){.name = "runs", .app = rows[i].runs, .node = "n2"});
		tell_replica(&b, &(struct replica){.name = "waits", .app = "web", .term = &beside});
		expect_on(&b, rows[i].on, rows[i].what);
	}
}
