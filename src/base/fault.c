/* Faults: a kind for the program, a message for the person. */
#include "base/fault.h"

#include <stdarg.h>

int fault_set(struct fault *f, enum fault_kind kind, const char *format, ...)
{
	if (f == NULL) {
		return -1;
	}
	*f = (struct fault){.kind = kind};
	va_list args;
	va_start(args, format);
	vsnprintf(f->message, sizeof f->message, format, args);
	va_end(args);
	return -1;
}

int fault_wrap(struct fault *f, const char *format, ...)
{
	if (f == NULL) {
		return -1;
	}
	char cause[FAULT_MESSAGE_MAX];
	memcpy(cause, f->message, sizeof cause);
	va_list args;
	va_start(args, format);
	int n = vsnprintf(f->message, sizeof f->message, format, args);
	va_end(args);
	if (n >= 0 && (size_t)n < sizeof f->message) {
		snprintf(f->message + n, sizeof f->message - (size_t)n, ": %s", cause);
	}
	return -1;
}

void fault_copy(struct fault *to, const struct fault *from)
{
	if (to != NULL) {
		*to = *from;
	}
}

const char *fault_kind_name(enum fault_kind kind)
{
	static const char *const names[] = {[FAULT_NONE] = "none",
		[FAULT_TRANSIENT] = "transient",
		[FAULT_CONFLICT] = "conflict",
		[FAULT_GONE] = "gone",
		[FAULT_NOT_FOUND] = "not_found",
		[FAULT_DENIED] = "denied",
		[FAULT_INVALID] = "invalid",
		[FAULT_LIMIT] = "limit",
		[FAULT_FATAL] = "fatal"};
	return (unsigned)kind < COUNT_OF(names) ? names[kind] : "unknown";
}
