/* Owners of owners, read when somebody asks. */
#include "lookup/owners.h"

#include "../kube/fake_wire.h"
#include "codec/discovery.h"
#include "owner/owner.h"

#define GROUP	  "{\"preferredVersion\":{\"groupVersion\":\"example.com/v1\",\"version\":\"v1\"}}"
#define RESOURCES "{\"resources\":[{\"name\":\"gadgets\",\"kind\":\"Gadget\",\"namespaced\":true}]}"
#define OWNED(by)                                                                                  \
	"{\"metadata\":{\"name\":\"g\",\"ownerReferences\":[{\"apiVersion\":\"example.com/v1\","   \
	"\"kind\":\"Widget\",\"name\":\"" by "\",\"uid\":\"u\",\"controller\":true}]}}"

/* Its controller has its own kind and name. */
#define OWN                                                                                        \
	"{\"metadata\":{\"name\":\"g\",\"ownerReferences\":[{\"apiVersion\":\"example.com/v1\","   \
	"\"kind\":\"Gadget\",\"name\":\"g\",\"uid\":\"new\",\"controller\":true}]}}"

struct bed {
	struct fake_clock clock;
	struct fake_wire *wire;
	struct kube_cred *cred;
	struct kube *kube;
	struct owners *owners;
};

static void set_up(struct bed *b)
{
	*b = (struct bed){.clock = fake_clock_make(), .wire = fake_wire_create()};
	b->cred = kube_cred_create_plain("https://api", NULL, &b->clock.clock);
	b->kube = kube_create(&b->wire->wire, b->cred, &b->clock.clock, NULL);
	b->owners = owners_create(b->kube);
}

static void tear_down(struct bed *b)
{
	owners_part.destroy(b->owners);
	kube_destroy(b->kube);
	kube_cred_destroy(b->cred);
	fake_wire_destroy(b->wire);
}

static void step(struct bed *b, int64_t ms)
{
	fake_pass(&b->clock, ms);
	owners_part.step(b->owners, &(struct turn){.now = b->clock.mono});
}

static enum owner_answer ask(struct bed *b, const char *ns, const char *name, struct owner *ret)
{
	const struct owner_port *p = owners_port(b->owners);
	const struct owner_top top = {
		.group = view_of("example.com"), .kind = "Gadget", .name = view_of(name)};
	return p->above(p->data, ns, &top, ret);
}

static uint64_t version(struct bed *b)
{
	const struct owner_port *p = owners_port(b->owners);
	return p->version(p->data);
}

/* Until the object itself is asked for. */
static struct fake_call *asked(struct bed *b)
{
	struct owner o;
	cr_assert_eq(ask(b, "team", "g", &o), OWNER_LATER);
	step(b, 1);
	fake_answer(fake_last(b->wire), 200, GROUP);
	fake_answer(fake_last(b->wire), 200, RESOURCES);
	step(b, 1);
	return fake_last(b->wire);
}

Test(owners, a_reference_is_read_as_metadata_alone_and_remembered)
{
	struct bed b;
	struct owner o;
	set_up(&b);
	struct fake_call *c = asked(&b);
	fake_expect_path(c, "/apis/example.com/v1/namespaces/team/gadgets/g");
	cr_expect_str_eq(c->accept, DISCOVERY_METADATA);
	cr_expect_eq(ask(&b, "team", "g", &o), OWNER_LATER);
	fake_answer(c, 200, OWNED("w"));
	cr_assert_eq(ask(&b, "team", "g", &o), OWNER_ABOVE);
	cr_expect_str_eq(o.kind, "Widget");
	cr_expect_str_eq(o.name, "w");
	cr_expect_eq(version(&b), 0, "nobody was told otherwise before");
	step(&b, 60000);
	cr_expect_eq(b.wire->count, 3);
	tear_down(&b);
}

Test(owners, one_that_changed_is_told)
{
	struct bed b;
	struct owner o;
	set_up(&b);
	fake_answer(asked(&b), 200, OWNED("w"));
	for (int i = 0; i < 31; i++) {
		(void)ask(&b, "team", "g", &o);
		step(&b, 60000);
	}
	struct fake_call *c = fake_last(b.wire);
	cr_assert(c->open, "it is read again after half an hour");
	cr_expect_eq(ask(&b, "team", "g", &o), OWNER_ABOVE, "and what was known holds meanwhile");
	fake_answer(c, 200, "{\"metadata\":{\"name\":\"g\"}}");
	cr_expect_eq(ask(&b, "team", "g", &o), OWNER_NONE);
	cr_expect_eq(version(&b), 1);
	tear_down(&b);
}

Test(owners, R12_what_may_not_be_read_is_unknown_for_all_of_its_kind)
{
	struct bed b;
	struct owner o;
	set_up(&b);
	fake_answer(asked(&b), 403, "{}");
	cr_expect_eq(ask(&b, "team", "g", &o), OWNER_UNKNOWN);
	size_t before = b.wire->count;
	cr_expect_eq(ask(&b, "team", "h", &o), OWNER_LATER);
	step(&b, 1);
	cr_expect_eq(ask(&b, "team", "h", &o), OWNER_UNKNOWN);
	cr_expect_eq(b.wire->count, before, "nobody asks in vain");
	tear_down(&b);
}

static enum owner_answer ask_for(struct bed *b, const char *uid, struct owner *ret)
{
	const struct owner_port *p = owners_port(b->owners);
	const struct owner_top top = {.group = view_of("example.com"),
		.kind = "Gadget",
		.name = view_of("g"),
		.uid = uid};
	return p->above(p->data, "team", &top, ret);
}

/* For so many minutes it is asked for, and its kind as well; the last request that is open. */
static struct fake_call *later(struct bed *b, int minutes)
{
	struct owner o;
	for (int i = 0; i < minutes; i++) {
		(void)ask_for(b, "old", &o);
		step(b, 60000);
	}
	return fake_last(b->wire);
}

static void known(struct bed *b)
{
	struct owner o;
	set_up(b);
	(void)ask_for(b, "old", &o);
	fake_answer(asked(b), 200, OWNED("w"));
	cr_assert_eq(ask_for(b, "old", &o), OWNER_ABOVE);
}

/* Pods that are there would be another workload's, and new ones start whole, for as long. */
Test(owners, what_was_known_outlasts_what_tells_nothing)
{
	static const int statuses[] = {403, 404, 429, 500};
	for (size_t i = 0; i < COUNT_OF(statuses); i++) {
		struct bed b;
		struct owner o;
		known(&b);
		struct fake_call *c = later(&b, 31);
		cr_assert(c->open);
		fake_answer(c, statuses[i], "{}");
		cr_expect_eq(ask_for(&b, "old", &o), OWNER_ABOVE, "%d", statuses[i]);
		cr_expect_str_eq(o.name, "w");
		(void)later(&b, 12);
		cr_expect_eq(ask_for(&b, "old", &o), OWNER_ABOVE, "%d", statuses[i]);
		cr_expect_eq(version(&b), 0);
		tear_down(&b);
	}
}

/* What was known of one that is gone is not about the next one of its name. */
Test(owners, another_object_of_its_name_is_another)
{
	struct bed b;
	struct owner o;
	known(&b);
	cr_expect_eq(ask_for(&b, "new", &o), OWNER_ABOVE, "one of them is there");
	fake_answer(later(&b, 31), 404, "{}");
	cr_expect_eq(ask_for(&b, "old", &o), OWNER_ABOVE);
	cr_expect_eq(ask_for(&b, "new", &o), OWNER_LATER);
	step(&b, 1);
	struct fake_call *c = fake_last(b.wire);
	cr_assert(c->open);
	fake_answer(c, 200, OWNED("v"));
	cr_assert_eq(ask_for(&b, "new", &o), OWNER_ABOVE);
	cr_expect_str_eq(o.name, "v");
	tear_down(&b);
}

static void answer_all(struct bed *b)
{
	for (size_t i = 0; i < b->wire->count; i++) {
		if (b->wire->calls[i].open) {
			fake_answer(&b->wire->calls[i], 404, "{}");
		}
	}
}

/* Each version has every pod be given to its workload anew. */
Test(owners, two_of_one_name_that_are_both_gone_do_not_take_turns)
{
	struct bed b;
	struct owner o;
	known(&b);
	fake_answer(later(&b, 31), 404, "{}");
	size_t before = b.wire->count;
	for (int minute = 0; minute < 60; minute++) {
		(void)ask_for(&b, minute % 2 == 0 ? "new" : "old", &o);
		step(&b, 1);
		answer_all(&b);
		step(&b, 59999);
		answer_all(&b);
	}
	cr_expect_leq(b.wire->count - before, 20, "%zu requests", b.wire->count - before);
	cr_expect_eq(version(&b), 1);
	cr_expect_eq(ask_for(&b, "old", &o), OWNER_UNKNOWN);
	tear_down(&b);
}

/* Nobody waits for it, for it was given to its workload as it was. */
Test(owners, one_that_comes_after_two_that_are_gone_is_found)
{
	struct bed b;
	struct owner o;
	known(&b);
	fake_answer(later(&b, 31), 404, "{}");
	cr_assert_eq(ask_for(&b, "new", &o), OWNER_LATER);
	step(&b, 1);
	answer_all(&b);
	cr_expect_eq(ask_for(&b, "third", &o), OWNER_UNKNOWN);
	uint64_t before = version(&b);
	for (int minute = 0; minute < 7; minute++) {
		(void)ask_for(&b, "third", &o);
		step(&b, 60000);
		struct fake_call *c = fake_last(b.wire);
		if (c->open) {
			fake_answer(c, 200, OWNED("v"));
		}
	}
	cr_assert_eq(ask_for(&b, "third", &o), OWNER_ABOVE);
	cr_expect_str_eq(o.name, "v");
	cr_expect_eq(version(&b), before + 1);
	tear_down(&b);
}

Test(owners, what_was_handed_out_stays_until_the_next_step)
{
	struct bed b;
	struct owner before, o;
	known(&b);
	fake_answer(later(&b, 31), 404, "{}");
	cr_assert_eq(ask_for(&b, "old", &before), OWNER_ABOVE);
	cr_assert_eq(ask_for(&b, "new", &o), OWNER_LATER);
	cr_expect_str_eq(before.name, "w");
	cr_expect_str_eq(before.kind, "Widget");
	tear_down(&b);
}

Test(owners, one_that_names_itself_is_the_top)
{
	struct bed b;
	struct owner o;
	const struct pod pod = {
		.ns = "team", .name = "p", .owner = {"example.com/v1", "Gadget", "g", "old"}};
	set_up(&b);
	(void)ask_for(&b, "old", &o);
	fake_answer(asked(&b), 200, OWN);
	fake_answer(later(&b, 31), 404, "{}");
	struct owner_top top = owner_top_of(&pod, owners_port(b.owners));
	cr_expect_str_eq(top.kind, "Gadget");
	cr_expect(view_equals(top.name, "g"));
	cr_expect_str_eq(top.uid, "old");
	cr_expect_not(top.pending);
	cr_expect_eq(version(&b), 0);
	tear_down(&b);
}

Test(owners, nobody_waits_for_ever)
{
	struct bed b;
	struct owner o;
	set_up(&b);
	cr_expect_eq(ask(&b, "team", "g", &o), OWNER_LATER);
	step(&b, 30001);
	cr_expect_eq(ask(&b, "team", "g", &o), OWNER_UNKNOWN);
	tear_down(&b);
}

Test(owners, one_namespace_does_not_fill_it_and_who_is_not_asked_for_goes)
{
	struct bed b;
	struct owner o;
	char name[32];
	set_up(&b);
	for (int i = 0; i < OWNERS_SPACE_MAX + 5; i++) {
		snprintf(name, sizeof name, "g%d", i);
		(void)ask(&b, "greedy", name, &o);
	}
	cr_expect_eq(owners_count(b.owners), OWNERS_SPACE_MAX);
	cr_expect_eq(ask(&b, "team", "g", &o), OWNER_LATER);
	step(&b, 800000);
	(void)ask(&b, "greedy", "g0", &o);
	(void)ask(&b, "greedy", "g1", &o);
	step(&b, 100001);
	cr_expect_eq(owners_count(b.owners), 2);
	for (int i = 0; i < OWNERS_SPACE_MAX + 5; i++) {
		snprintf(name, sizeof name, "h%d", i);
		(void)ask(&b, "greedy", name, &o);
	}
	cr_expect_eq(owners_count(b.owners), OWNERS_SPACE_MAX, "there is room for as many again");
	step(&b, 900001);
	cr_expect_eq(owners_count(b.owners), 0);
	tear_down(&b);
}

Test(owners, there_is_a_pace)
{
	struct bed b;
	struct owner o;
	char name[32];
	set_up(&b);
	fake_answer(asked(&b), 200, OWNED("w"));
	size_t before = b.wire->count;
	for (int i = 0; i < 100; i++) {
		snprintf(name, sizeof name, "g%d", i);
		(void)ask(&b, "team", name, &o);
	}
	for (int ms = 0; ms < 10000; ms += 50) {
		step(&b, 50);
		for (size_t i = 0; i < b.wire->count; i++) {
			if (b.wire->calls[i].open) {
				fake_answer(&b.wire->calls[i], 200, OWNED("w"));
			}
		}
	}
	size_t sent = b.wire->count - before;
	cr_expect(sent >= 40 && sent <= 62, "%zu in 10 s", sent);
	tear_down(&b);
}

Test(owners, names_that_are_another_path_are_not_asked_for)
{
	static const char *const names[] = {"", ".", ".."};
	struct bed b;
	struct owner o;
	set_up(&b);
	for (size_t i = 0; i < COUNT_OF(names); i++) {
		cr_expect_eq(ask(&b, "team", names[i], &o), OWNER_UNKNOWN);
	}
	cr_expect_eq(ask(&b, "", "g", &o), OWNER_UNKNOWN);
	cr_expect_eq(owners_count(b.owners), 0);
	tear_down(&b);
}

static enum owner_answer look_up(struct bed *b, const char *ns, const char *uid, struct owner *ret)
{
	const struct owner_port *p = owners_known(b->owners);
	const struct owner_top top = {.group = view_of("example.com"),
		.kind = "Gadget",
		.name = view_of("g"),
		.uid = uid};
	return p->above(p->data, ns, &top, ret);
}

/* Reviews may come from anybody who reaches the port, about whatever they think up: they must not
 * fill what the sizer needs, nor have the API server asked. */
Test(owners, a_look_up_makes_nothing_and_keeps_nothing_alive)
{
	struct bed b;
	struct owner o;
	char ns[32];
	known(&b);
	size_t sent = b.wire->count;
	for (int i = 0; i < OWNERS_MAX + 100; i++) {
		snprintf(ns, sizeof ns, "made-up-%d", i);
		cr_assert_eq(look_up(&b, ns, "u", &o), OWNER_UNKNOWN);
	}
	cr_expect_eq(owners_count(b.owners), 1);
	cr_expect_eq(look_up(&b, "team", "old", &o), OWNER_ABOVE);
	cr_expect_str_eq(o.name, "w");
	step(&b, 1);
	cr_expect_eq(b.wire->count, sent);
	cr_expect_eq(ask(&b, "elsewhere", "g", &o), OWNER_LATER, "there is room for who exists");
	for (int minute = 0; minute < 20; minute++) {
		(void)look_up(&b, "team", "old", &o);
		step(&b, 60000);
	}
	cr_expect_eq(owners_count(b.owners), 0, "nobody who counts asked for it");
	cr_expect_eq(look_up(&b, "team", "old", &o), OWNER_UNKNOWN);
	tear_down(&b);
}

Test(owners, a_look_up_does_not_take_a_new_object_for_one_that_is_gone)
{
	struct bed b;
	struct owner o;
	known(&b);
	fake_answer(later(&b, 31), 404, "{}");
	cr_expect_eq(look_up(&b, "team", "old", &o), OWNER_ABOVE);
	cr_expect_eq(look_up(&b, "team", "new", &o), OWNER_UNKNOWN);
	cr_expect_eq(ask_for(&b, "new", &o), OWNER_LATER, "and it was not taken over");
	tear_down(&b);
}
