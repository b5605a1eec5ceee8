/* What lasts beside waiters and holders, from its records: nodes that failed, tenants that are
 * gone, and those that start. */
#include "journal_parts.h"

#include <stdlib.h>

bool memo_unpack(struct book *book, struct unpack *u)
{
	const char *name = unpack_text(u);
	if (name == NULL || memo_find(book, name) != NULL) {
		return false;
	}
	struct node_memo *m = memo_touch(book, name);
	m->until = unpack_i64(u);
	m->last_failure = unpack_i64(u);
	m->usable_mib = unpack_i64(u);
	m->backoff = backoff_unpack(u);
	text_set(&m->why, unpack_text(u));
	return !u->bad;
}

bool absence_unpack(struct book *book, struct unpack *u)
{
	const char *uid = unpack_text(u);
	struct absence a = {.since = unpack_i64(u)};
	a.seen = unpack_u64(u);
	if (u->bad || uid == NULL) {
		return false;
	}
	const char *holder = unpack_text(u);
	a.told = unpack_u64(u) != 0;
	a.ended = unpack_u64(u) != 0;
	if (u->bad || holder == NULL) {
		return false;
	}
	a.uid = xstrdup(uid);
	a.holder = xstrdup(holder);
	VEC_PUSH(&book->absences, a);
	return true;
}

bool turn_unpack(struct turns *turns, struct unpack *u)
{
	const char *uid = unpack_text(u);
	struct turn t = {.since = unpack_i64(u)};
	if (u->bad || uid == NULL) {
		return false;
	}
	t.uid = xstrdup(uid);
	VEC_PUSH(turns, t);
	return true;
}
