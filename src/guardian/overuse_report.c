/* What is said of who uses more than its share of memory: one tenant of a node that was judged. */
#include "overuse_report.h"

#include "guardian/overuse.h"
#include "guardian/overuse_find.h"
#include "ledger/ledger.h"
#include "model/names.h"
#include "size/explain_gpus.h"

#define SENTENCE_MAX 1024

void emit_pod_warning(
	const struct world_pod *p, enum reason reason, const char *text, struct emitter *out)
{
	struct action *a = emit_event(out, about_pod(p), text);
	a->reason = reason;
	a->warning = true;
}

void emit_pod_condition(struct overuses *overuses, const struct world_pod *p,
	const struct action *what, struct emitter *out)
{
	if (remark_find(overuses, world_pod_uid(p)) != NULL) {
		return;
	}
	CLEANUP(str_finish) struct str text = STR_INIT(SENTENCE_MAX);
	const char *message = what->message;
	if (message == NULL) {
		explain(&text, what->reason, &(struct explain_facts){0});
		message = str_text(&text);
	}
	struct action *a = emit_about(out, ACTION_CONDITION, about_pod(p));
	a->condition = what->condition;
	a->is_true = what->is_true;
	a->reason = what->reason;
	a->message = arena_strdup(&out->plan->arena, message);
	struct remark made = {xstrdup(world_pod_uid(p)), overuses->picture->time->now};
	(void)remark_add(overuses, &made);
}

static void tell_over(struct overuses *overuses, struct overuse *o, const struct world_pod *p,
	struct emitter *out)
{
	const struct picture *picture = overuses->picture;
	bool due = o->told_at < 0 || picture->time->now - o->told_at >= OVERUSE_REPORT_EVERY_MS;
	if (!o->over || !o->known) {
		return;
	}
	/* It is known by everybody, or was said a moment ago. */
	if (!due && (p->gpu->overuse_shown || remark_find(overuses, o->uid) != NULL)) {
		return;
	}
	CLEANUP(arena_finish) struct arena arena = {.block_bytes = 1024};
	CLEANUP(str_finish) struct str text = STR_INIT(SENTENCE_MAX);
	const struct pod pod = pod_of(p, &arena);
	const struct policy *policy = policy_of(picture->world, &pod).policy;
	struct explain_overuse facts = {.gpu = o->uuid,
		.share_mib = o->share_mib,
		.used_mib = o->used_mib,
		.policy = policy != NULL ? policy->name : NULL,
		.evicts = policy != NULL && policy->memory_overuse == OVERUSE_EVICT};
	explain_overuse(&text, &facts);
	if (due) {
		o->told_at = picture->time->now;
		emit_pod_warning(p, REASON_MEMORY_OVERUSE, str_text(&text), out);
	}
	if (!p->gpu->overuse_shown) {
		emit_pod_condition(overuses, p,
			&(struct action){.condition = NAME_OVERUSE,
				.is_true = true,
				.reason = REASON_MEMORY_OVERUSE,
				.message = str_text(&text)},
			out);
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

void overuse_report(struct overuses *all, const struct world_pod *p, struct emitter *out)
{
	if (!overuse_uses_now(p)) {
		return;
	}
	struct told t = told_of(all->items.count > 0 ? p->gpu->uuid : NULL, NULL);
	while (told_next(&t)) {
		struct overuse *o = overuse_find(all, world_pod_uid(p), t.uuid);
		if (o != NULL) {
			tell_over(all, o, p, out);
			count(&all->pass, o);
		}
	}
	if (p->gpu->overuse_shown && is_within(all, p)) {
		emit_pod_condition(all, p,
			&(struct action){.condition = NAME_OVERUSE, .reason = REASON_WITHIN_SHARE},
			out);
	}
}
