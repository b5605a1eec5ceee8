/* One list, once: page after page, each cut into objects as its bytes arrive, so that memory is
 * bounded by the largest object and not by the list. For who looks once and goes; who stays has a
 * reflector.
 *
 *     on_begin     a complete picture begins. May come again: what a page continued is gone (410),
 *                  and the list is read from its beginning
 *     on_object    one object, projected; it dies with the call
 *     on_oversize  one that is too large to be read
 *     on_done      exactly once, with FAULT_NONE if all of it was read
 *
 * All of these come from the wire's callbacks; on_done may destroy the lister, the others may not.
 * Nothing is tried again but for the 410, a few times. */
#ifndef KUBE_LISTER_H
#define KUBE_LISTER_H

#include <stdbool.h>
#include <stddef.h>

#include "kube/reflector.h"

#define LISTER_PAGE	   500
#define LISTER_OBJECTS_MAX 1000000
#define LISTER_PAGES_MAX   4000
#define LISTER_SILENCE_MS  15000

struct lister_events {
	void (*on_begin)(void *data);
	void (*on_object)(void *data, const char *json, size_t n);
	void (*on_oversize)(void *data);
	void (*on_done)(void *data, const struct fault *fault);
};

struct lister;

/* `kind` and its texts are borrowed until on_done. The first page is asked for at once. NULL, and
 * no on_done: it cannot be asked for, its namespace or a selector is too long (FAULT_LIMIT). */
struct lister *lister_create(struct kube *kube, const struct reflector_kind *kind,
	const struct lister_events *events, void *data, struct fault *ret_fault);
void lister_destroy(struct lister *l); /* NULL is fine; what is under way is cancelled */

#endif
