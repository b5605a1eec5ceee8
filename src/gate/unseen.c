/* Owners whose converted pods never came to be. */
#include "gate/unseen.h"

#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/map.h"
#include "base/number.h"
#include "base/str.h"

/* So many owners stand for a namespace of which no tenant was seen. */
#define STAND_FOR_ALL 2
#define TWICE_MS      500

static uint64_t key_of_owner(const struct pod *pod)
{
	return key_pair(text_or(pod->ns, ""), text_or(pod->owner.uid, ""));
}

/* The key of a namespace itself: no owner has such a uid. */
static uint64_t key_of_all(const char *ns)
{
	return key_pair(text_or(ns, ""), "/");
}

static bool key_was_seen(const struct unseen *u, uint64_t key)
{
	return u->seen[key % UNSEEN_SEEN] == key;
}

static struct unseen_owner *owner_find(struct unseen *u, uint64_t key)
{
	for (size_t i = 0; i < UNSEEN_OWNERS; i++) {
		if (u->owners[i].ns[0] != '\0' && u->owners[i].key == key) {
			return &u->owners[i];
		}
	}
	return NULL;
}

/* Owners that are left whole are kept before all others, then those asked about lately. */
static bool goes_first(const struct unseen_owner *a, const struct unseen_owner *b, int64_t now)
{
	bool a_closed = now < a->until, b_closed = now < b->until;
	return a_closed != b_closed ? !a_closed : a->used_at < b->used_at;
}

/* A place for an owner: nobody's, or that of one of the same namespace where this has all that it
 * may have. */
static struct unseen_owner *owner_place(struct unseen *u, const char *ns, int64_t now)
{
	struct unseen_owner *own = NULL, *any = NULL;
	size_t count = 0;
	for (size_t i = 0; i < UNSEEN_OWNERS; i++) {
		struct unseen_owner *o = &u->owners[i];
		bool same = o->ns[0] != '\0' && text_equals(o->ns, ns);
		count += same;
		own = same && (own == NULL || goes_first(o, own, now)) ? o : own;
		bool better = any == NULL ||
			      (any->ns[0] != '\0' && (o->ns[0] == '\0' || goes_first(o, any, now)));
		any = better ? o : any;
	}
	return count >= UNSEEN_OF_ONE ? own : any;
}

static size_t count_closed(const struct unseen *u, const char *ns, int64_t now)
{
	size_t count = 0;
	for (size_t i = 0; i < UNSEEN_OWNERS; i++) {
		const struct unseen_owner *o = &u->owners[i];
		count += now < o->until && text_equals(o->ns, ns);
	}
	return count;
}

/* Is a pod of the owner missed? The watch would have shown it. */
static bool is_missed(const struct unseen *u, const struct unseen_owner *o, int64_t now)
{
	int64_t silent_since = larger_of(u->heard_at, o->since);
	if (o->since == 0 || now - o->since < UNSEEN_AFTER_MS) {
		return false;
	}
	return (o->due > 0 && u->shown >= o->due) ||
	       (!u->broken && now - silent_since >= UNSEEN_STILL_MS) ||
	       now - o->since >= UNSEEN_BOUND_MS;
}

bool unseen_may_convert(struct unseen *u, const struct pod *pod, int64_t now)
{
	struct unseen_owner *o = owner_find(u, key_of_owner(pod));
	if (o == NULL && key_was_seen(u, key_of_owner(pod))) {
		return true;
	}
	if (o == NULL) {
		bool known = key_was_seen(u, key_of_all(pod->ns));
		return count_closed(u, pod->ns, now) < (known ? UNSEEN_OF_ONE : STAND_FOR_ALL);
	}
	o->used_at = now;
	if (is_missed(u, o, now)) {
		o->wait_ms = o->wait_ms == 0 ? UNSEEN_WAIT_MS
					     : smaller_of(o->wait_ms * 2, UNSEEN_MOST_MS);
		o->until = now + o->wait_ms;
		o->since = o->due = 0;
		o->was_written = false;
		log_warn("pods that were converted never came to be: others of their owner are "
			 "left whole",
			LOG_S("ns", pod->ns), LOG_S("owner", text_or(pod->owner.name, "")),
			LOG_I("seconds", o->wait_ms / 1000));
	}
	/* Of one that was left whole a single pod shows whether it is still so. The API server may
	 * ask about that one twice. */
	bool tries = o->until != 0 && o->since != 0 && now - o->since >= TWICE_MS;
	return now >= o->until && !tries;
}

void unseen_converted(struct unseen *u, const struct pod *pod, int64_t now)
{
	uint64_t key = key_of_owner(pod);
	if (key_was_seen(u, key) || strlen(text_or(pod->ns, "")) >= UNSEEN_NS_BYTES) {
		return;
	}
	struct unseen_owner *o = owner_find(u, key);
	if (o == NULL) {
		o = owner_place(u, pod->ns, now);
		*o = (struct unseen_owner){.key = key};
		snprintf(o->ns, sizeof o->ns, "%s", text_or(pod->ns, ""));
	}
	o->since = o->since != 0 ? o->since : now;
	o->used_at = now;
}

/* A watch that has shown a version which was written after the pods were to come has shown them.
 * The first version that is heard of by then may have been written earlier; the next one was not.
 */
static void note_due(struct unseen *u, int64_t now)
{
	for (size_t i = 0; i < UNSEEN_OWNERS; i++) {
		struct unseen_owner *o = &u->owners[i];
		if (o->since == 0 || o->due != 0 || now - o->since < UNSEEN_STORE_MS) {
			continue;
		}
		if (o->was_written) {
			o->due = u->stored;
		}
		o->was_written = true;
	}
}

static int64_t version_number(const char *text)
{
	int64_t version = 0;
	return parse_i64(view_of(text), 1, INT64_MAX, &version) ? version : 0;
}

void unseen_look(struct unseen *u, const char *stored, const char *shown, int64_t now)
{
	int64_t newest = version_number(stored), told = version_number(shown);
	if (told != u->shown) {
		u->shown = told;
		u->heard_at = now;
	}
	if (newest != u->stored) {
		u->stored = newest;
		note_due(u, now);
	}
}

void unseen_observe(struct unseen *u, const struct change *c, int64_t now)
{
	if (c->kind != KIND_POD) {
		return;
	}
	u->heard_at = now;
	u->broken = c->type == CHANGE_STALE || (u->broken && c->type != CHANGE_FRESH);
	if (c->type != CHANGE_SET || !pod_is_tenant(c->pod)) {
		return;
	}
	uint64_t key = key_of_owner(c->pod);
	struct unseen_owner *o = owner_find(u, key);
	if (o != NULL && o->until != 0) {
		log_info("a pod that was converted has come: its owner's are converted again",
			LOG_S("ns", c->pod->ns), LOG_S("owner", text_or(c->pod->owner.name, "")));
	}
	if (o != NULL) {
		*o = (struct unseen_owner){.since = 0};
	}
	uint64_t all = key_of_all(c->pod->ns);
	u->seen[key % UNSEEN_SEEN] = key;
	u->seen[all % UNSEEN_SEEN] = all;
}

bool unseen_refuses_some(const struct unseen *u, const char *ns, int64_t now)
{
	return count_closed(u, ns, now) > 0;
}
