/* C11: a GPU is found again by a capacity pod of its tenants' mode alone. `m` is a client of MPS on
 * GPU-A, `n` and `o` run without on GPU-B and GPU-C. */
#include "engine/journal.h"
#include "odd_bed.h"

static void tell_tenant(struct bed *b, const char *name, const char *uuid, bool mps)
{
	struct pair label[] = {{LABEL_TENANT, "true"}};
	struct pair notes[] = {{NOTE_CAPACITY_POD, "cap-of-old"}, {NOTE_COMPUTE_MILLI, "300"},
		{NOTE_GPU_UUID, (char *)(uintptr_t)uuid}, {NOTE_MEMORY_MIB, "20000"},
		{NOTE_ISOLATION, mps ? ISOLATION_MPS_TEXT : ISOLATION_NONE_TEXT}};
	struct pod p = {.ns = "default",
		.name = name,
		.uid = name,
		.node = "n0",
		.phase = POD_RUNNING,
		.labels = {label, 1},
		.notes = {notes, 5}};
	tell_pod(b, &p);
}

static struct bed bed_of_both(void)
{
	struct bed b = bed_make();
	tell_node(&b, "n0", 3, 110);
	tell_tenant(&b, "m", "GPU-A", true);
	tell_tenant(&b, "n", "GPU-B", false);
	tell_tenant(&b, "o", "GPU-C", false);
	return b;
}

static void settle(struct bed *b, uint64_t id, const char *uid)
{
	struct pod answer = {.uid = uid, .resource_version = "1000", .phase = POD_RUNNING};
	struct outcome o = {.pod = uid != NULL ? &answer : NULL};
	engine_settle(b->e, (struct engine_now){b->now, b->now}, id, &o);
}

static int count(const struct bed *b, enum action_type type)
{
	int n = 0;
	vec_for_each (const struct action, a, &b->plan.actions) {
		n += a->type == type ? 1 : 0;
	}
	return n;
}

struct made {
	char name[64];
	bool mps;
};

/* What the plan asks for is made and has its node, and tells no GPU yet. */
static int make_all(struct bed *b, struct made made[4])
{
	uint64_t ids[4];
	int n = 0;
	vec_for_each (const struct action, a, &b->plan.actions) {
		if (a->type == ACTION_CREATE_CAPACITY) {
			cr_assert_lt(n, 4);
			ids[n] = a->id;
			made[n].mps = a->mps;
			snprintf(made[n++].name, sizeof made[0].name, "%s", a->name);
		}
	}
	for (int i = 0; i < n; i++) {
		settle(b, ids[i], made[i].name);
		struct cap cap = {made[i].name, made[i].name, NULL, false, {0}};
		tell_capacity_of(b, &cap, made[i].mps);
	}
	return n;
}

static void tell_uuid(struct bed *b, const struct made *made, const char *uuid)
{
	struct cap cap = {made->name, made->name, uuid, false, {0}};
	tell_capacity_of(b, &cap, made->mps);
}

static const struct action *grant_to(const struct bed *b, const char *uid)
{
	vec_for_each (const struct action, a, &b->plan.actions) {
		for (uint32_t i = 0; a->type == ACTION_GRANT && i < a->ledger.count; i++) {
			if (strcmp(a->ledger.items[i].uid, uid) == 0) {
				return a;
			}
		}
	}
	return NULL;
}

static bool steps_until(struct bed *b, enum action_type type, int64_t ms)
{
	for (int64_t end = b->now + ms; b->now <= end; b->now += 100) {
		if (step(b, type) != NULL) {
			return true;
		}
	}
	return false;
}

Test(search, c11_who_lost_one_of_mps_is_not_served_by_one_of_none)
{
	struct bed b = bed_of_both();
	struct made made[4], again[4];
	(void)step(&b, ACTION_EVENT);
	cr_assert_eq(make_all(&b, made), 3);
	for (int i = 0; i < 3; i++) {
		cr_expect_not(made[i].mps, "the mode that does no harm comes first");
	}
	tell_uuid(&b, &made[1], "GPU-B");
	tell_uuid(&b, &made[2], "GPU-C");
	tell_uuid(&b, &made[0], "GPU-A");
	const struct action *gone = step(&b, ACTION_DELETE_CAPACITY);
	cr_assert_not_null(gone, "it goes");
	cr_expect_str_eq(gone->name, made[0].name);
	cr_expect_eq(count(&b, ACTION_DELETE_CAPACITY), 1);
	cr_expect_null(grant_to(&b, "m"));
	cr_expect_not_null(grant_to(&b, "n"));
	cr_expect_not_null(grant_to(&b, "o"));
	cr_expect_eq(engine_report(b.e)->gpus_orphaned, 1);
	settle(&b, gone->id, NULL);
	tell_gone(&b, NAME_NAMESPACE, made[0].name);
	cr_assert(steps_until(&b, ACTION_CREATE_CAPACITY, 30000));
	cr_assert_eq(make_all(&b, again), 1);
	cr_expect(again[0].mps);
	tell_uuid(&b, &again[0], "GPU-A");
	(void)step(&b, ACTION_GRANT);
	const struct action *grant = grant_to(&b, "m");
	cr_assert_not_null(grant);
	cr_expect_str_eq(grant->name, again[0].name);
	cr_expect_eq(engine_report(b.e)->gpus_orphaned, 0);
	cr_expect_eq(count(&b, ACTION_DELETE_CAPACITY), 0);
	bed_finish(&b);
}

/* Or the device plugin would give one of theirs. */
Test(search, c11_the_others_are_held_until_the_right_one_is_there)
{
	struct bed b = bed_make();
	struct made made[4];
	tell_node(&b, "n0", 2, 110);
	tell_tenant(&b, "m", "GPU-A", true);
	tell_tenant(&b, "n", "GPU-X", false);
	(void)step(&b, ACTION_EVENT);
	cr_assert_eq(make_all(&b, made), 2);
	tell_uuid(&b, &made[0], "GPU-A");
	tell_uuid(&b, &made[1], "GPU-B");
	const struct action *gone = step(&b, ACTION_DELETE_CAPACITY);
	cr_assert_not_null(gone);
	cr_expect_str_eq(gone->name, made[0].name);
	cr_expect_eq(count(&b, ACTION_DELETE_CAPACITY), 1, "GPU-B is not let go");
	bed_finish(&b);
}

Test(search, c11_none_is_not_served_by_mps_either)
{
	struct bed b = bed_make();
	struct cap cap = {"cap-mps", "cap-mps", "GPU-B", false, {0}};
	tell_node(&b, "n0", 1, 110);
	tell_capacity_of(&b, &cap, true);
	tell_tenant(&b, "n", "GPU-B", false);
	const struct action *gone = step(&b, ACTION_DELETE_CAPACITY);
	cr_assert_not_null(gone);
	cr_expect_str_eq(gone->name, "cap-mps");
	cr_expect_eq(engine_report(b.e)->gpus_orphaned, 1);
	settle(&b, gone->id, NULL);
	tell_gone(&b, NAME_NAMESPACE, "cap-mps");
	struct made made[4];
	cr_assert(steps_until(&b, ACTION_CREATE_CAPACITY, 30000));
	cr_assert_eq(make_all(&b, made), 1);
	cr_expect_not(made[0].mps);
	bed_finish(&b);
}

/* Somebody of the other mode is in its books already: it cannot go, and who runs there must. */
Test(search, c11_beside_tenants_of_the_other_mode_its_own_are_evicted_in_time)
{
	struct bed b = bed_make();
	struct grant entry = {"m", "default", "m", 300, 20000};
	struct cap cap = {"cap-mps", "cap-mps", "GPU-B", false, {&entry, 1}};
	tell_node(&b, "n0", 1, 110);
	tell_tenant(&b, "m", "GPU-B", true);
	tell_tenant(&b, "n", "GPU-B", false);
	tell_capacity_of(&b, &cap, true);
	engine_observe(b.e, &(struct change){.type = CHANGE_REACH, .reached = true});
	tell_waiting(&b, "w", "0.1");
	for (; b.now < 55000; b.now += 1000) {
		(void)step(&b, ACTION_EVENT);
		cr_expect_eq(count(&b, ACTION_DELETE_CAPACITY), 0);
		cr_expect_null(grant_to(&b, "n"));
		cr_expect_null(grant_to(&b, "w"));
		cr_expect_eq(count(&b, ACTION_EVICT), 0);
	}
	cr_assert(steps_until(&b, ACTION_EVICT, 10000));
	const struct action *a = step(&b, ACTION_EVICT);
	bed_finish(&b);
	(void)a;
}

Test(search, c11_what_was_found_amiss_stands_in_the_journal)
{
	struct bed b = bed_of_both();
	struct made made[4];
	struct journal_config config = {.version = "test"};
	struct journal *j = journal_create(&config);
	(void)step(&b, ACTION_EVENT);
	cr_assert_eq(make_all(&b, made), 3);
	tell_uuid(&b, &made[1], "GPU-B");
	tell_uuid(&b, &made[0], "GPU-A");
	const struct action *gone = step(&b, ACTION_DELETE_CAPACITY);
	cr_assert_not_null(gone);
	settle(&b, gone->id, NULL);
	engine_record(b.e, j);
	tell_gone(&b, NAME_NAMESPACE, made[0].name);
	cr_assert(steps_until(&b, ACTION_CREATE_CAPACITY, 30000));
	CLEANUP(str_finish) struct str bytes = STR_INIT(1u << 20);
	journal_dump(j, &bytes);
	struct journal_summary sum;
	struct fault f = {0};
	struct view view = {str_text(&bytes), bytes.len};
	cr_assert_eq(journal_replay(view, "test", &sum, &f), 0, "%s", f.message);
	cr_expect_not(sum.diverged, "%s", sum.divergence);
	engine_record(b.e, NULL);
	journal_destroy(j);
	bed_finish(&b);
}
