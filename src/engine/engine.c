/* The story of one step, and the door through which everything enters. */
#include "engine/engine.h"

#include <stdlib.h>

#include "capacity/capacity_failure.h"
#include "capacity/capacity_lifecycle.h"
#include "capacity/inject_probe.h"
#include "capacity/standin.h"
#include "demand/node_pools.h"
#include "engine/journal.h"
#include "guardian/departed_share.h"
#include "guardian/drain.h"
#include "guardian/jobs.h"
#include "guardian/mps.h"
#include "guardian/overuse_find.h"
#include "guardian/overuse_pass.h"
#include "guardian/recycle.h"
#include "guardian/resize.h"
#include "ledger/settle.h"
#include "model/names.h"
#include "record/change.h"
#include "scheduling/decide.h"
#include "scheduling/emit_grant.h"
#include "scheduling/pending_report.h"
#include "scheduling/whole.h"
#include "world/node_states.h"
#include "journal.h"
#include "policies.h"
#include "snapshot.h"
#include "state.h"

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
	e->ailments.picture = e->openings.picture = e->quotas.picture = e->startup_order.picture =
		picture;
	e->companies.picture = e->avoidances.picture = e->needs.picture = picture;
	e->companies.seed = e->seed;
	e->avoidances.companies = &e->companies;
	e->needs.avoidances = &e->avoidances;
	e->scale.picture = e->policies.picture = picture;
	e->scale.pools = e->policies.pools = e->pools;
	orphans_init(&e->orphans, picture);
	evictions_init(&e->evictions, picture);
	overuses_init(&e->overuses);
	e->overuses.picture = picture;
	e->overuses.evictions = &e->evictions;
	resizes_init(&e->resizes, &e->quotas);
	inject_init(&e->inject, picture, &e->ailments, text_or(e->cfg.injection, "env"));
	wholes_init(&e->wholes, &e->needs);
	e->scheduling = (struct scheduling){.picture = picture,
		.ranked = &e->ranked,
		.companies = &e->companies,
		.needs = &e->needs,
		.quotas = &e->quotas,
		.wholes = &e->wholes,
		.avoidances = &e->avoidances,
		.startup_order = &e->startup_order,
		.resizes = &e->resizes,
		.inject = &e->inject,
		.scale = &e->scale,
		.openings = &e->openings};
	e->preempting.picture = picture;
	e->preempting.scheduling = &e->scheduling;
	e->preempting.evictions = &e->evictions;
	e->emitter = (struct emitter){
		.picture = picture, .openings = &e->openings, .report = &e->report};
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
	overuse_forget(&e->overuses);
	resizes_finish(&e->resizes);
	avoidances_finish(&e->avoidances);
	startup_order_finish(&e->startup_order);
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

/* Each part forgets what the last term left, but for what may still happen of that. */
static void begin_term(struct engine *e)
{
	book_new_term(&e->book);
	evictions_new_term(&e->evictions);
	/* What the last complete pass of another term found. */
	e->report.tenants_over = e->report.tenants_contended = 0;
	e->report.over_mib = 0;
	overuse_forget(&e->overuses);
	resizes_new_term(&e->resizes);
	avoidances_finish(&e->avoidances);
	startup_order_finish(&e->startup_order);
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
		journal_change(e->journal, c);
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
	if (c->type == CHANGE_AVOID_GPU) {
		avoidance_wanted(&e->avoidances, c);
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

/* --- the story of one step --- */

static void take_picture(struct engine *e)
{
	snapshot_build(&e->scheduling, &e->orphans);
	e->report.gpus_open = e->report.gpus_opening = 0;
	vec_for_each (const struct place_gpu, g, &e->picture.snap.gpus) {
		*(g->state == GPU_OPENING ? &e->report.gpus_opening : &e->report.gpus_open) += 1;
	}
	openings_count(&e->openings);
}

static void rank_all(struct engine *e)
{
	rank_waiters(&e->ranking, &e->picture, &e->ranked);
	wholes_rank(&e->wholes);
	needs_count(&e->wholes, &e->ranked);
}

static void serve(struct engine *e)
{
	resizes_decide(&e->resizes);
	decide(&e->scheduling, &e->emitter);
}

static void make_room(struct engine *e)
{
	preempt_tenants(&e->preempting, &e->emitter);
	scale_up(&e->scale, &e->ranked, &e->wholes, &e->emitter);
}

static void write_shares(struct engine *e)
{
	emit_grants(&e->scheduling, &e->emitter);
	resizes_emit(&e->resizes, &e->emitter);
}

static void tend_capacity(struct engine *e)
{
	inject_tend(&e->inject, &e->emitter);
	capacity_tend(&e->inject, &e->wholes, &e->ranked, &e->emitter);
}

static void move_tenants(struct engine *e)
{
	recycle_tenants(&e->evictions, &e->avoidances, &e->emitter);
	drain_tenants(&e->evictions, &e->emitter);
	drain_capacity(&e->picture, &e->emitter);
	orphans_tend(&e->orphans, &e->evictions, &e->emitter);
	overuse_tend(&e->overuses);
}

static void tell_people(struct engine *e)
{
	report_doubled_gpus(&e->picture, &e->emitter);
	report_waiting(&e->scheduling, &e->emitter);
	departed_report(&e->picture, &e->emitter);
	evictions_report(&e->evictions, &e->emitter);
	health_report(&e->ailments, &e->orphans, &e->emitter);
	mps_report(&e->picture, &e->emitter);
}

static void sweep(struct engine *e)
{
	departed_sweep(&e->book);
	evictions_sweep(&e->evictions);
	resizes_sweep(&e->resizes);
	startup_order_sweep(&e->startup_order);
	book_sweep(&e->book);
	table_sweep(&e->wholes.all);
}

/* Each stage sees what those before it have decided. Nobody but this table knows the order. */
static void (*const story[])(struct engine *e) = {
	take_picture,  /* first: everybody below decides on it, and takes out of it what it gives */
	rank_all,      /* so that who comes first never depends on chance */
	serve,	       /* those that run, then one after the other those who wait */
	make_room,     /* for those whom all that there is did not serve, and only then */
	write_shares,  /* when all is given: what one GPU gives to several is one write */
	tend_capacity, /* capacity pods without use go, now that it is known whom each serves */
	move_tenants,  /* who must leave although nobody waits for its place */
	tell_people,   /* what was decided */
	sweep,	       /* what this step did not meet is forgotten */
};

static void decide_all(struct engine *e, struct engine_now now, uint32_t budget)
{
	uint64_t version = world_version(e->world);
	e->time.step++;
	e->time.deadline = now.mono_ms + STEP_AT_LEAST_MS;
	e->time.dirty = false;
	e->scheduling.budget = budget;
	for (size_t i = 0; i < COUNT_OF(story); i++) {
		story[i](e);
	}
	e->decided_version = version;
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
	overuse_step(&e->overuses, now, budget / OVERUSE_PART, &e->emitter);
	policies_step(&e->policies, now, budget / POLICIES_PART, &e->emitter);
}

static bool is_passing(const struct engine *e)
{
	return policies_running(&e->policies) || overuse_running(&e->overuses);
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
		journal_before_step(e->journal);
	}
	e->emitter.plan = plan;
	step(e, now, budget);
	e->emitter.plan = NULL;
	if (e->journal != NULL) {
		journal_step(e->journal, now, budget, plan);
	}
}

void engine_settle(
	struct engine *e, struct engine_now now, uint64_t action_id, const struct outcome *o)
{
	if (e->journal != NULL) {
		journal_settle(e->journal, now, action_id, o);
	}
	e->time.dirty = true;
	e->time.deadline = now.mono_ms;
	if (flight_settle(&e->book, now.mono_ms, action_id, o)) {
		return;
	}
	eviction_settle(&e->evictions, now.mono_ms, action_id, o);
	job_settle(&e->evictions, now.mono_ms, action_id, o);
	resize_settle(&e->resizes, now.mono_ms, action_id, o);
	inject_settle(&e->inject, now.mono_ms, action_id, o);
	standin_settle(&e->scale, action_id, o);
	word_settle(&e->book, o);
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
