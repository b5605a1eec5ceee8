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
