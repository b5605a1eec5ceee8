/* Tenants of several GPUs that have some of them: since when, of which, and which are given back.
 */
#include "journal_parts.h"

void group_pack(struct str *out, const struct group *g)
{
	pack_i64(out, g->partial_since);
	pack_u64(out, g->partial_set);
	pack_u64(out, g->gives.count);
	for (size_t i = 0; i < g->gives.count; i++) {
		pack_u64(out, g->gives.items[i]);
	}
}

void group_unpack(struct unpack *u, struct group *g)
{
	g->partial_since = unpack_i64(u);
	g->partial_set = unpack_u64(u);
	for (uint64_t n = unpack_u64(u); n > 0 && !u->bad; n--) {
		uint64_t hash = unpack_u64(u);
		VEC_PUSH(&g->gives, hash);
	}
}
