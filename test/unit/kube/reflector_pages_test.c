/* Lists in pages: one picture, of the version that its first page told. */
#include "reflector_bed.h"

#define PAGE_OF(version, more, items)                                                              \
	"{\"kind\":\"PodList\",\"metadata\":{\"resourceVersion\":\"" version                       \
	"\",\"continue\":\"" more "\"},\"items\":[" items "]}"

static const struct reflector_options lists = {.no_watch_list = true};

/* The page is answered, and the next request goes out. */
static struct fake_call *page(struct fixture *f, const char *text)
{
	fake_drip(fake_last(f->wire), text);
	fake_close(fake_last(f->wire));
	step(f, 0);
	step(f, 0);
	cr_assert(fake_last(f->wire)->open);
	return fake_last(f->wire);
}

Test(reflector_pages, make_one_picture)
{
	struct fixture f;
	set_up(&f, &lists);
	fake_expect_path(fake_last(f.wire), "limit=500");
	struct fake_call *c = page(&f, PAGE_OF("42", "tok/en=", OBJECT("a", "3")));
	fake_expect_path(c, "limit=500");
	fake_expect_path(c, "continue=tok%2Fen%3D");
	fake_expect_path(c, "labelSelector=a%3Db%2Cc");
	fake_expect_no_path(c, "resourceVersion");
	cr_expect_not(reflector_synced(f.r));
	expect_heard(&f, "begin a ");
	c = page(&f, PAGE_OF("43", "more", OBJECT("b", "4")));
	expect_heard(&f, "b ");
	c = page(&f, PAGE_OF("44", "", OBJECT("c", "5")));
	expect_heard(&f, "c end ");
	cr_expect(reflector_synced(f.r));
	fake_expect_path(c, "watch=true");
	fake_expect_path(c, "resourceVersion=42");
	/* The next picture begins with its first page. */
	fake_data(c, ERROR_EVENT("410", "Expired"));
	step(&f, 0);
	c = fake_last(f.wire);
	fake_expect_no_path(c, "continue");
	fake_expect_path(c, "resourceVersion=42");
	fake_expect_path(c, "resourceVersionMatch=NotOlderThan");
	c = page(&f, PAGE_OF("50", "x", OBJECT("a", "3")));
	fake_expect_no_path(c, "NotOlderThan");
	expect_heard(&f, "begin a ");
	tear_down(&f);
}

Test(reflector_pages, what_could_not_be_named_on_any_page_keeps_all)
{
	struct fixture f;
	set_up(&f, &lists);
	f.indigestible = "bad";
	page(&f, PAGE_OF("42", "x", "{\"metadata\":{\"bad\":1}}"));
	page(&f, LIST_OF("42", OBJECT("b", "4")));
	expect_heard(&f, "begin unread:?/? b end-nosweep ");
	tear_down(&f);
}

/* The picture begins anew, and nothing of the pages before is swept by it. */
Test(reflector_pages, one_that_is_gone_is_asked_for_whole_and_once)
{
	struct fixture f;
	set_up(&f, &lists);
	page(&f, PAGE_OF("42", "x", OBJECT("a", "3")));
	fake_answer(fake_last(f.wire), 410, STATUS("410", "Expired", "the token is too old"));
	step(&f, 0);
	struct fake_call *c = fake_last(f.wire);
	cr_assert(c->open, "at once");
	fake_expect_no_path(c, "limit");
	fake_expect_no_path(c, "continue");
	fake_expect_path(c, "resourceVersion=0");
	cr_expect_eq(counted(&f, "PageExpired"), 1);
	c = page(&f, LIST_OF("60", OBJECT("b", "4")));
	expect_heard(&f, "begin a begin b end ");
	fake_expect_path(c, "resourceVersion=60");
	fake_data(c, ERROR_EVENT("410", "Expired"));
	step(&f, 0);
	fake_expect_path(fake_last(f.wire), "limit=500");
	tear_down(&f);
}

/* Whole it may come from the server's cache, which may be behind what was seen here. */
Test(reflector_pages, one_that_is_gone_after_newer_was_seen_does_not_go_back)
{
	struct fixture f;
	set_up(&f, &lists);
	page(&f, LIST_OF("60", OBJECT("a", "3")));
	fake_answer(fake_last(f.wire), 400, STATUS("400", "BadRequest", "no such version"));
	step(&f, 0);
	cr_expect_gt(step_to_deadline(&f), 0);
	fake_expect_path(fake_last(f.wire), "limit=500");
	fake_expect_no_path(fake_last(f.wire), "resourceVersion");
	page(&f, PAGE_OF("61", "x", OBJECT("a", "3")));
	fake_answer(fake_last(f.wire), 410, STATUS("410", "Expired", "the token is too old"));
	step(&f, 0);
	fake_expect_no_path(fake_last(f.wire), "limit");
	fake_expect_no_path(fake_last(f.wire), "resourceVersion");
	tear_down(&f);
}

Test(reflector_pages, one_that_breaks_off_begins_the_list_anew)
{
	struct fixture f;
	set_up(&f, &lists);
	page(&f, PAGE_OF("42", "x", OBJECT("a", "3")));
	fake_fail(fake_last(f.wire), false);
	step(&f, 0);
	cr_expect_gt(step_to_deadline(&f), 0, "after a while");
	struct fake_call *c = fake_last(f.wire);
	fake_expect_path(c, "limit=500");
	fake_expect_no_path(c, "continue");
	page(&f, LIST_OF("60", OBJECT("b", "4")));
	expect_heard(&f, "begin a begin b end ");
	tear_down(&f);
}

Test(reflector_pages, a_server_that_pages_without_end_is_given_up)
{
	CLEANUP(str_finish) struct str text = STR_INIT(8192);
	struct fixture f;
	set_up(&f, &lists);
	/* A token that no path has room for. */
	str_append_text(&text, "{\"metadata\":{\"resourceVersion\":\"4\",\"continue\":\"");
	for (int i = 0; i < 1025; i++) {
		str_append_char(&text, 'x');
	}
	str_append_text(&text, "\"},\"items\":[]}");
	fake_data(fake_last(f.wire), str_text(&text));
	fake_close(fake_last(f.wire));
	step(&f, 0);
	cr_expect_gt(step_to_deadline(&f), 0);
	fake_expect_no_path(fake_last(f.wire), "limit");
	/* One that comes in pages though it was asked for whole. */
	fake_data(fake_last(f.wire), PAGE_OF("42", "x", OBJECT("a", "3")));
	fake_close(fake_last(f.wire));
	step(&f, 0);
	cr_expect_gt(step_to_deadline(&f), 0);
	fake_expect_path(fake_last(f.wire), "limit=500");
	cr_expect_not(reflector_synced(f.r));
	tear_down(&f);
}

Test(reflector_pages, a_relist_in_between_begins_with_the_first_page)
{
	struct fixture f;
	set_up(&f, &lists);
	page(&f, PAGE_OF("42", "x", OBJECT("a", "3")));
	reflector_relist(f.r);
	step(&f, 0);
	fake_expect_no_path(fake_last(f.wire), "continue");
	page(&f, LIST_OF("60", OBJECT("b", "4")));
	expect_heard(&f, "begin a begin b end ");
	tear_down(&f);
}
