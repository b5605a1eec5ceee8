/* What people read where a running pod is not brought to its new share. */
#include "roll/rollout_explain.h"

#include <inttypes.h>

#include "base/clock.h"
#include "base/str.h"

#define SENTENCE_MAX 1024

/* One row a reason: the word that conditions and metrics say, and a sentence, with `%s` once for
 * the blocker, or for `nobody` where there is none. */
static const struct why_row {
	const char *name, *nobody, *text;
} rows[ROLL_WHYS] = {
	[ROLL_UP_TO_DATE] = {"UpToDate", NULL, "every pod has its share"},
	[ROLL_ON_CREATION] = {"OnCreate", NULL,
		"running pods are left alone (strategy OnCreate); a new pod gets the new share"},
	[ROLL_NEVER_SIZED] = {"Never", NULL, "no pod is sized (strategy Never)"},
	[ROLL_STARTING] = {"Starting", NULL, "the controller has just begun to lead"},
	[ROLL_UNDER_WAY] = {"UnderWay", NULL, "a pod is being replaced"},
	[ROLL_NODE_BUSY] = {"NodeBusy", "its own", "another pod of node %s is being replaced"},
	[ROLL_UNSUPPORTED] = {"Unsupported", "not supported",
		"its running pods are not replaced: %s"},
	[ROLL_PAUSED] = {"Paused", NULL,
		"new pods did not become Ready with the new share, or kept restarting, so the "
		"one before is the target again; no pod is replaced for 72 hours, or until the "
		"policy changes: see why they did not"},
	[ROLL_WITHOUT_EFFECT] = {"NoEffect", NULL,
		"replaced pods came back without a share; see why the webhook left them whole, "
		"then change the policy or its annotation to go on"},
	[ROLL_SURGE_LOST] = {"SurgeLostRace", NULL,
		"its ReplicaSet deleted another pod than the one that was replaced; none is "
		"missing. See who else deletes its pods or sets their deletion cost, then change "
		"the policy to go on"},
	[ROLL_GIVEN_BACK] = {"GivenBack", NULL,
		"its pods waited too long for a share of a GPU, which whole pods do not need: "
		"new pods are left whole for a while, twice as long after each time. Delete "
		"waiting pods that no owner replaces; see what other pods with Aliquot's gate "
		"wait for"},
	[ROLL_NOT_LEADING] = {"NotLeading", NULL, "another controller leads"},
	[ROLL_WEBHOOK] = {"WebhookUnhealthy", NULL,
		"Aliquot's webhook is not known to answer, so a new pod might start whole: see "
		"its controller's pods"},
	[ROLL_CLOSED] = {"ConversionClosed", "closed",
		"a new pod would start whole now (%s): see what pods with Aliquot's gate wait "
		"for, in its namespace and in others"},
	[ROLL_STALE] = {"Stale", NULL,
		"nothing was measured of it for 5 minutes: see what should tell, the agent of "
		"its node or a Prometheus"},
	[ROLL_OWNER_MOVES] = {"OwnerRollout", "?",
		"its owner %s is at a rollout of its own, or nobody can tell: see kubectl "
		"rollout status"},
	[ROLL_SCALING] = {"HorizontalScaler", "a horizontal autoscaler",
		"%s changes the number of its replicas, or did in the last 10 minutes"},
	[ROLL_WINDOW] = {"Window", NULL, "none of the policy's update windows is open"},
	[ROLL_ZONE] = {"TimeZoneUnknown", "?",
		"the time zone %s of an update window is not known here; write an IANA name, and "
		"see that the controller's image has the zone files"},
	[ROLL_COOLDOWN] = {"Cooldown", NULL,
		"the last change of this workload was less than cooldownSeconds ago"},
	[ROLL_YOUNG] = {"PodTooYoung", "?", "pod %s is younger than minPodAgeSeconds"},
	[ROLL_MUST_STAY] = {"NotEvictable", "?",
		"pod %s says by an annotation (safe-to-evict, do-not-disrupt) that it must not "
		"be moved: delete it when it suits"},
	[ROLL_MIN_REPLICAS] = {"MinReplicas", NULL,
		"it has fewer replicas than the policy's minReplicas: scale it, or lower that"},
	[ROLL_LAST_READY] = {"LastReadyReplica", "not all pods are Ready",
		"it is the last Ready replica, and a new pod cannot be started before it goes: %s"},
	[ROLL_NOT_READY] = {"PodsNotReady", "not all are there",
		"as many pods as the policy's maxUnavailable are away already: %s"},
	[ROLL_NO_ROOM] = {"NoSurgeCapacity", NULL,
		"no GPU has room for the new pod: one that is free is enough"},
	[ROLL_BUDGET] = {"PDB", "of its pods",
		"the PodDisruptionBudget %s allows no eviction now; tried again once it does"},
	[ROLL_REFUSED] = {"Refused", "no reason was given", "the replacement was refused: %s"},
	[ROLL_GLOBAL_BUDGET] = {"GlobalBudget", NULL,
		"as many pods of the cluster were replaced in 10 minutes as may be"},
};

const char *roll_why_name(enum roll_why why)
{
	return rows[why].name;
}

static void append_sentence(struct str *out, const struct why_row *s, const char *blocker)
{
	const char *hole = strstr(s->text, "%s");
	if (hole == NULL) {
		str_append_text(out, s->text);
		return;
	}
	str_append(out, s->text, (size_t)(hole - s->text));
	str_append_text(out, text_empty(blocker) ? s->nobody : blocker);
	str_append_text(out, hole + 2);
}

const char *roll_again(int64_t every_ms, struct arena *a)
{
	bool minutes = every_ms % 60000 == 0;
	int64_t n = minutes ? every_ms / 60000 : (every_ms + 999) / 1000;
	const char *unit = minutes ? "minute" : "second";
	return n == 1 ? arena_printf(a, "looked at again every %s", unit)
		      : arena_printf(a, "looked at again every %lld %ss", (long long)n, unit);
}

const char *roll_explain(const struct roll_ask *ask, const struct roll_verdict *v, struct arena *a)
{
	CLEANUP(str_finish) struct str out = STR_INIT(SENTENCE_MAX);
	char when[TIME_TEXT_MAX];
	if (v->does == ROLL_EVICT || v->does == ROLL_SURGE) {
		str_append_format(&out, "pod %s is replaced by one %s", ask->pods[v->pod].name,
			ask->cause == ROLL_MOVES ? "on another GPU" : "with the new share");
		return arena_strdup(a, str_text(&out));
	}
	if (ask->cause == ROLL_MOVES && v->why == ROLL_NO_ROOM) {
		str_append_text(&out, "no other GPU has room for the new pod"); /* its own has */
	} else {
		append_sentence(&out, &rows[v->why], v->blocker);
	}
	/* What only a person ends says so itself. */
	bool by_itself = v->does == ROLL_BLOCKED && v->why != ROLL_WITHOUT_EFFECT &&
			 v->why != ROLL_SURGE_LOST;
	if (v->next_ms > ask->now_ms) {
		str_append_format(&out, "; looked at again at %s", time_format(v->next_ms, when));
	} else if (ask->every_ms > 0 && by_itself) {
		str_append_format(&out, "; %s", roll_again(ask->every_ms, a));
	}
	return arena_strdup(a, str_text(&out));
}
