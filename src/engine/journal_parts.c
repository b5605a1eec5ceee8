/* What more than one file of the journal reads and writes. */
#include "journal_parts.h"

void backoff_pack(struct str *out, const struct backoff *b)
{
	pack_i64(out, b->first_ms);
	pack_i64(out, b->cap_ms);
	pack_i64(out, b->attempt);
}

struct backoff backoff_unpack(struct unpack *u)
{
	struct backoff b = {0};
	b.first_ms = unpack_i64(u);
	b.cap_ms = unpack_i64(u);
	int64_t attempt = unpack_i64(u);
	u->bad |= attempt < 0 || attempt > 62 || b.first_ms < 0 || b.cap_ms < 0 ||
		  b.cap_ms > INT32_MAX;
	b.attempt = (int)attempt;
	return b;
}

/* Names where there must be names; the rest may be anything. */
bool change_is_sound(const struct change *c)
{
	bool is_set = c->type == CHANGE_SET;
	bool names_one = is_set || c->type == CHANGE_GONE || c->type == CHANGE_KEEP;
	const char *ns = c->ns, *name = c->name;
	bool nameless = c->type == CHANGE_KEEP && name == NULL;
	if (!names_one || nameless) {
		return true;
	}
	switch (c->kind) {
	case KIND_POD:
		ns = is_set ? c->pod->ns : ns;
		name = is_set ? c->pod->name : name;
		/* The world keeps names of pods with a 16-bit length. */
		return ns != NULL && name != NULL && strlen(name) < UINT16_MAX;
	case KIND_LIMIT_RANGE:
		ns = is_set ? c->limit_range->ns : ns;
		name = is_set ? c->limit_range->name : name;
		return ns != NULL && name != NULL;
	case KIND_QUOTA:
		ns = is_set ? c->quota->ns : ns;
		name = is_set ? c->quota->name : name;
		return ns != NULL && name != NULL;
	case KIND_CLAIM:
		ns = is_set ? c->claim->ns : ns;
		name = is_set ? c->claim->name : name;
		return ns != NULL && name != NULL;
	case KIND_STATE:
		return (is_set ? c->state->node : name) != NULL;
	case KIND_SLICE:
		return (is_set ? c->slice->name : name) != NULL;
	case KIND_NODE:
		return (is_set ? c->node->name : name) != NULL;
	case KIND_POLICY:
		return (is_set ? c->policy->name : name) != NULL;
	case KIND_NAMESPACE:
		return (is_set ? c->namespace->name : name) != NULL;
	case KIND_RECOMMENDATION:
	case KIND_GROUP:
	case KIND_SCALER:
	case KIND_SCALED_OBJECT:
	case KIND_BUDGET:
	case KIND_POD_GROUP:
	case KIND_COUNT:
		break;
	}
	return false;
}
