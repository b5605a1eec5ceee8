/* The loop: order of deferred calls, timers, turn hooks, signals. */
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "harness.h"
#include "loop.h"

TestSuite(loop, .fini = expect_no_leak);

struct log {
	struct loop *loop;
	char text[64];
	int n;
	struct loop_timer *timer;
};

static void note(struct log *g, char c)
{
	cr_assert(g->n < 63);
	g->text[g->n++] = c;
}

static void note_a(void *data)
{
	note(data, 'a');
}

static void note_b_and_stop(void *data)
{
	struct log *g = data;

	note(g, 'b');
	loop_stop(g->loop);
}

static void defer_b(void *data)
{
	struct log *g = data;

	loop_defer(g->loop, note_b_and_stop, g);
	note(g, 'd'); /* before b: deferring never calls */
}

Test(loop, defers_in_order_and_never_inside_the_caller)
{
	struct log g = {.loop = loop_create()};

	loop_defer(g.loop, note_a, &g);
	loop_defer(g.loop, defer_b, &g);
	cr_assert(g.n == 0);
	loop_run(g.loop);
	cr_assert_str_eq(g.text, "adb");
	loop_destroy(g.loop);
}

Test(loop, forgets_what_was_deferred)
{
	struct log g = {.loop = loop_create()}, other = g;

	loop_defer(g.loop, note_a, &other);
	loop_defer_forget(g.loop, &other);
	loop_defer(g.loop, note_b_and_stop, &g);
	loop_run(g.loop);
	cr_assert(other.n == 0);
	cr_assert_str_eq(g.text, "b");
	loop_destroy(g.loop);
}

static void defer_for_ever(void *data)
{
	struct log *g = data;

	loop_defer(g->loop, defer_for_ever, g);
}

Test(loop, deferring_for_ever_does_not_starve_timers)
{
	struct log g = {.loop = loop_create()};
	struct loop_timer t;

	loop_defer(g.loop, defer_for_ever, &g);
	loop_timer_init(&t, g.loop, note_b_and_stop, &g);
	loop_timer_start_ms(&t, 20);
	loop_run(g.loop);
	cr_assert_str_eq(g.text, "b");
	loop_destroy(g.loop);
}

static void tick(void *data)
{
	struct log *g = data;

	note(g, 't');
	if (g->n == 3) {
		loop_timer_stop(g->timer);
		loop_stop(g->loop);
	}
}

Test(loop, repeats_until_stopped)
{
	struct log g = {.loop = loop_create()};
	struct loop_timer t;
	int64_t began = loop_now_ms();

	g.timer = &t;
	loop_timer_init(&t, g.loop, tick, &g);
	loop_timer_repeat_ms(&t, 10);
	loop_run(g.loop);
	cr_assert_str_eq(g.text, "ttt");
	cr_assert(loop_now_ms() - began >= 28);
	cr_assert(!loop_timer_active(&t));
	loop_destroy(g.loop);
}

struct order {
	struct loop *loop;
	int64_t last;
	int fired;
};
struct timed {
	struct loop_timer timer;
	struct order *order;
	int delay;
};

static void timed_fire(void *data)
{
	struct timed *t = data;

	cr_assert(t->timer.at_ms >= t->order->last, "timers out of order");
	t->order->last = t->timer.at_ms;
	t->order->fired++;
}

static bool all_fired(void *data)
{
	struct order *o = data;

	return o->fired == 250;
}

/* 500 timers in a scattered order, every second one stopped again: the heap must stay a heap. */
Test(loop, serves_many_timers_in_order)
{
	struct order o = {.loop = loop_create()};
	static struct timed timers[500];

	for (int i = 0; i < 500; i++) {
		timers[i].order = &o;
		loop_timer_init(&timers[i].timer, o.loop, timed_fire, &timers[i]);
		loop_timer_start_ms(&timers[i].timer, (i * 7919) % 101);
	}
	for (int i = 0; i < 500; i += 2) {
		loop_timer_stop(&timers[i].timer);
	}
	cr_assert(wait_for(o.loop, all_fired, &o, PATIENCE_MS));
	for (int i = 0; i < 500; i++) {
		cr_assert(!loop_timer_active(&timers[i].timer));
	}
	loop_destroy(o.loop);
}

static void turn_to_wake(void *data)
{
	struct log *g = data;

	note(g, '.');
	if (g->n == 4) {
		loop_stop(g->loop);
		return;
	}
	loop_wake_at(g->loop, loop_now_ms() + 10);
	loop_wake_at(g->loop, loop_now_ms() + 1000000); /* the earlier one counts */
}

Test(loop, turn_hooks_give_the_next_deadline)
{
	struct log g = {.loop = loop_create()};
	int64_t began = loop_now_ms();

	loop_on_turn(g.loop, turn_to_wake, &g);
	loop_run(g.loop);
	cr_assert(g.n == 4);
	int64_t took = loop_now_ms() - began;
	cr_assert(took >= 27 && took < PATIENCE_MS, "took %lld", (long long)took);
	loop_destroy(g.loop);
}

static void on_signal_stop(void *data, int signo)
{
	struct log *g = data;

	cr_assert(signo == SIGHUP);
	note(g, 's');
	loop_stop(g->loop);
}

static void raise_hup(void *data)
{
	struct log *g = data;

	raise(SIGHUP);
	note(g, 'r'); /* the handler must not have run yet */
}

Test(loop, signals_arrive_as_calls_from_the_loop)
{
	struct log g = {.loop = loop_create()};

	loop_on_signal(g.loop, SIGHUP, on_signal_stop, &g);
	loop_defer(g.loop, raise_hup, &g);
	loop_run(g.loop);
	cr_assert_str_eq(g.text, "rs");
	loop_destroy(g.loop);
}

Test(loop, a_broken_pipe_is_an_error_and_no_death)
{
	struct loop *l = loop_create();
	int fds[2];

	cr_assert(pipe(fds) == 0);
	close(fds[0]);
	cr_assert(write(fds[1], "x", 1) == -1 && errno == EPIPE);
	close(fds[1]);
	loop_destroy(l);
}

/* --- when a descriptor became ready --- */

#define BUSY_US 20000

struct heard {
	struct loop *loop;
	int fds[2];
	int64_t written_us, heard_us, seen_us;
	ev_io io;
	bool busy;
};

/* Writes; and then, if it shall, keeps the turn for so long that the reader has to wait. */
static void write_one(void *data)
{
	struct heard *h = data;

	h->written_us = clock_mono_us();
	cr_assert_eq(write(h->fds[1], "x", 1), 1);
	while (h->busy && clock_mono_us() - h->written_us < BUSY_US) {
	}
}

static void on_heard(struct ev_loop *ev, ev_io *w, int events)
{
	struct heard *h = w->data;
	(void)events;

	h->heard_us = loop_heard_us(h->loop);
	h->seen_us = clock_mono_us();
	ev_io_stop(ev, w);
	loop_stop(h->loop);
}

static void heard_begin(struct heard *h)
{
	h->loop = loop_create();
	cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, h->fds), 0);
	ev_io_init(&h->io, on_heard, h->fds[0], EV_READ);
	h->io.data = h;
	ev_io_start(loop_ev(h->loop), &h->io);
}

static void heard_end(struct heard *h)
{
	close(h->fds[0]);
	close(h->fds[1]);
	loop_destroy(h->loop);
}

static bool waiting_counted(void)
{
	struct heard h = {.busy = true};
	struct loop_timer timer;

	heard_begin(&h);
	loop_timer_init(&timer, h.loop, write_one, &h);
	loop_timer_start_ms(&timer, 5);
	loop_run(h.loop);
	heard_end(&h);
	return h.heard_us <= h.written_us && h.seen_us - h.heard_us >= BUSY_US;
}

/* A machine that takes the processor away between asking and hearing looks like sleep: that may
 * happen, but not every time. */
Test(loop, waiting_behind_a_long_turn_counts)
{
	bool counted = false;
	for (int i = 0; i < 20 && !counted; i++) {
		counted = waiting_counted();
	}
	cr_assert(counted);
}

static void *write_later(void *data)
{
	usleep(BUSY_US);
	write_one(data);
	return NULL;
}

Test(loop, sleeping_does_not_count)
{
	struct heard h = {.busy = false};
	pthread_t writer;
	int64_t began = clock_mono_us();

	heard_begin(&h);
	cr_assert_eq(pthread_create(&writer, NULL, write_later, &h), 0);
	loop_run(h.loop);
	pthread_join(writer, NULL);
	cr_assert_geq(h.heard_us - began, BUSY_US, "nothing was there to be heard before");
	heard_end(&h);
}
