/* Each mutation is one mistake that a controller could make, made at its wire or in its wiring. */
#include "mutations.h"

#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "model/names.h"

/* --- at the wire --- */

static bool is_patch_of(const struct wire_request *r, bool of_ours)
{
	bool ours = strstr(r->path, "/namespaces/" NAME_NAMESPACE "/pods/") != NULL;
	bool pods = strstr(r->path, "/pods/") != NULL && strstr(r->path, "/status") == NULL;
	return r->method == WIRE_PATCH && pods && ours == of_ours;
}

static void drop(json_t *body, const char *key)
{
	json_object_del(json_object_get(body, "metadata"), key);
}

static void grant_without_version(const struct wire_request *r, json_t *body)
{
	if (is_patch_of(r, true)) {
		drop(body, "resourceVersion");
	}
}

static void place_without_uid(const struct wire_request *r, json_t *body)
{
	if (is_patch_of(r, false)) {
		drop(body, "resourceVersion");
		drop(body, "uid");
	}
}

static void delete_without_version(const struct wire_request *r, json_t *body)
{
	if (r->method == WIRE_DELETE) {
		json_object_del(json_object_get(body, "preconditions"), "resourceVersion");
	}
}

/* The first of several GPUs must do. */
static void place_on_the_first(const struct wire_request *r, json_t *body)
{
	static const char *const keys[] = {NOTE_GPU_UUID, NOTE_VISIBLE_DEVICES, NOTE_CAPACITY_POD};
	json_t *notes = json_object_get(json_object_get(body, "metadata"), "annotations");
	for (size_t i = 0; is_patch_of(r, false) && i < COUNT_OF(keys); i++) {
		const char *list = json_string_value(json_object_get(notes, keys[i]));
		if (list != NULL) {
			json_object_set_new(notes, keys[i], json_stringn(list, strcspn(list, ",")));
		}
	}
}

static void place_without_pin(const struct wire_request *r, json_t *body)
{
	if (is_patch_of(r, false)) {
		json_object_del(json_object_get(body, "spec"), "affinity");
	}
}

/* --- what the engine hears of the cluster --- */

typedef void (*teller)(void *data, const struct change *c);

static bool is_pod(const struct change *c)
{
	return c->type == CHANGE_SET && c->kind == KIND_POD;
}

static void free_when_deleting(struct change *c, teller tell, void *data)
{
	if (is_pod(c) && pod_is_tenant(c->pod) && c->pod->deleting_ms != 0) {
		struct change gone = {.type = CHANGE_GONE,
			.kind = KIND_POD,
			.ns = c->pod->ns,
			.name = c->pod->name,
			.uid = c->pod->uid};
		tell(data, &gone);
		return;
	}
	tell(data, c);
}

static void count_completed(struct change *c, teller tell, void *data)
{
	struct pod copy;
	if (is_pod(c) && pod_is_terminal(c->pod)) {
		copy = *c->pod;
		copy.phase = POD_RUNNING;
		c->pod = &copy;
		tell(data, c);
		return;
	}
	tell(data, c);
}

/* Whoever asks for whole GPUs has never been looked for by the scheduler. */
static void ignore_whole_pods(struct change *c, teller tell, void *data)
{
	struct pod copy;
	if (is_pod(c) && c->pod->unschedulable) {
		copy = *c->pod;
		copy.unschedulable = false;
		c->pod = &copy;
		tell(data, c);
		return;
	}
	tell(data, c);
}

static void relist_without_deletes(struct change *c, teller tell, void *data)
{
	c->no_sweep = c->no_sweep || c->type == CHANGE_RELIST_END;
	tell(data, c);
}

/* Every deletion passes for one that gave the containers time to end. */
static void all_go_gently(struct change *c, teller tell, void *data)
{
	struct pod copy;
	struct pair tenant = {LABEL_TENANT, "true"};
	if (c->type != CHANGE_GONE || c->kind != KIND_POD) {
		tell(data, c);
		return;
	}
	copy = (struct pod){.ns = c->ns,
		.name = c->name,
		.uid = c->uid,
		.labels = {&tenant, 1},
		.phase = POD_SUCCEEDED};
	struct change over = {.type = CHANGE_SET, .kind = KIND_POD, .pod = &copy};
	tell(data, &over);
	tell(data, c);
}

static void ignore_deletes(struct change *c, teller tell, void *data)
{
	if (c->type != CHANGE_GONE) {
		tell(data, c);
	}
}

/* Absence from a picture that has only begun is taken for deletion. That a watch is stale must go
 * unheard too: it stops the engine before absence counts, so either mistake alone does no harm. */
static void sweep_at_once(struct change *c, teller tell, void *data)
{
	if (c->type == CHANGE_STALE) {
		return;
	}
	tell(data, c);
	if (c->type == CHANGE_RELIST_BEGIN && c->kind == KIND_POD) {
		struct change end = {.type = CHANGE_RELIST_END, .kind = KIND_POD};
		tell(data, &end);
	}
}

static void list_nobody(struct change *c, teller tell, void *data)
{
	struct node_state copy;
	if (c->type == CHANGE_SET && c->kind == KIND_STATE) {
		copy = *c->state;
		copy.pod_count = 0;
		c->state = &copy;
		tell(data, c);
		return;
	}
	tell(data, c);
}

static void forget_ledgers(struct change *c, teller tell, void *data)
{
	struct pod copy;
	if (is_pod(c) && pod_is_capacity(c->pod)) {
		copy = *c->pod;
		copy.ledger = (struct ledger){0};
		c->pod = &copy;
		tell(data, c);
		return;
	}
	tell(data, c);
}

static void more_memory(struct change *c, teller tell, void *data)
{
	struct pod copy;
	struct gpu_identity id;
	if (is_pod(c) && pod_is_capacity(c->pod) && c->pod->identity != NULL) {
		copy = *c->pod;
		id = *copy.identity;
		id.mem_mib *= 2;
		copy.identity = &id;
		c->pod = &copy;
		tell(data, c);
		return;
	}
	tell(data, c);
}

/* Whoever is not bound passes for a little more important than it is, so that those who wait still
 * rank as they should among each other. */
static void waiters_rank_higher(struct change *c, teller tell, void *data)
{
	struct pod copy;
	if (is_pod(c) && text_empty(c->pod->node) && !pod_is_capacity(c->pod)) {
		copy = *c->pod;
		copy.priority++;
		c->pod = &copy;
		tell(data, c);
		return;
	}
	tell(data, c);
}

/* Two capacity pods that tell one UUID pass for two GPUs: inside, a UUID carries the name of its
 * capacity pod; outside it does not. */
#define MARK "/"

static void mark_uuid(char *out, size_t room, const char *uuid, const char *holder)
{
	snprintf(out, room, "%.40s" MARK "%.50s", uuid, holder);
}

static void accept_doubles(struct change *c, teller tell, void *data)
{
	struct pod copy;
	struct gpu_identity id;
	struct pair notes[64];
	char uuid[GPU_UUID_MAX];
	const char *holder = is_pod(c) ? pairs_get(&c->pod->notes, NOTE_CAPACITY_POD) : NULL;
	const struct pod *had = c->pod;
	if (is_pod(c)) {
		copy = *had;
		c->pod = &copy;
	}
	if (is_pod(c) && copy.identity != NULL) {
		id = *copy.identity;
		mark_uuid(id.uuid, sizeof id.uuid, copy.identity->uuid, copy.name);
		copy.identity = &id;
	} else if (holder != NULL && copy.notes.count <= COUNT_OF(notes)) {
		memcpy(notes, copy.notes.items, copy.notes.count * sizeof *notes);
		mark_uuid(uuid, sizeof uuid, pairs_get(&had->notes, NOTE_GPU_UUID), holder);
		for (uint32_t i = 0; i < copy.notes.count; i++) {
			bool it = strcmp(notes[i].key, NOTE_GPU_UUID) == 0;
			notes[i].value = it ? uuid : notes[i].value;
		}
		copy.notes.items = notes;
	}
	tell(data, c);
}

static void unmark(json_t *notes, const char *key)
{
	const char *text = json_string_value(json_object_get(notes, key));
	const char *mark = text != NULL ? strstr(text, MARK) : NULL;
	if (mark != NULL) {
		json_object_set_new(notes, key, json_stringn(text, (size_t)(mark - text)));
	}
}

static void place_without_mark(const struct wire_request *r, json_t *body)
{
	if (is_patch_of(r, false)) {
		json_t *notes = json_object_get(json_object_get(body, "metadata"), "annotations");
		unmark(notes, NOTE_GPU_UUID);
		unmark(notes, NOTE_VISIBLE_DEVICES);
	}
}

/* Whoever runs is known by the name of its capacity pod only: when another one holds its GPU,
 * nobody knows that it is there. */
static void forget_orphans(struct change *c, teller tell, void *data)
{
	struct pod copy;
	struct pair notes[64];
	const struct pod *had = c->pod;
	const char *uuid = is_pod(c) ? pairs_get(&had->notes, NOTE_GPU_UUID) : NULL;
	if (uuid == NULL || had->notes.count > COUNT_OF(notes)) {
		tell(data, c);
		return;
	}
	copy = *had;
	copy.notes.count = 0;
	for (uint32_t i = 0; i < had->notes.count; i++) {
		if (strcmp(had->notes.items[i].key, NOTE_GPU_UUID) != 0) {
			notes[copy.notes.count++] = had->notes.items[i];
		}
	}
	copy.notes.items = notes;
	c->pod = &copy;
	tell(data, c);
}

const struct mutation_row mutation_rows[] = {
	{"grant-without-version", "the compare-and-swap is only a swap",
		.hooks = {.request = grant_without_version}, .rare = true},
	{"place-without-uid", "a placement finds its pod by name alone",
		.hooks = {.request = place_without_uid}, .rare = true},
	{"place-without-pin", "a placement forgets the node",
		.hooks = {.request = place_without_pin}},
	{"place-on-the-first", "a tenant of several GPUs is told one",
		.hooks = {.request = place_on_the_first}},
	{"keep-halves", "a partial multi-GPU grant is kept", .hooks = {.partial_ms = INT64_MAX / 4},
		.rare = true},
	{"delete-without-version", "a capacity pod goes although it was just granted from",
		.hooks = {.request = delete_without_version}, .rare = true},
	{"free-when-deleting", "a share is free when deletion begins",
		.hooks = {.change = free_when_deleting}},
	{"count-completed", "pods that are over hold their share",
		.hooks = {.change = count_completed}},
	{"relist-without-deletes", "a new picture sweeps nothing away",
		.hooks = {.change = relist_without_deletes}},
	{"all-go-gently", "a deletion by force frees the share at once",
		.hooks = {.change = all_go_gently}},
	{"ignore-whole-pods", "GPUs are opened under pods that wait for whole ones",
		.hooks = {.change = ignore_whole_pods}, .rare = true},
	{"ignore-deletes", "deletions are not heard", .hooks = {.change = ignore_deletes}},
	{"sweep-at-once", "a picture that has begun is taken for complete",
		.hooks = {.change = sweep_at_once}, .rare = true},
	{"silence-is-nobody", "an agent that does not answer passes for one that lists nobody",
		.hooks = {.silence_is_nobody = true}},
	{"nobody-listed", "what an agent lists is not looked at", .hooks = {.change = list_nobody}},
	{"forget-ledgers", "entries of tenants that are not placed yet do not count",
		.hooks = {.change = forget_ledgers}},
	{"more-memory", "a GPU is taken for twice its size", .hooks = {.change = more_memory}},
	{"accept-doubles", "a UUID that two capacity pods tell passes for two GPUs",
		.hooks = {.request = place_without_mark, .change = accept_doubles}, .rare = true},
	{"waiters-rank-higher", "a tenant is evicted for one of the same priority",
		.hooks = {.change = waiters_rank_higher}},
	{"forget-orphans", "a GPU whose capacity pod is lost passes for nobody's",
		.hooks = {.change = forget_orphans}},
	{"keeps-leading", "a leader does not notice that its Lease is over",
		.hooks = {.keeps_leading = true}},
};
const size_t mutation_count = COUNT_OF(mutation_rows);

const struct mutation_row *mutation_find(const char *name)
{
	for (size_t i = 0; i < mutation_count; i++) {
		if (strcmp(mutation_rows[i].name, name) == 0) {
			return &mutation_rows[i];
		}
	}
	return NULL;
}
