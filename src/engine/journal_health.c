/* What is remembered of ill devices, as records of the journal's state. */
#include "journal_parts.h"

void ailment_pack(struct str *out, const struct ailment *a)
{
	pack_text(out, a->uuid);
	pack_text(out, a->node);
	pack_text(out, a->why);
	pack_text(out, a->heard_by);
	pack_text(out, a->node_boot);
	pack_text(out, a->node_reset);
	pack_i64(out, a->last_at);
	pack_i64(out, a->well_since);
	pack_u64(out, (a->told ? 1 : 0) | (a->ill ? 2 : 0));
}

bool ailment_unpack(struct ailments *ailments, struct unpack *u)
{
	const char *uuid = unpack_text(u);
	const char *node = unpack_text(u);
	const char *why = unpack_text(u);
	const char *heard_by = unpack_text(u);
	const char *node_boot = unpack_text(u);
	const char *node_reset = unpack_text(u);
	struct ailment a = {.last_at = unpack_i64(u)};
	a.well_since = unpack_i64(u);
	uint64_t flags = unpack_u64(u);
	a.told = flags & 1;
	a.ill = flags & 2;
	if (u->bad || uuid == NULL || node == NULL) {
		return false;
	}
	a.uuid = xstrdup(uuid);
	a.node = xstrdup(node);
	a.why = xstrdup(why);
	a.heard_by = xstrdup(heard_by);
	a.node_boot = xstrdup(node_boot);
	a.node_reset = xstrdup(node_reset);
	VEC_PUSH(ailments, a);
	return true;
}
