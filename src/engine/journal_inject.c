/* What is remembered of how nodes give GPUs, as records of the journal's state. */
#include "journal_parts.h"

static void try_pack(struct str *out, const struct inject_try *t)
{
	pack_u64(out, t->uid);
	pack_i64(out, t->since);
	pack_u64(out, t->taken);
	pack_i64(out, t->sent_at);
	pack_i64(out, t->gone_at);
	pack_u64(out, t->flight);
	pack_u64(out, t->name);
	pack_u64(out, t->conflicts);
}

static struct inject_try try_unpack(struct unpack *u)
{
	struct inject_try t = {.uid = unpack_u64(u)};
	t.since = unpack_i64(u);
	t.taken = unpack_u64(u) != 0;
	t.sent_at = unpack_i64(u);
	t.gone_at = unpack_i64(u);
	t.flight = unpack_u64(u);
	t.name = unpack_u64(u);
	t.conflicts = unpack_u64(u) != 0;
	return t;
}

static void memo_pack(struct str *out, const struct inject_memo *m)
{
	pack_text(out, m->node);
	pack_text(out, m->class);
	pack_text(out, m->ended_why);
	pack_u64(out, m->ended);
	pack_i64(out, m->wanted_at);
	pack_text(out, m->subject);
	pack_text(out, m->failed);
	pack_text(out, m->refusal);
	pack_text(out, m->boot);
	pack_text(out, m->runtime);
	pack_i64(out, m->until);
	pack_i64(out, m->seen_at);
	pack_i64(out, m->retry_at);
	backoff_pack(out, &m->backoff);
	backoff_pack(out, &m->again);
	for (int i = 0; i < INJECT_FORMS; i++) {
		pack_u64(out, m->doubts[i]);
		try_pack(out, &m->tries[i]);
	}
}

void inject_save(const struct injecting *inject, struct str *scratch, state_put put, void *data)
{
	vec_for_each (const struct inject_memo, m, &inject->memos) {
		str_reset(scratch);
		str_append_char(scratch, RECORD_INJECTION);
		memo_pack(scratch, m);
		ENSURE(!scratch->overflow);
		put(data, scratch);
	}
}

bool inject_memo_unpack(struct injecting *inject, struct unpack *u)
{
	const char *node = unpack_text(u);
	const char *class = unpack_text(u);
	const char *ended_why = unpack_text(u);
	uint64_t ended = unpack_u64(u);
	int64_t wanted_at = unpack_i64(u);
	const char *subject = unpack_text(u);
	const char *failed = unpack_text(u);
	const char *refusal = unpack_text(u);
	const char *boot = unpack_text(u);
	const char *runtime = unpack_text(u);
	struct inject_memo m = {
		.until = unpack_i64(u), .ended = ended, .wanted_at = wanted_at, .next = WORLD_NONE};
	m.seen_at = unpack_i64(u);
	m.retry_at = unpack_i64(u);
	m.backoff = backoff_unpack(u);
	m.again = backoff_unpack(u);
	for (int i = 0; i < INJECT_FORMS; i++) {
		uint64_t doubt = unpack_u64(u);
		u->bad |= doubt >= DOUBTS;
		m.doubts[i] = u->bad ? DOUBT_NONE : (enum inject_doubt)doubt;
		m.tries[i] = try_unpack(u);
	}
	if (u->bad || node == NULL || inject_memo_find(inject, node, class) != NULL) {
		return false;
	}
	m.node = xstrdup(node);
	m.class = xstrdup(class);
	m.ended_why = xstrdup(ended_why);
	m.subject = xstrdup(subject);
	m.failed = xstrdup(failed);
	m.refusal = xstrdup(refusal);
	m.boot = xstrdup(boot);
	m.runtime = xstrdup(runtime);
	VEC_PUSH(&inject->memos, m);
	return true;
}
