/* The table of workloads. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/intern.h"
#include "tracking/workload_table.h"

static struct tracking *table_create(void)
{
	struct tracking *t = xcalloc(1, sizeof *t);
	tracking_init(t, &(struct sizer_config){.round_ms = 1});
	return t;
}

static void table_destroy(struct tracking *t)
{
	while (t->workloads.rows.count > 0) {
		struct sized_workload *x = workload_at(t, t->workloads.rows.count - 1);
		while (x->containers.count > 0) {
			sized_container_drop(x, x->containers.items[0]);
		}
		table_remove(&t->workloads, &x->row);
	}
	tracking_finish(t);
	free(t);
}

static struct workload_key key(const char *name)
{
	return (struct workload_key){"team", "apps", "Deployment", name};
}

Test(workload_table, it_is_found_by_its_key_and_its_object)
{
	struct tracking *t = table_create();
	struct workload_key web = key("web"), api = key("api");
	struct sized_workload *x = sized_of(t, &web);
	cr_assert_not_null(x);
	cr_expect_eq(sized_of(t, &web), x);
	cr_expect_neq(sized_of(t, &api), x);
	cr_expect_eq(sized_find(t, "team", "deployment-web"), x);
	cr_expect_null(sized_find(t, "other", "deployment-web"));
	table_remove(&t->workloads, &x->row);
	cr_expect_null(sized_find(t, "team", "deployment-web"));
	cr_expect_not_null(sized_find(t, "team", "deployment-api"));
	table_destroy(t);
}

/* Kinds of one name are several: those of groups that nobody thinks of first end in a digest. */
Test(workload_table, two_kinds_of_one_name_are_two)
{
	struct tracking *t = table_create();
	struct workload_key own = {"team", "batch", "Job", "train"};
	struct workload_key other = {"team", "batch.volcano.sh", "Job", "train"};
	struct sized_workload *x = sized_of(t, &own), *y = sized_of(t, &other);
	cr_assert_not_null(x);
	cr_assert_not_null(y);
	cr_expect_neq(x, y);
	cr_expect_str_neq(x->row.name, y->row.name);
	cr_expect_eq(sized_of(t, &own), x);
	cr_expect_eq(sized_of(t, &other), y);
	table_destroy(t);
}

/* There are thousands in few namespaces. */
Test(workload_table, what_many_have_is_kept_once)
{
	struct tracking *t = table_create();
	struct workload_key web = key("web"), api = key("api");
	const struct sized_workload *x = sized_of(t, &web), *y = sized_of(t, &api);
	cr_expect(x->key.ns == y->key.ns && x->key.group == y->key.group &&
		  x->key.kind == y->key.kind);
	size_t before = intern_count(t->names);
	names_set(t, &workload_at(t, 0)->policy, "gold");
	names_set(t, &workload_at(t, 1)->policy, "gold");
	cr_expect_eq(intern_count(t->names), before + 1);
	cr_expect_eq(x->policy, y->policy);
	names_set(t, &workload_at(t, 0)->policy, "silver");
	cr_expect_str_eq(y->policy, "gold");
	table_remove(&t->workloads, &workload_at(t, 1)->row);
	table_remove(&t->workloads, &workload_at(t, 0)->row);
	cr_expect_eq(intern_count(t->names), 0);
	table_destroy(t);
}

Test(workload_table, what_no_object_can_be_called_is_not_kept)
{
	struct tracking *t = table_create();
	char name[2000];
	memset(name, 'a', sizeof name);
	name[sizeof name - 1] = '\0';
	struct workload_key long_one = key(name);
	cr_expect_null(sized_of(t, &long_one));
	table_destroy(t);
}

Test(workload_table, containers_are_bounded)
{
	struct tracking *t = table_create();
	char name[16];
	struct workload_key web = key("web");
	struct sized_workload *x = sized_of(t, &web);
	for (int i = 0; i < SIZER_CONTAINERS_MAX; i++) {
		snprintf(name, sizeof name, "c%d", i);
		cr_assert_not_null(sized_container_of(x, name));
	}
	cr_expect_null(sized_container_of(x, "more"));
	sized_container_drop(x, sized_container_find(x, "c3"));
	cr_expect_null(sized_container_find(x, "c3"));
	cr_expect_not_null(sized_container_find(x, "c7"));
	table_destroy(t);
}
