/* A cluster that is played: owners that make anew what is evicted, a webhook that gives a share to
 * what is made, a kubelet that has it Ready after a while, an agent that measures it, and a
 * disruption budget. */
#ifndef UNIT_SIZER_PLAYED_H
#define UNIT_SIZER_PLAYED_H

#include "bed.h"

#define PLAYED_PODS  64
#define PLAYED_READY (40 * INT64_C(1000)) /* from its creation to Ready */
#define PLAYED_FULL  INT64_C(81920)

struct played_pod {
	char name[48], app[32], node[32], gpu[24];
	enum reason hangs;		    /* as the cluster's */
	bool there, whole, ready, careless; /* careless: nobody may move it */
	int64_t milli, mib;
	int64_t created_ms;
	uint32_t restarts;
	int64_t oom_ms; /* a GPU had no memory left for it then; 0: never */
};

struct played {
	struct bed *bed;
	struct played_pod pods[PLAYED_PODS];
	const char *kind; /* of the owners */
	const char *gpu;  /* that tenants that are made get; NULL: each its own */
	int made;
	enum reason hangs;  /* tenants that are made stay at our gate for it; NONE: they do not */
	bool webhook, sick; /* sizes what is made; what is made is never Ready */
	int percent;	    /* that all of them use */
	bool mps, told_memory, unadvised; /* tenants are */
	bool fills;			  /* whoever has a share uses all its memory */
	bool excluded;			  /* by an annotation of each */
	const char *pod_group;		  /* of each; NULL: none */
	struct pair note;		  /* another one of each; key NULL: none */
	const char *ns;			  /* of all; NULL: "team" */
	bool reached;			  /* the webhook is, by the canary */
	int64_t seen_ms;		  /* and was last; 0: now */
	int64_t leads_since_ms;
	int min_available;		 /* of its budget */
	int64_t most_milli, least_milli; /* as admission bounds by the policy; 0: it does not */
	int refusals, most_away;
};

static inline const char *played_api(const char *kind)
{
	bool apps = text_equals(kind, "Deployment") || text_equals(kind, "StatefulSet") ||
		    text_equals(kind, "DaemonSet");
	return apps				 ? "apps/v1"
	       : text_equals(kind, "Rollout")	 ? "argoproj.io/v1alpha1"
	       : text_equals(kind, "PyTorchJob") ? "kubeflow.org/v1"
	       : text_equals(kind, "Job")	 ? "batch/v1"
						 : "x/v1";
}

/* At our gate, and told so 10 s after it was made. */
static inline void played_hang(const struct played_pod *it, struct pod *pod, struct pair *notes)
{
	static const char *gates[] = {NAME_GATE};
	pod->gates = gates;
	pod->gate_count = 1;
	pod->node = "";
	pod->phase = POD_PENDING;
	pod->placed = (struct pod_condition){.type = NAME_PLACED,
		.reason = reason_name(it->hangs),
		.since_ms = it->created_ms + 10000};
	notes[0] = (struct pair){NOTE_ORIGINAL, "{}"};
	notes[2] = (struct pair){NAME_GROUP "/x", "1"};
	notes[3] = (struct pair){NAME_GROUP "/y", "1"};
}

static inline void played_show(struct played *p, const struct played_pod *it)
{
	char owner[64], share[32], memory[32];
	bool set = text_equals(p->kind, "Deployment");
	struct pair labels[] = {{LABEL_TENANT, "true"}, {"pod-template-hash", "1234abcd"}};
	struct pair plain[] = {{"pod-template-hash", "1234abcd"}};
	struct container main = {.name = "main", .gpus = 1};
	snprintf(owner, sizeof owner, set ? "%s-1234abcd" : "%s", it->app);
	snprintf(share, sizeof share, "%lld", (long long)it->milli);
	snprintf(memory, sizeof memory, "%lld", (long long)it->mib);
	struct pair notes[8] = {{NOTE_COMPUTE_MILLI, share}, {NOTE_CONTAINER, "main"},
		{NOTE_GPU_UUID, it->gpu}, {NOTE_MEMORY_MIB, memory}};
	uint32_t note_count = 4;
	if (!p->unadvised) {
		notes[note_count++] = (struct pair){NOTE_RECOMMENDATION, "deployment-web@1"};
	}
	if (p->mps) {
		notes[note_count++] = (struct pair){NOTE_ISOLATION, ISOLATION_MPS_TEXT};
	}
	if (p->told_memory) {
		notes[note_count++] = (struct pair){NOTE_FRAMEWORK_MEMORY, "0.300"};
	}
	struct pod pod = {.ns = text_or(p->ns, "team"),
		.name = it->name,
		.uid = it->name,
		.resource_version = "1",
		.node = it->node,
		.phase = POD_RUNNING,
		.ready = it->ready,
		.keeps_node = it->careless,
		.created_ms = it->created_ms,
		.gpu_container = "main",
		.gpu_oom_ms = it->oom_ms,
		.failed_ms = it->oom_ms,
		.restarts = it->restarts + (it->oom_ms != 0 ? 1 : 0),
		.has_group = p->pod_group != NULL,
		.group_name = p->pod_group,
		.owner = {played_api(p->kind), set ? "ReplicaSet" : p->kind, owner, "rs"}};
	struct pair exclude[] = {{NOTE_EXCLUDE, "true"}};
	if (p->excluded) {
		notes[note_count++] = exclude[0];
		pod.notes = (struct pairs){exclude, 1};
	}
	if (p->note.key != NULL) {
		notes[note_count++] = p->note;
		pod.notes = (struct pairs){&p->note, 1};
	}
	if (it->whole) {
		pod.containers = &main;
		pod.container_count = 1;
		pod.gpus = 1;
		pod.labels = (struct pairs){plain, 1};
	} else {
		pod.labels = (struct pairs){labels, 2};
		if (it->hangs != REASON_NONE) {
			played_hang(it, &pod, notes);
		}
		pod.notes = (struct pairs){notes, note_count};
		pairs_sort(&pod.notes);
	}
	struct change c = {.kind = KIND_POD, .pod = &pod};
	bed_world(p->bed, &c);
}

static inline struct played_pod *played_make(struct played *p, const char *app, bool whole)
{
	struct played_pod *it = NULL;
	for (size_t i = 0; i < PLAYED_PODS && it == NULL; i++) {
		it = p->pods[i].there ? NULL : &p->pods[i];
	}
	cr_assert_not_null(it);
	*it = (struct played_pod){
		.there = true, .whole = whole, .created_ms = p->bed->now.policy_ms};
	snprintf(it->name, sizeof it->name, "%s-%d", app, p->made);
	snprintf(it->app, sizeof it->app, "%s", app);
	snprintf(it->gpu, sizeof it->gpu, "GPU-of-%d", p->made);
	if (p->gpu != NULL) {
		snprintf(it->gpu, sizeof it->gpu, "%s", p->gpu);
	}
	snprintf(it->node, sizeof it->node, "node-%d", p->made++);
	if (!whole) {
		/* as the recommendation that is shown says */
		char object[64];
		snprintf(object, sizeof object, "deployment-%s", app);
		const struct bed_object *o = bed_object(p->bed, object);
		it->milli = o != NULL && o->r.container_count > 0 ? o->r.containers[0].target.milli
								  : 300;
		it->mib = o != NULL && o->r.container_count > 0 ? o->r.containers[0].target.mib
								: 7168;
		it->milli =
			p->most_milli > 0 && it->milli > p->most_milli ? p->most_milli : it->milli;
		it->milli = it->milli < p->least_milli ? p->least_milli : it->milli;
		it->whole = it->milli >= MODEL_GPU_MILLI;
		it->hangs = it->whole ? REASON_NONE : p->hangs;
	}
	bed_node(p->bed, it->node);
	played_show(p, it);
	return it;
}

static inline int played_count(const struct played *p, const char *app, bool ready)
{
	int n = 0;
	for (size_t i = 0; i < PLAYED_PODS; i++) {
		const struct played_pod *it = &p->pods[i];
		n += it->there && text_equals(it->app, app) && (it->ready || !ready);
	}
	return n;
}

static inline int played_whole(const struct played *p)
{
	int n = 0;
	for (size_t i = 0; i < PLAYED_PODS; i++) {
		n += p->pods[i].there && p->pods[i].whole;
	}
	return n;
}

/* As the API server does it: the budget is asked, the pod goes, its owner makes another one. */
static inline void played_evict(struct bed *b, const struct action *a, struct outcome *o)
{
	struct played *p = b->cluster;
	struct played_pod *it = NULL;
	for (size_t i = 0; i < PLAYED_PODS; i++) {
		it = p->pods[i].there && text_equals(p->pods[i].name, a->name) ? &p->pods[i] : it;
	}
	cr_assert_not_null(it, "%s is evicted and is not there", a->name);
	cr_assert_str_eq(a->uid, it->name);
	char app[sizeof it->app];
	snprintf(app, sizeof app, "%s", it->app);
	if (played_count(p, app, true) - (it->ready ? 1 : 0) < p->min_available) {
		o->fault.kind = FAULT_TRANSIENT;
		o->fault.status = 429;
		snprintf(o->fault.message, sizeof o->fault.message,
			"Cannot evict pod as it would violate the pod's disruption budget. The "
			"disruption budget web-pdb needs %d healthy pods and has %d currently",
			p->min_available, p->min_available);
		p->refusals++;
		b->evictions--;
		return;
	}
	bed_pod_gone(b, it->name);
	it->there = false;
	(void)played_make(p, app, !p->webhook);
}

/* Half a minute: kubelets, the agent, the canary; then the controller's rounds. */
static inline void played_pass(struct played *p, bool measured)
{
	struct bed *b = p->bed;
	for (size_t i = 0; i < PLAYED_PODS; i++) {
		struct played_pod *it = &p->pods[i];
		if (it->there && !it->ready && (it->whole || !p->sick) &&
			it->hangs == REASON_NONE &&
			b->now.policy_ms >= it->created_ms + PLAYED_READY) {
			it->ready = true;
			played_show(p, it);
		}
		if (it->there && it->ready && measured) {
			bool full = p->fills && !it->whole;
			(void)bed_use(b, it->name, p->percent,
				full ? it->mib - 100 : (int64_t)p->percent * 6144 / 20);
		}
	}
	int64_t seen = p->seen_ms != 0 ? p->seen_ms : b->now.policy_ms;
	struct roll_gate gate = {true, p->leads_since_ms, seen, p->reached};
	sizer_gate(b->sizer, &gate);
	bed_pass(b, 30000 - BED_ROUND);
	bed_turn(b);
	int away = played_count(p, "web", false) - played_count(p, "web", true);
	p->most_away = away > p->most_away ? away : p->most_away;
}

static inline void played_run(struct played *p, int minutes)
{
	for (int i = 0; i < minutes * 2; i++) {
		played_pass(p, true);
	}
}

/* So many replicas on whole GPUs, known well enough, under mode Automate that evicts; the
 * controller has led for long. */
static inline void played_init_in(struct played *p, const char *kind, int replicas, const char *ns)
{
	*p = (struct played){.bed = bed_new(),
		.kind = kind,
		.webhook = true,
		.reached = true,
		.percent = 20,
		.ns = ns};
	struct bed *b = p->bed;
	b->evict = played_evict;
	b->cluster = p;
	b->rollout = (struct rollout)ROLLOUT_DEFAULT;
	b->rollout.evicts = true;
	b->rollout.min_pod_age_s = 0;
	p->leads_since_ms = BED_START - HOUR_MS;
	bed_policy(b);
	for (int i = 0; i < replicas; i++) {
		(void)played_make(p, "web", true);
	}
	played_run(p, 35);
	cr_assert_eq(b->evictions, 0);
	p->most_away = 0;
}

static inline void played_init(struct played *p, const char *kind, int replicas)
{
	played_init_in(p, kind, replicas, NULL);
}

static inline void played_automate(struct played *p)
{
	p->bed->mode = MODE_AUTOMATE;
	p->bed->policy_generation++;
	bed_policy(p->bed);
}

#endif
