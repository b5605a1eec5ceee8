/* Calls: what goes out, what an answer means, and who is told about a 401. */
#include "kube/client.h"

#include <unistd.h>

#include "fake_wire.h"

struct fixture {
	struct fake_clock clock;
	struct fake_wire *wire;
	struct kube_cred *cred;
	struct kube *kube;
	int answers;
	struct fault fault;
	int status;
	struct str body;
};

static void set_up(struct fixture *f)
{
	*f = (struct fixture){
		.clock = fake_clock_make(), .wire = fake_wire_create(), .body = STR_INIT(1 << 20)};
	f->cred = kube_cred_create_plain("https://api", "secret", &f->clock.clock);
	f->kube = kube_create(&f->wire->wire, f->cred, &f->clock.clock, NULL);
}

static void tear_down(struct fixture *f)
{
	kube_destroy(f->kube);
	kube_cred_destroy(f->cred);
	fake_wire_destroy(f->wire);
	str_finish(&f->body);
}

static void on_done(void *data, const struct kube_answer *answer)
{
	struct fixture *f = data;
	f->answers++;
	f->fault = answer->fault;
	f->status = answer->status;
	str_reset(&f->body);
	str_append(&f->body, answer->body, answer->body_size);
}

static bool on_data(void *data, const char *p, size_t n)
{
	struct fixture *f = data;
	return str_append(&f->body, p, n);
}

Test(client, paths_are_escaped)
{
	CLEANUP(str_finish) struct str s = STR_INIT(4096);
	kube_path_append(&s, &(struct kube_path){.group_version = "v1",
				     .ns = "a",
				     .resource = "pods",
				     .name = "../b?c",
				     .subresource = "status"});
	kube_write_query_append(&s, KUBE_DRY_RUN | KUBE_FORCE);
	cr_expect_str_eq(str_text(&s),
		"/api/v1/namespaces/a/pods/..%2Fb%3Fc/status?fieldManager=aliquot"
		"&force=true&dryRun=All");
	str_reset(&s);
	kube_path_append(&s, &(struct kube_path){.group_version = "aliquot.dev/v1alpha1",
				     .resource = "gpupolicies"});
	kube_query_append(&s, "labelSelector", "a in (b,c)");
	cr_expect_str_eq(str_text(&s),
		"/apis/aliquot.dev/v1alpha1/gpupolicies?labelSelector=a%20in%20%28b%2Cc%29");
}

Test(client, a_call_carries_the_token_and_its_answer_comes_once)
{
	struct fixture f;
	set_up(&f);
	struct kube_path path = {.group_version = "v1", .resource = "nodes", .name = "n"};
	cr_expect_neq(kube_get(f.kube, &path, on_done, &f), 0);
	struct fake_call *c = fake_last(f.wire);
	cr_expect_str_eq(c->path, "/api/v1/nodes/n");
	cr_expect_str_eq(c->bearer, "secret");
	cr_expect_eq(c->timeout_ms, KUBE_TIMEOUT_MS);
	fake_answer(c, 200, "{}");
	cr_expect_eq(f.answers, 1);
	cr_expect_eq(f.fault.kind, FAULT_NONE);
	cr_expect_str_eq(str_text(&f.body), "{}");
	tear_down(&f);
}

Test(client, a_name_that_is_too_long_for_a_path_is_no_bug_of_ours)
{
	struct fixture f;
	char name[4051];
	memset(name, 'a', sizeof name - 1);
	name[sizeof name - 1] = '\0';
	set_up(&f);
	struct kube_path path = {.group_version = "v1",
		.ns = "team",
		.resource = "persistentvolumeclaims",
		.name = name};
	cr_expect_neq(kube_get(f.kube, &path, on_done, &f), 0);
	cr_expect_str_eq(fake_last(f.wire)->path, WIRE_NO_PATH);
	cr_expect_eq(f.answers, 0, "never from inside the call");
	struct wire_answer refused = {.body = ""};
	fault_set(&refused.fault, FAULT_INVALID, "a request path that cannot be sent");
	fake_finish(fake_last(f.wire), &refused);
	cr_expect_eq(f.answers, 1);
	cr_expect_eq(f.fault.kind, FAULT_INVALID);
	struct kube_write write = {
		.method = WIRE_PATCH, .path = path, .body = "{}", .body_size = 2};
	kube_put(f.kube, &write, on_done, &f);
	cr_expect_str_eq(fake_last(f.wire)->path, WIRE_NO_PATH);
	fake_finish(fake_last(f.wire), &refused);
	cr_expect_eq(f.fault.kind, FAULT_INVALID);
	cr_expect_not(f.fault.unknown_outcome, "it never left");
	tear_down(&f);
}

Test(client, cancel_and_destroy_are_silent)
{
	struct fixture f;
	set_up(&f);
	struct kube_path path = {.group_version = "v1", .resource = "nodes"};
	uint64_t id = kube_get(f.kube, &path, on_done, &f);
	kube_get(f.kube, &path, on_done, &f);
	kube_cancel(f.kube, id);
	kube_cancel(f.kube, id);
	kube_cancel(f.kube, 0);
	cr_expect(f.wire->calls[0].cancelled);
	cr_expect(f.wire->calls[1].open);
	tear_down(&f);
	cr_expect_eq(f.answers, 0);
}

static struct fault fault_of(int status, bool is_write, const char *body)
{
	struct fault fault;
	struct wire_answer answer = {
		.status = status, .body = body, .body_size = strlen(body), .retry_after_ms = 3000};
	kube_fault_of(&answer, is_write, &fault);
	return fault;
}

Test(client, answers_become_faults_by_kind)
{
	static const struct {
		int status;
		enum fault_kind kind;
	} table[] = {{200, FAULT_NONE}, {201, FAULT_NONE}, {400, FAULT_INVALID},
		{401, FAULT_DENIED}, {403, FAULT_DENIED}, {404, FAULT_NOT_FOUND},
		{409, FAULT_CONFLICT}, {410, FAULT_GONE}, {413, FAULT_LIMIT}, {422, FAULT_INVALID},
		{429, FAULT_LIMIT}, {500, FAULT_TRANSIENT}, {503, FAULT_TRANSIENT},
		{504, FAULT_TRANSIENT}};
	for (size_t i = 0; i < COUNT_OF(table); i++) {
		struct fault f = fault_of(table[i].status, false, "");
		cr_expect_eq(f.kind, table[i].kind, "%d is %s", table[i].status,
			fault_kind_name(f.kind));
	}
	struct fault f = fault_of(409, true,
		"{\"kind\":\"Status\",\"code\":409,\"reason\":\"Conflict\",\"message\":\"pods x: "
		"be quick\"}");
	cr_expect_not_null(strstr(f.message, "be quick"));
	cr_expect_eq(f.status, 409);
	cr_expect_eq(f.retry_after_ms, 3000);
	cr_expect_not(f.unknown_outcome);
	cr_expect(fault_of(500, true, "").unknown_outcome);
	cr_expect(fault_of(504, true, "").unknown_outcome);
	cr_expect_not(fault_of(504, false, "").unknown_outcome);
	cr_expect_not(fault_of(429, true, "").unknown_outcome);
}

Test(client, what_the_wire_knows_about_the_outcome_is_kept)
{
	struct fixture f;
	set_up(&f);
	struct kube_write write = {.method = WIRE_POST,
		.path = {.group_version = "v1", .ns = "a", .resource = "pods"},
		.content_type = KUBE_JSON,
		.body = "{}",
		.body_size = 2};
	kube_put(f.kube, &write, on_done, &f);
	cr_expect_str_eq(fake_last(f.wire)->path, "/api/v1/namespaces/a/pods?fieldManager=aliquot");
	cr_expect_str_eq(fake_last(f.wire)->body, "{}");
	fake_fail(fake_last(f.wire), true);
	cr_expect_eq(f.fault.kind, FAULT_TRANSIENT);
	cr_expect(f.fault.unknown_outcome);
	cr_expect_eq(f.status, 0);
	kube_put(f.kube, &write, on_done, &f);
	fake_fail(fake_last(f.wire), false);
	cr_expect_not(f.fault.unknown_outcome);
	tear_down(&f);
}

Test(client, a_stream_hands_on_a_200_and_reads_the_rest_as_a_status)
{
	struct fixture f;
	set_up(&f);
	static const struct kube_stream_events events = {.on_data = on_data, .on_done = on_done};
	kube_stream(f.kube, "/api/v1/pods?watch=true", 5000, &events, &f);
	struct fake_call *c = fake_last(f.wire);
	cr_expect(c->stream);
	fake_data(c, "abc");
	cr_expect_str_eq(str_text(&f.body), "abc");
	fake_close(c);
	cr_expect_eq(f.fault.kind, FAULT_NONE);

	/* Whether the wire hands the body of a refusal over in pieces or at the end. */
	static const char *gone =
		"{\"kind\":\"Status\",\"code\":410,\"reason\":\"Expired\",\"message\":\"old\"}";
	kube_stream(f.kube, "/x", 5000, &events, &f);
	c = fake_last(f.wire);
	cr_expect(c->events->on_data(c->data, 410, gone, 20));
	cr_expect(c->events->on_data(c->data, 410, gone + 20, strlen(gone) - 20));
	fake_answer(c, 410, "");
	cr_expect_eq(f.fault.kind, FAULT_GONE);
	cr_expect_not_null(strstr(f.fault.message, "old"), "%s", f.fault.message);
	kube_stream(f.kube, "/x", 5000, &events, &f);
	fake_answer(fake_last(f.wire), 410, gone);
	cr_expect_eq(f.fault.kind, FAULT_GONE);
	tear_down(&f);
}

Test(client, what_a_namespace_may_be_called)
{
	static const char *const good[] = {"a", "9", "team-a", "a--b",
		"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"};
	static const char *const bad[] = {"", ".", "..", "a.b", "a/b", "-a", "a-", "-", "A", "a b",
		"\u00e4", "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"};
	for (size_t i = 0; i < COUNT_OF(good); i++) {
		cr_expect(kube_is_label(good[i]), "%s", good[i]);
	}
	for (size_t i = 0; i < COUNT_OF(bad); i++) {
		cr_expect(!kube_is_label(bad[i]), "%s", bad[i]);
	}
}
