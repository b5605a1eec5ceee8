/* Thousands wait at once: who is looked at first, and how many writes are asked for. */
#include "field.h"

#include "base/rand.h"

#define TENANTS	 3000
#define A_GPU	 5
#define ARRIVALS 300

static void tell_holder(struct field *f, int number, const struct ledger *ledger)
{
	char name[32], node[16];
	struct gpu_identity id = {.mem_mib = 80000};
	struct pair labels[] = {{LABEL_CAPACITY, "true"}};
	snprintf(name, sizeof name, "capacity-%04d", number);
	snprintf(node, sizeof node, "node-%03d", number / GPUS);
	snprintf(id.uuid, sizeof id.uuid, "GPU-%04d", number);
	struct pod p = {.ns = NAME_NAMESPACE,
		.name = name,
		.uid = name,
		.created_ms = 1000,
		.labels = {labels, 1},
		.node = node,
		.gpus = 1,
		.phase = POD_RUNNING,
		.identity = &id,
		.holds = true,
		.ledger = ledger != NULL ? *ledger : (struct ledger){0}};
	tell(f, &p);
}

static void step(struct field *f)
{
	f->now += 10;
	engine_step(f->e, (struct engine_now){f->now, f->now}, 1000000, &f->plan);
	cr_assert_null(engine_differs(f->e), "%s", engine_differs(f->e));
}

static size_t actions_of(const struct plan *plan, enum action_type type)
{
	size_t count = 0;
	vec_for_each (const struct action, a, &plan->actions) {
		count += a->type == type;
	}
	return count;
}

static int64_t number_of(const char *name, const char *before)
{
	int64_t number = -1;
	cr_assert(parse_i64(view_of(name + strlen(before)), 0, 1000000, &number));
	return number;
}

/* The write held: the answer, and what the watch shows. */
static void hold(struct field *f, const struct action *a)
{
	struct pod answer = {.uid = a->uid, .phase = POD_RUNNING};
	struct outcome done = {.pod = &answer};
	char rv[16];
	if (a->type == ACTION_GRANT) {
		tell_holder(f, (int)number_of(a->name, "capacity-"), &a->ledger);
		snprintf(rv, sizeof rv, "%d", f->rv);
		answer.resource_version = rv;
	}
	engine_settle(f->e, (struct engine_now){f->now, f->now}, a->id, &done);
}

Test(burst, asks_for_as_many_writes_as_there_is_room_for_and_for_the_first_of_those_who_wait)
{
	struct field f;
	field_init(&f, &(struct engine_config){0});
	for (int i = 0; i < NODES; i++) {
		tell_node(&f, i);
	}
	for (int i = 0; i < NODES * GPUS; i++) {
		tell_holder(&f, i, NULL);
	}
	for (int i = 0; i < TENANTS; i++) {
		tell_tenant(&f, i, "0.20", 5000 + i, 0);
	}
	step(&f);
	cr_assert_eq(actions_of(&f.plan, ACTION_GRANT), FLIGHTS_MAX);
	vec_for_each (const struct action, a, &f.plan.actions) {
		for (uint32_t i = 0; a->type == ACTION_GRANT && i < a->ledger.count; i++) {
			cr_expect_lt(number_of(a->ledger.items[i].name, "t"), FLIGHTS_MAX * A_GPU);
		}
	}
	/* Nothing was answered: nothing more is asked for. */
	step(&f);
	cr_assert_eq(actions_of(&f.plan, ACTION_GRANT) + actions_of(&f.plan, ACTION_PLACE), 0);
	field_finish(&f);
}

Test(burst, what_found_no_room_follows_when_writes_are_answered)
{
	struct field f;
	size_t grants = 0, places = 0;
	field_init(&f, &(struct engine_config){0});
	for (int i = 0; i < NODES; i++) {
		tell_node(&f, i);
	}
	for (int i = 0; i < NODES * GPUS; i++) {
		tell_holder(&f, i, NULL);
	}
	for (int i = 0; i < TENANTS; i++) {
		tell_tenant(&f, i, "0.20", 5000 + i, 0);
	}
	for (int turn = 0; turn < 40 && places < TENANTS; turn++) {
		step(&f);
		grants += actions_of(&f.plan, ACTION_GRANT);
		places += actions_of(&f.plan, ACTION_PLACE);
		cr_expect_leq(f.plan.actions.count, FLIGHTS_MAX);
		/* The plan's texts last until the next step. */
		vec_for_each (const struct action, a, &f.plan.actions) {
			hold(&f, a);
		}
	}
	cr_expect_eq(grants, TENANTS / A_GPU);
	cr_expect_eq(places, TENANTS);
	field_finish(&f);
}

/* The order is kept from step to step: it must be what sorting everybody would give. */
Test(burst, ranks_newcomers_among_those_who_wait_as_if_all_were_sorted)
{
	struct field f;
	struct rng rng;
	field_init(&f, &(struct engine_config){0});
	rng_seed(&rng, 7);
	for (int i = 0; i < ARRIVALS; i++) {
		/* Some in the same second, some before everybody, some written again, some gone. */
		int number = (int)rng_below(&rng, ARRIVALS);
		if (rng_below(&rng, 4) == 0) {
			char name[16];
			snprintf(name, sizeof name, "t%05d", number);
			struct change gone = {.type = CHANGE_GONE,
				.kind = KIND_POD,
				.name = name,
				.uid = name,
				.ns = "default"};
			engine_observe(f.e, &gone);
		}
		number = (int)rng_below(&rng, ARRIVALS);
		tell_tenant(&f, number, "0.20", 1000 * (int64_t)rng_below(&rng, 9),
			(int32_t)rng_below(&rng, 3));
		step(&f);
		cr_assert_eq(f.e->ranked.count, world_class_count(f.e->world, WORLD_TENANT));
		for (size_t k = 1; k < f.e->ranked.count; k++) {
			struct waiter *const *w = &f.e->ranked.items[k];
			cr_assert_lt(pod_rank(&w[-1]->pod, &w[0]->pod), 0);
		}
	}
	field_finish(&f);
}
