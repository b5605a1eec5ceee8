/* One list, page after page. */
#include "kube/lister.h"

#define FAKE_CALLS_MAX (LISTER_PAGES_MAX + 1)
#include "fake_wire.h"

#define PAGE(more, ...)                                                                            \
	"{\"metadata\":{\"resourceVersion\":\"7\",\"continue\":\"" more                            \
	"\"},\"items\":[" __VA_ARGS__ "]}"
#define POD(name) "{\"metadata\":{\"name\":\"" name "\",\"namespace\":\"team\"}}"

struct bed {
	struct fake_clock clock;
	struct fake_wire *wire;
	struct kube_cred *cred;
	struct kube *kube;
	struct lister *lister;
	struct str heard; /* "begin a b done:transient" */
	int done;
	struct fault unasked;
};

static void on_begin(void *data)
{
	str_append_text(&((struct bed *)data)->heard, "begin ");
}

static void on_object(void *data, const char *json, size_t n)
{
	struct bed *b = data;
	const char *name = strstr(json, "\"name\":\"");
	cr_assert_eq(strlen(json), n);
	cr_assert_not_null(name);
	name += 8;
	str_append(&b->heard, name, strcspn(name, "\""));
	str_append_char(&b->heard, ' ');
}

static void on_oversize(void *data)
{
	str_append_text(&((struct bed *)data)->heard, "oversize ");
}

static void on_done(void *data, const struct fault *fault)
{
	struct bed *b = data;
	b->done++;
	str_append_format(&b->heard, "done:%s", fault_kind_name(fault->kind));
}

static const struct lister_events events = {on_begin, on_object, on_oversize, on_done};

static void set_up(struct bed *b, const char *ns)
{
	const struct reflector_kind kind = {
		.name = "pods", .group_version = "v1", .resource = "pods", .ns = ns};
	*b = (struct bed){
		.clock = fake_clock_make(), .wire = fake_wire_create(), .heard = STR_INIT(1 << 20)};
	b->cred = kube_cred_create_plain("https://api", NULL, &b->clock.clock);
	b->kube = kube_create(&b->wire->wire, b->cred, &b->clock.clock, NULL);
	b->lister = lister_create(b->kube, &kind, &events, b, &b->unasked);
}

static void tear_down(struct bed *b)
{
	lister_destroy(b->lister);
	kube_destroy(b->kube);
	kube_cred_destroy(b->cred);
	fake_wire_destroy(b->wire);
	str_finish(&b->heard);
}

static void give(struct bed *b, const char *page)
{
	struct fake_call *c = fake_last(b->wire);
	if (fake_data(c, page)) {
		fake_close(c);
	}
}

Test(lister, pages_follow_each_other_to_the_last)
{
	struct bed b;
	set_up(&b, NULL);
	fake_expect_path(fake_last(b.wire), "/api/v1/pods?limit=500");
	fake_expect_no_path(fake_last(b.wire), "continue");
	give(&b, PAGE("next/1", POD("a") "," POD("b")));
	cr_expect_eq(b.done, 0);
	fake_expect_path(fake_last(b.wire), "continue=next%2F1");
	give(&b, PAGE("", POD("c")));
	cr_expect_str_eq(str_text(&b.heard), "begin a b c done:none");
	cr_expect_eq(b.wire->count, 2);
	tear_down(&b);
}

Test(lister, one_namespace_and_nothing_in_it)
{
	struct bed b;
	set_up(&b, "team");
	fake_expect_path(fake_last(b.wire), "/api/v1/namespaces/team/pods?limit=500");
	give(&b, PAGE("", ""));
	cr_expect_str_eq(str_text(&b.heard), "begin done:none");
	tear_down(&b);
}

Test(lister, a_namespace_of_many_letters_is_no_reason_to_die)
{
	static char ns[200000];
	struct bed b;
	memset(ns, 'x', sizeof ns - 1);
	set_up(&b, ns);
	cr_expect_null(b.lister);
	cr_expect_eq(b.unasked.kind, FAULT_LIMIT);
	cr_expect_eq(b.wire->count, 0);
	cr_expect_eq(b.done, 0);
	tear_down(&b);
}

Test(lister, what_is_refused_is_told_once)
{
	struct bed b;
	set_up(&b, NULL);
	fake_answer(fake_last(b.wire), 403, "{\"kind\":\"Status\",\"message\":\"no\"}");
	cr_expect_str_eq(str_text(&b.heard), "begin done:denied");
	cr_expect_eq(b.wire->count, 1);
	tear_down(&b);
}

Test(lister, pages_without_an_end_have_one)
{
	struct bed b;
	set_up(&b, NULL);
	while (b.done == 0) {
		give(&b, PAGE("n", ""));
	}
	cr_expect_eq(b.wire->count, LISTER_PAGES_MAX);
	cr_expect_str_eq(str_text(&b.heard), "begin done:limit");
	tear_down(&b);
}

Test(lister, half_a_page_is_no_list)
{
	struct bed b;
	set_up(&b, NULL);
	fake_data(fake_last(b.wire),
		"{\"metadata\":{\"resourceVersion\":\"7\"},\"items\":[" POD("a"));
	fake_close(fake_last(b.wire));
	cr_expect_str_eq(str_text(&b.heard), "begin a done:transient");
	tear_down(&b);
}

Test(lister, what_is_not_json_ends_it)
{
	struct bed b;
	set_up(&b, NULL);
	give(&b, "<html>");
	cr_expect_str_eq(str_text(&b.heard), "begin done:invalid");
	tear_down(&b);
}

Test(lister, a_page_that_expired_begins_anew_and_not_for_ever)
{
	struct bed b;
	set_up(&b, NULL);
	give(&b, PAGE("n", POD("a")));
	fake_answer(fake_last(b.wire), 410, "{\"kind\":\"Status\",\"reason\":\"Expired\"}");
	fake_expect_no_path(fake_last(b.wire), "continue");
	cr_expect_str_eq(str_text(&b.heard), "begin a begin ");
	for (int i = 0; i < 3 && b.done == 0; i++) {
		give(&b, PAGE("n", POD("a")));
		fake_answer(fake_last(b.wire), 410, "{\"kind\":\"Status\",\"reason\":\"Expired\"}");
	}
	cr_expect_eq(b.done, 1);
	cr_expect_not_null(strstr(str_text(&b.heard), "done:gone"));
	tear_down(&b);
}

Test(lister, who_loses_interest_cancels)
{
	struct bed b;
	set_up(&b, NULL);
	fake_data(fake_last(b.wire), "{\"items\":[" POD("a"));
	lister_destroy(b.lister);
	b.lister = NULL;
	cr_expect(fake_last(b.wire)->cancelled);
	cr_expect_eq(b.done, 0);
	tear_down(&b);
}
