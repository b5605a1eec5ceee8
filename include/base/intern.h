/* One copy of each repeated string: namespaces, node names, label keys. Pointers are equal exactly
 * when the strings are, and stay valid until the last reference is released. */
#ifndef BASE_INTERN_H
#define BASE_INTERN_H

#include <stddef.h>

struct intern;

struct intern *intern_create(void);
void intern_destroy(struct intern *t);
const char *intern_add(struct intern *t, const char *s); /* one more reference; NULL stays NULL */
const char *intern_find(const struct intern *t, const char *s); /* no reference; NULL if unknown */
void intern_release(struct intern *t, const char *s); /* s came from intern_add; NULL is fine */
size_t intern_count(const struct intern *t);

#endif
