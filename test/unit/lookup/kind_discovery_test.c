/* Where kinds are asked for, and how long an answer holds. */
#include "kind_discovery.h"

#include "../kube/fake_wire.h"

#define GROUP	  "{\"preferredVersion\":{\"groupVersion\":\"example.com/v1\",\"version\":\"v1\"}}"
#define RESOURCES "{\"resources\":[{\"name\":\"gadgets\",\"kind\":\"Gadget\",\"namespaced\":true}]}"

struct bed {
	struct fake_clock clock;
	struct fake_wire *wire;
	struct kube_cred *cred;
	struct kube *kube;
	struct kinds *kinds;
};

static void set_up(struct bed *b)
{
	*b = (struct bed){.clock = fake_clock_make(), .wire = fake_wire_create()};
	b->cred = kube_cred_create_plain("https://api", NULL, &b->clock.clock);
	b->kube = kube_create(&b->wire->wire, b->cred, &b->clock.clock, NULL);
	b->kinds = kinds_create(b->kube);
}

static void tear_down(struct bed *b)
{
	kinds_destroy(b->kinds);
	kube_destroy(b->kube);
	kube_cred_destroy(b->cred);
	fake_wire_destroy(b->wire);
}

static enum kinds_answer find(struct bed *b, struct kinds_place *place)
{
	return kinds_find(b->kinds, view_of("example.com"), "Gadget", place);
}

static void step(struct bed *b, int64_t ms)
{
	fake_pass(&b->clock, ms);
	kinds_step(b->kinds, b->clock.mono);
}

static void discover(struct bed *b)
{
	struct kinds_place place;
	cr_assert_eq(find(b, &place), KINDS_LATER);
	step(b, 1);
	fake_expect_path(fake_last(b->wire), "/apis/example.com");
	fake_answer(fake_last(b->wire), 200, GROUP);
	fake_expect_path(fake_last(b->wire), "/apis/example.com/v1");
	fake_answer(fake_last(b->wire), 200, RESOURCES);
}

Test(kinds, one_is_found_by_its_group_and_its_version)
{
	struct bed b;
	struct kinds_place place;
	set_up(&b);
	discover(&b);
	cr_assert_eq(find(&b, &place), KINDS_FOUND);
	cr_expect_str_eq(place.group_version, "example.com/v1");
	cr_expect_str_eq(place.resource, "gadgets");
	step(&b, 60000);
	cr_expect_eq(b.wire->count, 2, "it is remembered");
	kinds_refuse(b.kinds, view_of("example.com"), "Gadget");
	cr_expect_eq(find(&b, &place), KINDS_UNKNOWN);
	tear_down(&b);
}

Test(kinds, one_that_is_not_there_is_asked_for_again_much_later)
{
	struct bed b;
	struct kinds_place place;
	set_up(&b);
	cr_assert_eq(find(&b, &place), KINDS_LATER);
	step(&b, 1);
	fake_answer(fake_last(b.wire), 404, "404 page not found");
	cr_expect_eq(find(&b, &place), KINDS_UNKNOWN);
	step(&b, 300000);
	cr_expect_eq(b.wire->count, 1);
	cr_expect_gt(kinds_deadline(b.kinds), b.clock.mono, "no spinning");
	step(&b, 300001);
	cr_expect_eq(b.wire->count, 2);
	tear_down(&b);
}

Test(kinds, no_answer_is_no_absence)
{
	struct bed b;
	struct kinds_place place;
	set_up(&b);
	cr_assert_eq(find(&b, &place), KINDS_LATER);
	step(&b, 1);
	fake_fail(fake_last(b.wire), false);
	cr_expect_eq(find(&b, &place), KINDS_LATER);
	step(&b, 15001);
	cr_expect_eq(b.wire->count, 2);
	tear_down(&b);
}

Test(kinds, what_is_no_group_never_becomes_a_path)
{
	static const char *const groups[] = {"", "..", "a/b", "Example.com", "a b"};
	struct bed b;
	struct kinds_place place;
	set_up(&b);
	for (size_t i = 0; i < COUNT_OF(groups); i++) {
		cr_expect_eq(kinds_find(b.kinds, view_of(groups[i]), "Gadget", &place),
			KINDS_UNKNOWN, "%s", groups[i]);
	}
	step(&b, 1);
	cr_expect_eq(b.wire->count, 0);
	tear_down(&b);
}

Test(kinds, there_are_no_more_than_so_many)
{
	struct bed b;
	struct kinds_place place;
	char kind[32];
	set_up(&b);
	for (int i = 0; i < KINDS_MAX; i++) {
		snprintf(kind, sizeof kind, "Kind%d", i);
		cr_assert_eq(
			kinds_find(b.kinds, view_of("example.com"), kind, &place), KINDS_LATER);
	}
	cr_expect_eq(find(&b, &place), KINDS_UNKNOWN);
	tear_down(&b);
}
