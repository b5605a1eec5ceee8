/* The in-flight table: who may write, how much at a time, and how actions end. */
#include "act/act.h"

#include "fixture.h"

Test(act, an_event_goes_to_the_recorder)
{
	struct fixture *f = set_up();
	struct action x = {.id = 7,
		.type = ACTION_EVENT,
		.ns = "team",
		.name = "tenant",
		.uid = "t-uid",
		.reason = REASON_PLACED,
		.message = "placed",
		.regarding_kind = "Pod",
		.regarding_api_version = "v1"};
	act_submit(f->act, &x);
	cr_expect_eq(f->count, 0, "no outcome from inside a submit");
	step(f, 0);
	cr_expect_eq(last_heard(f)->id, 7);
	cr_expect_eq(last_heard(f)->fault.kind, FAULT_NONE);
	cr_expect_eq(events_queued(f->recorder), 1);
	tear_down(f);
}

Test(act, a_process_that_does_not_lead_writes_nothing)
{
	struct fixture *f = set_up();
	struct action x = place_action();
	f->leads = false;
	act_submit(f->act, &x);
	cr_expect_eq(f->count, 0);
	step(f, 0);
	cr_expect_eq(last_heard(f)->fault.kind, FAULT_DENIED);
	cr_expect_str_eq(last_heard(f)->fault.message, "not leading");
	/* Queued while leading, lost before it was sent. */
	f->leads = true;
	act_submit(f->act, &x);
	f->leads = false;
	step(f, 0);
	cr_expect_eq(f->count, 2);
	cr_expect_eq(last_heard(f)->fault.kind, FAULT_DENIED);
	/* Lost between the read and the write of a placement. */
	f->leads = true;
	x.node_term_count = 1;
	act_submit(f->act, &x);
	step(f, 0);
	f->leads = false;
	fake_answer(fake_last(f->wire), 200, LIVE("41", "{" ZONE("In") "}"));
	cr_expect_eq(f->count, 3);
	cr_expect_eq(last_heard(f)->fault.kind, FAULT_DENIED);
	cr_expect_eq(f->wire->count, 1, "a read is all that ever left");
	tear_down(f);
}

/* C33: an answer that comes when another one may lead is of no use, nor is a write that lands then.
 */
Test(act, a_write_does_not_outlast_the_lease)
{
	struct fixture *f = set_up();
	struct action x = create_action();
	f->left_ms = 4200;
	act_submit(f->act, &x);
	step(f, 0);
	cr_expect_eq(fake_last(f->wire)->timeout_ms, 4200);
	tear_down(f);
}

Test(act, an_unknown_outcome_is_called_so_and_nothing_is_retried)
{
	struct fixture *f = set_up();
	struct action x = place_action();
	act_submit(f->act, &x);
	step(f, 0);
	fake_fail(fake_last(f->wire), true);
	cr_expect_eq(last_heard(f)->fault.kind, FAULT_TRANSIENT);
	cr_expect(last_heard(f)->fault.unknown_outcome);
	step(f, 60000);
	act_submit(f->act, &x);
	step(f, 0);
	fake_answer(fake_last(f->wire), 504, "{}");
	cr_expect(last_heard(f)->fault.unknown_outcome);
	act_submit(f->act, &x);
	step(f, 0);
	fake_answer(fake_last(f->wire), 409, "{}");
	cr_expect_eq(last_heard(f)->fault.kind, FAULT_CONFLICT);
	cr_expect_not(last_heard(f)->fault.unknown_outcome);
	step(f, 60000);
	cr_expect_eq(f->wire->count, 3);
	tear_down(f);
}

#define FENCED                                                                                     \
	"{\"kind\":\"Status\",\"code\":403,\"reason\":\"Forbidden\",\"message\":\"pods "           \
	"\\\"tenant\\\" is "                                                                       \
	"forbidden: ValidatingAdmissionPolicy 'aliquot-term' with binding 'aliquot-term' denied "  \
	"request: no\"}"
#define NO_RIGHT                                                                                   \
	"{\"kind\":\"Status\",\"code\":403,\"reason\":\"Forbidden\",\"message\":\"pods "           \
	"\\\"tenant\\\" is "                                                                       \
	"forbidden: User cannot patch\"}"

Test(act, c33_a_placement_of_an_earlier_term_is_told_from_other_refusals)
{
	struct fixture *f = set_up();
	struct action x = place_action();
	static const char *const answers[] = {FENCED, NO_RIGHT};
	for (size_t i = 0; i < COUNT_OF(answers); i++) {
		act_submit(f->act, &x);
		step(f, 0);
		fake_answer(fake_last(f->wire), 403, answers[i]);
		const struct fault *fault = &last_heard(f)->fault;
		cr_expect_eq(fault->kind, FAULT_DENIED);
		cr_expect_not(fault->unknown_outcome);
		cr_expect_eq(act_was_fenced(&x, fault), i == 0);
	}
	struct action other = create_action();
	cr_expect_not(act_was_fenced(&other, &f->heard[0].fault), "only placements have a term");
	tear_down(f);
}

static void submit_place(struct fixture *f, uint64_t id, const char *name)
{
	struct action x = place_action();
	x.id = id;
	x.name = name;
	act_submit(f->act, &x);
}

Test(act, sixty_four_at_a_time_and_a_queue_with_an_end)
{
	struct fixture *f = set_up();
	for (uint64_t i = 0; i < ACT_QUEUE_MAX + 10; i++) {
		char name[16];
		snprintf(name, sizeof name, "p-%u", (unsigned)i);
		submit_place(f, i, name);
	}
	step(f, 0);
	cr_expect_eq(f->wire->count, ACT_IN_FLIGHT_MAX);
	cr_expect_eq(act_in_flight(f->act), ACT_IN_FLIGHT_MAX);
	cr_expect_eq(f->count, 10);
	cr_expect_eq(last_heard(f)->fault.kind, FAULT_LIMIT);
	fake_answer(&f->wire->calls[0], 200, POD_ANSWER);
	cr_expect_leq(act_deadline(f->act), f->clock.mono);
	step(f, 0);
	cr_expect_eq(f->wire->count, ACT_IN_FLIGHT_MAX + 1);
	fake_expect_path(fake_last(f->wire), "/pods/p-64?");
	tear_down(f);
}

Test(act, one_write_at_a_time_to_one_object)
{
	struct fixture *f = set_up();
	submit_place(f, 1, "a");
	step(f, 0);
	submit_place(f, 2, "a");
	submit_place(f, 3, "b");
	step(f, 0);
	cr_expect_eq(f->wire->count, 2);
	fake_expect_path(fake_last(f->wire), "/pods/b?");
	/* A newer one in the queue takes the place of an older one. */
	submit_place(f, 4, "a");
	step(f, 0);
	cr_expect_eq(last_heard(f)->id, 2);
	cr_expect_eq(last_heard(f)->fault.kind, FAULT_CONFLICT);
	fake_answer(&f->wire->calls[0], 200, POD_ANSWER);
	step(f, 0);
	cr_expect_eq(f->wire->count, 3);
	fake_answer(&f->wire->calls[2], 200, POD_ANSWER);
	cr_expect_eq(last_heard(f)->id, 4);
	tear_down(f);
}

/* It would fail a write that is worth more. */
Test(act, a_condition_that_waits_yields_to_the_placement_of_its_pod)
{
	struct fixture *f = set_up();
	submit_place(f, 1, "a");
	step(f, 0);
	struct action x = place_action();
	x.id = 2;
	x.type = ACTION_CONDITION;
	x.name = "a";
	act_submit(f->act, &x);
	x.id = 3;
	x.name = "b";
	act_submit(f->act, &x);
	submit_place(f, 4, "a");
	step(f, 0);
	cr_expect_eq(f->count, 1);
	cr_expect_eq(last_heard(f)->id, 2);
	cr_expect_eq(last_heard(f)->fault.kind, FAULT_CONFLICT);
	cr_expect_eq(f->wire->count, 2, "b is told");
	tear_down(f);
}

Test(act, events_are_dropped_while_writes_wait)
{
	struct fixture *f = set_up();
	struct action x = {.id = 1000,
		.type = ACTION_EVENT,
		.ns = "n",
		.name = "p",
		.uid = "u",
		.regarding_kind = "Pod",
		.regarding_api_version = "v1",
		.event_reason = "Placed",
		.message = "placed"};
	for (uint64_t i = 0; i < ACT_IN_FLIGHT_MAX; i++) {
		char name[16];
		snprintf(name, sizeof name, "p-%u", (unsigned)i);
		submit_place(f, i, name);
	}
	cr_expect(act_is_busy(f->act));
	act_submit(f->act, &x);
	step(f, 0);
	cr_expect_eq(last_heard(f)->id, 1000);
	cr_expect_eq(last_heard(f)->fault.kind, FAULT_LIMIT);
	cr_expect_not(act_is_busy(f->act));
	x.id++;
	act_submit(f->act, &x);
	step(f, 0);
	cr_expect_eq(last_heard(f)->id, 1001);
	cr_expect_eq(last_heard(f)->fault.kind, FAULT_NONE);
	tear_down(f);
}

Test(act, conditions_keep_to_twenty_a_second)
{
	struct fixture *f = set_up();
	step(f, 60000); /* a minute in which nothing was said is no credit */
	for (uint64_t i = 0; i < 50; i++) {
		char name[16];
		snprintf(name, sizeof name, "p-%u", (unsigned)i);
		struct action x = {
			.id = i, .type = ACTION_CONDITION, .ns = "n", .name = name, .uid = "u"};
		act_submit(f->act, &x);
	}
	step(f, 0);
	cr_expect_eq(f->wire->count, 20);
	/* A grant does not wait behind them. */
	submit_place(f, 100, "a");
	step(f, 0);
	cr_expect_eq(f->wire->count, 21);
	cr_expect_eq(act_deadline(f->act), f->clock.mono + 50);
	for (int i = 0; i < 10; i++) {
		step(f, 50);
	}
	cr_expect_eq(f->wire->count, 31);
	tear_down(f);
}

Test(act, another_pod_of_the_same_name_is_a_conflict)
{
	struct fixture *f = set_up();
	struct action x = {
		.id = 5, .type = ACTION_CONDITION, .ns = "team", .name = "tenant", .uid = "t-uid"};
	act_submit(f->act, &x);
	step(f, 0);
	fake_answer(fake_last(f->wire), 422,
		"{\"kind\":\"Status\",\"code\":422,\"reason\":\"Invalid\",\"message\":\"Pod "
		"\\\"tenant\\\" is "
		"invalid: metadata.uid: Invalid value: \\\"t-uid\\\": field is immutable\"}");
	cr_expect_eq(last_heard(f)->fault.kind, FAULT_CONFLICT);
	act_submit(f->act, &x);
	step(f, 0);
	fake_answer(fake_last(f->wire), 422,
		"{\"kind\":\"Status\",\"code\":422,\"reason\":\"Invalid\",\"message\":\"status: "
		"wrong\"}");
	cr_expect_eq(last_heard(f)->fault.kind, FAULT_INVALID);
	tear_down(f);
}

#define TENANT(uid, gates)                                                                         \
	"{\"metadata\":{\"namespace\":\"team\",\"name\":\"half\",\"uid\":\"" uid "\","             \
	"\"resourceVersion\":\"9\"},\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"i\"}],"  \
	"\"schedulingGates\":[" gates "]},\"status\":{\"phase\":\"Pending\"}}"
#define GATE "{\"name\":\"" NAME_GATE "\"}"

/* A watch may be late, and a ledger that has lost somebody who runs is sold twice. */
Test(act, who_is_struck_out_is_asked_for_first)
{
	static const struct {
		int status;
		const char *body;
		enum fault_kind ends; /* FAULT_NONE: it is written */
	} rows[] = {
		{200, TENANT("h1", GATE), FAULT_NONE},
		{200, TENANT("another", ""), FAULT_NONE},
		{404, "{}", FAULT_NONE},
		{200, TENANT("h1", ""), FAULT_CONFLICT},
		{200, TENANT("h1", "{\"name\":\"example.com/quota\"}"), FAULT_CONFLICT},
		{500, "{}", FAULT_TRANSIENT},
	};
	struct grant half[] = {{.uid = "h1", .ns = "team", .name = "half"},
		{.uid = "g1", .ns = "team", .name = "gone"}};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct fixture *f = set_up();
		struct action x = {.id = 6,
			.type = ACTION_GRANT,
			.ns = NAME_NAMESPACE,
			.name = "cap",
			.uid = "c1",
			.resource_version = "7",
			.still = {half, 2}};
		act_submit(f->act, &x);
		step(f, 0);
		cr_assert_eq(fake_last(f->wire)->method, WIRE_GET, "row %zu", i);
		cr_assert_str_eq(fake_last(f->wire)->path, "/api/v1/namespaces/team/pods/half");
		fake_answer(fake_last(f->wire), rows[i].status, rows[i].body);
		if (rows[i].ends != FAULT_NONE) {
			cr_expect_eq(last_heard(f)->fault.kind, rows[i].ends, "row %zu", i);
			cr_expect_eq(f->wire->count, 1, "and nothing is written");
			tear_down(f);
			continue;
		}
		cr_assert_str_eq(fake_last(f->wire)->path, "/api/v1/namespaces/team/pods/gone");
		f->leads = i != 0;
		fake_answer(fake_last(f->wire), 404, "{}");
		if (i == 0) {
			cr_expect_eq(last_heard(f)->fault.kind, FAULT_DENIED, "not leading now");
		} else {
			cr_expect_eq(fake_last(f->wire)->method, WIRE_PATCH, "row %zu", i);
			cr_expect_eq(f->count, 0);
		}
		tear_down(f);
	}
}
