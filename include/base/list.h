/* Lists whose links are members of what is in them, so that one that goes is not looked for:
 *
 *     struct call { struct call *prev, *next; };
 *     struct { LIST_FIELDS(struct call); } calls;
 *     LIST_PUSH(&calls, call, prev, next);
 *
 * A zeroed list is empty. The links are named, for something may be in two lists by two pairs. */
#ifndef BASE_LIST_H
#define BASE_LIST_H

#define LIST_FIELDS(type) type *first, *last

/* As the last one. */
#define LIST_PUSH(list, item, prev, next)                                                          \
	((item)->next = NULL, (item)->prev = (list)->last,                                         \
		*((list)->last != NULL ? &(list)->last->next : &(list)->first) = (item),           \
		(void)((list)->last = (item)))
/* As the first one. */
#define LIST_PUSH_FIRST(list, item, prev, next)                                                    \
	((item)->prev = NULL, (item)->next = (list)->first,                                        \
		*((list)->first != NULL ? &(list)->first->prev : &(list)->last) = (item),          \
		(void)((list)->first = (item)))
#define LIST_REMOVE(list, item, prev, next)                                                        \
	(*((item)->prev != NULL ? &(item)->prev->next : &(list)->first) = (item)->next,            \
		*((item)->next != NULL ? &(item)->next->prev : &(list)->last) = (item)->prev,      \
		(item)->prev = (item)->next = NULL, (void)0)

#endif
