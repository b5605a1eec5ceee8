/* Orphans in the journal. */
#include <stdlib.h>

#include "journal_parts.h"

void orphan_pack(struct str *out, const struct orphan *o)
{
	pack_text(out, o->uuid);
	pack_text(out, o->node);
	pack_i64(out, o->since);
	pack_i64(out, o->retry_at);
	pack_u64(out, o->seen);
	pack_u64(out, o->leaving);
	pack_u64(out, o->amiss);
	pack_u64(out, o->asked_mps);
	backoff_pack(out, &o->backoff);
	pack_u64(out, o->told.count);
	for (size_t i = 0; i < o->told.count; i++) {
		pack_text(out, o->told.items[i]);
	}
}

bool orphan_unpack(struct orphans *orphans, struct unpack *u)
{
	const char *uuid = unpack_text(u);
	const char *node = unpack_text(u);
	if (uuid == NULL || node == NULL || orphan_find(orphans, uuid, node) != NULL) {
		return false;
	}
	struct orphan *o = orphan_add(orphans, uuid, node);
	o->since = unpack_i64(u);
	o->retry_at = unpack_i64(u);
	o->seen = unpack_u64(u);
	o->leaving = unpack_u64(u) != 0;
	o->amiss = unpack_u64(u) != 0;
	o->asked_mps = unpack_u64(u) != 0;
	o->backoff = backoff_unpack(u);
	for (uint64_t n = unpack_u64(u); n > 0 && !u->bad; n--) {
		const char *uid = unpack_text(u);
		if (uid == NULL) {
			return false;
		}
		VEC_PUSH(&o->told, xstrdup(uid));
	}
	return !u->bad;
}
