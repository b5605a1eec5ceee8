/* Containers that ended with an error: was it for want of memory, and who took it? */
#include "healing/failed_containers.h"

#include <stdio.h>

#include "base/number.h"
#include "size/blame.h"
#include "tracking/pod_owner.h"
#include "tracking/pod_table.h"
#include "tracking/workload_table.h"

/* Two looks of an agent, and an answer: until then nobody knows who took the memory. */
#define JUDGE_AFTER_MS 5000
/* What ended longer ago than this when its pod was first seen was seen by another process. */
#define NEWS_FOR_MS 60000
#define EXITS_MAX   256

/* What is asked of it later is kept here: its pod may be gone when it is judged. */
static void queue_end(struct healing *s, struct heal_ended e, const char *uid,
	const struct world_gpu *g, int64_t at)
{
	snprintf(e.uid, sizeof e.uid, "%s", uid);
	e.told = g->gpu_oom_ms == at;
	e.contended = g->contention_shown;
	e.at_ms = at;
	/* one of several GPUs is not sized */
	if (g->uuid != NULL && strlen(g->uuid) < sizeof e.uuid) {
		memcpy(e.uuid, g->uuid, strlen(g->uuid) + 1);
		VEC_PUSH(&s->alarms.ends, e);
	}
}

/* Those that were judged give way. */
static bool ends_are_full(struct healing *s)
{
	for (size_t i = s->alarms.ends.count; s->alarms.ends.count >= EXITS_MAX && i-- > 0;) {
		if (s->alarms.ends.items[i].judged) {
			VEC_REMOVE_SWAP(&s->alarms.ends, i);
		}
	}
	return s->alarms.ends.count >= EXITS_MAX;
}

static void see_exit(
	struct healing *s, struct sized_pod *p, const struct world_gpu *g, int64_t at, int64_t now)
{
	int64_t age = now - at;
	if (at <= p->heal.exit_ms || ends_are_full(s)) {
		return;
	}
	bool news = p->seen || (age < NEWS_FOR_MS && age > -NEWS_FOR_MS);
	p->heal.exit_ms = at;
	if (!news || p->heal.share.mib <= 0 || !p->advised) {
		return;
	}
	const struct sized_feed *f = &p->feeds[0];
	bool known = f->heal.most_ms > 0 && now - f->heal.most_ms <= HEALING_USED_MS;
	const struct heal_ended e = {.of = p->of,
		.container = f->container,
		.used_mib = known ? f->heal.most_mib : METERED_ABSENT,
		.share_mib = p->heal.share.mib,
		.node = p->heal.node,
		.first = !p->seen,
		.mps = p->mps};
	queue_end(s, e, p->uid, g, at);
}

void healing_ended(
	struct healing *s, struct sized_pod *p, const struct world_gpu *g, int64_t now_ms)
{
	see_exit(s, p, g, larger_of(g->gpu_oom_ms, g->failed_ms), now_ms);
}

/* Who is told to go exits as well as it can, and that is no error. */
static int64_t last_failure_ms(const struct world_pod *wp)
{
	const struct world_gpu *g = wp->gpu;
	return wp->deleting ? g->gpu_oom_ms : larger_of(g->gpu_oom_ms, g->failed_ms);
}

/* One that was judged stays for as long as its end is news: it is told again and again, and its
 * neighbours are others by then. */
static bool is_noted(const struct healing *s, const char *uid, int64_t at)
{
	for (size_t i = 0; i < s->alarms.ends.count; i++) {
		const struct heal_ended *e = &s->alarms.ends.items[i];
		if (text_equals(e->uid, uid) && (!e->judged || at <= e->at_ms)) {
			return true;
		}
	}
	return false;
}

void healing_unseen(struct healing *s, const struct world_pod *wp, int64_t now_ms)
{
	const struct world_gpu *g = wp->gpu;
	const char *uid = world_pod_uid(wp);
	int64_t at = last_failure_ms(wp), age = now_ms - at;
	bool share = g->class == WORLD_TENANT && g->mem_mib > 0 && g->container != NULL;
	if (!share || at == 0 || age >= NEWS_FOR_MS || age <= -NEWS_FOR_MS ||
		is_noted(s, uid, at) || ends_are_full(s)) {
		return;
	}
	bool advised = false;
	struct sized_workload *x = pods_workload(s->tracking, wp, &advised);
	struct sized_container *c =
		x != NULL && advised ? sized_container_find(x, g->container) : NULL;
	if (c != NULL) {
		int64_t since_ms = now_ms - HEALING_USED_MS;
		const struct heal_ended e = {.of = x,
			.container = c,
			.used_mib = unowned_pods_used(&s->unowned_pods, uid, since_ms),
			.share_mib = g->mem_mib,
			.node = wp->node,
			.first = true,
			.mps = g->mps};
		queue_end(s, e, uid, g, at);
	}
}

void healing_over(
	struct healing *s, struct sized_pod *p, const struct world_pod *wp, int64_t now_ms)
{
	const struct world_gpu *g = wp->gpu;
	if (healing_sole(p) != NULL) {
		see_exit(s, p, g, last_failure_ms(wp), now_ms);
	}
}

/* --- who took it --- */

/* Of all its containers; METERED_ABSENT: not known. */
static int64_t tenant_used_mib(const struct healing *s, const struct world_pod *wp, int64_t now_ms)
{
	const struct sized_pod *p = pods_find(s->tracking, world_pod_uid(wp));
	int64_t since_ms = now_ms - HEALING_USED_MS, sum = METERED_ABSENT;
	if (wp->phase == POD_PENDING) {
		return 0; /* none of its containers has begun: it may pull its image for long */
	}
	if (p == NULL) {
		return unowned_pods_used(&s->unowned_pods, world_pod_uid(wp), since_ms);
	}
	for (uint8_t i = 0; i < p->feed_count; i++) {
		const struct heal_feed *f = &p->feeds[i].heal;
		if (f->at_ms > 0 && f->at_ms >= since_ms) {
			sum = larger_of(sum, 0) + f->mib;
		}
	}
	return sum;
}

/* One of its node. Whoever was made since then, its own next run before all, took nothing. */
static bool shares_gpu_with(const struct heal_ended *e, const struct world_pod *wp)
{
	return wp->gpu->created_ms <= e->at_ms && wp->gpu->milli > 0 && !world_pod_terminal(wp) &&
	       text_equals(wp->gpu->uuid, e->uuid) && !text_equals(world_pod_uid(wp), e->uid);
}

static enum blame blame_for(
	const struct healing *s, const struct world *w, const struct heal_ended *e, int64_t now_ms)
{
	struct blame_user users[MODEL_GRANTS_MAX];
	uint32_t count = 1;
	if (e->mps) {
		return BLAME_OWN;
	}
	/* Whoever looks for contention may have found it since then. */
	const struct world_pod *own = world_pod_by_uid(w, e->uid);
	if (e->contended || (own != NULL && own->gpu != NULL && own->gpu->contention_shown)) {
		return BLAME_OTHERS;
	}
	users[0] = (struct blame_user){e->share_mib, METERED_ABSENT};
	const struct world_node *n =
		e->node < world_node_slots(w) ? world_node_at(w, e->node) : NULL;
	for (size_t i = 0; n != NULL && i < n->tenants.count; i++) {
		const struct world_pod *p = world_pod_at(w, n->tenants.items[i]);
		if (shares_gpu_with(e, p) && count < COUNT_OF(users)) {
			users[count++] =
				(struct blame_user){p->gpu->mem_mib, tenant_used_mib(s, p, now_ms)};
		}
	}
	return blame_out_of_memory(users, count, 0);
}

static void judge_end(
	struct healing *s, const struct heal_ended *e, const struct world *w, int64_t now)
{
	struct heal_exit ended = {
		.told = e->told, .used_mib = e->used_mib, .share_mib = e->share_mib};
	/* An outcome of the previous step is already counted. */
	bool old = e->first && e->at_ms <= healing_of(e->container)->state.memory.last_ms;
	if (!heal_exit_is_memory(&ended) || old) {
		return;
	}
	enum blame blame = blame_for(s, w, e, now);
	struct heal_record *h = healing_touch(e->container);
	bool first = !h->denied;
	h->blame = first || blame == BLAME_OWN ? (uint8_t)blame : h->blame;
	h->denied = true;
	h->denied_mib = larger_int32(first ? 0 : h->denied_mib, e->used_mib);
	h->denied_of_mib = larger_int32(first ? 0 : h->denied_of_mib, e->share_mib);
	healing_alert(&s->alarms, e->of);
}

void healing_judge(struct healing *s, const struct world *w, struct sizer_now now)
{
	for (size_t i = s->alarms.ends.count; i-- > 0;) {
		struct heal_ended *e = &s->alarms.ends.items[i];
		if (e->due_ms == 0) {
			e->due_ms = now.mono_ms + JUDGE_AFTER_MS;
		}
		if (!e->judged && now.mono_ms >= e->due_ms) {
			judge_end(s, e, w, now.policy_ms);
			e->judged = true;
		}
		if (e->judged && now.policy_ms - e->at_ms >= NEWS_FOR_MS) {
			VEC_REMOVE_SWAP(&s->alarms.ends, i);
		}
	}
}

int64_t healing_deadline(const struct healing *s)
{
	bool looks = s->alarms.any || s->alarms.look != HEAL_LOOK_RESTS;
	int64_t at = looks ? 0 : TIME_NEVER;
	for (size_t i = 0; i < s->alarms.ends.count; i++) {
		const struct heal_ended *e = &s->alarms.ends.items[i];
		at = e->judged ? at : time_min(at, e->due_ms);
	}
	return at;
}
