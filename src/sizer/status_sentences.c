/* Who keeps a workload from its target, in words. */
#include "status_sentences.h"

static const char *policy_name_of(const struct decision *d)
{
	return d->choice.policy != NULL ? text_or(d->choice.policy->name, "?") : "?";
}

const char *why_not_before(struct arena *a, int64_t next_ms)
{
	char text[TIME_TEXT_MAX];
	return next_ms > 0 ? arena_printf(a, ", not before %s", time_format(next_ms, text)) : "";
}

const char *why_whole(struct hold_part held, const struct decision *d, struct arena *a)
{
	switch (held.why) {
	case HOLD_DELAY:
		return arena_printf(a,
			"The next pod stays whole until a share was enough for the policy's "
			"scaleDownDelaySeconds%s.",
			why_not_before(a, held.next_ms));
	case HOLD_ACTIVE:
		return arena_printf(a,
			"The next pod stays whole until its pods computed nothing for %d minutes.",
			(int)(d->choice.sizing.shrink_idle_s / 60));
	case HOLD_HEALING:
		return arena_printf(a, "The next pod stays whole: a share was too small for it%s.",
			why_not_before(a, held.next_ms));
	case HOLD_SCALED:
		return "The next pod stays whole: a horizontal autoscaler adds pods by how much "
		       "of its GPU one uses, so compute is not sized, and memory alone makes no "
		       "room for others.";
	case HOLD_STALE:
		return "The next pod stays whole: its use is not told any more.";
	case HOLD_SAME:
	case HOLD_SMALL:
	case HOLD_CONVERTS:
	case HOLD_GROWS:
	case HOLD_SHRINKS:
	case HOLD_UNKNOWN:
	case HOLD_LEARNING:
	case HOLD_WHYS:
		break;
	}
	return "The next pod stays whole: it waits until a smaller share may be applied.";
}

struct say_sentence why_unsupported(const struct sized_workload *x)
{
	return (struct say_sentence){"Unsupported",
		x->parted ? "Several containers of its pods ask for a GPU: this is only a "
			    "recommendation."
			  : "Its pods ask for several GPUs: this is only a recommendation."};
}

struct say_sentence why_hindered(
	const struct sized_workload *x, const struct decision *d, bool unsupported, struct arena *a)
{
	if (d->choice.reason == REASON_POLICY_NOT_FOUND) {
		return (struct say_sentence){"PolicyNotFound",
			arena_printf(a,
				"GPUPolicy %s does not exist, which its pods, their namespace or "
				"their group ask for: nothing changes until it does.",
				d->missing)};
	}
	if (d->choice.excluded) {
		return (struct say_sentence){"Excluded",
			"Excluded by an annotation, " NOTE_EXCLUDE " of its pods or " NOTE_DEFAULT
			"exclude of their namespace: pods stay whole."};
	}
	if (d->choice.mode == MODE_DISABLED) {
		return (struct say_sentence){
			"Disabled", arena_printf(a,
					    "The mode is Disabled, by the policy %s or the "
					    "annotation " NOTE_MODE ": pods stay whole.",
					    policy_name_of(d))};
	}
	if (d->choice.policy != NULL && policy_never_sizes(d->choice.policy, x->key.kind)) {
		return (struct say_sentence){"NeverSized",
			arena_printf(a,
				"The policy %s has the strategy Never for its kind, %s "
				"(update.byKind): pods stay whole.",
				policy_name_of(d), x->key.kind)};
	}
	return unsupported ? why_unsupported(x) : (struct say_sentence){NULL, NULL};
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

const char *why_differs(const struct sized_workload *x, const struct decision *d,
	const struct recommendation *r, struct arena *a)
{
	const char *why = NULL;
	if (r->conditions[RECOMMENDATION_UPDATE_BLOCKED].status == CONDITION_TRUE) {
		why = "UpdateBlocked says what keeps them";
	} else if (r->conditions[RECOMMENDATION_READY].status != CONDITION_TRUE) {
		why = "Ready says why";
	} else if (d->choice.mode != MODE_AUTOMATE) {
		why = "its mode changes none";
	} else if (x->heal.paused) {
		why = "Paused says why; one that is deleted comes back with it";
	} else if (d->course != NULL) {
		why = d->course;
	} else if (x->fates[SHARE_UNDERWAY] > 0) {
		why = "shares are being changed where they run";
	}
	return why == NULL ? "Not every pod has the target."
			   : arena_printf(a, "Not every pod has the target: %s.", why);
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
