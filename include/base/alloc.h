/* Memory. Running out of it aborts with a message: every size that comes from outside is bounded
 * before it gets here, so an allocation that fails is a programmer's mistake or a machine at its
 * end, and the controller is built to be restarted at any instruction. */
#ifndef BASE_ALLOC_H
#define BASE_ALLOC_H

#include <stddef.h>

#include "base/cleanup.h"

void *xmalloc(size_t size);
void *xcalloc(size_t count, size_t size);
void *xrealloc(void *p, size_t size);
void *xreallocarray(void *p, size_t count, size_t size);
char *xstrdup(const char *s);		 /* NULL stays NULL */
char *xstrndup(const char *s, size_t n); /* always NUL-terminated */
void *xmemdup(const void *p, size_t n);

/* For CLEANUP on a pointer of any type. */
static inline void cleanup_free(void *slot)
{
	extern void free(void *);
	free(take_pointer(slot));
}

#define ARENA_BLOCK_BYTES 4096

/* An arena: many small allocations, one release. Used for whatever lives exactly as long as one
 * request, one decoded object or one step. A zeroed struct is an empty arena. */
struct arena_block;
struct arena {
	struct arena_block *head; /* owned */
	size_t used_bytes;	  /* handed out since the last reset */
	size_t block_bytes; /* 0: ARENA_BLOCK_BYTES; smaller where there are many small arenas */
};

void *arena_alloc(struct arena *a, size_t size); /* zeroed, aligned for any type */
char *arena_strdup(struct arena *a, const char *s);
char *arena_strndup(struct arena *a, const char *s, size_t n);
char *arena_printf(struct arena *a, const char *format, ...) PRINTF(2, 3);
void arena_reset(struct arena *a); /* forgets everything, keeps one block for reuse */
void arena_finish(struct arena *a);
/* Overwrites what was handed out and forgets it: for memory that held a private key. */
void arena_wipe(struct arena *a);

#define ARENA_NEW(a, type)	    ((type *)arena_alloc((a), sizeof(type)))
#define ARENA_ARRAY(a, type, count) ((type *)arena_alloc((a), sizeof(type) * (count)))

/* A broken promise inside the program, never a state of the outside world. */
NORETURN void bug_at(const char *file, int line, const char *format, ...) PRINTF(3, 4);
#define BUG(...) bug_at(__FILE__, __LINE__, __VA_ARGS__)
/* An assertion that stays on in release builds. */
#define ENSURE(cond) ((cond) ? (void)0 : bug_at(__FILE__, __LINE__, "violated: %s", #cond))

#endif
