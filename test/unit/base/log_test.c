/* The log: one line is one JSON object, and who repeats himself is cut off and told of. */
#include "base/log.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/str.h"

struct tap {
	FILE *file;
	char text[65536];
};

static void tap_open(struct tap *t)
{
	t->file = tmpfile();
	cr_assert_not_null(t->file);
	log_setup(LOG_INFO, fileno(t->file));
}

static int lines_with(struct tap *t, const char *what)
{
	ssize_t n = pread(fileno(t->file), t->text, sizeof t->text - 1, 0);
	int lines = 0;
	cr_assert_geq(n, 0);
	t->text[n] = '\0';
	struct view rest = {t->text, (size_t)n}, line;
	while (view_next(&rest, '\n', &line)) {
		lines += memmem(line.p, line.n, what, strlen(what)) != NULL;
	}
	return lines;
}

/* Who is not even known to us can make us warn as often as he likes. */
static void warn_often(int times)
{
	for (int i = 0; i < times; i++) {
		log_warn("received nonsense", LOG_I("number", i), LOG_S("from", "a \"stranger\""));
	}
}

Test(log, warnings_repeat_at_most_twenty_times_a_minute)
{
	struct tap t;
	tap_open(&t);
	warn_often(500);
	log_warn("something else");
	cr_assert_eq(lines_with(&t, "received nonsense"), 20);
	cr_assert_eq(lines_with(&t, "\"number\":0,\"from\":\"a \\\"stranger\\\"\"}"), 1);
	cr_assert_eq(lines_with(&t, "something else"), 1, "another site has its own count");
	int64_t now = clock_wall(&clock_system);
	log_flush(now);
	cr_assert_eq(lines_with(&t, "left out"), 0, "the minute is not over");
	log_flush(now + 60000);
	log_flush(now + 60000);
	cr_assert_eq(lines_with(&t, "\"level\":\"warn\",\"msg\":\"left out repeated lines\""), 1);
	cr_assert_eq(lines_with(&t, "\"of\":\"received nonsense\",\"count\":480}"), 1);
	warn_often(30);
	cr_assert_eq(
		lines_with(&t, "\"received nonsense\",\"number\""), 40, "a new minute begins anew");
	fclose(t.file);
}

Test(log, a_crowd_of_changes_is_shown_every_second)
{
	struct tap t;
	tap_open(&t);
	int64_t now = clock_wall(&clock_system);
	for (int i = 0; i < 30; i++) {
		log_info("granted", LOG_I("number", i));
		log_debug("nobody asked for this");
	}
	bool quick = clock_wall(&clock_system) - now < 1000;
	cr_assert(!quick || lines_with(&t, "granted") == 10);
	log_flush(now + 3600000);
	cr_assert_eq(lines_with(&t, "nobody"), 0);
	log_flush(now - 3600000);
	log_info("granted", LOG_I("number", 31));
	cr_assert_gt(lines_with(&t, "granted"), 10);
	fclose(t.file);
}
