/* One command, one child: a shell plays the control program. */
#include "mps/mps_control.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>

#include "harness.h"
#include "mps/reply.h"

TestSuite(control, .init = folder_make, .fini = folder_drop);

struct answer {
	struct loop *loop;
	int calls;
	bool inside; /* the call that starts it has not returned */
	struct fault fault;
	char text[256];
	size_t size;
};

static void on_answer(void *data, struct view reply, const struct fault *fault)
{
	struct answer *a = data;
	cr_assert_not(a->inside);
	a->calls++;
	a->size = reply.n;
	(void)snprintf(a->text, sizeof a->text, "%.*s", (int)reply.n, reply.p);
	a->fault = fault != NULL ? *fault : (struct fault){0};
	loop_stop(a->loop);
}

static struct mps_call *begin(struct answer *a, const struct mps_command *command)
{
	a->loop = loop_create();
	a->inside = true;
	struct mps_call *call = mps_call_start(a->loop, command, on_answer, a);
	a->inside = false;
	return call;
}

static struct mps_command shell(const char *const args[3])
{
	return (struct mps_command){.program = "sh",
		.pipe_dir = "/the/pipe",
		.log_dir = "/the/log",
		.args = args,
		.line = "the command",
		.timeout_ms = 10000};
}

static struct answer ask(const char *script)
{
	struct answer a = {0};
	const struct mps_command command = shell((const char *const[]){"-c", script, NULL});
	(void)begin(&a, &command);
	loop_run(a.loop);
	loop_destroy(a.loop);
	cr_assert_eq(a.calls, 1);
	cr_assert_eq(waitpid(-1, NULL, WNOHANG), -1, "no child is left");
	return a;
}

Test(control, gives_the_command_and_its_place_and_takes_the_reply)
{
	(void)setenv("CUDA_MPS_PIPE_DIRECTORY", "/somebody/elses", 1);
	(void)setenv("CUDA_MPS_ACTIVE_THREAD_PERCENTAGE", "3", 1);
	(void)setenv("CUDA_VISIBLE_DEVICES", "1", 1);
	struct answer a = ask("read line; echo \"$line|$CUDA_MPS_PIPE_DIRECTORY|"
			      "$CUDA_MPS_LOG_DIRECTORY|$CUDA_VISIBLE_DEVICES|"
			      "$CUDA_MPS_ACTIVE_THREAD_PERCENTAGE\"; read line || echo end");
	cr_expect_str_eq(a.text, "the command|/the/pipe|/the/log||\nend\n");
	cr_expect_eq(a.fault.kind, FAULT_NONE, "%s", a.fault.message);
}

Test(control, takes_a_reply_in_pieces)
{
	cr_expect_str_eq(ask("for i in 1 2 3; do printf $i; sleep 0.02; done").text, "123");
}

Test(control, another_status_is_a_fault_with_what_was_said)
{
	struct answer a = ask("echo 'Server 7 \033 not found' >&2; echo more; exit 3");
	cr_expect_eq(a.fault.kind, FAULT_TRANSIENT);
	cr_expect_str_eq(a.fault.message,
		"the MPS control program ended with 3 and said \"Server 7 ? not found\"");
}

Test(control, a_signal_is_a_fault)
{
	cr_expect_str_eq(
		ask("kill -9 $$").fault.message, "the MPS control program was ended by signal 9");
}

Test(control, a_reply_has_a_limit)
{
	struct answer most = ask("head -c 65536 /dev/zero");
	cr_expect_eq(most.fault.kind, FAULT_NONE, "%s", most.fault.message);
	cr_expect_eq(most.size, MPS_REPLY_BYTES_MAX);
	struct answer more = ask("head -c 1048576 /dev/zero");
	cr_expect_eq(more.fault.kind, FAULT_LIMIT);
	cr_expect_leq(more.size, MPS_REPLY_BYTES_MAX);
}

Test(control, an_unknown_program_is_told_later)
{
	struct answer a = {0};
	struct mps_command command = shell(NULL);
	command.program = in_folder("nothing");
	(void)begin(&a, &command);
	loop_run(a.loop);
	loop_destroy(a.loop);
	cr_expect_eq(a.fault.kind, FAULT_NOT_FOUND);
	cr_expect(strstr(a.fault.message, "nothing: No such file") != NULL, "%s", a.fault.message);
}

/* It hangs, and so does a grandchild that holds the pipe: only the child is killed. */
Test(control, one_that_hangs_is_killed_and_nothing_else)
{
	struct answer a = {0};
	char script[512];
	(void)snprintf(
		script, sizeof script, "sleep 60 & echo $! > %s; exec sleep 60", in_folder("pid"));
	struct mps_command command = shell((const char *const[]){"-c", script, NULL});
	command.timeout_ms = 300;
	int64_t began_ms = loop_now_ms();
	(void)begin(&a, &command);
	loop_run(a.loop);
	cr_expect_lt(loop_now_ms() - began_ms, 20000);
	cr_expect_geq(loop_now_ms() - began_ms, 300);
	loop_destroy(a.loop);
	cr_expect_str_eq(a.fault.message, "the MPS daemon did not answer within 300 ms");
	FILE *f = fopen(in_folder("pid"), "r");
	int other = 0;
	cr_assert_not_null(f);
	cr_assert_eq(fscanf(f, "%d", &other), 1);
	(void)fclose(f);
	cr_expect_eq(kill(other, 0), 0, "the grandchild lives");
	(void)kill(other, SIGKILL);
}

/* As the daemon does: what is left behind neither delays the end nor is broken by it. */
Test(control, what_stays_may_write_to_a_file)
{
	struct answer a = {0};
	struct mps_command command = shell(
		(const char *const[]){"-c", "echo first; (sleep 0.2; echo later) & exit 4", NULL});
	command.output_path = in_folder("output");
	(void)begin(&a, &command);
	loop_run(a.loop);
	loop_destroy(a.loop);
	cr_expect_str_eq(a.text, "first\n");
	cr_expect_str_eq(
		a.fault.message, "the MPS control program ended with 4 and said \"first\"");
	for (int i = 0; i < 1000; i++) {
		struct stat at;
		cr_assert_eq(stat(in_folder("output"), &at), 0);
		if (at.st_size == 12) {
			return;
		}
		(void)usleep(10000);
	}
	cr_assert_fail("what stayed could not write");
}

static void stop_loop(void *data)
{
	loop_stop(data);
}

Test(control, a_cancel_kills_and_is_silent)
{
	struct answer a = {0};
	struct loop_timer later;
	const struct mps_command command =
		shell((const char *const[]){"-c", "exec sleep 20", NULL});
	struct mps_call *call = begin(&a, &command);
	mps_call_cancel(call);
	mps_call_cancel(NULL);
	cr_expect_eq(waitpid(-1, NULL, WNOHANG), -1, "it is dead and reaped");
	cr_expect_eq(errno, ECHILD);
	loop_timer_init(&later, a.loop, stop_loop, a.loop);
	loop_timer_start_ms(&later, 50);
	loop_run(a.loop);
	cr_expect_eq(a.calls, 0);
	loop_destroy(a.loop);
}

/* Ours are blocked or ignored; the child's must not be. */
Test(control, the_child_has_the_usual_signals)
{
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	(void)sigprocmask(SIG_BLOCK, &set, NULL);
	cr_expect_str_eq(ask("kill -TERM $$; sleep 5").fault.message,
		"the MPS control program was ended by signal 15");
	cr_expect_str_eq(ask("kill -PIPE $$; sleep 5").fault.message,
		"the MPS control program was ended by signal 13");
}
