/* The status of a GPURecommendation, from what is known and decided. */
#include "recommendation_status.h"

#include "bill_state.h"
#include "healing_status.h"
#include "resize_request.h"
#include "roll/rollout_explain.h"
#include "rollouts/roll_record.h"
#include "size/explain.h"
#include "status_sentences.h"

#define METRIC_SHOWN 120 /* of a name, or a query */

/* --- containers --- */

/* R15: a container that no pod has any more is not shown, unless there are no pods at all. */
static bool container_is_shown(const struct sized_workload *x, const struct sized_container *c)
{
	return x->pods == 0 || c->tally.pods > 0 || (x->multi && c->feeds > 0);
}

static void say_container(const struct sized_container *c, struct recommended_container *r)
{
	const struct pod_tally *t = &c->tally;
	const struct kept_recommendation *k = &c->answer;
	*r = (struct recommended_container){
		.name = c->name,
		.original = share_widened(t->original),
		.allocated = share_widened(t->allocated),
		.allocated_pods = (int32_t)t->running,
		.target = c->in_force,
		.uncapped = share_widened(k->uncapped),
		.lower = share_widened(k->lower),
		.upper = share_widened(k->upper),
		.usage = {k->compute_known, k->memory_known, k->p50_percent, k->target_percent,
			k->peak_mib, k->last_sample_ms},
		.capped_by = (enum capped_by)k->capped_by,
	};
}

static void say_containers(const struct status *s)
{
	struct recommendation *r = s->r;
	r->containers = ARENA_ARRAY(s->a, struct recommended_container, s->x->containers.count + 1);
	for (size_t i = 0; i < s->x->containers.count; i++) {
		const struct sized_container *c = s->x->containers.items[i];
		const struct kept_history *f = &c->facts;
		if (!container_is_shown(s->x, c)) {
			continue;
		}
		say_container(c, &r->containers[r->container_count++]);
		if (f->first_ms > 0 && (r->history.first_sample_ms == 0 ||
					       f->first_ms < r->history.first_sample_ms)) {
			r->history.first_sample_ms = f->first_ms;
		}
		if (r->container_count == 1 || f->coverage_percent < r->history.coverage_percent) {
			r->history.coverage_percent = f->coverage_percent;
		}
		r->history.samples += f->samples;
		r->pods.total = (int32_t)s->x->pods;
		r->pods.up_to_date += (int32_t)c->tally.up_to_date;
		r->pods.pending += (int32_t)c->tally.pending;
		r->saved_milli += c->tally.saved_milli;
		r->saves = r->saves || c->tally.running > 0;
	}
}

/* --- conditions --- */

/* The worst of the containers that are shown. */
struct worst {
	uint32_t shown;
	enum history_state state;
	uint32_t runs; /* that ended, of who has the fewest */
	bool converted, targets;
	struct hold_part held; /* of what has no target */
	enum capped_by capped;
	enum prealloc_by memory_by;
};

static int badness(enum history_state s)
{
	static const int order[] = {[HISTORY_NONE] = 3,
		[HISTORY_LEARNING] = 2,
		[HISTORY_STALE] = 1,
		[HISTORY_SUFFICIENT] = 0};
	return order[s];
}

static struct worst summarize(const struct sized_workload *x)
{
	struct worst p = {.state = HISTORY_SUFFICIENT, .converted = true, .targets = true};
	for (size_t i = 0; i < x->containers.count; i++) {
		const struct sized_container *c = x->containers.items[i];
		if (!container_is_shown(x, c)) {
			continue;
		}
		p.runs = p.shown == 0 || c->facts.runs < p.runs ? c->facts.runs : p.runs;
		p.shown++;
		enum history_state state = (enum history_state)c->facts.state;
		p.state = badness(state) > badness(p.state) ? state : p.state;
		p.converted = p.converted && c->converted;
		if (c->in_force.milli == 0 || c->in_force.mib == 0) {
			p.targets = false;
			p.held = c->held_compute;
		}
		enum capped_by by = (enum capped_by)c->answer.capped_by;
		p.capped = by != CAPPED_BY_NONE ? by : p.capped;
		enum prealloc_by memory_by = (enum prealloc_by)c->answer.memory_by;
		p.memory_by = memory_by != PREALLOC_NOT ? memory_by : p.memory_by;
	}
	if (p.shown == 0) {
		p.state = HISTORY_NONE;
		p.converted = p.targets = false;
		p.held = (struct hold_part){HOLD_UNKNOWN, 0};
	}
	return p;
}

/* Where runs are what counts. */
static const char *say_runs(const struct status *s, const struct worst *p, const char *otherwise)
{
	const struct sizing *sizing = &s->d->choice.sizing;
	if (s->d->choice.policy == NULL || sizing->required_runs == 0 ||
		p->state != HISTORY_LEARNING) {
		return otherwise;
	}
	const char *done = arena_printf(s->a, "%u of %d runs have ended and were measured", p->runs,
		(int)sizing->required_runs);
	if (p->runs >= (uint32_t)sizing->required_runs) {
		done = arena_printf(s->a, "Less than the %d minutes of a run were measured",
			(int)(sizing->required_run_s / 60));
	}
	return arena_printf(s->a, "%s: the target %s.", done,
		p->converted ? "stays, and may grow" : "is shown and not applied");
}

static void say_history(const struct status *s, const struct worst *p)
{
	static const struct sentence sentences[] = {
		[HISTORY_NONE] = {"Learning",
			"No use of its pods was measured yet: the agent of their node tells it, or "
			"a Prometheus."},
		[HISTORY_LEARNING] = {"Learning", NULL},
		[HISTORY_SUFFICIENT] = {"Sufficient",
			"As much of its use is known as the policy asks for."},
		[HISTORY_STALE] = {"Stale",
			"Its use is not told any more: what was decided stays. See what should "
			"tell, the agent of its node or a Prometheus."},
	};
	static const struct sentence again = {"Relearning",
		"Too little of its use is known again: the target stays, and may grow."};
	bool relearns = p->converted && badness(p->state) > badness(HISTORY_STALE);
	struct sentence say = relearns ? again : sentences[p->state];
	if (say.message == NULL) {
		say.message = why_learning(s->d, s->r->history.first_sample_ms, s->a);
	}
	say.message = s->d->unread && p->state == HISTORY_LEARNING ? why_unread(p->converted)
								   : say_runs(s, p, say.message);
	set_condition(s, RECOMMENDATION_HISTORY_SUFFICIENT, p->state == HISTORY_SUFFICIENT, say);
}

static void say_recommended(const struct status *s, const struct worst *p)
{
	struct sentence say = {hold_why_name(p->held.why), why_whole(p->held, s->d, s->a)};
	if (p->targets) {
		say = (struct sentence){"Recommended", "There is a target for the next pod."};
	} else if (p->held.why == HOLD_UNKNOWN || p->shown == 0) {
		say = (struct sentence){"NoHistory",
			"There is no target: compute and memory must both have been measured."};
	}
	set_condition(s, RECOMMENDATION_RECOMMENDED, p->targets, say);
}

static void say_ready(const struct status *s, const struct worst *p)
{
	struct sentence why = why_hindered(s);
	const struct recommended_condition *history =
		&s->r->conditions[RECOMMENDATION_HISTORY_SUFFICIENT];
	const struct recommended_condition *target = &s->r->conditions[RECOMMENDATION_RECOMMENDED];
	bool known = history->status == CONDITION_TRUE;
	bool ready = why.reason == NULL && p->targets && (known || p->converted);
	if (ready && s->d->choice.mode == MODE_AUTOMATE) {
		why = (struct sentence){"Ready", "The next pod gets the target."};
	} else if (ready) {
		why = (struct sentence){"Recommending", why_shown(s->d, s->a)};
	} else if (why.reason == NULL) {
		why = known ? (struct sentence){target->reason, target->message}
			    : (struct sentence){history->reason, history->message};
	}
	set_condition(s, RECOMMENDATION_READY, ready, why);
}

/* I7: what keeps running pods from the target. */
static void say_blocked(const struct status *s)
{
	struct sentence blocked = {s->d->blocked, s->d->blocker};
	if (s->x->multi) {
		blocked = why_unsupported(s->x);
		blocked.message = arena_printf(s->a, "%s It is %s.", blocked.message,
			roll_again(s->d->config->round_ms, s->a));
	}
	if (blocked.reason != NULL || resize_blocker(s->x, s->d, s->a, &blocked)) {
		set_true(s, RECOMMENDATION_UPDATE_BLOCKED, blocked.reason, blocked.message);
	}
}

/* U14. Nothing else that keeps it from being changed is more lasting. */
static void say_scaler(const struct status *s, const struct worst *p)
{
	const struct scaler *by = s->d->scaler;
	if (by == NULL || s->x->multi) {
		return;
	}
	set_true(s, RECOMMENDATION_UPDATE_BLOCKED, hold_why_name(HOLD_SCALED),
		arena_printf(s->a,
			"%s %s adds and removes pods by %.*s, which grows when shares shrink: "
			"compute %s; let it scale by requests or by a queue to have compute sized. "
			"It is %s.",
			by->kind, by->name, METRIC_SHOWN, s->d->scaler_metric,
			p->converted ? "stays as it is, and memory is sized" : "is not sized",
			roll_again(s->d->config->round_ms, s->a)));
}

static void say_rollouts(const struct status *s)
{
	const struct rollout_record *m = s->x->roll;
	if (m == NULL) {
		return;
	}
	if (m->roll.paused != ROLL_UP_TO_DATE) {
		set_true(s, RECOMMENDATION_PAUSED, roll_why_name(m->roll.paused), s->d->paused);
	}
	s->r->last_update = (struct recommended_update){
		(enum update_result)m->result, m->update.at_ms, m->update.reason, m->roll.returns};
}

static void say_applied(const struct status *s)
{
	uint32_t memory_stays = s->x->resizes[SHARE_MEMORY_STAYS];
	bool all = s->r->pods.total > 0 && s->r->pods.up_to_date == s->r->pods.total;
	struct sentence say = {"Applied", "Every pod has the target."};
	if (!all && memory_stays > 0) {
		say = (struct sentence){"MemoryStays",
			arena_printf(s->a,
				"%u of its pods keep the memory that their framework took "
				"when it started, until they are replaced.",
				memory_stays)};
	} else if (!all) {
		say = (struct sentence){"PodsDiffer", why_differs(s)};
	}
	set_condition(s, RECOMMENDATION_APPLIED, all, say);
}

static void say_limits(const struct status *s, const struct worst *p)
{
	if (p->capped != CAPPED_BY_NONE) {
		set_true(s, RECOMMENDATION_CAPPED, capped_by_name(p->capped),
			why_capped(p->capped, s->d, s->a));
	}
	if (p->memory_by != PREALLOC_NOT) {
		set_true(s, RECOMMENDATION_MEMORY_PREALLOCATED, prealloc_by_name(p->memory_by),
			prealloc_sentence(p->memory_by));
	}
}

/* C6. */
static void say_clamped(const struct status *s)
{
	CLEANUP(str_finish) struct str text = STR_INIT(1024);
	const struct share *w = &s->d->asked, *g = &s->d->granted;
	if (w->milli == g->milli && w->mib == g->mib) {
		return;
	}
	const struct policy *p = s->d->choice.policy;
	const char *name = p->built_in ? NULL : p->name;
	struct explain_facts asked = {.want_milli = w->milli, .want_mib = w->mib};
	struct explain_facts granted = {.want_milli = g->milli, .want_mib = g->mib, .name = name};
	str_append_text(&text, "A new pod ");
	explain_clamped(&text, &asked, &granted);
	set_true(s, RECOMMENDATION_CLAMPED, name != NULL ? "PolicyBounds" : "CudaContext",
		arena_printf(s->a, "%s.", str_text(&text)));
}

/* K3. Nobody ends it for that. */
static void say_idle(const struct status *s)
{
	int64_t cost = s->x->bill.cost;
	if (!s->x->idle) {
		return;
	}
	set_true(s, RECOMMENDATION_IDLE, "NoUse",
		arena_printf(s->a,
			"It computed nothing for %d hours or more%s%s. Nothing ends it for that.",
			COST_IDLE_MINUTES / 60, cost > 0 ? "; that wastes " : "",
			cost > 0 ? bill_text(&s->d->config->bill, s->a, cost) : ""));
}

/* --- a target that waits --- */

/* What is measured asks for another target than the one that is in force: why that stays, of
 * compute before memory. */
static void say_waits(const struct status *s)
{
	struct recommended_condition *r = &s->r->conditions[RECOMMENDATION_RECOMMENDED];
	for (size_t i = 0; r->status == CONDITION_TRUE && i < s->x->containers.count; i++) {
		const struct sized_container *c = s->x->containers.items[i];
		const struct hold_part held[] = {c->held_memory, c->held_compute};
		bool shown = c->converted && container_is_shown(s->x, c);
		for (size_t k = 0; shown && k < COUNT_OF(held); k++) {
			const char *stays = why_stays(held[k], s->a);
			r->message = stays != NULL ? stays : r->message;
			r->reason = stays != NULL ? hold_why_name(held[k].why) : r->reason;
		}
	}
}

/* --- the whole --- */

static int64_t next_revision(const struct sized_workload *x)
{
	for (size_t i = 0; i < x->containers.count; i++) {
		const struct sized_container *c = x->containers.items[i];
		if (container_is_shown(x, c) &&
			(c->in_force.milli != c->told.milli || c->in_force.mib != c->told.mib)) {
			return x->revision + 1;
		}
	}
	return x->revision;
}

/* Nobody says how much is enough, and of what: whether it was measured is not judged. */
static void say_unruled(const struct status *s)
{
	static const enum recommendation_condition types[] = {
		RECOMMENDATION_HISTORY_SUFFICIENT, RECOMMENDATION_RECOMMENDED};
	for (size_t i = 0; i < COUNT_OF(types) && s->d->choice.policy == NULL; i++) {
		struct recommended_condition *c = &s->r->conditions[types[i]];
		if (c->status == CONDITION_FALSE) {
			c->reason = "PolicyNotFound";
			c->message = "Without its policy nothing is judged.";
		}
	}
}

void say_recommendation(const struct sized_workload *x, const struct decision *d, struct arena *a,
	struct recommendation *r)
{
	const struct status s = {x, d, a, r};
	const struct worst worst = summarize(x);
	*r = (struct recommendation){
		.name = x->row.name,
		.uid = x->uid,
		.generation = x->generation,
		.target = x->key,
		.observed_generation = x->generation,
		.revision = next_revision(x),
		.type = (enum workload_type)x->type,
	};
	if (d->choice.policy != NULL) {
		r->policy = (struct recommended_policy){d->choice.policy->name,
			d->choice.policy->generation, policy_source_name(d->choice.source)};
	}
	say_containers(&s);
	say_history(&s, &worst);
	say_recommended(&s, &worst);
	say_waits(&s);
	say_unruled(&s);
	say_ready(&s, &worst);
	say_blocked(&s);
	say_scaler(&s, &worst);
	say_applied(&s);
	say_limits(&s, &worst);
	say_rollouts(&s);
	say_healing(&s);
	say_idle(&s);
	say_clamped(&s);
	for (int i = 0; i < RECOMMENDATION_CONDITIONS; i++) {
		if (r->conditions[i].since_ms == 0) {
			r->conditions[i].since_ms = d->now_ms;
		}
	}
}

/* --- the digest of what is written --- */

#define MILLI_STEP 10

static uint64_t digest_add(uint64_t h, int64_t value)
{
	return hash_bytes(&value, sizeof value, h);
}

static uint64_t digest_add_text(uint64_t h, const char *text)
{
	text = text_or(text, "");
	return hash_bytes(text, strlen(text) + 1, h);
}

static uint64_t add_share(uint64_t h, const struct share *s)
{
	return digest_add(digest_add(h, (s->milli + MILLI_STEP / 2) / MILLI_STEP), s->mib);
}

static uint64_t digest_figures(const struct recommended_container *c)
{
	static const struct share none = {0, 0};
	uint64_t h = add_share(digest_add_text(1, c->name), &c->target);
	h = add_share(h, &c->original);
	h = add_share(h, c->allocated_pods > 0 ? &c->allocated : &none);
	h = add_share(h, &c->uncapped);
	h = add_share(h, &c->lower);
	h = add_share(h, &c->upper);
	h = digest_add(h, c->allocated_pods);
	h = digest_add(h, c->usage.compute_known ? c->usage.p50_percent : -1);
	h = digest_add(h, c->usage.compute_known ? c->usage.target_percent : -1);
	h = digest_add(h, c->usage.memory_known ? c->usage.peak_mib : -1);
	h = digest_add(h, c->usage.last_sample_ms / 1000);
	return digest_add(h, (int64_t)c->capped_by);
}

/* In whatever order the API server has them. A target that is not applied is a figure like others.
 */
static uint64_t add_containers(uint64_t h, const struct recommendation *r, bool urgent)
{
	uint64_t sum = 0;
	for (uint32_t i = 0; i < r->container_count; i++) {
		const struct recommended_container *c = &r->containers[i];
		sum += !urgent ? digest_figures(c)
		       : recommendation_holds(r)
			       ? add_share(digest_add_text(1, c->name), &c->target)
			       : digest_add_text(1, c->name);
	}
	return digest_add(h, (int64_t)sum);
}

static uint64_t add_conditions(uint64_t h, const struct recommendation *r, bool urgent)
{
	for (int i = 0; i < RECOMMENDATION_CONDITIONS; i++) {
		const struct recommended_condition *c = &r->conditions[i];
		h = digest_add(h, (int64_t)c->status);
		if (c->status == CONDITION_ABSENT) {
			continue;
		}
		h = digest_add_text(h, c->reason);
		h = urgent ? h : digest_add(digest_add_text(h, c->message), c->since_ms / 1000);
	}
	return h;
}

uint64_t say_digest(const struct recommendation *r, bool urgent)
{
	uint64_t h = digest_add_text(1, r->policy.name);
	h = digest_add_text(digest_add(h, r->policy.generation), r->policy.source);
	h = digest_add(digest_add(h, r->observed_generation), (int64_t)r->type);
	h = digest_add(h, (int64_t)r->healing.kind);
	h = digest_add(h, r->healing.until_ms / 1000);
	h = digest_add(h, (int64_t)r->last_update.result);
	if (r->last_update.result != UPDATE_NONE) {
		h = digest_add_text(
			digest_add(h, r->last_update.at_ms / 1000), r->last_update.reason);
		h = digest_add(h, r->last_update.times);
	}
	h = add_conditions(add_containers(h, r, urgent), r, urgent);
	if (urgent) {
		return h;
	}
	h = digest_add(digest_add(h, r->revision), r->history.first_sample_ms / 1000);
	h = digest_add(digest_add(h, r->history.samples), r->history.coverage_percent);
	h = digest_add(
		digest_add(digest_add(h, r->pods.total), r->pods.up_to_date), r->pods.pending);
	return digest_add(h, r->saves ? r->saved_milli : -1);
}
