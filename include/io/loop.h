/* The one event loop of the process, on libev. Everything that waits, waits here; nothing blocks.
 *
 * A turn of the loop: deferred functions, then the turn hooks, then what those deferred; then the
 * loop sleeps until a descriptor, a signal, a timer or the time given to loop_wake_at; then it
 * serves them. Callbacks may start, stop and defer freely. Single-threaded: all calls come from the
 * loop's thread. Owner: main creates and destroys it; whoever embeds a timer stops it before
 * freeing it. Creating can only fail where the process cannot go on, and aborts with a message. */
#ifndef IO_LOOP_H
#define IO_LOOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct loop;
typedef void (*loop_fn)(void *data);

struct loop *loop_create(void); /* ignores SIGPIPE for the whole process */
void loop_destroy(struct loop *l);
void loop_run(struct loop *l);	/* returns after loop_stop */
void loop_stop(struct loop *l); /* at the end of the current turn; also before loop_run */

/* Monotonic milliseconds, read now. */
int64_t loop_now_ms(void);
/* Monotonic microseconds before which no descriptor of the current turn was ready: when it woke up
 * if it had slept, else when the turn before did. The closest the process can know to "the socket
 * became readable", never too late: waiting behind other events and the turn before is included. */
int64_t loop_heard_us(const struct loop *l);

/* A timer, embedded in what it belongs to. A zeroed timer is stopped. It may be started again or
 * stopped from its own callback. */
struct loop_timer {
	struct loop *loop; /* borrowed */
	loop_fn fn;
	void *data;
	int64_t at_ms;	  /* monotonic */
	int64_t every_ms; /* 0: once */
	size_t slot;	  /* 1 + place among the waiting; 0: stopped */
};
void loop_timer_init(struct loop_timer *t, struct loop *l, loop_fn fn, void *data);
void loop_timer_start_ms(struct loop_timer *t, int64_t delay_ms);  /* once; replaces what was set */
void loop_timer_repeat_ms(struct loop_timer *t, int64_t every_ms); /* first after every_ms */
void loop_timer_stop(struct loop_timer *t);			   /* a stopped timer is fine */
static inline bool loop_timer_active(const struct loop_timer *t)
{
	return t->slot != 0;
}

/* SIGTERM, SIGINT, SIGHUP: called from the loop, never from the signal's context. One handler a
 * signal. */
typedef void (*loop_signal_fn)(void *data, int signo);
void loop_on_signal(struct loop *l, int signo, loop_signal_fn fn, void *data);

/* Runs fn(data) before the loop next sleeps, never inside the caller. Order is kept. What is
 * deferred by deferred functions runs in the same turn or, after a few rounds, in the next without
 * a sleep. */
void loop_defer(struct loop *l, loop_fn fn, void *data);
/* Forgets everything deferred for `data`: called by whoever frees it. */
void loop_defer_forget(struct loop *l, const void *data);

/* How often it has asked for events. */
uint64_t loop_turns(const struct loop *l);

/* Called once a turn before the loop sleeps, in the order of registration. */
void loop_on_turn(struct loop *l, loop_fn fn, void *data);
void loop_off_turn(struct loop *l, loop_fn fn, void *data);
/* The next sleep ends at mono_ms at the latest. Holds for one sleep only; the earliest that was
 * asked for since the last sleep counts. */
void loop_wake_at(struct loop *l, int64_t mono_ms);

#endif
