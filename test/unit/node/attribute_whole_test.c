/* Which pod of whole GPUs holds which, although nobody says. */
#include "usage_bed.h"

#include "node/attribute_whole.h"

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

/* --- where the kubelet tells --- */

static void told_in(const char *name, const char *uuid, const char *container)
{
	const struct node_device device = {uuid, container};
	node_pods_told(bed.pods, "team", name, &device, 1);
}

static void told(const char *name, const char *uuid)
{
	told_in(name, uuid, "main");
}

Test(attribute_whole, told_ones_are_idle_on_exactly_theirs)
{
	bed_whole(&bed, "w");
	bed_whole(&bed, "v");
	node_pods_ask(bed.pods);
	told("w", "GPU-2");
	told("v", "GPU-1");
	bed_make(&bed);
	cr_assert_eq(bed.usage.container_count, 2);
	const struct container_use *w = line(2, "w");
	cr_assert_not_null(w);
	cr_assert_eq(w->use.sm, 0);
	cr_assert_eq(w->use.mem_bytes, 0);
	cr_assert_null(w->use.source, "this is no guess");
	cr_assert_not(w->use.presumed);
	cr_assert_str_eq(w->container, "main");
	cr_assert_not_null(line(1, "v"));
	node_pods_remove(bed.pods, "v");
	bed_make(&bed);
	cr_assert_eq(bed.usage.container_count, 1, "a deleted pod has no line");
}

Test(attribute_whole, one_that_is_told_leaves_less_to_guess)
{
	bed_whole(&bed, "w");
	bed_whole(&bed, "v");
	node_pods_ask(bed.pods);
	told("w", "GPU-2");
	bed_make(&bed);
	cr_assert_str_eq(line(1, "v")->use.source, "only-place");
	cr_assert_null(line(2, "w")->use.source);
}

Test(attribute_whole, a_told_one_that_works_has_one_line)
{
	bed_whole(&bed, "w");
	node_pods_ask(bed.pods);
	told("w", "GPU-2");
	bed_runs(&bed, 2, 1, "w", 30);
	bed_make(&bed);
	cr_assert_eq(bed.usage.container_count, 1);
	cr_assert_eq(line(2, "w")->use.sm, 30000);
	cr_assert_eq(line(2, "w")->use.processes, 1);
}

Test(attribute_whole, the_container_is_the_one_that_was_given_it)
{
	bed_pod(&bed, (struct node_pod){.uid = "w", .phase = POD_RUNNING, .gpus = 2});
	const struct node_device devices[] = {{"GPU-1", "side"}, {"GPU-2", "nobody"}};
	node_pods_ask(bed.pods);
	node_pods_told(bed.pods, "team", "w", devices, 2);
	bed_make(&bed);
	cr_assert_str_eq(line(1, "w")->container, "side");
	cr_assert_str_eq(line(2, "w")->container, "", "the pod has none of that name");
}

Test(attribute_whole, told_ones_that_cannot_be_idle)
{
	bed_whole(&bed, "w");
	node_pods_ask(bed.pods);
	told("w", "GPU-2");
	bed.devices[2].processes_told = false;
	bed_make(&bed);
	cr_assert_null(line(2, "w"), "one of its processes may be the pod's");
	bed.devices[2].processes_told = true;
	bed_pod(&bed, (struct node_pod){.uid = "w", .phase = POD_PENDING, .gpus = 1});
	bed_make(&bed);
	cr_assert_null(line(2, "w"), "it does not run yet");
	bed_pod(&bed, (struct node_pod){.uid = "w", .phase = POD_SUCCEEDED, .gpus = 1});
	bed_make(&bed);
	cr_assert_null(line(2, "w"), "it has ended");
}

Test(attribute_whole, a_device_that_is_shared_is_nobodys_own)
{
	bed_whole(&bed, "w");
	node_pods_ask(bed.pods);
	told("w", "GPU-0");
	bed_make(&bed);
	cr_assert_eq(bed.usage.container_count, 0);
	node_pods_ask(bed.pods);
	told("w", "GPU-9");
	bed_make(&bed);
	cr_assert_eq(bed.usage.container_count, 0, "and one that is not there has no line");
}

Test(attribute_whole, what_a_capacity_pod_was_given_is_not_free)
{
	bed_whole(&bed, "w");
	bed_pod(&bed, (struct node_pod){.uid = "new",
			      .ns = "team",
			      .phase = POD_RUNNING,
			      .gpus = 1,
			      .capacity = true});
	bed_make(&bed);
	cr_assert_eq(bed.usage.container_count, 0, "it has not said which it holds");
	node_pods_ask(bed.pods);
	told("new", "GPU-1");
	bed_make(&bed);
	cr_assert_eq(bed.usage.container_count, 1);
	cr_assert_str_eq(line(2, "w")->use.source, "only-place");
}
