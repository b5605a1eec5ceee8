/* The table of workloads. */
#include "base/intern.h"
#include "bed.h"
#include "sized.h"

static struct workload_key key(const char *name)
{
	return (struct workload_key){"team", "apps", "Deployment", name};
}

Test(sized, it_is_found_by_its_key_and_its_object)
{
	struct bed *b = bed_new();
	struct workload_key web = key("web"), api = key("api");
	struct sized *x = sized_of(b->sizer, &web);
	cr_assert_not_null(x);
	cr_expect_eq(sized_of(b->sizer, &web), x);
	cr_expect_neq(sized_of(b->sizer, &api), x);
	cr_expect_eq(sized_find(b->sizer, "team", "deployment-web"), x);
	cr_expect_null(sized_find(b->sizer, "other", "deployment-web"));
	sized_remove(b->sizer, x);
	cr_expect_null(sized_find(b->sizer, "team", "deployment-web"));
	cr_expect_not_null(sized_find(b->sizer, "team", "deployment-api"));
	bed_free(b);
}

/* Kinds of one name are several: those of groups that nobody thinks of first end in a digest. */
Test(sized, two_kinds_of_one_name_are_two)
{
	struct bed *b = bed_new();
	struct workload_key own = {"team", "batch", "Job", "train"};
	struct workload_key other = {"team", "batch.volcano.sh", "Job", "train"};
	struct sized *x = sized_of(b->sizer, &own), *y = sized_of(b->sizer, &other);
	cr_assert_not_null(x);
	cr_assert_not_null(y);
	cr_expect_neq(x, y);
	cr_expect_str_neq(x->object, y->object);
	cr_expect_eq(sized_of(b->sizer, &own), x);
	cr_expect_eq(sized_of(b->sizer, &other), y);
	bed_free(b);
}

/* There are thousands in few namespaces. */
Test(sized, what_many_have_is_kept_once)
{
	struct bed *b = bed_new();
	struct workload_key web = key("web"), api = key("api");
	const struct sized *x = sized_of(b->sizer, &web), *y = sized_of(b->sizer, &api);
	cr_expect(x->key.ns == y->key.ns && x->key.group == y->key.group &&
		  x->key.kind == y->key.kind);
	size_t before = intern_count(b->sizer->names);
	names_set(b->sizer, &b->sizer->workloads.items[0]->policy, "gold");
	names_set(b->sizer, &b->sizer->workloads.items[1]->policy, "gold");
	cr_expect_eq(intern_count(b->sizer->names), before + 1);
	cr_expect_eq(x->policy, y->policy);
	names_set(b->sizer, &b->sizer->workloads.items[0]->policy, "silver");
	cr_expect_str_eq(y->policy, "gold");
	sized_remove(b->sizer, b->sizer->workloads.items[1]);
	sized_remove(b->sizer, b->sizer->workloads.items[0]);
	cr_expect_eq(intern_count(b->sizer->names), 0);
	bed_free(b);
}

Test(sized, what_no_object_can_be_called_is_not_kept)
{
	struct bed *b = bed_new();
	char name[2000];
	memset(name, 'a', sizeof name);
	name[sizeof name - 1] = '\0';
	struct workload_key long_one = key(name);
	cr_expect_null(sized_of(b->sizer, &long_one));
	bed_free(b);
}

Test(sized, containers_are_bounded)
{
	struct bed *b = bed_new();
	char name[16];
	struct workload_key web = key("web");
	struct sized *x = sized_of(b->sizer, &web);
	for (int i = 0; i < SIZER_CONTAINERS_MAX; i++) {
		snprintf(name, sizeof name, "c%d", i);
		cr_assert_not_null(sized_container_of(x, name));
	}
	cr_expect_null(sized_container_of(x, "more"));
	sized_container_drop(b->sizer, x, sized_container_find(x, "c3"));
	cr_expect_null(sized_container_find(x, "c3"));
	cr_expect_not_null(sized_container_find(x, "c7"));
	bed_free(b);
}
