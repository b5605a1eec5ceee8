/* Faults: what went wrong, told to a program by kind and to a person by message.
 *
 * A fallible function returns 0 or -1 and fills *ret_fault only on failure; ret_fault may be NULL.
 * The kind drives policy; the message gains context on the way up ("patch pod a/b: 409: ..."). The
 * struct lives on the stack and nothing on the error path allocates. */
#ifndef BASE_FAULT_H
#define BASE_FAULT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"

enum fault_kind {
	FAULT_NONE,
	FAULT_TRANSIENT, /* try again later: 5xx, a broken connection, a deadline */
	FAULT_CONFLICT,	 /* a precondition did not hold: 409 */
	FAULT_GONE,	 /* the history asked for is no longer there: 410 */
	FAULT_NOT_FOUND,
	FAULT_DENIED,  /* 401, 403, a certificate that does not verify */
	FAULT_INVALID, /* input that cannot mean anything: 400, 422, malformed bytes */
	FAULT_LIMIT,   /* a bound that we set was reached: 413, 429, an object too large */
	FAULT_FATAL,   /* nothing in this process can go on */
};

#define FAULT_MESSAGE_MAX 320

struct fault {
	enum fault_kind kind;
	int status;		/* HTTP status where there was one, else 0 */
	int64_t retry_after_ms; /* what the other side asked for, else 0 */
	bool unknown_outcome;	/* a write may or may not have happened */
	char message[FAULT_MESSAGE_MAX];
};

/* Returns -1, so that `return fault_set(f, ...)` reads well. A NULL f is accepted everywhere. */
int fault_set(struct fault *f, enum fault_kind kind, const char *format, ...) PRINTF(3, 4);
/* Prepends context; keeps the kind. Returns -1. */
int fault_wrap(struct fault *f, const char *format, ...) PRINTF(2, 3);
void fault_copy(struct fault *to, const struct fault *from);
const char *fault_kind_name(enum fault_kind kind);

#endif
