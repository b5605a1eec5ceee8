/* A container that ended with an error, until it is judged who took the memory. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "healing/failed_containers.h"
#include "tracking/pod_table.h"
#include "tracking/workload_table.h"

#define NOW_MS INT64_C(1790000000000)

struct site {
	struct tracking tracking;
	struct supply supply;
	struct healing healing;
	struct world *world;
	struct sized_workload *x;
	struct sized_pod *p;
	struct world_gpu gpu;
};

/* A tenant of 8 GiB that was seen before, and used so much a minute ago. */
static void init(struct site *s, int32_t used_mib)
{
	*s = (struct site){.world = world_create()};
	const struct sizer_config config = {.round_ms = 15000};
	const struct workload_key key = {"team", "apps", "Deployment", "web"};
	tracking_init(&s->tracking, &config);
	devices_init(&s->supply.devices);
	gpus_init(&s->supply.gpus);
	healing_init(&s->healing, &s->tracking, &s->supply);
	s->x = sized_of(&s->tracking, &key);
	s->p = pods_add(&s->tracking, s->x, "a");
	struct sized_feed *f = pods_feed(s->p, "main");
	f->heal.most_mib = used_mib;
	f->heal.most_ms = NOW_MS - 60000;
	s->p->heal.share = (struct small_share){300, 8192};
	s->p->advised = s->p->seen = true;
	s->gpu = (struct world_gpu){.class = WORLD_TENANT, .uuid = "GPU-1", .failed_ms = NOW_MS};
}

static void finish(struct site *s)
{
	pods_drop(&s->tracking, s->p);
	sized_container_drop(s->x, s->x->containers.items[0]);
	table_remove(&s->tracking.workloads, &s->x->row);
	healing_finish(&s->healing);
	devices_finish(&s->supply.devices);
	gpus_finish(&s->supply.gpus);
	tracking_finish(&s->tracking);
	world_destroy(s->world);
}

static void judge(struct site *s, int64_t mono_ms)
{
	healing_judge(&s->healing, s->world, (struct sizer_now){mono_ms, NOW_MS, NOW_MS});
}

Test(failed_containers, one_at_its_limit_is_judged_once_its_neighbours_were_looked_at)
{
	struct site s;
	init(&s, 8000);
	healing_ended(&s.healing, s.p, &s.gpu, NOW_MS);
	judge(&s, 1000);
	cr_expect_not(s.x->heal.alerted, "who took the memory is not known yet");
	judge(&s, healing_deadline(&s.healing));
	cr_expect(s.x->heal.alerted);
	cr_expect(healing_of(s.x->containers.items[0])->denied);
	cr_expect_eq(healing_of(s.x->containers.items[0])->denied_of_mib, 8192);
	finish(&s);
}

Test(failed_containers, one_far_from_its_limit_is_none)
{
	struct site s;
	init(&s, 1000);
	healing_ended(&s.healing, s.p, &s.gpu, NOW_MS);
	judge(&s, 1000);
	judge(&s, 6000);
	cr_expect_not(s.x->heal.alerted);
	finish(&s);
}

Test(failed_containers, the_same_end_counts_once)
{
	struct site s;
	init(&s, 8000);
	healing_ended(&s.healing, s.p, &s.gpu, NOW_MS);
	healing_ended(&s.healing, s.p, &s.gpu, NOW_MS + 1000);
	cr_expect_eq(s.healing.alarms.ends.count, 1);
	healing_lose(&s.healing.alarms, s.x->containers.items[0]);
	cr_expect_eq(s.healing.alarms.ends.count, 0);
	finish(&s);
}
