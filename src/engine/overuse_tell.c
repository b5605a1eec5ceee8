/* What is said of who uses more than its share of memory: one tenant of a node that was judged. */
#include "overuse.h"

#include "model/names.h"
#include "size/explain_gpus.h"
#include "state.h"

#define SENTENCE_MAX 1024

void overuse_tell(struct engine *e, const struct world_pod *p, enum reason reason, const char *text,
	struct plan *plan)
{
	struct action *a = emit_event(e, plan, about_pod(p), text);
	a->reason = reason;
	a->warning = true;
}

void overuse_remark(
	struct engine *e, const struct world_pod *p, const struct action *what, struct plan *plan)
{
	if (remark_find(&e->evictions.overuses, world_pod_uid(p)) != NULL) {
		return;
	}
	CLEANUP(str_finish) struct str text = STR_INIT(SENTENCE_MAX);
	const char *message = what->message;
	if (message == NULL) {
		explain(&text, what->reason, &(struct explain_facts){0});
		message = str_text(&text);
	}
	struct action *a = emit_about(e, plan, ACTION_CONDITION, about_pod(p));
	a->condition = what->condition;
	a->is_true = what->is_true;
	a->reason = what->reason;
	a->message = arena_strdup(&plan->arena, message);
	struct remark made = {xstrdup(world_pod_uid(p)), e->time.now};
	(void)remark_add(&e->evictions.overuses, &made);
}

static void tell_over(
	struct engine *e, struct overuse *o, const struct world_pod *p, struct plan *plan)
{
	bool due = o->told_at < 0 || e->time.now - o->told_at >= OVERUSE_TELL_EVERY_MS;
	if (!o->over || !o->known) {
		return;
	}
	/* It is known by everybody, or was said a moment ago. */
	if (!due &&
		(p->gpu->overuse_shown || remark_find(&e->evictions.overuses, o->uid) != NULL)) {
		return;
	}
	CLEANUP(arena_finish) struct arena arena = {.block_bytes = 1024};
	CLEANUP(str_finish) struct str text = STR_INIT(SENTENCE_MAX);
	const struct pod pod = pod_of(p, &arena);
	const struct policy *policy = policy_of(e->world, &pod).policy;
	struct explain_overuse facts = {.gpu = o->uuid,
		.share_mib = o->share_mib,
		.used_mib = o->used_mib,
		.policy = policy != NULL ? policy->name : NULL,
		.evicts = policy != NULL && policy->memory_overuse == OVERUSE_EVICT};
	explain_overuse(&text, &facts);
	if (due) {
		o->told_at = e->time.now;
		overuse_tell(e, p, REASON_MEMORY_OVERUSE, str_text(&text), plan);
	}
	if (!p->gpu->overuse_shown) {
		overuse_remark(e, p,
			&(struct action){.condition = NAME_OVERUSE,
				.is_true = true,
				.reason = REASON_MEMORY_OVERUSE,
				.message = str_text(&text)},
			plan);
	}
}

/* It is within its share of each of its GPUs, as far as anybody can tell: not being told is not to
 * be within. */
static bool is_within(struct overuses *overuses, const struct world_pod *p)
{
	struct told t = told_of(p->gpu->uuid, NULL);
	while (told_next(&t)) {
		const struct overuse *o = overuse_find(overuses, world_pod_uid(p), t.uuid);
		if ((o != NULL && (o->over || o->looks > 0)) ||
			overuse_measured(overuses->picture, p, t.uuid) < 0) {
			return false;
		}
	}
	return true;
}

static void count(struct overuse_pass *pass, const struct overuse *o)
{
	pass->over += o->over ? 1 : 0;
	pass->over_mib += o->over && o->used_mib > o->share_mib ? o->used_mib - o->share_mib : 0;
}

void overuse_report(struct engine *e, const struct world_pod *p, struct plan *plan)
{
	struct overuses *all = &e->evictions.overuses;
	if (!overuse_uses_now(p)) {
		return;
	}
	struct told t = told_of(all->items.count > 0 ? p->gpu->uuid : NULL, NULL);
	while (told_next(&t)) {
		struct overuse *o = overuse_find(all, world_pod_uid(p), t.uuid);
		if (o != NULL) {
			tell_over(e, o, p, plan);
			count(&all->pass, o);
		}
	}
	if (p->gpu->overuse_shown && is_within(&e->evictions.overuses, p)) {
		overuse_remark(e, p,
			&(struct action){.condition = NAME_OVERUSE, .reason = REASON_WITHIN_SHARE},
			plan);
	}
}
