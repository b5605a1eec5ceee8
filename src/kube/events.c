/* The recorder. A key is one sentence about one object; its slot remembers the event that was
 * posted for it. A slot is free, waits for its first post, or is a series that waits until it may
 * be written again. */
#include "kube/events.h"

#include "base/alloc.h"
#include "base/log.h"
#include "base/map.h"
#include "base/rand.h"
#include "codec/event.h"

#define EVENTS_GROUP	"events.k8s.io/v1"
#define BODY_MAX	8192
#define WRITES_MAX	4
#define TOKEN_MS	(1000 / EVENTS_PER_SECOND)
#define FORGET_MS	(2 * EVENTS_REPEAT_MS) /* of a key that nobody repeats */
#define NAME_PREFIX_MAX 200

struct slot {
	bool used;
	uint64_t hash;
	struct event_note note; /* its texts in `texts` */
	struct arena texts;
	char name[256];	      /* of the event object */
	uint64_t call;	      /* in flight; 0: none */
	struct events *owner; /* borrowed */
	bool queued;
	bool posted;
	int32_t count;	  /* how often it was said */
	int32_t written;  /* the count that the API server has */
	int64_t first_ms; /* wall */
	int64_t last_ms;  /* wall */
	int64_t said_ms;  /* monotonic: last repetition */
	int64_t due_ms;	  /* monotonic: not written before */
};

struct events {
	struct kube *kube; /* borrowed */
	char *controller;  /* owned */
	char *instance;	   /* owned */
	struct rng rng;
	struct slot *slots;		  /* owned, EVENTS_KEYS_MAX */
	struct map index;		  /* hash of the key -> slot */
	uint32_t queue[EVENTS_QUEUE_MAX]; /* a ring of slots that have something to write */
	uint32_t head, queued;
	uint32_t writes;   /* in flight */
	uint32_t sweep;	   /* where looking for free and due slots goes on */
	int64_t tokens_ms; /* the bucket, in milliseconds of credit */
	int64_t filled_ms; /* when it was last filled */
	int64_t repeat_ms; /* the earliest due_ms of a series with something new; TIME_NEVER */
};

/* Equal hashes count as equal keys: 64 bits over a thousand keys, and a sentence is all there is to
 * lose. */
static bool same_key(const void *owner, uint32_t slot, const void *key)
{
	const struct slot *slots = owner;
	const uint64_t *hash = key;
	return slots[slot].used && slots[slot].hash == *hash;
}

struct events *events_create(
	struct kube *kube, const char *controller, const char *instance, uint64_t seed)
{
	struct events *e = xcalloc(1, sizeof *e);
	e->kube = kube;
	e->controller = xstrdup(controller);
	e->instance = xstrdup(instance);
	e->slots = xcalloc(EVENTS_KEYS_MAX, sizeof *e->slots);
	map_init(&e->index, same_key, e->slots);
	rng_seed(&e->rng, seed);
	e->tokens_ms = EVENTS_BURST * TOKEN_MS;
	e->filled_ms = clock_mono(kube_clock(kube));
	e->repeat_ms = TIME_NEVER;
	return e;
}

static void slot_release(struct events *e, struct slot *s)
{
	map_remove(&e->index, s->hash, (uint32_t)(s - e->slots));
	arena_finish(&s->texts);
	*s = (struct slot){0};
}

void events_destroy(struct events *e)
{
	if (e == NULL) {
		return;
	}
	for (uint32_t i = 0; i < EVENTS_KEYS_MAX; i++) {
		kube_cancel(e->kube, e->slots[i].call);
		arena_finish(&e->slots[i].texts);
	}
	map_finish(&e->index);
	free(e->slots);
	free(e->controller);
	free(e->instance);
	free(e);
}

static bool count_dropped(struct events *e)
{
	metric_count(kube_metrics(e->kube), "aliquot_events_dropped_total",
		"Events that were shed: too many at once.", NULL, 1);
	return false;
}

static uint64_t key_hash(const struct event_note *n)
{
	uint64_t h = n->warning ? 1 : 0;
	const char *parts[] = {n->kind, n->ns, n->name, n->uid, n->reason, n->note};
	for (size_t i = 0; i < COUNT_OF(parts); i++) {
		const char *part = text_or(parts[i], "");
		h = hash_bytes(part, strlen(part) + 1, h);
	}
	return h;
}

/* --- slots --- */

static void slot_fill(struct events *e, struct slot *s, const struct event_note *n)
{
	s->texts.block_bytes = 512;
	s->note = (struct event_note){
		.api_version = arena_strdup(&s->texts, n->api_version),
		.kind = arena_strdup(&s->texts, n->kind),
		.ns = arena_strdup(&s->texts, n->ns),
		.name = arena_strdup(&s->texts, n->name),
		.uid = arena_strdup(&s->texts, n->uid),
		.reason = arena_strdup(&s->texts, n->reason),
		.action = arena_strdup(&s->texts, text_empty(n->action) ? n->reason : n->action),
		.note = arena_strdup(&s->texts, n->note),
		.warning = n->warning,
	};
	/* Cut where a name may end. */
	size_t prefix = strlen(n->name) < NAME_PREFIX_MAX ? strlen(n->name) : NAME_PREFIX_MAX;
	while (prefix > 0 && (n->name[prefix - 1] == '-' || n->name[prefix - 1] == '.')) {
		prefix--;
	}
	snprintf(s->name, sizeof s->name, "%.*s.%016llx", (int)prefix, n->name,
		(unsigned long long)rng_next(&e->rng));
}

/* A free slot, or one whose sentence was not said for long and that has nothing left to write. */
static struct slot *slot_find(struct events *e, int64_t now)
{
	for (uint32_t i = 0; i < EVENTS_KEYS_MAX; i++) {
		e->sweep = (e->sweep + 1) % EVENTS_KEYS_MAX;
		struct slot *s = &e->slots[e->sweep];
		if (!s->used) {
			return s;
		}
		bool idle = s->call == 0 && !s->queued && s->count == s->written;
		if (idle && now - s->said_ms >= FORGET_MS) {
			slot_release(e, s);
			return s;
		}
	}
	return NULL;
}

static bool slot_enqueue(struct events *e, struct slot *s)
{
	if (e->queued == EVENTS_QUEUE_MAX) {
		return count_dropped(e);
	}
	e->queue[(e->head + e->queued) % EVENTS_QUEUE_MAX] = (uint32_t)(s - e->slots);
	e->queued++;
	s->queued = true;
	return true;
}

static bool slot_repeat(struct events *e, struct slot *s, int64_t now)
{
	s->said_ms = now;
	s->last_ms = clock_wall(kube_clock(e->kube));
	if (s->count < INT32_MAX) {
		s->count++;
	}
	if (!s->queued && s->call == 0) {
		e->repeat_ms = time_min(e->repeat_ms, s->due_ms);
	}
	return true;
}

bool events_emit(struct events *e, const struct event_note *note)
{
	int64_t now = clock_mono(kube_clock(e->kube));
	uint64_t hash = key_hash(note);
	uint32_t found = map_find(&e->index, hash, &hash);
	if (found != MAP_NONE) {
		return slot_repeat(e, &e->slots[found], now);
	}
	struct slot *s = e->queued < EVENTS_QUEUE_MAX ? slot_find(e, now) : NULL;
	if (s == NULL) {
		return count_dropped(e);
	}
	slot_fill(e, s, note);
	s->used = true;
	s->owner = e;
	s->hash = hash;
	s->count = 1;
	s->first_ms = clock_wall(kube_clock(e->kube));
	s->last_ms = s->first_ms;
	s->said_ms = now;
	map_put(&e->index, hash, (uint32_t)(s - e->slots));
	return slot_enqueue(e, s);
}

/* --- writing --- */

static void on_written(void *data, const struct kube_answer *answer)
{
	struct slot *s = data;
	struct events *e = s->owner;
	s->call = 0;
	e->writes--;
	if (answer->fault.kind == FAULT_NOT_FOUND && s->posted) {
		/* The API server forgets events after an hour: the next repetition is a new one. */
		s->posted = false;
		s->written = 0;
		s->count = 1;
		s->due_ms = 0;
		s->first_ms = s->last_ms;
	} else if (answer->fault.kind != FAULT_NONE) {
		/* An event is not worth a second attempt; its next repetition is one. */
		log_debug("could not write an event", LOG_S("reason", s->note.reason),
			LOG_F(&answer->fault));
		metric_count(kube_metrics(e->kube), "aliquot_events_failed_total",
			"Events that the API server did not take.", NULL, 1);
		if (!s->posted) {
			slot_release(e, s);
			return;
		}
	} else {
		s->posted = true;
		metric_count(kube_metrics(e->kube), "aliquot_events_written_total",
			"Events and series written.", NULL, 1);
	}
	if (s->count > s->written) {
		e->repeat_ms = time_min(e->repeat_ms, s->due_ms);
	}
}

static void write_first(struct events *e, struct slot *s, struct str *body)
{
	const struct event_note *n = &s->note;
	struct event event = {
		.ns = n->ns,
		.name = s->name,
		.reason = n->reason,
		.note = n->note,
		.action = n->action,
		.warning = n->warning,
		.time_ms = s->first_ms,
		.controller = e->controller,
		.instance = e->instance,
		.regarding = {.api_version = n->api_version,
			.kind = n->kind,
			.ns = n->ns,
			.name = n->name,
			.uid = n->uid},
		.series_count = s->count,
		.series_last_ms = s->last_ms,
	};
	if (!event_write(body, &event)) {
		body->overflow = true;
	}
}

static void write_slot(struct events *e, struct slot *s, int64_t now)
{
	CLEANUP(str_finish) struct str body = STR_INIT(BODY_MAX);
	if (s->posted) {
		event_write_series(&body, s->count, s->last_ms);
	} else {
		write_first(e, s, &body);
	}
	s->due_ms = now + EVENTS_REPEAT_MS;
	s->written = s->count;
	if (body.overflow) {
		count_dropped(e);
		if (!s->posted) {
			slot_release(e, s);
		}
		return;
	}
	struct kube_write write = {
		.method = s->posted ? WIRE_PATCH : WIRE_POST,
		.path = {.group_version = EVENTS_GROUP,
			.ns = text_empty(s->note.ns) ? "default" : s->note.ns,
			.resource = "events",
			.name = s->posted ? s->name : NULL},
		.content_type = s->posted ? KUBE_MERGE_PATCH : KUBE_JSON,
		.body = str_text(&body),
		.body_size = body.len,
	};
	e->writes++;
	s->call = kube_put(e->kube, &write, on_written, s);
}

/* Series with something new whose time has come. Looked for at most once per due time. */
static void enqueue_due(struct events *e, int64_t now)
{
	if (now < e->repeat_ms) {
		return;
	}
	e->repeat_ms = TIME_NEVER;
	for (uint32_t i = 0; i < EVENTS_KEYS_MAX; i++) {
		struct slot *s = &e->slots[i];
		if (!s->used || s->queued || s->call != 0 || s->count == s->written) {
			continue;
		}
		if (s->due_ms <= now && e->queued < EVENTS_QUEUE_MAX) {
			slot_enqueue(e, s);
		} else {
			int64_t due = s->due_ms > now ? s->due_ms : now + 1000;
			e->repeat_ms = time_min(e->repeat_ms, due);
		}
	}
}

void events_step(struct events *e, int64_t now_mono_ms)
{
	e->tokens_ms += now_mono_ms - e->filled_ms;
	e->tokens_ms = time_min(e->tokens_ms, EVENTS_BURST * TOKEN_MS);
	e->filled_ms = now_mono_ms;
	enqueue_due(e, now_mono_ms);
	while (e->queued > 0 && e->tokens_ms >= TOKEN_MS && e->writes < WRITES_MAX) {
		struct slot *s = &e->slots[e->queue[e->head]];
		e->head = (e->head + 1) % EVENTS_QUEUE_MAX;
		e->queued--;
		e->tokens_ms -= TOKEN_MS;
		s->queued = false;
		write_slot(e, s, now_mono_ms);
	}
}

int64_t events_deadline(const struct events *e)
{
	int64_t next = e->repeat_ms;
	if (e->queued > 0 && e->writes < WRITES_MAX) {
		int64_t missing = TOKEN_MS - e->tokens_ms;
		next = time_min(next, e->filled_ms + (missing > 0 ? missing : 0));
	}
	return next;
}

size_t events_queued(const struct events *e)
{
	return e->queued;
}
