/* What the agent may ask, and nothing else. */
#include "harness.h"
#include "mps/question.h"
#include "mps/relay.h"

static void expect_back(const char *line)
{
	CLEANUP(str_finish) struct str text = STR_INIT(MPS_RELAY_LINE_MAX);
	struct mps_question q;
	cr_assert_eq(mps_question_parse(view_of(line), &q, NULL), 0, "%s", line);
	mps_question_write(&q, &text);
	cr_expect_str_eq(str_text(&text), line);
}

Test(question, reads_back_as_it_was_written)
{
	expect_back("get_server_list");
	expect_back("get_server_status 41");
	expect_back("get_client_list 41");
	expect_back("terminate_client 41 101");
	expect_back("client_limits 101 102 2147483647");
}

Test(question, others_are_refused)
{
	static const char *const bad[] = {"", " ", "quit", "get_server_list 1", "get_server_status",
		"get_client_list 41 42", "terminate_client 41", "terminate_client 41 101 102",
		"terminate_client 41 -1", "terminate_client 41 0", "terminate_client 41 1x",
		"terminate_client 41 2147483648", "client_limits", "get_server_list\nquit",
		"get_server_status 41\rquit", "get_server_listx",
		"set_default_active_thread_percentage 1", "get_server_status  41"};
	struct fault fault;
	struct mps_question q;
	for (size_t i = 0; i < COUNT_OF(bad); i++) {
		cr_expect_eq(mps_question_parse(view_of(bad[i]), &q, &fault), -1, "%s", bad[i]);
		cr_expect_eq(fault.kind, FAULT_INVALID);
	}
}

Test(question, so_many_numbers_and_no_more)
{
	CLEANUP(str_finish) struct str line = STR_INIT(MPS_RELAY_LINE_MAX);
	struct mps_question q;
	(void)str_append_text(&line, "client_limits");
	for (int i = 0; i < MPS_RELAY_NUMBERS_MAX; i++) {
		(void)str_append_text(&line, " 7");
	}
	cr_assert_eq(mps_question_parse((struct view){line.p, line.len}, &q, NULL), 0);
	cr_expect_eq(q.count, MPS_RELAY_NUMBERS_MAX);
	(void)str_append_text(&line, " 7");
	cr_expect_eq(mps_question_parse((struct view){line.p, line.len}, &q, NULL), -1);
}
