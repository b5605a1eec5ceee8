/* C7. What of each ResourceQuota is taken, in the picture of one step. The API server charges a
 * quota when a pod is created, for whole GPUs only; shares are charged here, when they are given.
 *
 * Of whole GPUs and of tenants that show their share the world keeps the sums. Added to them is
 * what nobody shows yet and may come to run: entries of ledgers whose tenant still waits, those of
 * a write under way among them; placements that may land; the shares of tenants that are gone while
 * they are held; and what this step gives to those that it looked at before. */
#include "demand/quota_usage.h"

#include "ledger/ledger.h"

void quotas_begin(struct quotas *quotas)
{
	VEC_CLEAR(&quotas->used);
	for (size_t i = 0; i < world_quota_count(quotas->picture->world); i++) {
		const struct world_quota *q = world_quota_at(quotas->picture->world, i);
		int64_t used;
		if (__builtin_mul_overflow(q->whole_gpus, MODEL_GPU_MILLI, &used) ||
			__builtin_add_overflow(used, q->granted_milli, &used)) {
			used = INT64_MAX / 2;
		}
		VEC_PUSH(&quotas->used, used);
	}
}

/* Of whom only the namespace is known: nobody can say which scopes it had, so that it counts in
 * all of them. For minutes a quota may look fuller than it is, never emptier. */
void quotas_hold(struct quotas *quotas, const char *ns, int64_t milli)
{
	const struct world_namespace *n =
		quotas->used.count > 0 ? world_namespace_find(quotas->picture->world, ns) : NULL;
	for (size_t i = 0; n != NULL && i < n->quotas.count; i++) {
		quotas->used.items[n->quotas.items[i]->row.at] += milli;
	}
}

void quotas_take_pod(struct quotas *quotas, const struct world_pod *p, int64_t milli)
{
	const struct world_namespace *n = world_namespace_find(quotas->picture->world, p->ns);
	for (size_t i = 0; n != NULL && i < n->quotas.count; i++) {
		if (world_quota_covers(n->quotas.items[i], p)) {
			quotas->used.items[n->quotas.items[i]->row.at] += milli;
		}
	}
}

/* A pod starts once: of all that it may be told yet only the largest counts. */
static int64_t expected(const struct step_time *time, const struct waiter *w)
{
	int64_t milli = 0;
	if (w->granted_step == time->step) {
		milli = holder_ledger(w->granted_by)->items[w->granted_index].milli;
	}
	if (w->group.stale_step == time->step && w->group.stale_milli > milli) {
		milli = w->group.stale_milli;
	}
	vec_for_each (const struct landing, t, &w->landings) {
		milli = t->milli > milli ? t->milli : milli;
	}
	return milli * (int64_t)waiter_count(w);
}

void quotas_count_waiters(struct quotas *quotas)
{
	const struct picture *picture = quotas->picture;
	for (size_t i = 0; quotas->used.count > 0 && i < picture->book->waiters.count; i++) {
		struct waiter *w = picture->book->waiters.items[i];
		const struct world_pod *p = world_pod_by_uid(picture->world, w->uid);
		w->quota_milli = p != NULL && p->gpu->gated ? expected(picture->time, w) : 0;
		if (w->quota_milli > 0) {
			quotas_take_pod(quotas, p, w->quota_milli);
		}
	}
}

void quotas_take(struct quotas *quotas, struct waiter *w, int64_t milli)
{
	const struct world_pod *p =
		quotas->used.count > 0 ? world_pod_by_uid(quotas->picture->world, w->uid) : NULL;
	if (p != NULL && milli > w->quota_milli) {
		quotas_take_pod(quotas, p, milli - w->quota_milli);
		w->quota_milli = milli;
	}
}

/* The tightest quota that covers the pod; by name where two are equal. */
int64_t quotas_left_pod(const struct quotas *quotas, const struct world_pod *p, int64_t own_milli,
	struct quota_view *ret_view)
{
	struct quota_view tightest = {.left_milli = INT64_MAX};
	bool any = p != NULL && quotas->used.count > 0;
	const struct world_namespace *n =
		any ? world_namespace_find(quotas->picture->world, p->ns) : NULL;
	for (size_t i = 0; n != NULL && i < n->quotas.count; i++) {
		const struct world_quota *q = n->quotas.items[i];
		int64_t used = quotas->used.items[q->row.at] - own_milli;
		if (!world_quota_covers(q, p) || q->noun.hard_milli == INT64_MAX) {
			continue;
		}
		int64_t left = q->noun.hard_milli - used;
		bool closer =
			tightest.name == NULL || left < tightest.left_milli ||
			(left == tightest.left_milli && strcmp(q->noun.name, tightest.name) < 0);
		if (closer) {
			tightest =
				(struct quota_view){q->noun.name, q->noun.hard_milli, used, left};
		}
	}
	*ret_view = tightest;
	return tightest.left_milli;
}

int64_t quotas_left(
	const struct quotas *quotas, const struct waiter *w, struct quota_view *ret_view)
{
	const struct world_pod *p =
		quotas->used.count > 0 ? world_pod_by_uid(quotas->picture->world, w->uid) : NULL;
	return quotas_left_pod(quotas, p, w->quota_milli, ret_view);
}
