/* A growable array of plain values. Declare the struct where it is used:
 *
 *     struct names { VEC_FIELDS(const char *); };
 *     VEC_PUSH(&names, "a");
 *     vec_for_each(const char *, n, &names) { ... *n ... }
 *     VEC_FINISH(&names);
 *
 * Elements are moved by memcpy; pointers to them die at the next push. */
#ifndef BASE_VEC_H
#define BASE_VEC_H

#include <stddef.h>

#define VEC_FIELDS(type)                                                                           \
	type *items; /* owned */                                                                   \
	size_t count;                                                                              \
	size_t room
/* The same without a name of its own, for a member. */
#define VEC_OF(type)                                                                               \
	struct {                                                                                   \
		VEC_FIELDS(type);                                                                  \
	}

void *vec_grow(void *items, size_t *room, size_t need, size_t item_size);
void vec_free(void *items);

#define VEC_RESERVE(v, n)                                                                          \
	((void)((v)->room >= (n)                                                                   \
			? 0                                                                        \
			: ((v)->items = vec_grow((v)->items, &(v)->room, (n), sizeof *(v)->items), \
				  0)))
#define VEC_PUSH(v, value)                                                                         \
	(VEC_RESERVE((v), (v)->count + 1), (void)((v)->items[(v)->count++] = (value)))
#define VEC_REMOVE_SWAP(v, i) ((void)((v)->items[(i)] = (v)->items[--(v)->count]))
#define VEC_CLEAR(v)	      ((void)((v)->count = 0))
#define VEC_FINISH(v)                                                                              \
	(vec_free((v)->items), (v)->items = NULL, (v)->count = 0, (v)->room = 0, (void)0)

#define vec_for_each(type, it, v)                                                                  \
	for (type *it = (v)->items; it != NULL && it < (v)->items + (v)->count; it++)

#endif
