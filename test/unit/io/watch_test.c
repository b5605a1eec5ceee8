/* Watched descriptors: pipes both ways, a hangup, a change of mind, a process that ends. */
#include "io/watch.h"

#include <signal.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness.h"

TestSuite(watch, .fini = expect_no_leak);

struct scene {
	struct loop *loop;
	struct watch *watch;
	unsigned ready;
	int calls;
};

static void stop(void *data, unsigned ready)
{
	struct scene *s = data;

	s->ready = ready;
	s->calls++;
	watch_destroy(s->watch); /* from its own callback */
	s->watch = NULL;
	loop_stop(s->loop);
}

static unsigned ready_of(int fd, unsigned events)
{
	struct scene s = {.loop = loop_create()};

	s.watch = watch_create(s.loop, fd, events, stop, &s);
	loop_run(s.loop);
	loop_destroy(s.loop);
	cr_assert_eq(s.calls, 1);
	return s.ready;
}

Test(watch, tells_what_can_be_read_and_written)
{
	int ends[2];

	cr_assert_eq(pipe(ends), 0);
	cr_expect_eq(ready_of(ends[1], WATCH_WRITE), WATCH_WRITE);
	cr_assert_eq(write(ends[1], "x", 1), 1);
	cr_expect_eq(ready_of(ends[0], WATCH_READ), WATCH_READ);
	(void)close(ends[0]);
	(void)close(ends[1]);
}

Test(watch, a_hangup_is_something_to_read)
{
	int ends[2];

	cr_assert_eq(pipe(ends), 0);
	(void)close(ends[1]);
	cr_expect_eq(ready_of(ends[0], WATCH_READ), WATCH_READ);
	(void)close(ends[0]);
}

static void want_and_write(void *data)
{
	watch_want(*(struct watch **)data, WATCH_READ);
}

Test(watch, tells_nothing_while_nothing_is_wanted)
{
	int ends[2];
	struct scene s = {.loop = loop_create()};
	struct loop_timer later;

	cr_assert_eq(pipe(ends), 0);
	cr_assert_eq(write(ends[1], "x", 1), 1);
	s.watch = watch_create(s.loop, ends[0], WATCH_READ, stop, &s);
	watch_want(s.watch, 0);
	loop_timer_init(&later, s.loop, want_and_write, &s.watch);
	int64_t began_ms = loop_now_ms();
	loop_timer_start_ms(&later, 30);
	loop_run(s.loop);
	cr_expect_geq(loop_now_ms() - began_ms, 30);
	cr_expect_eq(s.calls, 1);
	loop_destroy(s.loop);
	(void)close(ends[0]);
	(void)close(ends[1]);
}

Test(watch, tells_that_a_process_has_ended)
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		_exit(7);
	}
	int fd = pidfd_open(pid, 0);
	cr_assert_geq(fd, 0);
	cr_expect_eq(ready_of(fd, WATCH_READ), WATCH_READ);
	cr_assert_eq(waitpid(pid, &status, WNOHANG), pid);
	cr_expect_eq(WEXITSTATUS(status), 7);
	(void)close(fd);
}
