/* Which groups of tenants ask for no node for a while. */
#include "journal_parts.h"

void scale_rest_pack(struct str *out, const struct scale_rest *r)
{
	pack_u64(out, r->key);
	pack_i64(out, r->until);
}

bool scale_rest_unpack(struct engine *e, struct unpack *u)
{
	struct scale_rest r = {.key = unpack_u64(u)};
	r.until = unpack_i64(u);
	if (u->bad) {
		return false;
	}
	VEC_PUSH(&e->scale.rests, r);
	return true;
}
