/* A watch that is steadily behind, while tenants come and soon go again: whoever stays is told all
 * the same. A cluster of one node is played: writes are done at once, and heard of later. */
#include "evict_bed.h"

#define GPUS	 4
#define TICK_MS	 20
#define EVERY_MS 500
#define LIFE_MS	 1500 /* of most of them */
#define STAYS	 10   /* each tenth stays */
#define TENANTS	 120
#define NEWS_MAX 4096

enum what { COMES, GOES, LEDGER, RUNS };

/* What happened, and has not been heard of yet. */
struct news {
	int64_t at;
	enum what what;
	int who, rv; /* a tenant, or the GPU of a ledger */
	uint32_t count;
	int tenants[MODEL_GRANTS_MAX];
	int64_t mib[MODEL_GRANTS_MAX];
};

struct played {
	struct bed b;
	struct news news[NEWS_MAX];
	size_t first, count;
	int64_t behind_ms;
	int rv, ledger_rv[GPUS];
	bool gone[TENANTS];
	int64_t heard_at[TENANTS], told_at[TENANTS], mib[TENANTS];
	int gpu[TENANTS];
};

static int number_of(const char *name)
{
	int64_t n;
	cr_assert(parse_i64(view_of(name + 1), 0, TENANTS, &n));
	return (int)n;
}

static struct news *happens(struct played *p, enum what what, int who)
{
	cr_assert_lt(p->count, NEWS_MAX);
	struct news *n = &p->news[p->count++];
	*n = (struct news){.at = p->b.now + p->behind_ms, .what = what, .who = who, .rv = ++p->rv};
	return n;
}

static void tell_one(struct played *p, const struct news *n)
{
	char name[16], holder[16], uuid[16], mib[24];
	char names[MODEL_GRANTS_MAX][16];
	struct grant entries[MODEL_GRANTS_MAX];
	int gpu = n->what == LEDGER ? n->who : p->gpu[n->who];
	snprintf(name, sizeof name, "t%d", n->who);
	snprintf(holder, sizeof holder, "c%d", gpu);
	snprintf(uuid, sizeof uuid, "G%d", gpu);
	p->b.rv = n->rv - 1;
	if (n->what == COMES) {
		p->heard_at[n->who] = p->b.now;
		tell_waiting(&p->b, name, "0.1");
	} else if (n->what == LEDGER) {
		for (uint32_t i = 0; i < n->count; i++) {
			snprintf(names[i], sizeof names[i], "t%d", n->tenants[i]);
			entries[i] = (struct grant){names[i], "default", names[i], 100, n->mib[i]};
		}
		tell_capacity(
			&p->b, &(struct cap){holder, holder, uuid, false, {entries, n->count}});
	} else if (!p->gone[n->who]) {
		bool goes = n->what == GOES;
		snprintf(mib, sizeof mib, "%lld", (long long)p->mib[n->who]);
		if (p->told_at[n->who] != 0) {
			struct tenant t = {.name = name,
				.milli = "100",
				.mib = mib,
				.node = "n0",
				.deleting = goes,
				.holder = holder,
				.uuid = uuid};
			tell_tenant(&p->b, &t);
		}
		if (goes) {
			p->gone[n->who] = true;
			tell_gone(&p->b, "default", name);
		}
	}
}

static void answer(struct played *p, const struct action *a, const char *uid, int rv)
{
	char version[16];
	snprintf(version, sizeof version, "%d", rv);
	struct pod pod = {.uid = uid, .resource_version = version, .phase = POD_RUNNING};
	struct outcome o = {.pod = &pod};
	engine_settle(p->b.e, (struct engine_now){p->b.now, p->b.now}, a->id, &o);
}

static void write_ledger(struct played *p, const struct action *a)
{
	int gpu = number_of(a->name);
	char version[16];
	snprintf(version, sizeof version, "%d", p->ledger_rv[gpu]);
	cr_assert_str_eq(a->resource_version, version, "nobody else writes there");
	struct news *n = happens(p, LEDGER, gpu);
	n->count = a->ledger.count;
	for (uint32_t i = 0; i < n->count; i++) {
		n->tenants[i] = number_of(a->ledger.items[i].name);
		n->mib[i] = a->ledger.items[i].mem_mib;
	}
	p->ledger_rv[gpu] = n->rv;
	answer(p, a, a->name, n->rv);
}

static void place(struct played *p, const struct action *a)
{
	int who = number_of(a->name);
	p->told_at[who] = p->b.now;
	p->gpu[who] = number_of(a->capacity_pod);
	p->mib[who] = a->mem_mib;
	answer(p, a, a->name, happens(p, RUNS, who)->rv);
}

static void tick(struct played *p)
{
	for (; p->first < p->count && p->news[p->first].at <= p->b.now; p->first++) {
		tell_one(p, &p->news[p->first]);
	}
	(void)step(&p->b, ACTION_GRANT);
	vec_for_each (const struct action, a, &p->b.plan.actions) {
		if (a->type == ACTION_GRANT) {
			write_ledger(p, a);
		} else if (a->type == ACTION_PLACE) {
			place(p, a);
		}
	}
}

/* How long the slowest of those who stay has waited since it was heard of. */
static int64_t slowest_ms(int64_t behind_ms)
{
	static struct played p;
	p = (struct played){.b = bed_make(), .behind_ms = behind_ms};
	tell_node(&p.b, "n0", GPUS, 500);
	for (int i = 0; i < GPUS; i++) {
		char name[16], uuid[16];
		snprintf(name, sizeof name, "c%d", i);
		snprintf(uuid, sizeof uuid, "G%d", i);
		tell_capacity(&p.b, &(struct cap){name, name, uuid, false, {0}});
		p.ledger_rv[i] = p.b.rv;
	}
	p.rv = p.b.rv;
	int64_t began = p.b.now, end = began + (int64_t)TENANTS * EVERY_MS + 30000;
	for (; p.b.now < end; p.b.now += TICK_MS) {
		int64_t ago = p.b.now - began;
		int newest = (int)(ago / EVERY_MS), oldest = (int)((ago - LIFE_MS) / EVERY_MS);
		if (ago % EVERY_MS == 0 && newest < TENANTS) {
			(void)happens(&p, COMES, newest);
		}
		if (ago >= LIFE_MS && (ago - LIFE_MS) % EVERY_MS == 0 && oldest < TENANTS &&
			oldest % STAYS != 0) {
			(void)happens(&p, GOES, oldest);
		}
		tick(&p);
	}
	int64_t slowest = 0;
	for (int i = 0; i < TENANTS; i += STAYS) {
		cr_assert_neq(p.told_at[i], 0, "t%d is never told its share", i);
		int64_t took = p.told_at[i] - p.heard_at[i];
		slowest = took > slowest ? took : slowest;
	}
	bed_finish(&p.b);
	return slowest;
}

Test(lag, whoever_stays_is_told_after_a_turn_of_the_watch)
{
	cr_expect_leq(slowest_ms(100), 100 + TICK_MS);
	cr_expect_leq(slowest_ms(1000), 1000 + TICK_MS);
	cr_expect_leq(slowest_ms(1500), 1500 + TICK_MS);
}

/* Nobody is told while something has been owed for two seconds (C21), nor given anything that it
 * would be told after that. */
Test(lag, c21_and_after_three_where_that_takes_longer_than_two_seconds)
{
	cr_expect_leq(slowest_ms(3000), 3 * 3000);
	cr_expect_leq(slowest_ms(8000), 3 * 8000);
}
