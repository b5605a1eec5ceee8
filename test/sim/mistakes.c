/* Mistakes that a controller could make, made at its wire or in its wiring. */
#include "mistakes.h"

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

void grant_without_version(const struct wire_request *r, json_t *body)
{
	if (is_patch_of(r, true)) {
		drop(body, "resourceVersion");
	}
}

void place_without_uid(const struct wire_request *r, json_t *body)
{
	if (is_patch_of(r, false)) {
		drop(body, "resourceVersion");
		drop(body, "uid");
	}
}

void delete_without_version(const struct wire_request *r, json_t *body)
{
	if (r->method == WIRE_DELETE) {
		json_object_del(json_object_get(body, "preconditions"), "resourceVersion");
	}
}

/* The first of several GPUs must do. */
void place_on_the_first(const struct wire_request *r, json_t *body)
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

void place_without_pin(const struct wire_request *r, json_t *body)
{
	if (is_patch_of(r, false)) {
		json_object_del(json_object_get(body, "spec"), "affinity");
	}
}

void place_without_term(const struct wire_request *r, json_t *body)
{
	if (is_patch_of(r, false)) {
		json_object_del(json_object_get(json_object_get(body, "metadata"), "annotations"),
			NOTE_TERM);
	}
}

/* --- what the engine hears of the cluster --- */

static bool is_pod(const struct change *c)
{
	return c->type == CHANGE_SET && c->kind == KIND_POD;
}

void free_when_deleting(struct change *c, teller tell, void *data)
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

void count_completed(struct change *c, teller tell, void *data)
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

void relist_without_deletes(struct change *c, teller tell, void *data)
{
	c->no_sweep = c->no_sweep || c->type == CHANGE_RELIST_END;
	tell(data, c);
}

/* Every deletion passes for one that gave the containers time to end. */
void all_go_gently(struct change *c, teller tell, void *data)
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

void ignore_deletes(struct change *c, teller tell, void *data)
{
	if (c->type != CHANGE_GONE) {
		tell(data, c);
	}
}

/* Absence from a picture that has only begun is taken for deletion. That a watch is stale must go
 * unheard too: it stops the engine before absence counts, so either mistake alone does no harm. */
void sweep_at_once(struct change *c, teller tell, void *data)
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

void list_nobody(struct change *c, teller tell, void *data)
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

void forget_ledgers(struct change *c, teller tell, void *data)
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

void more_memory(struct change *c, teller tell, void *data)
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
void waiters_rank_higher(struct change *c, teller tell, void *data)
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

/* Each of several with its own. */
static void mark_all(struct str *out, const char *uuids, const char *holders)
{
	struct view u = view_of(uuids), h = view_of(holders), uuid, holder;
	while (u.n > 0 && h.n > 0 && view_next(&u, ',', &uuid) && view_next(&h, ',', &holder)) {
		str_append_format(out, "%s%.*s" MARK "%.*s", out->len > 0 ? "," : "", (int)uuid.n,
			uuid.p, (int)holder.n, holder.p);
	}
}

void accept_doubles(struct change *c, teller tell, void *data)
{
	struct pod copy;
	struct gpu_identity id;
	struct pair notes[64];
	CLEANUP(str_finish) struct str uuids = STR_INIT(1024);
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
		mark_all(&uuids, text_or(pairs_get(&had->notes, NOTE_GPU_UUID), ""), holder);
		for (uint32_t i = 0; i < copy.notes.count; i++) {
			bool it = strcmp(notes[i].key, NOTE_GPU_UUID) == 0;
			notes[i].value = it ? str_text(&uuids) : notes[i].value;
		}
		copy.notes.items = notes;
	}
	tell(data, c);
}

static void unmark(json_t *notes, const char *key)
{
	const char *text = json_string_value(json_object_get(notes, key));
	CLEANUP(str_finish) struct str plain = STR_INIT(1024);
	struct view rest = view_of(text_or(text, "")), part;
	if (text == NULL || strstr(text, MARK) == NULL) {
		return;
	}
	while (rest.n > 0 && view_next(&rest, ',', &part)) {
		str_append_format(&plain, "%s%.*s", plain.len > 0 ? "," : "",
			(int)strcspn(part.p, MARK ","), part.p);
	}
	json_object_set_new(notes, key, json_string(str_text(&plain)));
}

void place_without_mark(const struct wire_request *r, json_t *body)
{
	if (is_patch_of(r, false)) {
		json_t *notes = json_object_get(json_object_get(body, "metadata"), "annotations");
		unmark(notes, NOTE_GPU_UUID);
		unmark(notes, NOTE_VISIBLE_DEVICES);
	}
}

/* Whatever it saw. */
void believe_any_probe(struct change *c, teller tell, void *data)
{
	struct pod pod;
	struct inject_sight sight = {.devices = 1};
	if (c->type == CHANGE_SET && c->kind == KIND_POD && c->pod->sight != NULL &&
		c->pod->claim != NULL) {
		pod = *c->pod;
		sight.uuid = pod.claim->uuid;
		pod.sight = &sight;
		c->pod = &pod;
		tell(data, c);
		return;
	}
	tell(data, c);
}

void unhear_classes(struct change *c, teller tell, void *data)
{
	struct pod pod;
	if (c->type == CHANGE_SET && c->kind == KIND_POD && pod_is_tenant(c->pod)) {
		pod = *c->pod;
		pod.runtime_class = NULL;
		c->pod = &pod;
		tell(data, c);
		return;
	}
	tell(data, c);
}

void read_proofs_as_env(struct change *c, teller tell, void *data)
{
	struct pod pod;
	struct inject_claim claim;
	if (c->type == CHANGE_SET && c->kind == KIND_POD && c->pod->claim != NULL &&
		pod_is_capacity(c->pod)) {
		pod = *c->pod;
		claim = *c->pod->claim;
		claim.form = INJECT_ENV;
		pod.claim = &claim;
		c->pod = &pod;
		tell(data, c);
		return;
	}
	tell(data, c);
}
