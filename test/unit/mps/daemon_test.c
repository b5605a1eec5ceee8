/* The daemon's keeper, with a shell script in the control program's place: order, what ends a
 * start, and the ends that the built binary is not asked for. */
#include "mps/daemon.h"

#include <fcntl.h>

#include "harness.h"
#include "mps/folder.h"
#include "sleeper.h"

#define UUID "GPU-0123abcd-0000-1111-2222-333344445555"

struct scene {
	struct loop *loop;
	struct mps_daemon *daemon;
	enum mps_state until; /* the loop ends when it is reached */
	enum mps_state state;
	int changes, exclusive, shared;
	bool denied;
	char why[320];
};

static struct scene scene;
static char program[96], root[96];

static int set_exclusive(void *data, bool exclusive, struct fault *ret_fault)
{
	struct scene *s = data;
	if (s->denied) {
		return fault_set(ret_fault, FAULT_DENIED, "set the compute mode: no");
	}
	s->exclusive += exclusive;
	s->shared += !exclusive;
	return 0;
}

static void on_changed(void *data, enum mps_state state, const char *why)
{
	struct scene *s = data;
	s->state = state;
	s->changes++;
	(void)snprintf(s->why, sizeof s->why, "%s", why);
	if (state == s->until) {
		loop_stop(s->loop);
	}
}

/* A daemon of a script: `-d` leaves nothing behind, and a command prints what the file says. */
static void setup(void)
{
	folder_make();
	(void)snprintf(program, sizeof program, "%s", in_folder("control"));
	(void)snprintf(root, sizeof root, "%s", in_folder("root"));
	scene = (struct scene){.loop = loop_create()};
}

static void teardown(void)
{
	mps_daemon_destroy(scene.daemon);
	loop_destroy(scene.loop);
	folder_drop();
}

TestSuite(daemon, .init = setup, .fini = teardown);

static void script(const char *text)
{
	(void)unlink(program);
	put(program, "#!/bin/sh\n");
	put(program, text);
	cr_assert_eq(chmod(program, 0755), 0);
}

static int create(struct mps_daemon **ret_daemon, struct fault *ret_fault)
{
	const struct mps_daemon_options options = {.loop = scene.loop,
		.program = program,
		.root = root,
		.uuid = UUID,
		.health_ms = 20,
		.timeout_ms = 5000,
		.retry_ms = 20,
		.set_exclusive = set_exclusive,
		.changed = on_changed,
		.data = &scene};
	return mps_daemon_create(&options, ret_daemon, ret_fault);
}

static void run_until(enum mps_state state)
{
	struct fault fault;
	scene.until = state;
	if (scene.daemon == NULL) {
		cr_assert_eq(create(&scene.daemon, &fault), 0, "%s", fault.message);
	}
	loop_run(scene.loop);
}

static void stop_loop(void *data);

/* For as long as a few looks take. */
static void look_once(void)
{
	struct loop_timer later;
	scene.until = MPS_STATES;
	loop_timer_init(&later, scene.loop, stop_loop, &scene);
	loop_timer_start_ms(&later, 50);
	loop_run(scene.loop);
}

Test(daemon, becomes_active)
{
	struct mps_folder f;
	script("[ \"$1\" = -d ] || echo 100.0\n");
	run_until(MPS_ACTIVE);
	cr_assert_eq(mps_folder_name(&f, root, UUID, NULL), 0);
	cr_expect(is_there(f.ready));
	cr_expect_eq(scene.exclusive, 1);
	cr_expect_eq(scene.changes, 2, "starting, active");
}

Test(daemon, one_that_answers_nonsense_for_long_is_down_and_not_ready)
{
	struct mps_folder f;
	script("[ \"$1\" = -d ] || echo 100.0\n");
	run_until(MPS_ACTIVE);
	script("echo Unknown command\n");
	run_until(MPS_DOWN);
	cr_assert_eq(mps_folder_name(&f, root, UUID, NULL), 0);
	cr_expect_not(is_there(f.ready));
	cr_expect_str_eq(
		scene.why, "the MPS daemon was to tell a percentage, but said \"Unknown command\"");
	script("[ \"$1\" = -d ] || echo 100.0\n");
	run_until(MPS_ACTIVE);
	cr_expect_eq(scene.exclusive, 2, "the whole start, again");
}

Test(daemon, without_its_program_it_is_down)
{
	run_until(MPS_DOWN);
	cr_expect_not_null(strstr(scene.why, "No such file"), "%s", scene.why);
	script("[ \"$1\" = -d ] || echo 100.0\n");
	run_until(MPS_ACTIVE);
}

Test(daemon, nothing_is_started_without_the_compute_mode)
{
	script("touch $0.ran\n");
	scene.denied = true;
	run_until(MPS_DOWN);
	cr_expect_str_eq(scene.why, "set the compute mode: no");
	cr_expect_not(is_there(in_folder("control.ran")));
}

Test(daemon, one_of_two_keeps_a_gpu)
{
	struct mps_daemon *second = NULL;
	struct fault fault;
	script("[ \"$1\" = -d ] || echo 100.0\n");
	run_until(MPS_ACTIVE);
	cr_expect_eq(create(&second, &fault), -1);
	cr_expect_eq(fault.kind, FAULT_CONFLICT);
	cr_expect_null(second);
}

static void stop_loop(void *data)
{
	struct scene *s = data;
	loop_stop(s->loop);
}

static void expect_stop(void)
{
	struct mps_folder f;
	cr_assert_eq(mps_folder_name(&f, root, UUID, NULL), 0);
	mps_daemon_stop(scene.daemon, stop_loop);
	loop_run(scene.loop);
	cr_expect_eq(scene.shared, 1);
	cr_expect_not(is_there(f.ready));
}

Test(daemon, stops_when_it_is_active)
{
	script("[ \"$1\" = -d ] || echo 100.0\n");
	run_until(MPS_ACTIVE);
	expect_stop();
}

Test(daemon, stops_while_a_command_is_under_way)
{
	script("[ \"$1\" = -d ] && exec sleep 20\n");
	run_until(MPS_STARTING);
	expect_stop();
}

Test(daemon, stops_before_it_was_started)
{
	struct fault fault;
	cr_assert_eq(create(&scene.daemon, &fault), 0, "%s", fault.message);
	expect_stop();
}

/* --- one that lives from before --------------------------------------------------------------- */

static pid_t leave_daemon(void)
{
	struct mps_folder f;
	cr_assert_eq(mps_folder_name(&f, root, UUID, NULL), 0);
	pid_t pid = sleeper("nvidia-cuda-mps-control", f.pipe);
	await(pid, f.pipe);
	return pid;
}

static bool lives(pid_t pid)
{
	return waitpid(pid, NULL, WNOHANG) == 0;
}

Test(daemon, one_that_lives_is_asked_twice_before_it_is_ended)
{
	pid_t left = leave_daemon();
	script("[ \"$1\" = -d ] && touch $0.started\n"
	       "[ -e $0.once ] && echo 100.0 && exit\n"
	       "touch $0.once\nexit 1\n");
	run_until(MPS_ACTIVE);
	cr_expect(lives(left), "its clients live");
	cr_expect_not(is_there(in_folder("control.started")));
	cr_expect_eq(kill(left, SIGKILL), 0);
	end(left, SIGKILL);
}

Test(daemon, one_that_lives_and_is_silent_is_ended)
{
	pid_t left = leave_daemon();
	script("[ \"$1\" = -d ] && touch $0.started && exit\n"
	       "[ -e $0.started ] && echo 100.0 && exit\nexit 1\n");
	run_until(MPS_ACTIVE);
	end(left, SIGKILL);
}

/* A driver that does not answer is no reason to end the clients of one that is well. */
Test(daemon, one_that_lives_is_taken_over_without_the_compute_mode)
{
	pid_t left = leave_daemon();
	script("echo 100.0\n");
	scene.denied = true;
	run_until(MPS_ACTIVE);
	cr_expect(lives(left));
	scene.denied = false;
	while (scene.exclusive == 0) {
		look_once();
	}
	cr_expect(lives(left), "and it is set as soon as it can be");
	cr_expect_eq(kill(left, SIGKILL), 0);
	end(left, SIGKILL);
}

Test(daemon, one_that_could_not_be_asked_is_not_ended)
{
	pid_t left = leave_daemon();
	script("echo 100.0\n");
	run_until(MPS_ACTIVE);
	(void)unlink(program);
	run_until(MPS_DOWN);
	for (int i = 0; i < 5; i++) {
		look_once();
	}
	cr_expect(lives(left));
	script("echo 100.0\n");
	run_until(MPS_ACTIVE);
	cr_expect(lives(left));
	cr_expect_eq(kill(left, SIGKILL), 0);
	end(left, SIGKILL);
}
