/* When the share of a tenant whose object is gone is free (C22). An object can be taken away while
 * its containers run: by force, or because nobody asked the node. So a departure that says that
 * they have ended frees the share at once; any other holds it until its node is gone or a time has
 * passed, and then an event says that nobody knows; or until the agent of its
 * node, asked after it was gone, does not list it any more. */
#include "guardian/departed_share.h"

#include "demand/quota_usage.h"
#include "guardian/health.h"
#include "ledger/ledger.h"
#include "size/explain.h"

static bool node_is_gone(const struct world *world, uint32_t node)
{
	return node == WORLD_NONE || !world_node_at(world, node)->known;
}

static const char *device_of(const struct holder *h, const struct world_departed *d)
{
	if (d != NULL && d->uuid != NULL) {
		return d->uuid;
	}
	return h != NULL && h->pod.identity != NULL ? h->pod.identity->uuid : NULL;
}

/* `d` NULL: it has left before this process looked, so nobody here knows how; it ran, if it did, on
 * the holder's node, as does one that was last seen without a node. `h` NULL: nobody holds its GPU
 * now. */
static bool is_held(const struct picture *picture, const struct holder *h, struct world_departed *d,
	const char *uid)
{
	const char *where = h != NULL ? text_or(h->node, "") : "";
	uint32_t node = d != NULL && d->node != WORLD_NONE ? d->node
							   : world_node_find(picture->world, where);
	if ((d != NULL && d->ended) || node_is_gone(picture->world, node)) {
		return false;
	}
	struct absence *a = absence_of(picture->book, uid, picture->time->now);
	text_set(&a->holder, h != NULL ? h->name : "");
	wake_by(picture->time, a->since + picture->cfg->held_ms);
	a->ended =
		a->ended || health_shows_gone(picture->world, node, device_of(h, d), uid, a->since);
	bool held = !a->ended && picture->time->now - a->since < picture->cfg->held_ms;
	if (!held && d != NULL) {
		world_departed_end(picture->world, d); /* once and for all */
	}
	return held;
}

bool departed_holds(const struct picture *picture, const struct holder *h, const char *uid)
{
	struct world_departed *d = world_departed_find(picture->world, uid);
	if (d != NULL) {
		d->needed = picture->time->step;
	}
	return is_held(picture, h, d, uid);
}

static void count_one(struct quotas *quotas, struct companies *companies, struct world_departed *d,
	const char *uuid)
{
	const struct picture *picture = quotas->picture;
	/* One that was last seen without a node may run wherever that GPU is told. */
	uint32_t at = d->node != WORLD_NONE
			      ? snap_gpu_on(picture, uuid, snap_node_at(picture, d->node))
			      : snap_gpu_first(picture, uuid);
	const struct holder *h = at != WORLD_NONE ? picture->snap_gpus.items[at].holder : NULL;
	bool in_ledger = h != NULL && ledger_has(holder_ledger(h), d->uid);
	if (in_ledger || !is_held(picture, h, d, d->uid)) {
		return;
	}
	quotas_hold(quotas, d->ns, d->milli);
	if (h == NULL) {
		return;
	}
	struct place_gpu *g = &picture->snap.gpus.items[at];
	g->free_milli -= d->milli;
	g->free_mib -= d->mem_mib;
	g->tenants++;
	struct manners manners = manners_of_uid(companies, d->uid);
	company_joins(g, &picture->snap_gpus.items[at], &manners);
	/* Its capacity pod stays as long as somebody may use the GPU. */
	picture->snap_gpus.items[at].demand++;
}

/* Those that stand in no ledger: they were orphans, or their GPU has changed hands. */
void departed_count(struct quotas *quotas, struct companies *companies)
{
	for (size_t i = 0; i < world_departed_count(quotas->picture->world); i++) {
		struct world_departed *d = world_departed_at(quotas->picture->world, i);
		bool may_run = !d->ended && d->uuid != NULL;
		if (may_run && world_pod_by_uid(quotas->picture->world, d->uid) == NULL) {
			struct told t = told_of(d->uuid, NULL);
			while (told_next(&t)) {
				count_one(quotas, companies, d, t.uuid);
			}
		}
	}
}

static void tell_given_up(
	const struct picture *picture, const struct absence *a, struct emitter *out)
{
	const struct world_departed *d = world_departed_find(picture->world, a->uid);
	const struct holder *h = holder_find(picture->book, a->holder);
	CLEANUP(str_finish) struct str text = STR_INIT(512);
	if (h == NULL || h->uid == NULL) {
		return;
	}
	explain_given_up(&text, d != NULL ? d->ns : NULL, d != NULL ? d->name : a->uid,
		picture->cfg->held_ms / 1000);
	emit_warning(out, about_holder(h), "ShareGivenUp", str_text(&text));
}

void departed_report(const struct picture *picture, struct emitter *out)
{
	vec_for_each (struct absence, a, &picture->book->absences) {
		if (a->seen == picture->time->step && !a->told && !a->ended &&
			picture->time->now - a->since >= picture->cfg->held_ms) {
			a->told = true;
			tell_given_up(picture, a, out);
		}
	}
}

/* A write that strikes somebody out may still fail, and then the ledger names it again. */
static void keep_struck_out(struct book *book, const struct holder *h)
{
	for (uint32_t i = 0; h->asked_holds && i < h->pod.ledger.count; i++) {
		struct world_departed *d =
			world_departed_find(book->world, h->pod.ledger.items[i].uid);
		if (d != NULL) {
			d->needed = book->time->step;
		}
	}
}

/* What no ledger names has nothing to tell any more. If it comes to be needed after all, nobody
 * knows how it went, which holds its share for longer and never for less. */
void departed_sweep(struct book *book)
{
	for (size_t i = 0; i < book->holders.count; i++) {
		keep_struck_out(book, book->holders.items[i]);
	}
	for (size_t i = world_departed_count(book->world); i-- > 0;) {
		const struct world_departed *d = world_departed_at(book->world, i);
		bool may_run = !d->ended && d->uuid != NULL && !node_is_gone(book->world, d->node);
		if (d->needed != book->time->step && !may_run) {
			world_departed_drop(book->world, i);
		}
	}
}

bool entry_lives(const struct picture *picture, const struct holder *h, const struct grant *g,
	const struct world_pod *p)
{
	if (p == NULL && world_departed_find(picture->world, g->uid) == NULL &&
		world_pod_unread(picture->world, g->ns, g->name)) {
		/* It may be the one that could not be read, and run: nobody saw it go. */
		return true;
	}
	if (p == NULL) {
		return departed_holds(picture, h, g->uid);
	}
	if (world_pod_terminal(p) ||
		(p->gpu->gated && waiter_giving_back(picture->book, g->uid, h) != NULL)) {
		return false;
	}
	/* It was placed somewhere else: this entry lost a race long ago. */
	return p->gpu->capacity_pod == NULL || tenant_is_on(h, p->gpu);
}

bool grant_lives(const struct picture *picture, const struct holder *h, const struct grant *g)
{
	return entry_lives(picture, h, g, world_pod_by_uid(picture->world, g->uid));
}
