/* Replies as the documentation has them, and what a stranger would send. */
#include "mps/reply.h"

#include <criterion/criterion.h>
#include <stdio.h>

static struct view text(const char *s)
{
	return view_of(s);
}

static int64_t percentage(const char *s)
{
	int64_t milli = -1;
	struct fault fault = {0};
	if (mps_reply_percentage(text(s), &milli, &fault) != 0) {
		cr_assert_eq(fault.kind, FAULT_INVALID);
		cr_assert_eq(milli, -1, "untouched on failure");
	}
	return milli;
}

Test(reply, percentages)
{
	cr_expect_eq(percentage("100.0\n"), 100000);
	cr_expect_eq(percentage("100"), 100000);
	cr_expect_eq(percentage("33.3"), 33300);
	cr_expect_eq(percentage(" 12.5 \n"), 12500);
	cr_expect_eq(percentage("0.125"), 125);
	cr_expect_eq(percentage("0"), 0);
}

Test(reply, refuses_what_is_no_percentage)
{
	static const char *const bad[] = {"", "\n", ".", "1.", ".5", "100.1", "101", "-1", "1.-5",
		"1e2", "1.2345", "50%", "50\n60", "50 60", "0x10", "nan", "1.2.3",
		"99999999999999999999"};
	for (size_t i = 0; i < COUNT_OF(bad); i++) {
		cr_expect_eq(percentage(bad[i]), -1, "\"%s\"", bad[i]);
	}
	cr_expect_eq(percentage(NULL), -1);
}

Test(reply, lists_of_processes)
{
	struct mps_pids pids = {.count = 7};
	cr_assert_eq(mps_reply_pids(text("4711\n 12 \r\n4711\n1\n"), &pids, NULL), 0);
	cr_assert_eq(pids.count, 3);
	cr_expect_eq(pids.items[0], 4711);
	cr_expect_eq(pids.items[1], 12);
	cr_expect_eq(pids.items[2], 1);
	cr_assert_eq(mps_reply_pids(text("\n"), &pids, NULL), 0);
	cr_expect_eq(pids.count, 0);
}

Test(reply, refuses_what_is_no_list)
{
	static const char *const bad[] = {"0", "-5", "2147483648", "12\nServer 7 not found", "1 2",
		"1\n\n2", "99999999999999999999", "0x1f", "\x01\x02"};
	struct mps_pids pids = {.count = 7};
	for (size_t i = 0; i < COUNT_OF(bad); i++) {
		struct fault fault = {0};
		cr_expect_eq(mps_reply_pids(text(bad[i]), &pids, &fault), -1, "\"%s\"", bad[i]);
		cr_expect_eq(fault.kind, FAULT_INVALID);
	}
	cr_expect_eq(pids.count, 7, "untouched on failure");
}

Test(reply, a_list_has_a_limit)
{
	CLEANUP(str_finish) struct str s = STR_INIT(MPS_REPLY_BYTES_MAX);
	struct mps_pids pids;
	struct fault fault;
	for (int pid = 1; pid <= MPS_PIDS_MAX; pid++) {
		cr_assert(str_append_format(&s, "%d\n", pid));
	}
	cr_expect_eq(mps_reply_pids(text(str_text(&s)), &pids, &fault), 0);
	cr_expect_eq(pids.count, MPS_PIDS_MAX);
	cr_assert(str_append_text(&s, "5000\n"));
	cr_expect_eq(mps_reply_pids(text(str_text(&s)), &pids, &fault), -1);
	cr_expect_eq(fault.kind, FAULT_LIMIT);
}

Test(reply, states_of_servers)
{
	enum mps_server_state state = MPS_SERVER_FAULT;
	struct fault fault;
	cr_assert_eq(mps_reply_server_state(text("ACTIVE\n"), &state, NULL), 0);
	cr_expect_eq(state, MPS_SERVER_ACTIVE);
	cr_assert_eq(mps_reply_server_state(text("FAULT"), &state, NULL), 0);
	cr_expect_eq(state, MPS_SERVER_FAULT);
	cr_assert_eq(mps_reply_server_state(text("INITIALIZING\n"), &state, NULL), 0);
	cr_expect_eq(state, MPS_SERVER_INITIALIZING);
	cr_expect_eq(mps_reply_server_state(text("ACTIVE FAULT"), &state, &fault), -1);
	cr_expect_eq(mps_reply_server_state(text(""), &state, &fault), -1);
	cr_expect_str_eq(
		fault.message, "the MPS daemon was to tell a server's state, but said \"\"");
}

Test(reply, done)
{
	struct fault fault;
	cr_expect_eq(mps_reply_done(text("0\n"), NULL), 0);
	cr_expect_eq(mps_reply_done(text("1\n"), &fault), -1);
	cr_expect_eq(mps_reply_done(text(""), &fault), -1);
}

Test(reply, quotes_little_and_nothing_odd)
{
	char buffer[MPS_QUOTE_MAX + 1], many[200];
	memset(many, 'x', sizeof many);
	cr_expect_eq(strlen(mps_quote((struct view){many, sizeof many}, buffer)), MPS_QUOTE_MAX);
	cr_expect_str_eq(mps_quote(text("\n a\x1b[1m\xff\n\"b\n"), buffer), "a?[1m?");
	cr_expect_str_eq(mps_quote(text(NULL), buffer), "");
}

Test(reply, servers_that_failed)
{
	cr_expect(mps_log_tells_failure(
		text("[2026-11-22 10:00:00.000 Control    12] Server 4711 exited with status 1")));
	cr_expect(mps_log_tells_failure(text("Server 1 exited with status -11\r")));
	static const char *const others[] = {"", "Server 4711 exited with status 0",
		"NEW SERVER 4711: Ready", "Server x exited with status 1",
		"Server 4711 exited with status", "Server 4711 exited with status one", "Server ",
		"Server 0 exited with status 1"};
	for (size_t i = 0; i < COUNT_OF(others); i++) {
		cr_expect_not(mps_log_tells_failure(text(others[i])), "\"%s\"", others[i]);
	}
	cr_expect_not(mps_log_tells_failure((struct view){NULL, 0}));
}
