/* Scope-bound release and ownership transfer.
 *
 * CLEANUP(f) runs f(&variable) when the variable leaves its scope; f must accept a NULL or zeroed
 * object. TAKE(p) hands a pointer out and leaves NULL behind, so that the cleanup finds nothing.
 * This is the only place where GNU extensions of the language are spelled out. */
#ifndef BASE_CLEANUP_H
#define BASE_CLEANUP_H

#include <stddef.h>

#define CLEANUP(f)   __attribute__((cleanup(f)))
#define MUST_CHECK   __attribute__((warn_unused_result))
#define PRINTF(f, a) __attribute__((format(printf, f, a)))
#define NORETURN     __attribute__((noreturn))
#define UNUSED	     __attribute__((unused))

/* The owner of an embedded member. */
#define CONTAINER_OF(ptr, type, member) ((type *)(void *)((char *)(ptr)-offsetof(type, member)))

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

static inline void *take_pointer(void *slot)
{
	void **p = slot;
	void *value = *p;
	*p = NULL;
	return value;
}
#define TAKE(p) ((__typeof__(p))take_pointer(&(p)))

/* For CLEANUP on a descriptor; -1: there is none. */
static inline void cleanup_fd(int *fd)
{
	extern int close(int number);
	if (*fd >= 0) {
		(void)close(*fd);
		*fd = -1;
	}
}

#endif
