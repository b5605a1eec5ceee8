/* The story of one step, and the door through which everything enters. */
#include "engine/engine.h"

#include <stdlib.h>

#include "engine/journal.h"
#include "engine/node_pools.h"
#include "journal.h"
#include "model/names.h"
#include "policies.h"
#include "mps.h"
#include "record/change.h"
#include "state.h"
#include "world/node_states.h"

/* Nothing that lasts is noticed later than this, whatever the deadlines say. */
#define STEP_AT_LEAST_MS 1000
/* Nobody waits for a policy's status, nor for the watchdog's word, but everybody for the end of a
 * step. */
#define POLICIES_PART 4
#define OVERUSE_PART  4

static int64_t time_or(int64_t ms, int64_t otherwise)
{
	return ms > 0 ? ms : otherwise;
}

/* What is not configured is as engine.h says. */
static void set_defaults(struct engine_config *c)
{
	c->idle_grace_ms = time_or(c->idle_grace_ms, 60000);
	c->open_timeout_ms = time_or(c->open_timeout_ms, 120000);
	c->lost_ms = time_or(c->lost_ms, 60000);
	c->held_ms = time_or(c->held_ms, 300000);
	c->partial_ms = time_or(c->partial_ms, 30000);
	c->patience_ms = time_or(c->patience_ms, 60000);
	c->stuck_ms = time_or(c->stuck_ms, 30000);
	c->lacks_ms = time_or(c->lacks_ms, 10000);
	c->serve_ms = time_or(c->serve_ms, 300000);
	c->evictions_per_minute = c->evictions_per_minute > 0 ? c->evictions_per_minute : 30;
}

/* Each concern to what it asks of others. */
static void introduce(struct engine *e)
{
	struct picture *picture = &e->picture;
	e->ailments.picture = e->openings.picture = e->quotas.picture = e->turns.picture = picture;
	e->companies.picture = e->shuns.picture = e->needs.picture = picture;
	e->companies.seed = e->seed;
	e->shuns.companies = &e->companies;
	e->needs.shuns = &e->shuns;
	e->scale.picture = e->policies.picture = picture;
	e->scale.pools = e->policies.pools = e->pools;
	orphans_init(&e->orphans, picture);
	evictions_init(&e->evictions, picture);
	resizes_init(&e->resizes, &e->quotas);
	inject_init(&e->inject, picture, &e->ailments, text_or(e->cfg.injection, "env"));
	wholes_init(&e->wholes, &e->needs);
	e->scheduling = (struct scheduling){.picture = picture,
		.ranked = &e->ranked,
		.companies = &e->companies,
		.needs = &e->needs,
		.quotas = &e->quotas,
		.wholes = &e->wholes,
		.shuns = &e->shuns,
		.turns = &e->turns,
		.resizes = &e->resizes,
		.inject = &e->inject,
		.scale = &e->scale,
		.openings = &e->openings,
		.report = &e->report};
	e->preempting.picture = picture;
	e->preempting.scheduling = &e->scheduling;
	e->preempting.evictions = &e->evictions;
	e->emitter = (struct emitter){.picture = picture, .openings = &e->openings};
}

struct engine *engine_create(const struct engine_config *config, uint64_t seed)
{
	struct engine *e = xcalloc(1, sizeof *e);
	e->cfg = *config;
	set_defaults(&e->cfg);
	e->runtime_class = xstrdup(config->runtime_class);
	e->cfg.runtime_class = e->runtime_class;
	e->injection = xstrdup(config->injection);
	e->cfg.injection = e->injection;
	e->world = world_create();
	e->pools = pools_create();
	e->seed = seed;
	rng_seed(&e->rng, seed);
	book_init(&e->book, &e->time, e->world, &e->rng);
	picture_init(&e->picture, &e->cfg, &e->time, e->world, &e->book);
	e->picture.runtime = &e->runtime;
	introduce(e);
	return e;
}

void engine_destroy(struct engine *e)
{
	if (e == NULL) {
		return;
	}
	policies_finish(&e->policies);
	book_finish(&e->book);
	orphans_finish(&e->orphans);
	health_forget(&e->ailments);
	evictions_finish(&e->evictions);
	resizes_finish(&e->resizes);
	shuns_finish(&e->shuns);
	turns_finish(&e->turns);
	preempting_finish(&e->preempting);
	scale_finish(&e->scale);
	inject_finish(&e->inject);
	kept_finish(&e->picture.kept);
	picture_finish(&e->picture);
	needs_finish(&e->needs);
	companies_finish(&e->companies);
	VEC_FINISH(&e->ranked);
	ranking_finish(&e->ranking);
	VEC_FINISH(&e->scheduling.chosen);
	VEC_FINISH(&e->quotas.used);
	wholes_finish(&e->wholes);
	pools_destroy(e->pools);
	world_destroy(e->world);
	free(e->runtime_class);
	free(e->injection);
	arena_finish(&e->runtime.arena);
	free(e);
}

void engine_record(struct engine *e, struct journal *journal)
{
	e->journal = journal;
	if (journal != NULL) {
		journal_begin(journal, e);
	}
}

/* What the last complete pass of the watchdog found. */
static void note_overuse(struct engine_report *report, const struct overuse_found *found)
{
	report->tenants_over = found->over;
	report->tenants_contended = found->contended;
	report->over_mib = found->over_mib;
}

/* Each part forgets what the last term left, but for what may still happen of that. */
static void begin_term(struct engine *e)
{
	book_new_term(&e->book);
	evictions_new_term(&e->evictions);
	note_overuse(&e->report, &e->evictions.overuses.found);
	resizes_new_term(&e->resizes);
	shuns_clear(&e->shuns);
	turns_forget(&e->turns);
	scale_forget(&e->scale);
	inject_forget(&e->inject);
	orphans_finish(&e->orphans);
	orphans_init(&e->orphans, &e->picture);
	health_forget(&e->ailments);
	wholes_finish(&e->wholes);
	wholes_init(&e->wholes, &e->needs);
}

/* A capacity pod that came and went between two steps: no step would ever meet it, and it would be
 * waited for as long as one that was asked for and is not seen yet. */
static void note_gone(struct book *book, const struct change *c)
{
	bool one =
		c->type == CHANGE_GONE && c->kind == KIND_POD && text_equals(c->ns, NAME_NAMESPACE);
	struct holder *h = one ? holder_find(book, c->name) : NULL;
	if (h != NULL && !h->in_world && h->flight == 0 && text_equals(h->uid, c->uid)) {
		h->expires_at = 0;
	}
}

/* Of a pod that has nothing to do with GPUs little is kept, whatever it says. */
static bool change_is_small(const struct change *c)
{
	return c->type == CHANGE_SET && c->kind == KIND_POD && !world_keeps_noun(c->pod) &&
	       strlen(text_or(c->pod->name, "")) < UINT16_MAX;
}

bool engine_observe(struct engine *e, const struct change *c)
{
	if (!change_is_small(c) && !change_fits(c)) {
		return false;
	}
	if (e->journal != NULL) {
		journal_change(e->journal, e, c);
	}
	if (c->type == CHANGE_LEADER) {
		if (c->leads && !e->leads) {
			begin_term(e);
		}
		e->leads = c->leads;
		e->time.dirty = true;
		return true;
	}
	if (c->type == CHANGE_REACH) {
		e->evictions.reached = c->reached;
		e->evictions.unsure = c->unsure;
		e->time.dirty = true;
		return true;
	}
	if (c->type == CHANGE_SHARE) {
		resize_wanted(&e->resizes, c);
		return true;
	}
	if (c->type == CHANGE_SHUN) {
		shun_wanted(&e->shuns, c);
		return true;
	}
	if (c->type == CHANGE_HEARD) {
		health_remember(&e->ailments, c->heard);
		return true;
	}
	if (c->type == CHANGE_RUNTIME) {
		runtime_take(&e->picture, c->runtime);
		return true;
	}
	note_gone(&e->book, c);
	if (c->kind == KIND_POD) {
		resize_noted(&e->resizes, c);
	}
	world_apply(e->world, c);
	return true;
}

static bool nothing_to_do(const struct engine *e, int64_t now)
{
	bool changed = e->time.dirty || e->scheduling.resume != 0 ||
		       e->decided_version != world_version(e->world);
	return !changed && now < e->time.deadline;
}

static void decide_all(struct engine *e, struct engine_now now, uint32_t budget)
{
	/* 1 drain: the world took every change as it came, and some of it matters */
	e->time.step++;
	e->time.deadline = now.mono_ms + STEP_AT_LEAST_MS;
	e->time.dirty = false;
	uint64_t version = world_version(e->world);
	/* 2 snapshot */
	snapshot_build(e);
	e->report.gpus_open = e->report.gpus_opening = 0;
	vec_for_each (const struct place_gpu, g, &e->picture.snap.gpus) {
		*(g->state == GPU_OPENING ? &e->report.gpus_opening : &e->report.gpus_open) += 1;
	}
	openings_count(&e->openings);
	/* 3 rank */
	rank_waiters(&e->ranking, &e->picture, &e->ranked);
	wholes_rank(&e->wholes);
	needs_count(&e->scheduling);
	/* 4 decide: those that run get what they need, then each tenant that waits finds a GPU in
	 * the picture and takes its share out of it */
	resizes_decide(&e->resizes);
	decide(&e->scheduling, budget, &e->emitter);
	preempt_tenants(&e->preempting, &e->emitter);
	scale_up(&e->scheduling, &e->emitter);
	/* 5 and 6, assume and emit: every action is remembered under its id before it leaves */
	emit_grants(&e->scheduling, &e->emitter);
	resizes_emit(&e->resizes, &e->emitter);
	inject_tend(&e->inject, &e->emitter);
	capacity_tend(&e->scheduling, &e->emitter);
	recycle_tenants(&e->evictions, &e->shuns, &e->emitter);
	drain_tenants(&e->evictions, &e->emitter);
	drain_capacity(&e->picture, &e->emitter);
	orphans_tend(&e->orphans, &e->evictions, &e->emitter);
	overuse_tend(&e->evictions.overuses);
	e->report.gpus_doubled = report_doubled_gpus(&e->picture, &e->emitter);
	report_waiting(&e->scheduling, now, &e->emitter);
	departed_report(&e->picture, &e->emitter);
	evictions_report(&e->evictions, &e->emitter);
	health_report(&e->ailments, &e->orphans, &e->emitter);
	mps_report(&e->picture, &e->emitter);
	departed_sweep(&e->book);
	evictions_sweep(&e->evictions);
	resizes_sweep(&e->resizes);
	turns_sweep(&e->turns);
	book_sweep(&e->book);
	wholes_sweep(&e->wholes);
	e->decided_version = version;
	e->report.gpus_opening += e->openings.made;
	e->report.gpus_orphaned = orphans_count(&e->orphans);
	e->report.steps++;
}

static void step(struct engine *e, struct engine_now now, uint32_t budget)
{
	if (!e->leads || !world_all_synced(e->world)) {
		e->time.deadline = now.mono_ms + STEP_AT_LEAST_MS;
		return;
	}
	e->time.now = now.mono_ms;
	/* A long pass over the policies or of the watchdog does not ask for the same decisions
	 * again at every slice. */
	if (!nothing_to_do(e, now.mono_ms)) {
		decide_all(e, now, budget);
	}
	overuse_step(&e->evictions.overuses, now, budget / OVERUSE_PART, &e->emitter);
	policies_step(&e->policies, now, budget / POLICIES_PART, &e->emitter);
	note_overuse(&e->report, &e->evictions.overuses.found);
}

static bool is_passing(const struct engine *e)
{
	return policies_running(&e->policies) || overuse_running(&e->evictions.overuses);
}

void engine_step(struct engine *e, struct engine_now now, uint32_t budget, struct plan *plan)
{
	plan_reset(plan);
	bool decides = e->leads && world_all_synced(e->world);
	/* Such a step changes nothing, and is not worth a line in the journal either. */
	if (decides && nothing_to_do(e, now.mono_ms) && !is_passing(e)) {
		return;
	}
	if (e->journal != NULL) {
		journal_before_step(e->journal, e);
	}
	e->emitter.plan = plan;
	step(e, now, budget);
	e->emitter.plan = NULL;
	if (e->journal != NULL) {
		journal_step(e->journal, now, budget, plan);
	}
}

int64_t engine_next_deadline(const struct engine *e)
{
	/* Without the lead or a whole picture there is nothing to be early for. */
	bool decides = e->leads && world_all_synced(e->world);
	bool goes_on = e->scheduling.resume != 0 || e->time.dirty || is_passing(e);
	return decides && goes_on ? 0 : e->time.deadline;
}

uint32_t engine_unhealthy(const struct engine *e, const char *node)
{
	return health_count(&e->ailments, node);
}

bool engine_wants_state(const struct engine *e, uint32_t node)
{
	const struct world_node *n = world_node_at(e->world, node);
	return world_wants_state(e->world, node) ||
	       (n->known && (health_wants_state(&e->ailments, n->name) ||
				    mps_wants_state(e->world, node)));
}

const char *engine_differs(const struct engine *e)
{
	return e->picture.kept.differs.len > 0 ? str_text(&e->picture.kept.differs) : NULL;
}

size_t engine_heard(const struct engine *e, struct heard *ret_list, size_t room)
{
	return health_heard(&e->ailments, ret_list, room);
}

void engine_share_fate(const struct engine *e, const char *uid, struct share_fate *ret)
{
	resize_fate(&e->resizes, uid, ret);
}

enum share_state engine_share_state(const struct engine *e, const char *uid)
{
	struct share_fate fate;
	resize_fate(&e->resizes, uid, &fate);
	return fate.state;
}

bool engine_evicts(const struct engine *e, const char *uid)
{
	return evicts(&e->evictions, uid);
}

const struct world *engine_world(const struct engine *e)
{
	return e->world;
}

const struct engine_report *engine_report(const struct engine *e)
{
	return &e->report;
}
