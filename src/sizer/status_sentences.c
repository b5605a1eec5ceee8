/* Who keeps a workload from its target, in words. */
#include "status_sentences.h"

#include "model/names.h"

static const char *policy_name_of(const struct decision *d)
{
	return d->choice.policy != NULL ? text_or(d->choice.policy->name, "?") : "?";
}

void set_condition(const struct status *s, enum recommendation_condition type, bool is_true,
	struct sentence say)
{
	const struct condition_times *said = &s->x->said;
	enum condition_status status = is_true ? CONDITION_TRUE : CONDITION_FALSE;
	s->r->conditions[type] = (struct recommended_condition){
		.status = status,
		.reason = say.reason,
		.message = say.message,
		.since_ms = said->status[type] == status ? said->since_s[type] * INT64_C(1000) : 0,
	};
}

void set_true(const struct status *s, enum recommendation_condition type, const char *reason,
	const char *message)
{
	set_condition(s, type, true, (struct sentence){reason, message});
}

/* The time that is waited for, as the end of a sentence; "": none is. */
static const char *not_before(struct arena *a, int64_t next_ms)
{
	char text[TIME_TEXT_MAX];
	return next_ms > 0 ? arena_printf(a, ", not before %s", time_format(next_ms, text)) : "";
}

const char *why_whole(struct hold_part held, const struct decision *d, struct arena *a)
{
	if (held.why == HOLD_DELAY) {
		return arena_printf(a,
			"The next pod stays whole until a share was enough for the policy's "
			"scaleDownDelaySeconds%s.",
			not_before(a, held.next_ms));
	}
	if (held.why == HOLD_ACTIVE) {
		return arena_printf(a,
			"The next pod stays whole until its pods computed nothing for %d minutes.",
			(int)(d->choice.sizing.shrink_idle_s / 60));
	}
	if (held.why == HOLD_HEALING) {
		return arena_printf(a, "The next pod stays whole: a share was too small for it%s.",
			not_before(a, held.next_ms));
	}
	return held.why == HOLD_SCALED
		       ? "The next pod stays whole: a horizontal autoscaler adds pods by how much "
			 "of its GPU one uses, so compute is not sized, and memory alone makes no "
			 "room for others."
	       : held.why == HOLD_STALE
		       ? "The next pod stays whole: its use is not told any more."
		       : "The next pod stays whole: it waits until a smaller share may be applied.";
}

const char *why_stays(struct hold_part held, struct arena *a)
{
	if (held.why == HOLD_DELAY) {
		return arena_printf(a,
			"The target stays: a smaller one is applied when it was enough for as "
			"long as the policy asks for%s.",
			not_before(a, held.next_ms));
	}
	return held.why == HOLD_SMALL
		       ? "The target stays: what was measured asks for another one that differs "
			 "too little from it."
	       : held.why == HOLD_ACTIVE
		       ? "The target stays: a smaller one is applied when its pods are idle."
		       : NULL;
}

struct sentence why_unsupported(const struct sized_workload *x)
{
	return (struct sentence){"Unsupported",
		x->parted ? "Several containers of its pods ask for a GPU: this is only a "
			    "recommendation."
			  : "Its pods ask for several GPUs: this is only a recommendation."};
}

struct sentence why_hindered(const struct status *s)
{
	const struct decision *d = s->d;
	const struct policy *p = d->choice.policy;
	if (d->choice.reason == REASON_POLICY_NOT_FOUND) {
		return (struct sentence){"PolicyNotFound",
			arena_printf(s->a,
				"GPUPolicy %s does not exist, which its pods, their namespace or "
				"their group ask for: nothing changes until it does.",
				d->missing)};
	}
	if (d->choice.excluded) {
		return (struct sentence){"Excluded",
			"Excluded by an annotation, " NOTE_EXCLUDE " of its pods or " NOTE_DEFAULT
			"exclude of their namespace: pods stay whole."};
	}
	if (d->choice.mode == MODE_DISABLED) {
		return (struct sentence){
			"Disabled", arena_printf(s->a,
					    "The mode is Disabled, by the policy %s or the "
					    "annotation " NOTE_MODE ": pods stay whole.",
					    policy_name_of(d))};
	}
	if (p != NULL && policy_never_sizes(p, s->x->key.kind)) {
		return (struct sentence){"NeverSized",
			arena_printf(s->a,
				"The policy %s has the strategy Never for its kind, %s "
				"(update.byKind): pods stay whole.",
				policy_name_of(d), s->x->key.kind)};
	}
	return s->x->multi ? why_unsupported(s->x) : (struct sentence){NULL, NULL};
}

const char *why_learning(const struct decision *d, int64_t first_ms, struct arena *a)
{
	char text[TIME_TEXT_MAX];
	int64_t due = first_ms + d->choice.sizing.required_s * 1000;
	if (d->choice.policy == NULL || first_ms == 0 || due <= d->now_ms) {
		return "Too little of its use is known: the target is shown and not applied.";
	}
	return arena_printf(a,
		"Too little of its use is known: the target is shown, and not applied before %s.",
		time_format(due, text));
}

const char *why_unread(bool converted)
{
	return converted ? "Its checkpoint could not be read yet, which knows more of its use: the "
			   "target stays, and may grow."
			 : "Its checkpoint could not be read yet, which may know more of its use: "
			   "the target is shown and not applied.";
}

const char *why_shown(const struct decision *d, struct arena *a)
{
	const struct policy *p = d->choice.policy;
	if (p == NULL || p->built_in) {
		return "The target is known and not applied: a GPUPolicy in mode Automate, or the "
		       "annotation " NOTE_MODE ": Automate of its pods, applies it.";
	}
	return p->mode == MODE_AUTOMATE
		       ? "The target is known and not applied: the annotation " NOTE_MODE
			 " of its pods, or their namespace's, says Recommend."
		       : arena_printf(a,
				 "The target is known and not applied: mode Automate in GPUPolicy "
				 "%s applies it.",
				 policy_name_of(d));
}

const char *why_differs(const struct status *s)
{
	const struct recommended_condition *conditions = s->r->conditions;
	const char *why = s->x->resizes[SHARE_UNDERWAY] > 0
				  ? "shares are being changed where they run"
				  : NULL;
	if (conditions[RECOMMENDATION_UPDATE_BLOCKED].status == CONDITION_TRUE) {
		why = "UpdateBlocked says what keeps them";
	} else if (conditions[RECOMMENDATION_READY].status != CONDITION_TRUE) {
		why = "Ready says why";
	} else if (s->d->choice.mode != MODE_AUTOMATE) {
		why = "its mode changes none";
	} else if (s->x->heal.paused) {
		why = "Paused says why; one that is deleted comes back with it";
	} else if (s->d->course != NULL) {
		why = s->d->course;
	}
	return why == NULL ? "Not every pod has the target."
			   : arena_printf(s->a, "Not every pod has the target: %s.", why);
}

const char *why_capped(enum capped_by by, const struct decision *d, struct arena *a)
{
	if (by == CAPPED_BY_DEVICE) {
		return "No GPU that it can get has more: the uncapped target says what it needs.";
	}
	bool more = by == CAPPED_BY_POLICY_MAX;
	return arena_printf(a,
		"The policy %s gives no %s (%s): the uncapped target says what it needs.",
		policy_name_of(d), more ? "more" : "less",
		more ? "compute.maxPercent, memory.max" : "compute.minPercent, memory.min");
}
