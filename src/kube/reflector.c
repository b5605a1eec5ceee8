/* When to ask for what. The stages are
 *
 *     WAIT ──▶ INITIAL ──bookmark──▶ WATCH ──▶ WAIT          watch-list
 *     WAIT ──▶ LIST ──▶ WAIT ──▶ WATCH ──▶ WAIT              where that is refused
 *
 * A list comes in pages, each of which goes through WAIT: the picture begins with the first, is of
 * the version that the first one told, and ends with the last. Where a page is gone (410) the list
 * is asked for once more, whole.
 *
 * Every end of a stream, good or bad, comes back to WAIT with a reason, and the reason says what is
 * next: resume from the last version, or a new complete picture, now or after a delay. */
#include "kube/reflector.h"

#include "base/log.h"
#include "base/map.h"
#include "reflector_feed.h"

#define WATCH_LEAST_S	 300 /* random between these, so that watches do not end together */
#define WATCH_SPREAD_S	 301
#define GUARD_EXTRA_MS	 30000
#define PICTURE_QUIET_MS 60000	/* an initial phase without a byte is dead, or never ends */
#define QUIET_MS	 150000 /* bookmarks come about once a minute */
#define STALE_MS	 10000
#define COMING_MS	 60000 /* while a picture comes in: as long as tenants may wait (C2) */
#define SETTLE_MS	 6000  /* a watch that did not fail for this long stands */
#define ACCEPTED_MS	 1000  /* and one that the server accepted, for this long */
#define NUDGE_SPREAD_MS	 500
#define HEALTHY_MS	 120000
#define LOOK_AGAIN_MS	 300000
#define VERY_SHORT_MS	 1000
#define BACKOFF_FIRST_MS 800
#define BACKOFF_CAP_MS	 10000
#define PATIENCE	 3

#define ERRORS_TOTAL "aliquot_watch_errors_total"
#define ERRORS_HELP  "Failures of lists and watches."

struct reflector *reflector_create(struct kube *kube, const struct reflector_kind *kind,
	const struct reflector_options *options, const struct reflector_events *events, void *data)
{
	struct reflector *r = xcalloc(1, sizeof *r);
	r->kube = kube;
	r->texts.block_bytes = 256;
	r->kind = (struct reflector_kind){
		.name = arena_strdup(&r->texts, kind->name),
		.group_version = arena_strdup(&r->texts, kind->group_version),
		.resource = arena_strdup(&r->texts, kind->resource),
		.ns = arena_strdup(&r->texts, kind->ns),
		.label_selector = arena_strdup(&r->texts, kind->label_selector),
		.field_selector = arena_strdup(&r->texts, kind->field_selector),
		.projection = kind->projection,
	};
	if (options != NULL) {
		r->options = *options;
	}
	r->no_watch_list = r->options.no_watch_list;
	r->options.quiet_ms = r->options.quiet_ms > 0 ? r->options.quiet_ms : QUIET_MS;
	r->events = *events;
	r->data = data;
	r->backoff = (struct backoff){.first_ms = BACKOFF_FIRST_MS, .cap_ms = BACKOFF_CAP_MS};
	r->needs_picture = true;
	r->any_version = true;
	r->accepted_ms = r->refused_ms = -1;
	rng_seed(&r->rng, r->options.seed ^ hash_text(kind->name));
	CLEANUP(str_finish) struct str labels = STR_INIT(256);
	metric_label(&labels, "kind", r->kind.name);
	r->events_total =
		metric_get(kube_metrics(kube), METRIC_COUNTER, "aliquot_watch_events_total",
			"Objects and events received by lists and watches.", str_text(&labels));
	return r;
}

static void forget_pages(struct reflector *r)
{
	free(r->more);
	r->more = NULL;
	r->pages = 0;
}

static void close_stream(struct reflector *r)
{
	kube_cancel(r->kube, r->call);
	r->call = 0;
	r->answered = false;
	r->stage = STAGE_WAIT;
}

void reflector_destroy(struct reflector *r)
{
	if (r == NULL) {
		return;
	}
	close_stream(r);
	forget_pages(r);
	slice_finish(&r->slice);
	arena_finish(&r->scratch);
	VEC_FINISH(&r->unread);
	arena_finish(&r->texts);
	free(r);
}

/* --- opening --- */

/* Without a version it is a consistent read, which alone comes in pages. A list that is asked for
 * whole may come from the cache the first time (cheap for the server), but never after we have seen
 * newer. The pages after the first are of its version. */
static void append_picture_version(struct reflector *r, struct str *path)
{
	if (r->stage == STAGE_LIST && r->more != NULL) {
		return;
	}
	if (r->any_version) {
		if (r->stage == STAGE_LIST && r->unpaged && r->version[0] == '\0') {
			kube_query_append(path, "resourceVersion", "0");
		}
		return;
	}
	kube_query_append(path, "resourceVersion", r->version);
	if (r->stage == STAGE_LIST) {
		kube_query_append(path, "resourceVersionMatch", "NotOlderThan");
	}
}

static void append_query(struct reflector *r, struct str *path, int64_t timeout_s)
{
	char seconds[24];
	snprintf(seconds, sizeof seconds, "%lld", (long long)timeout_s);
	if (!text_empty(r->kind.label_selector)) {
		kube_query_append(path, "labelSelector", r->kind.label_selector);
	}
	if (!text_empty(r->kind.field_selector)) {
		kube_query_append(path, "fieldSelector", r->kind.field_selector);
	}
	if (r->stage == STAGE_LIST) {
		if (!r->unpaged) {
			char limit[16];
			snprintf(limit, sizeof limit, "%d", PAGE_SIZE);
			kube_query_append(path, "limit", limit);
		}
		if (r->more != NULL) {
			kube_query_append(path, "continue", r->more);
		}
		append_picture_version(r, path);
		return;
	}
	kube_query_append(path, "watch", "true");
	kube_query_append(path, "allowWatchBookmarks", "true");
	kube_query_append(path, "timeoutSeconds", seconds);
	if (r->stage == STAGE_INITIAL) {
		kube_query_append(path, "sendInitialEvents", "true");
		kube_query_append(path, "resourceVersionMatch", "NotOlderThan");
		append_picture_version(r, path);
	} else {
		kube_query_append(path, "resourceVersion", r->version);
	}
}

static void on_stream_done(void *data, const struct kube_answer *answer)
{
	struct reflector *r = data;
	r->call = 0;
	r->answered = true;
	r->answer = answer->fault;
}

static const struct kube_stream_events watch_events = {
	.on_data = reflector_on_data, .on_done = on_stream_done};
static const struct kube_stream_events list_events = {
	.on_data = reflector_on_data, .on_done = on_stream_done, .zipped = true};

static void open_stream(struct reflector *r, int64_t now)
{
	CLEANUP(str_finish) struct str path = STR_INIT(LIST_PATH_MAX);
	int64_t timeout_s = WATCH_LEAST_S + (int64_t)rng_below(&r->rng, WATCH_SPREAD_S);
	r->stage = STAGE_WATCH;
	if (r->version[0] == '\0') {
		/* Watching from nowhere would miss what was deleted meanwhile. */
		r->needs_picture = true;
		r->any_version = true;
	}
	if (r->needs_picture) {
		r->stage = r->no_watch_list ? STAGE_LIST : STAGE_INITIAL;
	}
	if (r->needs_picture && r->more == NULL) {
		reflector_count(
			r, "aliquot_watch_relists_total", "Complete pictures asked for.", NULL);
	}
	kube_path_append(&path, &(struct kube_path){.group_version = r->kind.group_version,
					.resource = r->kind.resource,
					.ns = r->kind.ns});
	append_query(r, &path, timeout_s);
	ENSURE(!path.overflow);
	reflector_feed_start(r);
	r->opened_ms = now;
	r->stream_ms = now;
	r->call = kube_stream(r->kube, str_text(&path), timeout_s * 1000 + GUARD_EXTRA_MS,
		r->stage == STAGE_LIST ? &list_events : &watch_events, r);
}

/* --- closing --- */

static void wait_for(struct reflector *r, int64_t now, int64_t delay_ms)
{
	r->stage = STAGE_WAIT;
	r->retry_ms = now + delay_ms;
}

static void retry_later(struct reflector *r, int64_t now, const struct fault *why)
{
	int64_t delay = backoff_next(&r->backoff, &r->rng);
	if (why->retry_after_ms > delay) {
		delay = why->retry_after_ms;
	}
	reflector_count(r, ERRORS_TOTAL, ERRORS_HELP, fault_kind_name(why->kind));
	log_warn("lost a list or watch", LOG_S("kind", r->kind.name), LOG_F(why),
		LOG_I("status", why->status), LOG_I("retry_ms", delay));
	wait_for(r, now, delay);
	bool refused = why->status == 403 || why->status == 404;
	r->refused_ms = !refused ? -1 : r->refused_ms < 0 ? now : r->refused_ms;
	r->failed_ms = now;
	r->unreachable = why->status == 0 && !r->accepted;
}

/* The server does not know sendInitialEvents, or does not want it. */
static bool refuses_watch_list(const struct fault *f)
{
	switch (f->status) {
	case 400:
	case 405:
	case 406:
	case 415:
	case 422:
	case 501:
		return true;
	default:
		return false;
	}
}

/* Our version is from the future: the server was restored from a backup, or another one answers. */
static bool version_too_large(const struct fault *f)
{
	return strstr(f->message, "Too large resource version") != NULL;
}

/* A picture that began and did not end, or never said anything, may be a server that ignores the
 * question; a connection that was refused is not. */
static void picture_failed(struct reflector *r, int64_t now, const struct fault *why, bool silent)
{
	bool expired = why->kind == FAULT_GONE && r->more != NULL;
	forget_pages(r);
	if (expired) {
		reflector_count(r, ERRORS_TOTAL, ERRORS_HELP, "PageExpired");
		log_info("a page of the list is gone, taking it whole", LOG_S("kind", r->kind.name),
			LOG_F(why));
		r->unpaged = true;
		wait_for(r, now, 0);
		return;
	}
	r->failed_pictures += r->began || silent;
	if (r->stage == STAGE_INITIAL &&
		(refuses_watch_list(why) || r->failed_pictures >= PATIENCE)) {
		log_info("falling back to list and watch", LOG_S("kind", r->kind.name), LOG_F(why));
		reflector_count(r, ERRORS_TOTAL, ERRORS_HELP, "WatchListRefused");
		r->no_watch_list = true;
		r->failed_pictures = 0;
		wait_for(r, now, 0);
		return;
	}
	if (why->kind == FAULT_GONE || version_too_large(why) || why->status == 400 ||
		r->failed_pictures >= PATIENCE) {
		r->any_version = true;
	}
	retry_later(r, now, why);
}

static void watch_failed(struct reflector *r, int64_t now, const struct fault *why)
{
	r->failed_watches += r->event_error;
	if (why->kind == FAULT_GONE) {
		r->needs_picture = true;
		/* The watch itself worked: this is the ordinary way in which history ends. */
		reflector_count(r, ERRORS_TOTAL, ERRORS_HELP, "Expired");
		log_info("history is gone, taking a new picture", LOG_S("kind", r->kind.name),
			LOG_F(why));
		wait_for(r, now, 0);
		return;
	}
	if (version_too_large(why) || why->status == 400) {
		r->needs_picture = true;
		r->any_version = true;
	}
	if (r->failed_watches >= PATIENCE) {
		r->needs_picture = true;
	}
	retry_later(r, now, why);
}

/* Nothing that the server calls a page is without end. */
static void next_page(struct reflector *r, int64_t now, const struct slice_list *list)
{
	struct fault fault = {0};
	if (r->unpaged || r->pages >= PAGES_MAX || strlen(list->more) > CONTINUE_MAX) {
		r->unpaged = !r->unpaged;
		fault_set(&fault, FAULT_INVALID, "the list comes in pages that cannot be followed");
		picture_failed(r, now, &fault, false);
		return;
	}
	free(r->more);
	r->more = xstrdup(list->more);
	wait_for(r, now, 0);
}

static void list_ended(struct reflector *r, int64_t now)
{
	struct slice_list list;
	struct fault fault = {0};
	/* A list counts only when it was read to its closing brace, whatever the transfer says. */
	if (slice_end(&r->slice, &fault) != 0 ||
		slice_list_version(&r->slice, &list, &fault) != 0) {
		picture_failed(r, now, &fault, false);
		return;
	}
	if (r->pages++ == 0) {
		memcpy(r->page_version, list.version, sizeof r->page_version);
	}
	if (list.more[0] != '\0') {
		next_page(r, now, &list);
		return;
	}
	forget_pages(r);
	r->version[0] = '\0';
	reflector_end_picture(r, r->page_version);
	if (r->version[0] == '\0') {
		r->needs_picture = true;
		fault_set(&fault, FAULT_INVALID, "the list's version is empty or too long");
		retry_later(r, now, &fault);
		return;
	}
	wait_for(r, now, 0);
}

static void watch_ended(struct reflector *r, int64_t now)
{
	struct fault fault = {0};
	if (slice_end(&r->slice, &fault) != 0) {
		reflector_count(r, ERRORS_TOTAL, ERRORS_HELP, "HalfLine");
	}
	if (now - r->opened_ms < VERY_SHORT_MS && r->heard == 0) {
		fault_set(&fault, FAULT_TRANSIENT, "the watch ended at once and said nothing");
		retry_later(r, now, &fault);
		return;
	}
	r->stood_ms = now;
	wait_for(r, now, 0);
}

static void stream_ended(struct reflector *r, int64_t now)
{
	r->answered = false;
	bool stopped_by_us = r->stop && r->verdict.kind == FAULT_NONE;
	struct fault why = r->verdict.kind != FAULT_NONE ? r->verdict : r->answer;
	if (now - r->opened_ms >= HEALTHY_MS) {
		r->backoff.attempt = 0;
	}
	if (r->stage == STAGE_WATCH) {
		if (stopped_by_us) {
			wait_for(r, now, 0);
		} else if (why.kind != FAULT_NONE) {
			watch_failed(r, now, &why);
		} else {
			watch_ended(r, now);
		}
		return;
	}
	if (why.kind == FAULT_NONE && r->stage == STAGE_LIST && !stopped_by_us) {
		list_ended(r, now);
		return;
	}
	if (why.kind == FAULT_NONE) {
		fault_set(&why, FAULT_TRANSIENT, "the stream ended before the initial events did");
	}
	picture_failed(r, now, &why, false);
}

/* A peer that says nothing at all, not even the bookmarks that we asked for. */
static void check_silence(struct reflector *r, int64_t now)
{
	int64_t bound = r->stage == STAGE_WATCH ? r->options.quiet_ms : PICTURE_QUIET_MS;
	if (now - r->stream_ms < bound) {
		return;
	}
	struct fault fault;
	fault_set(&fault, FAULT_TRANSIENT, "no byte for %lld s",
		(long long)((now - r->stream_ms) / 1000));
	enum reflector_stage stage = r->stage;
	r->stood_ms = r->stream_ms;
	close_stream(r);
	r->stage = stage;
	if (stage == STAGE_WATCH) {
		watch_failed(r, now, &fault);
	} else {
		picture_failed(r, now, &fault, true);
	}
}

/* --- freshness --- */

/* When the watch that is open will stand, if nothing happens to it. */
static int64_t settled_at(const struct reflector *r)
{
	if (r->heard > 0) {
		return 0;
	}
	return r->opened_ms + (r->accepted ? ACCEPTED_MS : SETTLE_MS);
}

/* A picture of a hundred thousand pods was seen to take 22 s. For as long as it comes in each of
 * its objects is news, and a tenant that is made meanwhile waits for its end at most. */
static int64_t stale_at(const struct reflector *r)
{
	int64_t at = r->stood_ms + STALE_MS;
	bool comes = (r->stage == STAGE_INITIAL || r->stage == STAGE_LIST) && r->began;
	int64_t coming_at = time_min(r->stood_ms + COMING_MS, r->stream_ms + STALE_MS);
	return comes && coming_at > at ? coming_at : at;
}

static void check_stale(struct reflector *r, int64_t now)
{
	bool stands = r->stage == STAGE_WATCH && r->call != 0 && now >= settled_at(r);
	if (stands) {
		r->stood_ms = now;
	}
	bool stale = r->synced && now >= stale_at(r);
	if (stale != r->stale) {
		r->stale = stale;
		log_info(stale ? "watch is stale" : "watch stands again",
			LOG_S("kind", r->kind.name));
		if (r->events.on_stale != NULL) {
			r->events.on_stale(r->data, stale);
		}
	}
}

/* Whether what could not be read is still there only a complete picture can tell: its end may have
 * no name. */
static void look_again(struct reflector *r, int64_t now)
{
	if (r->missed && r->stage == STAGE_WATCH && now - r->missed_ms >= LOOK_AGAIN_MS) {
		r->missed = false;
		reflector_relist(r);
	}
}

void reflector_step(struct reflector *r, int64_t now_mono_ms)
{
	if (r->answered) {
		stream_ended(r, now_mono_ms);
	} else if (r->call != 0) {
		check_silence(r, now_mono_ms);
	}
	look_again(r, now_mono_ms);
	if (r->stage == STAGE_WAIT && now_mono_ms >= r->retry_ms) {
		open_stream(r, now_mono_ms);
	}
	check_stale(r, now_mono_ms);
}

int64_t reflector_deadline(const struct reflector *r)
{
	bool news = r->stale && r->stage == STAGE_WATCH && r->heard > 0;
	if (r->answered || news) {
		return 0;
	}
	int64_t next = r->retry_ms;
	if (r->stage != STAGE_WAIT) {
		next = r->stream_ms +
		       (r->stage == STAGE_WATCH ? r->options.quiet_ms : PICTURE_QUIET_MS);
	}
	if (r->missed && r->stage == STAGE_WATCH) {
		next = time_min(next, r->missed_ms + LOOK_AGAIN_MS);
	}
	if (r->synced && !r->stale && (r->stage != STAGE_WATCH || r->heard == 0)) {
		next = time_min(next, stale_at(r));
	}
	if (r->stale && r->stage == STAGE_WATCH) {
		next = time_min(next, settled_at(r));
	}
	return next;
}

int64_t reflector_accepted_ms(const struct reflector *r)
{
	return r->accepted_ms;
}

int64_t reflector_refused_ms(const struct reflector *r)
{
	return r->refused_ms;
}

/* Its own delay grew while nobody answered; who waits for the end of that gives a stale picture to
 * those who need a fresh one. Who was answered and failed keeps its delay, or it would be asked for
 * twice a second. */
void reflector_server_accepts(struct reflector *r, int64_t accepted_ms, int64_t now_mono_ms)
{
	if (r->stage == STAGE_WAIT && r->unreachable && accepted_ms > r->failed_ms) {
		int64_t soon = now_mono_ms + (int64_t)rng_below(&r->rng, NUDGE_SPREAD_MS);
		r->retry_ms = time_min(r->retry_ms, soon);
		r->unreachable = false;
	}
}

bool reflector_synced(const struct reflector *r)
{
	return r->synced;
}

const char *reflector_version(const struct reflector *r)
{
	return r->version;
}

bool reflector_is_stale(const struct reflector *r)
{
	return r->stale;
}

void reflector_relist(struct reflector *r)
{
	close_stream(r);
	forget_pages(r);
	r->needs_picture = true;
	r->retry_ms = 0;
}
