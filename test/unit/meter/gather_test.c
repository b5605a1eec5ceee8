/* Two series make one record. */
#include "gather.h"

#include <criterion/criterion.h>
#include <stdio.h>

static struct metered of(const char *pod, int64_t compute, int64_t mem, int64_t at)
{
	return (struct metered){.ns = "a",
		.pod = pod,
		.container = "c",
		.uuid = "GPU-1",
		.compute = compute,
		.mem_bytes = mem,
		.at_ms = at};
}

static void take(struct gather *g, struct metered m)
{
	cr_assert(gather_take(g, &m));
}

Test(gather, one_record_a_container_on_a_device)
{
	struct gather g = {0};
	gather_init(&g);
	struct metered m = of("p", 500, METERED_ABSENT, 1000);
	m.basis = "memory";
	m.estimated = true;
	take(&g, m);
	take(&g, of("p", METERED_ABSENT, 77, 900));
	take(&g, of("q", 1, METERED_ABSENT, 1000));
	m = of("p", 3, METERED_ABSENT, 1000);
	m.uuid = "GPU-2";
	take(&g, m);
	cr_assert_eq(g.count, 3);
	const struct metered *first = &g.items[0].m;
	cr_expect(first->compute == 500 && first->mem_bytes == 77 && first->estimated);
	cr_expect_str_eq(first->basis, "memory", "memory's own series says nothing of it");
	cr_expect_eq(first->at_ms, 900, "as old as the older one");
	gather_reset(&g);
	take(&g, of("p", 1, METERED_ABSENT, 0));
	cr_expect(g.count == 1 && g.items[0].m.compute == 1);
	gather_finish(&g);
}

Test(gather, told_twice)
{
	struct gather g = {0};
	gather_init(&g);
	take(&g, of("p", 500, METERED_ABSENT, 1000));
	take(&g, of("p", 400, METERED_ABSENT, 2000));
	cr_expect_eq(g.items[0].m.compute, 500, "at about the same time the larger one");
	take(&g, of("p", 300, METERED_ABSENT, 60000));
	cr_expect_eq(g.items[0].m.compute, 300, "the later one");
	take(&g, of("p", 900, METERED_ABSENT, 1000));
	cr_expect_eq(g.items[0].m.compute, 300, "and not one from before");
	cr_expect_eq(g.items[0].m.at_ms, 60000);
	gather_finish(&g);
}

Test(gather, not_more_than_its_limit)
{
	struct gather g = {0};
	char pod[16];
	gather_init(&g);
	for (int i = 0; i < GATHER_MAX; i++) {
		snprintf(pod, sizeof pod, "p%d", i);
		take(&g, of(pod, 1, 1, 1));
	}
	struct metered more = of("one-more", 1, 1, 1);
	cr_expect_not(gather_take(&g, &more));
	cr_expect_eq(g.count, GATHER_MAX);
	gather_finish(&g);
}
