/* A wire and a clock that do exactly what a test says. Requests are recorded in order and stay
 * readable after they ended; answers come when the test gives them, in pieces if it likes. */
#ifndef TEST_FAKE_WIRE_H
#define TEST_FAKE_WIRE_H

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/str.h"
#include "model/wire.h"

#ifndef FAKE_CALLS_MAX
#define FAKE_CALLS_MAX 512
#endif

struct fake_clock {
	struct clock clock;
	int64_t mono, wall;
};

static inline int64_t fake_mono(const struct clock *c)
{
	return ((const struct fake_clock *)(const void *)c)->mono;
}

static inline int64_t fake_wall(const struct clock *c)
{
	return ((const struct fake_clock *)(const void *)c)->wall;
}

static inline struct fake_clock fake_clock_make(void)
{
	return (struct fake_clock){.clock = {.mono_ms = fake_mono, .wall_ms = fake_wall},
		.mono = 1000000,
		.wall = 1795000000000};
}

static inline void fake_pass(struct fake_clock *c, int64_t ms)
{
	c->mono += ms;
	c->wall += ms;
}

struct fake_call {
	uint64_t id;
	enum wire_method method;
	char *path, *to, *to_name, *accept, *content_type, *bearer, *body; /* owned */
	int64_t timeout_ms;
	bool stream, zipped;
	bool open, cancelled;
	const struct wire_events *events;
	void *data;
};

struct fake_wire {
	struct wire wire;
	struct fake_call calls[FAKE_CALLS_MAX];
	size_t count;
};

static inline uint64_t fake_send(
	struct wire *w, const struct wire_request *r, const struct wire_events *events, void *data)
{
	struct fake_wire *f = CONTAINER_OF(w, struct fake_wire, wire);
	cr_assert_lt(f->count, FAKE_CALLS_MAX);
	struct fake_call *c = &f->calls[f->count++];
	*c = (struct fake_call){
		.id = f->count,
		.method = r->method,
		.path = xstrdup(r->path),
		.to = xstrdup(r->to),
		.to_name = xstrdup(r->to_name),
		.accept = xstrdup(r->accept),
		.content_type = xstrdup(r->content_type),
		.bearer = xstrdup(r->bearer),
		.body = r->body != NULL ? xstrndup(r->body, r->body_size) : NULL,
		.timeout_ms = r->timeout_ms,
		.stream = r->stream,
		.zipped = r->zipped,
		.open = true,
		.events = events,
		.data = data,
	};
	return c->id;
}

static inline void fake_cancel(struct wire *w, uint64_t id)
{
	struct fake_wire *f = CONTAINER_OF(w, struct fake_wire, wire);
	if (id == 0 || id > f->count) {
		return;
	}
	f->calls[id - 1].cancelled = f->calls[id - 1].open;
	f->calls[id - 1].open = false;
}

static const struct wire_impl fake_impl = {.send = fake_send, .cancel = fake_cancel};

static inline struct fake_wire *fake_wire_create(void)
{
	struct fake_wire *f = xcalloc(1, sizeof *f);
	f->wire.impl = &fake_impl;
	return f;
}

static inline void fake_wire_destroy(struct fake_wire *f)
{
	for (size_t i = 0; i < f->count; i++) {
		cr_expect(!f->calls[i].open, "request %zu was left open: %s", i, f->calls[i].path);
		free(f->calls[i].path);
		free(f->calls[i].to);
		free(f->calls[i].to_name);
		free(f->calls[i].accept);
		free(f->calls[i].content_type);
		free(f->calls[i].bearer);
		free(f->calls[i].body);
	}
	free(f);
}

/* The newest request. */
static inline struct fake_call *fake_last(struct fake_wire *f)
{
	cr_assert_gt(f->count, 0);
	return &f->calls[f->count - 1];
}

static inline size_t fake_open_count(const struct fake_wire *f)
{
	size_t open = 0;
	for (size_t i = 0; i < f->count; i++) {
		open += f->calls[i].open;
	}
	return open;
}

static inline void fake_finish(struct fake_call *c, const struct wire_answer *answer)
{
	cr_assert(c->open, "a request is answered once: %s", c->path);
	c->open = false;
	c->events->on_done(c->data, answer);
}

static inline void fake_answer(struct fake_call *c, int status, const char *body)
{
	fake_finish(c,
		&(struct wire_answer){.status = status, .body = body, .body_size = strlen(body)});
}

static inline void fake_answer_later(
	struct fake_call *c, int status, int64_t retry_after_ms, const char *body)
{
	fake_finish(c, &(struct wire_answer){.status = status,
			       .retry_after_ms = retry_after_ms,
			       .body = body,
			       .body_size = strlen(body)});
}

/* No answer came. */
static inline void fake_fail(struct fake_call *c, bool unknown_outcome)
{
	struct wire_answer answer = {.body = ""};
	fault_set(&answer.fault, FAULT_TRANSIENT, "the connection broke");
	answer.fault.unknown_outcome = unknown_outcome;
	fake_finish(c, &answer);
}

/* Bytes of a 200. False: the receiver wants no more; the stream is then finished as the wire would.
 */
static inline bool fake_data(struct fake_call *c, const char *text)
{
	cr_assert(c->open && c->stream);
	if (c->events->on_data(c->data, 200, text, strlen(text))) {
		return true;
	}
	fake_finish(c, &(struct wire_answer){.status = 200, .body = ""});
	return false;
}

/* A 200 that says nothing yet. */
static inline void fake_accept(struct fake_call *c)
{
	cr_assert(c->open && c->stream);
	cr_assert(c->events->on_data(c->data, 200, "", 0));
}

/* The same one byte at a time. */
static inline void fake_drip(struct fake_call *c, const char *text)
{
	for (const char *p = text; *p != '\0'; p++) {
		cr_assert(c->open);
		if (!c->events->on_data(c->data, 200, p, 1)) {
			fake_finish(c, &(struct wire_answer){.status = 200, .body = ""});
			return;
		}
	}
}

static inline void fake_close(struct fake_call *c)
{
	fake_finish(c, &(struct wire_answer){.status = 200, .body = ""});
}

#define fake_expect_path(c, part)                                                                  \
	cr_expect(strstr((c)->path, (part)) != NULL, "%s lacks %s", (c)->path, (part))
#define fake_expect_no_path(c, part)                                                               \
	cr_expect(strstr((c)->path, (part)) == NULL, "%s has %s", (c)->path, (part))

#endif
