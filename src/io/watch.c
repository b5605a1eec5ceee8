/* One libev watcher an object, so that no other room sees libev. */
#include "io/watch.h"

#include "base/alloc.h"
#include "loop.h"

struct watch {
	ev_io ev;
	struct loop *loop; /* borrowed */
	int fd;		   /* borrowed */
	unsigned events;
	watch_fn fn;
	void *data; /* borrowed */
};

static void on_watch_ready(struct ev_loop *ev, ev_io *io, int events)
{
	struct watch *w = io->data;
	unsigned ready = 0;
	(void)ev;
	if ((events & (EV_READ | EV_ERROR)) != 0) {
		ready |= WATCH_READ;
	}
	if ((events & (EV_WRITE | EV_ERROR)) != 0) {
		ready |= WATCH_WRITE;
	}
	w->fn(w->data, ready & w->events);
}

struct watch *watch_create(struct loop *l, int fd, unsigned events, watch_fn fn, void *data)
{
	struct watch *w = xcalloc(1, sizeof *w);
	w->loop = l;
	w->fd = fd;
	w->fn = fn;
	w->data = data;
	ev_io_init(&w->ev, on_watch_ready, fd, 0);
	w->ev.data = w;
	watch_want(w, events);
	return w;
}

void watch_want(struct watch *w, unsigned events)
{
	int wanted = ((events & WATCH_READ) != 0 ? EV_READ : 0) |
		     ((events & WATCH_WRITE) != 0 ? EV_WRITE : 0);
	ev_io_stop(loop_ev(w->loop), &w->ev);
	w->events = events;
	if (wanted != 0) {
		ev_io_set(&w->ev, w->fd, wanted);
		ev_io_start(loop_ev(w->loop), &w->ev);
	}
}

void watch_destroy(struct watch *w)
{
	if (w != NULL) {
		ev_io_stop(loop_ev(w->loop), &w->ev);
		free(w);
	}
}
