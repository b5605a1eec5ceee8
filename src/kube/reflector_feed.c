/* The bytes of a list or a watch, cut into objects and handed to the receiver. Nothing here opens
 * or closes a stream: what an event means for that is left in `verdict` for the step. */
#include "base/log.h"
#include "base/map.h"
#include "codec/meta.h"
#include "codec/status.h"
#include "reflector_feed.h"

void reflector_count(struct reflector *r, const char *name, const char *help, const char *reason)
{
	CLEANUP(str_finish) struct str labels = STR_INIT(256);
	metric_label(&labels, "kind", r->kind.name);
	if (reason != NULL) {
		metric_label(&labels, "reason", reason);
	}
	metric_count(kube_metrics(r->kube), name, help, str_text(&labels), 1);
}

static void set_version(struct reflector *r, const char *version)
{
	/* A version that does not fit is none: the next resume would be a lie. */
	size_t n = strlen(version);
	if (n == 0 || n >= sizeof r->version) {
		return;
	}
	memcpy(r->version, version, n + 1);
}

/* --- what cannot be read --- */

/* More than anybody has by mistake. */
#define UNREAD_MAX 1024

static void look_again(struct reflector *r)
{
	r->missed_ms = r->missed ? r->missed_ms : clock_mono(kube_clock(r->kube));
	r->missed = true;
}

static size_t unread_at(const struct reflector *r, uint64_t name)
{
	size_t i = 0;
	while (i < r->unread.count && r->unread.items[i] != name) {
		i++;
	}
	return i;
}

/* Its end will be heard of, by its name: until then another picture would show it again, and show
 * nothing else. False: it was known already. */
static bool unread_remember(struct reflector *r, const char *ns, const char *name)
{
	uint64_t key = name != NULL ? key_pair(text_or(ns, ""), name) : 0;
	bool is_new = name == NULL || unread_at(r, key) == r->unread.count;
	if (name == NULL || (is_new && r->unread.count == UNREAD_MAX)) {
		look_again(r);
	} else if (is_new) {
		VEC_PUSH(&r->unread, key);
	}
	return is_new;
}

/* It is gone, or can be read: once that is so of all, a picture tells that nothing is missing. */
static void unread_forget(struct reflector *r, const char *ns, const char *name)
{
	size_t at = unread_at(r, key_pair(text_or(ns, ""), name));
	if (at == r->unread.count) {
		return;
	}
	VEC_REMOVE_SWAP(&r->unread, at);
	if (r->unread.count == 0) {
		look_again(r);
	}
}

static void skip_unread(
	struct reflector *r, const char *ns, const char *name, const struct fault *why)
{
	reflector_count(r, "aliquot_watch_unread_total",
		"Objects of a list or a watch that could not be decoded and were skipped.", NULL);
	if (unread_remember(r, ns, name)) {
		log_warn("skipped an object that cannot be read", LOG_S("kind", r->kind.name),
			LOG_S("ns", ns), LOG_S("name", name), LOG_F(why));
	}
	r->sweep = r->sweep && name != NULL;
	if (r->events.on_unread != NULL) {
		r->events.on_unread(r->data, ns, name);
	}
}

static void hand_on(struct reflector *r, const char *json, size_t n)
{
	struct meta meta;
	struct fault f = {0};
	if (r->slice.cut) {
		reflector_count(r, "aliquot_watch_cut_total",
			"Objects of a list or a watch whose longest lists were cut off.", NULL);
	}
	bool read = r->events.on_object(r->data, (struct view){json, n}, &f) == 0;
	if (read && r->unread.count == 0) {
		return; /* nearly always */
	}
	bool named = meta_marked(&r->slice, &r->scratch, &meta);
	if (!read) {
		skip_unread(r, named ? meta.ns : NULL, named ? meta.name : NULL, &f);
	} else if (named) {
		unread_forget(r, meta.ns, meta.name);
	}
}

static void hand_on_gone(struct reflector *r, const struct meta *meta)
{
	if (meta == NULL) {
		/* Something is gone and we cannot tell what: only a complete picture can. */
		struct fault f = {0};
		fault_set(&f, FAULT_INVALID, "it is gone and has no name");
		skip_unread(r, NULL, NULL, &f);
		r->needs_picture = true;
		r->stop = true;
		return;
	}
	if (r->events.on_gone != NULL) {
		r->events.on_gone(r->data, meta->ns, meta->name, meta->uid);
	}
	unread_forget(r, meta->ns, meta->name);
}

void reflector_end_picture(struct reflector *r, const char *version)
{
	set_version(r, version);
	r->needs_picture = false;
	r->any_version = false;
	r->failed_pictures = 0;
	r->unpaged = false;
	r->stood_ms = clock_mono(kube_clock(r->kube));
	r->synced = true;
	if (r->events.on_end != NULL) {
		r->events.on_end(r->data, r->sweep);
	}
	reflector_count(r, "aliquot_watch_pictures_total", "Complete pictures taken.", NULL);
	log_info("synced", LOG_S("kind", r->kind.name), LOG_S("version", r->version));
}

static void on_bookmark(struct reflector *r, const char *json, size_t n)
{
	struct meta meta;
	struct fault fault = {0};
	if (meta_decode(json, n, &r->scratch, &meta, &fault) != 0 ||
		text_empty(meta.resource_version)) {
		reflector_count(r, "aliquot_watch_errors_total", "Failures of lists and watches.",
			"Bookmark");
		return;
	}
	if (r->stage == STAGE_INITIAL) {
		/* Before the end no version may be resumed from: half of the objects would be
		 * missing. */
		if (meta.initial_events_end) {
			r->stage = STAGE_WATCH;
			reflector_end_picture(r, meta.resource_version);
		}
		return;
	}
	set_version(r, meta.resource_version);
}

static void on_change(struct reflector *r, struct view type, const char *json, size_t n)
{
	struct meta meta;
	bool gone = view_equals(type, "DELETED");
	if (!gone && !view_equals(type, "ADDED") && !view_equals(type, "MODIFIED")) {
		reflector_count(r, "aliquot_watch_errors_total", "Failures of lists and watches.",
			"UnknownEvent");
		return;
	}
	if (!gone && r->stage == STAGE_INITIAL) {
		hand_on(r, json, n);
		return;
	}
	bool named = meta_marked(&r->slice, &r->scratch, &meta);
	if (gone) {
		hand_on_gone(r, named ? &meta : NULL);
	} else {
		hand_on(r, json, n);
	}
	if (named && r->stage == STAGE_WATCH) {
		set_version(r, meta.resource_version);
	}
}

static bool on_object(void *data, struct view type, const char *json, size_t n)
{
	struct reflector *r = data;
	metric_add(r->events_total, 1);
	if (view_equals(type, "ERROR")) {
		status_decode(json, n, 0, &r->verdict);
		r->event_error = true;
		r->stop = true;
		return false;
	}
	r->heard++;
	r->failed_watches = 0;
	if (r->stage == STAGE_LIST) {
		hand_on(r, json, n);
	} else if (view_equals(type, "BOOKMARK")) {
		on_bookmark(r, json, n);
	} else {
		on_change(r, type, json, n);
	}
	arena_reset(&r->scratch);
	return !r->stop;
}

static void on_oversize(void *data)
{
	struct reflector *r = data;
	struct meta meta;
	struct fault f = {0};
	bool named = meta_marked(&r->slice, &r->scratch, &meta);
	r->heard++;
	if (named && text_equals(str_text(&r->slice.type), "\"DELETED\"")) {
		hand_on_gone(r, &meta);
	} else {
		fault_set(&f, FAULT_LIMIT, "it is too large");
		skip_unread(r, named ? meta.ns : NULL, named ? meta.name : NULL, &f);
	}
	arena_reset(&r->scratch);
}

static const struct slice_events slice_events = {
	.on_object = on_object, .on_oversize = on_oversize};

void reflector_feed_start(struct reflector *r)
{
	enum slice_form form = r->stage == STAGE_LIST ? SLICE_LIST : SLICE_WATCH;
	if (r->slice.form != form || r->slice.events == NULL) {
		slice_finish(&r->slice);
		slice_init(&r->slice, form, r->kind.projection, &slice_events, r);
	} else {
		slice_reset(&r->slice);
	}
	r->heard = 0;
	r->page_bytes = 0;
	r->accepted = false;
	r->answered = false;
	r->event_error = false;
	r->stop = false;
	r->began = r->more != NULL;
	r->answer = (struct fault){0};
	r->verdict = (struct fault){0};
}

bool reflector_on_data(void *data, const char *p, size_t n)
{
	struct reflector *r = data;
	int64_t now = clock_mono(kube_clock(r->kube));
	if (n == 0) {
		r->accepted = true;
		r->accepted_ms = now;
		r->refused_ms = -1;
		return !r->stop;
	}
	r->stream_ms = now;
	/* The first byte of a 200 begins the picture. An attempt before may have begun one too and
	 * failed: this begin replaces it. */
	if (r->stage != STAGE_WATCH && !r->began) {
		r->began = true;
		r->sweep = true;
		r->missed = false;
		VEC_CLEAR(&r->unread);
		if (r->events.on_begin != NULL) {
			r->events.on_begin(r->data);
		}
	}
	r->page_bytes += n;
	if (r->stage == STAGE_LIST && !r->unpaged && r->page_bytes > PAGE_BYTES_MAX) {
		fault_set(&r->verdict, FAULT_LIMIT, "a page of more than %llu bytes",
			(unsigned long long)PAGE_BYTES_MAX);
		return false;
	}
	if (slice_push(&r->slice, p, n, &r->verdict) != 0) {
		return false;
	}
	return !r->stop;
}
