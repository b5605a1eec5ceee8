/* Pods: what all of a workload's have, and what each of them uses. */
#include "sizer/workload_pods.h"

#include "base/number.h"
#include "healing/failed_containers.h"
#include "resize_request.h"
#include "sizer_state.h"
#include "tracking/container_use.h"
#include "tracking/pod_owner.h"
#include "tracking/pod_table.h"
#include "tracking/workload_table.h"
#include "world/pods.h"

/* --- runs --- */

/* Runs are pods that end because their work is done. Batch, training and builds are sized by them,
 * so each counts once for its container, by whoever leads when it ends. */

/* One that was told to go exits as well as it can. */
static bool run_succeeded(const struct world_pod *wp)
{
	return wp != NULL && wp->phase == POD_SUCCEEDED && !wp->graceful;
}

static void add_run(struct sized_container *c, int64_t created_ms, bool known)
{
	if (history_add_run(c->history, created_ms, known)) {
		c->save.samples = -1; /* that is worth a checkpoint */
	}
}

/* What a failed one would have used nobody knows. But builds are ended by their runner, who deletes
 * their pods, and one that fails has built as well. */
void runs_end(struct sized_pod *p, const struct world_pod *wp)
{
	if (!run_succeeded(wp) && p->of->type != WORKLOAD_BUILD) {
		return;
	}
	for (uint8_t i = 0; i < p->feed_count; i++) {
		add_run(p->feeds[i].container, p->created_ms, true);
	}
}

/* It had ended before anything was looked at: nobody may have counted it. */
static void runs_recall(struct tracking *s, const struct world_pod *wp)
{
	struct pod pod;
	struct workload w;
	arena_reset(&s->scratch);
	if (!run_succeeded(wp) || wp->gpu->container == NULL ||
		!world_pod_unpack(wp, &s->scratch, &pod)) {
		return;
	}
	workload_of(s->config.groups, s->config.owners, &pod, &s->scratch, &w);
	if (w.key.name == NULL || w.top.pending) {
		return;
	}
	/* Of a workload that nobody knows nothing was measured: none is made. */
	struct sized_workload *x =
		sized_find(s, w.key.ns, workload_object_name(&w.key, &s->scratch));
	struct sized_container *c = x != NULL ? sized_container_find(x, wp->gpu->container) : NULL;
	if (c != NULL) {
		add_run(c, wp->gpu->created_ms, false);
	}
}

/* --- what they have --- */

static void begin_tally(struct sized_workload *x, uint32_t round)
{
	if (x->round == round) {
		return;
	}
	x->round = round;
	x->multi = x->parted = x->vain = false;
	x->newest = NULL;
	resize_counts_clear(x);
	for (size_t i = 0; i < x->containers.count; i++) {
		x->containers.items[i]->tally = (struct pod_tally){0};
	}
}

static void tally_tenant(struct pod_tally *t, const struct world_gpu *g, const struct share *want)
{
	int64_t devices = larger_of(g->devices, 1);
	small_raise(&t->original, devices * MODEL_GPU_MILLI, 0);
	if (g->milli == 0) {
		t->pending++;
		return;
	}
	t->running++;
	small_raise(&t->allocated, g->milli, g->mem_mib);
	small_raise(&t->heal.granted, g->milli, g->mem_mib);
	t->saved_milli += devices * (MODEL_GPU_MILLI - g->milli);
	t->up_to_date += want->milli == g->milli && want->mib == g->mem_mib;
}

static void tally_whole(struct pod_tally *t, const struct world_pod *wp, const struct share *want,
	int64_t device_mib)
{
	int64_t milli = larger_of(wp->gpu->gpus, 1) * MODEL_GPU_MILLI;
	t->whole = true;
	small_raise(&t->original, milli, device_mib);
	if (wp->phase != POD_RUNNING) {
		t->pending++;
		return;
	}
	t->running++;
	small_raise(&t->allocated, milli, device_mib);
	t->up_to_date += want->milli >= MODEL_GPU_MILLI;
}

/* C35. The first time it counts from when it was told, so that another leader goes on. */
static void note_vain(struct sized_pod *p, const struct world_pod *wp, int64_t now_ms)
{
	const struct world_gpu *g = wp->gpu;
	if (!pods_wait_in_vain(p, wp)) {
		return;
	}
	int64_t since_ms = g->told_ms < now_ms && g->told_ms > 0 ? g->told_ms : now_ms;
	p->of->vain = true;
	p->of->vain_s = p->of->vain_s != 0 ? p->of->vain_s : (uint32_t)(since_ms / 1000);
}

static void tally(const struct supply *supply, struct sized_pod *p, const struct world_pod *wp,
	int64_t now_ms)
{
	const struct world_gpu *g = wp->gpu;
	note_vain(p, wp, now_ms);
	struct sized_feed *f = g->container != NULL ? pods_feed(p, g->container) : NULL;
	if (f == NULL) {
		return;
	}
	struct sized_container *c = f->container;
	struct history_kept *kept = history_kept(c->history);
	if (p->ahead || p->told_memory) {
		kept->memory_class = MEMORY_PREALLOCATED;
	}
	c->seen_ms = now_ms;
	c->tally.pods++;
	if (g->class == WORLD_TENANT) {
		tally_tenant(&c->tally, g, &c->in_force);
	} else {
		tally_whole(&c->tally, wp, &c->in_force, supply_gpu_mib(supply, p->heal.node));
	}
}

void pods_settle(struct sizer *s, struct sized_pod *p, int64_t now_ms)
{
	for (uint8_t i = 0; i < p->feed_count; i++) {
		history_settle(p->feeds[i].container->history, &p->feeds[i].feed, now_ms);
	}
	healing_tally(&s->healing, p, now_ms);
	for (uint8_t i = 0; i < p->feed_count; i++) {
		moves_tally(&s->supply.gpus, p, &p->feeds[i].heal, now_ms);
	}
}

static void note_share(struct sized_pod *p, const struct world_gpu *g)
{
	p->mps = g->class == WORLD_TENANT && g->mps;
	p->changes = g->class == WORLD_TENANT && !g->mps;
}

void pods_see(struct sizer *s, const struct world_pod *wp, int64_t now_ms)
{
	const struct world_gpu *g = wp->gpu;
	if (world_pod_terminal(wp) || wp->deleting) {
		if (!s->recalled && pods_find(&s->tracking, world_pod_uid(wp)) == NULL) {
			runs_recall(&s->tracking, wp);
		}
		return;
	}
	bool alone = false;
	struct sized_pod *p = pods_assigned(&s->tracking, wp, &alone);
	if (p == NULL) {
		if (alone) {
			(void)strangers_count(&s->strangers, NULL, world_pod_milli(wp));
		}
		return;
	}
	struct sized_workload *x = p->of;
	begin_tally(x, s->tracking.round);
	if (x->strange) {
		(void)strangers_count(&s->strangers, &x->key, world_pod_milli(wp));
	}
	p->round = s->tracking.round;
	p->heal.node = wp->node;
	p->whole = g->class != WORLD_TENANT;
	p->parted = g->container == NULL;
	p->created_ms = g->created_ms;
	p->ready_ms = pods_ready_ms(p, g, now_ms);
	p->told_memory = g->told_memory;
	p->heal.gpu = gpus_at(&s->supply.gpus, g->uuid);
	note_share(p, g);
	x->seen_ms = now_ms;
	x->parted = x->parted || p->parted;
	x->multi = x->multi || p->parted || g->gpus > 1 || g->devices > 1;
	if (x->newest == NULL || p->created_ms > x->newest->created_ms) {
		x->newest = p;
	}
	tally(&s->supply, p, wp, now_ms);
	healing_see(&s->healing, p, wp, now_ms);
	resize_counts_add(&s->tracking.config.engine, p);
}

void sizer_see(struct sizer *s, const struct world_pod *wp, int64_t now_ms)
{
	struct sized_pod *p = wp->gpu != NULL ? pods_find(&s->tracking, world_pod_uid(wp)) : NULL;
	if (p != NULL && (world_pod_terminal(wp) || wp->deleting)) {
		healing_over(&s->healing, p, wp, now_ms);
	} else if (p == NULL && wp->gpu != NULL && world_pod_terminal(wp)) {
		healing_unseen(&s->healing, wp, now_ms);
	} else if (p != NULL) {
		p->ready_ms = pods_ready_ms(p, wp->gpu, now_ms);
		note_share(p, wp->gpu);
		healing_see(&s->healing, p, wp, now_ms);
	}
}

/* --- what they use --- */

static void classify(const struct supply *supply, const struct sized_pod *p, struct sized_feed *f,
	const struct history_sample *sample, bool hinted)
{
	struct history_kept *kept = history_kept(f->container->history);
	if (kept->memory_class != MEMORY_UNDECIDED && !hinted) {
		return;
	}
	struct prealloc_look look = {
		.hinted = hinted,
		.owns_device = p->whole,
		.started_ms = p->created_ms,
		.used_mib = sample->mem_bytes != METERED_ABSENT ? sample->mem_bytes >> 20
								: METERED_ABSENT,
		.visible_mib = supply_gpu_mib(supply, p->heal.node),
		.now_ms = sample->at_ms,
	};
	kept->memory_class = (uint8_t)prealloc_classify(
		(enum memory_class)kept->memory_class, &f->memory.watch, &look);
}

static void take_figure(struct sizer *s, struct sized_pod *p, const struct sizer_use *use,
	const struct metered_figure *f, int64_t now_ms)
{
	struct history_sample sample = {
		.source = {use->source, f->estimated, f->basis},
		.at_ms = f->at_ms,
		.compute = f->compute,
		.wall = p->mps && p->heal.share.milli > 0
				? (int64_t)p->heal.share.milli * (METERED_FULL / MODEL_GPU_MILLI)
				: METERED_FULL,
		.mem_bytes = f->mem_bytes,
	};
	struct sized_feed *feed = f->container != NULL ? pods_feed(p, f->container) : NULL;
	if (feed == NULL || !feed->container->fitted) {
		return;
	}
	feed->container->seen_ms = now_ms;
	if (history_take(feed->container->history, &feed->feed, &sample, now_ms)) {
		classify(&s->supply, p, feed, &sample, pools_told(use->app));
		healing_take(&s->healing, p, feed, &sample,
			use->app != NULL ? use->app->waiting : METERED_ABSENT);
	}
}

/* Sidecars are not sized: the share is the pod's, and its container's that has the GPU. */
bool sizer_take(struct sizer *s, const struct sizer_use *use, int64_t now_ms)
{
	struct metered_figure f;
	struct sized_pod *p = pods_find(&s->tracking, use->uid);
	if (p == NULL) {
		unowned_pods_take(&s->healing.unowned_pods, use);
		return false;
	}
	const struct sized_container *sole = healing_sole(p);
	if (!p->parted && sole != NULL && uses_pod(use, sole->name, &f)) {
		f.container = sole->name;
		take_figure(s, p, use, &f, now_ms);
	}
	for (uint32_t i = 0; p->parted && i < use->figure_count; i++) {
		if (uses_container(use, i, &f)) {
			bool named = f.container[0] != '\0';
			f.container = named ? f.container : sole != NULL ? sole->name : NULL;
			take_figure(s, p, use, &f, now_ms);
		}
	}
	pools_take(p, use, now_ms);
	return true;
}
