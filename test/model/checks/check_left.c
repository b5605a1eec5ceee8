/* Processes whose pod was taken away by force. They run on for a while that no object tells, and
 * use their share all the same (C22). */
#include "check_left.h"

#include <stdio.h>

#include "model/names.h"
#include "objects/dice.h"
#include "objects/facts.h"
#include "objects/machine_find.h"
#include "objects/told.h"
#include "objects/trace.h"

/* Its node was given time, or is no more. Whether the node passed for ready just then two watches
 * tell at different times, so that a controller cannot be held to it. */
static bool tenant_has_ended(struct sim *s, const struct pod *p)
{
	bool asked = p->deleting_ms != 0 && p->grace_s > 0;
	return fleet_find(s, p->node) == NULL || p->phase != POD_RUNNING || asked;
}

/* Who holds its GPU and has it in the books, so that everyone who writes there knows of it. */
static const struct stored *books_holder(const struct sim *s, const char *uid, const char *uuid)
{
	for (size_t i = 0; i < s->store.items.count; i++) {
		const struct stored *o = s->store.items.items[i];
		bool holds = o->resource == RES_PODS && pod_is_capacity(&o->pod) &&
			     o->pod.identity != NULL && text_equals(o->pod.identity->uuid, uuid);
		for (uint32_t k = 0; holds && k < o->pod.ledger.count; k++) {
			if (text_equals(o->pod.ledger.items[k].uid, uid)) {
				return o;
			}
		}
	}
	return NULL;
}

static void note_left(struct sim *s, const struct stored *holder, const struct pod *p,
	const char *uuid, int64_t until)
{
	struct left left = {.milli = facts_note_number(p, NOTE_COMPUTE_MILLI),
		.mem_mib = facts_note_number(p, NOTE_MEMORY_MIB),
		.until = until};
	snprintf(left.tenant, sizeof left.tenant, "%s", p->uid);
	snprintf(left.holder, sizeof left.holder, "%s", holder->uid);
	snprintf(left.uuid, sizeof left.uuid, "%s", uuid);
	snprintf(left.node, sizeof left.node, "%s", p->node);
	VEC_PUSH(&s->checker.left, left);
}

static int64_t runs_on_ms(struct sim *s, const struct stored *o)
{
	struct dice back = dice_enter(s, dice_next(s, "left", o->name, 0));
	int64_t ms = sim_between(s, 500, s->held_ms);
	dice_leave(s, back);
	return ms;
}

/* In no books, it is known only to those who saw its pod go, and that no object tells. */
void left_note(struct sim *s, const struct stored *o)
{
	const struct pod *p = &o->pod;
	struct told_gpu t = told_gpus(p);
	int64_t until = 0;
	while (told_gpu_next(&t)) {
		const struct stored *holder = books_holder(s, o->uid, t.uuid);
		if (holder == NULL || text_empty(p->node) || tenant_has_ended(s, p)) {
			continue;
		}
		until = until > 0 ? until : sim_now(s) + runs_on_ms(s, o);
		note_left(s, holder, p, t.uuid, until);
	}
	if (until > 0) {
		s->report->left++;
		sim_trace(s, "what ran in %s (%s) runs on until %lld", o->name, o->uid,
			(long long)until);
	}
}

const struct left *left_on(struct sim *s, const char *node, size_t *at)
{
	while (*at < s->checker.left.count) {
		const struct left *left = &s->checker.left.items[(*at)++];
		if (text_equals(left->node, node) && sim_now(s) < left->until) {
			return left;
		}
	}
	return NULL;
}

bool left_sum(struct sim *s, const char *uuid, int64_t *milli, int64_t *mem_mib)
{
	bool any = false;
	vec_for_each (const struct left, left, &s->checker.left) {
		if (text_equals(left->uuid, uuid) && sim_now(s) < left->until &&
			fleet_find(s, left->node) != NULL &&
			store_find_uid(&s->store, left->holder) != NULL) {
			*milli += left->milli;
			*mem_mib += left->mem_mib;
			any = true;
		}
	}
	return any;
}
