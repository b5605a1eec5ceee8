/* Who uses more memory than its share, in the journal. */
#include "journal_parts.h"

static void overuse_pack(struct str *out, const struct overuse *o)
{
	pack_text(out, o->uid);
	pack_text(out, o->uuid);
	pack_i64(out, o->share_mib);
	pack_i64(out, o->used_mib);
	pack_i64(out, o->seen_ms);
	pack_u64(out, o->looks);
	pack_u64(out, (o->over ? 1 : 0) | (o->known ? 2 : 0));
	pack_i64(out, o->told_at);
}

static bool overuse_unpack(struct overuses *all, struct unpack *u)
{
	const char *uid = unpack_text(u), *uuid = unpack_text(u);
	struct overuse o = {.share_mib = unpack_i64(u)};
	o.used_mib = unpack_i64(u);
	o.seen_ms = unpack_i64(u);
	o.looks = (uint32_t)unpack_u64(u);
	uint64_t flags = unpack_u64(u);
	o.over = flags & 1;
	o.known = flags & 2;
	o.told_at = unpack_i64(u);
	/* Amounts are added and compared. */
	bool sound = o.share_mib >= 0 && o.share_mib <= INT64_MAX / 4 && o.used_mib >= 0 &&
		     o.used_mib <= INT64_MAX / 4;
	if (u->bad || !sound || uid == NULL || uuid == NULL ||
		overuse_find(all, uid, uuid) != NULL) {
		return false;
	}
	o.uid = xstrdup(uid);
	o.uuid = xstrdup(uuid);
	(void)overuse_add(all, &o);
	return true;
}

static void failure_pack(struct str *out, const struct overuses *all, const struct failure *f)
{
	pack_text(out, f->uid);
	pack_i64(out, f->at_ms);
	pack_i64(out, f->seen_at);
	pack_u64(out, f->judged);
	pack_i64(out, f->contended_at);
	pack_i64(out, f->told_at);
	pack_u64(out, f->met == all->pass.pass);
}

static bool failure_unpack(struct overuses *all, struct unpack *u)
{
	const char *uid = unpack_text(u);
	struct failure f = {.at_ms = unpack_i64(u)};
	f.seen_at = unpack_i64(u);
	f.judged = unpack_u64(u) != 0;
	f.contended_at = unpack_i64(u);
	f.told_at = unpack_i64(u);
	f.met = unpack_u64(u) != 0 ? all->pass.pass : 0;
	if (u->bad || uid == NULL || failure_find(all, uid) != NULL) {
		return false;
	}
	f.uid = xstrdup(uid);
	(void)failure_add(all, &f);
	return true;
}

/* How far it has come. Its number only tells what was met in it, and that is told of each. */
static void pass_pack(struct str *out, const struct overuse_pass *pass)
{
	pack_u64(out, pass->stage);
	pack_u64(out, pass->at);
	pack_u64(out, pass->slot);
	pack_u64(out, pass->over);
	pack_u64(out, pass->contended);
	pack_i64(out, pass->over_mib);
}

static bool pass_unpack(struct overuse_pass *pass, struct unpack *u)
{
	uint64_t stage = unpack_u64(u);
	pass->stage = stage < OVERUSE_STAGES ? (enum overuse_stage)stage : OVERUSE_RESTS;
	pass->at = unpack_u64(u);
	pass->slot = (uint32_t)unpack_u64(u);
	pass->over = (uint32_t)unpack_u64(u);
	pass->contended = (uint32_t)unpack_u64(u);
	pass->over_mib = unpack_i64(u);
	pass->pass = 1;
	return !u->bad && stage < OVERUSE_STAGES && pass->over_mib >= 0 &&
	       pass->over_mib <= INT64_MAX / 4;
}

void overuses_pack(struct str *out, const struct overuses *all)
{
	pack_i64(out, all->next_at);
	pass_pack(out, &all->pass);
	pack_u64(out, all->items.count);
	vec_for_each (const struct overuse, o, &all->items) {
		overuse_pack(out, o);
	}
	pack_u64(out, all->failures.count);
	vec_for_each (const struct failure, f, &all->failures) {
		failure_pack(out, all, f);
	}
	pack_u64(out, all->crowds.count);
	vec_for_each (const struct crowd, c, &all->crowds) {
		pack_text(out, c->uuid);
		pack_u64(out, c->members);
		pack_i64(out, c->changed_at);
		pack_i64(out, c->failed_at);
		pack_text(out, c->victim);
		pack_u64(out, c->met == all->pass.pass);
	}
	pack_u64(out, all->remarks.count);
	vec_for_each (const struct remark, r, &all->remarks) {
		pack_text(out, r->uid);
		pack_i64(out, r->at);
	}
}

static bool crowds_unpack(struct overuses *all, struct unpack *u)
{
	for (uint64_t n = unpack_u64(u); n > 0 && !u->bad; n--) {
		const char *uuid = unpack_text(u);
		struct crowd c = {.members = unpack_u64(u), .first = MAP_NONE};
		c.changed_at = unpack_i64(u);
		c.failed_at = unpack_i64(u);
		const char *victim = unpack_text(u);
		c.met = unpack_u64(u) != 0 ? all->pass.pass : 0;
		if (u->bad || uuid == NULL || crowd_find(all, uuid) != NULL) {
			return false;
		}
		c.uuid = xstrdup(uuid);
		text_set(&c.victim, victim);
		(void)crowd_add(all, &c);
	}
	for (uint64_t n = unpack_u64(u); n > 0 && !u->bad; n--) {
		const char *uid = unpack_text(u);
		struct remark r = {.at = unpack_i64(u)};
		if (u->bad || uid == NULL || remark_find(all, uid) != NULL) {
			return false;
		}
		r.uid = xstrdup(uid);
		(void)remark_add(all, &r);
	}
	return !u->bad;
}

bool overuses_unpack(struct overuses *all, struct unpack *u)
{
	all->next_at = unpack_i64(u);
	if (!pass_unpack(&all->pass, u)) {
		return false;
	}
	for (uint64_t n = unpack_u64(u); n > 0 && !u->bad; n--) {
		if (!overuse_unpack(all, u)) {
			return false;
		}
	}
	for (uint64_t n = unpack_u64(u); n > 0 && !u->bad; n--) {
		if (!failure_unpack(all, u)) {
			return false;
		}
	}
	return crowds_unpack(all, u);
}
