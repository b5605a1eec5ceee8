/* The books: found are those that the last step met, and whose write an action is. */
#include "ledger/ledger.h"

#include <criterion/criterion.h>

#include "base/rand.h"

struct bed {
	struct step_time time;
	struct world *world;
	struct rng rng;
	struct book book;
};

static void bed_begin(struct bed *b)
{
	*b = (struct bed){.time = {.step = 1}, .world = world_create()};
	book_init(&b->book, &b->time, b->world, &b->rng);
}

static void bed_end(struct bed *b)
{
	book_finish(&b->book);
	world_destroy(b->world);
}

Test(book, forgets_whom_a_step_did_not_meet)
{
	struct bed b;
	bed_begin(&b);
	waiter_touch(&b.book, "u1", 0);
	holder_touch(&b.book, "capacity-1", 0);
	struct waiter *stays = waiter_touch(&b.book, "u2", 0);
	struct holder *held = holder_touch(&b.book, "capacity-2", 0);
	b.time.step = 2;
	cr_assert_eq(waiter_touch(&b.book, "u2", 5), stays);
	cr_assert_eq(holder_touch(&b.book, "capacity-2", 5), held);
	book_sweep(&b.book);
	cr_expect_eq(waiter_find(&b.book, "u1"), NULL);
	cr_expect_eq(holder_find(&b.book, "capacity-1"), NULL);
	cr_expect_eq(waiter_find(&b.book, "u2"), stays);
	cr_expect_eq(holder_find(&b.book, "capacity-2"), held);
	bed_end(&b);
}

/* Whoever is at the end takes the place of one that goes, and is found by its write all the same.
 */
Test(book, an_action_leads_to_whose_it_is)
{
	struct bed b;
	bed_begin(&b);
	waiter_touch(&b.book, "u1", 0);
	struct waiter *w = waiter_touch(&b.book, "u2", 0);
	struct holder *h = holder_touch(&b.book, "capacity-1", 0);
	waiter_sends(&b.book, w, 7);
	holder_sends(&b.book, h, ACTION_GRANT, 8);
	b.time.step = 2;
	waiter_touch(&b.book, "u2", 0);
	holder_touch(&b.book, "capacity-1", 0);
	book_sweep(&b.book);
	cr_expect_eq(waiter_of_flight(&b.book, 7), w);
	cr_expect_eq(holder_of_flight(&b.book, 8), h);
	cr_expect_eq(waiter_of_flight(&b.book, 8), NULL);
	waiter_heard(&b.book, w);
	cr_expect_eq(waiter_of_flight(&b.book, 7), NULL);
	bed_end(&b);
}

Test(book, only_so_many_writes_are_under_way)
{
	struct bed b;
	bed_begin(&b);
	struct waiter *w = waiter_touch(&b.book, "u1", 0);
	waiter_sends(&b.book, w, 7);
	b.book.flights.decided = FLIGHTS_MAX - 2;
	cr_expect(flights_room(&b.book));
	b.book.flights.told = 1;
	cr_expect_not(flights_room(&b.book));
	waiter_heard(&b.book, w);
	cr_expect(flights_room(&b.book));
	bed_end(&b);
}
