/* One Deployment of one pod on a whole GPU whose pod is replaced by one beside it, and a cluster
 * that does what the tasks of the surge say. */
#ifndef UNIT_SIZER_STAGED_H
#define UNIT_SIZER_STAGED_H

#include "played.h"

#include "rollouts/surges.h"

#define WEB	  "deployment-web"
#define READY_AT  (20 * INT64_C(1000))
#define TASKS_MAX 4096

/* What the cluster is like, and what was asked of it. */
struct staged {
	struct played played; /* first: its bed knows it as that */
	struct surge_seen seen;
	bool old_there, cheap, fresh_there, adopted;
	bool takes_another; /* the ReplicaSet deletes neither, */
	bool takes_fresh;   /* the new one at once, and nobody saw it adopted, */
	bool labelled;	    /* the new one has its label, */
	bool ends_labelled; /* and ends before anybody adopts it */
	int64_t late_ms;    /* or the old one so late; 0: at once */
	int64_t adopted_ms;
	bool failed;	  /* the new one */
	bool late;	  /* or it is never Ready, */
	bool behind;	  /* since it waits behind somebody, and says so */
	bool fails_cheap; /* once the old one is cheap */
	char fresh[64];
	int64_t fresh_ms;
	int creates;
	struct fault refuses; /* a create */
	struct fault unread;
	int64_t slow_ms;	 /* reading takes so long */
	bool unready_once_cheap; /* another pod of the ReplicaSet */
	bool unready_shown;	 /* the old one, to the watch alone */
	char tasks[TASKS_MAX];
};

static inline void show(struct staged *g, bool old)
{
	struct played *p = &g->played;
	struct container main = {.name = "main", .gpus = 1};
	struct pair hash[] = {{"pod-template-hash", "1234abcd"}};
	struct pair cheap[] = {{NOTE_SURGED_BY, g->fresh}};
	const char *gate[] = {NAME_GATE};
	struct pair labels[] = {{LABEL_SURGE, p->pods[0].name}, {LABEL_TENANT, "true"},
		{"pod-template-hash", "1234abcd"}};
	struct pair notes[] = {{NOTE_COMPUTE_MILLI, "300"}, {NOTE_CONTAINER, "main"},
		{NOTE_GPU_UUID, "GPU-1"}, {NOTE_MEMORY_MIB, "7168"},
		{NOTE_RECOMMENDATION, "deployment-web@1"}, {NOTE_SURGE_GENERATION, "1"},
		{NOTE_SURGE_HASH, "1234abcd"}};
	bool ready = !g->late && p->bed->now.wall_ms >= g->fresh_ms + READY_AT;
	struct pod pod = {.ns = "team",
		.name = old ? p->pods[0].name : g->fresh,
		.uid = old ? p->pods[0].name : "fresh-uid",
		.resource_version = "1",
		.node = p->pods[0].node,
		.phase = !old && g->failed ? POD_FAILED : POD_RUNNING,
		.ready = old ? !g->unready_shown : ready && !g->failed,
		.created_ms = old ? p->pods[0].created_ms : g->fresh_ms,
		.owner = {"apps/v1", "ReplicaSet", "web-1234abcd", "rs"}};
	if (old) {
		pod.containers = &main;
		pod.container_count = 1;
		pod.gpus = 1;
		pod.labels = (struct pairs){hash, 1};
		pod.notes = (struct pairs){cheap, g->cheap ? 1 : 0};
		pod.surged = g->cheap;
	} else {
		pod.labels = (struct pairs){labels, g->adopted || g->labelled ? 3 : 2};
		pod.notes = (struct pairs){notes, COUNT_OF(notes)};
		pairs_sort(&pod.notes);
		pod.beside = !g->adopted;
		pod.phase = g->behind ? POD_PENDING : pod.phase;
		pod.gates = gate;
		pod.gate_count = g->behind ? 1 : 0;
		pod.placed.type = g->behind ? NAME_PLACED : NULL;
		pod.placed.reason = reason_name(REASON_WHOLE_POD_FIRST);
		pod.placed.message = "kept for team/whole-13";
		g->seen.ready_ms = ready ? g->fresh_ms + READY_AT : 0;
	}
	struct change c = {.kind = KIND_POD, .pod = &pod};
	bed_world(p->bed, &c);
}

static inline void gone(struct staged *g, const char *name, const char *uid)
{
	struct change c = {
		.type = CHANGE_GONE, .kind = KIND_POD, .ns = "team", .name = name, .uid = uid};
	world_apply(g->played.bed->world, &c);
}

/* The one that is too many. */
static inline void delete_one(struct staged *g)
{
	bool due = g->adopted && g->played.bed->now.wall_ms >= g->adopted_ms + g->late_ms;
	if (due && g->old_there && !g->takes_another) {
		g->old_there = false;
		gone(g, g->played.pods[0].name, g->played.pods[0].name);
		g->played.pods[0].there = false;
	}
}

/* As the API server and the controller of ReplicaSets do it. */
static inline void carry_out(struct bed *b, const struct action *a, struct outcome *o)
{
	struct staged *g = b->cluster;
	enum surge_task task = a->surge->task;
	if (task != SURGE_TASK_LOOK) {
		size_t n = strlen(g->tasks);
		snprintf(g->tasks + n, TASKS_MAX - n, "%s ", action_name(a));
	}
	switch (task) {
	case SURGE_TASK_READ:
		b->now.wall_ms += g->slow_ms;
		b->now.mono_ms += g->slow_ms;
		b->now.policy_ms += g->slow_ms;
		/* fall through */
	case SURGE_TASK_LOOK:
		o->fault = g->unread;
		o->seen = g->unread.kind == FAULT_NONE ? &g->seen : NULL;
		return;
	case SURGE_TASK_CREATE:
		g->creates++;
		if (g->refuses.kind != FAULT_NONE) {
			o->fault = g->refuses;
			return;
		}
		snprintf(g->fresh, sizeof g->fresh, "%s", a->name);
		g->fresh_there = true;
		g->fresh_ms = b->now.wall_ms;
		show(g, false);
		return;
	case SURGE_TASK_LOWER_COST:
	case SURGE_TASK_RESTORE:
		g->cheap = task == SURGE_TASK_LOWER_COST;
		g->failed = g->failed || (g->cheap && g->fails_cheap);
		g->seen.live.all_ready = !(g->cheap && g->unready_once_cheap);
		show(g, true);
		return;
	case SURGE_TASK_ADOPT:
		if (g->takes_fresh) {
			g->fresh_there = false;
			gone(g, g->fresh, "fresh-uid");
			return;
		}
		if (g->ends_labelled) {
			g->labelled = g->failed = true;
			show(g, false);
			return;
		}
		g->adopted = true;
		g->adopted_ms = b->now.wall_ms;
		show(g, false);
		delete_one(g);
		return;
	case SURGE_TASK_DROP:
		g->fresh_there = false;
		gone(g, g->fresh, "fresh-uid");
		return;
	}
}

static inline void init(struct staged *g)
{
	*g = (struct staged){.old_there = true};
	played_init(&g->played, "Deployment", 1);
	struct bed *b = g->played.bed;
	b->surge = carry_out;
	b->cluster = g;
	b->rollout.evicts = false;
	g->seen = (struct surge_seen){.current = true, .replicas = 1, .generation = 1};
	g->seen.live = (struct surge_live){.same_set = true,
		.spec_replicas = 1,
		.status_replicas = 1,
		.all_ready = true,
		.budget_allows = true};
	sizer_may_surge(b->sizer, SIZER_SURGE_ALLOWED);
	played_automate(&g->played);
}

/* Seconds, one step each. */
static inline void pass(struct staged *g, int seconds)
{
	struct played *p = &g->played;
	for (int i = 0; i < seconds; i++) {
		struct roll_gate gate = {true, p->leads_since_ms, p->bed->now.policy_ms, true};
		sizer_gate(p->bed->sizer, &gate);
		bed_pass(p->bed, 1000);
		delete_one(g);
		if (g->fresh_there) {
			show(g, false);
			(void)bed_use(p->bed, "fresh-uid", 20, 6144);
		}
		if (g->old_there && i % 30 == 0) {
			(void)bed_use(p->bed, p->pods[0].name, 20, 6144);
		}
		do {
			bed_step(p->bed);
		} while (p->bed->plan.unfinished);
	}
}

static inline void until(struct staged *g, const char *task)
{
	for (int i = 0; i < 300 && strstr(g->tasks, task) == NULL; i++) {
		pass(g, 1);
	}
	cr_assert(strstr(g->tasks, task) != NULL, "no %s: %s", task, g->tasks);
}

static inline void finish(struct staged *g)
{
	bed_free(g->played.bed);
}

#endif
