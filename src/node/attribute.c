/* Whose each process is, and what that makes of each pod: judge, sort, add up. */
#include "node/attribute.h"

#include "attribute_parts.h"
#include "attribute_share.h"
#include "node/attribute_whole.h"

const char *loss_name(enum loss why)
{
	static const char *const names[] = {[LOSS_GONE] = "gone",
		[LOSS_UNREAD] = "unread",
		[LOSS_HOST] = "host",
		[LOSS_UNKNOWN_POD] = "unknown_pod",
		[LOSS_NOT_GRANTED] = "not_granted",
		[LOSS_NOT_MANAGED] = "not_managed",
		[LOSS_CAPACITY] = "capacity",
		[LOSS_LIMIT] = "limit"};
	return (unsigned)why < COUNT_OF(names) ? names[why] : "?";
}

bool work_pod_is_over(const struct node_pod *pod)
{
	return pod->phase == POD_SUCCEEDED || pod->phase == POD_FAILED;
}

/* --- whose a process is ------------------------------------------------------------------------
 */

/* A device that has a capacity pod or a tenant is ours to share. */
static void find_shared(struct work *w)
{
	for (uint32_t i = 0; i < node_pods_count(w->pods); i++) {
		const struct node_pod *pod = node_pods_at(w->pods, i);
		bool ours = (pod->tenant || pod->capacity) && !work_pod_is_over(pod);
		for (uint32_t d = 0; ours && d < w->sample->device_count; d++) {
			const char *uuid = w->sample->devices[d].device.identity.uuid;
			struct device_use *device = &w->usage->devices[d];
			device->shared = device->shared || node_pod_granted(pod, uuid);
		}
	}
}

static enum loss pod_loss(const struct work *w, const struct node_pod *pod, uint32_t device)
{
	if (pod == NULL) {
		return LOSS_UNKNOWN_POD;
	}
	if (pod->capacity) {
		return LOSS_CAPACITY;
	}
	if (pod->tenant) {
		const char *uuid = w->sample->devices[device].device.identity.uuid;
		return node_pod_granted(pod, uuid) ? LOSS_COUNT : LOSS_NOT_GRANTED;
	}
	return w->usage->devices[device].shared ? LOSS_NOT_MANAGED : LOSS_COUNT;
}

/* The runtime's name for a container may be new to the API server; the one that was given the
 * device is the likely one then. */
static const char *container_name(const struct node_pod *pod, const char *id)
{
	const struct node_container *c = id != NULL ? node_pod_container(pod, id) : NULL;
	if (c == NULL && pod->gpu_container == NULL && pod->container_count == 1) {
		c = &pod->containers[0];
	}
	return text_or(c != NULL ? c->name : pod->gpu_container, "");
}

static void add_process(struct work *w, uint32_t device, const struct gpu_process *process)
{
	const struct place *place = places_find(w->places, process->pid);
	struct entry e = {.kind = ENTRY_PROCESS,
		.device = device,
		.uid = "",
		.container = "",
		.process = process,
		.sm = process->sm,
		.mem_util = process->mem_util};
	if (place == NULL || place->kind != PLACE_POD) {
		bool unread = place == NULL || place->kind == PLACE_UNREAD;
		e.loss = unread ? LOSS_UNREAD : place->kind == PLACE_GONE ? LOSS_GONE : LOSS_HOST;
	} else {
		e.pod = node_pods_of_cgroup(w->pods, place->name.pod);
		e.uid = e.pod != NULL ? e.pod->uid : place->name.pod;
		e.loss = pod_loss(w, e.pod, device);
		e.container = e.pod != NULL ? container_name(e.pod, place->name.container) : "";
	}
	struct device_use *d = &w->usage->devices[device];
	d->blind = d->blind || e.loss == LOSS_UNREAD;
	VEC_PUSH(&w->entries, e);
}

/* --- who is idle -------------------------------------------------------------------------------
 */

/* The pod's own word for it, which outlives the kubelet's. */
static const char *holding_container(const struct holding *h)
{
	for (uint32_t i = 0; h->container != NULL && i < h->pod->container_count; i++) {
		if (text_equals(h->pod->containers[i].name, h->container)) {
			return h->pod->containers[i].name;
		}
	}
	return container_name(h->pod, NULL);
}

void work_add_holder(struct work *w, const struct holding *holding)
{
	const struct node_pod *pod = holding->pod;
	const struct gpu_reading *reading = &w->sample->devices[holding->device];
	bool idle = pod->phase == POD_RUNNING && reading->answered &&
		    !w->usage->devices[holding->device].blind;
	struct entry e = {.kind = idle ? ENTRY_IDLE : ENTRY_GRANTED,
		.device = holding->device,
		.uid = pod->uid,
		.pod = pod,
		.container = holding_container(holding),
		.sm = reading->process_use ? 0 : -1,
		.mem_util = reading->process_use ? 0 : -1,
		.source = idle ? holding->source : NULL,
		.loss = LOSS_COUNT};
	VEC_PUSH(&w->entries, e);
}

static void add_tenants(struct work *w)
{
	for (uint32_t i = 0; i < node_pods_count(w->pods); i++) {
		const struct node_pod *pod = node_pods_at(w->pods, i);
		bool there = pod->tenant && !work_pod_is_over(pod);
		for (uint32_t d = 0; there && d < w->sample->device_count; d++) {
			if (node_pod_granted(pod, w->sample->devices[d].device.identity.uuid)) {
				work_add_holder(w, &(struct holding){.pod = pod, .device = d});
			}
		}
	}
}

/* --- adding up ---------------------------------------------------------------------------------
 */

static const struct use nothing = {0};
static const struct use untold = {.sm = -1, .mem_util = -1, .enc = -1, .dec = -1, .mem_bytes = -1};

static void add_figure(int64_t *sum, int64_t more, int64_t most)
{
	if (*sum < 0 || more < 0) {
		*sum = -1;
	} else {
		*sum = more < most - *sum ? *sum + more : most;
	}
}

static void add_use(struct use *sum, const struct use *more)
{
	add_figure(&sum->sm, more->sm, USE_FULL);
	add_figure(&sum->mem_util, more->mem_util, USE_FULL);
	add_figure(&sum->enc, more->enc, USE_FULL);
	add_figure(&sum->dec, more->dec, USE_FULL);
	add_figure(&sum->mem_bytes, more->mem_bytes, INT64_MAX);
	sum->processes += more->processes;
	sum->kinds |= more->kinds;
	sum->source = sum->source != NULL ? sum->source : more->source;
	sum->presumed = sum->presumed || more->presumed;
}

static struct use entry_use(const struct entry *e)
{
	struct use use = {.sm = e->sm, .mem_util = e->mem_util, .source = e->source};
	if (e->kind != ENTRY_PROCESS) {
		use.enc = use.dec = e->sm;
		use.presumed = e->source != NULL;
		return use;
	}
	use.enc = e->process->enc;
	use.dec = e->process->dec;
	use.mem_bytes = e->process->mem_bytes;
	use.kinds = e->process->kinds;
	use.processes = 1;
	return use;
}

static void lose_entry(struct work *w, const struct entry *e, enum loss why)
{
	struct device_use *d = &w->usage->devices[e->device];
	struct use use = entry_use(e);
	d->lost_by[why]++;
	add_use(&d->lost, &use);
}

/* The container's line; NULL where there are too many. */
static struct container_use *line_of(struct usage *u, const struct entry *e)
{
	struct container_use *last =
		u->container_count > 0 ? &u->containers[u->container_count - 1] : NULL;
	bool same_pod = last != NULL && last->device == e->device && last->pod == e->pod;
	if (same_pod && text_equals(last->container, e->container)) {
		return last;
	}
	if (u->container_count == USE_LINES_MAX) {
		return NULL;
	}
	last = &u->containers[u->container_count++];
	*last = (struct container_use){.pod = e->pod,
		.container = e->container,
		.device = e->device,
		.first = !same_pod,
		.use = nothing};
	return last;
}

/* Entries of one pod on one device. */
static void add_pod_usage(struct work *w, const struct entry *entries, uint32_t count)
{
	struct usage *u = w->usage;
	struct pod_usage pod = {.uid = entries->uid,
		.pod = entries->pod,
		.device = entries->device,
		.use = nothing};
	bool any = false;
	for (uint32_t i = 0; i < count; i++) {
		const struct entry *e = &entries[i];
		struct use use = entry_use(e);
		if (e->kind == ENTRY_GRANTED) {
			continue;
		}
		struct container_use *line = e->loss == LOSS_COUNT ? line_of(u, e) : NULL;
		if (line != NULL) {
			add_use(&line->use, &use);
		} else if (e->kind == ENTRY_PROCESS) {
			lose_entry(w, e, e->loss == LOSS_COUNT ? LOSS_LIMIT : e->loss);
		}
		add_use(&pod.use, &use);
		pod.charged = e->loss == LOSS_COUNT;
		any = true;
	}
	pod.use = any ? pod.use : untold;
	if (u->pod_count == USE_LINES_MAX) {
		u->incomplete = true;
		return;
	}
	u->pods[u->pod_count++] = pod;
}

/* --- in order ----------------------------------------------------------------------------------
 */

static int compare_pod_names(const struct node_pod *a, const struct node_pod *b)
{
	if (a == NULL || b == NULL) {
		return (a != NULL) - (b != NULL);
	}
	int order = strcmp(a->ns, b->ns);
	return order != 0 ? order : strcmp(a->name, b->name);
}

static int by_line(const void *x, const void *y)
{
	const struct entry *a = x, *b = y;
	int order = a->device < b->device ? -1 : a->device > b->device;
	order = order != 0 ? order : compare_pod_names(a->pod, b->pod);
	order = order != 0 ? order : strcmp(a->uid, b->uid);
	order = order != 0 ? order : strcmp(a->container, b->container);
	if (order != 0 || a->process == NULL || b->process == NULL) {
		return order != 0 ? order : (a->process != NULL) - (b->process != NULL);
	}
	return a->process->pid < b->process->pid ? -1 : a->process->pid > b->process->pid;
}

static void add_up_pods(struct work *w, const struct entry *entries, uint32_t count)
{
	for (uint32_t i = 0, n; i < count; i += n) {
		n = 1;
		if (entries[i].uid[0] == '\0') {
			lose_entry(w, &entries[i], entries[i].loss);
			continue;
		}
		while (i + n < count && entries[i + n].device == entries[i].device &&
			entries[i + n].pod == entries[i].pod &&
			text_equals(entries[i + n].uid, entries[i].uid)) {
			n++;
		}
		add_pod_usage(w, entries + i, n);
	}
}

/* A pod is what its containers are, so that its parts add up to it. */
static void sum_pods(struct usage *u, uint32_t first_pod, uint32_t first_container)
{
	uint32_t c = first_container;
	for (uint32_t i = first_pod; i < u->pod_count; i++) {
		struct pod_usage *p = &u->pods[i];
		if (!p->charged || c == u->container_count || u->containers[c].pod != p->pod) {
			continue;
		}
		p->use = nothing;
		for (; c < u->container_count && u->containers[c].pod == p->pod; c++) {
			add_use(&p->use, &u->containers[c].use);
		}
	}
}

static void do_device(struct work *w, struct entry *entries, uint32_t count, uint32_t device)
{
	struct usage *u = w->usage;
	uint32_t pods = u->pod_count, containers = u->container_count;
	share_server(entries, count);
	add_up_pods(w, entries, count);
	u->devices[device].scaled = share_scale(u->containers + containers,
		u->container_count - containers, &u->devices[device], &w->sample->devices[device]);
	sum_pods(u, pods, containers);
}

static void collect_entries(struct work *w)
{
	VEC_RESERVE(&w->entries, 1); /* also what is empty is sorted, and pointed into */
	find_shared(w);
	for (uint32_t d = 0; d < w->sample->device_count; d++) {
		const struct gpu_reading *r = &w->sample->devices[d];
		w->usage->devices[d].blind = w->places->host_pid_missing || !r->processes_told;
		for (uint32_t i = 0; i < r->process_count; i++) {
			add_process(w, d, &r->processes[i]);
		}
	}
	add_tenants(w);
	whole_add(w);
	qsort(w->entries.items, w->entries.count, sizeof *w->entries.items, by_line);
}

void usage_make(const struct gpu_sample *sample, const struct places *places,
	const struct node_pods *pods, struct arena *arena, struct usage *ret_usage)
{
	struct usage usage = {.device_count = sample->device_count,
		.gone = places->gone,
		.host_pid_missing = places->host_pid_missing};
	struct work w = {
		.sample = sample, .places = places, .pods = pods, .arena = arena, .usage = &usage};
	usage.devices = ARENA_ARRAY(arena, struct device_use, sample->device_count + 1);
	collect_entries(&w);
	size_t lines = w.entries.count < USE_LINES_MAX ? w.entries.count : USE_LINES_MAX;
	usage.containers = ARENA_ARRAY(arena, struct container_use, lines + 1);
	usage.pods = ARENA_ARRAY(arena, struct pod_usage, lines + 1);
	for (uint32_t d = 0, at = 0, n; d < sample->device_count; d++, at += n) {
		for (n = 0; at + n < w.entries.count && w.entries.items[at + n].device == d;) {
			n++;
		}
		do_device(&w, w.entries.items + at, n, d);
	}
	VEC_FINISH(&w.entries);
	*ret_usage = usage;
}
