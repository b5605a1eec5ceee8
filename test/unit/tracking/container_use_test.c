/* What the figures of one pod come to, and what those use of whom nothing is decided. */
#include <criterion/criterion.h>

#include <stdio.h>

#include "base/str.h"
#include "tracking/unowned_pods.h"
#include "tracking/container_use.h"

#define MIB (INT64_C(1) << 20)

static const struct metered_figure figures[] = {
	{.container = "main", .compute = 10, .mem_bytes = 5 * MIB, .at_ms = 7},
	{.container = "side", .compute = 3, .mem_bytes = METERED_ABSENT, .at_ms = 9},
	{.container = "main", .compute = 20, .mem_bytes = 4 * MIB, .at_ms = 7},
	{.container = "init", .compute = METERED_ABSENT, .mem_bytes = MIB, .at_ms = 8},
};

Test(uses, of_several_devices_the_larger_counts)
{
	struct metered_figure f;
	const struct sizer_use use = {.figures = figures, .figure_count = 4};
	cr_assert(uses_container(&use, 0, &f));
	cr_expect_eq(f.compute, 20);
	cr_expect_eq(f.mem_bytes, 5 * MIB);
	cr_expect_not(uses_container(&use, 2, &f), "it was counted before");
}

Test(uses, memory_of_containers_is_added)
{
	int64_t at;
	struct sizer_use use = {.figures = figures, .figure_count = 4};
	cr_expect_eq(uses_memory(&use, &at), 6 * MIB);
	cr_expect_eq(at, 8, "who tells no memory tells it at no time");
	use.figure_count = 0;
	cr_expect_eq(uses_memory(&use, &at), METERED_ABSENT);
}

Test(uses, what_others_of_a_pod_use_is_added_to_whose_gpu_it_is)
{
	struct metered_figure f;
	const struct sizer_use use = {.figures = figures, .figure_count = 4};
	cr_assert(uses_pod(&use, "main", &f));
	cr_expect_str_eq(f.container, "main");
	cr_expect_eq(f.at_ms, 7);
	cr_expect_eq(f.compute, 23);
	cr_expect_eq(f.mem_bytes, 6 * MIB);
	cr_expect_not(uses_pod(&use, "server", &f), "nothing is told of it");
}

Test(uses, what_is_not_told_of_whose_gpu_it_is_stays_so)
{
	struct metered_figure f;
	const struct sizer_use use = {.figures = figures, .figure_count = 4};
	cr_assert(uses_pod(&use, "side", &f));
	cr_expect_eq(f.compute, 23);
	cr_expect_eq(f.mem_bytes, METERED_ABSENT, "the others' would look like all of it");
	const struct metered_figure full[] = {
		{.container = "", .compute = METERED_FULL, .mem_bytes = MIB},
		{.container = "side", .compute = 5, .mem_bytes = MIB}};
	const struct sizer_use unnamed = {.figures = full, .figure_count = 2};
	cr_assert(uses_pod(&unnamed, "main", &f), "it is taken for its own");
	cr_expect_eq(f.compute, METERED_FULL, "there is no more");
	cr_expect_eq(f.mem_bytes, 2 * MIB);
}

static void tell(struct table *o, const char *uid, int64_t at_ms)
{
	const struct metered_figure f = {.container = "main", .mem_bytes = 5 * MIB, .at_ms = at_ms};
	const struct sizer_use use = {.uid = uid, .figures = &f, .figure_count = 1};
	unowned_pods_take(o, &use);
}

Test(others, each_is_known_for_as_long_as_it_is_told_of)
{
	char uid[64];
	struct table o;
	unowned_pods_init(&o);
	for (int i = 0; i < 100; i++) {
		snprintf(uid, sizeof uid, "uid-%d", i);
		tell(&o, uid, i);
		tell(&o, uid, i);
	}
	cr_expect_eq(o.rows.count, 100);
	unowned_pods_forget(&o, 50);
	cr_expect_eq(o.rows.count, 50);
	for (int i = 0; i < 100; i++) {
		snprintf(uid, sizeof uid, "uid-%d", i);
		cr_expect_eq(unowned_pods_used(&o, uid, 0), i < 50 ? METERED_ABSENT : 5, "%d", i);
	}
	cr_expect_eq(unowned_pods_used(&o, "uid-60", 61), METERED_ABSENT, "that was long ago");
	memset(uid, 'u', sizeof uid - 1);
	uid[sizeof uid - 1] = '\0';
	tell(&o, uid, 100);
	cr_expect_eq(o.rows.count, 50, "that is no uid");
	table_finish(&o);
}
