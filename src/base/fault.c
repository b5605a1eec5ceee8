/* Faults: a kind for the program, a message for the person. */
#include "base/fault.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

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
	switch (kind) {
	case FAULT_NONE:
		return "none";
	case FAULT_TRANSIENT:
		return "transient";
	case FAULT_CONFLICT:
		return "conflict";
	case FAULT_GONE:
		return "gone";
	case FAULT_NOT_FOUND:
		return "not_found";
	case FAULT_DENIED:
		return "denied";
	case FAULT_INVALID:
		return "invalid";
	case FAULT_LIMIT:
		return "limit";
	case FAULT_FATAL:
		return "fatal";
	}
	return "unknown";
}
