/* Requests to the API server: struct wire plus who we are plus what its answers mean.
 *
 * Every answer that is not 2xx becomes a fault: the kind from the HTTP status, the message from the
 * Status object in the body. A write that may have happened although no clean answer came has
 * fault.unknown_outcome set. A 401 lets the credentials drop their token and read it again.
 *
 * A completion fires exactly once, never from inside kube_call, never after kube_cancel.
 * kube_destroy cancels what is in flight without completing it. Nothing is retried here: who asked
 * decides. */
#ifndef KUBE_CLIENT_H
#define KUBE_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/fault.h"
#include "base/metric.h"
#include "kube/cred.h"
#include "kube/path.h"
#include "model/wire.h"

#define KUBE_TIMEOUT_MS 10000
#define KUBE_ANSWER_MAX (4 * 1024 * 1024)

struct kube_request {
	enum wire_method method;
	const char *path;	  /* with query */
	const char *accept;	  /* NULL: application/json */
	const char *content_type; /* NULL: no body */
	const char *body;
	size_t body_size;
	int64_t timeout_ms; /* 0: KUBE_TIMEOUT_MS */
	size_t limit_bytes; /* 0: KUBE_ANSWER_MAX */
};

struct kube_answer {
	struct fault fault; /* FAULT_NONE: status is 2xx */
	int status;	    /* 0: no answer came */
	const char *body;   /* borrowed, NUL-terminated, never NULL */
	size_t body_size;
};

typedef void (*kube_done)(void *data, const struct kube_answer *answer);

/* A stream hands on the bytes of a 200 only; the body of any other answer is read as a Status. */
struct kube_stream_events {
	bool (*on_data)(void *data, const char *p,
		size_t n); /* false ends the stream; on_done still comes; n 0: it was accepted */
	kube_done on_done;
	bool zipped; /* the answer may be compressed on its way; for lists, which end */
};

struct kube;

struct kube *kube_create(struct wire *wire, struct kube_cred *cred, const struct clock *clock,
	struct metric_registry *metrics); /* all borrowed; metrics may be NULL */
void kube_destroy(struct kube *k);

uint64_t kube_call(struct kube *k, const struct kube_request *request, kube_done done, void *data);
uint64_t kube_stream(struct kube *k, const char *path, int64_t guard_ms,
	const struct kube_stream_events *events, void *data);
void kube_cancel(struct kube *k, uint64_t id); /* unknown ids and 0 are fine */

const struct clock *kube_clock(const struct kube *k);
struct metric_registry *kube_metrics(const struct kube *k);

/* GET one object. One whose name is too long for a path is answered by FAULT_INVALID, here and in a
 * write. */
uint64_t kube_get(struct kube *k, const struct kube_path *path, kube_done done, void *data);
/* A write of one object with our field manager; `options` are KUBE_DRY_RUN, KUBE_FORCE. */
struct kube_write {
	enum wire_method method;
	struct kube_path path;
	const char *content_type;
	const char *body;
	size_t body_size;
	unsigned options;
	int64_t timeout_ms; /* 0: KUBE_TIMEOUT_MS */
};
uint64_t kube_put(struct kube *k, const struct kube_write *write, kube_done done, void *data);

/* What an HTTP answer means; exposed for tests. Leaves `ret_fault` zeroed for 2xx. */
void kube_fault_of(const struct wire_answer *answer, bool is_write, struct fault *ret_fault);

#endif
