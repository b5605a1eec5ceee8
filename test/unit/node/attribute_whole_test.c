/* Which pod of whole GPUs holds which, although nobody says. */
#include "usage_bed.h"

static struct bed bed;

static void begin(void)
{
	bed_init(&bed, 3);
	bed_capacity(&bed, "hold", "GPU-0");
}

static void end(void)
{
	bed_finish(&bed);
}

TestSuite(attribute_whole, .init = begin, .fini = end);

static const struct container_use *line(uint32_t device, const char *pod)
{
	for (uint32_t i = 0; i < bed.usage.container_count; i++) {
		const struct container_use *c = &bed.usage.containers[i];
		if (c->device == device && text_equals(c->pod->name, pod)) {
			return c;
		}
	}
	return NULL;
}

static void next_look(void)
{
	usage_remember(&bed.usage, &bed.sample, bed.pods);
	for (uint32_t d = 0; d < 3; d++) {
		bed.devices[d].process_count = 0;
	}
	bed.places.count = 0;
	bed_make(&bed);
}

Test(attribute_whole, one_that_was_seen_keeps_its_device)
{
	bed_whole(&bed, "w");
	bed_runs(&bed, 1, 1, "w", 30);
	bed_make(&bed);
	cr_assert_eq(line(1, "w")->use.sm, 30000);
	next_look();
	cr_assert_eq(line(1, "w")->use.sm, 0);
	cr_assert_null(line(1, "w")->use.source);
	cr_assert_not(line(1, "w")->use.presumed);
	next_look();
	cr_assert_not_null(line(1, "w"), "being idle does not make it forgotten");
	bed_tenant(&bed, "t", "GPU-1");
	next_look();
	cr_assert_null(line(1, "w"), "the device is another's now");
}

Test(attribute_whole, the_only_place_left_is_its)
{
	bed_whole(&bed, "w");
	bed_whole(&bed, "other");
	bed_runs(&bed, 2, 1, "other", 30);
	bed_make(&bed);
	const struct container_use *w = line(1, "w");
	cr_assert_not_null(w);
	cr_assert_eq(w->use.sm, 0);
	cr_assert_str_eq(w->use.source, "only-place");
	cr_assert(w->use.presumed);
	cr_assert_not(line(2, "other")->use.presumed);
}

Test(attribute_whole, several_places_or_pods_are_no_answer)
{
	bed_whole(&bed, "w");
	bed_make(&bed);
	cr_assert_eq(bed.usage.container_count, 0, "one of two devices");
	bed_whole(&bed, "v");
	bed_make(&bed);
	cr_assert_eq(bed.usage.container_count, 0, "two pods, two devices: who has which?");
}

Test(attribute_whole, several_devices_of_one_pod)
{
	bed_pod(&bed, (struct node_pod){.uid = "w", .phase = POD_RUNNING, .gpus = 2});
	bed_runs(&bed, 2, 1, "w", 30);
	bed_make(&bed);
	cr_assert_not_null(line(1, "w"));
	cr_assert_not_null(line(2, "w"));
	cr_assert_null(line(0, "w"));
}

static void expect_no_guess(const char *why)
{
	bed_make(&bed);
	cr_assert_null(line(1, "w"), "%s", why);
}

Test(attribute_whole, what_is_unclear_ends_guessing)
{
	bed_whole(&bed, "w");
	bed_whole(&bed, "other");
	bed_runs(&bed, 2, 1, "other", 30);
	bed_make(&bed);
	cr_assert_not_null(line(1, "w"));

	bed.devices[2].processes_told = false;
	expect_no_guess("another device's processes are not known");
	bed.devices[2].processes_told = true;

	const char *none = NULL;
	bed_pod(&bed, (struct node_pod){.uid = "new",
			      .ns = "aliquot-system",
			      .phase = POD_PENDING,
			      .capacity = true,
			      .uuids = &none});
	expect_no_guess("a capacity pod has not said which it holds");
	node_pods_remove(bed.pods, "new");

	bed_runs(&bed, 1, 2, "deleted", 30);
	expect_no_guess("somebody unknown is there");
}

Test(attribute_whole, one_that_ended_holds_nothing)
{
	bed_pod(&bed, (struct node_pod){.uid = "w", .phase = POD_SUCCEEDED, .gpus = 2});
	bed_make(&bed);
	cr_assert_eq(bed.usage.container_count, 0);
}

Test(attribute_whole, one_that_asked_for_none_keeps_none)
{
	bed_pod(&bed, (struct node_pod){.uid = "monitor", .phase = POD_RUNNING});
	bed_runs(&bed, 1, 1, "monitor", 1);
	bed_make(&bed);
	cr_assert_not_null(line(1, "monitor"));
	next_look();
	cr_assert_null(line(1, "monitor"));
}
