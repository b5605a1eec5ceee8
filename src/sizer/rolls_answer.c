/* What became of what rolls.c asked for: an eviction, and the reading of an owner. */
#include "rolls.h"

#include "model/standing.h"
#include "size/admit.h"

/* An owner that could not be read is tried again after so long, doubling to */
#define OWNER_RETRY_MS 5000
#define OWNER_MISSES   6 /* so many times */

/* Of "the disruption budget NAME needs ..."; the message where it names none. */
static const char *budget_name(const char *message, char name[ROLL_BLOCKER_MAX])
{
	static const char before[] = "The disruption budget ";
	const char *at = strstr(message, before);
	size_t n = at != NULL ? strcspn(at + sizeof before - 1, " ") : 0;
	if (n == 0 || n >= ROLL_BLOCKER_MAX) {
		return NULL;
	}
	memcpy(name, at + sizeof before - 1, n);
	name[n] = '\0';
	return name;
}

/* The API server does not evict such a pod at all, and says so by a 500: as an answer that is no
 * answer it would be tried again for ever. Our own view of budgets was not whole. */
static bool has_two_budgets(const struct fault *f)
{
	return f->status == 500 && strstr(f->message, "more than one PodDisruptionBudget") != NULL;
}

static void answer_eviction(struct sizer *s, struct sized *x, const struct fault *f, int64_t now_ms)
{
	char name[ROLL_BLOCKER_MAX];
	struct roll_ending e = {ROLL_END_DONE, NULL, f->retry_after_ms, false};
	x->roll->eviction = 0;
	if (f->kind == FAULT_CONFLICT && x->roll->as_judged) {
		e.end = ROLL_END_REFUSED;
		e.by = "it is not what it was when it was chosen";
		/* nor did it make way */
		x->roll->mended -= x->roll->roll.doing == ROLL_NOTHING && x->roll->mended > 0;
	} else if (f->kind == FAULT_NOT_FOUND || f->kind == FAULT_CONFLICT) {
		e.end = ROLL_END_GONE;
	} else if (f->status == 429 && strstr(f->message, "disruption budget") != NULL) {
		e.end = ROLL_END_BUDGET;
		e.by = budget_name(f->message, name);
	} else if (f->kind != FAULT_NONE && (!f->unknown_outcome || has_two_budgets(f))) {
		e.end = ROLL_END_REFUSED;
		e.by = f->message;
	}
	rolls_settle(s, x, &e, now_ms);
}

/* What only the template tells of what admission will say: arguments, variables, privileges, who
 * schedules it, and a share that a person writes there while running pods stay as they are. */
static uint8_t judge_next(const struct sizer *s, const struct sized *x,
	const struct standing *owner, enum isolation isolation)
{
	struct explain_facts facts;
	struct pod next = owner->next != NULL ? *owner->next : (struct pod){0};
	next.ns = x->key.ns;
	const struct admit_input in = {.pod = &next,
		.basic_group = podgroups_frees(s->config.pod_groups, &next),
		.schedulers = s->config.schedulers,
		.scheduler_count = s->config.scheduler_count,
		.count_max = MODEL_GPU_COUNT_MAX,
		.context_mib = s->config.admission.context_mib,
		.notes_names = s->config.admission.notes_names};
	bool told = owner->exists && owner->next != NULL;
	return (uint8_t)(told ? admit_template(&in, isolation, &facts) : REASON_NONE);
}

/* Nobody may see it (403), or its kind is not there (404): that does not change in minutes, and the
 * pods have to do. Anything else ends, and nobody goes before it has. What the template said holds
 * either way. */
static void miss_owner(struct owner_seen *seen, const struct fault *f, int64_t now_ms)
{
	if (f->status == 403 || f->status == 404) {
		seen->at_ms = now_ms;
		seen->retry_ms = 0;
		seen->misses = 0;
		seen->known = false;
		return;
	}
	int64_t wait = OWNER_RETRY_MS << seen->misses;
	seen->retry_ms = now_ms + (f->retry_after_ms > wait ? f->retry_after_ms : wait);
	if (seen->misses < OWNER_MISSES) {
		seen->misses++;
	}
}

/* Whoever waits for it is looked at now: by the next round it may be too old again. */
static void answer_reading(
	struct sizer *s, struct sized *x, const struct outcome *outcome, int64_t now_ms)
{
	const struct standing *owner = outcome->standing;
	struct owner_seen *seen = &x->roll->seen;
	if (x->roll->wants_to_go && !s->ending) {
		x->heal.alerted = s->alarms.any = true;
	}
	x->roll->wants_to_go = false;
	x->roll->reading = 0;
	if (outcome->fault.kind != FAULT_NONE || owner == NULL) {
		miss_owner(seen, &outcome->fault, now_ms);
		return;
	}
	*seen = (struct owner_seen){.at_ms = now_ms,
		.known = true,
		.going = !owner->exists || owner->leaving,
		.recreates = owner->exists && owner->recreates,
		.course = (uint8_t)owner->course,
		.whole = judge_next(s, x, owner, ISOLATION_NONE),
		.whole_walled = judge_next(s, x, owner, ISOLATION_MPS),
		.wanted = owner->exists ? owner->wanted : -1,
		.min_ready_s = owner->exists ? owner->min_ready_s : 0};
}

bool rolls_answer(struct sizer *s, struct sizer_now now, uint64_t id, const struct outcome *outcome)
{
	for (size_t i = 0; i < s->workloads.count; i++) {
		struct sized *x = s->workloads.items[i];
		if (x->roll == NULL || (x->roll->eviction != id && x->roll->reading != id)) {
			continue;
		}
		if (x->roll->eviction == id) {
			answer_eviction(s, x, &outcome->fault, now.policy_ms);
		} else {
			answer_reading(s, x, outcome, now.policy_ms);
		}
		return true;
	}
	return false;
}
