/* The status of a GPURecommendation, from what is known and decided; and its digest, by which is
 * seen whether it has to be written. */
#include "state.h"

#include "model/names.h"
#include "model/reason.h"

#define MILLI_STEP 10

/* --- containers --- */

/* R15: a container that no pod has any more is not shown, unless there are no pods at all. */
static bool is_shown(const struct sized *x, const struct sized_container *c)
{
	return x->pods == 0 || c->tally.pods > 0 || (x->multi > 0 && c->feeds > 0);
}

static void say_container(const struct sized_container *c, struct recommended_container *r)
{
	const struct sized_tally *t = &c->tally;
	*r = (struct recommended_container){
		.name = c->name,
		.original = t->original,
		.allocated = t->allocated,
		.allocated_pods = (int32_t)t->running,
		.target = c->in_force,
		.uncapped = c->answer.uncapped,
		.lower = c->answer.lower,
		.upper = c->answer.upper,
		.usage = c->answer.usage,
		.capped_by = recommend_capped(&c->answer),
	};
}

static void say_containers(const struct sized *x, struct arena *a, struct recommendation *r)
{
	r->containers = ARENA_ARRAY(a, struct recommended_container, x->containers.count + 1);
	for (size_t i = 0; i < x->containers.count; i++) {
		const struct sized_container *c = x->containers.items[i];
		if (!is_shown(x, c)) {
			continue;
		}
		say_container(c, &r->containers[r->container_count++]);
		const struct history_facts *f = &c->facts;
		if (f->first_ms > 0 && (r->history.first_sample_ms == 0 ||
					       f->first_ms < r->history.first_sample_ms)) {
			r->history.first_sample_ms = f->first_ms;
		}
		bool rarer = r->container_count == 1 ||
			     f->coverage_percent < r->history.coverage_percent;
		r->history.coverage_percent =
			rarer ? f->coverage_percent : r->history.coverage_percent;
		r->history.samples += f->samples;
		r->pods.total = (int32_t)x->pods;
		r->pods.up_to_date += (int32_t)c->tally.up_to_date;
		r->pods.pending += (int32_t)c->tally.pending;
		r->saved_milli += c->tally.saved_milli;
		r->saves = r->saves || c->tally.running > 0;
	}
}

/* --- conditions --- */

struct sentence {
	const char *reason, *message;
};

static void condition(const struct sized *x, struct recommendation *r,
	enum recommendation_condition type, enum condition_status status, struct sentence say)
{
	const struct sized_said *before = &x->said[type];
	r->conditions[type] = (struct recommended_condition){
		.status = status,
		.reason = say.reason,
		.message = say.message,
		.since_ms = before->status == status ? before->since_ms : 0,
	};
}

static void stamp(struct recommendation *r, int64_t now_ms)
{
	for (int i = 0; i < RECOMMENDATION_CONDITIONS; i++) {
		if (r->conditions[i].since_ms == 0) {
			r->conditions[i].since_ms = now_ms;
		}
	}
}

/* The worst of what is shown. */
struct picture {
	uint32_t shown;
	enum history_state state;
	bool converted, targets, unsupported;
	enum hold_why why; /* of what has no target */
	enum capped_by capped;
	const char *preallocated;
};

static int badness(enum history_state s)
{
	static const int order[] = {[HISTORY_NONE] = 3,
		[HISTORY_LEARNING] = 2,
		[HISTORY_STALE] = 1,
		[HISTORY_SUFFICIENT] = 0};
	return order[s];
}

static struct picture look(const struct sized *x)
{
	struct picture p = {.state = HISTORY_SUFFICIENT,
		.converted = true,
		.targets = true,
		.unsupported = x->multi > 0};
	for (size_t i = 0; i < x->containers.count; i++) {
		const struct sized_container *c = x->containers.items[i];
		if (!is_shown(x, c)) {
			continue;
		}
		p.shown++;
		p.state = badness(c->facts.state) > badness(p.state) ? c->facts.state : p.state;
		p.converted = p.converted && c->converted;
		if (c->in_force.milli == 0 || c->in_force.mib == 0) {
			p.targets = false;
			p.why = c->held.compute.why;
		}
		enum capped_by by = recommend_capped(&c->answer);
		p.capped = by != CAPPED_BY_NONE ? by : p.capped;
		p.preallocated = c->answer.memory_by != PREALLOC_NOT
					 ? prealloc_by_name(c->answer.memory_by)
					 : p.preallocated;
	}
	if (p.shown == 0) {
		p.state = HISTORY_NONE;
		p.converted = p.targets = false;
		p.why = HOLD_UNKNOWN;
	}
	return p;
}

static void say_history(const struct sized *x, const struct picture *p, struct recommendation *r)
{
	static const struct sentence sentences[] = {
		[HISTORY_NONE] = {"Learning", "No use of its pods was measured yet."},
		[HISTORY_LEARNING] = {"Learning",
			"Too little of its use is known: the target is shown and not applied."},
		[HISTORY_SUFFICIENT] = {"Sufficient",
			"As much of its use is known as the policy asks for."},
		[HISTORY_STALE] = {"Stale",
			"Its use is not told any more: the target stays as it is."},
	};
	static const struct sentence again = {"Relearning",
		"Too little of its use is known again: the target stays, and may grow."};
	bool enough = p->state == HISTORY_SUFFICIENT;
	bool relearns = p->converted && badness(p->state) > badness(HISTORY_STALE);
	condition(x, r, RECOMMENDATION_HISTORY_SUFFICIENT,
		enough ? CONDITION_TRUE : CONDITION_FALSE, relearns ? again : sentences[p->state]);
}

static void say_recommended(
	const struct sized *x, const struct picture *p, struct recommendation *r)
{
	static const struct sentence yes = {"Recommended", "There is a target for the next pod."};
	struct sentence no = {hold_why_name(p->why),
		"The next pod stays whole: it waits until a smaller share may be applied."};
	if (p->why == HOLD_UNKNOWN || p->shown == 0) {
		no = (struct sentence){"NoHistory",
			"There is no target: compute and memory must both have been measured."};
	}
	condition(x, r, RECOMMENDATION_RECOMMENDED, p->targets ? CONDITION_TRUE : CONDITION_FALSE,
		p->targets ? yes : no);
}

static const struct sentence unsupported = {
	"Unsupported", "Its pods ask for several GPUs: this is only a recommendation."};

/* Why nothing would be done with a target; NULL: something would. */
static struct sentence hindrance(const struct decision *d, const struct picture *p)
{
	if (d->choice.reason == REASON_POLICY_NOT_FOUND) {
		return (struct sentence){"PolicyNotFound",
			"The policy that is named does not exist: nothing changes."};
	}
	if (d->choice.excluded) {
		return (struct sentence){"Excluded", "Excluded by the annotation of its pods or "
						     "its namespace: pods stay whole."};
	}
	if (d->choice.mode == MODE_DISABLED) {
		return (struct sentence){"Disabled", "The mode is Disabled: pods stay whole."};
	}
	return p->unsupported ? unsupported : (struct sentence){NULL, NULL};
}

static void say_ready(const struct sized *x, const struct decision *d, const struct picture *p,
	struct recommendation *r)
{
	static const struct sentence apply = {"Ready", "The next pod gets the target."};
	static const struct sentence show = {"Recommending",
		"The target is known; set mode Automate in the policy to apply it."};
	struct sentence why = hindrance(d, p);
	const struct recommended_condition *history =
		&r->conditions[RECOMMENDATION_HISTORY_SUFFICIENT];
	const struct recommended_condition *target = &r->conditions[RECOMMENDATION_RECOMMENDED];
	bool ready = why.reason == NULL && p->targets &&
		     (history->status == CONDITION_TRUE || p->converted);
	if (ready) {
		why = d->choice.mode == MODE_AUTOMATE ? apply : show;
	} else if (why.reason == NULL) {
		const struct recommended_condition *c =
			history->status == CONDITION_TRUE ? target : history;
		why = (struct sentence){c->reason, c->message};
	}
	condition(x, r, RECOMMENDATION_READY, ready ? CONDITION_TRUE : CONDITION_FALSE, why);
	if (p->unsupported) {
		condition(x, r, RECOMMENDATION_UPDATE_BLOCKED, CONDITION_TRUE, unsupported);
	}
}

static void say_rest(const struct sized *x, const struct picture *p, struct recommendation *r)
{
	bool all = r->pods.total > 0 && r->pods.up_to_date == r->pods.total;
	condition(x, r, RECOMMENDATION_APPLIED, all ? CONDITION_TRUE : CONDITION_FALSE,
		all ? (struct sentence){"Applied", "Every pod has the target."}
		    : (struct sentence){"PodsDiffer", "Not every pod has the target."});
	if (p->capped != CAPPED_BY_NONE) {
		condition(x, r, RECOMMENDATION_CAPPED, CONDITION_TRUE,
			(struct sentence){capped_by_name(p->capped),
				"A limit keeps the target from being what was measured asks for."});
	}
	if (p->preallocated != NULL) {
		condition(x, r, RECOMMENDATION_MEMORY_PREALLOCATED, CONDITION_TRUE,
			(struct sentence){p->preallocated, "It takes memory ahead of need: what it "
							   "uses is not what it needs."});
	}
}

/* --- the whole --- */

static int64_t next_revision(const struct sized *x)
{
	for (size_t i = 0; i < x->containers.count; i++) {
		const struct sized_container *c = x->containers.items[i];
		if (is_shown(x, c) &&
			(c->in_force.milli != c->told.milli || c->in_force.mib != c->told.mib)) {
			return x->revision + 1;
		}
	}
	return x->revision;
}

void say_recommendation(
	const struct sized *x, const struct decision *d, struct arena *a, struct recommendation *r)
{
	*r = (struct recommendation){
		.name = x->object,
		.uid = x->uid,
		.generation = x->generation,
		.target = x->key,
		.observed_generation = x->generation,
		.revision = next_revision(x),
		.type = x->type,
	};
	if (d->choice.policy != NULL) {
		r->policy = (struct recommended_policy){d->choice.policy->name,
			d->choice.policy->generation, policy_source_name(d->choice.source)};
	}
	say_containers(x, a, r);
	struct picture p = look(x);
	say_history(x, &p, r);
	say_recommended(x, &p, r);
	say_ready(x, d, &p, r);
	say_rest(x, &p, r);
	stamp(r, d->now_ms);
}

/* --- the digest, of what can be read back --- */

static uint64_t add(uint64_t h, int64_t value)
{
	return hash_bytes(&value, sizeof value, h);
}

static uint64_t add_text(uint64_t h, const char *text)
{
	text = text_or(text, "");
	return hash_bytes(text, strlen(text) + 1, h);
}

static uint64_t add_share(uint64_t h, const struct share *s)
{
	return add(add(h, (s->milli + MILLI_STEP / 2) / MILLI_STEP), s->mib);
}

static uint64_t digest_figures(const struct recommended_container *c)
{
	static const struct share none = {0, 0};
	uint64_t h = add_share(add_text(1, c->name), &c->target);
	h = add_share(h, &c->original);
	h = add_share(h, c->allocated_pods > 0 ? &c->allocated : &none);
	h = add_share(h, &c->uncapped);
	h = add_share(h, &c->lower);
	h = add_share(h, &c->upper);
	h = add(h, c->allocated_pods);
	h = add(h, c->usage.compute_known ? c->usage.p50_percent : -1);
	h = add(h, c->usage.compute_known ? c->usage.target_percent : -1);
	h = add(h, c->usage.memory_known ? c->usage.peak_mib : -1);
	h = add(h, c->usage.last_sample_ms / 1000);
	return add(h, (int64_t)c->capped_by);
}

/* In whatever order the API server has them. A target that is not applied is a figure like others.
 */
static uint64_t add_containers(uint64_t h, const struct recommendation *r, bool urgent)
{
	uint64_t sum = 0;
	for (uint32_t i = 0; i < r->container_count; i++) {
		const struct recommended_container *c = &r->containers[i];
		sum += !urgent			 ? digest_figures(c)
		       : recommendation_holds(r) ? add_share(add_text(1, c->name), &c->target)
						 : add_text(1, c->name);
	}
	return add(h, (int64_t)sum);
}

static uint64_t add_conditions(uint64_t h, const struct recommendation *r, bool urgent)
{
	for (int i = 0; i < RECOMMENDATION_CONDITIONS; i++) {
		const struct recommended_condition *c = &r->conditions[i];
		h = add(h, (int64_t)c->status);
		if (c->status == CONDITION_ABSENT) {
			continue;
		}
		h = add_text(h, c->reason);
		h = urgent ? h : add(add_text(h, c->message), c->since_ms / 1000);
	}
	return h;
}

uint64_t say_digest(const struct recommendation *r, bool urgent)
{
	uint64_t h = add_text(1, r->policy.name);
	h = add_text(add(h, r->policy.generation), r->policy.source);
	h = add(add(h, r->observed_generation), (int64_t)r->type);
	h = add(h, (int64_t)r->healing.kind);
	h = add(h, r->healing.until_ms / 1000);
	h = add_conditions(add_containers(h, r, urgent), r, urgent);
	if (urgent) {
		return h;
	}
	h = add(add(h, r->revision), r->history.first_sample_ms / 1000);
	h = add(add(h, r->history.samples), r->history.coverage_percent);
	h = add(add(add(h, r->pods.total), r->pods.up_to_date), r->pods.pending);
	return add(h, r->saves ? r->saved_milli : -1);
}
