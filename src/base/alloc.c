/* Memory that never comes back NULL, and arenas on top of it. */
#include "base/alloc.h"

#include <stdarg.h>
#include <stdint.h>

#define ARENA_ALIGN 16

struct arena_block {
	struct arena_block *next; /* owned */
	size_t used;
	size_t room;
	_Alignas(ARENA_ALIGN) unsigned char bytes[];
};

void bug_at(const char *file, int line, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	fprintf(stderr, "{\"level\":\"bug\",\"at\":\"%s:%d\",\"msg\":\"", file, line);
	vfprintf(stderr, format, args);
	fputs("\"}\n", stderr);
	va_end(args);
	abort();
}

static void *memory_checked(void *p, size_t size)
{
	if (p == NULL && size != 0) {
		bug_at(__FILE__, __LINE__, "out of memory: %zu bytes", size);
	}
	return p;
}

void *xmalloc(size_t size)
{
	return memory_checked(malloc(size), size);
}

void *xcalloc(size_t count, size_t size)
{
	return memory_checked(calloc(count, size), count * size);
}

void *xrealloc(void *p, size_t size)
{
	return memory_checked(realloc(p, size), size);
}

void *xreallocarray(void *p, size_t count, size_t size)
{
	return memory_checked(reallocarray(p, count, size), count * size);
}

char *xstrdup(const char *s)
{
	return s == NULL ? NULL : xmemdup(s, strlen(s) + 1);
}

char *xstrndup(const char *s, size_t n)
{
	char *copy = xmalloc(n + 1);
	if (n > 0) {
		memcpy(copy, s, n);
	}
	copy[n] = '\0';
	return copy;
}

void *xmemdup(const void *p, size_t n)
{
	void *copy = xmalloc(n);
	if (n > 0) {
		memcpy(copy, p, n);
	}
	return copy;
}

/* Room after a block's header. */
static size_t block_room(const struct arena *a)
{
	return a->block_bytes != 0 ? a->block_bytes : ARENA_BLOCK_BYTES;
}

/* `align` is a power of two. */
static void *arena_take(struct arena *a, size_t size, size_t align)
{
	size_t used = a->head != NULL ? (a->head->used + align - 1) & ~(align - 1) : 0;
	if (a->head == NULL || used > a->head->room || a->head->room - used < size) {
		/* Large requests get a block of their own. */
		size_t room = size > block_room(a) ? size : block_room(a);
		struct arena_block *b = xmalloc(sizeof *b + room);
		b->next = a->head;
		b->used = 0;
		b->room = room;
		a->head = b;
		used = 0;
	}
	void *p = a->head->bytes + used;
	a->used_bytes += used + size - a->head->used;
	a->head->used = used + size;
	return p;
}

void *arena_alloc(struct arena *a, size_t size)
{
	size_t need = (size + ARENA_ALIGN - 1) & ~(size_t)(ARENA_ALIGN - 1);
	ENSURE(need >= size);
	return memset(arena_take(a, need, ARENA_ALIGN), 0, need);
}

/* Texts stand side by side. */
static char *arena_take_text(struct arena *a, size_t n)
{
	ENSURE(n < SIZE_MAX);
	char *text = arena_take(a, n + 1, 1);
	text[n] = '\0';
	return text;
}

char *arena_strndup(struct arena *a, const char *s, size_t n)
{
	char *copy = arena_take_text(a, n);
	if (n > 0) {
		memcpy(copy, s, n);
	}
	return copy;
}

char *arena_strdup(struct arena *a, const char *s)
{
	return s == NULL ? NULL : arena_strndup(a, s, strlen(s));
}

char *arena_printf(struct arena *a, const char *format, ...)
{
	va_list args, again;
	va_start(args, format);
	va_copy(again, args);
	int n = vsnprintf(NULL, 0, format, args);
	va_end(args);
	ENSURE(n >= 0);
	char *text = arena_take_text(a, (size_t)n);
	vsnprintf(text, (size_t)n + 1, format, again);
	va_end(again);
	return text;
}

void arena_reset(struct arena *a)
{
	a->used_bytes = 0;
	if (a->head == NULL) {
		return;
	}
	/* Keep one ordinary block; a block made for one large object goes back. */
	struct arena_block *keep = NULL;
	struct arena_block *b = a->head;
	while (b != NULL) {
		struct arena_block *next = b->next;
		if (keep == NULL && b->room == block_room(a)) {
			keep = b;
		} else {
			free(b);
		}
		b = next;
	}
	if (keep != NULL) {
		keep->next = NULL;
		keep->used = 0;
	}
	a->head = keep;
}

void arena_wipe(struct arena *a)
{
	for (struct arena_block *b = a->head; b != NULL; b = b->next) {
		explicit_bzero(b->bytes, b->used);
	}
	arena_reset(a);
}

void arena_finish(struct arena *a)
{
	while (a->head != NULL) {
		struct arena_block *next = a->head->next;
		free(a->head);
		a->head = next;
	}
	a->used_bytes = 0;
}
