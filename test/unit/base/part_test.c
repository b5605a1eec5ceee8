/* The table of a loop's parts. */
#include <criterion/criterion.h>

#include "base/clock.h"
#include "base/part.h"

struct played_part {
	char name;
	int64_t at;
	char *said; /* borrowed; who did something, in the order in which it was done */
};

static void say(const struct played_part *p, char what)
{
	size_t n = strlen(p->said);
	p->said[n] = what;
	p->said[n + 1] = '\0';
}

static void played_step(void *self, const struct turn *turn)
{
	const struct played_part *p = self;
	say(p, turn->leads ? p->name : '-');
}

static int64_t played_deadline(const void *self, const struct turn *turn)
{
	const struct played_part *p = self;
	return turn->leads ? p->at : TIME_NEVER;
}

static void played_destroy(void *self)
{
	say(self, ((struct played_part *)self)->name);
}

Test(part, each_takes_its_step_and_the_last_added_goes_first)
{
	char said[32] = "";
	const struct part full = {played_step, played_deadline, played_destroy};
	const struct part borrowed = {played_step, NULL, NULL};
	struct played_part a = {'a', 30, said}, b = {'b', 10, said}, c = {'c', 20, said};
	struct parts parts = {.count = 0};
	struct turn turn = {.now = 5, .leads = true};
	parts_add(&parts, &full, &a);
	parts_add(&parts, &borrowed, &b);
	parts_add(&parts, &full, NULL);
	parts_add(&parts, &full, &c);
	parts_step(&parts, &turn);
	cr_expect_str_eq(said, "abc");
	cr_expect_eq(parts_deadline(&parts, &turn), 20, "of those that have one");
	turn.leads = false;
	cr_expect_eq(parts_deadline(&parts, &turn), TIME_NEVER);
	parts_finish(&parts);
	cr_expect_str_eq(said, "abcca", "what is borrowed stays");
	cr_expect_eq(parts_deadline(&parts, &turn), TIME_NEVER);
}
