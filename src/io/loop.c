/* Timers in a heap of our own, deferred functions and turn hooks, around one libev loop. */
#include "io/loop.h"
#include "loop.h"

#include <signal.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/vec.h"

/* Deferred functions that defer again are served in the same turn, but not for ever: descriptors
 * and timers must get their chance. */
#define DEFER_ROUNDS 4
#define SIGNALS_MAX  4
/* Asking for events takes a few microseconds; longer means that there were none yet. */
#define SLEEP_US 50

struct deferred {
	loop_fn fn; /* NULL: forgotten */
	void *data;
};

struct deferred_list {
	VEC_FIELDS(struct deferred);
};

struct signal_watch {
	ev_signal ev;
	struct loop *loop;
	loop_signal_fn fn;
	void *data;
};

struct loop {
	struct ev_loop *ev; /* owned */
	ev_prepare before_sleep;
	ev_check after_sleep;
	ev_timer alarm; /* the one timer that libev knows: the end of the next sleep */
	VEC_OF(struct loop_timer *) timers; /* a binary heap, the earliest first; borrowed */
	struct deferred_list later;
	struct deferred_list running; /* the batch being served */
	struct deferred_list hooks;
	struct signal_watch signals[SIGNALS_MAX];
	int signal_count;
	int64_t wake_at_ms;
	int64_t asleep_us; /* when it last asked for events */
	int64_t turn_us;   /* when the turn got them */
	int64_t heard_us;
	uint64_t turns;
	bool stop;
};

int64_t loop_now_ms(void)
{
	return clock_mono(&clock_system);
}

int64_t loop_heard_us(const struct loop *l)
{
	return l->heard_us;
}

uint64_t loop_turns(const struct loop *l)
{
	return l->turns;
}

struct ev_loop *loop_ev(struct loop *l)
{
	return l->ev;
}

/* Timers: our own heap, so that a timer needs no allocation, no header of libev and can sit in any
 * struct. Equal times are served in no promised order. */

static void heap_set(struct loop *l, size_t i, struct loop_timer *t)
{
	l->timers.items[i] = t;
	t->slot = i + 1;
}

static void heap_up(struct loop *l, size_t i)
{
	struct loop_timer *t = l->timers.items[i];
	while (i > 0) {
		size_t parent = (i - 1) / 2;
		if (l->timers.items[parent]->at_ms <= t->at_ms) {
			break;
		}
		heap_set(l, i, l->timers.items[parent]);
		i = parent;
	}
	heap_set(l, i, t);
}

static void heap_down(struct loop *l, size_t i)
{
	struct loop_timer *t = l->timers.items[i];
	for (;;) {
		size_t child = 2 * i + 1;
		if (child >= l->timers.count) {
			break;
		}
		if (child + 1 < l->timers.count &&
			l->timers.items[child + 1]->at_ms < l->timers.items[child]->at_ms) {
			child++;
		}
		if (t->at_ms <= l->timers.items[child]->at_ms) {
			break;
		}
		heap_set(l, i, l->timers.items[child]);
		i = child;
	}
	heap_set(l, i, t);
}

void loop_timer_init(struct loop_timer *t, struct loop *l, loop_fn fn, void *data)
{
	*t = (struct loop_timer){.loop = l, .fn = fn, .data = data};
}

void loop_timer_stop(struct loop_timer *t)
{
	if (t->slot == 0) {
		return;
	}
	struct loop *l = t->loop;
	size_t i = t->slot - 1;
	struct loop_timer *last = l->timers.items[--l->timers.count];
	t->slot = 0;
	if (last != t) {
		heap_set(l, i, last);
		heap_up(l, i);
		heap_down(l, last->slot - 1);
	}
}

static void timer_arm(struct loop_timer *t, int64_t at_ms)
{
	struct loop *l = t->loop;
	loop_timer_stop(t);
	t->at_ms = at_ms;
	VEC_PUSH(&l->timers, t);
	heap_up(l, l->timers.count - 1);
}

void loop_timer_start_ms(struct loop_timer *t, int64_t delay_ms)
{
	t->every_ms = 0;
	timer_arm(t, loop_now_ms() + (delay_ms > 0 ? delay_ms : 0));
}

void loop_timer_repeat_ms(struct loop_timer *t, int64_t every_ms)
{
	ENSURE(every_ms > 0);
	t->every_ms = every_ms;
	timer_arm(t, loop_now_ms() + every_ms);
}

/* Serves what is due now and nothing that the callbacks start: a timer of zero milliseconds that
 * starts itself must not keep the loop here. */
static void timers_serve(struct loop *l)
{
	int64_t now = loop_now_ms();
	size_t most = l->timers.count;
	while (most-- > 0 && l->timers.count > 0 && l->timers.items[0]->at_ms <= now) {
		struct loop_timer *t = l->timers.items[0];
		loop_timer_stop(t);
		if (t->every_ms > 0) {
			timer_arm(t, now + t->every_ms);
		}
		t->fn(t->data);
	}
}

static void deferred_serve(struct loop *l)
{
	for (int round = 0; round < DEFER_ROUNDS && l->later.count > 0; round++) {
		struct deferred_list batch = l->later;
		l->later = l->running;
		l->running = batch;
		for (size_t i = 0; i < l->running.count; i++) {
			struct deferred d = l->running.items[i];
			if (d.fn != NULL) {
				d.fn(d.data);
			}
		}
		VEC_CLEAR(&l->running);
	}
}

static void hooks_serve(struct loop *l)
{
	for (size_t i = 0; i < l->hooks.count; i++) {
		struct deferred d = l->hooks.items[i];
		if (d.fn != NULL) {
			d.fn(d.data);
		}
	}
	size_t kept = 0;
	for (size_t i = 0; i < l->hooks.count; i++) {
		if (l->hooks.items[i].fn != NULL) {
			l->hooks.items[kept++] = l->hooks.items[i];
		}
	}
	l->hooks.count = kept;
}

static void alarm_set(struct loop *l)
{
	int64_t now = loop_now_ms();
	int64_t at = l->wake_at_ms;
	if (l->timers.count > 0) {
		at = time_min(at, l->timers.items[0]->at_ms);
	}
	if (l->later.count > 0 || l->stop) {
		at = now;
	}
	l->wake_at_ms = TIME_NEVER;
	ev_timer_stop(l->ev, &l->alarm);
	if (at != TIME_NEVER) {
		/* libev counts from its own idea of now, which is as old as the turn is long. */
		ev_now_update(l->ev);
		ev_timer_set(&l->alarm, at > now ? (double)(at - now) / 1000.0 : 0.0, 0.0);
		ev_timer_start(l->ev, &l->alarm);
	}
}

static void on_before_sleep(struct ev_loop *ev, ev_prepare *w, int events)
{
	struct loop *l = w->data;
	(void)ev;
	(void)events;
	timers_serve(l);
	deferred_serve(l);
	hooks_serve(l);
	deferred_serve(l);
	alarm_set(l);
	if (l->stop) {
		ev_break(l->ev, EVBREAK_ALL);
	}
	l->asleep_us = clock_mono_us();
}

static void on_after_sleep(struct ev_loop *ev, ev_check *w, int events)
{
	struct loop *l = w->data;
	(void)ev;
	(void)events;
	int64_t now = clock_mono_us();
	/* Who did not sleep was awaited: the events may be as old as the turn before. */
	l->heard_us = now - l->asleep_us >= SLEEP_US ? now : l->turn_us;
	l->turn_us = now;
	l->turns++;
}

/* Waking is all it is for: timers are served before the next sleep. */
static void on_alarm(struct ev_loop *ev, ev_timer *w, int events)
{
	(void)ev;
	(void)w;
	(void)events;
}

struct loop *loop_create(void)
{
	struct loop *l = xcalloc(1, sizeof *l);
	signal(SIGPIPE, SIG_IGN);
	l->ev = ev_loop_new(EVFLAG_AUTO | EVFLAG_NOENV);
	ENSURE(l->ev != NULL);
	l->wake_at_ms = TIME_NEVER;
	l->heard_us = l->turn_us = clock_mono_us();
	ev_prepare_init(&l->before_sleep, on_before_sleep);
	l->before_sleep.data = l;
	ev_prepare_start(l->ev, &l->before_sleep);
	ev_check_init(&l->after_sleep, on_after_sleep);
	ev_set_priority(&l->after_sleep, EV_MAXPRI);
	l->after_sleep.data = l;
	ev_check_start(l->ev, &l->after_sleep);
	ev_timer_init(&l->alarm, on_alarm, 0.0, 0.0);
	return l;
}

void loop_destroy(struct loop *l)
{
	if (l == NULL) {
		return;
	}
	for (int i = 0; i < l->signal_count; i++) {
		ev_signal_stop(l->ev, &l->signals[i].ev);
	}
	ev_prepare_stop(l->ev, &l->before_sleep);
	ev_check_stop(l->ev, &l->after_sleep);
	ev_timer_stop(l->ev, &l->alarm);
	ev_loop_destroy(l->ev);
	for (size_t i = 0; i < l->timers.count; i++) {
		l->timers.items[i]->slot = 0;
	}
	VEC_FINISH(&l->timers);
	VEC_FINISH(&l->later);
	VEC_FINISH(&l->running);
	VEC_FINISH(&l->hooks);
	free(l);
}

void loop_run(struct loop *l)
{
	ev_run(l->ev, 0);
	l->stop = false;
}

void loop_stop(struct loop *l)
{
	l->stop = true;
	loop_wake_at(l, 0);
}

static void on_ev_signal(struct ev_loop *ev, ev_signal *w, int events)
{
	struct signal_watch *s = w->data;
	(void)ev;
	(void)events;
	s->fn(s->data, w->signum);
}

void loop_on_signal(struct loop *l, int signo, loop_signal_fn fn, void *data)
{
	struct signal_watch *s = NULL;
	for (int i = 0; i < l->signal_count; i++) {
		if (l->signals[i].ev.signum == signo) {
			s = &l->signals[i];
		}
	}
	if (s == NULL) {
		ENSURE(l->signal_count < SIGNALS_MAX);
		s = &l->signals[l->signal_count++];
		ev_signal_init(&s->ev, on_ev_signal, signo);
		s->ev.data = s;
		ev_signal_start(l->ev, &s->ev);
	}
	s->fn = fn;
	s->data = data;
}

void loop_defer(struct loop *l, loop_fn fn, void *data)
{
	VEC_PUSH(&l->later, ((struct deferred){fn, data}));
}

static void list_forget(struct deferred_list *list, const void *data)
{
	for (size_t i = 0; i < list->count; i++) {
		if (list->items[i].data == data) {
			list->items[i].fn = NULL;
		}
	}
}

void loop_defer_forget(struct loop *l, const void *data)
{
	list_forget(&l->later, data);
	list_forget(&l->running, data);
}

void loop_on_turn(struct loop *l, loop_fn fn, void *data)
{
	VEC_PUSH(&l->hooks, ((struct deferred){fn, data}));
}

/* Marked here and removed after a round, so that a hook may take itself off. */
void loop_off_turn(struct loop *l, loop_fn fn, void *data)
{
	for (size_t i = 0; i < l->hooks.count; i++) {
		if (l->hooks.items[i].fn == fn && l->hooks.items[i].data == data) {
			l->hooks.items[i].fn = NULL;
		}
	}
}

void loop_wake_at(struct loop *l, int64_t mono_ms)
{
	l->wake_at_ms = time_min(l->wake_at_ms, mono_ms);
}
