/* A share that is wanted, or being told, as a record of the state, and back. */
#include "journal_parts.h"

static void resize_pack(struct str *out, const struct resize *r, bool rests)
{
	pack_text(out, r->uid);
	pack_u64(out, rests);
	pack_text(out, r->rv);
	pack_i64(out, r->want.milli);
	pack_i64(out, r->want.mib);
	pack_u64(out, r->memory_stays);
	pack_u64(out, r->state);
	pack_u64(out, r->flight);
	pack_i64(out, r->sent.milli);
	pack_i64(out, r->sent.mib);
	pack_i64(out, r->most.milli);
	pack_i64(out, r->most.mib);
	pack_u64(out, r->sealed);
	pack_u64(out, r->follows);
	pack_i64(out, r->behind_since);
	pack_i64(out, r->rest_until);
	backoff_pack(out, &r->backoff);
}

void resizes_save(const struct resizes *resizes, struct str *scratch, state_put put, void *data)
{
	for (uint32_t i = 0; i < resizes->items.count; i++) {
		str_reset(scratch);
		str_append_char(scratch, RECORD_RESIZE);
		resize_pack(scratch, &resizes->items.items[i], i >= resizes->awake);
		ENSURE(!scratch->overflow);
		put(data, scratch);
	}
}

bool resize_unpack(struct resizes *resizes, struct unpack *u)
{
	const char *uid = unpack_text(u);
	bool rests = unpack_u64(u) != 0;
	const char *rv = unpack_text(u);
	struct share want = {.milli = unpack_i64(u)};
	want.mib = unpack_i64(u);
	bool memory_stays = unpack_u64(u) != 0;
	uint64_t state = unpack_u64(u), flight = unpack_u64(u);
	struct share sent = {.milli = unpack_i64(u)};
	sent.mib = unpack_i64(u);
	struct share most = {.milli = unpack_i64(u)};
	most.mib = unpack_i64(u);
	bool sealed = unpack_u64(u) != 0, follows = unpack_u64(u) != 0;
	int64_t behind_since = unpack_i64(u);
	int64_t rest_until = unpack_i64(u);
	struct backoff backoff = backoff_unpack(u);
	bool sound = want.milli >= 0 && want.milli <= MODEL_GPU_MILLI && want.mib >= 0 &&
		     want.mib <= RESIZE_MIB_MAX && state < SHARE_STATES;
	if (u->bad || !sound || uid == NULL) {
		return false;
	}
	struct resize *r = resize_restore(resizes, uid, rests);
	r->want = want;
	r->memory_stays = memory_stays;
	r->state = (enum share_state)state;
	r->flight = flight;
	r->sent = sent;
	r->most = most;
	r->sealed = sealed;
	r->follows = follows;
	resizes->picture->book->flights.told += flight != 0 ? 1 : 0;
	r->behind_since = behind_since;
	r->rest_until = rest_until;
	r->backoff = backoff;
	text_set(&r->rv, rv);
	return true;
}
