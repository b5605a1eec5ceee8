/* What the reflector does where an object cannot be read. */
#include "reflector_bed.h"

Test(reflector_unread, an_object_that_cannot_be_decoded_does_not_look_deleted)
{
	struct fixture f;
	set_up(&f, NULL);
	f.indigestible = "\"name\":\"b\"";
	fake_data(fake_last(f.wire),
		EVENT("ADDED", "a", "3") EVENT("ADDED", "b", "4") INITIAL_END("5"));
	expect_heard(&f, "begin a unread:n/b end ");
	/* It can still be deleted. */
	fake_data(fake_last(f.wire), EVENT("MODIFIED", "b", "6") EVENT("DELETED", "b", "7"));
	expect_heard(&f, "unread:n/b gone:n/b/u-b ");
	tear_down(&f);
}

Test(reflector_unread, an_object_without_a_name_stops_the_sweep)
{
	struct fixture f;
	set_up(&f, NULL);
	f.indigestible = "strange";
	fake_data(fake_last(f.wire),
		"{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":[\"strange\"]}}}\n" EVENT(
			"ADDED", "a", "3") INITIAL_END("5"));
	expect_heard(&f, "begin unread:?/? a end-nosweep ");
	/* A deletion of nobody knows whom asks for a new picture. */
	cr_expect_not(fake_data(fake_last(f.wire),
		"{\"type\":\"DELETED\",\"object\":{\"metadata\":{\"name\":7}}}\n"));
	step(&f, 0);
	fake_expect_path(fake_last(f.wire), "sendInitialEvents");
	tear_down(&f);
}

/* Time passes; the server says now and then that it is still there. */
static void pass(struct fixture *f, int64_t ms)
{
	for (int64_t t = 0; t < ms; t += 50000) {
		step(f, ms - t < 50000 ? ms - t : 50000);
		fake_data(fake_last(f->wire), BOOKMARK("50"));
	}
}

/* Its deletion would have no name either, so only a picture can tell. */
Test(reflector_unread, what_was_not_read_is_looked_for_again)
{
	struct fixture f;
	sync_up(&f);
	f.indigestible = "strange";
	pass(&f, 600000);
	size_t before = f.wire->count;
	fake_data(fake_last(f.wire),
		"{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":[\"strange\"]}}}\n");
	expect_heard(&f, "unread:?/? ");
	pass(&f, 299000);
	cr_expect_eq(f.wire->count, before);
	cr_expect_leq(reflector_deadline(f.r), f.clock.mono + 1000);
	step(&f, 1000);
	cr_assert_eq(f.wire->count, before + 1);
	fake_expect_path(fake_last(f.wire), "sendInitialEvents");
	fake_data(fake_last(f.wire), EVENT("ADDED", "a", "60") INITIAL_END("61"));
	expect_heard(&f, "begin a end ");
	/* Everything could be read: no more of it. */
	pass(&f, 600000);
	cr_expect_eq(f.wire->count, before + 1);
	tear_down(&f);
}

/* Anybody can make an object that cannot be read: it costs no list of all objects every few
 * minutes. */
Test(reflector_unread, what_has_a_name_is_not_looked_for_until_it_is_gone)
{
	struct fixture f;
	sync_up(&f);
	f.indigestible = "\"name\":\"b\"";
	size_t before = f.wire->count;
	fake_data(fake_last(f.wire), EVENT("ADDED", "b", "60") EVENT("MODIFIED", "b", "61"));
	expect_heard(&f, "unread:n/b unread:n/b ");
	pass(&f, 250000);
	cr_expect_eq(f.wire->count, before);
	cr_expect_not(reflector_deadline(f.r) < f.clock.mono, "nothing is due");
	fake_data(fake_last(f.wire), EVENT("DELETED", "b", "62"));
	expect_heard(&f, "gone:n/b/u-b ");
	/* Now a picture can tell that nothing is missing. */
	pass(&f, 300000);
	cr_assert_eq(f.wire->count, before + 1);
	fake_expect_path(fake_last(f.wire), "sendInitialEvents");
	tear_down(&f);
}

/* Its name stands before what is too large. */
static void put_large(struct str *out, const char *type)
{
	str_reset(out);
	str_append_format(out,
		"{\"type\":\"%s\",\"object\":{\"kind\":\"Pod\",\"metadata\":{\"name\":\"big\","
		"\"namespace\":\"n\",\"uid\":\"u-big\"},\"spec\":\"",
		type);
	for (int i = 0; i < 3300; i++) {
		str_append_format(out, "%01000d", i);
	}
	str_append_text(out, "\"}}\n");
	cr_assert_not(out->overflow);
}

/* As it comes from a connection. */
static void send_pieces(struct fixture *f, const struct str *text)
{
	struct fake_call *c = fake_last(f->wire);
	for (size_t at = 0; at < text->len; at += 16384) {
		size_t n = text->len - at < 16384 ? text->len - at : 16384;
		cr_assert(c->events->on_data(c->data, 200, text->p + at, n));
	}
}

Test(reflector_unread, what_is_too_large_is_known_by_its_name)
{
	CLEANUP(str_finish) struct str text = STR_INIT(8 << 20);
	struct fixture f;
	sync_up(&f);
	put_large(&text, "ADDED");
	send_pieces(&f, &text);
	expect_heard(&f, "unread:n/big ");
	put_large(&text, "DELETED");
	send_pieces(&f, &text);
	expect_heard(&f, "gone:n/big/u-big ");
	tear_down(&f);
}
