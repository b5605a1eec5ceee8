/* The recorder: first at once, repetitions seldom, too much never. */
#include "kube/events.h"

#include "fake_wire.h"

struct fixture {
	struct fake_clock clock;
	struct fake_wire *wire;
	struct kube_cred *cred;
	struct metric_registry *metrics;
	struct kube *kube;
	struct events *events;
};

static void set_up(struct fixture *f)
{
	*f = (struct fixture){.clock = fake_clock_make(), .wire = fake_wire_create()};
	f->cred = kube_cred_create_plain("https://api", NULL, &f->clock.clock);
	f->metrics = metric_registry_create();
	f->kube = kube_create(&f->wire->wire, f->cred, &f->clock.clock, f->metrics);
	f->events = events_create(f->kube, "aliquot.dev/controller", "pod-1", 7);
}

static void tear_down(struct fixture *f)
{
	events_destroy(f->events);
	kube_destroy(f->kube);
	metric_registry_destroy(f->metrics);
	kube_cred_destroy(f->cred);
	fake_wire_destroy(f->wire);
}

static int64_t dropped(const struct fixture *f)
{
	const char *name = "aliquot_events_dropped_total";
	return metric_value(metric_get(f->metrics, METRIC_COUNTER, name, "", NULL));
}

static bool say(struct fixture *f, const char *name, const char *note)
{
	return events_emit(f->events, &(struct event_note){.api_version = "v1",
					      .kind = "Pod",
					      .ns = "team",
					      .name = name,
					      .uid = "u-1",
					      .reason = "Placed",
					      .note = note});
}

static void step(struct fixture *f, int64_t ms)
{
	fake_pass(&f->clock, ms);
	events_step(f->events, f->clock.mono);
}

static void answer_all(struct fixture *f, int status)
{
	for (size_t i = 0; i < f->wire->count; i++) {
		if (f->wire->calls[i].open) {
			fake_answer(&f->wire->calls[i], status, "{}");
		}
	}
}

Test(events, the_first_is_written_at_once)
{
	struct fixture f;
	set_up(&f);
	cr_expect_eq(events_deadline(f.events), TIME_NEVER);
	cr_expect(say(&f, "p", "placed on GPU 3"));
	cr_expect_leq(events_deadline(f.events), f.clock.mono);
	step(&f, 0);
	struct fake_call *c = fake_last(f.wire);
	cr_expect_eq(c->method, WIRE_POST);
	fake_expect_path(c, "/apis/events.k8s.io/v1/namespaces/team/events");
	cr_expect_not_null(strstr(c->body, "\"note\":\"placed on GPU 3\""));
	cr_expect_not_null(strstr(c->body, "\"reason\":\"Placed\""));
	cr_expect_not_null(strstr(c->body, "aliquot.dev/controller"));
	cr_expect_null(strstr(c->body, "\"series\":{"));
	fake_answer(c, 201, "{}");
	cr_expect_eq(events_deadline(f.events), TIME_NEVER);
	tear_down(&f);
}

Test(events, repetitions_become_a_series_written_every_five_minutes)
{
	struct fixture f;
	set_up(&f);
	say(&f, "p", "waits");
	step(&f, 0);
	answer_all(&f, 201);
	for (int i = 0; i < 299; i++) {
		say(&f, "p", "waits");
		step(&f, 1000);
	}
	cr_expect_eq(f.wire->count, 1);
	step(&f, 1000);
	cr_assert_eq(f.wire->count, 2);
	struct fake_call *c = fake_last(f.wire);
	cr_expect_eq(c->method, WIRE_PATCH);
	fake_expect_path(c, "/namespaces/team/events/p.");
	cr_expect_not_null(strstr(c->body, "\"count\":300"), "%s", c->body);
	answer_all(&f, 200);
	/* Nothing new is nothing to write. */
	step(&f, EVENTS_REPEAT_MS);
	step(&f, EVENTS_REPEAT_MS);
	cr_expect_eq(f.wire->count, 2);
	/* Another sentence is another event. */
	say(&f, "p", "waits for memory");
	say(&f, "q", "waits");
	step(&f, 0);
	cr_expect_eq(f.wire->count, 4);
	answer_all(&f, 201);
	tear_down(&f);
}

Test(events, a_series_that_the_server_forgot_is_posted_anew)
{
	struct fixture f;
	set_up(&f);
	say(&f, "p", "waits");
	step(&f, 0);
	answer_all(&f, 201);
	say(&f, "p", "waits");
	step(&f, EVENTS_REPEAT_MS);
	cr_assert_eq(fake_last(f.wire)->method, WIRE_PATCH);
	answer_all(&f, 404);
	step(&f, 1000);
	cr_expect_eq(fake_last(f.wire)->method, WIRE_POST);
	answer_all(&f, 201);
	tear_down(&f);
}

Test(events, a_flood_is_shed_and_counted)
{
	struct fixture f;
	set_up(&f);
	int taken = 0;
	for (int i = 0; i < 1000; i++) {
		char name[16];
		snprintf(name, sizeof name, "p-%d", i);
		taken += say(&f, name, "waits");
	}
	cr_expect_eq(taken, EVENTS_QUEUE_MAX);
	cr_expect_eq(dropped(&f), 1000 - EVENTS_QUEUE_MAX);
	/* The burst goes as fast as the server answers; after it five a second. */
	for (int i = 0; i < 20; i++) {
		step(&f, 0);
		cr_expect_leq(fake_open_count(f.wire), 4);
		answer_all(&f, 201);
	}
	cr_expect_eq(f.wire->count, EVENTS_BURST);
	for (int i = 0; i < 100; i++) {
		step(&f, 100);
		answer_all(&f, 201);
	}
	cr_expect_eq(f.wire->count, EVENTS_BURST + 50);
	tear_down(&f);
}

Test(events, a_refused_event_is_not_tried_again)
{
	struct fixture f;
	set_up(&f);
	say(&f, "p", "waits");
	step(&f, 0);
	answer_all(&f, 403);
	step(&f, EVENTS_REPEAT_MS);
	cr_expect_eq(f.wire->count, 1);
	/* Saying it again is a new event. */
	say(&f, "p", "waits");
	step(&f, 0);
	cr_expect_eq(f.wire->count, 2);
	answer_all(&f, 201);
	tear_down(&f);
}

Test(events, a_cluster_scoped_object_speaks_in_default)
{
	struct fixture f;
	set_up(&f);
	events_emit(f.events, &(struct event_note){.api_version = "aliquot.dev/v1alpha1",
				      .kind = "GPUPolicy",
				      .name = "night",
				      .reason = "Overlapping",
				      .note = "overlaps"});
	step(&f, 0);
	fake_expect_path(fake_last(f.wire), "/namespaces/default/events");
	answer_all(&f, 201);
	tear_down(&f);
}

Test(events, old_sentences_make_room_for_new_ones)
{
	struct fixture f;
	set_up(&f);
	int taken = 0;
	for (int i = 0; i < 400; i++) {
		char name[16];
		snprintf(name, sizeof name, "p-%d", i);
		taken += say(&f, name, "waits");
		step(&f, 3000);
		answer_all(&f, 201);
	}
	cr_expect_eq(taken, 400);
	cr_expect_eq(dropped(&f), 0);
	tear_down(&f);
}
