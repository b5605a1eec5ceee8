/* Pods: one small record each, sums per node, and packed nouns for those that have a GPU. */
#include "pods.h"

#include <stdlib.h>

#include "claims.h"
#include "departed.h"
#include "model/names.h"
#include "nodes.h"
#include "nouns.h"
#include "quotas.h"
#include "sightings.h"
#include "spaces.h"
#include "takes.h"

static bool pod_key_same(const void *owner, uint32_t slot, const void *key)
{
	const struct world *w = owner;
	const struct pod_key *k = key;
	const struct world_pod *p = w->pods.items[slot];
	return strcmp(p->text, k->name) == 0 && strcmp(p->ns, k->ns) == 0;
}

static bool pod_uid_same(const void *owner, uint32_t slot, const void *key)
{
	const struct world *w = owner;
	return strcmp(world_pod_uid(w->pods.items[slot]), key) == 0;
}

void pods_init(struct world *w)
{
	map_init(&w->pods_by_name, pod_key_same, w);
	map_init(&w->gpu_by_uid, pod_uid_same, w);
	takes_init(w);
}

bool world_keeps_noun(const struct pod *p)
{
	return p->gpus > 0 || pod_is_tenant(p) || pod_is_capacity(p) ||
	       pod_has_gate(p, NAME_GATE) || pod_is_probe(p);
}

/* Adds (sign 1) or removes (-1) what a pod uses on its node. Terminal pods use nothing. */
static void node_count_pod(struct world *w, const struct world_pod *p, int sign)
{
	if (p->node == WORLD_NONE || world_pod_terminal(p)) {
		return;
	}
	struct world_node *n = w->nodes.items[p->node];
	n->cpu_milli += sign * p->takes->cpu_milli;
	n->mem_bytes += sign * p->takes->mem_bytes;
	n->pods += (uint32_t)sign;
	n->gpus += p->gpu != NULL ? sign * p->gpu->gpus : 0;
	if (p->gpu != NULL && p->gpu->is_kai) {
		bool served = n->kai_pods > 0;
		n->kai_pods += (uint32_t)sign;
		if (served != (n->kai_pods > 0)) {
			node_stamp(w, n);
		}
	}
	n->sharers += is_sharer(p) ? (uint32_t)sign : 0;
	uses_count(w, &n->uses, p->takes->extra, sign);
}

/* The same of its node and of its namespace's quotas. */
static void count_everywhere(struct world *w, const struct world_pod *p, int sign)
{
	node_count_pod(w, p, sign);
	quotas_count(w, p, sign);
}

static void gpu_free(struct world *w, struct world_gpu *g)
{
	if (g == NULL) {
		return;
	}
	claims_leave(w, g);
	intern_release(w->words, g->uuid);
	intern_release(w->words, g->subject.priority_class);
	intern_release(w->words, g->container);
	intern_release(w->words, g->capacity_pod);
	intern_release(w->words, g->policy);
	free(g);
}

static void gpu_list_remove(struct world *w, uint32_t slot)
{
	enum world_class class = w->pods.items[slot]->gpu->class;
	uint32_t at = w->pods.items[slot]->gpu->slot;
	uint32_t last = w->gpu_pods[class].items[w->gpu_pods[class].count - 1];
	VEC_REMOVE_SWAP(&w->gpu_pods[class], at);
	w->pods.items[last]->gpu->slot = at;
}

static int64_t note_number(const struct pod *p, const char *key)
{
	int64_t value = 0;
	const char *text = pairs_get(&p->notes, key);
	if (text == NULL || !parse_i64(view_of(text), 0, INT64_MAX / 4, &value)) {
		return 0;
	}
	return value;
}

/* The name in NAME@GENERATION. */
static const char *applied_policy(struct world *w, const struct pod *p)
{
	const char *text = text_or(pairs_get(&p->notes, NOTE_POLICY_APPLIED), "");
	size_t n = strcspn(text, "@");
	char name[256];
	if (n == 0 || n >= sizeof name) {
		return NULL;
	}
	memcpy(name, text, n);
	name[n] = '\0';
	return intern_add(w->words, name);
}

/* The pods that hold a GPU for its fractions, under the name of today and that of before, and what
 * it schedules itself. */
static bool is_kai(const struct pod *pod)
{
	return text_equals(pod->ns, "kai-resource-reservation") ||
	       text_equals(pod->ns, "runai-reservation") ||
	       text_equals(pod->scheduler, "kai-scheduler");
}

/* Who the scheduler has not looked at yet, or may not look at, waits for nobody. */
static bool is_pending(const struct pod *pod)
{
	return pod->unschedulable && text_empty(pod->node) && pod->gate_count == 0 &&
	       pod->deleting_ms == 0 && !pod_is_terminal(pod);
}

static enum world_class gpu_class(const struct pod *pod)
{
	if (pod_is_capacity(pod)) {
		return WORLD_CAPACITY;
	}
	if (pod_is_probe(pod)) {
		return WORLD_PROBE;
	}
	if (pod_is_tenant(pod) || pod_has_gate(pod, NAME_GATE)) {
		return WORLD_TENANT;
	}
	return is_pending(pod) ? WORLD_PENDING : WORLD_WHOLE;
}

/* A tenant's asked before it became one. */
static const char *asking_container(const struct pod *pod)
{
	const char *name = NULL;
	for (uint32_t i = 0; i < pod->container_count; i++) {
		if (pod->containers[i].gpus > 0) {
			if (name != NULL) {
				return NULL;
			}
			name = pod->containers[i].name;
		}
	}
	return name != NULL ? name : pairs_get(&pod->notes, NOTE_CONTAINER);
}

static struct world_gpu *world_gpu_create(
	struct world *w, const struct world_pod *p, const struct pod *pod)
{
	CLEANUP(arena_finish) struct arena arena = {.block_bytes = 1024};
	struct pod part;
	struct view packed = noun_pack(w, p, pod);
	/* One that was kept in part is told so by who read the journal. */
	if (!pod->lean && !spaces_have_room(w, p->ns, w->scratch.len)) {
		spaces_least(pod, &arena, &part);
		pod = &part;
		packed = noun_pack(w, p, pod);
	}
	struct world_gpu *g = xcalloc(1, sizeof *g + packed.n);
	memcpy(g + 1, packed.p, packed.n);
	g->packed_size = (uint32_t)packed.n;
	noun_done(w);
	g->lean = pod->lean;
	g->cut = pod->cut;
	g->priority = pod->priority;
	g->gated = pod_has_gate(pod, NAME_GATE);
	g->beside = pod->beside;
	g->surged = pod->surged;
	g->mps = pod_is_mps(pod);
	g->unschedulable = pod->unschedulable;
	g->keeps_node = pod->keeps_node;
	g->class = gpu_class(pod);
	g->has_neighbours = pod_has_neighbours(pod, NEIGHBOUR_APART);
	g->is_kai = g->class == WORLD_WHOLE && is_kai(pod);
	g->waiting_shown = pod->placed.type != NULL && !pod->placed.is_true;
	g->overuse_shown = pod->told_overuse;
	g->contention_shown = pod->told_contention;
	g->gpu_oom_ms = pod->gpu_oom_ms;
	g->failed_ms = pod->failed_ms;
	g->restarts = pod->restarts;
	g->told = reason_parse(pod->placed.reason);
	g->told_ms = pod->placed.type != NULL ? pod->placed.since_ms : 0;
	g->stamp = w->version;
	g->other_gates = pod->gate_count > (g->gated ? 1u : 0u);
	g->gpus = summable(pod->gpus);
	g->created_ms = pod->created_ms;
	g->ready = pod->ready;
	g->container = intern_add(w->words, asking_container(pod));
	g->subject = quota_subject_of(pod);
	g->subject.priority_class = intern_add(w->words, pod->priority_class);
	bool waits = g->class == WORLD_TENANT && g->gated && !pod_is_terminal(pod);
	if (waits || g->class == WORLD_PENDING) {
		claims_take(w, g, pod);
	}
	if (g->class == WORLD_TENANT && !g->gated) {
		g->milli = note_number(pod, NOTE_COMPUTE_MILLI);
		g->mem_mib = note_number(pod, NOTE_MEMORY_MIB);
		g->uuid = intern_add(w->words, pairs_get(&pod->notes, NOTE_GPU_UUID));
		g->capacity_pod = intern_add(w->words, pairs_get(&pod->notes, NOTE_CAPACITY_POD));
		g->policy = applied_policy(w, pod);
		g->devices = gpu_list_count(g->uuid);
		g->told_memory = pairs_get(&pod->notes, NOTE_FRAMEWORK_MEMORY) != NULL;
	}
	return g;
}

static struct world_pod *pod_record_create(struct world *w, const char *name, const char *uid)
{
	size_t name_size = strlen(name) + 1;
	size_t uid_size = strlen(uid) + 1;
	ENSURE(name_size <= UINT16_MAX);
	struct world_pod *p =
		slab_alloc(&w->records, offsetof(struct world_pod, text) + name_size + uid_size);
	memcpy(p->text, name, name_size);
	memcpy(p->text + name_size, uid, uid_size);
	p->uid_at = (uint16_t)name_size;
	return p;
}

static void pod_record_free(struct world *w, struct world_pod *p)
{
	size_t texts = p->uid_at + strlen(world_pod_uid(p)) + 1;
	slab_free(&w->records, p, offsetof(struct world_pod, text) + texts);
}

static uint32_t slot_take(struct world *w, struct world_pod *p)
{
	if (w->free_pods.count > 0) {
		uint32_t slot = w->free_pods.items[--w->free_pods.count];
		w->pods.items[slot] = p;
		return slot;
	}
	VEC_PUSH(&w->pods, p);
	return (uint32_t)w->pods.count - 1;
}

size_t world_slots_from(const struct world_slots *all, uint32_t slot)
{
	size_t from = 0, to = all->count;
	while (from < to) {
		size_t mid = (from + to) / 2;
		if (all->items[mid] < slot) {
			from = mid + 1;
		} else {
			to = mid;
		}
	}
	return from;
}

/* In the order of their slots, whoever came first: a world that was saved and told anew has the
 * same. */
static void tenant_list(struct world *w, uint32_t slot, bool in)
{
	const struct world_pod *p = w->pods.items[slot];
	if (p->gpu->class != WORLD_TENANT || p->node == WORLD_NONE) {
		return;
	}
	struct world_slots *all = &w->nodes.items[p->node]->tenants;
	size_t at = world_slots_from(all, slot);
	if (in) {
		VEC_PUSH(all, slot);
		memmove(all->items + at + 1, all->items + at,
			(all->count - 1 - at) * sizeof *all->items);
		all->items[at] = slot;
	} else {
		all->count--;
		memmove(all->items + at, all->items + at + 1,
			(all->count - at) * sizeof *all->items);
	}
}

static void detach_gpu(struct world *w, uint32_t slot)
{
	struct world_pod *p = w->pods.items[slot];
	if (p->gpu == NULL) {
		return;
	}
	map_remove(&w->gpu_by_uid, key_text(world_pod_uid(p)), slot);
	pod_changed(w, slot);
	tenant_list(w, slot, false);
	gpu_list_remove(w, slot);
	spaces_leave(w, p->ns, p->gpu->lean ? 0 : noun_size(p));
	w->cut_pods -= p->gpu->cut ? 1 : 0;
	gpu_free(w, p->gpu);
	p->gpu = NULL;
	w->policy_version++;
}

static void attach_gpu(struct world *w, uint32_t slot, const struct pod *pod)
{
	struct world_pod *p = w->pods.items[slot];
	p->gpu = world_gpu_create(w, p, pod);
	spaces_take(w, p->ns, p->gpu->lean ? 0 : noun_size(p));
	w->cut_pods += p->gpu->cut ? 1 : 0;
	p->gpu->slot = (uint32_t)w->gpu_pods[p->gpu->class].count;
	VEC_PUSH(&w->gpu_pods[p->gpu->class], slot);
	map_put(&w->gpu_by_uid, key_text(world_pod_uid(p)), slot);
	pod_changed(w, slot);
	tenant_list(w, slot, true);
	w->policy_version++;
}

static void pod_remove(struct world *w, uint32_t slot, bool told)
{
	struct world_pod *p = w->pods.items[slot];
	count_everywhere(w, p, -1);
	if (p->gpu != NULL && p->gpu->class == WORLD_TENANT) {
		departed_note(w, p, told);
	}
	detach_gpu(w, slot);
	map_remove(&w->pods_by_name, key_pair(p->ns, p->text), slot);
	intern_release(w->words, p->ns);
	takes_release(w, p->takes);
	pod_record_free(w, p);
	w->pods.items[slot] = NULL;
	VEC_PUSH(&w->free_pods, slot);
	w->pod_count--;
	w->version++;
	claims_trim(w);
}

static uint32_t pod_slot(struct world *w, const char *ns, const char *name)
{
	struct pod_key key = {ns, name};
	return map_find(&w->pods_by_name, key_pair(ns, name), &key);
}

/* Of an ordinary pod nobody asks for the uid, but whether it is still the same: 48 bits of a hash
 * tell that, 6 in each letter. No uid begins so. */
#define BRIEF	   '~'
#define BRIEF_SIZE PODS_BRIEF_SIZE

const char *pods_brief(const char *uid, char brief[BRIEF_SIZE])
{
	if (uid[0] == BRIEF || strlen(uid) < BRIEF_SIZE) {
		return uid;
	}
	uint64_t hash = hash_text(uid);
	brief[0] = BRIEF;
	for (size_t i = 1; i < BRIEF_SIZE - 1; i++, hash >>= 6) {
		brief[i] = (char)('0' + (hash & 63));
	}
	brief[BRIEF_SIZE - 1] = '\0';
	return brief;
}

/* Those of our own namespace are few, and companions among them are deleted by their uid. */
static bool keeps_uid(const struct pod *pod)
{
	return world_keeps_noun(pod) || text_equals(pod->ns, NAME_NAMESPACE);
}

static const char *uid_kept(const struct pod *pod, char brief[BRIEF_SIZE])
{
	const char *uid = text_or(pod->uid, "");
	return keeps_uid(pod) ? uid : pods_brief(uid, brief);
}

static bool has_uid(const struct world_pod *p, const char *uid)
{
	const struct pod ordinary = {.uid = uid};
	char brief[BRIEF_SIZE];
	const char *kept = world_pod_uid(p);
	return strcmp(kept, kept[0] == BRIEF ? uid_kept(&ordinary, brief) : uid) == 0;
}

static uint32_t pod_make(struct world *w, const struct pod *pod, const char *uid)
{
	struct world_pod *p = pod_record_create(w, pod->name, uid);
	p->ns = intern_add(w->words, pod->ns);
	p->node = WORLD_NONE;
	uint32_t slot = slot_take(w, p);
	map_put(&w->pods_by_name, key_pair(pod->ns, pod->name), slot);
	w->pod_count++;
	return slot;
}

static bool takes_unchanged(struct world *w, const struct world_pod *p, const struct pod *pod)
{
	const struct world_takes *now = takes_of(w, pod);
	bool same = now == p->takes;
	takes_release(w, now);
	return same;
}

/* A complete picture mostly says what is known: that is no reason to decide anything anew. */
static bool pod_unchanged(struct world *w, const struct world_pod *p, const struct pod *pod)
{
	bool bound = !text_empty(pod->node);
	uint32_t node = bound ? world_node_find(w, pod->node) : WORLD_NONE;
	/* The first pod on a node that was never heard of brings its name. */
	bool same_node = p->node == node && bound == (node != WORLD_NONE);
	bool keeps = world_keeps_noun(pod);
	return same_node && p->phase == (uint8_t)pod->phase &&
	       p->deleting == (pod->deleting_ms != 0) && takes_unchanged(w, p, pod) &&
	       keeps == (p->gpu != NULL) && (!keeps || noun_same(w, p, pod));
}

void pods_set(struct world *w, const struct pod *pod)
{
	if (text_empty(pod->ns) || text_empty(pod->name)) {
		return;
	}
	if (!world_keeps_noun(pod)) {
		sightings_note(w, pod);
	}
	missed_forget(w, pod->ns, pod->name);
	char brief[BRIEF_SIZE];
	const char *uid = uid_kept(pod, brief);
	uint32_t slot = pod_slot(w, pod->ns, pod->name);
	bool graceful = false;
	/* The same name with another uid is another pod: the old one is gone. So is one that was
	 * ordinary and is asked for its uid from now on. */
	if (slot != MAP_NONE &&
		(!has_uid(w->pods.items[slot], text_or(pod->uid, "")) ||
			(world_pod_uid(w->pods.items[slot])[0] == BRIEF && keeps_uid(pod)))) {
		const struct world_pod *former = w->pods.items[slot];
		graceful = former->graceful && has_uid(former, text_or(pod->uid, ""));
		pod_remove(w, slot, false);
		slot = MAP_NONE;
	}
	if (slot != MAP_NONE && pod_unchanged(w, w->pods.items[slot], pod)) {
		w->pods.items[slot]->mark = w->sync[KIND_POD].mark;
		return;
	}
	if (slot == MAP_NONE) {
		slot = pod_make(w, pod, uid);
	} else {
		count_everywhere(w, w->pods.items[slot], -1);
		detach_gpu(w, slot);
	}
	struct world_pod *p = w->pods.items[slot];
	p->mark = w->sync[KIND_POD].mark;
	const struct world_takes *before = p->takes;
	p->takes = takes_of(w, pod);
	takes_release(w, before);
	p->phase = (uint8_t)pod->phase;
	p->deleting = pod->deleting_ms != 0;
	/* The kubelet's last word takes the time away again. */
	p->graceful = p->graceful || graceful || (p->deleting && pod->grace_s > 0);
	p->node = text_empty(pod->node) ? WORLD_NONE : nodes_touch(w, pod->node);
	if (world_keeps_noun(pod)) {
		attach_gpu(w, slot, pod);
	}
	count_everywhere(w, p, 1);
	claims_trim(w);
	w->version++;
}

void pods_gone(struct world *w, const struct change *c)
{
	bool named = c->ns != NULL && c->name != NULL;
	uint32_t slot = named ? pod_slot(w, c->ns, c->name) : MAP_NONE;
	if (slot == MAP_NONE) {
		if (named) {
			missed_forget(w, c->ns, c->name);
		}
		return;
	}
	/* A late deletion of an earlier pod of the same name says nothing about this one. */
	if (c->uid != NULL && !has_uid(w->pods.items[slot], c->uid)) {
		return;
	}
	pod_remove(w, slot, true);
}

void pods_keep(struct world *w, const struct change *c)
{
	uint32_t slot = c->ns != NULL && c->name != NULL ? pod_slot(w, c->ns, c->name) : MAP_NONE;
	if (slot != MAP_NONE) {
		w->pods.items[slot]->mark = w->sync[KIND_POD].mark;
	} else if (!text_empty(c->ns) && c->name != NULL) {
		missed_note(w, c->ns, c->name);
	} else {
		world_missed(w, KIND_POD);
	}
}

void pods_sweep(struct world *w, uint32_t mark)
{
	for (uint32_t i = 0; i < w->pods.count; i++) {
		if (w->pods.items[i] != NULL && w->pods.items[i]->mark != mark) {
			pod_remove(w, i, false);
		}
	}
	table_sweep(&w->missed);
}

void pods_finish(struct world *w)
{
	for (size_t i = 0; i < w->pods.count; i++) {
		if (w->pods.items[i] != NULL) {
			gpu_free(w, w->pods.items[i]->gpu);
			pod_record_free(w, w->pods.items[i]);
		}
	}
	takes_finish(w);
	slab_finish(&w->records);
	VEC_FINISH(&w->pods);
	VEC_FINISH(&w->free_pods);
	for (int i = 0; i < WORLD_CLASSES; i++) {
		VEC_FINISH(&w->gpu_pods[i]);
	}
	map_finish(&w->pods_by_name);
	map_finish(&w->gpu_by_uid);
}

size_t world_pod_slots(const struct world *w)
{
	return w->pods.count;
}

const struct world_pod *world_pod_at(const struct world *w, uint32_t slot)
{
	return slot < w->pods.count ? w->pods.items[slot] : NULL;
}

const struct world_pod *world_pod_find(const struct world *w, const char *ns, const char *name)
{
	struct pod_key key = {ns, name};
	uint32_t slot = map_find(&w->pods_by_name, key_pair(ns, name), &key);
	return slot == MAP_NONE ? NULL : w->pods.items[slot];
}

const struct world_pod *world_pod_by_uid(const struct world *w, const char *uid)
{
	uint32_t slot = map_find(&w->gpu_by_uid, key_text(uid), uid);
	return slot == MAP_NONE ? NULL : w->pods.items[slot];
}

size_t world_pod_count(const struct world *w)
{
	return w->pod_count;
}

size_t world_cut_count(const struct world *w)
{
	return w->cut_pods;
}

int64_t world_pod_milli(const struct world_pod *p)
{
	const struct world_gpu *g = p->gpu;
	if (p->node == WORLD_NONE) {
		return 0;
	}
	if (g->class == WORLD_TENANT) {
		return g->milli * (g->devices > 1 ? g->devices : 1);
	}
	return g->gpus * MODEL_GPU_MILLI;
}

size_t world_class_count(const struct world *w, enum world_class class)
{
	return w->gpu_pods[class].count;
}

uint32_t world_class_slot(const struct world *w, enum world_class class, size_t i)
{
	return w->gpu_pods[class].items[i];
}

const struct world_pod *world_class_at(const struct world *w, enum world_class class, size_t i)
{
	return w->pods.items[w->gpu_pods[class].items[i]];
}
