/* What src/roll is asked about one workload: its pods as the world has them, and what of the
 * cluster matters to them. */
#include "rollout_input.h"

#include "base/number.h"
#include "next_pod.h"
#include "owner/kinds.h"
#include "roll/rollout_explain.h"
#include "rollouts/roll_record.h"
#include "around/around.h"
#include "owner/podgroups.h"
#include "size/builtin.h"
#include "size/managed.h"
#include "tracking/pod_table.h"
#include "rollouts/surges.h"

/* --- who would be another one --- */

static bool has_no_less(const struct share *has, const struct share *want)
{
	return want->milli <= has->milli && want->mib <= has->mib;
}

/* Only a pod that is made anew would have the share: what can be changed where it runs is, by the
 * engine. */
static bool needs_new_pod(
	const struct sized_workload *x, const struct sized_pod *p, const struct world_gpu *g)
{
	const struct sized_container *c = p->feed_count == 1 ? p->feeds[0].container : NULL;
	if (!x->acts || c == NULL || !c->converted || c->in_force.milli <= 0 ||
		c->in_force.mib <= 0) {
		return false;
	}
	if (p->whole) {
		/* It becomes a tenant only with enough known of it; what is Stale is told so. */
		return !x->keeps_running && c->in_force.milli < MODEL_GPU_MILLI &&
		       (c->facts.state == HISTORY_SUFFICIENT || c->facts.state == HISTORY_STALE);
	}
	const struct share has = {g->milli, g->mem_mib};
	bool same = has.milli == c->in_force.milli && has.mib == c->in_force.mib;
	bool fixed =
		g->told_memory || history_kept(c->history)->memory_class == MEMORY_PREALLOCATED;
	if (!p->advised || has.milli == 0 || same ||
		(x->keeps_running && has_no_less(&has, &c->in_force))) {
		return false;
	}
	return g->mps || p->stuck || (fixed && has.mib != c->in_force.mib);
}

/* A whole pod, or a tenant that is to have less, saves, whoever else is in need. */
static bool is_in_need(const struct sized_pod *p, const struct world_gpu *g)
{
	const struct share has = {g->milli, g->mem_mib};
	return !p->whole && p->feed_count == 1 && has.milli > 0 &&
	       !has_no_less(&has, &p->feeds[0].container->in_force);
}

/* --- pods --- */

/* One that stands beside another is not counted before it is adopted. */
static const struct world_pod *counted(const struct decision *d, const struct sized_pod *p)
{
	const struct world_pod *wp = world_pod_by_uid(d->world, p->uid);
	return wp != NULL && wp->gpu != NULL && !wp->gpu->beside ? wp : NULL;
}

static bool pod_is_leaving(const struct world_pod *wp)
{
	return wp->deleting || world_pod_terminal(wp);
}

/* What healing does not wait for is for those who need more, and for as long as there are any. Then
 * comes who lacks what his neighbours take. */
static enum roll_cause rollout_cause(
	const struct sized_workload *x, const struct decision *d, const struct sized_pod *mover)
{
	for (struct sized_pod *p = x->members; p != NULL && x->heals; p = p->next) {
		const struct world_pod *wp = counted(d, p);
		if (wp != NULL && !pod_is_leaving(wp) && needs_new_pod(x, p, wp->gpu) &&
			is_in_need(p, wp->gpu)) {
			return ROLL_HEALS;
		}
	}
	return mover != NULL ? ROLL_MOVES : ROLL_SAVES;
}

/* Of a StatefulSet's NAME-N. */
static int32_t ordinal_of(const struct sized_workload *x, const char *name)
{
	int64_t n = 0;
	const char *dash = strrchr(name, '-');
	bool counted = text_equals(x->key.kind, "StatefulSet") && dash != NULL &&
		       parse_i64(view_of(dash + 1), 0, INT32_MAX, &n);
	return counted ? (int32_t)n : 0;
}

static void fill_roll_pod(const struct sized_workload *x, const struct decision *d,
	const struct sized_pod *p, const struct world_pod *wp, struct roll_pod *ret)
{
	const struct world_gpu *g = wp->gpu;
	*ret = (struct roll_pod){
		.uid = world_pod_uid(wp),
		.name = world_pod_name(wp),
		.node = wp->node != WORLD_NONE ? world_node_at(d->world, wp->node)->name : NULL,
		.created_ms = g->created_ms,
		.ready_ms = pods_ready_ms(p, g, d->now_ms),
		.sample_ms = pods_sampled_ms(p),
		.owner = text_equals(x->key.kind, WORKLOAD_GROUP_KIND) ? p->set : 0,
		.irretrievable = p->irretrievable,
		.ordinal = ordinal_of(x, world_pod_name(wp)),
		.restarts = (int32_t)g->restarts,
		.sized = g->class == WORLD_TENANT,
		.leaving = pod_is_leaving(wp),
		.must_stay = g->keeps_node,
	};
}

static void add_pods(const struct sized_workload *x, const struct decision *d, struct arena *a,
	struct rollout_input *ret)
{
	struct roll_pod *pods = ARENA_ARRAY(a, struct roll_pod, x->pods + 1);
	ret->members = ARENA_ARRAY(a, struct sized_pod *, x->pods + 1);
	ret->ask.pods = ret->pods = pods;
	for (struct sized_pod *p = x->members; p != NULL; p = p->next) {
		const struct world_pod *wp = counted(d, p);
		if (wp == NULL) {
			continue;
		}
		/* Is it to be replaced by what is asked? */
		bool meant = p == ret->mover;
		if (ret->ask.cause != ROLL_MOVES) {
			meant = needs_new_pod(x, p, wp->gpu) &&
				(ret->ask.cause != ROLL_HEALS || is_in_need(p, wp->gpu));
		}
		meant = meant && !pod_is_leaving(wp);
		ret->members[ret->ask.pod_count] = p;
		fill_roll_pod(x, d, p, wp, &pods[ret->ask.pod_count]);
		pods[ret->ask.pod_count++].up_to_date = !meant;
		ret->outdated += meant;
	}
}

/* --- the rest --- */

/* What is under way is followed by whatever policy. */
static const struct policy *policy_or_builtin(const struct decision *d)
{
	return d->choice.policy != NULL ? d->choice.policy : policy_builtin();
}

static int64_t measured(const struct sized_workload *x)
{
	int64_t last = 0;
	for (size_t i = 0; i < x->containers.count; i++) {
		last = larger_of(last, x->containers.items[i]->facts.last_ms);
	}
	return last;
}

/* Pods of two ReplicaSets, or ReplicationControllers, are there: a rollout of a person's is under
 * way, or one that is stuck. */
static bool has_two_sets(const struct sized_workload *x)
{
	bool one = text_equals(x->key.kind, "Deployment") ||
		   text_equals(x->key.kind, "DeploymentConfig");
	const struct sized_pod *first = x->members;
	for (const struct sized_pod *p = first; p != NULL; p = p->next) {
		if (one && p->set != first->set) {
			return true;
		}
	}
	return false;
}

bool owner_is_fresh(const struct sized_workload *x, int64_t now_ms, int64_t age_ms)
{
	bool read = standing_api_version(view_of(x->key.group), x->key.kind) != NULL;
	return !read || (x->roll != NULL && x->roll->seen.at_ms != 0 &&
				now_ms - x->roll->seen.at_ms <= age_ms);
}

static void look_at_owner(const struct sized_workload *x, struct roll_ask *ask)
{
	static const struct owner_seen nobody = {0};
	const struct owner_seen *seen = x->roll != NULL ? &x->roll->seen : &nobody;
	bool moves = seen->going || seen->course == STANDING_MOVES;
	bool unread = seen->misses > 0; /* and it is tried again */
	ask->replicas = -1;
	ask->owner = unread || has_two_sets(x) ? ROLL_OWNER_BUSY : ROLL_OWNER_UNKNOWN;
	ask->min_ready_ms = seen->min_ready_s * INT64_C(1000);
	if (seen->known) {
		ask->replicas = seen->wanted;
		if (moves || ask->owner == ROLL_OWNER_BUSY) {
			ask->owner = ROLL_OWNER_BUSY;
		} else if (seen->course == STANDING_STEADY) {
			ask->owner = ROLL_OWNER_STEADY;
		}
	}
	if (ask->replicas >= 0) {
		return;
	}
	/* As many as there are, those that leave too: who comes instead of them is missed. */
	ask->replicas = 0;
	for (uint32_t i = 0; i < ask->pod_count; i++) {
		ask->replicas += ask->pods[i].leaving && ask->pods[i].ready_ms == 0 ? 0 : 1;
	}
}

/* Pod by pod, for those of one workload may be on GPUs of several sizes. Who is to be elsewhere has
 * no use for what he gives back. */
static void look_at_places(const struct rollouts *s, const struct decision *d,
	struct rollout_input *asked, struct share_query *room)
{
	bool beside = asked->ask.room == ROLL_ROOM_OPEN || asked->ask.room == ROLL_ROOM_FREE;
	for (uint32_t i = 0; i < asked->ask.pod_count; i++) {
		struct roll_pod *r = &asked->pods[i];
		const struct sized_pod *p = asked->members[i];
		const struct world_pod *wp = world_pod_by_uid(d->world, p->uid);
		r->fits_after = beside;
		if (r->up_to_date || r->fits_after || p->feed_count != 1 || room->avoided != NULL) {
			continue;
		}
		const struct share has = {wp->gpu->milli, wp->gpu->mem_mib};
		room->want = &p->feeds[0].container->in_force;
		/* One that is whole gives back its GPU, which may be smaller than others. */
		int64_t fits = devices_fits_at(&s->supply->devices, wp->node);
		r->fits_after = p->whole ? fits == 0 || room->want->mib <= fits
					 : shared_gpus_fit_after(&s->supply->shared, room,
						   wp->gpu->capacity_pod, &has);
	}
}

/* By the pod that was made last: the next one is like it. */
static void look_at_newest(struct rollouts *s, const struct sized_workload *x,
	const struct decision *d, struct rollout_input *ret, struct arena *a)
{
	struct pod pod, anew;
	struct roll_ask *ask = &ret->ask;
	const struct policy *policy = policy_or_builtin(d);
	const struct world_pod *wp =
		x->newest != NULL ? world_pod_by_uid(d->world, x->newest->uid) : NULL;
	arena_reset(&s->tracking->scratch);
	if (wp == NULL || !world_pod_unpack(wp, &s->tracking->scratch, &pod)) {
		ask->unsupported = "its pods are not known yet";
		return;
	}
	devices_unpin(&pod, &s->tracking->scratch, &anew);
	const struct share none = {0, 0};
	const struct sized_container *c = healing_sole(x->newest);
	struct share_query room = {.world = d->world,
		.pod = &anew,
		.want = c != NULL ? &c->in_force : &none,
		.devices = &s->supply->devices,
		.mps = policy->isolation == ISOLATION_MPS,
		.sharing_group = sharing_group_of(policy->exclusivity, &x->key),
		.most = policy->max_tenants > 0 ? (uint32_t)policy->max_tenants : 0};
	if (ret->ask.cause == ROLL_MOVES) {
		room.avoided = moves_left(s, ret->mover, d, a, &room.avoided_count);
	}
	if (s->tracking->config.around != NULL) {
		ask->budget = around_budget(s->tracking->config.around, x->key.ns, &pod.labels, a);
	}
	ask->unsupported = next_pod_stays_whole(x, d, &anew, ret, a);
	ask->bare = pod.owner.kind == NULL;
	ask->gang = admit_gang(&pod, podgroups_frees(s->tracking->config.pod_groups, &pod)) != NULL;
	ask->surge_unfit = surges_unfit(s, x, &pod);
	ask->room = shared_gpus_find(&s->supply->shared, &room);
	if (ask->room == ROLL_ROOM_NONE && policy->rollout.may_add_nodes &&
		shared_gpus_could_be_added(&room)) {
		ask->room = ROLL_ROOM_NODE;
	}
	look_at_places(s, d, ret, &room);
}

static void look_at_zones(const struct rollouts *s, struct roll_ask *ask, struct arena *a)
{
	const struct around *around = s->tracking->config.around;
	const struct rollout *r = ask->rollout;
	const struct zone **zones = ARENA_ARRAY(a, const struct zone *, r->window_count + 1);
	for (uint32_t i = 0; i < r->window_count && around != NULL; i++) {
		zones[i] = around_zone(around, r->windows[i].time_zone);
	}
	ask->zones = zones;
}

static bool make_ask(struct rollouts *s, struct sized_workload *x, const struct decision *d,
	struct arena *a, struct rollout_input *ret)
{
	const struct sized_pod *mover = ret->mover;
	const struct roll *roll = x->roll != NULL ? &x->roll->roll : NULL;
	const struct sizer_admission *port = &s->tracking->config.admission;
	enum reason closed =
		port->may_convert != NULL ? port->may_convert(port->data, x->key.ns) : REASON_NONE;
	*ret = (struct rollout_input){.mover = mover,
		.ask = {
			.now_ms = d->now_ms,
			.every_ms = s->tracking->config.round_ms,
			.key = &x->key,
			.revision = x->revision,
			.cause = rollout_cause(x, d, mover),
			.rollout = &policy_or_builtin(d)->rollout,
			.measured_ms = measured(x),
			.scaler = d->resizer,
			.surge_unfit = "its pods are not known yet",
			.gate = s->gate,
			/* The canary is converted whatever C2 says: that it comes back marked tells
			 * nothing of this. */
			.closed = closed != REASON_NONE ? reason_name(closed) : NULL,
		}};
	add_pods(x, d, a, ret);
	bool followed =
		roll != NULL && (roll->doing != ROLL_NOTHING || roll->paused != ROLL_UP_TO_DATE ||
					roll->rolls_back);
	if (ret->outdated == 0 && !followed) {
		return false;
	}
	look_at_zones(s, &ret->ask, a);
	look_at_owner(x, &ret->ask);
	look_at_newest(s, x, d, ret, a);
	return true;
}

/* Why nobody is moved, as far as that is no matter of time; NULL: it is. */
static const char *why_it_stays(const struct rollout_input *asked)
{
	const struct roll_ask *ask = &asked->ask;
	const struct roll_pod *goes = NULL;
	uint32_t ready = 0;
	for (uint32_t i = 0; i < ask->pod_count; i++) {
		goes = asked->members[i] == asked->mover ? &ask->pods[i] : goes;
	}
	for (uint32_t i = 0; goes != NULL && i < ask->pod_count; i++) {
		const struct roll_pod *p = &ask->pods[i];
		ready += !p->leaving && p->ready_ms != 0 && p->owner == goes->owner ? 1 : 0;
	}
	bool last = goes != NULL && goes->ready_ms != 0 && ready < 2 &&
		    (ask->rollout->evicts || ask->surge_unfit != NULL);
	bool kept = goes != NULL && goes->must_stay;
	return goes != NULL && goes->irretrievable ? "its pod would not come back as it is"
	       : kept ? "its pod says by an annotation that it must not be moved"
	       : ask->room == ROLL_ROOM_NONE ? "no other GPU has room for the new pod"
	       : last			     ? "it is the last Ready replica"
					     : NULL;
}

/* Then what saves goes on: where room is missing it is what makes some. */
static void make_without(struct rollouts *s, struct sized_workload *x, struct decision *d,
	struct arena *a, struct rollout_input *ret)
{
	struct rollout_input other = {.mover = NULL};
	const char *why = ret->ask.cause == ROLL_MOVES ? why_it_stays(ret) : NULL;
	if (why == NULL || !make_ask(s, x, d, a, &other) || other.outdated == 0) {
		return;
	}
	*ret = other;
	d->moves = arena_printf(a, "%s; %s", why, roll_again(s->tracking->config.round_ms, a));
}

bool rollout_input_make(struct rollouts *s, struct sized_workload *x, struct decision *d,
	struct arena *a, struct rollout_input *ret)
{
	char when[TIME_TEXT_MAX];
	int64_t next_ms;
	ret->mover = moves_pick(s, x, d, &next_ms);
	if (ret->mover == NULL && next_ms != 0) {
		d->moves = arena_printf(a, "if that lasts, its pod goes to another GPU from %s on",
			time_format(next_ms, when));
	}
	if (!make_ask(s, x, d, a, ret)) {
		return false;
	}
	make_without(s, x, d, a, ret);
	return true;
}
