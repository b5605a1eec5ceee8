/* One record a claim that somebody waits with; each is read in up to two requests. */
#include "lookup/volumes.h"

#include <stdlib.h>

#include "base/log.h"
#include "base/rand.h"
#include "base/table.h"
#include "codec/volume.h"

/* Again soon while a controller may be binding it; what is settled, for the case that the claim was
 * made anew under its name, or that somebody else's pod came first. */
#define SOON_MS	       1000
#define SOON_CAP_MS    15000
#define SETTLED_MS     60000
#define WAITS_EVERY_MS 5000

struct record {
	struct table_row row; /* its texts owned; met: somebody names it */
	struct volumes *all;  /* borrowed */
	uint64_t call;	      /* 0: none */
	int64_t next_at;
	bool told; /* what was learned last is in the world, unless it was forgotten there */
	struct backoff backoff;
	/* between two requests */
	struct arena arena; /* of `found` */
	struct volume_reading found;
};

struct volumes {
	struct kube *kube;
	const struct world *world;
	bool (*tell)(void *data, const struct change *c);
	void *data;
	struct rng rng;
	struct table records;
	uint64_t version; /* of the world's claims, when they were last walked */
	uint32_t in_flight;
	int64_t deadline;
};

static void volume_record_drop(void *data, struct table_row *row)
{
	struct volumes *v = data;
	struct record *r = (struct record *)(void *)row;
	kube_cancel(v->kube, r->call);
	v->in_flight -= r->call != 0 ? 1 : 0;
	arena_finish(&r->arena);
	free((char *)(uintptr_t)row->ns);
	free((char *)(uintptr_t)row->name);
	free(r);
}

static void volume_get(struct record *r, const struct kube_path *path, kube_done done)
{
	r->call = kube_get(r->all->kube, path, done, r);
	r->all->in_flight++;
}

static void volume_answered(struct record *r)
{
	r->call = 0;
	r->all->in_flight--;
	/* The next step looks at it. */
	r->all->deadline = 0;
}

static void ask_again(struct record *r, int64_t after)
{
	r->next_at = clock_mono(kube_clock(r->all->kube)) + after;
}

static void claim_learned(struct record *r, enum claim_state state)
{
	struct volume_claim *claim = &r->found.claim;
	claim->ns = r->row.ns;
	claim->name = r->row.name;
	claim->state = state;
	struct change c = {.type = CHANGE_SET, .kind = KIND_CLAIM, .claim = claim};
	if (!r->all->tell(r->all->data, &c)) {
		log_warn("a volume claim is too large to be kept", LOG_S("ns", r->row.ns),
			LOG_S("name", r->row.name));
	}
	r->told = true;
	bool settled = state == CLAIM_BOUND || state == CLAIM_UNJUDGED;
	if (settled || state == CLAIM_WAITS) {
		r->backoff.attempt = 0;
		ask_again(r, settled ? SETTLED_MS : WAITS_EVERY_MS);
	} else {
		ask_again(r, backoff_next(&r->backoff, &r->all->rng));
	}
	arena_reset(&r->arena);
	r->found = (struct volume_reading){0};
}

/* What cannot be had now is asked for again; what we may not have, or cannot read, is left to the
 * scheduler: a tenant that waits for it would wait for ever. */
static void volume_failed(struct record *r, const struct fault *f, enum claim_state missing)
{
	bool denied = f->kind == FAULT_DENIED && f->status == 403;
	if (f->kind == FAULT_NOT_FOUND) {
		claim_learned(r, missing);
		return;
	}
	log_warn("a volume claim cannot be judged", LOG_S("ns", r->row.ns),
		LOG_S("name", r->row.name), LOG_F(f));
	if (denied || f->kind == FAULT_INVALID || f->kind == FAULT_LIMIT) {
		claim_learned(r, CLAIM_UNJUDGED);
		return;
	}
	arena_reset(&r->arena);
	ask_again(r, backoff_next(&r->backoff, &r->all->rng));
}

static void on_second(void *data, const struct kube_answer *a)
{
	struct record *r = data;
	struct fault f = a->fault;
	volume_answered(r);
	bool volume = r->found.next == VOLUME_READ_VOLUME;
	if (f.kind == FAULT_NONE) {
		int result = volume ? volume_decode(
					      a->body, a->body_size, &r->arena, &r->found.claim, &f)
				    : volume_class_decode(a->body, a->body_size, &r->arena,
					      &r->found.claim, &f);
		if (result == 0) {
			claim_learned(r, r->found.claim.state);
			return;
		}
	}
	volume_failed(r, &f, volume ? CLAIM_LOST : CLAIM_UNBOUND);
}

static void on_claim(void *data, const struct kube_answer *a)
{
	struct record *r = data;
	struct fault f = a->fault;
	volume_answered(r);
	if (f.kind != FAULT_NONE ||
		volume_claim_decode(a->body, a->body_size, &r->arena, &r->found, &f) < 0) {
		volume_failed(r, &f, CLAIM_MISSING);
		return;
	}
	struct kube_path path = {
		.group_version = "v1", .resource = "persistentvolumes", .name = r->found.name};
	if (r->found.next == VOLUME_READ_CLASS) {
		path.group_version = "storage.k8s.io/v1";
		path.resource = "storageclasses";
	}
	if (r->found.next == VOLUME_DONE) {
		claim_learned(r, r->found.claim.state);
	} else {
		volume_get(r, &path, on_second);
	}
}

static void request_volume_claim(struct record *r)
{
	struct kube_path path = {.group_version = "v1",
		.ns = r->row.ns,
		.resource = "persistentvolumeclaims",
		.name = r->row.name};
	arena_reset(&r->arena);
	r->found = (struct volume_reading){0};
	volume_get(r, &path, on_claim);
}

static struct record *volume_record(struct volumes *v, const char *ns, const char *name)
{
	struct table_row *row = table_find(&v->records, ns, name);
	if (row != NULL) {
		row->mark = v->records.mark;
		return (struct record *)(void *)row;
	}
	struct record *r = xcalloc(1, sizeof *r);
	r->all = v;
	r->row.ns = xstrdup(ns);
	r->row.name = xstrdup(name);
	r->backoff = (struct backoff){.first_ms = SOON_MS, .cap_ms = SOON_CAP_MS};
	r->arena.block_bytes = 1024;
	table_add(&v->records, &r->row);
	return r;
}

/* The records are those of the claims that are named now. */
static void follow_claims(struct volumes *v)
{
	v->records.mark++;
	for (size_t i = 0; i < world_claim_count(v->world); i++) {
		const struct volume_claim *c = world_claim_at(v->world, i);
		struct record *r = volume_record(v, c->ns, c->name);
		/* The last one that named it left, and another one came. */
		if (c->state == CLAIM_UNREAD && r->told) {
			r->told = false;
			r->next_at = 0;
		}
	}
	table_sweep(&v->records);
	v->version = world_claims_version(v->world);
}

static void volumes_step(void *self, const struct turn *turn)
{
	struct volumes *v = self;
	bool changed = v->version != world_claims_version(v->world);
	if (!turn->leads || (!changed && turn->now < v->deadline)) {
		return;
	}
	if (changed) {
		follow_claims(v);
	}
	v->deadline = TIME_NEVER;
	for (size_t i = 0; i < v->records.rows.count; i++) {
		struct record *r = (struct record *)(void *)v->records.rows.items[i];
		if (r->call == 0 && turn->now >= r->next_at &&
			v->in_flight < VOLUMES_IN_FLIGHT_MAX) {
			request_volume_claim(r);
		}
		if (r->call == 0) {
			v->deadline = time_min(v->deadline, r->next_at);
		}
	}
	/* An answer makes room; until then nobody need look again. */
	if (v->in_flight >= VOLUMES_IN_FLIGHT_MAX) {
		v->deadline = TIME_NEVER;
	}
}

static int64_t volumes_deadline(const void *self, const struct turn *turn)
{
	const struct volumes *v = self;
	if (!turn->leads) {
		return TIME_NEVER;
	}
	return v->version != world_claims_version(v->world) ? 0 : v->deadline;
}

struct volumes *volumes_create(struct kube *kube, const struct world *world, uint64_t seed,
	bool (*tell)(void *data, const struct change *c), void *data)
{
	struct volumes *v = xcalloc(1, sizeof *v);
	v->kube = kube;
	v->world = world;
	v->tell = tell;
	v->data = data;
	rng_seed(&v->rng, seed);
	table_init(&v->records, volume_record_drop, v);
	v->deadline = TIME_NEVER;
	return v;
}

static void volumes_destroy(void *self)
{
	struct volumes *v = self;
	table_finish(&v->records);
	free(v);
}

const struct part volumes_part = {volumes_step, volumes_deadline, volumes_destroy};
