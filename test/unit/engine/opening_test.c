/* Capacity pods on their way: so many at once, and those that are stuck hold up nobody. */
#include "field.h"

#define MOST 256

/* It was made, is pinned, and goes no further. */
static void hold(struct field *f, const struct action *a, bool refused)
{
	struct pair labels[] = {{LABEL_CAPACITY, "true"}};
	char rv[16];
	struct pod p = {.ns = NAME_NAMESPACE,
		.name = a->name,
		.uid = a->name,
		.labels = {labels, 1},
		.node = refused ? NULL : a->node,
		.unschedulable = refused,
		.gpus = 1,
		.phase = POD_PENDING};
	snprintf(rv, sizeof rv, "%d", f->rv + 1);
	struct pod answer = {.uid = a->name, .resource_version = rv, .phase = POD_PENDING};
	struct outcome done = {.pod = &answer};
	tell(f, &p);
	engine_settle(f->e, (struct engine_now){f->now, f->now}, a->id, &done);
}

static size_t step(struct field *f, int64_t after, bool refused)
{
	size_t created = 0;
	f->now += after;
	engine_step(f->e, (struct engine_now){f->now, f->now}, 1000000, &f->plan);
	cr_assert_null(engine_differs(f->e), "%s", engine_differs(f->e));
	vec_for_each (const struct action, a, &f->plan.actions) {
		if (a->type == ACTION_CREATE_CAPACITY) {
			hold(f, a, refused);
			created++;
		}
	}
	return created;
}

/* Who waits needs every GPU. */
static void crowd(struct field *f)
{
	field_init(f, &(struct engine_config){.open_timeout_ms = 600000});
	for (int i = 0; i < NODES; i++) {
		tell_node(f, i);
	}
	for (int i = 0; i < NODES * GPUS; i++) {
		tell_tenant(f, i, "0.90", 5000 + i, 0);
	}
}

Test(opening, those_that_take_long_do_not_hold_up_the_others)
{
	struct field f;
	crowd(&f);
	cr_assert_eq(step(&f, 10, false), MOST);
	cr_assert_eq(step(&f, 1000, false), 0, "so many at once");
	int64_t again = engine_next_deadline(f.e);
	cr_assert_leq(again, 1010 + 15000, "it looks again when they count no more");
	cr_assert_eq(step(&f, 15000, false), MOST, "none of the first has come up");
	cr_assert_eq(step(&f, 15000, false), (size_t)NODES * GPUS - 2 * MOST);
	field_finish(&f);
}

/* Their own node is in trouble: nobody waits for them at all. */
Test(opening, those_that_the_scheduler_refuses_do_not_hold_up_the_others)
{
	struct field f;
	crowd(&f);
	cr_assert_eq(step(&f, 10, true), MOST);
	cr_assert_eq(step(&f, 1000, true), MOST);
	field_finish(&f);
}
