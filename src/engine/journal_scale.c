/* Which groups of tenants ask for no node for a while, and what stands in for the others. */
#include "journal_parts.h"

static void rest_pack(struct str *out, const struct scale_rest *r)
{
	pack_u64(out, r->key);
	pack_i64(out, r->until);
}

bool scale_rest_unpack(struct scale *scale, struct unpack *u)
{
	struct scale_rest r = {.key = unpack_u64(u)};
	r.until = unpack_i64(u);
	if (u->bad) {
		return false;
	}
	VEC_PUSH(&scale->rests, r);
	return true;
}

static void one_pack(struct str *out, const struct standin *s)
{
	pack_text(out, s->name);
	pack_i64(out, s->since);
	pack_i64(out, s->sent_at);
	pack_text(out, s->node);
	pack_i64(out, s->landed_at);
	pack_i64(out, s->free_at);
	pack_i64(out, s->gone_at);
	pack_u64(out, s->nodes);
	pack_u64(out, s->wanted);
	pack_u64(out, (s->yields ? 1 : 0) | (s->served ? 2 : 0));
	pack_u64(out, s->flight);
	pack_text(out, s->refusal);
}

bool standin_unpack(struct scale *scale, struct unpack *u)
{
	const char *name = unpack_text(u);
	struct standin s = {.since = unpack_i64(u)};
	s.sent_at = unpack_i64(u);
	const char *node = text_or(unpack_text(u), "");
	s.landed_at = unpack_i64(u);
	s.free_at = unpack_i64(u);
	s.gone_at = unpack_i64(u);
	s.nodes = (uint32_t)unpack_u64(u);
	s.wanted = unpack_u64(u);
	uint64_t flags = unpack_u64(u);
	s.yields = flags & 1;
	s.served = flags & 2;
	s.flight = unpack_u64(u);
	const char *refusal = text_or(unpack_text(u), "");
	if (u->bad || name == NULL || strlen(name) >= sizeof s.name ||
		strlen(node) >= sizeof s.node || strlen(refusal) >= sizeof s.refusal) {
		return false;
	}
	memcpy(s.name, name, strlen(name) + 1);
	memcpy(s.node, node, strlen(node) + 1);
	memcpy(s.refusal, refusal, strlen(refusal) + 1);
	VEC_PUSH(&scale->standins, s);
	return true;
}

void scale_save(const struct scale *scale, struct str *scratch, state_put put, void *data)
{
	vec_for_each (const struct scale_rest, r, &scale->rests) {
		str_reset(scratch);
		str_append_char(scratch, RECORD_SCALE);
		rest_pack(scratch, r);
		ENSURE(!scratch->overflow);
		put(data, scratch);
	}
	vec_for_each (const struct standin, one, &scale->standins) {
		str_reset(scratch);
		str_append_char(scratch, RECORD_STANDIN);
		one_pack(scratch, one);
		ENSURE(!scratch->overflow);
		put(data, scratch);
	}
}
