/* A reflector keeps the receiver's copy of one kind equal to the API server's.
 *
 * It speaks watch-list (the objects and the changes after them in one stream, the border being a
 * bookmark) and falls back to LIST and WATCH where the server refuses that. Objects are cut out of
 * the stream as bytes arrive and handed on one at a time, so memory is bounded by the largest
 * object.
 *
 * What the receiver hears:
 *     on_begin     mark everything: a complete picture begins. May come again without an end: the
 * attempt before failed midway, nothing was swept, start over. on_object    an object as it is
 *     on_gone      it was deleted
 *     on_unread    an object is there but could not be decoded: keep what you have of it
 *     on_end       the picture is complete; with `sweep`, what was not mentioned since on_begin is
 * gone on_stale     true: the watch is broken, conclude nothing from absence; false: it stands
 * again
 *
 * All of these come from the wire's callbacks or from reflector_step; none may destroy the
 * reflector. */
#ifndef KUBE_REFLECTOR_H
#define KUBE_REFLECTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "json/slice.h"
#include "kube/client.h"

#define REFLECTOR_VERSION_MAX 64

struct reflector_kind {
	const char *name;		     /* for logs and metrics: "pods" */
	const char *group_version;	     /* "v1" */
	const char *resource;		     /* "pods" */
	const char *ns;			     /* NULL: all */
	const char *label_selector;	     /* NULL: none */
	const char *field_selector;	     /* NULL: none */
	const struct slice_keep *projection; /* NULL: everything; borrowed, constant */
};

/* All but on_object may be NULL: nobody hears it. */
struct reflector_events {
	void (*on_begin)(void *data);
	/* `json` is one object, projected, NUL-terminated. -1: it cannot be decoded, or kept: the
	 * reflector says so in the log, once, and on_unread follows. */
	int (*on_object)(void *data, struct view json, struct fault *ret_fault);
	void (*on_gone)(void *data, const char *ns, const char *name, const char *uid);
	/* ns and name are NULL if not even they could be read */
	void (*on_unread)(void *data, const char *ns, const char *name);
	void (*on_end)(void *data, bool sweep);
	void (*on_stale)(void *data, bool stale);
};

/* Times; zero means the default. */
struct reflector_options {
	bool no_watch_list; /* go straight to LIST and WATCH */
	int64_t quiet_ms;   /* an open watch without a byte, bookmarks included, is dead: 150 s */
	uint64_t seed;	    /* of jitter */
};

struct reflector;

struct reflector *reflector_create(struct kube *kube, const struct reflector_kind *kind,
	const struct reflector_options *options, const struct reflector_events *events, void *data);
void reflector_destroy(struct reflector *r);
void reflector_step(struct reflector *r, int64_t now_mono_ms);
int64_t reflector_deadline(const struct reflector *r);

bool reflector_synced(const struct reflector *r); /* a complete picture was handed over once */
bool reflector_is_stale(const struct reflector *r);
/* All that is older was handed over; "" before a complete picture was. Borrowed. */
const char *reflector_version(const struct reflector *r);
/* When the server last accepted its list or watch; -1: not yet. */
int64_t reflector_accepted_ms(const struct reflector *r);
/* Since when it answers nothing but that we may not see these (403), or that there is no such kind
 * (404); -1: it does not. */
int64_t reflector_refused_ms(const struct reflector *r);
/* It accepted somebody's then: one that waits because nobody was there tries soon. */
void reflector_server_accepts(struct reflector *r, int64_t accepted_ms, int64_t now_mono_ms);
/* Drops the stream and takes a new complete picture. */
void reflector_relist(struct reflector *r);

#endif
