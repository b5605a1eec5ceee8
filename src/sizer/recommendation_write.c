/* When a GPURecommendation is made or its status written: one write of one object at a time, at
 * most SIZER_PER_SECOND in all, and those that only bring new figures wait for a minute, and for
 * all others. */
#include "recommendation_write.h"

#include "recommendation_status.h"
#include "owner/groups.h"
#include "record/tables.h"

#define AGAIN_MS  2000
#define AGAIN_MAX 5    /* doublings */
#define ECHO_MS	  5000 /* until the watch shows what was made */

/* --- who owns it --- */

/* The owners that stand above the controller of a pod, and are read for their uid. */
static const struct {
	const char *group, *kind, *api_version;
} read_owners[] = {
	{"apps", "Deployment", "apps/v1"},
	{"batch", "CronJob", "batch/v1"},
	{"argoproj.io", "Rollout", "argoproj.io/v1alpha1"},
};

/* Its GPURecommendation goes with it; api_version NULL: with nobody. */
static struct owner recommendation_owner(
	struct tracking *s, const struct sized_workload *x, const struct world *w)
{
	struct pod pod;
	struct workload of;
	const struct owner none = {NULL, NULL, NULL, NULL};
	const struct world_pod *wp = world_pod_by_uid(w, x->newest->uid);
	for (size_t i = 0; i < COUNT_OF(read_owners); i++) {
		if (text_equals(read_owners[i].group, x->key.group) &&
			text_equals(read_owners[i].kind, x->key.kind)) {
			return (struct owner){
				read_owners[i].api_version, x->key.kind, x->key.name, NULL};
		}
	}
	arena_reset(&s->scratch);
	if (wp == NULL || !world_pod_unpack(wp, &s->scratch, &pod)) {
		return none;
	}
	workload_of(s->config.groups, s->config.owners, &pod, &s->scratch, &of);
	bool seen = of.top.uid != NULL && text_equals(of.top.kind, x->key.kind) &&
		    view_equals(of.top.name, x->key.name);
	return seen ? (struct owner){of.top.api_version, of.top.kind, x->key.name, of.top.uid}
		    : none;
}

static void create_recommendation(
	struct tracking *s, struct sized_workload *x, const struct decision *d, struct plan *plan)
{
	struct action *a = write_action(&s->pace, plan, ACTION_CREATE_RECOMMENDATION);
	const struct recommendation made = {.name = x->row.name, .target = x->key};
	struct recommendation *r = record_clone(&plan->arena, &recommendation_table, &made);
	struct owner owner = recommendation_owner(s, x, d->world);
	a->ns = r->target.ns;
	a->name = r->name;
	a->recommendation = r;
	a->owner = (struct owner){arena_strdup(&plan->arena, owner.api_version),
		arena_strdup(&plan->arena, owner.kind), arena_strdup(&plan->arena, owner.name),
		arena_strdup(&plan->arena, owner.uid)};
	x->action = a->id;
	x->writes = SIZED_CREATE;
}

bool write_delete(
	struct tracking *s, struct sized_workload *x, struct sizer_now now, struct plan *plan)
{
	if (x->action != 0 || now.mono_ms < x->retry_ms) {
		return true;
	}
	if (!write_pace_take(&s->pace, PACE_FIGURES_AT)) {
		return false;
	}
	struct action *a = write_action(&s->pace, plan, ACTION_DELETE_RECOMMENDATION);
	a->ns = arena_strdup(&plan->arena, x->key.ns);
	a->name = arena_strdup(&plan->arena, x->row.name);
	a->uid = arena_strdup(&plan->arena, x->uid);
	x->action = a->id;
	x->writes = SIZED_DELETE;
	return true;
}

/* --- its status --- */

static void emit_target_changes(
	struct tracking *s, const struct sized_workload *x, struct plan *plan)
{
	for (size_t i = 0; i < x->containers.count; i++) {
		const struct sized_container *c = x->containers.items[i];
		if (c->in_force.milli == 0 ||
			(c->in_force.milli == c->told.milli && c->in_force.mib == c->told.mib)) {
			continue;
		}
		const struct share was = share_widened(c->told);
		write_event(&s->pace, x, plan, "RecommendationUpdated",
			arena_printf(&plan->arena, "%s: the target is %s now, it was %s", c->name,
				share_text(&plan->arena, &c->in_force),
				share_text(&plan->arena, &was)));
	}
}

struct condition_times condition_times_of(const struct recommendation *r)
{
	struct condition_times said;
	for (int i = 0; i < RECOMMENDATION_CONDITIONS; i++) {
		const struct recommended_condition *c = &r->conditions[i];
		bool known = c->since_ms > 0 && c->since_ms / 1000 <= UINT32_MAX;
		said.since_s[i] = known ? (uint32_t)(c->since_ms / 1000) : 0;
		said.status[i] = (uint8_t)c->status;
	}
	return said;
}

static void write_recommendation_status(struct tracking *s, struct sized_workload *x,
	const struct recommendation *r, struct plan *plan)
{
	struct action *a = write_action(&s->pace, plan, ACTION_RECOMMENDATION_STATUS);
	struct recommendation *copy = record_clone(&plan->arena, &recommendation_table, r);
	a->ns = copy->target.ns;
	a->name = copy->name;
	a->uid = copy->uid;
	a->recommendation = copy;
	x->action = a->id;
	x->writes = SIZED_STATUS;
	x->want = xcalloc(1, sizeof *x->want);
	*x->want = (struct pending_status){.urgent = say_digest(r, true),
		.all = say_digest(r, false),
		.said = condition_times_of(r),
		.revision = r->revision};
	for (size_t i = 0; i < x->containers.count; i++) {
		struct sized_container *c = x->containers.items[i];
		c->asked = small_of(c->in_force.milli, c->in_force.mib);
	}
	if (recommendation_holds(r)) {
		emit_target_changes(s, x, plan);
	}
}

bool write_workload(struct tracking *s, struct sized_workload *x, const struct decision *d,
	struct sizer_now now, struct plan *plan)
{
	struct recommendation r;
	if (x->action != 0 || now.mono_ms < x->retry_ms || (x->uid == NULL && x->newest == NULL)) {
		return true;
	}
	if (x->uid == NULL) {
		if (!write_pace_take_first(&s->pace)) {
			return false;
		}
		create_recommendation(s, x, d, plan);
		return true;
	}
	say_recommendation(x, d, &plan->arena, &r);
	if (say_digest(&r, false) == x->all) {
		return true;
	}
	bool urgent = say_digest(&r, true) != x->urgent;
	if (!urgent && now.mono_ms - x->wrote_ms < SIZER_FIGURES_MS) {
		return true;
	}
	bool first = x->said.status[RECOMMENDATION_READY] == CONDITION_ABSENT;
	if (first ? !write_pace_take_first(&s->pace)
		  : !write_pace_take(&s->pace, urgent ? PACE_TOKEN_MS : PACE_FIGURES_AT)) {
		if (!urgent && !s->pace.skipped) {
			s->pace.skipped = true;
			s->pace.next_from = x->row.at;
		}
		return !urgent;
	}
	x->wrote_ms = now.mono_ms;
	write_recommendation_status(s, x, &r, plan);
	return true;
}

/* --- what became of it --- */

void write_settle(struct sized_workload *x, struct sizer_now now, const struct outcome *outcome)
{
	bool done = outcome->fault.kind == FAULT_NONE;
	x->action = 0;
	if (done && x->want != NULL) {
		x->urgent = x->want->urgent;
		x->all = x->want->all;
		x->revision = x->want->revision;
		x->said = x->want->said;
		for (size_t i = 0; i < x->containers.count; i++) {
			x->containers.items[i]->told = x->containers.items[i]->asked;
		}
	}
	free(x->want);
	x->want = NULL;
	if (done) {
		x->failures = 0;
		x->retry_ms = now.mono_ms + (x->writes == SIZED_STATUS ? 0 : ECHO_MS);
		return;
	}
	x->retry_ms = now.mono_ms + (AGAIN_MS << x->failures);
	x->failures = (uint8_t)(x->failures + (x->failures < AGAIN_MAX));
}
