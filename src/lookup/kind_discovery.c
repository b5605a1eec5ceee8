/* One row a kind, asked for in two requests: the group's version, then the version's kinds. One
 * request at a time. */
#include "kind_discovery.h"

#include <stdlib.h>

#include "base/log.h"
#include "base/vec.h"
#include "codec/discovery.h"

#define KNOWN_MS    3600000 /* then it is asked for again: a version may be gone */
#define UNKNOWN_MS  600000
#define AGAIN_MS    15000 /* after no answer */
#define NAME_MAX_OF 253

enum stage { STAGE_ASKED, STAGE_FOUND, STAGE_UNKNOWN };

struct row {
	struct kinds *all;	  /* borrowed */
	char *group, *kind;	  /* owned */
	char *version, *resource; /* owned; NULL: not yet */
	enum stage stage;
	int64_t next_at;
};

struct kinds {
	struct kube *kube;
	VEC_OF(struct row *) rows; /* owned */
	uint64_t call;		   /* of `asking`; 0: none is under way */
	struct row *asking;
	bool news;
};

struct kinds *kinds_create(struct kube *kube)
{
	struct kinds *k = xcalloc(1, sizeof *k);
	k->kube = kube;
	return k;
}

void kinds_destroy(struct kinds *k)
{
	if (k == NULL) {
		return;
	}
	kube_cancel(k->kube, k->call);
	for (size_t i = 0; i < k->rows.count; i++) {
		struct row *r = k->rows.items[i];
		free(r->group);
		free(r->kind);
		free(r->version);
		free(r->resource);
		free(r);
	}
	VEC_FINISH(&k->rows);
	free(k);
}

/* --- asking --- */

static void row_settle(struct row *r, enum stage stage, int64_t after_ms)
{
	r->stage = stage;
	r->next_at = clock_mono(kube_clock(r->all->kube)) + after_ms;
	r->all->asking = NULL;
}

/* What is not there, or is no discovery, will not be soon; no answer says nothing. What was found
 * stays meanwhile. */
static void row_failed(struct row *r, const struct fault *f)
{
	bool passing = f->kind == FAULT_TRANSIENT || (f->kind == FAULT_LIMIT && f->status == 429);
	if (passing) {
		row_settle(r, r->stage, AGAIN_MS);
		return;
	}
	log_info("owners of this kind cannot be followed", LOG_S("group", r->group),
		LOG_S("kind", r->kind), LOG_F(f));
	row_settle(r, STAGE_UNKNOWN, UNKNOWN_MS);
}

static void on_resources(void *data, const struct kube_answer *a)
{
	CLEANUP(arena_finish) struct arena arena = {.block_bytes = 512};
	struct kinds *k = data;
	struct row *r = k->asking;
	struct fault f = a->fault;
	const char *resource = NULL;
	const struct view body = {a->body, a->body_size};
	k->call = 0;
	k->news = true;
	if (f.kind != FAULT_NONE || discovery_resource(body, r->kind, &arena, &resource, &f) < 0) {
		row_failed(r, &f);
		return;
	}
	text_set(&r->resource, resource);
	row_settle(r, STAGE_FOUND, KNOWN_MS);
}

static void discovery_get(struct kinds *k, const char *path, kube_done done)
{
	struct kube_request request = {.method = WIRE_GET, .path = path};
	k->call = kube_call(k->kube, &request, done, k);
}

static void on_group(void *data, const struct kube_answer *a)
{
	CLEANUP(arena_finish) struct arena arena = {.block_bytes = 512};
	struct kinds *k = data;
	struct row *r = k->asking;
	struct fault f = a->fault;
	const char *version = NULL;
	const struct view body = {a->body, a->body_size};
	k->call = 0;
	k->news = true;
	if (f.kind != FAULT_NONE || discovery_version(body, &arena, &version, &f) < 0) {
		row_failed(r, &f);
		return;
	}
	text_set(&r->version, version);
	discovery_get(k, arena_printf(&arena, "/apis/%s", version), on_resources);
}

void kinds_step(struct kinds *k, int64_t now)
{
	k->news = false;
	for (size_t i = 0; i < k->rows.count && k->asking == NULL; i++) {
		struct row *r = k->rows.items[i];
		if (now >= r->next_at) {
			CLEANUP(arena_finish) struct arena arena = {.block_bytes = 512};
			k->asking = r;
			discovery_get(k, arena_printf(&arena, "/apis/%s", r->group), on_group);
		}
	}
}

int64_t kinds_deadline(const struct kinds *k)
{
	int64_t at = k->news ? 0 : TIME_NEVER;
	for (size_t i = 0; i < k->rows.count && k->asking == NULL; i++) {
		at = time_min(at, k->rows.items[i]->next_at);
	}
	return at;
}

/* --- looking --- */

static struct row *kind_row(const struct kinds *k, struct view group, const char *kind)
{
	for (size_t i = 0; i < k->rows.count; i++) {
		struct row *r = k->rows.items[i];
		if (view_equals(group, r->group) && text_equals(r->kind, kind)) {
			return r;
		}
	}
	return NULL;
}

enum kinds_answer kinds_find(
	struct kinds *k, struct view group, const char *kind, struct kinds_place *ret_place)
{
	struct row *r = kind_row(k, group, kind);
	if (r == NULL) {
		if (k->rows.count >= KINDS_MAX || !discovery_is_segment(group) ||
			strlen(kind) > NAME_MAX_OF) {
			return KINDS_UNKNOWN;
		}
		r = xcalloc(1, sizeof *r);
		r->all = k;
		r->group = xstrndup(group.p, group.n);
		r->kind = xstrdup(kind);
		VEC_PUSH(&k->rows, r);
		k->news = true;
		return KINDS_LATER;
	}
	if (r->stage == STAGE_FOUND) {
		*ret_place = (struct kinds_place){r->version, r->resource};
		return KINDS_FOUND;
	}
	return r->stage == STAGE_ASKED ? KINDS_LATER : KINDS_UNKNOWN;
}

void kinds_refuse(struct kinds *k, struct view group, const char *kind)
{
	struct row *r = kind_row(k, group, kind);
	if (r != NULL && r != k->asking) {
		log_info("owners of this kind may not be read", LOG_S("group", r->group),
			LOG_S("kind", r->kind));
		r->stage = STAGE_UNKNOWN;
		r->next_at = clock_mono(kube_clock(k->kube)) + UNKNOWN_MS;
	}
}
