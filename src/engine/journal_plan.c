/* A plan as one number. Every field of every action counts, in order. */
#include "journal_parts.h"

uint64_t plan_hash(const struct plan *plan, struct str *scratch)
{
	uint64_t hash = plan->unfinished ? 1 : 2;
	for (size_t i = 0; i < plan->actions.count; i++) {
		str_reset(scratch);
		record_pack(scratch, &action_table, &plan->actions.items[i]);
		ENSURE(!scratch->overflow);
		hash = hash_bytes(str_text(scratch), scratch->len, hash);
	}
	return hash;
}
