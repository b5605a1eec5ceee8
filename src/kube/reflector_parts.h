/* What reflector.c (when to ask for what) and reflector_feed.c (what the bytes say) share. */
#ifndef KUBE_REFLECTOR_PARTS_H
#define KUBE_REFLECTOR_PARTS_H

#include "base/alloc.h"
#include "base/rand.h"
#include "base/vec.h"
#include "kube/reflector.h"

enum reflector_stage {
	STAGE_WAIT,    /* nothing is open; retry_ms says when */
	STAGE_INITIAL, /* watch-list, before the bookmark that ends the initial events */
	STAGE_LIST,
	STAGE_WATCH,
};

struct reflector {
	struct kube *kube; /* borrowed */
	struct reflector_kind kind;
	struct arena texts; /* of the kind */
	struct reflector_options options;
	struct reflector_events events;
	void *data;
	struct rng rng;
	struct backoff backoff;

	enum reflector_stage stage;
	uint64_t call;	      /* 0: nothing is open */
	struct slice slice;   /* of the stream that is open */
	struct arena scratch; /* of one object */

	/* the callbacks leave these for the step */
	bool answered;	      /* the stream is over */
	struct fault answer;  /* how it ended, as the wire saw it */
	struct fault verdict; /* what an ERROR event or the splitter said; stronger than `answer` */
	bool event_error;     /* the verdict is an ERROR event's */
	bool stop;	      /* the open stream is of no more use */

	char version[REFLECTOR_VERSION_MAX]; /* resume after this; "" is none */
	bool needs_picture;		     /* a complete one is due */
	bool any_version;		     /* ask for it without a version */
	bool no_watch_list;
	char *more; /* owned; the list goes on from there; NULL: it begins with the next page */
	char page_version[SLICE_VERSION_MAX]; /* of the first page */
	uint32_t pages;			      /* read of the list so far */
	uint64_t page_bytes;		      /* of the page that is read */
	bool unpaged;		     /* the next list is asked for whole: a page was gone */
	bool began;		     /* on_begin was called for the open stream */
	bool sweep;		     /* all of the picture could be named so far */
	struct metric *events_total; /* borrowed; may be NULL */
	bool synced;
	bool stale;
	/* those that could not be read, by their names: each is heard of when it goes */
	VEC_OF(uint64_t) unread;
	bool missed;	   /* something could not be read since the last picture began */
	int64_t missed_ms; /* and when that was first */

	bool accepted;	     /* the open stream, by the server */
	bool unreachable;    /* in STAGE_WAIT: nobody answered the last attempt */
	uint64_t heard;	     /* events of the open stream */
	int failed_pictures; /* in a row */
	int failed_watches;  /* ERROR events in a row, without another event between */
	int64_t opened_ms;
	int64_t stream_ms; /* last byte of the open stream, or its opening */
	int64_t stood_ms;  /* last moment a watch was known to stand */
	int64_t retry_ms;
	int64_t failed_ms;   /* the last failure */
	int64_t accepted_ms; /* when the server last accepted a stream; -1: not yet */
	int64_t refused_ms;  /* since when it answers that no time heals; -1: it does not */
};

#define PAGE_SIZE      500
#define PAGES_MAX      2000
#define PAGE_BYTES_MAX ((uint64_t)PAGE_SIZE * SLICE_OBJECT_MAX)
#define CONTINUE_MAX   1024
/* Escaped, a byte of the token may take three. */
#define LIST_PATH_MAX (KUBE_PATH_MAX + 3 * CONTINUE_MAX)

#endif
